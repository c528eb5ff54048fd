"""Codes 54x: light that is lit already must close, and have its place in the spectrum of the lit pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.diagnostics import Rule, Severity
from dcplan.model import grid
from dcplan.model.graph import walk
from dcplan.model.rules.examples import GOOD, adding
from dcplan.model.rules.existing import located
from dcplan.model.spectrum import band_of
from dcplan.optics.existing import existing_routes, pairs_along, with_existing_parts
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.diagnostics import Finding
    from dcplan.model.existing import Existing, ExistingWavelengths
    from dcplan.model.grid import Band
    from dcplan.model.network import FiberId, Network, Route
    from dcplan.model.rules.existing import Fault
    from dcplan.model.source import Loc
    from dcplan.optics.budget import Budget, Lightpath

_LIT = (
    "existing:\n  fibers: {north: {pairs: 1}}\n  wavelengths:\n"
    "    - {route: [north], transponder: 800zr, mode: 800g, count: 2, n: [-272, -248]}\n"
)


def _but(was: str, now: str) -> str:
    if was not in _LIT:
        raise ValueError(f"the example has no passage {was!r}")
    return adding(_LIT.replace(was, now, 1), GOOD)


DARK = Rule(
    "DCP540",
    "existing-mode-does-not-close",
    Severity.ERROR,
    "A wavelength that is lit already has no margin by this file: its fibers, its mode or the margins of the policy are"
    " not those of the network as it stands.",
    adding(_LIT, GOOD).replace("length_km: 58", "length_km: 300"),
    adding(_LIT, GOOD),
)
OVERFULL = Rule(
    "DCP541",
    "existing-spectrum-overfull",
    Severity.ERROR,
    "The wavelengths that are lit already are wider than the spectrum of the lit pairs.",
    _but("count: 2, n: [-272, -248]", "count: 40"),
    adding(_LIT, GOOD),
)
PLACE = Rule(
    "DCP542",
    "existing-channel-misplaced",
    Severity.ERROR,
    "A channel that is lit already stands whole within the band, on slots of 12.5 GHz from its lower edge, and shares"
    " none of them with another on the same pair; channels of different width stand `policy.guard_ghz` apart.",
    _but("-248", "-262"),
    adding(_LIT, GOOD),
)
RULES = (DARK, OVERFULL, PLACE)


@dataclass(frozen=True, slots=True)
class _Lit:
    """One entry of the file with its place in it, its route and its budget."""

    at: Loc
    entry: ExistingWavelengths
    route: Route
    budget: Budget

    @property
    def slots(self) -> int:
        return grid.width_slots(self.budget.width_ghz)


def check(network: Network) -> list[Finding]:
    """Existing modes that do not close, pairs that are overfull, channels in the wrong place."""
    return located(network, faults(network))


def faults(network: Network) -> Iterator[Fault]:
    """What the light that is lit already breaks, each where it stands; with ROADMs at the sites that it passes."""
    existing = network.topology.existing
    if existing is None or not existing.wavelengths:
        return
    routes = existing_routes(network)
    decided = replace(network, roadms=frozenset(site for route in routes for site in route.through))
    judged = {path.route: path for path in evaluate(with_existing_parts(decided), design_lines(decided), routes)}
    lit: list[_Lit] = []
    for i, entry in enumerate(existing.wavelengths):
        at: Loc = ("existing", "wavelengths", i)
        route = walk(network, entry.route)
        if route is None:
            continue
        budget = next(
            (one for one in judged[route].budgets if (one.transponder, one.mode) == (entry.transponder, entry.mode)),
            None,
        )
        if budget is None or not budget.closes:
            yield DARK, (*at, "mode"), _why(network, entry, judged[route], budget), None
        else:
            lit.append(_Lit(at, entry, route, budget))
    yield from _overfull(existing, lit, band_of(network))
    yield from _misplaced(lit, band_of(network))


def _why(network: Network, entry: ExistingWavelengths, path: Lightpath, budget: Budget | None) -> str:
    name = f"{entry.transponder} {entry.mode}"
    if budget is None:
        return f"{name} cannot run on {', '.join(entry.route)}: {_what_stops(network, entry, path)}"
    short = "" if budget.margin_db is None else f", {-budget.margin_db:.1f} dB short"
    return f"{name} does not close over {path.length_km:g} km, stopped by {budget.limit}{short}"


def _what_stops(network: Network, entry: ExistingWavelengths, path: Lightpath) -> str:
    stops = [site for site in path.route.through if not network.sites[site].express]
    if stops:
        return f"light does not pass {', '.join(stops)}"
    part = network.catalog.transponders.get(entry.transponder)
    if part is not None and part.modes[entry.mode].required_osnr_db is None:
        return "its required OSNR is not published; state it in an own transponder under `gear.transponders`"
    return "it is too wide for the band or its grid, or not made for such a line"


def _overfull(existing: Existing, lit: list[_Lit], band: Band) -> Iterator[Fault]:
    """Σ slots ≤ slots of a pair × lit pairs; channels at least so wide ≤ floor(slots / width) × lit pairs."""
    for fiber, about in existing.fibers.items():
        here = [one for one in lit if fiber in one.route.fibers]
        taken = sum(one.slots * one.entry.count for one in here)
        worst = taken > band.usable * about.pairs
        for width in {one.slots for one in here}:
            wide = sum(one.entry.count for one in here if one.slots >= width)
            worst = worst or wide > band.usable // width * about.pairs
        if worst:
            room = f"{about.pairs} {'pair' if about.pairs == 1 else 'pairs'} of {band.usable * grid.SLOT_GHZ:g} GHz"
            message = f"channels of {taken * grid.SLOT_GHZ:g} GHz run on `{fiber}` already, lit are {room}"
            yield OVERFULL, ("existing", "fibers", fiber), message, "light more pairs, or list fewer wavelengths"


def _misplaced(lit: list[_Lit], band: Band) -> Iterator[Fault]:
    there: dict[tuple[FiberId, int], list[tuple[int, int, int]]] = {}
    for one in lit:
        for i, n in enumerate(one.entry.n or ()):
            at: Loc = (*one.at, "n", i)
            first = band.first_slot(n, one.slots)
            if first is None:
                hint = f"centres of this width are {_parity(band, one.slots)}"
                yield PLACE, at, f"n = {n} is off the slots that begin at {band.start_thz:g} THz", hint
                continue
            if not band.holds(first, one.slots):
                message = f"n = {n} leaves the band of {band.start_thz:g} to {band.end_thz:g} THz or its guards"
                yield PLACE, at, message, None
                continue
            for place in zip(one.route.fibers, pairs_along(one.entry, one.route), strict=True):
                clash = next((other for other in there.get(place, ()) if _close(first, one.slots, other, band)), None)
                if clash is not None:
                    message = f"n = {n} and n = {clash[2]} are too near to each other on pair {place[1] + 1} of"
                    yield PLACE, at, f"{message} `{place[0]}`", None
                    break
            for place in zip(one.route.fibers, pairs_along(one.entry, one.route), strict=True):
                there.setdefault(place, []).append((first, one.slots, n))


def _parity(band: Band, slots: int) -> str:
    return "even" if (band.edge + slots) % 2 == 0 else "odd"


def _close(first: int, slots: int, other: tuple[int, int, int], band: Band) -> bool:
    guard = band.guard if slots != other[1] else 0
    return first < other[0] + other[1] + guard and other[0] < first + slots + guard
