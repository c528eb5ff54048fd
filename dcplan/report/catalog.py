"""The catalog for people and programs: figures with units, where they come from, how far to trust them."""

from __future__ import annotations

import json as jsonlib
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcplan.report.sheet import Cell, Column, Table, View, number_column, say, text_column
from dcplan.units import suffix_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.catalog.parts import Part
    from dcplan.report.sheet import Row, Tone

FORMAT = 1
"""Version of the json."""
LEGEND = "~ marks an estimate: the entry's confidence is low, or it lists the figure among its estimates."
FIGURES: Mapping[str, tuple[str, ...]] = {
    "fibers": (
        "attenuation_db_per_km",
        "dispersion_ps_nm_km",
        "effective_area_um2",
        "pmd_ps_sqrt_km",
        "group_index",
        "splice_db",
    ),
    "amplifiers": ("gain_min_db", "gain_max_db", "nf_db", "output_max_dbm", "role", "power_w", "price_usd"),
    "transponders": ("rate_gbps", "baud_gbd", "width_ghz", "required_osnr_db", "power_w", "price_usd"),
    "appliances": ("long_haul_ports", "rate_gbps", "reach_km", "fabric", "encryption", "power_w", "price_usd"),
    "equipment": ("loss_db", "express_loss_db", "add_drop_osnr_db", "express_pdl_db", "power_w", "price_usd"),
    "accelerators": (
        "bf16_tflops",
        "fp8_tflops",
        "fp4_tflops",
        "hbm_gb",
        "hbm_tb_per_s",
        "scale_up_domain",
        "scale_up_gb_per_s",
        "nic_gbps",
        "all_in_w",
        "year",
    ),
    "models": ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "experts", "topk", "total_params_b"),
    "calibrations": (
        "gemm_efficiency",
        "memory_efficiency",
        "scale_up_efficiency",
        "scale_out_efficiency",
        "layer_us",
        "precision",
        "software_year",
    ),
}
"""Kind -> what its table shows; an entry on its own shows everything."""


def overview(kinds: Mapping[str, Mapping[str, Part]]) -> View:
    """Every kind with its entries."""
    columns = (text_column("kind", "kind"), number_column("entries", "entries"), text_column("ids", "ids", 30))
    rows = tuple((say(kind), Cell(str(len(parts)), len(parts)), say(", ".join(parts))) for kind, parts in kinds.items())
    note = "`dcplan catalog KIND` shows figures and sources, `dcplan catalog KIND ID` all of one entry."
    return View("catalog", "dcplan catalog", tables=(Table("kinds", "What ships", columns, rows, note=note),))


def listing(kind: str, parts: Mapping[str, Part]) -> View:
    """All entries of a kind, a line each; transponders have a line for each mode."""
    figures = FIGURES[kind]
    first = [Column("id", "id"), *([Column("mode", "mode")] if kind == "transponders" else [])]
    columns = (
        *first,
        *(_column(name, [getattr(part, name, None) for part in parts.values()]) for name in figures),
        text_column("confidence", "confidence"),
        Column("source", "source", wrap=20, footnote=True),
    )
    rows = [row for name, part in parts.items() for row in _rows(name, part, figures)]
    title = "1 entry" if len(parts) == 1 else f"{len(parts)} entries"
    table = Table(kind, title, columns, tuple(rows), note=LEGEND)
    return View("catalog", f"dcplan catalog {kind}", tables=(table,))


def _column(name: str, values: Sequence[Any]) -> Column:
    suffix = suffix_of(name)
    head = (name.removesuffix(f"_{suffix}") if suffix else name).replace("_", " ")
    return Column(name, head, unit_of(name) or "", right=not any(isinstance(value, str) for value in values))


def _rows(name: str, part: Part, figures: Sequence[str]) -> list[Row]:
    tail = (_confidence(part), say(part.source))
    modes: Mapping[str, Any] | None = getattr(part, "modes", None)
    if modes is None:
        return [(say(name), *(_brief(part, part, field, field) for field in figures), *tail)]
    return [
        (
            say(name),
            say(mode_name),
            *(
                _brief(part, mode if hasattr(mode, field) else part, field, f"modes.{mode_name}.{field}")
                for field in figures
            ),
            *tail,
        )
        for mode_name, mode in modes.items()
    ]


def _confidence(part: Part) -> Cell:
    tone: Tone = "warn" if part.confidence == "low" else ""
    return Cell(("~" if part.confidence == "low" else "") + part.confidence, part.confidence, tone)


def _figure(part: Part, owner: Any, field: str, path: str) -> Cell:
    value = getattr(owner, field)
    estimate = value is not None and (part.confidence == "low" or path in part.estimates or field in part.estimates)
    exact = value if isinstance(value, (str, int, float, bool)) else None
    return Cell(("~" if estimate else "") + _text(value), exact, "warn" if estimate else "")


def _brief(part: Part, owner: Any, field: str, path: str) -> Cell:
    """A figure in one cell: a table of points by the range of its values; a noise figure as it works out."""
    cell, value = _figure(part, owner, field, path), getattr(owner, field)
    if field == "nf_db" and (working := _working_nf_db(part)) is not None:
        low, high = min(working), max(working)
        return replace(cell, text=f"{low:.2g} to {high:.2g}")
    if not isinstance(value, tuple) or len(value) < 2 or not isinstance(value[0], tuple):
        return cell
    low, high = min(y for _, y in value), max(y for _, y in value)
    return replace(cell, text=("~" if cell.tone else "") + f"{low:g} to {high:g}")


def _working_nf_db(part: Part) -> list[float] | None:
    """Noise figures over the window of gain or input, where no table says them; none for a plain table [dB]."""
    from dcplan.catalog.parts import Amplifier
    from dcplan.optics.amplifier import noise_figure_db

    if not isinstance(part, Amplifier) or (part.osnr_cubic is None and part.raman is None):
        return None
    if (cubic := part.osnr_cubic) is not None:
        steps = range(math.ceil(cubic.input_min_dbm), math.floor(cubic.input_max_dbm) + 1)
        return [noise_figure_db(part, part.gain_max_db, float(level)) for level in steps]
    return [noise_figure_db(part, gain) for gain in (part.gain_min_db, part.gain_max_db)]


def _text(value: Any) -> str:
    """A figure as its source gives it, not rounded."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.10g}"
    if isinstance(value, int):
        return f"{value:,}" if value >= 10_000 else str(value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return ", ".join(f"{x:g}: {y:g}" for x, y in value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "–"
    return str(value)


def entry(kind: str, name: str, part: Part) -> View:
    """Everything about one entry."""
    columns = (
        Column("field", "field"),
        Column("value", "value", right=False, wrap=20),
        text_column("unit", "unit"),
        text_column("meaning", "meaning", 30),
    )
    fields = _fields(part, part, "")
    rows = tuple(sorted(fields, key=lambda row: row[0].text in _PROSE))  # figures first
    return View("catalog", f"{kind}: {name}", tables=(Table(kind, name, columns, rows, note=LEGEND),))


def _fields(part: Part, owner: Any, prefix: str) -> list[Row]:
    rows: list[Row] = []
    for field, info in type(owner).model_fields.items():
        value = getattr(owner, field)
        if field == "modes":
            for mode, item in value.items():
                rows += _fields(part, item, f"modes.{mode}.")
        elif hasattr(type(value), "model_fields"):
            rows += _fields(part, value, f"{field}.")
        else:
            cell = _prose(part, field) if field in _PROSE else _figure(part, owner, field, prefix + field)
            meaning = " ".join((info.description or "").split())
            rows.append((say(prefix + field), cell, say(unit_of(field) or ""), say(meaning)))
    return rows


def _prose(part: Part, field: str) -> Cell:
    return _confidence(part) if field == "confidence" else say(_text(getattr(part, field)))


_PROSE = frozenset({"source", "note", "confidence", "estimates", "price_source"})


def json(kinds: Mapping[str, Mapping[str, Part]]) -> str:
    """Entries as JSON: format, then kind -> id -> every field, unrounded."""
    shown = {
        kind: {name: part.model_dump(mode="json") for name, part in parts.items()} for kind, parts in kinds.items()
    }
    return jsonlib.dumps({"format": FORMAT, **shown}, indent=1, ensure_ascii=False) + "\n"
