"""What each term of a step is: the one table of formulas and sources. A term without an entry fails a test."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.engine import one_site, step_time
from dcplan.training.explain import exchange, inside, kernels, layers, memory
from dcplan.training.explain.picture import picture
from dcplan.training.step import Terms
from dcplan.training.transport.links import on_pairs, usable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dcplan.training.explain.picture import Picture
    from dcplan.training.explain.quantities import Worked
    from dcplan.training.step import Layout, Links, StepTime, Workload
    from dcplan.training.transport.carried import Carried


@dataclass(frozen=True, slots=True)
class Term:
    """One term of `step.Terms`."""

    what: str
    source: str
    work: Callable[[Picture], Worked]


TERMS: Mapping[str, Term] = {
    "compute_s": Term(
        "matrix products and element-wise kernels, recompute included",
        "Isaev et al. 2023 (Calculon); Korthikanti et al. 2022; calibration of the accelerator",
        inside.compute,
    ),
    "tp_s": Term(
        "tensor and sequence parallel collectives",
        "Korthikanti et al. 2022, section 4; Thakur et al. 2005",
        inside.tensor,
    ),
    "cp_s": Term("context parallel exchange", "Liu et al. 2023 (ring attention)", inside.context),
    "ep_s": Term("expert all-to-alls", "DeepSeek-V3 report, section 3.2.2; Thakur et al. 2005", inside.expert),
    "pp_s": Term(
        "transfers between stages inside sites", "Narayanan et al. 2021 (SC21), section 2.2", inside.transfers
    ),
    "bubble_s": Term(
        "idle time of the slowest stage",
        "Narayanan et al. 2021 (SC21), section 2.2; Qi et al. 2024; DeepSeek-V3 report, table 2",
        inside.bubble,
    ),
    "cross_pipeline_s": Term(
        "delay of stage boundaries between sites",
        "recurrence of 1F1B to the last microbatch, as by discrete-event simulation (dcplan)",
        inside.cross_pipeline,
    ),
    "dp_s": Term(
        "gradients and weights inside a site",
        "Rajbhandari et al. 2020 (ZeRO); Thakur et al. 2005; Megatron-LM buckets",
        exchange.inside,
    ),
    "sync_s": Term(
        "gradients across sites",
        "time on the links of the collective, hidden behind the backward pass (dcplan); outer steps: Douillard et al."
        " 2023, 2025",
        exchange.across,
    ),
    "optimizer_s": Term(
        "optimizer step", "bytes of Adam through memory; Rajbhandari et al. 2020 (ZeRO)", inside.optimizer
    ),
    "straggler_s": Term("waiting for the slowest site", "difference of step times (dcplan)", exchange.straggler),
    "fixed_s": Term("fixed time per step", "calibration of the accelerator", inside.fixed),
    "cross_layers_s": Term(
        "exchange of every layer between sites",
        "messages of tensor, context and expert parallel groups, each with its latency (dcplan, `cross_layers`)",
        layers.cross_layers,
    ),
    "host_s": Term(
        "waiting for a host that launches operators too slowly",
        "operators of a layer in Megatron-Core (dcplan, `launches`); launch_us of the accelerator",
        inside.host,
    ),
}
"""Field of `Terms` -> what it is and how it is worked out."""


@dataclass(frozen=True, slots=True)
class ExplainedTerm:
    """One term of one step."""

    term: str
    value_s: float
    worked: Worked
    what: str
    source: str
    without_s: float
    """The step if this term were zero [s]."""
    without_overhead_percent: float | None
    """Overhead if it were zero in one site too [%]; none where nothing is left."""


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """One part of the memory, or the bytes between two sites [GB]."""

    part: str
    value_gb: float
    worked: Worked
    what: str
    source: str


@dataclass(frozen=True, slots=True)
class ExplainedLayer:
    """Compute of one layer for one microbatch, which a term is made of [s]."""

    what: str
    value_s: float
    worked: Worked


@dataclass(frozen=True, slots=True)
class Explained:
    """A step, term by term."""

    step: StepTime
    alone: StepTime
    """The same in one site."""
    terms: tuple[ExplainedTerm, ...]
    memory: tuple[ExplainedPart, ...]
    between: tuple[ExplainedPart, ...]
    """Each pair of sites that sends to each other."""
    transport: tuple[Carried, ...]
    layers: tuple[ExplainedLayer, ...]


def explained(workload: Workload, layout: Layout, links: Links) -> Explained:
    """Each term of the step of a layout on these links of the network, largest or not, in the order of `Terms`."""
    step, alone = step_time(workload, layout, links), one_site(workload, layout)
    pieces = picture(workload, layout, usable(workload, layout, links))
    found = []
    for field in fields(Terms):
        value, there = getattr(step.terms, field.name), getattr(alone.terms, field.name)
        about, left_s, there_s = TERMS[field.name], step.step_s - value, alone.step_s - there
        overhead = 100 * (left_s / there_s - 1) if there_s > 0 else None
        found.append(ExplainedTerm(field.name, value, about.work(pieces), about.what, about.source, left_s, overhead))
    return Explained(
        step=step,
        alone=alone,
        terms=tuple(found),
        memory=_memory(pieces, step),
        between=_between(pieces, step),
        transport=on_pairs(workload, layout, links),
        layers=tuple(ExplainedLayer(what, *both) for what, both in kernels.of_layers(pieces).items()),
    )


def _memory(pieces: Picture, step: StepTime) -> tuple[ExplainedPart, ...]:
    stage = memory.fullest(pieces)
    return tuple(
        ExplainedPart(name, getattr(step.memory, name), part.work(stage), part.what, part.source)
        for name, part in memory.MEMORY.items()
    )


def _between(pieces: Picture, step: StepTime) -> tuple[ExplainedPart, ...]:
    what = "activations and their gradients" if pieces.placed else "gradients"
    if pieces.layout.across in SPANNING:
        what = "gradients, and what layers exchange"
    source = "Narayanan et al. 2021 (SC21)" if pieces.placed else "Thakur et al. 2005; see `collective`"
    return tuple(
        ExplainedPart(" – ".join(ends), step.cross_site_gb[ends], worked, f"{what}, each way", source)
        for ends, worked in memory.between_sites(pieces).items()
    )
