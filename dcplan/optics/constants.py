"""What `dcplan explain` says of constants and formulas of optics: each is named here once, and read where it stands.

Value, unit and formula come from the code: a module's constant with the docstring below it, a function's docstring, or
a field of the topology file with its default. Only what the code does not say, source and confidence, is said here.
"""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dcplan.units import unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping

GNPY = "GNPy 3.0.1, "
MEMORY = "from memory, no source read: "


@dataclass(frozen=True, slots=True)
class Constant:
    """A name for something in the code, with where its figure comes from."""

    name: str
    where: str
    """module:name or module:class.field, below `dcplan`."""
    confidence: str
    """As in the catalog: high, medium, low."""
    source: str = ""
    """Empty where the docstring ends in `Source: …`."""
    about: str = ""
    """Of a formula, what it gives."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A constant or formula as a reader sees it."""

    name: str
    value: str
    """Empty for a formula."""
    unit: str
    meaning: str
    """What it is, with its formula and symbols."""
    source: str
    confidence: str
    where: str
    """Where it stands: a key of the topology file, or a name in the code."""
    about: str = ""
    """Of a formula, what it gives, in a few words."""


CONSTANTS = (
    # what the topology file may say otherwise
    Constant("connector-loss", "model.schema:Policy.connector_db", "medium", GNPY + "con_in and con_out; TIA-568"),
    Constant("repair-allowance", "model.schema:Policy.repair_db_per_span", "low", MEMORY + "0 to 3 dB are usual"),
    Constant("system-margin", "model.schema:Policy.margin_db", "high", GNPY + "eqpt_config.json, sys_margins"),
    Constant("ageing", "model.schema:Policy.ageing_db", "low", MEMORY + "begin to end of life of a transponder"),
    Constant("ripple", "model.schema:Policy.ripple_db_per_span", "low", "no published figure: 0 unless the file says"),
    Constant(
        "equalisation", "model.schema:Policy.equalisation_db_per_line", "low", "no published figure: 0 unless stated"
    ),
    Constant("span-length", "model.schema:Policy.max_span_km", "high", "Meta, ILA Evo 2025: huts 50 to 60 miles apart"),
    Constant("span-loss", "model.schema:Policy.max_span_loss_db", "high", "OpenROADM 6.0: largest gain 27 dB"),
    Constant("span-padding", "model.schema:Policy.min_span_loss_db", "high", GNPY + "Span, padding 10 dB"),
    Constant("span-split", "model.schema:Policy.span_split", "high", GNPY + "core/network.py, calculate_new_length"),
    Constant("guard-band", "model.schema:Policy.guard_ghz", "high", "what the file asks; slots of ITU-T G.694.1"),
    Constant("spectral-load", "model.schema:Policy.load_percent", "high", GNPY + "every request at full load"),
    Constant("transmit-power", "catalog.parts:Mode.tx_dbm", "medium", "OIF-400ZR-01.0 as given by data sheets"),
    Constant("roll-off", "catalog.parts:Mode.roll_off", "high", GNPY + "SI roll_off"),
    Constant("transponder-latency", "catalog.parts:Transponder.latency_us", "low", "derived from the oFEC window"),
    Constant("pmd-coefficient", "catalog.parts:FiberType.pmd_ps_sqrt_km", "high", GNPY + "1.265e-15 s/sqrt(m)"),
    # fixed in the code
    Constant("osnr-bandwidth", "units:NOISE_BANDWIDTH_GHZ", "high", "usual reference of every OSNR; GNPy too"),
    Constant("speed-of-light", "units:LIGHT_M_PER_S", "high", "exact by definition of the metre"),
    Constant("planck", "units:PLANCK_J_S", "high", "exact by definition of the kilogram"),
    Constant("n2", "optics.fiber:NONLINEAR_INDEX_M2_PER_W", "high", GNPY + "core/parameters.py"),
    Constant("wavelength", "optics.fiber:WAVELENGTH_M", "high", GNPY + "core/parameters.py"),
    Constant("amplifier-latency", "optics.amplifier:LATENCY_MS", "medium", "Huawei forum 681393"),
    Constant("node-latency", "optics.journey:NODE_LATENCY_MS", "low", "estimate: passive optics and patch cords"),
    Constant("raman-slope", "optics.raman:SLOPE_PER_W_KM_THZ", "medium", MEMORY + "agrees with GNPy's solver"),
    Constant("raman-slope-gamma", "optics.raman:SLOPE_GAMMA_PER_W_KM", "medium", MEMORY + "Semrau, JLT 37(9), 2019"),
    Constant("raman-from", "optics.tilt:WIDE_GHZ", "high", "measured against GNPy: 0.06 dB of GSNR in 4.8 THz"),
    Constant("least-beta2", "optics.fiber:LEAST_BETA2_S2_PER_M", "high", "numerical: the limit is reached"),
    Constant("given-launch-width", "optics.loading:GIVEN_FOR_GHZ", "high", "convention of the topology file"),
    Constant("openroadm-width", "optics.amplifier:MEASURED_IN_GHZ", "high", GNPY + "core/elements.py, openroadm"),
    Constant("reference-width", "optics.line:REFERENCE_WIDTH_GHZ", "high", "OpenROADM 6.0, 400G at 63.1 GBd"),
    Constant("reference-baud", "optics.line:REFERENCE_BAUD_GBD", "high", "OpenROADM 6.0, 400G at 63.1 GBd"),
    Constant("reference-transmit", "optics.line:REFERENCE_TRANSMIT_DBM", "medium", "400ZR, as given by data sheets"),
    Constant("gnpy-target", "optics.spans:GNPY_TARGET_KM", "high", GNPY + "core/network.py"),
    Constant("gnpy-longest", "optics.spans:GNPY_LONGEST_KM", "high", GNPY + "core/network.py"),
    Constant("solid-index", "optics.hollow:SOLID_INDEX", "high", GNPY + "core/parameters.py, n1"),
    Constant("osnr-rounding", "optics.unamplified:ROUNDING_DB", "medium", "data sheets quote whole decibels"),
    Constant("grid-anchor", "model.grid:ANCHOR_THZ", "high", "ITU-T G.694.1"),
    Constant("grid-step", "model.grid:STEP_GHZ", "high", "ITU-T G.694.1"),
    Constant("grid-slot", "model.grid:SLOT_GHZ", "high", "ITU-T G.694.1"),
    # formulas
    Constant("gsnr", "optics.lightpath:evaluate", "high", about="all noise of a lightpath, its worst channel"),
    Constant(
        "margin",
        "optics.penalty:judge",
        "high",
        GNPY + "core/elements.py, Transceiver",
        about="what GSNR leaves above requirement, penalties, reserves",
    ),
    Constant(
        "penalty", "optics.penalty:penalty_db", "high", about="dispersion, PMD and PDL by table, infinite beyond it"
    ),
    Constant(
        "launch",
        "optics.loading:load",
        "high",
        "P_ASE = 2 P_NLI: Poggiolini, arXiv:1209.0394",
        about="power per channel: optimum, given, or clipped",
    ),
    Constant(
        "optimum",
        "optics.nonlinear:optimum_w",
        "high",
        "Poggiolini, arXiv:1209.0394",
        about="launch at which ASE = 2 NLI",
    ),
    Constant(
        "osnr",
        "optics.walk:noise_along",
        "high",
        GNPY + "core/elements.py, Edfa: NF h f B G",
        about="amplifier noise along a route",
    ),
    Constant("ase", "optics.amplifier:ase_w", "high", GNPY + "core/elements.py, Edfa", about="noise of one amplifier"),
    Constant(
        "noise-figure", "optics.amplifier:noise_figure_db", "high", about="by gain or input power, Raman in front"
    ),
    Constant(
        "amplifier-choice",
        "optics.amplifier:choose",
        "high",
        "dcplan's own rule, after GNPy's lowest noise figure",
        about="which amplifier stands where",
    ),
    Constant("gn", "optics.nonlinear:interaction", "high", about="Gaussian noise model, incoherent, closed form"),
    Constant(
        "nli",
        "optics.nonlinear:span_nli_per_w2",
        "high",
        "Poggiolini, arXiv:1209.0394",
        about="nonlinear noise of a span",
    ),
    Constant("gamma", "optics.fiber:gamma_per_w_m", "high", about="nonlinear coefficient of a fiber"),
    Constant(
        "beta2",
        "optics.fiber:beta2_s2_per_m",
        "high",
        "textbook; GNPy core/parameters.py",
        about="group velocity dispersion",
    ),
    Constant(
        "effective-length",
        "optics.fiber:effective_length_m",
        "high",
        "textbook; GNPy core/parameters.py",
        about="length over which nonlinearity acts",
    ),
    Constant(
        "span-attenuation",
        "optics.fiber:span_attenuation_db_per_km",
        "high",
        "dcplan's own rule, the worse case",
        about="attenuation that nonlinearity sees",
    ),
    Constant(
        "group-index",
        "model.network:Network.fiber_latency_ms",
        "high",
        GNPY + "core/parameters.py, n1 = 1.468",
        about="latency of light in fiber",
    ),
    Constant(
        "spans",
        "optics.spans:spans_of",
        "high",
        "dcplan's own rule; limits as in `span-length`, `span-loss`",
        about="how a fiber is split",
    ),
    Constant("raman-tilt", "optics.raman:excess_loss_db", "high", about="what channels lose to lower ones"),
    Constant(
        "full-load",
        "optics.nonlinear:full_load",
        "high",
        "OIF 400ZR grid: 64 channels of 75 GHz in 4.8 THz",
        about="channels that fill a band",
    ),
)
"""Everything that has a name here, in the order of the list that `dcplan explain` prints."""


def explained(constant: Constant) -> Explained:
    """What a reader sees of a constant. AttributeError when the code no longer has it."""
    module, _, path = constant.where.partition(":")
    home = import_module(f"dcplan.{module}")
    owner, _, field = path.rpartition(".")
    holder: Any = getattr(home, owner) if owner else home
    if owner and field in getattr(holder, "model_fields", {}):
        info = holder.model_fields[field]
        key = f"policy.{field}" if owner == "Policy" else f"{owner} {field}"
        return _explained(constant, str(info.description), _shown(info.default), unit_of(field), key)
    found = getattr(holder, field or path)
    if callable(found):
        return _explained(constant, str(found.__doc__), "", None, f"dcplan.{module}.{path}")
    docs = _docstrings(inspect.getsource(home))
    return _explained(constant, docs.get(path, ""), _shown(found), None, f"dcplan.{module}.{path}")


def _explained(constant: Constant, text: str, value: str, unit: str | None, where: str) -> Explained:
    """Docstring taken apart: the unit in its first brackets, the source behind `Source:`."""
    meaning, _, source = inspect.cleandoc(text).partition("Source:")
    bracket = re.search(r"\[([^\]]+)\]", meaning.partition("\n\n")[0])
    return Explained(
        name=constant.name,
        value=value,
        unit=unit or (bracket[1] if bracket else unit_of(constant.where.rpartition(":")[2].lower()) or ""),
        meaning=meaning.strip(),
        source=constant.source or " ".join(source.split()).rstrip("."),
        confidence=constant.confidence,
        where=where,
        about=constant.about,
    )


def _shown(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


@cache
def _docstrings(source: str) -> Mapping[str, str]:
    """The docstring below each constant of a module; below several in a row it is that of all."""
    found: dict[str, str] = {}
    names: list[str] = []
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
            case ast.Expr(value=ast.Constant(value=str(text))):
                found |= dict.fromkeys(names, text)
                names = []
            case _:
                names = []
    return found
