"""Reads GNPy's topology and equipment into the text of a topology file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dcplan.geo import great_circle_km
from dcplan.interop.gnpy.amplifiers import NOTHING, Library, amplifiers, used
from dcplan.interop.gnpy.entry import Entry, read
from dcplan.interop.gnpy.fold import amplifiers_of, fold, silent_in
from dcplan.interop.gnpy.glass import Types
from dcplan.interop.gnpy.joints import Joints, joints_of
from dcplan.interop.gnpy.launch import Spectrum, launch_dbm, target_dbm, uneven
from dcplan.interop.gnpy.modes import transponders
from dcplan.interop.gnpy.oms import graph_of
from dcplan.interop.gnpy.section import LONGEST_KM, Defaults, Walker
from dcplan.interop.gnpy.terminals import equipment
from dcplan.interop.imported import SCHEMA, Imported
from dcplan.interop.text import yaml_text
from dcplan.model.rules.geography import DETOUR, DETOUR_KM, ROUNDING_KM, SPHERE_ERROR
from dcplan.optics.loading import GIVEN_FOR_GHZ
from dcplan.units import db

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dcplan.interop.gnpy.fold import Cable
    from dcplan.interop.gnpy.oms import Graph, Oms, Place
    from dcplan.interop.gnpy.section import Section


@dataclass(frozen=True, slots=True)
class _Source:
    topology: Entry
    library: Entry
    amplifiers: Library
    spectrum: Spectrum
    tx_osnr_db: float | None
    defaults: Defaults
    span: Entry
    si: Entry


def bring(topology: Path, equipment_file: Path) -> Imported:
    """A topology file from GNPy's topology and equipment, and what of them it does not say.

    Each pair of sections there and back becomes a fiber with its spans and amplifiers; ROADMs become terminal gear;
    transceivers become own transponders; SI and Span blocks become policy, band and launch. UsageError where a file
    is none of GNPy's or contradicts itself.
    """
    source = _source(topology, equipment_file)
    graph = graph_of(source.topology)
    notes = [*graph.notes]
    sections = [found for oms in graph.sections if (found := _section(graph, oms, source, notes)) is not None]
    cables, unlike = fold(sections, _noisier(source.amplifiers))
    notes += unlike
    placed = _placed(cables, source.amplifiers)
    wanted = {entry.text("type_variety") for entry in source.topology.list("elements")} | placed.keys()
    notes += [note for name, note in source.amplifiers.notes if name in wanted]
    joints = joints_of(cables, source.defaults)
    notes += joints.notes
    types = Types(cables, {entry.text("type_variety"): entry for entry in source.library.list("Fiber")})
    notes += types.notes
    varieties = {entry.text("type_variety") or "default": entry for entry in source.library.list("Roadm")}
    terminals, differ = equipment(graph.places, varieties, cables, source.spectrum)
    notes += differ
    parts, unsaid = transponders(source.library, source.spectrum, source.tx_osnr_db)
    notes += unsaid
    if silent := silent_in(cables):
        notes.append(
            f"{NOTHING}: GNPy has no amplifier in places of {', '.join(silent)}; one without noise or cost stands there"
        )
    if split := sum(1 for cable in cables if cable.there.split):
        longest = f"{source.defaults.max_km:g} km"
        notes.append(f"in {split} of {len(cables)} lines fibers from {longest} on are cut near 90 km, as GNPy does")
    if any(cable.launch_dbm is None for cable in cables):
        notes.append("where GNPy would design the launch power, dcplan launches at the optimum of the line")
    elif cables:
        notes.append(
            f"launch is that of a {source.spectrum.spacing_ghz:g} GHz channel; GNPy gives modes of other widths the "
            "same power, dcplan the same power density"
        )
    band, unlit = _band(source, placed)
    if unlit:
        notes.append(f"{unlit} channels of the SI block are left out: they lie outside the amplifiers' spectrum")
    data: dict[str, Any] = {
        "dcplan": 1,
        "name": (source.topology.text("network_name") or topology.stem)[:80],
        "description": f"Imported from GNPy: {topology.name} with {equipment_file.name}.",
        "sites": _sites(graph.places, cables),
        "fibers": {cable.name: _fiber(cable, joints, types, source.spectrum) for cable in cables},
        "gear": _gear(source, placed, types, terminals, parts, band),
        "policy": _policy(source, joints),
    }
    text = yaml_text({key: value for key, value in data.items() if value != {}}, _excuses(graph.places, cables))
    return Imported(f"{SCHEMA}{text}", tuple(dict.fromkeys(notes)))


def _source(topology: Path, equipment_file: Path) -> _Source:
    library = read(equipment_file, "SI")
    span = next(library.list("Span"), Entry({}, "Span"))
    si = next(library.list("SI"), Entry({}, "SI"))
    power, tx = si.level("power_dbm"), si.level("tx_power_dbm")
    spectrum = Spectrum(
        power_dbm=power or 0.0,
        tx_dbm=(power or 0.0) if tx is None else tx,
        baud_gbd=(si.positive("baud_rate") or 32e9) * 1e-9,
        spacing_ghz=(si.positive("spacing") or 50e9) * 1e-9,
        power_mode=span.get("power_mode") is not False,
    )
    extended = span.level("target_extended_gain")
    longest = span.positive("max_length")
    return _Source(
        topology=read(topology, "elements"),
        library=library,
        amplifiers=amplifiers(library, equipment_file.parent, 2.5 if extended is None else extended),
        spectrum=spectrum,
        tx_osnr_db=si.level("tx_osnr"),
        defaults=Defaults(
            span.level("con_in") or 0.0,
            span.level("con_out") or 0.0,
            span.level("EOL") or 0.0,
            LONGEST_KM if longest is None else longest,
        ),
        span=span,
        si=si,
    )


def _section(graph: Graph, oms: Oms, source: _Source, notes: list[str]) -> Section | None:
    place = {one.name: one for one in graph.places}
    start, end = place[oms.start], place[oms.end]
    names = dict(source.amplifiers.names)
    walker = Walker(oms, source.defaults, names, from_roadm=start.roadm is not None, to_roadm=end.roadm is not None)
    section = walker.read()
    notes += walker.notes
    if section is None:
        return None
    arriving = source.spectrum.tx_dbm
    if start.roadm is not None:
        varieties = {entry.text("type_variety") or "default": entry for entry in source.library.list("Roadm")}
        variety = varieties.get(start.roadm.text("type_variety") or "default", Entry({}, "Roadm"))
        arriving = target_dbm(start.roadm, variety, oms.first, source.spectrum)
    launch = launch_dbm(oms, arriving, source.spectrum)
    if launch is not None and section.booster is None:
        launch = None  # GNPy puts a booster there
    if launch is not None:
        notes += uneven(oms, section.spans, launch, source.spectrum)
    return replace(section, launch_dbm=launch)


def _noisier(library: Library) -> Any:
    def noise(name: str) -> float:
        points = library.parts.get(name, {}).get("nf_db")
        return -1e9 if name == NOTHING else max(figure for _, figure in points) if points else 1e9

    return lambda a, b: max((a, b), key=noise)


def _sites(places: tuple[Place, ...], cables: list[Cable]) -> dict[str, Any]:
    ends: dict[str, int] = {}
    for cable in cables:
        for end in cable.ends:
            ends[end] = ends.get(end, 0) + 1
    return {
        place.name: {
            "lat": round(place.lat, 6),
            "lon": round(place.lon, 6),
            **({"express": False} if place.roadm is None and ends.get(place.name, 0) > 1 else {}),
        }
        for place in places
    }


def _fiber(cable: Cable, joints: Joints, types: Types, spectrum: Spectrum) -> dict[str, Any]:
    kinds = [types.of(span) for span in cable.spans]
    usual = max(dict.fromkeys(kinds), key=kinds.count)
    spans = []
    for span, kind in zip(cable.spans, kinds, strict=True):
        data: dict[str, Any] = {"length_km": round(span.length_km, 6)}
        loss = joints.fiber_loss_db(span)
        if abs(loss - types.attenuation_db_per_km(span) * span.length_km) > 1e-6:
            data["loss_db"] = round(max(loss, 1e-3), 6)
        if kind != usual:
            data["type"] = kind
        if span.amplifier is not None:
            data["amplifier"] = span.amplifier
        spans.append(data)
    launch = cable.launch_dbm
    scaled = None if launch is None else round(launch - db(spectrum.spacing_ghz / GIVEN_FOR_GHZ), 6)
    given = {"booster": cable.booster, "preamp": cable.preamp, "launch_dbm": scaled}
    return {
        "ends": list(cable.ends),
        "type": usual,
        "spans": spans,
        **{key: value for key, value in given.items() if value is not None},
        "pairs": 1,
    }


def _placed(cables: list[Cable], library: Library) -> dict[str, dict[str, Any]]:
    """Amplifiers that stand somewhere and, where a place is open, those that GNPy may put there."""
    named = {name for cable in cables for name in amplifiers_of(cable)}
    return used(library, named | set(library.design if _is_open(cables) else ()))


def _is_open(cables: list[Cable]) -> bool:
    """Some place has no amplifier yet."""
    return any(
        None in (cable.booster, cable.preamp, *(span.amplifier for span in cable.spans if len(cable.spans) > 1))
        for cable in cables
    )


def _band(source: _Source, placed: Iterable[str]) -> tuple[tuple[float, float], int]:
    """Edges of the channels of the SI block that all amplifiers amplify [THz], and how many others there are."""
    spacing = source.spectrum.spacing_ghz * 1e-3
    first, last = (source.si.positive("f_min") or 191.35e12) * 1e-12, (source.si.positive("f_max") or 196.1e12) * 1e-12
    asked = [first + number * spacing for number in range(int((last - first) / spacing + 1e-6) + 1)]
    spectra = [source.amplifiers.spectra[name] for name in placed if name in source.amplifiers.spectra]
    least = max((start for start, _ in spectra), default=0.0)
    most = min((end for _, end in spectra), default=1e3)
    half = spacing / 2
    lit = [one for one in asked if one - half >= least - 1e-9 and one + half <= most + 1e-9] or asked
    return (lit[0] - half, lit[-1] + half), len(asked) - len(lit)


def _gear(
    source: _Source,
    own: dict[str, dict[str, Any]],
    types: Types,
    terminals: dict[str, Any],
    parts: dict[str, Any],
    band: tuple[float, float],
) -> dict[str, Any]:
    design = [name for name in source.amplifiers.design if name in own]
    plannable = [name for name, part in parts.items() if any("required_osnr_db" in m for m in part["modes"].values())]
    allow = {
        **({"transponders": plannable} if plannable else {}),
        **({"amplifiers": design} if design else {}),
    }
    return {
        **({"allow": allow} if allow else {}),
        "band_start_thz": round(band[0], 9),
        "band_end_thz": round(band[1], 9),
        **({"fibers": types.own} if types.own else {}),
        **({"amplifiers": own} if own else {}),
        **({"transponders": {name: parts[name] for name in plannable}} if plannable else {}),
        "equipment": terminals,
    }


def _policy(source: _Source, joints: Joints) -> dict[str, Any]:
    padding = source.span.level("padding")
    return {
        "margin_db": source.si.level("sys_margins") or 0.0,
        "ageing_db": 0.0,
        "connector_db": round(joints.connector_db, 6),
        "repair_db_per_span": round(joints.repair_db, 6),
        "min_span_loss_db": 10.0 if padding is None else padding,
    }


def _excuses(places: tuple[Place, ...], cables: list[Cable]) -> dict[tuple[str | int, ...], str]:
    """Comments for fibers that do not fit the map: GNPy's coordinates are often those of a drawing."""
    at = {place.name: (place.lat, place.lon) for place in places}
    found: dict[tuple[str | int, ...], str] = {}
    for cable in cables:
        line = great_circle_km(*at[cable.ends[0]], *at[cable.ends[1]])
        length = sum(round(span.length_km, 6) for span in cable.spans)
        short = length < line * (1 - SPHERE_ERROR) - ROUNDING_KM
        if short or (length > line * DETOUR and length > line + DETOUR_KM):
            code = "DCP301" if short else "DCP302"
            found["fibers", cable.name, "spans"] = (
                f"dcplan: ignore[{code}] coordinates as in GNPy, where they place icons"
            )
    return found
