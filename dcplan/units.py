"""Units: the closed list of suffixes, conversions, physical constants and numbers for people.

GB = 10^9 bytes, Gb/s = 10^9 bit/s. A level in dBm is referred to 1 mW.
"""

from __future__ import annotations

import math

LIGHT_M_PER_S = 299_792_458.0
"""Speed of light in vacuum [m/s]."""
PLANCK_J_S = 6.626_070_15e-34
"""Planck constant [J s]."""
HOURS_PER_YEAR = 8760.0
NOISE_BANDWIDTH_GHZ = 12.5
"""Reference bandwidth of an OSNR: 0.1 nm at 1550 nm [GHz]."""

SUFFIXES: dict[str, str] = {
    "km": "km", "m": "m", "ms": "ms", "us": "µs", "s": "s", "h": "h", "years": "years",
    "ghz": "GHz", "thz": "THz", "gbd": "GBd", "gbps": "Gb/s", "tbps": "Tb/s", "gb": "GB", "mb": "MB", "bytes": "bytes",
    "db": "dB", "dbm": "dBm", "db_per_km": "dB/km", "ps": "ps", "ps_nm": "ps/nm", "ps_nm_km": "ps/(nm km)",
    "ps_nm2_km": "ps/(nm² km)", "ps_sqrt_km": "ps/√km", "um2": "µm²", "per_w_km": "1/(W km)",
    "w": "W", "kw": "kW", "mw": "MW",
    "per_year": "1/year", "usd_per_h": "US$/h",
    "usd": "US$", "usd_per_mwh": "US$/MWh", "usd_per_km_year": "US$/(km year)", "usd_per_km": "US$/km",
    "percent": "%", "tflops": "TFLOP/s", "gb_per_s": "GB/s", "tb_per_s": "TB/s",
}  # fmt: skip
"""Suffix of a field name -> how its unit is printed. `mw` is megawatt: optical powers are in dBm."""


def suffix_of(name: str) -> str | None:
    """The longest suffix of a field name that is in `SUFFIXES`; None for a pure number."""
    words = name.split("_")
    for start in range(1, len(words)):
        if (suffix := "_".join(words[start:])) in SUFFIXES:
            return suffix
    return None


def unit_of(name: str) -> str | None:
    """The unit that a field name carries, by its longest suffix in `SUFFIXES`; None for a pure number."""
    suffix = suffix_of(name)
    return SUFFIXES[suffix] if suffix else None


def db(ratio: float) -> float:
    """Decibels of a power ratio: 10 log10(ratio); −inf for 0."""
    return 10 * math.log10(ratio) if ratio > 0 else -math.inf


def from_db(level_db: float) -> float:
    """Power ratio of decibels: 10^(dB/10)."""
    return float(10.0 ** (level_db / 10))


def watts(level_dbm: float) -> float:
    """Power [W] of a level [dBm]."""
    return 1e-3 * from_db(level_dbm)


def dbm(power_w: float) -> float:
    """Level [dBm] of a power [W]."""
    return db(power_w / 1e-3)


def significant(value: float, digits: int = 3) -> str:
    """A number for people: `digits` significant digits, thousands grouped, no exponent."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "n/a"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def rate(gbps: float) -> str:
    """A data rate for people: Gb/s below 1,000, Tb/s above."""
    return f"{significant(gbps)} Gb/s" if abs(gbps) < 1000 else f"{significant(gbps / 1000)} Tb/s"


def money(usd: float) -> str:
    """An amount for people: US$ with three significant digits, in k or M where it is large."""
    if abs(usd) >= 1e6:
        return f"US$ {significant(usd / 1e6)} M"
    if abs(usd) >= 1e4:
        return f"US$ {significant(usd / 1e3)} k"
    return f"US$ {significant(usd)}"


def duration(seconds: float) -> str:
    """A time for people: µs, ms or s, three significant digits."""
    if abs(seconds) < 1e-3:
        return f"{significant(seconds * 1e6)} µs"
    if abs(seconds) < 1:
        return f"{significant(seconds * 1e3)} ms"
    return f"{significant(seconds)} s"
