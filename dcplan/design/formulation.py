"""The two-layer ILP: integer wavelengths and lit fiber pairs below, splittable traffic above; a function per family.

Money in thousand US$ and rates in Tb/s, so that coefficients stay between 1e-3 and 1e6.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dcplan.design.circuits import EXISTING
from dcplan.design.nodes import Nodes, buy_nodes, idle, passing
from dcplan.design.problem import Hop, Problem, rate
from dcplan.design.solver.program import Program
from dcplan.design.spectrum.holes import holes
from dcplan.design.ways.chains import nested

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from dcplan.design.result import Demand
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import FiberId, Pair, SiteId

USD = 1e-3
"""Thousand US$ per US$."""
TBPS = 1e-3
"""Tb/s per Gb/s."""


@dataclass(frozen=True, slots=True)
class Bought:
    """The columns of what is bought."""

    wavelengths: tuple[int, ...]
    """One per choice."""
    pairs: Mapping[FiberId, int]
    opened: Mapping[FiberId, int]
    """Of fibers and circuits, only where building costs something."""
    nodes: Nodes = field(default_factory=Nodes)
    aside: Mapping[Hop, int] = field(default_factory=dict)
    """Set aside for demands on two ways [Tb/s]; only where others share what is left."""
    anchors: tuple[int, ...] = ()
    """Under relight beside other schemes, one per choice: what no failure retunes (see `Problem.anchored`)."""


@dataclass(frozen=True, slots=True)
class Loads:
    """What the traffic of one state puts on links and lightpaths, as terms, and the rows that ask for it."""

    links: Mapping[Pair, dict[int, float]]
    lightpaths: Mapping[Hop, dict[int, float]]
    """Only the traffic that is held to listed ways, by the tier of wavelengths that it must fit."""
    asked: tuple[tuple[int, tuple[int, ...]], ...]
    """(row, demands whose rates add up to its right side)."""
    on_ways: Mapping[int, Sequence[tuple[Way, int]]]
    """Of each demand that is held to listed ways, these with their columns."""


def buy(program: Program, problem: Problem) -> Bought:
    """Integer wavelengths or modules n per choice, integer lit pairs p per fiber, opened routes o and circuits c.

    Of a fiber that is lit already, k ≤ p of its pairs are spared the price of lighting them.
    """
    wavelengths = tuple(
        program.column(f"n{i}", choice.usd * USD, choice.most, choice.least, integer=True)
        for i, choice in enumerate(problem.choices)
    )
    return Bought(wavelengths, *buy_fibers(program, problem))


def buy_fibers(program: Program, problem: Problem) -> tuple[dict[FiberId, int], dict[FiberId, int], Nodes]:
    """Integer lit pairs p per fiber, binary opened routes o and circuits c where that costs something, and ROADMs."""
    pairs: dict[FiberId, int] = {}
    opened: dict[FiberId, int] = {}
    there: dict[FiberId, int] = {}
    for i, fiber in enumerate(problem.fibers):
        most = problem.network.fibers[fiber].pairs
        kept = problem.pairs_kept.get(fiber, 0)
        pairs[fiber] = program.column(f"p{i}", problem.pair_usd[fiber] * USD, most, kept, integer=True)
        if fiber in problem.pairs_lit:
            spared = -problem.pair_saved_usd[fiber] * USD
            old = there[fiber] = program.column(f"k{i}", spared, problem.pairs_lit[fiber], kept, integer=True)
            if kept < problem.pairs_lit[fiber]:
                program.row(f"kept{i}", {old: 1.0, pairs[fiber]: -1.0}, upper=0)
        if fiber in problem.build_usd:
            opened[fiber] = program.column(f"o{i}", problem.build_usd[fiber] * USD, 1, integer=True)
    for circuit, i in problem.circuits.items():
        if circuit in problem.build_usd:
            opened[circuit] = program.column(f"c{i}", problem.build_usd[circuit] * USD, 1, integer=True)
    return pairs, opened, buy_nodes(program, problem, pairs, there)


def spectrum(program: Program, problem: Problem, bought: Bought, slots: Mapping[FiberId, int], tag: str = "") -> None:
    """Per fiber: slots of all channels ≤ slots per pair × lit pairs. `tag` ends the names of all rows.

    And per width w: channels at least that wide ≤ floor(slots / w) × lit pairs, which a sum of widths does not imply.
    With a guard g between widths: Σ slots + g × widths in use ≤ (slots per pair + g × bands) × lit pairs, since a pair
    with k widths on it holds k − bands guards at least.
    """
    for i, fiber in enumerate(problem.fibers):
        over = choices_over(problem, fiber)
        pair = bought.pairs[fiber]
        usable = slots[fiber]
        terms = {bought.wavelengths[j]: float(problem.choices[j].slots) for j in over}
        program.row(f"spectrum{i}{tag}", terms | {pair: -float(usable)}, upper=0)
        for width in sorted({problem.choices[j].slots for j in over}):
            wide = {bought.wavelengths[j]: 1.0 for j in over if problem.choices[j].slots >= width}
            program.row(f"channels{i}w{width}{tag}", wide | {pair: -float(usable // width)}, upper=0)
        if problem.band.guard:
            _guards(program, problem, bought, i, usable, tag)
    passing(program, problem, bought, slots, tag)


def _guards(program: Program, problem: Problem, bought: Bought, i: int, usable: int, tag: str) -> None:
    """Binary z per width that may stand on a fiber: channels of the width ≤ most × z, and the guards take their place.

    A relaxation: it counts as if equal widths always stood together, so a bound over it is a bound.
    """
    fiber, guard = problem.fibers[i], float(problem.band.guard)
    over = choices_over(problem, fiber)
    terms = {bought.wavelengths[j]: float(problem.choices[j].slots) for j in over}
    for width in sorted({problem.choices[j].slots for j in over}):
        used = program.column(f"z{i}w{width}{tag}", 0.0, 1, integer=True)
        wide = {bought.wavelengths[j]: 1.0 for j in over if problem.choices[j].slots == width}
        most = problem.network.fibers[fiber].pairs * (usable // width)
        program.row(f"used{i}w{width}{tag}", wide | {used: -float(most)}, upper=0)
        terms[used] = guard
    room = usable + guard * len(problem.band.stretches)
    program.row(f"guards{i}{tag}", terms | {bought.pairs[fiber]: -room}, upper=0)


def opening(program: Program, problem: Problem, bought: Bought) -> None:
    """Per fiber that must be built: lit pairs ≤ pairs × opened."""
    for i, fiber in enumerate(problem.fibers):
        if fiber in bought.opened:
            most = float(problem.network.fibers[fiber].pairs)
            program.row(f"open{i}", {bought.pairs[fiber]: 1.0, bought.opened[fiber]: -most}, upper=0)


def leasing(program: Program, problem: Problem, bought: Bought) -> None:
    """Per circuit with a set-up price: modules of a size ≤ most × set up. Where one may be picked: all modules ≤ 1."""
    for circuit, i in problem.circuits.items():
        modules = {j: bought.wavelengths[j] for j in problem.offered[i] if problem.choices[j].mode != EXISTING}
        opened = bought.opened.get(circuit)
        if problem.network.circuits[circuit].pick == "one":
            closed = {} if opened is None else {opened: -1.0}
            program.row(f"one{i}", dict.fromkeys(modules.values(), 1.0) | closed, upper=0 if closed else 1)
        elif opened is not None:
            for j, column in modules.items():
                program.row(f"lease{j}", {column: 1.0, opened: -float(problem.choices[j].most)}, upper=0)


def choices_over(problem: Problem, fiber: FiberId) -> list[int]:
    """The choices whose lightpath uses a fiber."""
    crossing = {i for i, lightpath in enumerate(problem.lightpaths) if fiber in lightpath.route.fibers}
    return [j for j, choice in enumerate(problem.choices) if choice.lightpath in crossing]


def whole_slots(problem: Problem) -> dict[FiberId, int]:
    """The whole band on every fiber."""
    return dict.fromkeys(problem.fibers, problem.slots)


def master(problem: Problem, slots: Mapping[FiberId, int]) -> tuple[Program, Bought]:
    """What can be bought and how it fits the fibers; no traffic yet."""
    program = Program()
    bought = buy(program, problem)
    spectrum(program, problem, bought, slots)
    holes(program, problem, bought)
    opening(program, problem, bought)
    leasing(program, problem, bought)
    idle(program, problem, bought)
    return program, bought


def route(
    program: Program,
    tag: str,
    links: Mapping[Pair, Sequence[int]],
    demands: Mapping[int, Demand],
    rates: Mapping[int, float],
    ways: Mapping[int, Sequence[Way]],
    short: Mapping[int, int],
) -> Loads:
    """Splittable traffic in one state: node-arc, aggregated by source, over links; listed ways for demands in `ways`.

    `short` holds the slack column of a demand, where it may go short.
    """
    on_links: dict[Pair, dict[int, float]] = {ends: {} for ends in links}
    on_hops: dict[Hop, dict[int, float]] = {}
    asked: list[tuple[int, tuple[int, ...]]] = []
    free = {d: demand for d, demand in demands.items() if d not in ways}
    for s, (source, mine) in enumerate(by_source(free).items()):
        asked += _from_source(program, f"{tag}s{s}", on_links, source, {d: demands[d] for d in mine}, rates, short)
    on_ways = {d: _on_ways(program, f"{tag}d{d}", on_hops, listed) for d, listed in ways.items()}
    for d, columns in on_ways.items():
        carried = dict.fromkeys((column for _, column in columns), 1.0)
        slack = {short[d]: 1.0} if d in short else {}
        need = rates[d] * TBPS
        asked.append((program.row(f"ways{tag}d{d}", carried | slack, need, need), (d,)))
    link_of = {lightpath: ends for ends, lightpaths in links.items() for lightpath in lightpaths}
    for (lightpath, _), terms in sorted(on_hops.items()):
        on_links[link_of[lightpath]] |= terms
    return Loads(on_links, nested(on_hops), tuple(asked), on_ways)


def _from_source(
    program: Program,
    tag: str,
    on_links: Mapping[Pair, dict[int, float]],
    source: SiteId,
    demands: Mapping[int, Demand],
    rates: Mapping[int, float],
    short: Mapping[int, int],
) -> list[tuple[int, tuple[int, ...]]]:
    """For source a and each site v ≠ a: flow in − flow out + short = what a and v ask of each other."""
    sites = {site for ends in on_links for site in ends} | {site for demand in demands.values() for site in demand.ends}
    balance: dict[SiteId, dict[int, float]] = {site: {} for site in sorted(sites)}
    for e, ends in enumerate(on_links):
        for head, tail, mark in ((ends[0], ends[1], "a"), (ends[1], ends[0], "b")):
            if tail != source:
                flow = program.column(f"f{tag}e{e}{mark}")
                on_links[ends][flow] = 1.0
                balance[head][flow] = -1.0
                balance[tail][flow] = 1.0
    asked = []
    for v, (site, terms) in enumerate(balance.items()):
        if site == source:
            continue
        here = tuple(d for d, demand in demands.items() if site in demand.ends)
        need = sum(rates[d] for d in here) * TBPS
        slack = {short[d]: 1.0 for d in here if d in short}
        row = program.row(f"balance{tag}v{v}", terms | slack, need, need)
        if here:
            asked.append((row, here))
    return asked


def _on_ways(
    program: Program, tag: str, on_hops: dict[Hop, dict[int, float]], listed: Sequence[Way]
) -> tuple[tuple[Way, int], ...]:
    """A column of traffic for each listed way, and what it puts on hops."""
    columns = []
    for w, way in enumerate(listed):
        flow = program.column(f"y{tag}w{w}")
        columns.append((way, flow))
        for hop in way.hops:
            on_hops.setdefault(hop, {})[flow] = 1.0
    return tuple(columns)


def capacity(
    program: Program, problem: Problem, bought: Bought, links: Mapping[Pair, Sequence[int]], loads: Loads, tag: str
) -> None:
    """Per link, traffic and what is set aside ≤ Σ rate × wavelengths of its surviving lightpaths.

    Per hop the same, of its listed ways alone.
    """
    installed: dict[int, dict[int, float]] = {}
    for j, choice in enumerate(problem.choices):
        installed.setdefault(choice.lightpath, {})[bought.wavelengths[j]] = -choice.gbps * TBPS
    for e, (ends, lightpaths) in enumerate(links.items()):
        lit = {column: value for i in lightpaths for column, value in installed[i].items()}
        aside = {column: 1.0 for (i, _), column in bought.aside.items() if i in lightpaths}
        program.row(f"link{tag}e{e}", loads.links[ends] | lit | aside, upper=0)
    for hop, terms in loads.lightpaths.items():
        aside = {column: 1.0 for (i, tier), column in bought.aside.items() if i == hop[0] and tier <= hop[1]}
        lit = installed_on(problem, bought, hop)
        program.row(f"path{tag}l{hop_name(problem, hop)}", terms | lit | aside, upper=0)


def hop_name(problem: Problem, hop: Hop) -> str:
    """Index of a lightpath, with the tier where it is not all of its wavelengths."""
    return f"{hop[0]}" if hop == problem.top(hop[0]) else f"{hop[0]}t{hop[1]}"


def installed_on(problem: Problem, bought: Bought, hop: Hop) -> dict[int, float]:
    """− Σ rate × wavelengths that traffic on a hop may ride on, as terms."""
    return {bought.wavelengths[j]: -problem.choices[j].gbps * TBPS for j in problem.within(hop)}


def whole(
    problem: Problem,
    ways: Mapping[int, Sequence[Way]] | None = None,
) -> Program:
    """The whole ILP of schemes `none`, `reroute` and `one-plus-one`, every state written out: the model of record.

    `ways` lists the admissible ways of demands under a latency limit and of those on two ways. The engine solves the
    same model with the traffic of the others projected out (see `sizing`); tests compare both.
    """
    from dcplan.design.ways.protection import protect  # it is written in terms of this module

    program, bought = master(problem, whole_slots(problem))
    limited = ways or {}
    held = {d: limited[d] for d in sorted(problem.protected)}
    bought = replace(bought, aside=protect(program, problem, bought, held).aside) if held else bought
    for k in range(len(problem.states)):
        carry(program, problem, bought, k, limited)
    return program


def carry(
    program: Program,
    problem: Problem,
    bought: Bought,
    k: int,
    ways: Mapping[int, Sequence[Way]],
    short: Mapping[int, int] | None = None,
) -> Loads:
    """The traffic of a state that is not on two ways, on what survives of what is bought; its price when healthy."""
    state = problem.states[k]
    links = problem.links(problem.alive(state))
    rates = {d: rate(demand, state) for d, demand in enumerate(problem.demands)}
    asking = {d: problem.demands[d] for d in problem.shared if rates[d] > 0}
    listed = {d: [way for way in ways[d] if k not in way.broken] for d in asking if d in ways}

    def routed(those: Collection[int], tag: str) -> Loads:
        mine = {d: demand for d, demand in asking.items() if d in those}
        return route(program, tag, links, mine, rates, {d: listed[d] for d in listed if d in those}, short or {})

    loads = routed(asking.keys() - problem.anchored, f"k{k}")
    if bought.anchors:
        anchored = routed(problem.anchored, f"b{k}")
        capacity(program, problem, replace(bought, wavelengths=bought.anchors), links, anchored, f"b{k}")
        loads = _together(loads, anchored)
    capacity(program, problem, bought, links, loads, f"k{k}")
    if state.healthy:
        price(program, problem, bought, links, loads, f"k{k}")
    return loads


def _together(one: Loads, other: Loads) -> Loads:
    both = sorted(one.lightpaths.keys() | other.lightpaths.keys())
    hops = {hop: {**one.lightpaths.get(hop, {}), **other.lightpaths.get(hop, {})} for hop in both}
    return Loads(
        {ends: {**terms, **other.links[ends]} for ends, terms in one.links.items()},
        nested(hops),
        (*one.asked, *other.asked),
        {**one.on_ways, **other.on_ways},
    )


def price(
    program: Program, problem: Problem, bought: Bought, links: Mapping[Pair, Sequence[int]], loads: Loads, tag: str
) -> None:
    """Each g ≤ what its lightpath carries."""
    for i, column in split_by_price(program, problem, links, loads, tag).items():
        program.row(f"most{tag}l{i}", {column: 1.0} | installed_on(problem, bought, problem.top(i)), upper=0)


def split_by_price(
    program: Program, problem: Problem, links: Mapping[Pair, Sequence[int]], loads: Loads, tag: str
) -> dict[int, int]:
    """Per link with a circuit whose traffic has a price: traffic = Σ g, each g at its price, by lightpath.

    What listed ways lead over a lightpath is part of its g.
    """
    found: dict[int, int] = {}
    on_ways = {i: terms for (i, _), terms in sorted(loads.lightpaths.items())}
    for e, (ends, lightpaths) in enumerate(links.items()):
        if not problem.priced.keys().isdisjoint(lightpaths):
            split = {i: program.column(f"g{tag}l{i}", problem.priced.get(i, 0.0) * USD / TBPS) for i in lightpaths}
            program.row(f"split{tag}e{e}", loads.links[ends] | dict.fromkeys(split.values(), -1.0), 0, 0)
            for i in sorted(on_ways.keys() & split.keys()):
                program.row(f"held{tag}l{i}", on_ways[i] | {split[i]: -1.0}, upper=0)
            found |= split
    return found


def by_source(demands: Mapping[int, Demand]) -> dict[SiteId, list[int]]:
    """Demands by one of their ends, so that few sources cover all of them (greedy vertex cover)."""
    left = dict(demands)
    found: dict[SiteId, list[int]] = {}
    while left:
        degree = Counter(site for demand in left.values() for site in demand.ends)
        source = min(degree, key=lambda site: (-degree[site], site))
        found[source] = [d for d, demand in left.items() if source in demand.ends]
        left = {d: demand for d, demand in left.items() if source not in demand.ends}
    return found
