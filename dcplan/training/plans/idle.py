"""Keys of a parallelism plan that change nothing: a rule tells a user of them, a search does not vary them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training.remember import remembered
from dcplan.training.site.machine import is_modern

if TYPE_CHECKING:
    from dcplan.model.job import ParallelismPlan
    from dcplan.training.step import Layout, Workload


def idle(plan: ParallelismPlan | Layout, load: Workload) -> dict[str, str]:
    """Keys that change nothing with the rest of the plan as it is, whatever their value, and why."""
    several = _several(load)
    alone = None if several else "the job stays in one site"
    over_pipeline = several and plan.across == "pp"
    flash = plan.recompute != "full" and not plan.recompute_modules and _flash(load)
    reasons = {
        "across": alone,
        "sync": "gradients stay in their site" if several and plan.across in ("pp", "tp") and not plan.outer else alone,
        "outer": alone,
        "shard_size": None if plan.sharding else "sharding is 0",
        "extra_in_flight": None if over_pipeline else "no pipeline crosses sites",
        "sequence_parallel": None if plan.tp > 1 else "tp is 1",
        "expert_overlap": _own_overlap(plan),
        "fused_experts": None if load.model.experts else "the model is dense",
        "token_dispatcher": "ep is 1, no token leaves its rank" if plan.ep == 1 else None,
        "cp_exchange": None if plan.cp > 1 else "cp is 1",
        "schedule": None if plan.pp > 1 else "pp is 1",
        "recompute": "flash attention recomputes its core by itself" if flash else None,
        "recompute_modules": _own_modules(plan, load),
        "cuda_graphs": _own_graphs(load),
        "flash_attention": None if _flash(load) else "the software that was calibrated is older than flash attention",
        "fp8_attention": "the job multiplies in bf16" if load.precision == "bf16" else None,
    }
    return {key: why for key, why in reasons.items() if why}


def _own_modules(plan: ParallelismPlan | Layout, load: Workload) -> str | None:
    if plan.recompute != "selective":
        return f"recompute is {plan.recompute}"
    model = load.model
    there = {"layernorm": True, "mla_up_proj": model.mla, "mlp": model.dense_layers or not model.experts}
    none = [piece for piece in plan.recompute_modules if not there.get(piece, model.experts)]
    return f"the model has no {' and no '.join(none)}" if none and len(none) == len(plan.recompute_modules) else None


def _own_graphs(load: Workload) -> str | None:
    known = any(share.accelerator.launch_us for share in load.shares)
    return None if known else "what a launch takes on these hosts is not known, so that nothing waits for them"


def _own_overlap(plan: ParallelismPlan | Layout) -> str | None:
    if plan.ep == 1:
        return "ep is 1, no token leaves its rank"
    return "dualpipe overlaps by itself" if plan.schedule == "dualpipe" else None


@remembered
def _several(load: Workload) -> bool:
    return len({share.site for share in load.shares}) > 1


@remembered
def _flash(load: Workload) -> bool:
    return all(is_modern(share) for share in load.shares)
