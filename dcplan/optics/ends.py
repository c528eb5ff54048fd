"""Lightpaths while it is open at which sites light will pass: which modes close with a ROADM at which of their ends.

Whether the lit pairs of a site end in multiplexers or in ROADMs follows from the light that a design lights: in ROADMs
where some of it passes, else in multiplexers. A ROADM takes more of the light that begins or ends there, and adds
noise, so that a mode may close between two multiplexers and not between two ROADMs. What a route and the gear at its
ends give hangs on these alone, not on what other fibers there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import TYPE_CHECKING

from dcplan.optics.allowed import crossed
from dcplan.optics.budget import Lightpath, Line
from dcplan.optics.existing import with_existing_light, with_existing_parts
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines
from dcplan.optics.screen import screen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.model.network import FiberId, Network, Route, SiteId
    from dcplan.optics.line import NoLine

Ends = tuple[bool, bool]
"""Whether a ROADM stands at the first site of a route, and at its last."""
Kind = tuple[str, str]
"""Transponder and mode."""


@dataclass(frozen=True, slots=True)
class OpenLine(Line):
    """A line between multiplexers, and the same with a ROADM at either end, which may ask for another booster."""

    with_roadm: Line = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Candidate(Lightpath):
    """A lightpath with the budgets that it has between multiplexers, the best that it may have."""

    only_at: Mapping[Kind, frozenset[Ends]]
    """Of modes that close at some ends only: at which."""


@dataclass(frozen=True, slots=True)
class Light:
    """A network whose ROADMs are decided, with its light."""

    network: Network
    lines: tuple[Line, ...]
    lightpaths: tuple[Lightpath, ...]
    """With circuits."""


def rated(
    network: Network, routes: Sequence[Route], roadms: frozenset[SiteId], *, whole: bool = False
) -> tuple[dict[FiberId, Line | NoLine], tuple[Lightpath, ...]]:
    """Lines and lightpaths where light that begins or ends at these sites goes through ROADMs, at others multiplexers.

    The sites that a route passes have ROADMs in any case, and so its lines the boosters that go with them. Light that
    is lit already is among the budgets: those of modes that close, or the whole ones of every mode, line by line.
    """
    decided = replace(network, roadms=roadms)
    lines, meshed = design_lines(decided), design_lines(replace(network, roadms=crossed(network)))
    found: dict[int, Lightpath] = {}
    for alone, there in ((True, lines), (False, meshed)):
        numbers = [i for i, route in enumerate(routes) if (len(route.fibers) == 1) == alone]
        mine = evaluate(decided, there, [routes[i] for i in numbers], itemise=whole, closing=not whole)
        for i, path in zip(numbers, with_existing_light(decided, there, mine), strict=True):
            found[i] = replace(path, id=f"L{i + 1}")
    return lines, tuple(found[i] for i in range(len(routes)))


def candidates(network: Network, routes: Sequence[Route]) -> tuple[dict[FiberId, Line | NoLine], tuple[Candidate, ...]]:
    """Lines and lightpaths from which a design may choose, and with them where light passes.

    A mode that closes both between multiplexers and with ROADMs wherever light may pass closes with any of them. One
    that closes only between multiplexers is judged for each of its ends by itself. One that does not close between
    multiplexers is no candidate.
    """
    lines, paths = rated(network, routes, frozenset())
    passed = frozenset(site for path in paths if path.closing for site in path.route.through)
    meshed = design_lines(replace(network, roadms=crossed(network)))
    at_ends = _at_ends(network, meshed, passed, [path for path in paths if path.closing])
    open_lines = {
        fiber: line if passed.isdisjoint(network.fibers[fiber].ends) else _open(line, meshed[fiber])
        for fiber, line in lines.items()
    }
    return open_lines, tuple(
        Candidate(**{one.name: getattr(path, one.name) for one in fields(path)}, only_at=at_ends.get(path.id, {}))
        for path in paths
    )


def _open(line: Line | NoLine, meshed: Line | NoLine) -> Line | NoLine:
    if not (isinstance(line, Line) and isinstance(meshed, Line)) or line == meshed:
        return line
    return OpenLine(**{one.name: getattr(line, one.name) for one in fields(line)}, with_roadm=meshed)


def _at_ends(
    network: Network,
    meshed: Mapping[FiberId, Line | NoLine],
    passed: frozenset[SiteId],
    paths: Iterable[Lightpath],
) -> dict[str, dict[Kind, frozenset[Ends]]]:
    """Lightpath -> mode -> the ends at which it closes, where these are not all that there may be."""
    mine = [path for path in paths if not passed.isdisjoint(path.route.ends) and _amplified(path, meshed)]
    everywhere = _closing(network, meshed, mine, passed)
    short = {path.id: _kinds(path) - everywhere[path.id] for path in mine}
    either = [path for path in mine if short[path.id] and passed.issuperset(path.route.ends)]
    at_one: dict[tuple[str, SiteId], set[Kind]] = {}
    for site in sorted({site for path in either for site in path.route.ends}):
        here = [path for path in either if site in path.route.ends]
        for name, kinds in _closing(network, meshed, here, frozenset((site,))).items():
            at_one[name, site] = kinds
    found: dict[str, dict[Kind, frozenset[Ends]]] = {}
    for path in mine:
        first, last = path.route.sites[0], path.route.sites[-1]
        for kind in sorted(short[path.id]):
            may = ends_of(first in passed, last in passed)
            closes = {
                (False, False): True,
                (True, True): False,
                (True, False): kind in at_one.get((path.id, first), ()),
                (False, True): kind in at_one.get((path.id, last), ()),
            }
            found.setdefault(path.id, {})[kind] = frozenset(ends for ends in may if closes[ends])
    return found


def ends_of(*may: bool) -> list[Ends]:
    """Whatever may stand at two ends, where a ROADM may stand at some of them."""
    return [(first, last) for first, last in product(*((False, True) if there else (False,) for there in may))]


def _amplified(path: Lightpath, lines: Mapping[FiberId, Line | NoLine]) -> bool:
    return all(isinstance(line := lines[fiber], Line) and line.booster for fiber in path.route.fibers)


def _kinds(path: Lightpath) -> set[Kind]:
    return {(budget.transponder, budget.mode) for budget in path.closing}


def _closing(
    network: Network, lines: Mapping[FiberId, Line | NoLine], paths: Sequence[Lightpath], roadms: frozenset[SiteId]
) -> dict[str, set[Kind]]:
    """Lightpath -> the modes that close where ROADMs stand at these sites."""
    if not paths:
        return {}
    screened = screen(replace(with_existing_parts(network), roadms=roadms), lines, [path.route for path in paths])
    kinds = [(transponder, name) for transponder, name, _ in screened.modes]
    return {
        path.id: {kind for kind, closes in zip(kinds, row, strict=True) if closes}
        for path, row in zip(paths, screened.closes.tolist(), strict=True)
    }


def settled(path: Lightpath, roadms: frozenset[SiteId]) -> Lightpath:
    """A candidate where ROADMs stand at these sites: without the budgets of modes that do not close so."""
    if not isinstance(path, Candidate):
        return path
    ends = path.route.sites[0] in roadms, path.route.sites[-1] in roadms
    gone = {kind for kind, closes in path.only_at.items() if ends not in closes}
    kept = tuple(budget for budget in path.budgets if (budget.transponder, budget.mode) not in gone)
    return Lightpath(path.id, path.route, path.length_km, path.latency_ms, kept)


def line_at(line: Line, roadms: frozenset[SiteId]) -> Line:
    """A line where ROADMs stand at these of its ends."""
    return line.with_roadm if isinstance(line, OpenLine) and roadms else line
