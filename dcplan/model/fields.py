"""Types of single values that several parts of the topology file share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Name = Annotated[str, Field(min_length=1, max_length=80)]
