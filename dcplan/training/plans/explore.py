"""Every plan of a job weighed on a view of the network: the best of each objective, and the Pareto front of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training.plans.objectives import OBJECTIVES, Figures, figures, front
from dcplan.training.plans.race import Race
from dcplan.training.plans.search import SAME_RESULT, name, reasons
from dcplan.training.plans.table import FITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.training.across.patterns import Collective
    from dcplan.training.plans.table import Table
    from dcplan.training.step import Layout, Links, Misfit, Workload

RANKED = 12
"""Plans of a ranking."""


class _Plan(NamedTuple):
    """A layout that fits, with its figures."""

    layout: Layout
    figures: Figures
    losses: Mapping[str, float]

    @property
    def name(self) -> str:
        """That of a named plan, or what its sizes make."""
        return self.layout.name or name(self.layout)

    @property
    def sizes(self) -> tuple[object, ...]:
        """A ranking has the best of each."""
        return (self.layout.across, self.layout.tp, self.layout.cp, self.layout.pp, self.layout.ep)

    @property
    def method(self) -> tuple[object, ...]:
        """How its sites train by themselves."""
        return (self.layout.sync, self.layout.outer)


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
    over: Mapping[str, str]
    """Dimension across sites -> its fastest plan."""
    front: tuple[str, ...]
    apart: tuple[str, ...]
    """Of each way to synchronise that changes what is learnt the fastest; they are in nothing above."""
    left_out: Mapping[str, str]
    """Objectives that say nothing here, and why."""
    looked: int
    fitting: int
    misfits: tuple[Misfit, ...]
    priced: int = 0
    """Plans whose step was worked out; of all others a bound says that they are not listed."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """What plans of a job are weighed with."""

    workload: Workload
    links: Links
    collectives: Sequence[Collective] = ()
    """Where a job leaves open how its sites sum gradients, those of which each plan takes the fastest."""
    objective: str = "step"
    usd_per_h: float | None = None
    """Price of one accelerator [US$/h]."""

    @property
    def loads(self) -> list[Workload]:
        """The job with each collective."""
        return [replace(self.workload, collective=one) for one in self.collectives] or [self.workload]

    @property
    def asked(self) -> list[str]:
        """Objectives that say something about the job."""
        return [each for each in OBJECTIVES if each not in silent(self.workload, self.usd_per_h)]


def weigh_named(by: Weighing, layouts: Sequence[Layout], misfits: Sequence[Misfit]) -> Explored:
    """Weigh plans that a user names."""
    loads = by.loads
    found = _explored(by, [_weighed(by, loads, layout) for layout in layouts])
    return replace(found, looked=len(layouts) + len(misfits), fitting=len(layouts), misfits=tuple(misfits))


def explore(by: Weighing, found: Table, tell: Callable[[str], None] | None = None) -> Explored:
    """Weigh all plans of a table. Of plans with the same figures, to four digits, the first is taken.

    Only those are priced whose bounds leave them a chance to be listed; the result is as if all were.
    """
    loads, many = by.loads, int((found.kind == FITS).sum())
    order = [OBJECTIVES_AT[each] for each in (by.objective, *by.asked)]
    race = Race(found, by.links, loads, by.usd_per_h, order, RANKED) if many else None
    plans: dict[int, _Plan] = {}
    while race and (rows := race.next_rows()):
        for row in rows:
            plans[row] = _weighed(by, loads, found.layout(row))
        race.take([[plans[row].losses[each] for each in OBJECTIVES] for row in rows])
        if tell:
            tell(f"{by.workload.job}: {len(found):,} plans looked at, {many:,} fit, {len(plans):,} priced")
    result = _explored(by, [plans[row] for row in sorted(plans)])
    looked = len(found) + len(found.never)
    return replace(result, looked=looked, fitting=many, misfits=reasons(found), priced=len(plans))


OBJECTIVES_AT = {each: i for i, each in enumerate(OBJECTIVES)}


def _weighed(by: Weighing, loads: Sequence[Workload], layout: Layout) -> _Plan:
    sums = layout.across not in {"pp", "tp"}
    each = [figures(load, layout, by.links, by.usd_per_h) for load in (loads if sums else [by.workload])]
    weighed = min(each, key=lambda one: round(one.step_s, 12))  # as `at_rates` takes them
    return _Plan(layout, weighed, weighed.losses)


def _explored(by: Weighing, fitting: Sequence[_Plan]) -> Explored:
    asked, order = by.asked, [by.objective, *by.asked]
    same = [plan for plan in fitting if plan.layout.sync in SAME_RESULT]
    others = [plan for plan in fitting if plan.layout.sync not in SAME_RESULT]
    ranked = _ranked(same, order, attrgetter("sizes"))[:RANKED]
    apart = _ranked(others, asked, attrgetter("method"))
    best = {each: _ranked(same, [each, *asked], attrgetter("sizes"))[0] for each in asked} if same else {}
    over = {str(plan.layout.across): plan for plan in _ranked(same, ["step"], lambda plan: (plan.layout.across,))}
    pareto = front((tuple(plan.losses[each] for each in asked), plan) for plan in same)
    listed = {plan.name: plan for plan in [*ranked, *best.values(), *over.values(), *pareto, *apart]}
    return Explored(
        job=by.workload.job,
        layouts=tuple(replace(plan.layout, name=called) for called, plan in listed.items()),
        weighed={called: plan.figures for called, plan in listed.items()},
        ranked=tuple(plan.name for plan in ranked),
        best={each: plan.name for each, plan in best.items()},
        over={across: plan.name for across, plan in over.items()},
        front=tuple(plan.name for plan in pareto),
        apart=tuple(plan.name for plan in apart),
        left_out=silent(by.workload, by.usd_per_h),
        looked=0,
        fitting=0,
        misfits=(),
    )


def silent(workload: Workload, usd_per_h: float | None) -> dict[str, str]:
    """Objectives that say nothing about a job, and why."""
    found = {}
    if not usd_per_h:
        found["cost"] = "its accelerators have no price: give `accelerator_usd_per_h`"
    if len({share.site for share in workload.shares}) == 1:
        found["bytes"] = "the job stays in one site"
    return found


def _ranked(plans: Sequence[_Plan], order: Sequence[str], alike: Callable[[_Plan], tuple[object, ...]]) -> list[_Plan]:
    """Of those that are alike the best by the first objective, then by the next."""
    first: dict[tuple[object, ...], _Plan] = {}
    for plan in sorted(plans, key=lambda plan: (*(plan.losses[each] for each in order), plan.figures.step_s)):
        first.setdefault(alike(plan), plan)
    return list(first.values())
