"""Tables of what carries light and traffic: links, fibers, lightpaths, spectrum, routes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.optics.limits import next_in_words
from dcplan.report.sheet import (
    Table,
    added,
    again,
    count,
    fixed,
    inserted,
    number,
    number_column,
    say,
    text_column,
    whole,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.design.result import Routing, Wavelengths
    from dcplan.model.network import Pair
    from dcplan.optics.budget import Budget, Lightpath
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Cell, Row


def links(plan: Plan) -> Table:
    """Wavelengths between the same two sites, with their load."""
    ends = {path.id: path.route.ends for path in plan.lightpaths}
    grown = plan.existing is not None
    lit: dict[Pair, list[Wavelengths]] = {ends[group.lightpath]: [] for group in plan.design.ever_lit}
    for group in plan.design.wavelengths:
        lit[ends[group.lightpath]].append(group)
    loads = {routing.state: _loads(routing, ends) for routing in plan.design.routing}
    healthy = plan.design.routing[0].state if plan.design.routing else ""
    rows: list[Row] = []
    for pair in sorted(lit):
        capacity = math.fsum(group.count * group.rate_gbps for group in lit[pair])
        load = loads.get(healthy, {}).get(pair, 0.0)
        worst = max(loads, key=lambda state: loads[state].get(pair, 0.0), default=healthy)
        rows.append(
            (
                say(f"{pair[0]} – {pair[1]}"),
                whole(waves) if (waves := sum(group.count for group in lit[pair] if group.width_ghz)) else number(None),
                added(sum(one.count - one.existing for one in lit[pair] if one.width_ghz), to_something=grown),
                whole(capacity),
                fixed(max((group.latency_ms for group in lit[pair]), default=None), 3),
                number(load),
                fixed(100 * load / capacity if capacity else None, 0),
                number(loads[worst].get(pair, 0.0) if worst else None),
                say(worst),
            )
        )
    columns = (
        text_column("link", "Link", 12),
        number_column("wavelengths", "Waves"),
        number_column("new_wavelengths", "new"),
        number_column("capacity_gbps", "Capacity", "Gb/s"),
        number_column("latency_ms", "One way", "ms"),
        number_column("load_gbps", "Load", "Gb/s"),
        number_column("load_percent", "Load", "%"),
        number_column("load_worst_gbps", "Worst", "Gb/s"),
        text_column("worst_state", "in", 12),
    )
    note = "Capacity and load each way. Load: healthy; worst: in the state that puts most on the link." if rows else ""
    table = Table(
        "links",
        "Links and wavelengths",
        columns,
        tuple(rows),
        _sum(rows, (1, 2, 3) if grown else (1, 3)),
        note,
        main=True,
    )
    if not plan.design.relit:
        return table
    then = [_then_gbps(plan, ends, pair, str(row[-1].value)) for pair, row in zip(sorted(lit), rows, strict=True)]
    of = number_column("capacity_worst_gbps", "of", "Gb/s")
    return inserted(replace(table, note=note + " Of: lit in that state."), "worst_state", of, [whole(x) for x in then])


def _then_gbps(plan: Plan, ends: Mapping[str, Pair], pair: Pair, state: str) -> float:
    """Capacity of a link in a state under relight [Gb/s]."""
    lit = plan.design.lit_in(state).wavelengths
    return math.fsum(group.count * group.rate_gbps for group in lit if ends[group.lightpath] == pair)


def _loads(routing: Routing, ends: Mapping[str, Pair]) -> dict[Pair, float]:
    """Traffic on each link in one state [Gb/s]."""
    loads: dict[Pair, float] = {}
    for flow in routing.flows:
        for lightpath in flow.lightpaths:
            loads[ends[lightpath]] = loads.get(ends[lightpath], 0.0) + flow.gbps
    return loads


def _sum(rows: list[Row], which: tuple[int, ...]) -> Row | None:
    """A total row over some columns of whole numbers."""
    if len(rows) < 2:
        return None
    sums = {i: math.fsum(float(row[i].value or 0) for row in rows) for i in which}
    return tuple(whole(sums[i]) if i in sums else say("total" if i == 0 else "") for i in range(len(rows[0])))


def fibers(plan: Plan) -> Table:
    """Every fiber, lit or dark, with how full it is."""
    lit = {fiber.fiber: fiber for fiber in plan.design.lit}
    huts = {line.fiber: line.huts for line in plan.lines}
    rows = []
    for fiber in plan.fibers:
        light = lit.get(fiber.name)
        rows.append(
            (
                say(fiber.name),
                say(f"{fiber.a} – {fiber.b}"),
                number(fiber.length_km),
                whole(light.pairs if light else 0),
                added(light.pairs - light.existing if light else 0, to_something=plan.existing is not None),
                whole(fiber.pairs),
                whole(light.channels if light else 0),
                fixed(light.fill_percent if light else 0.0, 0),
                fixed(fiber.latency_ms, 3),
                whole(huts[fiber.name]) if fiber.name in huts else number(None),
                say(fiber.type),
                say(", ".join(fiber.shared_risk)),
            )
        )
    columns = (
        text_column("fiber", "Fiber"),
        text_column("ends", "Ends", 12),
        number_column("length_km", "Length", "km"),
        number_column("lit_pairs", "Pairs lit"),
        number_column("new_pairs", "new"),
        number_column("pairs", "of"),
        number_column("channels", "Waves"),
        number_column("fill_percent", "Fill", "%"),
        number_column("latency_ms", "One way", "ms"),
        number_column("huts", "Huts"),
        text_column("type", "Type", 5),
        text_column("shared_risk", "Shared risk", 8),
    )
    return Table("fibers", "Fibers", columns, tuple(rows))


def lightpaths(plan: Plan) -> Table:
    """What is lit: one row per lightpath and mode, with its margin."""
    paths = {path.id: path for path in plan.lightpaths}
    grown = plan.existing is not None
    names = {circuit.name for circuit in plan.circuits}
    light = [group for group in plan.design.ever_lit if group.transponder not in names]
    healthy = {(group.lightpath, group.transponder, group.mode): group.count for group in plan.design.wavelengths}
    rows = [_lightpath(group, paths[group.lightpath], healthy, grown=grown) for group in light]
    columns = (
        text_column("lightpath", "Id"),
        text_column("ends", "Ends"),
        text_column("fibers", "Fibers"),
        text_column("mode", "Mode", 9),
        number_column("wavelengths", "Waves"),
        number_column("new_wavelengths", "new"),
        number_column("rate_gbps", "Each", "Gb/s"),
        number_column("margin_db", "Margin", "dB"),
        number_column("gsnr_db", "GSNR", "dB"),
        number_column("required_osnr_db", "Needs", "dB"),
        number_column("length_km", "Length", "km"),
        number_column("latency_ms", "One way", "ms"),
        number_column("other_gsnr_db", "Other GSNR", "dB"),
        number_column("other_margin_db", "Other margin", "dB"),
        text_column("limit", "Limit", 8),
        text_column("next", "Next faster", 14),
    )
    closing = sum(bool(path.closing) for path in plan.lightpaths)
    if not rows:
        return Table("lightpaths", "Lightpaths", columns, ())
    note = "Margin is what is left above all penalties and margins, worst channel and direction; other: GSNR and "
    note += "margin of the better one; OSNR in 0.1 nm. Next faster: the mode that does not close, and what stops it. "
    leased = {circuit.name for circuit in plan.circuits}
    tried = len(paths) - sum(path.route.fibers[0] in leased for path in plan.lightpaths)
    note += f"{count(tried, 'candidate')}, of which {closing} close; `dcplan optics` shows their link budgets."
    table = Table("lightpaths", "Lightpaths", columns, tuple(rows), note=note)
    if not plan.design.relit:
        return table
    most = number_column("most", "Most")
    note += " Most: waves in the state that lights most."
    return inserted(replace(table, note=note), "rate_gbps", most, [whole(group.count) for group in light])


def _lightpath(group: Wavelengths, path: Lightpath, healthy: Mapping[tuple[str, str, str], int], *, grown: bool) -> Row:
    budget = _budget(path, group.transponder, group.mode)
    other = budget.other if budget else None
    return (
        say(path.id),
        say(f"{path.route.sites[0]} – {path.route.sites[-1]}"),
        say(", ".join(path.route.fibers)),
        say(f"{group.transponder} {group.mode}"),
        whole(healthy.get((group.lightpath, group.transponder, group.mode), 0)),
        added(group.count - group.existing, to_something=grown),
        whole(group.rate_gbps),
        fixed(budget.margin_db if budget else None, 2),
        fixed(budget.gsnr_db if budget else None, 2),
        fixed(budget.required_osnr_db if budget else None, 2),
        number(path.length_km),
        fixed(group.latency_ms, 3),
        fixed(other.gsnr_db if other else None, 2),
        fixed(other.margin_db if other else None, 2),
        say(budget.limit if budget else ""),
        say(next_in_words(path)),
    )


def _budget(path: Lightpath, transponder: str, mode: str) -> Budget | None:
    return next((b for b in path.budgets if (b.transponder, b.mode) == (transponder, mode)), None)


def traffic(plan: Plan) -> Table:
    """Each demand and the routes it takes in the healthy network."""
    healthy = plan.design.routing[0] if plan.design.routing else None
    rows: list[Row] = []
    for demand in plan.design.demands:
        flows = [flow for flow in healthy.flows if flow.demand == demand.id] if healthy else []
        asked = demand.gbps.get(healthy.state) if healthy else None
        head: list[Cell] = [say(demand.id), number(asked)]
        limits = [fixed(demand.max_latency_ms, 3), fixed(demand.max_paths, 0)]
        if not flows:
            rows.append((*head, say("no route", "bad"), number(None), number(None), *limits))
        for flow in flows:
            taken = say(_via(plan, flow.lightpaths)), number(flow.gbps), fixed(flow.latency_ms, 3)
            rows.append((*head, *taken, *limits))
            head, limits = [again(cell) for cell in head], [again(cell) for cell in limits]
    columns = (
        text_column("demand", "Demand", 10),
        number_column("asked_gbps", "Asks", "Gb/s"),
        text_column("route", "Route", 16),
        number_column("gbps", "Takes", "Gb/s"),
        number_column("latency_ms", "One way", "ms"),
        number_column("max_latency_ms", "At most", "ms"),
        number_column("max_paths", "At most", "routes"),
    )
    return Table("traffic", "Traffic, healthy", columns, tuple(rows))


def reroutes(plan: Plan) -> Table:
    """Where each demand goes in the failures that move it."""
    moved = {state.state: state.rerouted for state in plan.assessment.states[1:]}
    rows: list[Row] = []
    for routing in plan.design.routing[1:]:
        state = say(routing.state)
        for demand in moved.get(routing.state, ()):
            name = say(demand)
            for flow in routing.flows:
                if flow.demand == demand:
                    via = say(_via(plan, flow.lightpaths))
                    rows.append((state, name, via, number(flow.gbps), fixed(flow.latency_ms, 3)))
                    state, name = again(state), again(name)
    columns = (
        text_column("state", "State", 10),
        text_column("demand", "Demand", 10),
        text_column("route", "Route", 16),
        number_column("gbps", "Takes", "Gb/s"),
        number_column("latency_ms", "One way", "ms"),
    )
    note = "Failures and demands that are not listed keep their healthy routes."
    return Table("reroutes", "Traffic, under failure", columns, tuple(rows), note=note)


def _via(plan: Plan, lightpaths: tuple[str, ...]) -> str:
    """Lightpaths with the fibers they take: `L1 [north], L4 [east, south]`."""
    fibers = {path.id: ", ".join(path.route.fibers) for path in plan.lightpaths}
    return ", ".join(f"{lightpath} [{fibers[lightpath]}]" for lightpath in lightpaths)


def sites(plan: Plan) -> Table:
    """The sites and their accelerators."""
    rows = tuple(
        (
            say(site.name),
            say(site.kind),
            say(", ".join(f"{number:,} {name}" for name, number in site.accelerators.items())),
            fixed(site.lat, 2),
            fixed(site.lon, 2),
        )
        for site in plan.sites
    )
    columns = (
        text_column("site", "Site", 10),
        text_column("kind", "Kind", 5),
        text_column("accelerators", "Accelerators", 12),
        number_column("lat", "North", "°"),
        number_column("lon", "East", "°"),
    )
    return Table("sites", "Sites", columns, rows)
