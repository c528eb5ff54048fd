"""Types of single values that several parts of the topology file share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

Name = Annotated[str, Field(min_length=1, max_length=80)]
Rate = Annotated[float, Field(ge=0.001, allow_inf_nan=False)]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Promise = (
    Literal["any-fiber", "any-shared-risk", "any-site", "any-two-fibers", "any-two-shared-risks", "any-two-sites"]
    | Name
)
"""Any one or two of a kind, or the name of an entry of `failures`."""
