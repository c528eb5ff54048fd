"""Finds parallelism plans for a workload: every factorisation that fits, priced in one site, the best kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.machine import is_modern
from dcplan.training.memory import USABLE, fits, memory, smallest
from dcplan.training.pipeline import divides, fills, fullest_layers
from dcplan.training.place import places, site_ranks
from dcplan.training.step import Layout, Misfit
from dcplan.training.terms import no_distance, step_terms

if TYPE_CHECKING:
    from dcplan.training.step import Workload

KEEP = {"none": 8, "dp": 8, "pp": 4}
"""Plans kept per dimension that crosses sites."""
MOST_TP, MOST_CP, MOST_PP, MOST_EP, MOST_MICROBATCH = 64, 16, 128, 64, 8
LEAST_TOKENS_PER_CP_RANK = 4096
"""Shorter pieces of a sequence are not worth a context parallel rank."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One plan of the search that cannot run; `needs_gb` where memory is why."""

    kind: str
    needs_gb: float = 0.0


def search(workload: Workload) -> tuple[tuple[Layout, ...], tuple[Misfit, ...]]:
    """The best plans, and how many cannot run and why, one line per reason, named `auto: memory` and so on.

    tp: divisors of the heads inside the scale-up domain; cp: powers of two that leave 4,096 tokens; pp: divisors of
    the layers (or of layers + 2), and powers of two where no even number divides them; ep: powers of two that divide
    the experts; microbatch 1, 2, 4, 8; virtual stages 1, 2, 4 and one layer each; sharding 1, and 3 without pipeline;
    the least recompute that fits. Of each tp, cp, pp, ep the fastest in one site is kept, and of those the best eight
    over dp and the best four over pp.
    """
    best: dict[tuple[str, int, int, int, int], tuple[float, Layout]] = {}
    refused: dict[str, list[Refusal]] = {}
    for found in candidates(workload):
        if isinstance(found, Refusal):
            refused.setdefault(found.kind, []).append(found)
            continue
        key = (found.across, found.tp, found.cp, found.pp, found.ep)
        priced = (step_terms(workload, found, no_distance(workload))[0].total_s, found)
        if key not in best or (priced[0], found.name) < (best[key][0], best[key][1].name):
            best[key] = priced
    ranked = sorted(best.values(), key=lambda entry: (entry[0], entry[1].name))
    kept = [
        layout
        for across, most in KEEP.items()
        for layout in [layout for _, layout in ranked if layout.across == across][:most]
    ]
    return tuple(kept), tuple(_misfit(kind, refused[kind], workload) for kind in sorted(refused))


def any_fits(workload: Workload) -> Misfit | None:
    """None when the search would find a plan; otherwise its commonest reason for finding none."""
    refused: dict[str, list[Refusal]] = {}
    for found in candidates(workload):
        if isinstance(found, Layout):
            return None
        refused.setdefault(found.kind, []).append(found)
    if not refused:
        return Misfit("auto: layout", "layout", "no sizes of tp, cp and pp divide the accelerators of every site")
    kind = max(sorted(refused), key=lambda name: (name == "memory", len(refused[name])))
    return _misfit(kind, refused[kind], workload)


def candidates(workload: Workload) -> Iterator[Layout | Refusal]:
    """Every plan of the search in a fixed order: a layout that fits, or why not."""
    sites = {share.site for share in workload.shares}
    for across in ("dp", "pp") if len(sites) > 1 else ("none",):
        for tp in _tp(workload):
            for cp in _cp(workload):
                for pp in _pp(workload):
                    yield from _of_sizes(workload, across, tp, cp, pp)


def _of_sizes(workload: Workload, across: str, tp: int, cp: int, pp: int) -> Iterator[Layout | Refusal]:
    dp, rest = divmod(workload.accelerators, tp * cp * pp)
    if rest or not dp:
        return
    if workload.batch % dp:
        yield Refusal("batch")
        return
    layout = Layout(
        name="", tp=tp, cp=cp, pp=pp, ep=1, dp=dp, virtual_stages=1, microbatch=1, microbatches=workload.batch // dp,
        sharding=1, shard_size=dp, recompute="selective", sequence_parallel=True, across=across, sync="hierarchical",
        extra_in_flight=None,
    )  # fmt: skip
    try:
        where = places(workload, layout)
    except ValueError:
        yield Refusal("sites")
        return
    ranks = (dp,) if across == "pp" else tuple(site_ranks(where).values())
    layout = replace(layout, shard_size=min(ranks))
    for ep in _ep(workload, [here * cp for here in ranks]):
        for sharding in (1, 3) if pp == 1 else (1,):
            for virtual_stages in _virtual_stages(workload, across, pp):
                wanted = replace(layout, ep=ep, sharding=sharding, virtual_stages=virtual_stages)
                yield from _of_microbatches(workload, wanted)


def _of_microbatches(workload: Workload, layout: Layout) -> Iterator[Layout | Refusal]:
    microbatch = 1
    while microbatch <= MOST_MICROBATCH:
        microbatches, rest = divmod(workload.batch, layout.dp * microbatch)
        if rest or not microbatches or (layout.virtual_stages > 1 and microbatches % layout.pp):
            yield Refusal("batch")
            return
        found = _least_recompute(workload, replace(layout, microbatch=microbatch, microbatches=microbatches))
        yield found
        if isinstance(found, Refusal):  # a larger microbatch needs more memory still
            return
        microbatch *= 2


def _least_recompute(workload: Workload, layout: Layout) -> Layout | Refusal:
    needs = 0.0
    for recompute in ("selective", "full") if is_modern(smallest(workload)) else ("none", "selective", "full"):
        found = replace(layout, recompute=recompute)
        used = memory(workload, found)
        if fits(used):
            return replace(found, name=_name(found))
        needs = used.total_gb
    return Refusal("memory", needs)


def _name(layout: Layout) -> str:
    parts = [
        f"tp{layout.tp}",
        f"cp{layout.cp}" if layout.cp > 1 else "",
        f"pp{layout.pp}",
        f"ep{layout.ep}" if layout.ep > 1 else "",
        f"dp{layout.dp}",
        f"mb{layout.microbatch}",
        f"v{layout.virtual_stages}" if layout.virtual_stages > 1 else "",
        f"z{layout.sharding}" if layout.sharding > 1 else "",
        layout.recompute if layout.recompute != "selective" else "",
        "over-pp" if layout.across == "pp" else "",
    ]
    return "-".join(part for part in parts if part)


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


def _misfit(kind: str, refused: list[Refusal], workload: Workload) -> Misfit:
    many = f"{len(refused):,} plans" if len(refused) > 1 else "1 plan"
    capacity = smallest(workload).accelerator.hbm_gb
    least = min(entry.needs_gb for entry in refused)
    reason = {
        "memory": f"{many} do not fit the {USABLE * capacity:.1f} of {capacity:g} GB that can be filled; "
        f"the nearest needs {least:.1f} GB",
        "batch": f"{many} do not divide the batch of {workload.batch:,} sequences",
        "sites": f"{many} do not leave every site whole ranks or whole stages",
    }[kind]
    return Misfit(f"auto: {kind}", kind, reason)
