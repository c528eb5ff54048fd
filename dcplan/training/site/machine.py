"""An accelerator as the step-time model sees it: what its kernels and collectives reach, in SI units."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from dcplan.training.remember import remembered
from dcplan.training.site.fabric import leaving
from dcplan.training.site.offload import Host, host_of
from dcplan.training.site.precision import PRECISIONS

if TYPE_CHECKING:
    from dcplan.training.site.fabric import Tier
    from dcplan.training.step import Share, Workload

FLASH_AND_OVERLAP_SINCE = 2023
"""Megatron-LM took up flash attention, overlapped gradient reduction and overlapped stage transfers during 2023."""
ONE_COPY_SINCE = 2024
"""DeepSeek-V3 (2024) sends a token once to a node and copies it there; Megatron-LM followed in 2025 (DeepEP)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One accelerator with its calibration applied."""

    gemm_flops: float
    """Matrix products of linear layers, in the precision of the job [FLOP/s]."""
    bf16_flops: float
    """Attention core and logits, which stay in bf16 [FLOP/s]."""
    core_flops: float
    """Attention core where that is in fp8 as well; as in bf16 where nothing is [FLOP/s]."""
    moe_efficiency: float
    """Further factor on the products of routed experts of inner size 2,048; see `compute.MOE_FFN`."""
    operand_bytes: float
    """An element of what matrix products take in: weights and gathered tokens. What they give is bf16."""
    dispatch_bytes: float
    """An element of a token on the way to its experts."""
    hbm: float
    """Element-wise kernels [bytes/s]."""
    up: float
    """Scale-up collectives, one direction [bytes/s]."""
    out: float
    """Scale-out collectives, one accelerator's NIC, one direction [bytes/s]."""
    domain: int
    """Accelerators in a scale-up domain."""
    host: Host
    """Its part of the host."""
    fabric: tuple[Tier, ...]
    """Tiers of the scale-out network that are oversubscribed."""
    all_reduce: str
    """How groups sum; see `collectives.all_reduce_s`."""
    layer_s: float
    step_s: float
    one_copy: bool
    """Its software sends a token to another scale-up domain once; see `compute.one_copy`."""
    modern: bool
    """Flash attention; gradients and stage transfers overlap with compute."""
    overlaps_sites: bool
    """Where modern: gradients go to other sites while the backward pass still runs, not only after it."""
    message_s: float
    """A message to another site, beside its bytes and its latency."""
    launch_s: float
    """An operator on the host; see `launches`."""
    leaving: float = field(init=False)
    """One accelerator's part of what leaves its site, where all send, one direction [bytes/s]."""
    hashed: int = field(init=False, repr=False, compare=False)
    """Of all the above: a search looks up the same few machines again and again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "leaving", leaving(self.fabric, self.out))
        said = tuple(getattr(self, key.name) for key in fields(self) if key.compare)
        object.__setattr__(self, "hashed", hash(said))

    def __hash__(self) -> int:
        return self.hashed


def is_modern(share: Share) -> bool:
    """The software that its calibration was measured with has flash attention and overlap."""
    return share.calibration.software_year >= FLASH_AND_OVERLAP_SINCE


def peak_tflops(share: Share, precision: str) -> float | None:
    """Dense peak in a precision [TFLOP/s]; None where the accelerator has none."""
    peak: float | None = getattr(share.accelerator, PRECISIONS[precision].peak)
    return peak


def machine(share: Share, precision: str) -> Machine:
    """The accelerator of a share, calibrated. ValueError when it has no peak in that precision."""
    part, fitted = share.accelerator, share.calibration
    peak = peak_tflops(share, precision)
    if peak is None:
        raise ValueError(f"{share.accelerator_id} has no {precision} peak in the catalog")
    gemm = peak * 1e12 * fitted.gemm_efficiency
    plain = share.bf16 or fitted
    bf16 = min(part.bf16_tflops or peak, peak) * 1e12 * plain.gemm_efficiency
    core = bf16 if precision == "bf16" else (part.fp8_tflops or peak) * 1e12 * fitted.gemm_efficiency
    return Machine(
        gemm_flops=gemm,
        bf16_flops=bf16,
        core_flops=core,
        moe_efficiency=fitted.moe_efficiency,
        operand_bytes=PRECISIONS[precision].operand_bytes,
        dispatch_bytes=PRECISIONS[precision].dispatch_bytes,
        hbm=part.hbm_tb_per_s * 1e12 * fitted.memory_efficiency,
        up=part.scale_up_gb_per_s * 1e9 * fitted.scale_up_efficiency,
        out=part.nic_gbps * 1e9 / 8 * fitted.scale_out_efficiency,
        domain=part.scale_up_domain,
        host=host_of(part),
        fabric=share.fabric,
        all_reduce=share.all_reduce,
        layer_s=fitted.layer_us * 1e-6,
        step_s=fitted.step_ms * 1e-3,
        one_copy=fitted.software_year >= ONE_COPY_SINCE,
        modern=is_modern(share),
        overlaps_sites=fitted.overlap == "all",
        message_s=part.site_message_us * 1e-6,
        launch_s=part.launch_us * 1e-6,
    )


@remembered
def machines(workload: Workload) -> tuple[Machine, ...]:
    """The accelerators of each share, calibrated, in the order of the job; equal ones are one. ValueError as there."""
    known: dict[Machine, Machine] = {}
    boxes = (machine(share, workload.precision) for share in workload.shares)
    return tuple(known.setdefault(box, box) for box in boxes)
