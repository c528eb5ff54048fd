"""The plans that a search looks at: sizes that divide, and every choice that changes something."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from dcplan.model.job import ParallelismPlan
from dcplan.model.outer import OUTER_SYNC
from dcplan.training import shapes
from dcplan.training.layout import checked, ranks_by_site, uneven, with_sizes
from dcplan.training.memory import smallest
from dcplan.training.pipeline.schedules import CONTROLLED
from dcplan.training.pipeline.stages import divides, fills, fullest_layers
from dcplan.training.plans.idle import idle
from dcplan.training.site.machine import is_modern
from dcplan.training.step import Layout, Misfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.training.step import Workload

MOST_TP, MOST_CP, MOST_PP, MOST_EP, MOST_MICROBATCH = 64, 16, 128, 64, 8
LEAST_TOKENS_PER_CP_RANK = 4096
"""Shorter pieces of a sequence are not worth a context parallel rank."""
PINNED = {"cuda_graphs", "exp_avg_dtype", "flash_attention"}
"""Keys that a search leaves as they are pinned: it would always take the fastest, which not every software has; and
what a step teaches with moments of fewer bits is not known."""
CHOICES = {
    key: tuple(value for value in get_args(field.annotation) if value not in {*OUTER_SYNC, *CONTROLLED})
    for key, field in ParallelismPlan.model_fields.items()
    if get_origin(field.annotation) is Literal and key not in PINNED
}
"""Keys of a plan that are chosen among few values: what joins the schema joins the search.

All but ways to synchronise in which a step teaches less, and schedules whose order of work has to be run to know what
they wait: whoever wants those names them."""
DEFAULT = ParallelismPlan()
USUAL_ACROSS = ("dp", "pp")
FREE = tuple(key for key in CHOICES if key not in {"across", "recompute"})
"""Those that are chosen for given sizes; recompute comes last, and what crosses sites first."""


@dataclass(frozen=True, slots=True)
class Space:
    """Which plans a search looks at.

    Usually those that frameworks start with: sharding 1, and 3 without pipeline; the least recompute that fits; the
    default of everything else that is no size. With `every`, each value of each choice that changes something. Keys of
    `pin` have their value in either.
    """

    pin: ParallelismPlan = DEFAULT
    """A plan of which the given keys count."""
    every: bool = False

    def values[Value](self, key: str, usual: list[Value]) -> list[Value]:
        """The value that is pinned, or else the usual ones."""
        return [getattr(self.pin, key)] if key in self.pin.model_fields_set else usual


USUAL = Space()


def idle_pins(workload: Workload, space: Space) -> dict[str, str]:
    """Pinned keys that change nothing in any plan that fits, and why."""
    left: dict[str, str] | None = None
    for found in candidates(workload, space):
        if isinstance(found, Layout):
            reasons = idle(found, workload)
            pinned = space.pin.model_fields_set if left is None else left
            left = {key: reasons[key] for key in reasons if key in pinned}
            if not left:
                break
    return left or {}


def candidates(workload: Workload, space: Space = USUAL) -> Iterator[Layout | Misfit]:
    """Every plan of a space in a fixed order: a layout without a name that fits, or why not.

    tp: divisors of the heads inside the scale-up domain; cp: powers of two that leave 4,096 tokens; pp: divisors of
    the layers (or of layers + 2), and powers of two where no even number divides them; ep: powers of two that divide
    the experts; microbatch 1, 2, 4, 8; virtual stages 1, 2, 4 and one layer each.
    """
    several = len({share.site for share in workload.shares}) > 1
    usual = CHOICES["across"] if space.every else USUAL_ACROSS
    for across in space.values("across", list(usual)) if several else ["none"]:
        for tp in space.values("tp", _tp(workload)):
            for cp in space.values("cp", _cp(workload)):
                for pp in space.values("pp", _pp(workload)):
                    dp, rest = divmod(workload.accelerators, tp * cp * pp)
                    if not rest and dp in space.values("dp", [dp]):
                        yield from _of_sizes(workload, space, (tp, cp, pp, dp), across)


def _of_sizes(
    workload: Workload, space: Space, sizes: tuple[int, int, int, int], across: str
) -> Iterator[Layout | Misfit]:
    tp, cp, pp, dp = sizes
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
            trouble = uneven(wanted, workload)
            for chosen in [trouble] if trouble else _chosen(workload, space, wanted, FREE):
                if isinstance(chosen, Misfit):
                    yield chosen
                    continue
                for recompute in _recompute(workload, space):
                    yield from _of_microbatches(workload, space, chosen, recompute)


def _chosen(workload: Workload, space: Space, layout: Layout, keys: tuple[str, ...]) -> Iterator[Layout | Misfit]:
    """The layout with every value of every choice; one that changes nothing has its default, whatever is pinned."""
    if not keys:
        yield layout
        return
    key, *rest = keys
    usual = [getattr(DEFAULT, key)]
    if key in idle(layout, workload):
        values = usual
    elif space.every:
        values = space.values(key, list(CHOICES[key]))
    else:
        values = space.values(key, [1, 3] if key == "sharding" and layout.pp == 1 else usual)
    for value in values:
        changed = layout if value == getattr(layout, key) else replace(layout, **{key: value})
        trouble = None if changed is layout else uneven(changed, workload)
        if trouble:
            yield trouble
        else:
            yield from _chosen(workload, space, changed, tuple(rest))


def _recompute(workload: Workload, space: Space) -> list[tuple[str, ...]]:
    """Of each tuple the first that fits is taken."""
    if "recompute" in space.pin.model_fields_set:
        return [(space.pin.recompute,)]
    values = ("selective", "full") if is_modern(smallest(workload)) else ("none", "selective", "full")
    return [(value,) for value in values] if space.every else [values]


def _of_microbatches(
    workload: Workload, space: Space, layout: Layout, recompute: tuple[str, ...]
) -> Iterator[Layout | Misfit]:
    """Of each size of a microbatch the first recompute that fits, up to the first size that does not fit."""
    for microbatch in space.values("microbatch", [1, 2, 4, MOST_MICROBATCH]):
        microbatches, rest = divmod(workload.batch, layout.dp * microbatch)
        if rest or not microbatches:
            yield Misfit("", "batch", "")
            return
        for value in recompute:
            wanted = replace(layout, microbatch=microbatch, microbatches=microbatches, recompute=value)
            found = checked(wanted, workload)
            if isinstance(found, Layout) or found.kind != "memory":
                break
        yield found
        if isinstance(found, Misfit):  # a larger microbatch needs more memory still
            return


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
    sizes = range(1, min(model.layers, MOST_PP) + 1)
    return [pp for pp in sizes if divides(model, pp, 1) or (odd and pp.bit_count() == 1)]


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
