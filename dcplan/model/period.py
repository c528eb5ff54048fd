"""A period of growth, as it stands in the topology file under `policy.periods`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dcplan.catalog.parts import NotNegative, Strict
from dcplan.model.fields import Name

Share = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]


class Period(Strict):
    """From when on how much is asked, and what things cost by then."""

    name: Name
    """What it is called."""
    after_years: NotNegative
    """When it begins, counted from today [years]; it lasts until the next, the last one until `policy.years`."""
    demand_percent: Share = 100.0
    """What all jobs and demands ask by then, of what the file says [%]."""
    price_percent: NotNegative = 100.0
    """Price of what is bought by then, of today's [%]; lease and energy stay as they are."""
