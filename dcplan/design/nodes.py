"""What stands at the ends of lit pairs: ROADMs at the sites where some light passes, at all others multiplexers.

r is 1 where a site has ROADMs. Of the p lit pairs of a fiber, q of each pattern of ROADMs at its ends are lit, at the
price of that pattern: Σ q = p, and at each end Σ q with a ROADM ≤ pairs × r, Σ q without ≤ pairs × (1 − r). Light that
passes a site takes slots on pairs with a ROADM there only, and without any r is 0. A mode that closes at some ends only
is lit only there. So a fiber that is not lit changes nothing: every design of a network is one of it with more fibers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.optics.ends import ends_of, line_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Problem
    from dcplan.design.result import Design, Wavelengths
    from dcplan.design.solver.program import Program
    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.optics.ends import Ends


@dataclass(frozen=True, slots=True)
class Pattern:
    """ROADMs at some ends of a fiber, and what a lit pair costs more than between multiplexers."""

    roadms: frozenset[SiteId]
    more_usd: float
    """Of a pair that is lit anew [US$]."""
    spared_usd: float
    """What one that is lit already is spared more than between multiplexers [US$]."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The columns of what stands at sites."""

    roadms: Mapping[SiteId, int] = field(default_factory=dict)
    pairs: Mapping[tuple[FiberId, frozenset[SiteId]], int] = field(default_factory=dict)
    """Fiber and pattern -> lit pairs."""
    there: Mapping[tuple[FiberId, frozenset[SiteId]], int] = field(default_factory=dict)
    """The same of pairs that were lit already."""


def passed_by(lightpaths: Iterable[Lightpath]) -> frozenset[SiteId]:
    """The sites that they pass."""
    return frozenset(site for path in lightpaths for site in path.route.through)


def passed(lightpaths: Sequence[Lightpath], design: Design) -> frozenset[SiteId]:
    """The sites that light of a design passes, healthy or in a failure: they have ROADMs."""
    lit = {one.lightpath for one in design.ever_lit}
    return passed_by(path for path in lightpaths if path.id in lit)


def with_roadms(network: Network, paths: Mapping[str, Lightpath], lit: Iterable[Wavelengths]) -> Network:
    """The network with ROADMs at the sites that lit wavelengths pass, and nowhere else."""
    return replace(network, roadms=passed_by(paths[one.lightpath] for one in lit if one.lightpath in paths))


def patterns(network: Network, line: Line, open_at: frozenset[SiteId], *, lit: bool) -> tuple[Pattern, ...]:
    """Of a fiber, every pattern of ROADMs at those of its ends where light may pass; none where it may at neither.

    lit: pairs of it are lit already, which may be spared something.
    """
    ends = [site for site in network.fibers[line.fiber].ends if site in open_at]
    if not ends or not line.booster:
        return ()
    flags = product((False, True), repeat=len(ends))
    roadms = [frozenset(site for site, there in zip(ends, each, strict=True) if there) for each in flags]
    prices = [_prices(network, line, each, lit=lit) for each in roadms]
    plain = prices[0]
    return tuple(
        Pattern(each, new - plain[0], spared - plain[1]) for each, (new, spared) in zip(roadms, prices, strict=True)
    )


def _prices(network: Network, line: Line, roadms: frozenset[SiteId], *, lit: bool) -> tuple[float, float]:
    """Of a pair lit anew, and how much less one costs that is lit already, if any is [US$]."""
    decided = replace(network, roadms=roadms)
    here = line_at(line, roadms)
    new = cost.total(cost.pair_items(decided, here, 1))
    return new, new - cost.total(cost.pair_items(decided, here, 1, existing=1)) if lit else 0.0


def buy_nodes(program: Program, problem: Problem, pairs: Mapping[FiberId, int], there: Mapping[FiberId, int]) -> Nodes:
    """Binary r per site that light may pass, lit pairs q per pattern, and w ≤ q of these that were lit already.

    there: the columns of pairs that were lit already, whose w add up to them.
    """
    from dcplan.design.formulation import USD  # it is written in terms of this module

    roadms = {site: program.column(f"r{s}", 0.0, 1, integer=True) for s, site in enumerate(problem.passed)}
    by_pattern: dict[tuple[FiberId, frozenset[SiteId]], int] = {}
    old_by_pattern: dict[tuple[FiberId, frozenset[SiteId]], int] = {}
    whole = problem.retunes  # so they are in any case; there it is quicker to say so
    for i, fiber in enumerate(problem.fibers):
        mine = problem.patterns.get(fiber, ())
        if not mine:
            continue
        most = problem.network.fibers[fiber].pairs
        columns = [program.column(f"q{i}t{n}", one.more_usd * USD, most, integer=whole) for n, one in enumerate(mine)]
        by_pattern |= {(fiber, one.roadms): column for one, column in zip(mine, columns, strict=True)}
        program.row(f"types{i}", dict.fromkeys(columns, 1.0) | {pairs[fiber]: -1.0}, 0, 0)
        if fiber in there:
            old = [
                program.column(f"w{i}t{n}", -one.spared_usd * USD, problem.pairs_lit[fiber])
                for n, one in enumerate(mine)
            ]
            for n, (part, column) in enumerate(zip(old, columns, strict=True)):
                program.row(f"was{i}t{n}", {part: 1.0, column: -1.0}, upper=0)
            program.row(f"were{i}", dict.fromkeys(old, 1.0) | {there[fiber]: -1.0}, 0, 0)
            old_by_pattern |= {(fiber, one.roadms): column for one, column in zip(mine, old, strict=True)}
        for e, site in enumerate(problem.network.fibers[fiber].ends):
            if site in roadms:
                ends = {column: site in one.roadms for one, column in zip(mine, columns, strict=True)}
                meshed = {column: 1.0 for column, there_is in ends.items() if there_is}
                plain = {column: 1.0 for column, there_is in ends.items() if not there_is}
                program.row(f"roadm{i}s{e}", meshed | {roadms[site]: -float(most)}, upper=0)
                program.row(f"mux{i}s{e}", plain | {roadms[site]: float(most)}, upper=most)
    return Nodes(roadms, by_pattern, old_by_pattern)


def passing(program: Program, problem: Problem, bought: Bought, slots: Mapping[FiberId, int], tag: str) -> None:
    """Per end of a fiber: slots of light that passes there ≤ slots per pair × lit pairs with a ROADM there.

    And each mode that closes at some ends only is lit only there.
    """
    for i, fiber in enumerate(problem.fibers):
        for e, site in enumerate(problem.network.fibers[fiber].ends):
            if site in bought.nodes.roadms:
                terms = {bought.wavelengths[j]: float(problem.choices[j].slots) for j in _through(problem, site, fiber)}
                meshed = {
                    column: -float(slots[fiber])
                    for (other, roadms), column in bought.nodes.pairs.items()
                    if other == fiber and site in roadms
                }
                if terms:
                    program.row(f"pass{i}s{e}{tag}", terms | meshed, upper=0)
    for j, choice in enumerate(problem.choices):
        if choice.only_at is not None:
            _only_at(program, problem, bought, j, choice.only_at, tag)


def wherever(problem: Problem) -> Problem:
    """The problem in which light passes, and modes close, whatever stands at the ends: it allows no less."""
    freed = tuple(replace(choice, only_at=None) for choice in problem.choices)
    return replace(problem, choices=freed, passed=(), patterns={})


def roadms_of(problem: Problem, counts: Sequence[float]) -> frozenset[SiteId]:
    """The sites that light passes where so many of each choice are lit."""
    lit = {choice.lightpath for choice, count in zip(problem.choices, counts, strict=True) if count}
    return passed_by(problem.lightpaths[i] for i in lit)


def pair_usd(problem: Problem, fiber: FiberId, roadms: frozenset[SiteId]) -> float:
    """What a further lit pair costs where ROADMs stand at these sites [US$]."""
    return problem.pair_usd[fiber] + _pattern(problem, fiber, roadms).more_usd


def pairs_usd(problem: Problem, pairs: Mapping[FiberId, int], roadms: frozenset[SiteId]) -> float:
    """What lit pairs cost, with ROADMs at these sites [US$]."""
    total = 0.0
    for fiber, count in pairs.items():
        there = min(count, problem.pairs_lit.get(fiber, 0))
        spared = problem.pair_saved_usd.get(fiber, 0.0) + _pattern(problem, fiber, roadms).spared_usd
        total += count * pair_usd(problem, fiber, roadms) - there * spared
    return total


def _pattern(problem: Problem, fiber: FiberId, roadms: frozenset[SiteId]) -> Pattern:
    mine = problem.patterns.get(fiber, ())
    return next(
        (one for one in mine if one.roadms == roadms.intersection(problem.network.fibers[fiber].ends)),
        Pattern(frozenset(), 0.0, 0.0),
    )


def close_at(problem: Problem, j: int, roadms: frozenset[SiteId]) -> bool:
    """A choice closes where ROADMs stand at these sites."""
    choice = problem.choices[j]
    sites = problem.lightpaths[choice.lightpath].route.sites
    return choice.only_at is None or (sites[0] in roadms, sites[-1] in roadms) in choice.only_at


def idle(program: Program, problem: Problem, bought: Bought) -> None:
    """Per site: r ≤ wavelengths that pass."""
    for s, (site, column) in enumerate(bought.nodes.roadms.items()):
        passes = {bought.wavelengths[j]: -1.0 for j in _through(problem, site, None)}
        program.row(f"idle{s}", passes | {column: 1.0}, upper=0)


def _through(problem: Problem, site: SiteId, fiber: FiberId | None) -> Iterator[int]:
    """The choices whose light passes a site, over a fiber if one is given."""
    for j, choice in enumerate(problem.choices):
        route = problem.lightpaths[choice.lightpath].route
        if site in route.through and (fiber is None or fiber in route.fibers):
            yield j


def _only_at(program: Program, problem: Problem, bought: Bought, j: int, closes: frozenset[Ends], tag: str) -> None:
    """N ≤ most × ends that are not as where the mode does not close; once for an end that decides alone."""
    choice = problem.choices[j]
    route, wave = problem.lightpaths[choice.lightpath].route, bought.wavelengths[j]
    sites = (route.sites[0], route.sites[-1])
    may = ends_of(*(site in bought.nodes.roadms for site in sites))
    barred = [ends for ends in may if ends not in closes]
    decided: dict[tuple[tuple[int, bool], ...], None] = {}
    for ends in barred:
        alone = [(at, ends[at]) for at in (0, 1) if all(one in barred for one in may if one[at] == ends[at])]
        decided[tuple(alone[:1] or enumerate(ends))] = None
    for n, case in enumerate(decided):
        terms, right = {wave: 1.0}, 0.0
        for at, there in case:
            column = bought.nodes.roadms.get(sites[at])
            if column is not None:
                terms[column] = float(choice.most) * (1 if there else -1)
                right += choice.most if there else 0.0
        program.row(f"closes{j}x{n}{tag}", terms, upper=right)
