"""GNPy's equipment library, as far as a designed network needs it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dcplan.interop.gnpy.span import variety
from dcplan.optics.allowed import allowed_transponders
from dcplan.units import LIGHT_M_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.catalog.parts import Mode, Table
    from dcplan.model.network import Network
    from dcplan.optics.budget import Line
    from dcplan.optics.nonlinear import Comb

CORE_UM2 = math.pi * 4.2**2
REFERENCE_THZ = LIGHT_M_PER_S / 1550e-9 * 1e-12
"""GNPy's core and the frequency of its effective area (core/parameters.py)."""
AT = " at "
"""Joins an amplifier's id and its gain in the name of a setting."""


class Settings:
    """Amplifiers at their working gains, each a GNPy variety with a fixed noise figure."""

    def __init__(self, network: Network) -> None:
        self.catalog = network.catalog.amplifiers
        self.found: dict[tuple[str, float, float], str] = {}

    def variety(self, amplifier: str, gain_db: float, figure_db: float) -> str:
        """The variety of an amplifier at a gain, as `ID at G dB`."""
        key = (amplifier, round(gain_db, 3), round(figure_db, 4))
        if key not in self.found:
            name = f"{amplifier}{AT}{key[1]:g} dB"
            self.found[key] = name if name not in self.found.values() else f"{name}, NF {key[2]:g} dB"
        return self.found[key]

    def entries(self, comb: Comb) -> list[dict[str, Any]]:
        """The entries of the library, over the whole comb."""
        half = comb.width_ghz * 0.5e9
        first, last = comb.first_thz * 1e12, (comb.first_thz + (comb.channels - 1) * comb.width_ghz * 1e-3) * 1e12
        return [
            {
                "type_variety": name,
                "type_def": "fixed_gain",
                "f_min": round(first - half),
                "f_max": round(last + half),
                "gain_flatmax": self.catalog[amplifier].gain_max_db,
                "gain_min": self.catalog[amplifier].gain_min_db,
                "p_max": self.catalog[amplifier].output_max_dbm,
                "nf0": figure,
                "pmd": self.catalog[amplifier].pmd_ps * 1e-12,
                "pdl": self.catalog[amplifier].pdl_db,
                "allowed_for_design": False,
            }
            for (amplifier, _, figure), name in sorted(self.found.items())
        ]


def fiber_entries(network: Network, lines: Iterable[Line]) -> list[dict[str, Any]]:
    """Every fiber type in use."""
    kinds = dict.fromkeys(variety(network, line.fiber, row) for line in lines for row in line.spans)
    return [_fiber(kind, network) for kind in kinds]


def _fiber(name: str, network: Network) -> dict[str, Any]:
    kind = network.catalog.fibers[name]
    area = kind.effective_area_um2 if kind.nonlinear else None
    return {
        "type_variety": name,
        "dispersion": _si(kind.dispersion_ps_nm_km, 1e-6),
        "effective_area": _si(area or linear_area_um2(network.topology.gear.bands[0].start_thz), 1e-12),
        "pmd_coef": _si(kind.pmd_ps_sqrt_km, 1e-12 / 1000**0.5),
    }


def linear_area_um2(start_thz: float) -> float:
    """Effective area that stands for no nonlinearity [µm²]: the largest that GNPy can scale over the band.

    GNPy scales it by frequency as core / (ln(f / f_ref) + core / area), which must stay positive at the lower edge.
    """
    return CORE_UM2 / (max(0.0, math.log(REFERENCE_THZ / start_thz)) + 0.01)


def si(network: Network, mode: Mode, comb: Comb) -> dict[str, Any]:
    """The default spectrum: the full load of the mode. Both margins of the policy are GNPy's system margin."""
    first = round(comb.first_thz * 1e12)
    return {
        "f_min": first,
        "f_max": first + round((comb.channels - 1) * comb.width_ghz * 1e9),
        "baud_rate": round(comb.baud_gbd * 1e9),
        "spacing": round(comb.width_ghz * 1e9),
        "power_dbm": 0,
        "tx_power_dbm": mode.tx_dbm,
        "power_range_db": [0, 0, 1],
        "roll_off": mode.roll_off,
        "tx_osnr": NO_TX_NOISE_DB if mode.tx_osnr_db is None else mode.tx_osnr_db,
        "sys_margins": network.policy.margin_db + network.policy.ageing_db,
        "use_si_channel_count_for_design": True,
    }


NO_TX_NOISE_DB = 100.0
"""OSNR of a transmitter without noise; GNPy asks for a figure [dB]."""


def transceivers(network: Network) -> list[dict[str, Any]]:
    """The allowed transponders with their modes whose OSNR is published."""
    gear = network.topology.gear
    found = []
    for name, transponder in allowed_transponders(network).items():
        modes = [_mode(mode, one) for mode, one in transponder.modes.items() if one.required_osnr_db is not None]
        if modes:
            window = {"min": round(gear.bands[0].start_thz * 1e12), "max": round(gear.bands[-1].end_thz * 1e12)}
            found.append({"type_variety": name, "frequency": window, "mode": modes})
    return found


def _mode(name: str, mode: Mode) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "format": name,
        "baud_rate": round(mode.baud_gbd * 1e9),
        "OSNR": mode.required_osnr_db,
        "bit_rate": round(mode.rate_gbps * 1e9),
        "roll_off": mode.roll_off,
        "tx_osnr": NO_TX_NOISE_DB if mode.tx_osnr_db is None else mode.tx_osnr_db,
        "min_spacing": round(mode.width_ghz * 1e9),
        "cost": 1,
    }
    tables: dict[str, Table] = {
        "chromatic_dispersion": mode.cd_penalty,
        "pmd": mode.pmd_penalty,
        "pdl": mode.pdl_penalty,
    }
    penalties = [{kind: x, "penalty_value": y} for kind, table in tables.items() for x, y in _from_zero(table)]
    if penalties:
        entry["penalties"] = penalties
    if mode.rx_min_dbm is not None:
        entry["rx-channel-power-min-dbm"] = mode.rx_min_dbm
    return entry


def _from_zero(table: Table) -> Table:
    """With the point (0, 0) that both programs mean: without it GNPy finds nothing below the first point."""
    return table if not table or table[0][0] <= 0 else ((0.0, 0.0), *table)


def _si(value: float, factor: float) -> float:
    """A figure in SI units without the noise of binary fractions."""
    return float(f"{value * factor:.9g}")
