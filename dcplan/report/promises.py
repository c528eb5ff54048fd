"""Who survives what, where that is not the same for all, and whom a failure parts and excuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import Notice, Table, count, fixed, number_column, say, text_column, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.design.result import Demand
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row


def tables(plan: Plan) -> tuple[Table, ...]:
    """What each demand is promised, where they differ; then who is excused in which failures, if anyone is."""
    return (*_promised(plan), *_excused(plan))


def notices(plan: Plan) -> Iterator[Notice]:
    """That promises do not hold in failures that part somebody's sites."""
    excused = plan.assessment.excused
    if excused:
        who = ", ".join(f"{one.who} in {count(len(one.states), 'failure')}" for one in excused)
        yield Notice("~", f"nothing is promised where a failure leaves no fiber between the sites: {who}")


def _promised(plan: Plan) -> Iterator[Table]:
    failures = [routing.state for routing in plan.design.routing[1:]]
    demands = plan.design.demands
    if len({(demand.scheme, frozenset(demand.gbps) & frozenset(failures)) for demand in demands}) < 2:
        return
    columns = (
        text_column("demand", "Demand", 10),
        text_column("scheme", "Scheme", 8),
        number_column("survives", "Survives"),
        number_column("failures", "of"),
        number_column("share_percent", "Keeps", "%"),
        text_column("least_in", "least in", 12),
    )
    note = "Failures in which the demand is promised something, and the least share of its healthy rate."
    rows = tuple(_row(demand, failures) for demand in demands)
    yield Table("promises", "What each demand is promised", columns, rows, note=note)


def _row(demand: Demand, failures: list[str]) -> Row:
    mine = [state for state in failures if demand.gbps.get(state, 0.0) > 0]
    least = min(mine, key=lambda state: demand.gbps[state], default="")
    healthy = max(demand.gbps.values(), default=0.0)
    share = 100 * demand.gbps[least] / healthy if least else None
    return (say(demand.id), say(demand.scheme), whole(len(mine)), whole(len(failures)), fixed(share, 0), say(least))


def _excused(plan: Plan) -> Iterator[Table]:
    rows = tuple((say(one.who), whole(len(one.states)), say("; ".join(one.states))) for one in plan.assessment.excused)
    if rows:
        columns = (
            text_column("who", "Job or demand", 12),
            number_column("failures", "Failures"),
            text_column("states", "Which", 24),
        )
        note = (
            "These failures leave no fiber route between its sites; `policy.parted: excuse` promises nothing in them."
        )
        yield Table("excused", "Parted, and excused", columns, rows, note=note)
