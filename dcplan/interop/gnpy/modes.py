"""GNPy's transceivers as own transponders of a topology file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.interop.gnpy.entry import Entry
    from dcplan.interop.gnpy.launch import Spectrum

PENALTIES = {"chromatic_dispersion": "cd_penalty", "pmd": "pmd_penalty", "pdl": "pdl_penalty"}
SLOT_GHZ = 12.5


def transponders(equipment: Entry, spectrum: Spectrum, tx_osnr_db: float | None) -> tuple[dict[str, Any], list[str]]:
    """Transponders by id, and what is left out of them."""
    notes: list[str] = []
    found: dict[str, Any] = {}
    for entry in equipment.list("Transceiver"):
        modes: dict[str, Any] = {}
        for mode in entry.list("mode"):
            for name in [mode.text("format"), *mode.texts("other_name")]:
                modes[name[:80] or f"mode {len(modes) + 1}"] = _mode(mode, spectrum, tx_osnr_db, notes)
        for name in [entry.text("type_variety"), *entry.texts("other_name")]:
            if modes and name:
                found[name[:80]] = {"modes": modes, "source": "GNPy equipment"}
    return found, list(dict.fromkeys(notes))


def _mode(mode: Entry, spectrum: Spectrum, tx_osnr_db: float | None, notes: list[str]) -> dict[str, Any]:
    baud = (mode.positive("baud_rate") or mode.need("baud_rate")) * 1e-9
    spacing = mode.number("min_spacing")
    width = max(baud, spectrum.spacing_ghz if spacing is None else spacing * 1e-9)
    osnr, tx = mode.level("OSNR"), mode.level("tx_osnr")
    data: dict[str, Any] = {
        "rate_gbps": round(mode.need("bit_rate") * 1e-9, 6),
        "baud_gbd": round(baud, 9),
        "width_ghz": math.ceil(width / SLOT_GHZ - 1e-9) * SLOT_GHZ,
        **({} if osnr is None else {"required_osnr_db": osnr}),
        "tx_dbm": _sent(mode, spectrum, notes),
    }
    tx = tx_osnr_db if tx is None else tx
    if tx is not None and tx < 100:
        data["tx_osnr_db"] = tx
    for key, name in (("rx-channel-power-min-dbm", "rx_min_dbm"), ("rx-channel-power-max-dbm", "rx_max_dbm")):
        if (level := mode.level(key)) is not None:
            data[name] = level
    listed = list(mode.list("penalties"))
    for kind, name in PENALTIES.items():
        points = [(point.need(kind), point.need("penalty_value")) for point in listed if point.get(kind) is not None]
        if points:
            if min(x for x, _ in points) < 0:
                notes.append(f"{mode.where}: {kind} below zero is left out; dcplan takes its magnitude")
            data[name] = _rising(points)
    if (roll_off := mode.number("roll_off")) is not None:
        data["roll_off"] = roll_off
    unsaid = [key for key in ("equalization_offset_db", "detailed_rx") if mode.get(key)]
    notes += [f"{mode.where}: {key} is left out" for key in unsaid]
    return data


def _sent(mode: Entry, spectrum: Spectrum, notes: list[str]) -> float:
    """Transmitted power [dBm]: that of the SI block, within what the mode allows."""
    least, most = mode.level("tx-channel-power-min-dbm"), mode.level("tx-channel-power-max-dbm")
    level = max(spectrum.tx_dbm, -math.inf if least is None else least)
    level = min(level, math.inf if most is None else most)
    if level != spectrum.tx_dbm:
        notes.append(f"{mode.where}: sends {level:g} dBm, which is as near as it comes to {spectrum.tx_dbm:g}")
    return level


def _rising(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    """Points by impairment from zero on; of two at one impairment, the larger penalty."""
    table: dict[float, float] = {}
    for x, y in points:
        table[x] = max(y, table.get(x, y))
    below, above = max((x for x in table if x < 0), default=None), min((x for x in table if x > 0), default=None)
    if below is not None and above is not None and 0.0 not in table:
        table[0.0] = table[below] + (table[above] - table[below]) * below / (below - above)
    return [[x, table[x]] for x in sorted(table) if x >= 0]
