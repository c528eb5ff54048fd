"""A lower bound on the cost that anyone can add up: inequalities that every design keeps, each with a price.

Every design keeps each term: Σ coefficient × bought ≥ right side. Taken times their multipliers and added up, terms and
rows count for each thing that can be bought no more than it costs, but for what `columns` lists. So

    cost ≥ Σ multiplier × right side + Σ over columns of (price − counted) × (most that can be bought, if that is
    negative; else what is bought in any case)

(weak duality of linear programs). All money in US$, all capacity in Tb/s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.model.network import FiberId, SiteId

WAVELENGTHS, PAIRS, COUPLES, TRAFFIC = "wavelengths", "fiber pairs", "couples of ways", "priced traffic"
TRANSPONDERS = "transponders"
"""What an inequality is about: what is lit, pairs of fibers at their fullest, both ways of one-plus-one, or what is lit
together with what the traffic itself costs; under relight also the transponders of a set of sites at their fastest."""


@dataclass(frozen=True, slots=True)
class Faster:
    """What a wavelength weighs beyond its lightpath, where a latency limit asks for fast ones."""

    lightpath: str
    transponder: str
    mode: str
    weight: float


@dataclass(frozen=True, slots=True)
class StateCut:
    """What must survive a state: Σ weight × capacity ≥ Σ distance × rate.

    Between two shores every surviving lightpath, fiber or circuit that crosses weighs 1, and every demand that crosses
    is 1 apart; of a demand on two ways both cross when healthy, and one whole way in a failure. Else the distance of a
    demand is the weight of its lightest way.
    """

    state: str
    over: str
    """wavelengths; fiber pairs; transponders of the sites on the shore; couples of ways, whose distance is that of both
    ways, whatever the state; priced traffic, whose way on a circuit counts the price of traffic beside the weight [US$
    per Tb/s], only once."""
    shore: tuple[SiteId, ...] = ()
    """The sites on one side, where it is a cut between two shores."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Lightpath -> weight, where it is none."""
    faster: tuple[Faster, ...] = ()
    distances: Mapping[str, float] = field(default_factory=dict)
    """Demand -> distance, where it is no cut between shores."""
    need_gbps: float = 0.0
    """Right side: all demands together, each times its distance [Gb/s]."""


@dataclass(frozen=True, slots=True)
class Term:
    """An inequality and its price: the sum of cuts, each divided and rounded if so said, itself rounded if so said."""

    cuts: tuple[StateCut, ...]
    divisors: tuple[float | None, float | None]
    """Of each cut [Tb/s], and of their sum (mixed-integer rounding, Nemhauser and Wolsey 1990)."""
    right: float
    """Right side after rounding: [Tb/s], or a count of the divisor."""
    multiplier_usd: float
    """Of each unit of the right side [US$]."""
    usd: float = 0.0
    """multiplier × right side [US$]."""
    built: tuple[FiberId, ...] = ()
    """Fibers to be built and circuits to be set up that count as such, whatever is lit there: for no more than the
    right side, and no more than all that could be lit there."""


@dataclass(frozen=True, slots=True)
class OwnRow:
    """A limit of the program itself: spectrum of a fiber, an order among equal fibers, one module of a circuit."""

    name: str
    """As in the exported program."""
    about: str
    """In words."""
    multiplier_usd: float
    right: float
    usd: float = 0.0
    """multiplier × right side [US$]."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Something that can be bought, and for how much the terms and rows count it."""

    name: str
    """As in the exported program."""
    what: str
    """In words."""
    price_usd: float
    counted_usd: float
    bought: float = 0.0
    """What the difference is taken times: the most that can be bought where it is negative, else what is kept."""
    usd: float = 0.0
    """(price − counted) × bought [US$]."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Terms and rows with their prices, and what they add up to."""

    bound_usd: float
    """No design over the same candidates costs less [US$]."""
    terms: tuple[Term, ...]
    """The dearest first."""
    rows: tuple[OwnRow, ...]
    columns: tuple[Counted, ...]
    """All that some term or row counts."""
    held: tuple[str, ...] = ()
    """Demands held to ways within their latency limit."""


class Flawed(Exception):  # noqa: N818  a flaw, caught where certificates are checked
    """A certificate that says nothing: it names what is not there, or its sides do not fit."""
