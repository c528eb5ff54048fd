"""GNPy's amplifiers as own amplifiers of a topology file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dcplan.errors import UsageError
from dcplan.interop.gnpy.entry import Entry, read
from dcplan.interop.gnpy.library import AT
from dcplan.interop.gnpy.noise import polynomial_db, two_coil
from dcplan.units import db, from_db

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

STEP_DB = 0.5
"""Distance of the points at which a noise figure is read off [dB]."""
SILENT_DB = -100.0
"""Noise figure of an amplifier that adds no noise [dB]."""
SPECTRUM_THZ = (191.275, 196.125)
"""Where GNPy's amplifiers amplify that do not say (core/parameters.py, DEFAULT_EDFA_CONFIG)."""
NOTHING = "no-amplifier"
"""Stands where GNPy has no amplifier: the level is that of the line, without noise or cost."""
_SETTING = re.compile(rf"(.+){AT}(-?[0-9.]+) dB(?:, NF .*)?")


@dataclass(frozen=True, slots=True)
class Library:
    """Amplifiers of a GNPy equipment file."""

    parts: Mapping[str, dict[str, Any]]
    """As in `gear.amplifiers`, by id."""
    names: Mapping[str, str]
    """Variety -> id; settings of one amplifier share its id."""
    design: tuple[str, ...]
    """Ids that GNPy may choose by itself."""
    notes: tuple[tuple[str, str], ...]
    """(id, what is left out of it); of an amplifier that cannot be expressed, its variety."""
    spectra: Mapping[str, tuple[float, float]]
    """Id -> from where to where it amplifies [THz]."""


@dataclass(slots=True)
class _Reading:
    entries: dict[str, Entry]
    folder: Path
    extended_db: float
    notes: list[tuple[str, str]] = field(default_factory=list)


def amplifiers(equipment: Entry, folder: Path, extended_db: float) -> Library:
    """All amplifiers that dcplan can express; what of them it cannot is in the notes.

    folder: where the files of advanced models lie. extended_db: gain beyond gain_flatmax that GNPy allows [dB].
    """
    entries: dict[str, Entry] = {}
    for entry in equipment.list("Edfa"):
        for name in [entry.text("type_variety"), *entry.texts("other_name")]:
            if name:
                entries[name] = entry
    reading = _Reading(entries, folder, extended_db)
    parts: dict[str, dict[str, Any]] = {}
    names: dict[str, str] = {}
    spectra: dict[str, tuple[float, float]] = {}
    for name, entry in entries.items():
        try:
            part = _part(reading, name, entry)
        except (ValueError, UsageError) as error:
            reading.notes.append((name, f"amplifier {name} cannot be expressed: {error}"))
            continue
        stem = _SETTING.fullmatch(name)
        if stem and entry.text("type_def") == "fixed_gain":
            names[name] = stem[1]
            parts[stem[1]] = _joined(parts.get(stem[1]), part, float(stem[2]))
        else:
            names[name] = name
            parts[name] = part
        spectra[names[name]] = _spectrum(entry)
    design = [names[name] for name, entry in entries.items() if name in names and entry.get("allowed_for_design")]
    return Library(parts, names, tuple(dict.fromkeys(design)), tuple(reading.notes), spectra)


def silent() -> dict[str, Any]:
    """The amplifier that stands where there is none."""
    return {
        "gain_min_db": 0.0,
        "gain_max_db": 60.0,
        "nf_db": [[0.0, SILENT_DB]],
        "output_max_dbm": 40.0,
        "price_usd": 0.0,
        "note": "stands where GNPy has no amplifier",
    }


def _joined(known: dict[str, Any] | None, part: dict[str, Any], gain_db: float) -> dict[str, Any]:
    """Settings of one amplifier at several gains, as dcplan writes them: their noise figures make a table.

    Two figures at one gain (they follow the input power): the worse.
    """
    table = dict(known["nf_db"] if known else ())
    figure = part["nf_db"][0][1]
    table[gain_db] = max(figure, table.get(gain_db, figure))
    return {**part, "nf_db": [[gain, table[gain]] for gain in sorted(table)]}


def _part(reading: _Reading, name: str, entry: Entry) -> dict[str, Any]:
    kind = entry.text("type_def") or "variable_gain"
    if kind == "multi_band":
        raise ValueError("dcplan has no amplifier for several bands")
    if kind == "dual_stage":
        return _dual_stage(reading, entry)
    least, most = entry.need("gain_min", db=True), entry.need("gain_flatmax", db=True)
    noise: dict[str, Any]
    if kind in ("openroadm", "openroadm_preamp"):
        noise = {"osnr_cubic": _cubic(entry, kind)}
    else:
        figure = _figure(reading, name, entry)
        flat = kind in ("fixed_gain", "openroadm_booster")
        noise = {"nf_db": [[least, round(figure(least), 6)]] if flat else table(figure, least, most)}
    part = {"gain_min_db": least, "gain_max_db": most + reading.extended_db, **noise}
    part["output_max_dbm"] = entry.need("p_max", db=True)
    return part | _common(entry)


def _common(entry: Entry) -> dict[str, Any]:
    pmd, pdl = (entry.number("pmd") or 0.0) * 1e12, entry.level("pdl") or 0.0
    return {
        **({"pmd_ps": round(pmd, 6)} if pmd else {}),
        **({"pdl_db": pdl} if pdl else {}),
        "source": f"GNPy equipment, {entry.text('type_def') or 'variable_gain'}",
    }


def table(figure: Callable[[float], float], least_db: float, most_db: float) -> list[list[float]]:
    """A noise figure read off every half decibel of gain, both ends included."""
    steps = int((most_db - least_db) / STEP_DB)
    gains = [least_db + STEP_DB * number for number in range(steps + 1)]
    if gains[-1] < most_db - 1e-9:
        gains.append(most_db)
    return [[round(gain, 6), round(figure(gain), 4)] for gain in gains]


def _figure(reading: _Reading, name: str, entry: Entry) -> Callable[[float], float]:
    """Noise figure by gain. ValueError or UsageError where the entry does not give it."""
    kind, most = entry.text("type_def") or "variable_gain", entry.need("gain_flatmax", db=True)
    if kind == "fixed_gain":
        constant = entry.need("nf0", db=True)
        return lambda _gain: constant
    if kind == "openroadm_booster":
        return lambda _gain: SILENT_DB
    if kind == "variable_gain":
        coils = two_coil(
            entry.need("gain_min", db=True), most, entry.need("nf_min", db=True), entry.need("nf_max", db=True)
        )
        return coils.noise_figure_db
    if kind == "advanced_model":
        config = read(reading.folder / entry.text("advanced_config_from_json"), "nf_fit_coeff")
        for key in ("gain_ripple", "nf_ripple", "dgt"):
            if _uneven(config.get(key)):
                said = f"amplifier {name}: {key} is left out, its gain and noise figure are flat here"
                reading.notes.append((name, said))
        coefficients = config.numbers("nf_fit_coeff")
        return lambda gain: polynomial_db(coefficients, gain, most)
    raise ValueError(f"type_def `{kind}` is not known")


def _spectrum(entry: Entry) -> tuple[float, float]:
    """From where to where it amplifies, its own or GNPy's default [THz]."""
    own = entry.number("f_min"), entry.number("f_max")
    return SPECTRUM_THZ if own[0] is None or own[1] is None else (own[0] * 1e-12, own[1] * 1e-12)


def _uneven(values: Any) -> bool:
    return isinstance(values, list) and any(value != values[0] for value in values)


def _cubic(entry: Entry, kind: str) -> dict[str, float]:
    """OSNR by input power per 50 GHz. The preamplifier: min((4 P + 275) / 7, 33) (GNPy core/elements.py)."""
    if kind == "openroadm_preamp":
        return {"a": 0.0, "b": 0.0, "c": 4 / 7, "d": 275 / 7, "input_min_dbm": -60.0, "input_max_dbm": -11.0}
    coefficients = entry.numbers("nf_coef")
    if len(coefficients) != 4:
        raise ValueError("nf_coef must have four coefficients")
    a, b, c, d = coefficients
    return {"a": a, "b": b, "c": c, "d": d, "input_min_dbm": -60.0, "input_max_dbm": 10.0}


def _dual_stage(reading: _Reading, entry: Entry) -> dict[str, Any]:
    """Two stages, the first at its full gain: F = F1 + F2 / G1; with Raman the first is pumped fiber."""
    stages = []
    for key in ("preamp_variety", "booster_variety"):
        if (stage := reading.entries.get(entry.text(key))) is None:
            raise ValueError(f"there is no amplifier {entry.text(key)}")
        stages.append((stage, _figure(reading, entry.text(key), stage)))
    (first, first_figure), (second, second_figure) = stages
    gain_db, least, most = (
        first.need("gain_flatmax", db=True),
        second.need("gain_min", db=True),
        second.need("gain_flatmax", db=True),
    )
    part: dict[str, Any] = {
        "gain_min_db": max(entry.level("gain_min") or gain_db, gain_db),
        "gain_max_db": gain_db + most,
        "output_max_dbm": second.need("p_max", db=True),
    }
    if entry.get("raman"):
        part["nf_db"] = table(second_figure, least, most)
        part["raman"] = {"gain_db": gain_db, "nf_db": first_figure(gain_db)}
        return part | _common(entry)

    def both(gain: float) -> float:
        padded = max(least - (gain - gain_db), 0.0)
        rest = second_figure(gain - gain_db + padded) + padded
        return db(from_db(first_figure(gain_db)) + from_db(rest - gain_db))

    part["nf_db"] = table(both, part["gain_min_db"], part["gain_max_db"])
    return part | _common(entry)


def used(library: Library, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The parts that are in use, in the order of the library; the silent one where it is."""
    wanted = set(names)
    found = {name: part for name, part in library.parts.items() if name in wanted}
    return found | ({NOTHING: silent()} if NOTHING in wanted else {})
