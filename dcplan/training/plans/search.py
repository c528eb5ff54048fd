"""Finds parallelism plans for a workload: every one of a space that fits, priced in one site, the best kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training.layout import complete
from dcplan.training.memory import USABLE, smallest
from dcplan.training.plans.pins import merged
from dcplan.training.plans.space import CHOICES, DEFAULT, USUAL, Space, candidates
from dcplan.training.step import Layout, Misfit
from dcplan.training.terms import no_distance, step_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dcplan.model.job import Job, ParallelismPlan
    from dcplan.training.step import Workload

KEEP = {"none": 8, "dp": 8, "pp": 4}
"""Plans kept per dimension that crosses sites; of others as many as of pp."""
SAME_RESULT = frozenset({"synchronous", "hierarchical"})
"""Ways to synchronise that train as one accelerator would; others change what is learnt, not only how fast."""


def layouts(
    workload: Workload, job: Job, pin: ParallelismPlan | None = None
) -> tuple[tuple[Layout, ...], tuple[Misfit, ...]]:
    """The layouts of a job that can run, and why the others cannot.

    Named plans are each made whole and checked, in the order of the file. `auto` searches; see `search`. pin: keys
    that the search keeps to, over those of the job.
    """
    if isinstance(job.plans, str):
        return search(workload, Space(merged([job.pin, pin])))
    results = [complete(name, plan, workload) for name, plan in job.plans.items()]
    return (
        tuple(result for result in results if isinstance(result, Layout)),
        tuple(result for result in results if isinstance(result, Misfit)),
    )


def search(workload: Workload, space: Space = USUAL) -> tuple[tuple[Layout, ...], tuple[Misfit, ...]]:
    """The best plans of a space, and how many cannot run and why, one line per reason, named `auto: memory` and so on.

    Of each tp, cp, pp, ep the fastest in one site is kept, and of those the best eight over dp and the best four over
    pp.
    """
    near = no_distance(workload)
    priced: list[tuple[float, Layout]] = []
    refused: list[Misfit] = []
    for found in candidates(workload, space):
        if isinstance(found, Misfit):
            refused.append(found)
        else:
            priced.append((step_terms(workload, found, near)[0].total_s, found))
    why = reasons(refused, workload) if priced or refused else (_indivisible(space),)
    return kept(priced), why


def kept(priced: Iterable[tuple[float, Layout]]) -> tuple[Layout, ...]:
    """The best of each tp, cp, pp, ep, and of those the best of each dimension that crosses sites; with names."""
    best: dict[tuple[str, int, int, int, int], tuple[float, Layout]] = {}
    for value, layout in priced:
        key = (layout.across, layout.tp, layout.cp, layout.pp, layout.ep)
        known = best.get(key)
        if known is None or value < known[0] or (value == known[0] and name(layout) < name(known[1])):
            best[key] = (value, layout)
    ranked = sorted(((value, replace(layout, name=name(layout))) for value, layout in best.values()), key=_rank)
    found: list[Layout] = []
    for across in [*KEEP, *sorted({layout.across for _, layout in ranked} - KEEP.keys())]:
        found += [layout for _, layout in ranked if layout.across == across][: KEEP.get(across, KEEP["pp"])]
    return tuple(found)


def _rank(entry: tuple[float, Layout]) -> tuple[float, str]:
    return entry[0], entry[1].name


def any_fits(workload: Workload, space: Space = USUAL) -> Misfit | None:
    """None when the search would find a plan; otherwise its commonest reason for finding none."""
    refused: list[Misfit] = []
    for found in candidates(workload, space):
        if isinstance(found, Layout):
            return None
        refused.append(found)
    if not refused:
        return _indivisible(space)
    kinds = [misfit.kind for misfit in refused]
    commonest = max(sorted(set(kinds)), key=lambda kind: (kind == "memory", kinds.count(kind)))
    return next(misfit for misfit in reasons(refused, workload) if misfit.kind == commonest)


def _indivisible(space: Space) -> Misfit:
    pins = ", ".join(f"{key} {value}" for key, value in space.pin.model_dump(exclude_unset=True).items())
    kept_to = f" with {pins}" if pins else ""
    reason = f"no sizes of tp, cp and pp{kept_to} divide the accelerators of every site"
    return Misfit("auto: layout", "layout", reason)


def name(layout: Layout) -> str:
    """What a layout of a search is called: its sizes, and every choice that is not the default."""
    parts = [
        f"tp{layout.tp}",
        f"cp{layout.cp}" if layout.cp > 1 else "",
        f"pp{layout.pp}",
        f"ep{layout.ep}" if layout.ep > 1 else "",
        f"dp{layout.dp}",
        f"mb{layout.microbatch}",
        f"v{layout.virtual_stages}" if layout.virtual_stages > 1 else "",
        f"z{layout.sharding}" if layout.sharding != DEFAULT.sharding else "",
        *(
            str(getattr(layout, key))
            for key in CHOICES
            if key not in {"sharding", "across"} and getattr(layout, key) != getattr(DEFAULT, key)
        ),
        f"over-{layout.across}" if layout.across not in {"none", DEFAULT.across} else "",
    ]
    return "-".join(part for part in parts if part)


def reasons(refused: Sequence[Misfit], workload: Workload) -> tuple[Misfit, ...]:
    """How many plans cannot run, one line per kind of reason."""
    kinds = sorted({misfit.kind for misfit in refused})
    return tuple(_reason(kind, [misfit for misfit in refused if misfit.kind == kind], workload) for kind in kinds)


def _reason(kind: str, refused: list[Misfit], workload: Workload) -> Misfit:
    many = f"{len(refused):,} plans" if len(refused) > 1 else "1 plan"
    capacity = smallest(workload).accelerator.hbm_gb
    least = min(entry.needs_gb for entry in refused)
    reason = {
        "layout": f"{many} have sizes that do not go together, such as: {refused[0].reason}",
        "memory": f"{many} do not fit the {USABLE * capacity:.1f} of {capacity:g} GB that can be filled; "
        f"the nearest needs {least:.1f} GB",
        "batch": f"{many} do not divide the batch of {workload.batch:,} sequences",
        "sites": f"{many} do not leave every site whole ranks or whole stages",
    }[kind]
    return Misfit(f"auto: {kind}", kind, reason)
