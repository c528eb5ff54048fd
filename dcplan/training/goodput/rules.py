"""Codes 44x: what makes a job lose time, where it makes no sense or changes nothing."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity, did_you_mean
from dcplan.model.outages import counts_failures, failing
from dcplan.model.rules.examples import GOOD, adding, with_change
from dcplan.training.goodput.joined import losses_of
from dcplan.training.layout import complete
from dcplan.training.step import Layout
from dcplan.units import duration, significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network
    from dcplan.model.reliability import Reliability
    from dcplan.model.source import Loc
    from dcplan.training.step import Workload


def _reliability(text: str) -> str:
    return adding(f"    reliability: {{{text}}}\n")


_NOBODY = with_change("demands:\n  checkpoints: {between: [papillion, lincoln], gbps: 400}\n", "", GOOD)

DEMAND = Rule(
    "DCP440",
    "checkpoint-over-no-demand",
    Severity.ERROR,
    "`checkpoint.over` names the demand over whose rate checkpoints leave the job; it must be one of the file's, and"
    " begin or end in a site of the job.",
    _reliability("checkpoint: {over: checkpoint}"),
    _reliability("checkpoint: {over: checkpoints}"),
)
NO_EFFECT = Rule(
    "DCP441",
    "loss-without-effect",
    Severity.WARNING,
    "The key is valid and, with the rest of the file as it is, changes no time that a job loses.",
    _reliability("spare_hosts: 4"),
    _reliability("spare_hosts: 4, host_repair_h: 24"),
)
CHECKPOINTS = Rule(
    "DCP442",
    "checkpoints-out-of-proportion",
    Severity.WARNING,
    "Checkpoints that take longer than the work between them, or leave more work between them than the job does between"
    " two failures, cost most of the run.",
    _reliability("checkpoint: {interval_s: 86400}"),
    _reliability("checkpoint: {interval_s: 600}"),
)
DROPPED = Rule(
    "DCP443",
    "all-ranks-dropped",
    Severity.ERROR,
    "A step that does not wait for the slowest data parallel ranks needs others that it waits for.",
    adding("    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}}\n",
           _reliability("stragglers: {sigma_percent: 1, dropped_ranks: 64}")),
    adding("    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}}\n",
           _reliability("stragglers: {sigma_percent: 1, dropped_ranks: 1}")),
)  # fmt: skip
UNUSED_RATE = Rule(
    "DCP444",
    "failures-nobody-counts",
    Severity.WARNING,
    "How often fibers, circuits, sites and named failures fail enters the availability of demands and what is expected"
    " of jobs with `reliability`; here nobody sends anything.",
    with_change("pairs: 4,", "pairs: 4, failures_per_year: 0.5, repair_h: 12,", _NOBODY),
    with_change("pairs: 4,", "pairs: 4, failures_per_year: 0.5, repair_h: 12,"),
)
RULES = (DEMAND, NO_EFFECT, CHECKPOINTS, DROPPED, UNUSED_RATE)


def check_rates(network: Network) -> Iterator[Finding]:
    """Rates of failures that nothing counts."""
    if counts_failures(network):
        return
    for section, name, about in failing(network):
        if about.failures_per_year is not None:
            span = network.document.locate((section, name, "failures_per_year"), of_key=True)
            why = "no demand, no job over several sites and none with `reliability`"
            yield Finding(UNUSED_RATE, span, f"`failures_per_year` has no effect: {why}", "leave it out")


def check_job(network: Network, name: str, load: Workload) -> Iterator[Finding]:
    """What a job says of its losses of time."""
    job, at = network.jobs[name], ("jobs", name)
    for key, why in _idle(job, load):
        loc: Loc = (*at, *key.split("."))
        if loc in network.document.values:
            span = network.document.locate(loc, of_key=True)
            yield Finding(NO_EFFECT, span, f"`{loc[-1]}` has no effect: {why}", "leave it out")
    if job.reliability is None:
        return
    over = job.reliability.checkpoint.over
    demand = None if over is None else network.topology.demands.get(over)
    if over is not None and (demand is None or set(demand.between).isdisjoint(job.accelerators)):
        known = [each for each, one in network.topology.demands.items() if set(one.between) & set(job.accelerators)]
        why = "there is no such demand" if demand is None else "it neither begins nor ends in a site of the job"
        hint = did_you_mean(over, known, "demands stand under `demands`")
        span = network.document.locate((*at, "reliability", "checkpoint", "over"))
        yield Finding(DEMAND, span, f"checkpoints go over `{over}`: {why}", hint)
        return
    yield from _proportion(network, at, load)
    yield from _dropped(network, at, job, load)


def _idle(job: Job, load: Workload) -> Iterator[tuple[str, str]]:
    """Keys, below the job, that change nothing if they are given."""
    about = job.reliability
    if about is None:
        return
    alone = len({share.site for share in load.shares}) == 1
    if about.host_repair_h is None:
        for key in ("spare_hosts", "hardware_percent", *(("elastic",) if alone else ())):
            yield f"reliability.{key}", "without `host_repair_h` there is always another host"
    if alone:
        for key in ("switch_s", "collective_timeout_s"):
            yield f"reliability.{key}", "the job stays in one site"
    if about.checkpoint.local_gb_per_s is None:
        yield "reliability.checkpoint.remote_interval_s", "without `local_gb_per_s` every checkpoint goes to storage"
    yield from _idle_parts(about)


def _idle_parts(about: Reliability) -> Iterator[tuple[str, str]]:
    slow, wrong = about.stragglers, about.corruption
    if slow is not None:
        if not slow.sigma_percent:
            yield "reliability.stragglers.tail", "`sigma_percent` is 0"
        if not slow.slow_percent:
            yield "reliability.stragglers.slow_hosts", "`slow_percent` is 0"
    if wrong is not None:
        if wrong.check_s is None:
            for key in ("check_interval_s", "caught_percent"):
                yield f"reliability.corruption.{key}", "without `check_s` there are no checks"
        elif wrong.caught_percent == 100:
            yield "reliability.corruption.latency_h", "checks find every corruption"


def _proportion(network: Network, at: Loc, load: Workload) -> Iterator[Finding]:
    losses = losses_of(network, load)
    if losses is None:
        return
    plans, mtbf_s = network.jobs[load.job].plans, losses.mtbf_s
    named = [] if isinstance(plans, str) else [losses.writing.under(plan) for plan in plans.values()]
    about = max(named, key=attrgetter("size_gb"), default=losses.writing)
    locate = network.document.locate
    given = losses.interval
    stall_s = about.far_s if about.near_s is None else about.near_s
    loc = (*at, "reliability", "checkpoint", "interval_s")
    if not isinstance(given, str) and (given > mtbf_s or given < stall_s):
        what = f"fails every {duration(mtbf_s)}" if given > mtbf_s else f"needs {duration(stall_s)} for one"
        message = f"a checkpoint every {duration(given)}, in a job that {what}"
        yield Finding(CHECKPOINTS, locate(loc), message, "`interval_s: daly` takes the best")
    elif about.far_s > mtbf_s:
        message = f"{significant(about.size_gb)} GB take {duration(about.far_s)} to write, the job fails every "
        loc = (*at, "reliability")
        yield Finding(CHECKPOINTS, locate(loc, of_key=True), message + duration(mtbf_s), "write faster, or locally")


def _dropped(network: Network, at: Loc, job: Job, load: Workload) -> Iterator[Finding]:
    slow = None if job.reliability is None else job.reliability.stragglers
    if slow is None or not slow.dropped_ranks or isinstance(job.plans, str):
        return
    span = network.document.locate((*at, "reliability", "stragglers", "dropped_ranks"))
    for name, plan in job.plans.items():
        layout = complete(name, plan, load)
        if isinstance(layout, Layout) and layout.dp <= slow.dropped_ranks:
            message = f"plan `{name}` has {layout.dp} data parallel ranks, of which {slow.dropped_ranks} are dropped"
            yield Finding(DROPPED, span, message, "drop fewer")
