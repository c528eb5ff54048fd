"""What the training engine takes and answers: a workload, a view of the network, a step time whose terms add up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from dcplan.training.across.patterns import DIRECT, Collective

if TYPE_CHECKING:
    from dcplan.catalog.parts import Accelerator, Calibration, ModelShape
    from dcplan.model.network import Pair, SiteId
    from dcplan.model.transport import Transport
    from dcplan.training.outer.exchange import Outer
    from dcplan.training.outer.quality import Quality
    from dcplan.training.site.fabric import Tier


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a job in one site."""

    site: SiteId
    accelerator_id: str
    accelerator: Accelerator
    calibration: Calibration
    count: int
    bf16: Calibration | None = None
    """That of the same software in bf16, for what an fp8 job leaves in bf16; None: the one above for all."""
    fabric: tuple[Tier, ...] = ()
    """Oversubscribed tiers of the site's scale-out network, from small to large."""
    all_reduce: str = "auto"
    """How groups in the site sum; see `collectives.all_reduce_s`."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A training job joined with the catalog."""

    job: str
    model: ModelShape
    sequence_length: int
    batch: int
    """Sequences in a step of the whole job."""
    precision: str
    gradient_bits: int
    shares: tuple[Share, ...]
    collective: Collective = DIRECT
    """How its sites sum gradients, where they do so by site."""
    attention: str = "causal"
    """causal or full."""
    split: str = "equal"
    """equal or by-speed: parts of the batch, or layers, where accelerators are not alike."""
    expert_imbalance: float = 1.0
    """Tokens of the fullest expert parallel rank over the mean."""
    transport: Transport | None = None
    """How bytes travel between its sites; None: every bit that is lit carries payload."""
    answers: dict[object, object] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What functions of this workload gave before; see `remember`."""

    @property
    def accelerators(self) -> int:
        """All accelerators of the job."""
        return sum(share.count for share in self.shares)


@dataclass(frozen=True, slots=True)
class Links:
    """What a job sees of the network in one state: rate and one-way latency for each pair of its sites.

    rate_gbps: in each direction, the part that is this job's. Absent pair: no path. Both are those of the network; see
    `transport.links.usable` for what is left of them.
    """

    rate_gbps: Mapping[Pair, float]
    latency_ms: Mapping[Pair, float]


@dataclass(frozen=True, slots=True)
class Terms:
    """The parts of a step [s]; they add up to the step time."""

    compute_s: float = 0.0
    """Matrix products and element-wise kernels, recompute included."""
    tp_s: float = 0.0
    """Tensor and sequence parallel collectives, exposed."""
    cp_s: float = 0.0
    """Context parallel exchange, exposed."""
    ep_s: float = 0.0
    """Expert all-to-all, exposed."""
    pp_s: float = 0.0
    """Pipeline transfers inside sites, exposed."""
    bubble_s: float = 0.0
    """Pipeline bubble."""
    cross_pipeline_s: float = 0.0
    """Pipeline delay over stage boundaries between sites."""
    dp_s: float = 0.0
    """Gradient and weight exchange inside a site, exposed."""
    sync_s: float = 0.0
    """Gradient exchange across sites, exposed; of outer steps the mean of all steps."""
    optimizer_s: float = 0.0
    """Optimizer step."""
    straggler_s: float = 0.0
    """Waiting for the slowest site; where none waits, what slower ones make of the mean."""
    fixed_s: float = 0.0
    """Fixed time per step."""
    cross_layers_s: float = 0.0
    """Exchange of every layer between sites (TP, CP or EP over them), exposed, beyond what it takes in one."""
    host_s: float = 0.0
    """Waiting for a host that launches operators more slowly than the accelerator works through them."""

    @property
    def total_s(self) -> float:
        """The step time [s]."""
        return math.fsum(_VALUES(self))

    def apart(self, sync_s: float, straggler_s: float, cross_layers_s: float) -> Terms:
        """The same where sites lie apart and wait for each other; `replace` would take twice as long."""
        return Terms(
            self.compute_s,
            self.tp_s,
            self.cp_s,
            self.ep_s,
            self.pp_s,
            self.bubble_s,
            self.cross_pipeline_s,
            self.dp_s,
            sync_s,
            self.optimizer_s,
            straggler_s,
            self.fixed_s,
            cross_layers_s,
            self.host_s,
        )


_VALUES = attrgetter(*(field.name for field in fields(Terms)))


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of the fullest accelerator [GB = 10^9 bytes]."""

    weights_gb: float
    gradients_gb: float
    optimizer_gb: float
    activations_gb: float
    capacity_gb: float
    host_gb: float = 0.0
    """What its part of the host holds of the optimizer, beside all above [GB]."""
    host_capacity_gb: float | None = None
    """Its part of the host's memory [GB]; none: not known, or nothing lies there."""

    @property
    def total_gb(self) -> float:
        """All of it on the accelerator [GB]."""
        return self.weights_gb + self.gradients_gb + self.optimizer_gb + self.activations_gb


class Tile(NamedTuple):
    """What the cost of one microbatch in one layer depends on; see `Layout` for each."""

    tp: int
    cp: int
    ep: int
    microbatch: int
    recompute: str
    sequence_parallel: bool
    cp_exchange: str
    cuda_graphs: str
    fp8_attention: bool
    flash_attention: int
    fused_experts: bool
    token_dispatcher: str | None
    recompute_modules: tuple[str, ...]
    grad_reduce_in_fp32: bool


class Spread(NamedTuple):
    """What weights, gradients and optimizer take and exchange depends on, whatever the microbatches; see `Layout`."""

    tp: int
    cp: int
    pp: int
    ep: int
    dp: int
    virtual_stages: int
    sharding: int
    shard_size: int
    across: str
    sync: str
    schedule: str
    grad_reduce_in_fp32: bool
    fp8_param_gather: bool
    exp_avg_dtype: str
    optimizer_offload_percent: float
    outer: Outer | None


@dataclass(frozen=True, slots=True)
class Layout:
    """A parallelism plan made whole for one workload: all sizes known, every division checked."""

    name: str
    tp: int
    cp: int
    pp: int
    ep: int
    dp: int
    virtual_stages: int
    microbatch: int
    microbatches: int
    """Microbatches per data parallel rank and step."""
    sharding: int
    shard_size: int
    recompute: str
    sequence_parallel: bool
    across: str
    """dp, pp, ep, cp, tp, or none for a job in one site."""
    sync: str
    extra_in_flight: int | None
    schedule: str = "1f1b"
    """See `schedules`."""
    expert_overlap: bool = False
    """Expert exchange of one microbatch behind the compute of another; see `schedules.overlapped`."""
    token_dispatcher: str | None = None
    """alltoall or flex; none: as the software had it last. See `compute.one_copy`."""
    cp_exchange: str = "ring"
    """ring or all-gather."""
    recompute_modules: tuple[str, ...] = ()
    """What selective recompute recomputes beside the attention core; see `recompute`."""
    grad_reduce_in_fp32: bool = True
    """Gradients are added up in fp32, else in bf16; see `state`."""
    fp8_param_gather: bool = False
    """Weights are kept in fp8 alone."""
    exp_avg_dtype: str = "fp32"
    """Moments of Adam: fp32, bf16 or fp8."""
    flash_attention: int = 3
    """Generation of the kernel of the attention core, where it is flash attention at all."""
    fused_experts: bool = False
    """The activation function of experts is part of the kernel of their first product."""
    fp8_attention: bool = False
    """The attention core multiplies in fp8."""
    cuda_graphs: str = "none"
    """none, router, layer or step; see `launches`."""
    optimizer_offload_percent: float = 0.0
    """Share of the optimizer in host memory; see `offload`."""
    outer: Outer | None = None
    """How sites exchange what they have learned by themselves; none where they agree in every step."""
    equal_parts: bool = False
    """The job splits by speed, but in this layout equal parts take no longer, so that they are equal."""
    tile: Tile = field(init=False, repr=False, compare=False)
    """What one microbatch in one layer costs follows from these sizes alone."""
    spread: Spread = field(init=False, repr=False, compare=False)
    """What is kept and exchanged of parameters follows from these alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tile", Tile._make(_TILE(self)))
        object.__setattr__(self, "spread", Spread._make(_SPREAD(self)))

    @property
    def paired(self) -> bool:
        """A forward and a backward pass run together, for there is expert exchange to hide."""
        return self.expert_overlap and self.ep > 1


_TILE, _SPREAD = attrgetter(*Tile._fields), attrgetter(*Spread._fields)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a parallelism plan cannot run: which rule, in words with numbers."""

    plan: str
    kind: str
    """layout, batch, memory, sites."""
    reason: str
    needs_gb: float = 0.0
    """Memory that it would take, where that is why [GB]."""


@dataclass(frozen=True, slots=True)
class StepTime:
    """One step of a job under one plan on one view of the network."""

    plan: str
    terms: Terms
    memory: Memory
    cross_site_gb: Mapping[Pair, float]
    """Bytes that cross between two sites in one step, in each direction [GB]."""
    mfu_percent: float
    """Model FLOP/s over peak, causal attention counted half, full attention whole, no recompute [%]."""
    tokens_per_s: float
    evidence: str
    """measured-range, interpolated, simulated-source or extrapolated."""
    quality: Quality | None = None
    """What it costs in learning; none for a plan that synchronises in every step."""

    @property
    def step_s(self) -> float:
        """The step time [s]."""
        return self.terms.total_s
