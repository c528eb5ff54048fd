"""What the precision of matrix products changes beside their rate: bytes of operands, dispatched tokens and weights."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Precision:
    """Bytes of an element where the linear layers multiply in this precision."""

    peak: str
    """Field of an accelerator that has its dense peak."""
    operand_bytes: float
    """What matrix products take in and tensor parallel ranks gather; what they give is bf16."""
    dispatch_bytes: float
    """A token on the way to its experts."""
    weight_bytes: float
    """A weight as kept: bf16, and two quantised copies, along rows and along columns."""


NVFP4 = 0.5 + 1 / 16
"""Half a byte, and a scale of one byte for 16 elements (NVIDIA 2025, Pretraining LLMs with NVFP4; mxfp4: for 32)."""

PRECISIONS = {
    "bf16": Precision("bf16_tflops", 2, 2, 2),
    "fp8": Precision("fp8_tflops", 1, 1, 4),
    "fp4": Precision("fp4_tflops", NVFP4, 1, 2 + 2 * NVFP4),
}
"""Tokens go to experts in fp8 at least: DeepEP dispatches no less."""
