"""What is lit already, as it stands in the topology file under `existing`."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from dcplan.catalog.parts import Count, Strict
from dcplan.model.fields import Name


class ExistingFiber(Strict):
    """A fiber that is lit already."""

    pairs: Count
    """Fiber pairs that are lit, with their amplifiers and terminal gear."""


class ExistingWavelengths(Strict):
    """Wavelengths of one mode that are lit already on one route."""

    route: Annotated[list[Name], Field(min_length=1)]
    """The fibers that it passes, in order from either end."""
    transponder: Name
    """Catalog id of the transponder or appliance; it need not be one that may be bought."""
    mode: Name
    """Name of its mode."""
    count: Count
    """Wavelengths."""
    n: Annotated[list[int], Field(min_length=1)] | None = None
    """Centre of each, as n of ITU-T G.694.1: 193.1 THz + n x 6.25 GHz; without it dcplan places them."""
    on_pairs: Annotated[list[Count], Field(min_length=1)] | None = None
    """The lit pair that they take on each fiber of the route, from 1; without it the first of each. Goes with `n`."""

    @model_validator(mode="after")
    def _places(self) -> Self:
        if self.n is not None and len(self.n) != self.count:
            raise ValueError(f"n lists {len(self.n)} centres for {self.count} wavelengths")
        if self.on_pairs is not None and self.n is None:
            raise ValueError("on_pairs goes with n")
        if self.on_pairs is not None and len(self.on_pairs) != len(self.route):
            raise ValueError("on_pairs names one pair for each fiber of the route")
        return self


class Existing(Strict):
    """What is lit already. It is free but for its running costs: lease and energy."""

    fibers: dict[Name, ExistingFiber] = {}
    """Fibers with lit pairs."""
    wavelengths: list[ExistingWavelengths] = []
    """Wavelengths by route and mode."""
    circuits: dict[Name, Annotated[dict[Name, Count], Field(min_length=1)]] = {}
    """Modules of circuits that are leased already, paid for and free from here on: circuit, module, number."""
    transponders: dict[Name, Annotated[dict[Name, Count], Field(min_length=1)]] = {}
    """Spare transponders, beside those of `wavelengths`: site, type, number. Scheme relight tunes them in failures."""
    roadms: list[Name] = []
    """Sites whose lit pairs end in ROADMs though none of `wavelengths` passes; where one passes they do anyway."""
    removable: bool = False
    """False: all of it stays as it is, each channel in its place. True: what costs more to run than it is worth may be
    taken out, and channels may be tuned anew."""
