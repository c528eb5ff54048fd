"""What a search found and what cannot run, in words; names of plans that have none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.model.job import ParallelismPlan
from dcplan.training.layout import complete
from dcplan.training.memory import USABLE, smallest
from dcplan.training.plans.idle import idle
from dcplan.training.plans.pins import merged
from dcplan.training.plans.space import CHOICES, DEFAULT, WHOLE, Space
from dcplan.training.plans.table import FITS, KINDS, table
from dcplan.training.step import Layout, Misfit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.model.job import Job
    from dcplan.training.plans.table import Table
    from dcplan.training.step import Workload

SAME_RESULT = frozenset({"synchronous", "hierarchical"})
"""Ways to synchronise that train as one accelerator would; others change what is learnt, not only how fast."""
PINS = "auto: pins"
"""Name of the misfit that says which pinned keys leave no plan."""
BOOLEANS = {"sequence_parallel": ("no-sp", ""), "expert_overlap": ("", "overlap")}
"""What a name says of false and of true."""


def named(workload: Workload, job: Job) -> tuple[tuple[Layout, ...], tuple[Misfit, ...]]:
    """The named plans of a job that can run, in the order of the file, and why the others cannot."""
    plans = {} if isinstance(job.plans, str) else job.plans
    results = [complete(called, plan, workload) for called, plan in plans.items()]
    return (
        tuple(result for result in results if isinstance(result, Layout)),
        tuple(result for result in results if isinstance(result, Misfit)),
    )


def any_fits(workload: Workload, space: Space = WHOLE) -> Misfit | None:
    """None when a plan fits; otherwise the commonest reason for finding none."""
    for some in (_plainer(space), space):
        found = table(workload, some)
        if (found.kind == FITS).any():
            return None
    why = [misfit for misfit in reasons(found) if misfit.plan != PINS]
    return max(why, key=lambda misfit: (misfit.kind == "memory", found.count(misfit.kind)))


def idle_pins(workload: Workload, space: Space) -> dict[str, str]:
    """Pinned keys that change nothing in any plan that fits, and why."""
    left: dict[str, str] | None = None
    for some in (_plainer(space), space):
        found = table(workload, some)
        for row in (found.kind == FITS).nonzero()[0]:
            why = idle(found.layout(row), workload)
            pinned = space.pin.model_fields_set if left is None else left
            left = {key: why[key] for key in why if key in pinned}
            if not left:
                return {}
    return left or {}


def _plainer(space: Space) -> Space:
    """A small part of a space that mostly answers for it: choices that hardly matter to memory have their default."""
    plain = {"sync", "sequence_parallel", "cp_exchange", "expert_overlap"} - space.pin.model_fields_set
    return Space(merged([ParallelismPlan(**{key: getattr(DEFAULT, key) for key in plain}), space.pin]))


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
            BOOLEANS[key][getattr(layout, key)] if key in BOOLEANS else str(getattr(layout, key))
            for key in CHOICES
            if key not in {"sharding", "across"} and getattr(layout, key) != getattr(DEFAULT, key)
        ),
        f"h{layout.outer.every_steps}-{layout.outer.bits}bit" if layout.outer else "",
        f"over-{layout.across}" if layout.across not in {"none", DEFAULT.across} else "",
    ]
    return "-".join(part for part in parts if part)


def with_name(layout: Layout) -> Layout:
    """The same, called by its sizes where it has no name."""
    return layout if layout.name else replace(layout, name=name(layout))


def called(found: Table, wanted: str) -> Layout | None:
    """The plan of a table that `name` would call so; none where there is none that fits."""
    sizes = dict(re.findall(r"(?:^|-)(tp|cp|pp|ep|dp|mb|v)(\d+)(?=-|$)", wanted))
    at = found.columns
    rows = found.kind == FITS
    for key, column in (("tp", at.tp), ("cp", at.cp), ("pp", at.pp), ("ep", at.ep), ("dp", at.dp),
                        ("mb", at.microbatch), ("v", at.virtual_stages)):  # fmt: skip
        rows &= column == int(sizes.get(key, 1))
    plans = (with_name(found.layout(row)) for row in rows.nonzero()[0])
    return next((plan for plan in plans if plan.name == wanted), None)


def reasons(found: Table) -> tuple[Misfit, ...]:
    """How many plans cannot run, one line per kind of reason, named `auto: memory` and so on."""
    pins = _excluding(found)
    if not len(found) and not found.never:
        return (*pins, _indivisible(found.space))
    return pins + tuple(_reason(kind, found, many) for kind in sorted(KINDS[1:]) if (many := found.count(kind)))


def _excluding(found: Table) -> tuple[Misfit, ...]:
    """Where several keys are pinned and nothing fits: as few of them as leave no plan, in words."""
    pinned = found.space.pin.model_dump(exclude_unset=True)
    if len(pinned) < 2 or (found.kind == FITS).any():
        return ()

    def none_fits(parts: Iterable[tuple[str, ...]]) -> bool:
        keys = [key for part in parts for key in part if key in pinned]
        some = Space(ParallelismPlan.model_validate({key: pinned[key] for key in keys}))
        return not any((table(found.workload, each).kind == FITS).any() for each in (_plainer(some), some))

    outer = ("sync", "outer") if "outer" in pinned else ("sync",)  # the one does not stand without the other
    left = list(dict.fromkeys(outer if key in outer else (key,) for key in pinned))
    if none_fits(()):
        return ()
    for part in tuple(left):
        fewer = [other for other in left if other != part]
        if none_fits(fewer):
            left = fewer
    keys = [key for part in left for key in part]
    said = ", ".join(f"{key} {pinned[key]}" for key in keys)
    reason = f"no plan can run with {said}; without {'it' if len(keys) == 1 else 'any one of them'} some can"
    return (Misfit(PINS, "layout", reason),)


def _indivisible(space: Space) -> Misfit:
    pins = ", ".join(f"{key} {value}" for key, value in space.pin.model_dump(exclude_unset=True).items())
    kept_to = f" with {pins}" if pins else ""
    reason = f"no sizes of tp, cp and pp{kept_to} divide the accelerators of every site"
    return Misfit("auto: layout", "layout", reason)


def _reason(kind: str, found: Table, count: int) -> Misfit:
    workload = found.workload
    many = f"{count:,} plans" if count > 1 else "1 plan"
    capacity, example, least = smallest(workload).accelerator.hbm_gb, None, 0.0
    if kind == "layout":
        example = found.first_layout_misfit()
    if kind == "memory":
        least = found.nearest_gb()
    reason = {
        "layout": f"{many} have sizes that do not go together, such as: {example.reason if example else ''}",
        "memory": f"{many} do not fit the {USABLE * capacity:.1f} of {capacity:g} GB that can be filled; "
        f"the nearest needs {least:.1f} GB",
        "batch": f"{many} do not divide the batch of {workload.batch:,} sequences",
        "sites": f"{many} do not leave every site whole ranks or whole stages",
    }[kind]
    return Misfit(f"auto: {kind}", kind, reason, least)
