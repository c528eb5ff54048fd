"""A plan as a report: the one place that decides what is shown and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report import (
    basis,
    certificate,
    circuits,
    collective,
    goodput,
    growth,
    hollow,
    learning,
    outlook,
    promises,
    regeneration,
    relit,
    spectrum,
    summary,
    transport,
    unlike,
    whole,
    wires,
    work,
)
from dcplan.report.doubt import doubtful_in, flagged
from dcplan.report.sheet import View

if TYPE_CHECKING:
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Table


def view(plan: Plan) -> View:
    """Five lines, what must not be overlooked, then the tables in the order in which a planner asks.

    UsageError when the parts of the plan do not fit together.
    """
    whole.check(plan)
    shown = View(
        kind="plan",
        title=plan.name,
        lead=plan.description,
        facts=(*growth.facts(plan), *summary.facts(plan), *outlook.facts(plan)),
        notices=summary.notices(plan),
        tables=(
            *growth.tables(plan),
            wires.links(plan),
            *circuits.tables(plan),
            *(_light(plan) if plan.fibers or not plan.circuits else ()),
            wires.traffic(plan),
            *work.failures(plan),
            wires.reroutes(plan),
            *promises.tables(plan),
            *work.plans(plan),
            *learning.tables(work.best_first(plan.plans)),
            *unlike.tables(work.best_first(plan.plans)),
            *outlook.tables(plan),
            *goodput.tables(work.best_first(plan.plans), main=True),
            *collective.tables(plan),
            *transport.tables(plan.plans),
            basis.bill(plan),
            basis.binding(plan),
            *certificate.table(plan),
            basis.assumptions(plan),
            wires.sites(plan),
            basis.inputs(plan),
        ),
    )
    return flagged(shown, doubtful_in(plan), notices=False)


def _light(plan: Plan) -> tuple[Table, ...]:
    """What is about own fibers and the light on them."""
    return (
        wires.fibers(plan),
        *hollow.tables(plan),
        wires.lightpaths(plan),
        *relit.tables(plan),
        regeneration.regenerators(plan),
        spectrum.strips(plan),
        spectrum.blocks(plan),
    )


def states(plan: Plan) -> View:
    """A plan in every state: the two lines that speak of failures, then what is left and what reroutes."""
    return View(
        kind="assessment",
        title=plan.name,
        facts=tuple(fact for fact in summary.facts(plan) if fact.label in ("overhead", "weakest state")),
        notices=summary.notices(plan),
        tables=(tuple(work.failures(plan))[-1], wires.reroutes(plan), *outlook.tables(plan), *promises.tables(plan)),
    )
