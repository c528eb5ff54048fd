"""Makes a topology of circuits from an instance of SNDlib, which `dcplan plan` solves as the problem that was named."""

from __future__ import annotations

from math import ceil, fsum, isfinite
from typing import TYPE_CHECKING, Any

from dcplan.errors import UsageError
from dcplan.geo import great_circle_km
from dcplan.interop.imported import LONGEST, SCHEMA, Imported, names_for
from dcplan.interop.place import are_degrees, placed
from dcplan.interop.sndlib import native, xml
from dcplan.interop.sndlib.instance import whole
from dcplan.interop.sndlib.lost import notes
from dcplan.interop.sndlib.model import DEFAULT, model_of
from dcplan.interop.sndlib.unit import scale_of
from dcplan.interop.text import yaml_text
from dcplan.model.network import pair

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dcplan.interop.place import Place
    from dcplan.interop.sndlib.instance import Demand, Instance, Link
    from dcplan.interop.sndlib.model import Model
    from dcplan.interop.sndlib.unit import Scale

LEAST_KM = 0.1


def bring(file: Path, asked: str | None) -> Imported:
    """A topology file from a network file of SNDlib, native or XML, and what of it does not cross over.

    asked: the problem, as U-U-M-N-C-A-N-U. Costs become US$; rates Gb/s, one to one where the file names no unit.
    UsageError where the file is no network of SNDlib, or where dcplan cannot plan the problem, letter by letter.
    """
    instance = read(file)
    model = model_of(asked or DEFAULT, instance)
    scale = scale_of(instance)
    sites = names_for(node.id for node in instance.nodes)
    places = {sites[node.id]: node.place and (node.place[1], node.place[0]) for node in instance.nodes}
    degrees = instance.geographic is not False and are_degrees(places)
    spots = {name: place for name, place in places.items() if place} if degrees else placed(places)
    links = [link for link in instance.links if is_usable(link)]
    if not links:
        raise UsageError(f"{file}: no link joins two nodes and has capacity")
    names = names_for(link.id for link in links)
    data: dict[str, Any] = {
        "dcplan": 1,
        "name": instance.name[:LONGEST] or "SNDlib",
        "description": f"Imported from SNDlib: {file.name}, problem {model.name}. {scale.said} Costs are the file's.",
        "sites": {name: {"lat": lat, "lon": lon} for name, (lat, lon) in spots.items()},
        "circuits": {
            names[link.id]: {
                "ends": [sites[end] for end in link.ends],
                **_latency([spots[sites[end]] for end in link.ends] if degrees else None),
                **_capacity(link, model, scale),
            }
            for link in links
        },
        "demands": _demands(instance, model, scale, sites),
        "policy": {"scheme": "none"} if model.scheme == "none" else {"survive": ["any-fiber"], "scheme": model.scheme},
    }
    said = notes(instance, model, scale, by_default=asked is None, degrees=degrees)
    return Imported(f"{SCHEMA}# {scale.said}\n{yaml_text(data)}", tuple(dict.fromkeys(said)))


def read(file: Path) -> Instance:
    """A network file of SNDlib. UsageError where it cannot be read or is none."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from error
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return whole(xml.parse(data, str(file), file.stem), str(file))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # what the XML files of the library state
    return whole(native.parse(text, str(file), file.stem), str(file))


def is_usable(link: Link) -> bool:
    """It joins two nodes and has, or can have, capacity."""
    return link.ends[0] != link.ends[1] and bool(link.modules or link.existing.capacity)


def _latency(ends: list[Place] | None) -> dict[str, float]:
    """The great circle, rounded up; latency is left out where the places are not on Earth."""
    if ends is None:
        return {"latency_ms": 0.0}
    (lat, lon), (other_lat, other_lon) = ends
    return {"length_km": max(LEAST_KM, ceil(10 * great_circle_km(lat, lon, other_lat, other_lon)) / 10)}


def _capacity(link: Link, model: Model, scale: Scale) -> dict[str, Any]:
    modules: dict[str, dict[str, float]] = {}
    for module in sorted(link.modules, key=lambda module: (module.capacity, module.cost)):
        gbps = scale.gbps(module.capacity) if isfinite(module.capacity) else scale.all_gbps
        modules.setdefault(f"{module.capacity:.10g}", {"gbps": gbps, "usd": module.cost})
    return {
        **({"modules": modules} if modules else {}),
        **({"pick": "one"} if model.one and modules else {}),
        **({"existing_gbps": scale.gbps(link.existing.capacity)} if link.existing.capacity else {}),
        **({"usd_per_gbps": scale.per_gbps(link.routing_cost)} if model.priced and link.routing_cost else {}),
        **({"build_usd": link.setup_cost} if model.setup and link.setup_cost and modules else {}),
    }


def _demands(instance: Instance, model: Model, scale: Scale, sites: Mapping[str, str]) -> dict[str, Any]:
    """Demands of either direction between the same nodes, added up under the name of the first.

    Where each takes a single path they stay apart: added up, they would have to take the same.
    """
    together: dict[tuple[str, ...], list[Demand]] = {}
    for demand in instance.demands:
        ends = pair(*demand.ends)
        if demand.ends[0] != demand.ends[1] and demand.value:
            together.setdefault((*ends, demand.id) if model.single else ends, []).append(demand)
    names = names_for(each[0].id for each in together.values())
    return {
        names[each[0].id]: {
            "between": [sites[end] for end in pair(*each[0].ends)],
            "gbps": scale.gbps(fsum(demand.value for demand in each)),
            **({"max_paths": 1} if model.single else {}),
        }
        for each in together.values()
    }
