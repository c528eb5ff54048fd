"""A plan in one line, the way an ML engineer writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model.job import ParallelismPlan

if TYPE_CHECKING:
    from dcplan.training.outer.exchange import Outer
    from dcplan.training.step import Layout

DEFAULT = ParallelismPlan()
RECOMPUTE = {"none": "no recompute", "selective": "selective", "full": "full recompute"}


def in_words(layout: Layout) -> str:
    """The sizes that are not one, the way an ML engineer writes them, with microbatch, sharding, recompute
    and what else is not as it is by default.
    """
    sizes = [
        f"{label}{size}"
        for label, size in (
            ("TP", layout.tp),
            ("CP", layout.cp),
            ("PP", layout.pp),
            ("EP", layout.ep),
            ("DP", layout.dp),
        )
        if size > 1
    ]
    detail = [f"v{layout.virtual_stages}"] if layout.virtual_stages > 1 else []
    detail += [layout.schedule] if layout.schedule != "1f1b" else []
    detail += ["EP overlapped"] if layout.paired else []
    detail += [f"CP by {layout.cp_exchange}"] if layout.cp > 1 and layout.cp_exchange != "ring" else []
    again = [RECOMPUTE[layout.recompute], *(layout.recompute_modules if layout.recompute == "selective" else ())]
    detail += [f"mb{layout.microbatch}", f"ZeRO-{layout.sharding}", "+".join(again), *_recipe(layout)]
    detail += ["equal parts"] if layout.equal_parts else []
    if layout.optimizer_offload_percent:
        detail.append(f"{layout.optimizer_offload_percent:g} % of the optimizer in the host")
    if layout.outer and layout.across == "dp":
        detail.append(outer_in_words(layout.sync, layout.outer))
    return " ".join([*sizes, *detail])


def _recipe(layout: Layout) -> list[str]:
    """Keys of the software that are not what they are by default, briefly."""
    said = (
        ("no SP", layout.tp > 1 and not layout.sequence_parallel),
        ("gradients bf16", not layout.grad_reduce_in_fp32),
        ("weights fp8", layout.fp8_param_gather),
        (f"moments {layout.exp_avg_dtype}", layout.exp_avg_dtype != DEFAULT.exp_avg_dtype),
        ("attention fp8", layout.fp8_attention),
        (f"flash {layout.flash_attention}", layout.flash_attention != DEFAULT.flash_attention),
        ("experts fused", layout.fused_experts),
        (f"tokens by {layout.token_dispatcher}", layout.token_dispatcher is not None),
        (f"graphs {layout.cuda_graphs}", layout.cuda_graphs != DEFAULT.cuda_graphs),
    )
    return [words for words, differs in said if differs]


def outer_in_words(sync: str, outer: Outer) -> str:
    """How sites that train by themselves exchange what they have learned."""
    if sync == "parameter-server":
        return f"servers every {' × '.join(str(tier.every) for tier in outer.tiers)}, {outer.bits} bit"
    parts = f" in {outer.fragments} fragments, overlap {outer.overlap_steps}" if sync == "streaming" else ""
    return f"{'streamed' if parts else 'local SGD'} every {outer.every_steps}{parts}, {outer.bits} bit"
