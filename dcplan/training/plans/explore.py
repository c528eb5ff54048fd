"""Every plan of a job weighed on a view of the network: the best of each objective, and the Pareto front of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training.plans.objectives import OBJECTIVES, Figures, figures, front
from dcplan.training.plans.search import SAME_RESULT, name, reasons
from dcplan.training.step import Layout, Misfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dcplan.training.across.patterns import Collective
    from dcplan.training.step import Links, Workload

RANKED = 12
"""Plans of a ranking."""
APART = 4
"""Plans listed apart, of those that change what is learnt."""
TOLD_EVERY = 250
"""Plans between two lines of progress."""


class _Plan(NamedTuple):
    """A layout that fits, with its figures."""

    layout: Layout
    figures: Figures
    losses: Mapping[str, float]

    @property
    def name(self) -> str:
        """That of a named plan, or what its sizes make."""
        return self.layout.name or name(self.layout)


@dataclass(frozen=True, slots=True)
class Explored:
    """What a search over every choice found. Plans go by their names; `layouts` has each that is named."""

    job: str
    layouts: tuple[Layout, ...]
    weighed: Mapping[str, Figures]
    ranked: tuple[str, ...]
    """The best by the objective that was asked for, of each tp, cp, pp, ep and dimension across sites the best."""
    best: Mapping[str, str]
    """Objective -> the plan that is best in it; the faster one of those that are equal."""
    front: tuple[str, ...]
    apart: tuple[str, ...]
    """The fastest of those whose way to synchronise changes what is learnt; they are in nothing above."""
    left_out: Mapping[str, str]
    """Objectives that say nothing here, and why."""
    looked: int
    fitting: int
    misfits: tuple[Misfit, ...]


def explore(
    workload: Workload,
    found: Iterable[Layout | Misfit],
    links: Links,
    *,
    collectives: Sequence[Collective] = (),
    objective: str = "step",
    usd_per_h: float | None = None,
    tell: Callable[[str], None] | None = None,
) -> Explored:
    """Weigh all that `found` has, layouts and why others do not fit. usd_per_h: price of one accelerator [US$/h].

    collectives: where a job leaves open how its sites sum gradients, those of which each plan takes the fastest.
    Of plans with the same figures, to four digits, the first is taken.
    """
    options = [replace(workload, collective=collective) for collective in collectives]
    fitting: list[_Plan] = []
    refused: list[Misfit] = []
    for looked, each in enumerate(found, 1):
        if isinstance(each, Misfit):
            refused.append(each)
        else:
            fits_open = options and each.across == "dp" and each.sync == "hierarchical"
            loads = options if fits_open else [workload]
            weighed = min((figures(load, each, links, usd_per_h) for load in loads), key=attrgetter("step_s"))
            fitting.append(_Plan(each, weighed, weighed.losses))
        if tell and looked % TOLD_EVERY == 0:
            tell(f"{workload.job}: {looked:,} plans looked at, {len(fitting):,} fit")
    left_out = silent(workload, usd_per_h)
    asked = [each for each in OBJECTIVES if each not in left_out]
    same = [plan for plan in fitting if plan.layout.sync in SAME_RESULT]
    ranked = _ranked(same, [objective, *asked])[:RANKED]
    apart = _ranked([plan for plan in fitting if plan.layout.sync not in SAME_RESULT], asked)[:APART]
    best = {each: _ranked(same, [each, *asked])[0] for each in asked} if same else {}
    pareto = front((tuple(plan.losses[each] for each in asked), plan) for plan in same)
    listed = {plan.name: plan for plan in [*ranked, *best.values(), *pareto, *apart]}
    return Explored(
        job=workload.job,
        layouts=tuple(replace(plan.layout, name=called) for called, plan in listed.items()),
        weighed={called: plan.figures for called, plan in listed.items()},
        ranked=tuple(plan.name for plan in ranked),
        best={each: plan.name for each, plan in best.items()},
        front=tuple(plan.name for plan in pareto),
        apart=tuple(plan.name for plan in apart),
        left_out=left_out,
        looked=len(fitting) + len(refused),
        fitting=len(fitting),
        misfits=tuple(misfit for misfit in refused if misfit.plan) or reasons(refused, workload),
    )


def silent(workload: Workload, usd_per_h: float | None) -> dict[str, str]:
    """Objectives that say nothing about a job, and why."""
    found = {}
    if not usd_per_h:
        found["cost"] = "its accelerators have no price: give `accelerator_usd_per_h`"
    if len({share.site for share in workload.shares}) == 1:
        found["bytes"] = "the job stays in one site"
    return found


def _ranked(plans: Sequence[_Plan], order: Sequence[str]) -> list[_Plan]:
    """Of each tp, cp, pp, ep and dimension across sites the best by the first objective, then by the next."""
    first: dict[tuple[str, int, int, int, int], _Plan] = {}
    for plan in sorted(plans, key=lambda plan: (*(plan.losses[each] for each in order), plan.figures.step_s)):
        sizes = plan.layout
        first.setdefault((sizes.across, sizes.tp, sizes.cp, sizes.pp, sizes.ep), plan)
    return list(first.values())
