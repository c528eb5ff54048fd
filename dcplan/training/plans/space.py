"""The plans that a search looks at: sizes that divide, and for given sizes every choice that changes something."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from dcplan.model.job import ParallelismPlan
from dcplan.model.outer import OUTER_SYNC
from dcplan.training import shapes
from dcplan.training.layout import over_sites, ranks_by_site, uneven, with_sizes
from dcplan.training.memory import smallest
from dcplan.training.pipeline.schedules import CONTROLLED, OVER_SITES, no_pairs
from dcplan.training.pipeline.stages import divides, fills, fullest_layers
from dcplan.training.plans.idle import idle
from dcplan.training.plans.loose import loose_ways
from dcplan.training.site.machine import is_modern
from dcplan.training.step import Misfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from dcplan.training.step import Layout, Workload

    Way = dict[str, object]

MOST_TP, MOST_CP, MOST_PP, MOST_EP, MOST_MICROBATCH = 64, 16, 128, 64, 8
LEAST_TOKENS_PER_CP_RANK = 4096
"""Shorter pieces of a sequence are not worth a context parallel rank."""
PINNED = {"cuda_graphs", "exp_avg_dtype", "flash_attention"}
"""Keys that a search leaves as they are pinned: it would always take the fastest, which not every software has; and
what a step teaches with moments of fewer bits is not known."""
SWITCHES = {"sequence_parallel", "expert_overlap"}
"""Keys that are true or false and that a search varies; it leaves the others, for the same reasons."""


def _values(key: str, field: FieldInfo) -> tuple[object, ...]:
    if key in SWITCHES:
        return (field.default, not field.default)
    named = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    return tuple(value for value in named if value not in {*OUTER_SYNC, *CONTROLLED})


CHOICES = {
    key: values
    for key, field in ParallelismPlan.model_fields.items()
    if key not in PINNED and (values := _values(key, field))
}
"""Keys of a plan that are chosen among few values: what joins the schema joins the search.

Ways to synchronise in which a step teaches less stand in `loose.loose_ways`; schedules whose order of work has to be
run to know what they wait are for those who name them."""
DEFAULT = ParallelismPlan()
FREE = tuple(key for key in CHOICES if key not in {"across", "recompute"})
"""Those that are chosen for given sizes; recompute comes last, and what crosses sites first."""


@dataclass(frozen=True, slots=True)
class Space:
    """All plans whose keys have the values of `pin`, a plan of which the given keys count."""

    pin: ParallelismPlan = DEFAULT

    def values[Value](self, key: str, others: list[Value]) -> list[Value]:
        """The value that is pinned, or else all."""
        return [getattr(self.pin, key)] if key in self.pin.model_fields_set else others


WHOLE = Space()


def sizes(workload: Workload, space: Space) -> Iterator[Layout | Misfit]:
    """Sizes of every plan of a space in a fixed order, with the default of every choice, or why they cannot be.

    tp: divisors of the heads inside the scale-up domain; cp: powers of two that leave 4,096 tokens; pp: divisors of
    the layers (or of layers + 2), and powers of two where no even number divides them; ep: powers of two that divide
    the experts; virtual stages 1, 2, 4 and one layer each.
    """
    several = len({share.site for share in workload.shares}) > 1
    for across in space.values("across", list(CHOICES["across"])) if several else ["none"]:
        for tp in space.values("tp", _tp(workload)):
            for cp in space.values("cp", _cp(workload)):
                for pp in space.values("pp", _pp(workload)):
                    dp, rest = divmod(workload.accelerators, tp * cp * pp)
                    if not rest and dp in space.values("dp", [dp]):
                        yield from _of_sizes(workload, space, (tp, cp, pp, dp), str(across))


def _of_sizes(
    workload: Workload, space: Space, at: tuple[int, int, int, int], across: str
) -> Iterator[Layout | Misfit]:
    tp, cp, pp, dp = at
    if not dp or workload.batch % dp:
        yield Misfit("", "batch", "")
        return
    usual = {key: getattr(DEFAULT, key) for key in FREE}
    layout = replace(with_sizes("", space.pin, workload, dp), tp=tp, cp=cp, pp=pp, across=across, **usual)
    ranks = ranks_by_site(workload, layout)
    if isinstance(ranks, Misfit):
        yield ranks
        return
    layout = replace(layout, shard_size=layout.shard_size or min(ranks))
    for ep in space.values("ep", _ep(workload, [here * cp for here in ranks])):
        for virtual_stages in space.values("virtual_stages", _virtual_stages(workload, across, pp)):
            wanted = replace(layout, ep=ep, virtual_stages=virtual_stages)
            yield uneven(wanted, workload) or over_sites(wanted, workload)


def of_ways(layout: Layout) -> tuple[object, ...]:
    """What the ways to choose depend on: which sizes are 1, and what crosses sites."""
    sizes = (layout.tp, layout.cp, layout.pp, layout.ep, layout.virtual_stages)
    return (layout.across, *(size > 1 for size in sizes))


def ways(workload: Workload, space: Space, layout: Layout) -> list[Way]:
    """What may be chosen for given sizes, key by key, recompute and microbatch last; `layout` has the sizes.

    A key that changes nothing has its default, whatever is pinned. They depend on what `of_ways` says alone.
    """
    micro = [{"microbatch": size} for size in space.values("microbatch", [1, 2, 4, MOST_MICROBATCH])]
    again = [{"recompute": value} for value in _recompute(workload, space)]
    return [
        {**chosen, **recompute, **microbatch}
        for chosen in _chosen(workload, space, layout, FREE)
        for recompute in again
        for microbatch in micro
    ]


def _chosen(workload: Workload, space: Space, layout: Layout, keys: tuple[str, ...]) -> Iterator[Way]:
    if not keys:
        yield {"outer": layout.outer}
        return
    key, *rest = keys
    options: list[Way] = [{key: value} for value in space.values(key, list(CHOICES[key]))]
    if key in idle(layout, workload):
        options = [{key: getattr(DEFAULT, key)}]
    elif key == "sync" and layout.across == "dp" and "sync" not in space.pin.model_fields_set:
        options += [{"sync": sync, "outer": outer} for sync, outer in loose_ways(workload)]
    for option in options:
        changed = replace(layout, **option)  # type: ignore[arg-type]
        if key in space.pin.model_fields_set or not _never(changed):
            for more in _chosen(workload, space, changed, tuple(rest)):
                yield {**option, **more}


def _never(layout: Layout) -> bool:
    """A choice that no sizes go with, where others are taken: it is looked at only where a user pins it."""
    cut = layout.schedule != DEFAULT.schedule and layout.virtual_stages > 1
    cut = cut or (layout.across == "pp" and layout.schedule not in OVER_SITES)
    unpaired = layout.paired and no_pairs(layout.schedule, layout.pp, layout.virtual_stages) is not None
    return cut or unpaired or (layout.across in {"cp", "ep"} and layout.sync == "synchronous")


def _recompute(workload: Workload, space: Space) -> list[str]:
    flash = is_modern(smallest(workload))
    return space.values("recompute", ["selective", "full"] if flash else ["none", "selective", "full"])


def _tp(workload: Workload) -> list[int]:
    domain = min(share.accelerator.scale_up_domain for share in workload.shares)
    heads = workload.model.heads
    return [tp for tp in range(1, min(domain, heads, MOST_TP) + 1) if heads % tp == 0]


def _cp(workload: Workload) -> list[int]:
    s = workload.sequence_length
    powers = [2**i for i in range(MOST_CP.bit_length())]
    return [cp for cp in powers if cp == 1 or (s % (2 * cp) == 0 and s // cp >= LEAST_TOKENS_PER_CP_RANK)]


def _pp(workload: Workload) -> list[int]:
    model = workload.model
    odd = model.layers % 2 == 1  # then no even pp divides, and accelerators come in powers of two
    every = range(1, min(model.layers, MOST_PP) + 1)
    return [pp for pp in every if divides(model, pp, 1) or (odd and pp.bit_count() == 1)]


def _ep(workload: Workload, ranks: list[int]) -> list[int]:
    experts = workload.model.experts
    if not shapes.is_moe(workload.model) or not experts:
        return [1]
    powers = [2**i for i in range(MOST_EP.bit_length())]
    return [ep for ep in powers if experts % ep == 0 and all(here % ep == 0 for here in ranks)]


def _virtual_stages(workload: Workload, across: str, pp: int) -> list[int]:
    if pp == 1 or across == "pp":
        return [1]
    model = workload.model
    layers = fullest_layers(model, pp, 1)
    each = [v for v in sorted({1, 2, 4, layers}) if v <= layers and fills(model, pp, v)]
    if divides(model, pp, 1):
        return [v for v in each if divides(model, pp, v)]
    return [v for v in each if fullest_layers(model, pp, v) == layers]
