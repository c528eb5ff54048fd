"""Parallelism plans made whole for a workload: sizes multiply out, everything divides, memory fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training import state
from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.across.place import places, site_ranks
from dcplan.training.memory import USABLE, fits, in_host
from dcplan.training.outer.plan import outer_of, outer_trouble
from dcplan.training.pipeline.line import by_speed, memory_of
from dcplan.training.pipeline.schedules import OVER_SITES, chunks, no_pairs, refusal, too_few
from dcplan.training.pipeline.stages import fills
from dcplan.training.replica import rounds
from dcplan.training.site.machine import machines
from dcplan.training.step import Layout, Misfit
from dcplan.training.terms import no_distance, step_terms

if TYPE_CHECKING:
    from dcplan.model.job import ParallelismPlan
    from dcplan.training.step import Workload


def complete(name: str, plan: ParallelismPlan, workload: Workload) -> Layout | Misfit:
    """One plan with every size known, or the first rule that it breaks, with numbers."""
    layout = _sized(name, plan, workload)
    return layout if isinstance(layout, Misfit) else checked(layout, workload)


def checked(layout: Layout, workload: Workload) -> Layout | Misfit:
    """A layout whose sizes multiply out, with its sharding group, or the first rule that it breaks, with numbers.

    A shard_size of 0 stands for the data parallel ranks of one site.
    """
    trouble = uneven(layout, workload) or _batch(layout, workload) or outer_trouble(layout, workload)
    if not trouble and (kept := state.refusal(layout, workload.precision)):
        trouble = Misfit(layout.name, "layout", kept)
    whole = trouble or over_sites(layout, workload)
    if isinstance(whole, Misfit):
        return whole
    return _better_parts(_few_by_speed(whole, workload) or _in_memory(whole, workload), workload)


def _better_parts(layout: Layout | Misfit, workload: Workload) -> Layout | Misfit:
    """Equal parts where those by speed end no earlier with all sites side by side.

    Layers by speed make the slowest stage as fast as can be; what a step takes beside it (bubble, exchange of the
    fullest stage, optimizer) may make up for that where speeds are nearly the same.
    """
    if isinstance(layout, Misfit) or not by_speed(workload, layout) or layout.across in SPANNING:
        return layout
    equal = _in_memory(replace(layout, equal_parts=True), workload)
    if isinstance(equal, Misfit):
        return layout
    near = no_distance(workload)
    own_s, equal_s = (step_terms(workload, each, near)[0].total_s for each in (layout, equal))
    return layout if own_s < equal_s else equal


def _offloaded(layout: Layout) -> str:
    """What lies in the host."""
    adam = f"{layout.optimizer_offload_percent:g} % of the optimizer" if layout.optimizer_offload_percent else ""
    outer = "the state of outer steps" if layout.outer and layout.outer.state_in_host else ""
    return " and ".join(part for part in (adam, outer) if part)


def _in_memory(layout: Layout, workload: Workload) -> Layout | Misfit:
    boundaries = len(workload.shares) - 1 if layout.across == "pp" else 0
    used = memory_of(workload, layout, (layout.extra_in_flight or 0) * boundaries)
    if not in_host(used):
        return Misfit(
            layout.name,
            "memory",
            f"{_offloaded(layout)} needs {used.host_gb:.1f} GB of the host, "
            f"{USABLE * (used.host_capacity_gb or 0):.1f} of {used.host_capacity_gb:g} GB can be filled",
            used.total_gb,
        )
    if not fits(used):
        usable = USABLE * used.capacity_gb
        return Misfit(
            layout.name,
            "memory",
            f"needs {used.total_gb:.1f} GB per accelerator, {usable:.1f} of {used.capacity_gb:g} GB can be filled: "
            f"weights {used.weights_gb:.1f}, gradients {used.gradients_gb:.1f}, optimizer {used.optimizer_gb:.1f}, "
            f"activations {used.activations_gb:.1f} GB",
            used.total_gb,
        )
    return layout


def _sized(name: str, plan: ParallelismPlan, workload: Workload) -> Layout | Misfit:
    total, model_parallel = workload.accelerators, plan.tp * plan.cp * plan.pp
    product = f"tp {plan.tp} × cp {plan.cp} × pp {plan.pp}"
    dp, rest = divmod(total, model_parallel)
    if rest or not dp:
        return Misfit(name, "layout", f"{product} = {model_parallel:,} does not divide {total:,} accelerators")
    if plan.dp not in {None, dp}:
        wanted = model_parallel * (plan.dp or 0)
        return Misfit(name, "layout", f"{product} × dp {plan.dp} = {wanted:,}, the job has {total:,} accelerators")
    return with_sizes(name, plan, workload, dp)


def with_sizes(name: str, plan: ParallelismPlan, workload: Workload, dp: int) -> Layout:
    """The layout of a plan, with nothing checked; see `checked`."""
    several = len({share.site for share in workload.shares}) > 1
    return Layout(
        name=name,
        tp=plan.tp,
        cp=plan.cp,
        pp=plan.pp,
        ep=plan.ep,
        dp=dp,
        virtual_stages=plan.virtual_stages,
        microbatch=plan.microbatch,
        microbatches=workload.batch // (dp * plan.microbatch),
        sharding=plan.sharding,
        shard_size=plan.shard_size or 0,
        recompute=plan.recompute,
        sequence_parallel=plan.sequence_parallel,
        cp_exchange=plan.cp_exchange,
        cuda_graphs=plan.cuda_graphs,
        token_dispatcher=plan.token_dispatcher,
        flash_attention=plan.flash_attention,
        fp8_attention=plan.fp8_attention,
        fused_experts=plan.fused_experts,
        recompute_modules=tuple(sorted(set(plan.recompute_modules))),
        grad_reduce_in_fp32=plan.grad_reduce_in_fp32,
        fp8_param_gather=plan.fp8_param_gather,
        exp_avg_dtype=plan.exp_avg_dtype,
        optimizer_offload_percent=plan.optimizer_offload_percent,
        across=plan.across if several else "none",
        sync=plan.sync,
        extra_in_flight=plan.extra_in_flight,
        schedule=plan.schedule,
        expert_overlap=plan.expert_overlap,
        outer=outer_of(plan.sync, plan.outer, workload) if several else None,
    )


def uneven(layout: Layout, workload: Workload) -> Misfit | None:
    """Heads, experts and tokens that do not divide, and stages without a layer."""
    model, s = workload.model, workload.sequence_length
    if model.heads % layout.tp:
        reason = f"tp {layout.tp} does not divide {model.heads} attention heads"
    elif layout.virtual_stages > 1 and layout.pp == 1:
        reason = f"{layout.virtual_stages} virtual stages need a pipeline, pp is 1"
    elif schedule := refusal(layout.schedule, layout.pp, layout.virtual_stages):
        reason = schedule
    elif layout.paired and (alone := no_pairs(layout.schedule, layout.pp, layout.virtual_stages)):
        reason = alone
    elif not fills(model, layout.pp, pieces := layout.virtual_stages * chunks(layout.schedule)):
        reason = (
            f"{model.layers} layers (or {model.layers} + 2, embedding and logits counted) do not fall evenly on "
            f"pp {layout.pp} × {pieces} virtual stages, nor unevenly without an empty one"
        )
    elif layout.cp > 1 and s % (2 * layout.cp):
        reason = f"a sequence of {s:,} tokens does not fall on 2 × cp {layout.cp} chunks"
    elif layout.ep > 1 and not model.experts:
        reason = f"ep {layout.ep} needs experts, the model is dense"
    elif (model.experts or layout.ep) % layout.ep:
        reason = f"ep {layout.ep} does not divide {model.experts} experts"
    elif (layout.dp * layout.cp) % layout.ep:
        reason = f"ep {layout.ep} does not divide dp {layout.dp} × cp {layout.cp}"
    else:
        return None
    return Misfit(layout.name, "layout", reason)


def _batch(layout: Layout, workload: Workload) -> Misfit | None:
    each = layout.dp * layout.microbatch
    if workload.batch % each or not layout.microbatches:
        return Misfit(
            layout.name,
            "batch",
            f"a batch of {workload.batch:,} sequences is not a multiple of "
            f"dp {layout.dp:,} × microbatch {layout.microbatch} = {each:,}",
        )
    if layout.virtual_stages > 1 and layout.microbatches % layout.pp:
        return Misfit(
            layout.name,
            "batch",
            f"an interleaved schedule needs microbatches in multiples of pp {layout.pp}, "
            f"a rank has {layout.microbatches}",
        )
    if short := too_few(layout.schedule, layout.pp, layout.microbatches):
        return Misfit(layout.name, "batch", short)
    return None


def _few_by_speed(layout: Layout, workload: Workload) -> Misfit | None:
    """Where microbatches go by speed, a share that gets too few of them for the schedule."""
    if layout.schedule == "1f1b" or not by_speed(workload, layout):
        return None
    where = places(workload, layout)
    for place, own in zip(where, rounds(workload, layout, where, machines(workload)), strict=True):
        if short := too_few(layout.schedule, layout.pp, own):
            return Misfit(layout.name, "batch", f"{short} in {place.share.site}")
    return None


def over_sites(layout: Layout, workload: Workload) -> Layout | Misfit:
    """What may stand in one share and what may cross sites; the layout with its sharding group, which may not."""
    if layout.across == "pp" and layout.virtual_stages > 1:
        return Misfit(
            layout.name,
            "sites",
            f"{layout.virtual_stages} virtual stages over sites would cross them {layout.virtual_stages} times as "
            "often; a pipeline over sites is planned with one stage per stage",
        )
    if layout.across == "pp" and layout.schedule not in OVER_SITES:
        return Misfit(
            layout.name,
            "sites",
            f"what {layout.schedule} loses over a stage boundary between sites is not known; "
            f"a pipeline over sites is planned with schedule {' or '.join(OVER_SITES)}",
        )
    if layout.across in SPANNING and (trouble := _spanning(layout)):
        return Misfit(layout.name, "sites", trouble)
    ranks = ranks_by_site(workload, layout)
    return ranks if isinstance(ranks, Misfit) else _spread(layout, ranks)


def _spanning(layout: Layout) -> str:
    """Why groups cannot span sites whatever stands there; empty where they can."""
    size = {"tp": layout.tp, "cp": layout.cp, "ep": layout.ep}[layout.across]
    if size == 1:
        return f"across: {layout.across} needs groups that span sites, {layout.across} is 1"
    if layout.sync == "synchronous" and layout.across != "tp":
        return f"across: {layout.across} is planned with sync: hierarchical, not with one ring through all ranks"
    return ""


def ranks_by_site(workload: Workload, layout: Layout) -> tuple[int, ...] | Misfit:
    """Data parallel ranks in each site, among which a sharding group stays; all in one where stages cross sites."""
    try:
        where = places(workload, layout)
    except ValueError as error:
        what = {
            "pp": "whole pipeline stages (tp × cp × dp)",
            "tp": "members of every tensor parallel group (cp × pp × dp)",
        }
        held = what.get(layout.across, "whole ranks (tp × cp × pp)")
        return Misfit(layout.name, "sites", f"a site must hold {held}: {error}")
    if layout.across in ("pp", "tp"):
        return (layout.dp,)
    return tuple(site_ranks(where).values())


def _spread(layout: Layout, ranks: tuple[int, ...]) -> Layout | Misfit:
    """The layout with its sharding group, which stays inside a site, as experts do; ranks: those of each site."""
    size = {"cp": layout.cp, "ep": layout.ep}.get(layout.across, layout.dp)
    for here in ranks:
        if size * here % layout.dp:
            reason = (
                f"a site with {here:,} of {layout.dp:,} ranks cannot hold as many of the {size} members of each group"
            )
            return Misfit(layout.name, "sites", f"{reason} ({layout.across})")
        if layout.across != "ep" and (here * layout.cp) % layout.ep:
            reason = f"ep {layout.ep} does not divide the {here * layout.cp:,} dp × cp ranks of a site"
            return Misfit(layout.name, "sites", reason)
        if layout.shard_size and here % layout.shard_size:
            reason = f"shard_size {layout.shard_size} does not divide the {here:,} data parallel ranks of a site"
            return Misfit(layout.name, "sites", reason)
    return layout if layout.shard_size else replace(layout, shard_size=min(ranks))
