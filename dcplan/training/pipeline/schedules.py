"""Pipeline schedules beside 1F1B: what each waits, what it keeps in memory, and where it cannot work.

A backward pass is two pieces of work: gradients of the inputs, which the stage before waits for, and gradients of the
weights, which nobody waits for and which fill gaps. Times are those of one microbatch on one device, all its layers:
f forward, b input gradients, w weight gradients [s]; p devices, m microbatches. Where devices differ, f, b and w are
the mean of all but the slowest, so that for 1F1B the bubble is the sum over the others (Narayanan et al. 2021); with
few microbatches and logits that weigh a third of a stage that is up to a tenth of the step too slow (zbv: or 6 % too
fast), on average 1 or 2 %. V-Half and V-Min: see `controlled`.

Sources: Qi, Wan, Huang, Lin: Zero Bubble Pipeline Parallelism (ICLR 2024), table 1 and section 4, and their ZB-V;
DeepSeek-V3 technical report, table 2; orders of work as in AMD Primus (zbv_formatted) and deepseek-ai/DualPipe. The
bubbles below are exact for these orders with equal devices; the papers' hold where f, b and w are nearly alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.training.pipeline import controlled

EXCHANGE_CORES = 20 / 132
"""Streaming multiprocessors that run expert exchange beside compute, of those of an H800."""
SCHEDULES = ("1f1b", "zb-h1", "zb-h2", "zbv", "v-half", "v-min", "dualpipe")
OVER_SITES = ("1f1b", "zb-h1")
"""Those whose stages may lie in several sites: see `one_f_one_b`."""
CONTROLLED = {"v-half", "v-min"}
"""Those whose bubble has no formula: see `controlled`."""


@dataclass(frozen=True, slots=True)
class Times:
    """One microbatch on one device [s]."""

    forward_s: float
    inputs_s: float
    """Backward pass without the gradients of the weights."""
    weights_s: float


def splits_backward(schedule: str) -> bool:
    """Gradients of inputs and of weights are separate pieces of work."""
    return schedule != "1f1b"


def chunks(schedule: str) -> int:
    """Pieces of the model on a device: a V folds a pipeline of 2p stages, device i has stage i and stage 2p−1−i."""
    return 2 if schedule in {"zbv", *CONTROLLED} else 1


def folds(schedule: str) -> bool:
    """First and last stage of the model lie on the same device."""
    return schedule in {"zbv", "dualpipe", *CONTROLLED}


def copies(schedule: str) -> int:
    """Times that each weight is kept in a pipeline: DualPipe runs from both ends, device i has stages i and p−1−i."""
    return 2 if schedule == "dualpipe" else 1


def least_microbatches(schedule: str, p: int) -> int:
    """Fewer do not fill the pipeline as the schedule has it: zb-h2 and those that are a V 2p−1, dualpipe 2p."""
    if schedule in {"zb-h2", "zbv", *CONTROLLED}:
        return 2 * p - 1
    return 2 * p if schedule == "dualpipe" else 1


def multiple(schedule: str, p: int, v: int) -> int:
    """Microbatches of a rank are a multiple of it: interleaved (v > 1) p at a time, dualpipe half from each end."""
    return p if v > 1 else 2 if schedule == "dualpipe" else 1


def in_flight(schedule: str, p: int, m: int) -> float:
    """Microbatches whose activations each device holds, from forward to gradients of weights.

    zb-h1 p, zb-h2 2p−1, zbv p (2p halves), v-half and v-min about p/2 + 1 and p/3 + 2 (see `controlled.held`), dualpipe
    p+1; never more than m. 1F1B differs by stage: see `memory`.
    """
    if schedule in CONTROLLED:
        return min(m, controlled.held(schedule, p, least_microbatches(schedule, p)) / 2)
    return min(m, {"zb-h2": 2 * p - 1, "dualpipe": p + 1}.get(schedule, p))


def bubble_s(schedule: str, p: int, m: int, times: Times) -> float:
    """Idle time of a device in a step [s], from the first work of any device to the last.

    1f1b: (p−1)(f+b+w)
    zb-h1: x (f+b) + (p−1−x) max(f, b, f+b−w), x = max(0, p−m); (p−1)(f+b−w) in the paper, where w ≤ f, b
    zb-h2: (p−1) max(0, f+b−2w, b−f), between first and last work of each device, for the optimizer steps of stages do
    not wait for each other: the global norm is checked afterwards (paper, section 4)
    zbv: max of n b/2, n (b−w), (max(f, b) + (n−1) w)/2, (n−½) f − (n−1) b/2 and (n−½) f + b/2 − n w, n = p−1; that is
    (p−1) f/2 where all are alike, since here the optimizer waits for all stages
    v-half, v-min: no formula; see `controlled.bubble_s`
    dualpipe: max(2 n f, (n−1) f + n b) + n max(0, b−w), n = p/2−1; n (f&b + b − 2w) in the report, the same for f = b.
    """
    f, b, w = times.forward_s, times.inputs_s, times.weights_s
    n = p - 1
    if schedule in CONTROLLED:
        return controlled.bubble_s(schedule, p, m, f, b, w)
    if schedule == "1f1b":
        return n * (f + b + w)
    if schedule == "zb-h1":
        short = min(n, max(0, p - m))
        return short * (f + b) + (n - short) * max(f, b, f + b - w)
    if schedule == "zb-h2":
        return n * max(0.0, f + b - 2 * w, b - f)
    if schedule == "zbv":
        warm, folded = (n - 0.5) * f, (max(f, b) + (n - 1) * w) / 2
        return max(n * b / 2, n * (b - w), folded, warm - (n - 1) * b / 2, warm + b / 2 - n * w)
    half = p // 2 - 1
    return max(2 * half * f, (half - 1) * f + half * b) + half * max(0.0, b - w)


def overlapped(schedule: str, p: int, v: int, m: int, *, paired: bool) -> float:
    """Pairs of a forward and a backward pass that run at the same time and count in the step, in whole microbatches.

    In such a pair one computes while the other one's tokens go to their experts. What fills and drains the pipeline
    runs one after the other. dualpipe: m − p/2 − 2. Where 1F1B is `paired` (Megatron-LM,
    --overlap-moe-expert-parallel-comm; v virtual stages): m − (1 + (v−1) p)/v.
    """
    if schedule == "dualpipe":
        return max(0, m - p // 2 - 2)
    return max(0.0, m - (1 + (v - 1) * p) / v) if paired else 0.0


def hidden_exchange_s(work_s: float, exchange_s: float) -> float:
    """What an overlapped pair saves [s]: W + E − min(W + E, max(W / (1 − σ), E)).

    W: all that the pair does apart from expert exchange, E: its expert exchange [s]; σ: share of the cores that drive
    the exchange while the rest computes, 20 of 132 (DeepSeek-V3 report, section 3.2.2; DeepEP). Never more than E.
    """
    apart_s = work_s + exchange_s
    return apart_s - min(apart_s, max(work_s / (1 - EXCHANGE_CORES), exchange_s))


def refusal(schedule: str, pp: int, virtual_stages: int) -> str | None:
    """Why a schedule cannot run on these stages, in words; None where it can."""
    if schedule == "1f1b":
        return None
    if pp == 1:
        return f"schedule {schedule} needs a pipeline, pp is 1"
    if virtual_stages > 1:
        return f"schedule {schedule} cuts stages by itself, virtual_stages {virtual_stages} is the interleaved schedule"
    if schedule == "dualpipe" and pp % 2:
        return f"schedule dualpipe runs from both ends and needs an even pp, not {pp}"
    return None


def no_pairs(schedule: str, pp: int, virtual_stages: int) -> str | None:
    """Why forward and backward passes cannot be paired, in words; None where they can, or are by themselves."""
    if schedule == "dualpipe" or pp == 1 or (schedule == "1f1b" and virtual_stages > 1):
        return None
    return f"expert_overlap pairs passes of an interleaved schedule (virtual_stages) or without pipeline, pp is {pp}"


def too_few(schedule: str, pp: int, microbatches: int) -> str | None:
    """Why a schedule cannot run with so many microbatches on a rank, in words; None where it can."""
    least = least_microbatches(schedule, pp)
    if microbatches < least:
        return f"schedule {schedule} needs {least} microbatches on pp {pp}, a rank has {microbatches}"
    if schedule == "dualpipe" and microbatches % 2:
        return f"schedule dualpipe needs an even number of microbatches, a rank has {microbatches}"
    return None
