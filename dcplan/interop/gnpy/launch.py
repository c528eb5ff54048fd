"""The launch power that GNPy's settings give to a section, and where its amplifiers do not hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.interop.gnpy.section import FUSED_DB
from dcplan.units import dbm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.interop.gnpy.entry import Entry
    from dcplan.interop.gnpy.oms import Oms
    from dcplan.interop.gnpy.section import Glass

EVEN_DB = 0.1
"""Levels that differ by less are the same [dB]."""


@dataclass(frozen=True, slots=True)
class Spectrum:
    """GNPy's reference channel: the SI block."""

    power_dbm: float
    """Into spans [dBm]."""
    tx_dbm: float
    """Out of transceivers [dBm]."""
    baud_gbd: float
    spacing_ghz: float
    power_mode: bool
    """Gains follow powers; else powers follow gains."""


def target_dbm(roadm: Entry, variety: Entry, degree: str, spectrum: Spectrum) -> float:
    """What a ROADM sends into a degree, per reference channel [dBm]: target of degree, else ROADM, else variety."""
    params = roadm.map("params")
    for key, width in _per_degree(spectrum):
        value = params.map(key).level(degree) if width is None else params.map(key).positive(degree)
        if value is not None:
            return value if width is None else dbm(value * width * 1e-3)
    for entry in (params, variety):
        for key, width in _whole(spectrum):
            value = entry.level(key) if width is None else entry.positive(key)
            if value is not None:
                return value if width is None else dbm(value * width * 1e-3)
    return spectrum.power_dbm


def _per_degree(spectrum: Spectrum) -> tuple[tuple[str, float | None], ...]:
    return (
        ("per_degree_pch_out_db", None),
        ("per_degree_psd_out_mWperGHz", spectrum.baud_gbd),
        ("per_degree_psd_out_mWperSlotWidth", spectrum.spacing_ghz),
    )


def _whole(spectrum: Spectrum) -> tuple[tuple[str, float | None], ...]:
    return (
        ("target_pch_out_db", None),
        ("target_psd_out_mWperGHz", spectrum.baud_gbd),
        ("target_out_mWperSlotWidth", spectrum.spacing_ghz),
    )


def launch_dbm(section: Oms, input_dbm: float, spectrum: Spectrum) -> float | None:
    """Launch per channel into the first fiber as its booster is set; without one, what arrives; none where unset."""
    level = input_dbm
    for entry in section.elements:
        kind = entry.text("type")
        if kind == "Fused":
            loss = entry.map("params").level("loss")
            level -= FUSED_DB if loss is None else loss
        elif kind == "Edfa":
            out = _output(entry, level, spectrum)
            if out is None:
                return None
            level = out
        elif kind == "Multiband_amplifier":
            return None
        else:
            return level
    return None


def _output(entry: Entry, input_dbm: float, spectrum: Spectrum) -> float | None:
    """Level behind an amplifier as it is set; none where GNPy would design it."""
    set_to = entry.map("operational")
    out_voa, in_voa = set_to.level("out_voa") or 0.0, set_to.level("in_voa") or 0.0
    if spectrum.power_mode:
        delta = set_to.level("delta_p")
        return None if delta is None else spectrum.power_dbm + delta - out_voa
    gain = set_to.level("gain_target")
    return None if gain is None else input_dbm - in_voa + gain - out_voa


def uneven(section: Oms, spans: tuple[Glass, ...], launch: float, spectrum: Spectrum) -> Iterator[str]:
    """Amplifiers behind spans that do not bring a channel back to the launch, as every amplifier of dcplan does."""
    behind = [entry for entry in section.elements if entry.text("type") == "Edfa"]
    seen_fiber = False
    amplifiers = []
    for entry in section.elements:
        seen_fiber |= entry.text("type") in ("Fiber", "RamanFiber")
        if seen_fiber and entry in behind:
            amplifiers.append(entry)
    if len(amplifiers) != len(spans):
        return
    level = launch
    for entry, span in zip(amplifiers, spans, strict=True):
        out = _output(entry, level - span.loss_db, spectrum)
        level = launch if out is None else out
        if abs(level - launch) > EVEN_DB:
            yield (
                f"{entry.text('uid')}: leaves {level:.2f} dBm per channel where the line launches {launch:.2f}; "
                "here each amplifier makes up for its span"
            )
            level = launch
    for entry in behind:
        tilt = entry.map("operational").level("tilt_target")
        if tilt:
            yield f"{entry.text('uid')}: a tilt of {tilt:g} dB is left out"
