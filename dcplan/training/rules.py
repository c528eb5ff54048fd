"""Codes 4xx: training jobs that cannot run as the file lays them out, and what in them changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import WITH_JOB, adding, with_change
from dcplan.training.engine import one_site
from dcplan.training.goodput import rules as goodput
from dcplan.training.layout import complete
from dcplan.training.plans.idle import idle
from dcplan.training.plans.search import any_fits, idle_pins
from dcplan.training.plans.space import DEFAULT, Space
from dcplan.training.shapes import parameters
from dcplan.training.site import rules as site_rules
from dcplan.training.site.machine import peak_tflops
from dcplan.training.site.precision import PRECISIONS
from dcplan.training.step import Layout, Misfit
from dcplan.training.transport import rules as transport
from dcplan.training.workload import joined, sequences
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.job import Job, ParallelismPlan
    from dcplan.model.network import Network
    from dcplan.model.source import Loc
    from dcplan.training.step import Workload


def _plan(sizes: str) -> str:
    return adding(f"    plans: {{deep: {{{sizes}}}}}\n")


_GOOD_PLAN = _plan("tp: 8, cp: 2, pp: 16, virtual_stages: 8")
_TWO_TYPES = with_change("lon: -96.60, power_mw: 100, accelerators: {h100-sxm", "lon: -96.60, accelerators: {h200-sxm")
_OWN_ACCELERATOR = (
    "gear:\n  accelerators:\n    next: {bf16_tflops: 2000, hbm_gb: 288, hbm_tb_per_s: 20, scale_up_domain: 8,"
    " scale_up_gb_per_s: 1800, nic_gbps: 800"
)
_OWN_JOB = with_change("{h100-sxm: 16384}", "{next: 16384}", with_change("{h100-sxm: 16384}", "{next: 16384}"))
_OWN_MODEL = (
    "gear:\n  models:\n"
    "    mine: {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 128256, glu: true"
)
_WITH_OWN_MODEL = with_change("model: llama3-405b", "model: mine")
APART = 0.05
"""Relative difference of two numbers of parameters that is asked about."""

LAYOUT = Rule(
    "DCP401",
    "plan-does-not-divide",
    Severity.ERROR,
    "Sizes of a parallelism plan must multiply to the accelerators of the job, divide heads, experts and tokens, and"
    " leave no pipeline stage empty; otherwise no framework can start it.",
    _plan("tp: 8, pp: 16, dp: 100"),
    _GOOD_PLAN,
)
BATCH = Rule(
    "DCP402",
    "batch-does-not-divide",
    Severity.ERROR,
    "The batch must be whole sequences, and every data parallel rank must get the same whole number of microbatches.",
    with_change("global_batch_tokens: 16777216", "global_batch_tokens: 16000000"),
    WITH_JOB,
)
MEMORY = Rule(
    "DCP403",
    "plan-does-not-fit-memory",
    Severity.ERROR,
    "Weights, gradients, optimizer state and activations of the fullest accelerator must fit its memory, with 5 % left"
    " for the driver, communication buffers and fragmentation.",
    _plan("tp: 8, pp: 1"),
    _GOOD_PLAN,
)
SITES = Rule(
    "DCP404",
    "plan-does-not-fit-sites",
    Severity.ERROR,
    "Only one dimension crosses sites, so each site must hold whole data parallel ranks, or whole pipeline stages, with"
    " its sharding and expert groups.",
    with_change("{papillion: 8192, lincoln: 8192}", "{papillion: 8128, lincoln: 8256}", _GOOD_PLAN),
    _GOOD_PLAN,
)
NO_PLAN = Rule(
    "DCP405",
    "no-plan-fits",
    Severity.ERROR,
    "`plans: auto` looks at every way to lay out the job; here not one divides everything and fits the memory.",
    with_change("{papillion: 8192, lincoln: 8192}", "{papillion: 8, lincoln: 8}"),
    WITH_JOB,
)
GENERATIONS = Rule(
    "DCP406",
    "mixed-generations",
    Severity.WARNING,
    "Every rank gets the same share of the batch, so the slowest accelerators set the pace and the others wait.",
    _TWO_TYPES,
    WITH_JOB,
)
NO_EFFECT = Rule(
    "DCP407",
    "plan-key-without-effect",
    Severity.WARNING,
    "The key is valid but, with the rest of the plan as it is, changes nothing. What was meant by it will not happen.",
    _plan("tp: 8, cp: 2, pp: 16, sharding: 0, shard_size: 8"),
    _GOOD_PLAN,
)
PRECISION = Rule(
    "DCP408",
    "precision-not-there",
    Severity.ERROR,
    "The accelerator has no peak in the precision of the job.",
    adding("    precision: fp8\n", WITH_JOB.replace("h100-sxm", "a100-sxm-80gb")),
    adding("    precision: fp8\n"),
)
BORROWED = Rule(
    "DCP409",
    "no-calibration",
    Severity.WARNING,
    "The catalog has no calibration for this accelerator; step times use that of the nearest one and are extrapolated.",
    adding(_OWN_ACCELERATOR + "}\n", _OWN_JOB),
    adding(_OWN_ACCELERATOR + ", calibration: gb200}\n", _OWN_JOB),
)

SHAPE = Rule(
    "DCP411",
    "parameters-differ",
    Severity.WARNING,
    "The sizes of an own model give another number of parameters than `total_params_b` says: one of them is not right."
    " Step times and memory follow the sizes.",
    adding(_OWN_MODEL + ", total_params_b: 80}\n", _WITH_OWN_MODEL),
    adding(_OWN_MODEL + ", total_params_b: 8}\n", _WITH_OWN_MODEL),
)

RULES: tuple[Rule, ...] = (
    LAYOUT, BATCH, MEMORY, SITES, NO_PLAN, GENERATIONS, NO_EFFECT, PRECISION, BORROWED, *site_rules.RULES, SHAPE,
    *goodput.RULES, *transport.RULES,
)  # fmt: skip
COMPARED = {
    "cuda_graphs": "its hosts launch fast enough without",
    "token_dispatcher": "its software sends tokens so anyway, or all experts are in one scale-up domain",
}
"""Keys that change nothing where the step is the same without them, and why that is so."""
_OF_KIND = {"layout": LAYOUT, "batch": BATCH, "memory": MEMORY, "sites": SITES}
_HINTS = {
    "layout": "change the sizes, or write `plans: auto` and let dcplan find them",
    "batch": "change `global_batch_tokens`, `microbatch` or the sizes that make dp",
    "memory": "raise tp, pp or cp, shard more, or recompute: full",
    "sites": "give every site a multiple of them, or let the other dimension cross",
}


def check(network: Network) -> list[Finding]:
    """All training jobs of a valid network: sizes, batch, memory, sites, precision, generations, idle keys."""
    jobs = [finding for name, job in network.jobs.items() for finding in _job(network, name, job)]
    return [*jobs, *_models(network), *goodput.check_rates(network), *site_rules.check(network)]


def _models(network: Network) -> Iterator[Finding]:
    for name, model in network.topology.gear.models.items():
        counted = parameters(model) / 1e9
        if model.total_params_b and abs(counted / model.total_params_b - 1) > APART:
            span = network.document.locate(("gear", "models", name, "total_params_b"), of_key=True)
            message = f"`total_params_b` is {model.total_params_b:g}, the sizes of `{name}` give {significant(counted)}"
            yield Finding(SHAPE, span, message, "check layers, hidden, ffn and vocab, and `glu` and `tied`")


def _job(network: Network, name: str, job: Job) -> Iterator[Finding]:
    at: Loc = ("jobs", name)
    locate = network.document.locate
    if job.global_batch_tokens % job.sequence_length or not sequences(job):
        message = (
            f"{job.global_batch_tokens:,} tokens are not a whole number of sequences of {job.sequence_length:,} tokens"
        )
        near = max(1, round(job.global_batch_tokens / job.sequence_length)) * job.sequence_length
        yield Finding(BATCH, locate((*at, "global_batch_tokens")), message, f"{near} is the nearest that is")
        return
    load = joined(network, name)
    if isinstance(load, str):  # a rule on names has told already
        return
    lacking = sorted({share.accelerator_id for share in load.shares if peak_tflops(share, job.precision) is None})
    for accelerator in lacking:
        message = f"{accelerator} has no {job.precision} peak in the catalog"
        has = ", ".join(name for name in PRECISIONS if all(peak_tflops(share, name) for share in load.shares))
        yield Finding(
            PRECISION, locate((*at, "precision")), message, f"all its accelerators have {has or 'none alike'}"
        )
    if lacking:
        return
    yield from _accelerators(network, at, load)
    yield from goodput.check_job(network, name, load)
    yield from transport.check(network, at, job, load)
    if job.allow_sync and len(job.accelerators) == 1:
        span = locate((*at, "allow_sync"), of_key=True)
        yield Finding(NO_EFFECT, span, "`allow_sync` has no effect: the job stays in one site", "leave it out")
    if isinstance(job.plans, str):
        yield from _auto(network, at, job, load)
        return
    if job.pin is not None:
        span = locate((*at, "pin"), of_key=True)
        yield Finding(NO_EFFECT, span, "`pin` has no effect: the job names its plans", "leave it out")
    for plan_name, plan in job.plans.items():
        yield from _named(network, (*at, "plans", plan_name), plan_name, plan, load)


def _auto(network: Network, at: Loc, job: Job, load: Workload) -> Iterator[Finding]:
    space = Space(job.pin or DEFAULT)
    misfit = any_fits(load, space)
    if misfit:
        message = f"no plan fits job `{load.job}`: {misfit.reason}"
        hint = _HINTS[misfit.kind] if job.pin is None else "change the sizes, or leave keys of `pin` out"
        yield Finding(NO_PLAN, network.document.locate(at, of_key=True), message, hint)
    for key, why in idle_pins(load, space).items() if job.pin else ():
        span = network.document.locate((*at, "pin", key), of_key=True)
        yield Finding(NO_EFFECT, span, f"`{key}` has no effect: {why}", "leave it out")


def _named(network: Network, at: Loc, name: str, plan: ParallelismPlan, load: Workload) -> Iterator[Finding]:
    result = complete(name, plan, load)
    if isinstance(result, Misfit):
        span = network.document.locate(at, of_key=True)
        yield Finding(_OF_KIND[result.kind], span, f"plan `{name}`: {result.reason}", _HINTS[result.kind])
    reasons = idle(plan, load)
    if isinstance(result, Layout):
        reasons |= {key: why for key, why in COMPARED.items() if key not in reasons and _as_fast(load, result, key)}
    for key, why in reasons.items():
        if key not in plan.model_fields_set:
            continue
        span = network.document.locate((*at, key), of_key=True)
        yield Finding(NO_EFFECT, span, f"`{key}` has no effect: {why}", "leave it out")


def _as_fast(load: Workload, layout: Layout, key: str) -> bool:
    """The step in one site is the same where the plan does not say the key."""
    other = replace(layout, **{key: getattr(DEFAULT, key)})
    return one_site(load, layout).terms == one_site(load, other).terms


def _accelerators(network: Network, at: Loc, load: Workload) -> Iterator[Finding]:
    span = network.document.locate((*at, "accelerators"), of_key=True)
    kinds = {share.accelerator_id: share for share in load.shares}
    if len(kinds) > 1:
        message = f"job `{load.job}` runs on {', '.join(kinds)} at once"
        if load.split == "equal":
            yield Finding(GENERATIONS, span, message, "`split: by-speed` gives each what it can do in the same time")
    elif "split" in network.jobs[load.job].model_fields_set:
        where = network.document.locate((*at, "split"), of_key=True)
        yield Finding(NO_EFFECT, where, "`split` has no effect: all accelerators are alike", "leave it out")
    for name, share in kinds.items():
        if share.accelerator.calibration is None:
            message = f"{name} has no calibration of its own; the nearest is from {share.calibration.software_year}"
            yield Finding(BORROWED, span, message, "measure a run, or name a `calibration` in an own accelerator")
