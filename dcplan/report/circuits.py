"""Capacity leased from carriers: what of each circuit is leased, and how it is loaded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.design.circuits import EXISTING
from dcplan.report.sheet import Table, fixed, number, number_column, say, text_column, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.design.result import Wavelengths
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row


def leased(plan: Plan) -> dict[str, list[Wavelengths]]:
    """Circuit -> its modules, and what was there already; circuits of which nothing is leased have none."""
    found: dict[str, list[Wavelengths]] = {circuit.name: [] for circuit in plan.circuits}
    for group in plan.design.wavelengths:
        if group.transponder in found:
            found[group.transponder].append(group)
    return found


def lit(plan: Plan) -> list[Wavelengths]:
    """The wavelengths of a plan, without modules of circuits."""
    names = {circuit.name for circuit in plan.circuits}
    return [group for group in plan.design.wavelengths if group.transponder not in names]


def modules(group: Wavelengths) -> str:
    """A number of modules in words."""
    there = f" ({group.existing} there)" if group.existing else ""
    return group.mode if group.mode == EXISTING else f"{group.count} × {group.mode}{there}"


def tables(plan: Plan) -> Iterator[Table]:
    """A row for each circuit; no table where there are none."""
    if not plan.circuits:
        return
    loads = {routing.state: _loads(plan, routing.state) for routing in plan.design.routing}
    healthy = plan.design.routing[0].state if plan.design.routing else ""
    prices: dict[str, float] = {}
    for item in plan.design.bill:
        prices[item.part] = prices.get(item.part, 0.0) + item.total_usd
    rows: list[Row] = []
    mine = leased(plan)
    for circuit in plan.circuits:
        name = circuit.name
        gbps = math.fsum(group.count * group.rate_gbps for group in mine[name])
        load = loads.get(healthy, {}).get(name, 0.0)
        worst = max(loads, key=lambda state: loads[state].get(name, 0.0), default=healthy)
        most = loads.get(worst, {}).get(name, 0.0)
        rows.append(
            (
                say(name),
                say(f"{circuit.a} – {circuit.b}"),
                say(", ".join(modules(group) for group in mine[name]) or "nothing"),
                number(gbps or None),
                number(load or None),
                fixed(100 * load / gbps if load else None, 0),
                number(most or None),
                say(worst if most else ""),
                fixed(circuit.latency_ms, 3),
                whole(prices.get(name, 0.0)),
                say(", ".join(circuit.shared_risk)),
            )
        )
    columns = (
        text_column("circuit", "Circuit", 10),
        text_column("ends", "Ends", 12),
        text_column("leased", "Leased", 12),
        number_column("capacity_gbps", "Capacity", "Gb/s"),
        number_column("load_gbps", "Load", "Gb/s"),
        number_column("load_percent", "Load", "%"),
        number_column("load_worst_gbps", "Worst", "Gb/s"),
        text_column("worst_state", "in", 10),
        number_column("latency_ms", "One way", "ms"),
        number_column("usd", "Price", "US$"),
        text_column("shared_risk", "Shared risk", 8),
    )
    total = (say("total"), *[say("")] * 2, whole(sum(float(row[3].value or 0) for row in rows)))
    total = (*total, *[say("")] * 5, whole(sum(float(row[9].value or 0) for row in rows)), say(""))
    note = "Capacity leased from carriers, each way; existing: there already, and free. Load as for links."
    yield Table("circuits", "Circuits", columns, tuple(rows), total if len(rows) > 1 else None, note)


def _loads(plan: Plan, state: str) -> dict[str, float]:
    """Traffic on each circuit in a state [Gb/s]."""
    names = {circuit.name for circuit in plan.circuits}
    circuit_of = {
        path.id: path.route.fibers[0] for path in plan.lightpaths if path.route.fibers and path.route.fibers[0] in names
    }
    loads: dict[str, float] = {}
    for routing in plan.design.routing:
        for flow in routing.flows if routing.state == state else ():
            for lightpath in flow.lightpaths:
                if lightpath in circuit_of:
                    name = circuit_of[lightpath]
                    loads[name] = loads.get(name, 0.0) + flow.gbps
    return loads
