"""GNPy's graph of elements as sites and the lines between them, one direction each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.interop.gnpy.entry import Entry

ENDS = ("Roadm", "Transceiver")
BETWEEN = ("Fiber", "RamanFiber", "Edfa", "Multiband_amplifier", "Fused")


@dataclass(frozen=True, slots=True)
class Place:
    """A site: a ROADM with its transceivers, or transceivers alone."""

    name: str
    uid: str
    """Of its ROADM; of its transceiver where it has none."""
    roadm: Entry | None
    lat: float
    lon: float


@dataclass(frozen=True, slots=True)
class Oms:
    """An optical multiplex section: what stands between two sites, in the direction of travel."""

    start: str
    end: str
    """Names of the sites."""
    first: str
    last: str
    """Uids of the first and the last element: the degrees of the ROADMs."""
    elements: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """A GNPy topology."""

    places: tuple[Place, ...]
    sections: tuple[Oms, ...]
    notes: tuple[str, ...]


def graph_of(topology: Entry) -> Graph:
    """Sites and sections of a GNPy topology. UsageError where it contradicts itself."""
    elements = _elements(topology)
    after: dict[str, list[str]] = {uid: [] for uid in elements}
    for joint in topology.list("connections"):
        start, end = joint.text("from_node"), joint.text("to_node")
        for uid in (start, end):
            if uid not in elements:
                raise UsageError(f"{joint.where}: there is no element `{uid}`")
        after[start].append(end)
    notes: list[str] = []
    owner = _owners(elements, after)
    places = _places(elements, owner)
    sections = []
    for place in places:
        for uid in (uid for uid, home in owner.items() if home == place.uid):
            for first in after[uid]:
                if first in owner:
                    if owner[first] != place.uid:
                        notes.append(f"{uid} to {first} is left out: there is no fiber between them")
                    continue
                found = _walk(place.name, first, elements, after)
                if isinstance(found, str):
                    notes.append(found)
                    continue
                chain, end = found
                there = next(other.name for other in places if other.uid == owner[end])
                sections.append(Oms(place.name, there, first, chain[-1].text("uid"), tuple(chain)))
    used = {entry.text("uid") for section in sections for entry in section.elements} | set(owner)
    notes += [f"{uid} is left out: no site leads to it" for uid in elements if uid not in used]
    return Graph(places, tuple(sections), tuple(notes))


def _elements(topology: Entry) -> dict[str, Entry]:
    elements: dict[str, Entry] = {}
    for entry in topology.list("elements"):
        uid, kind = entry.text("uid"), entry.text("type")
        if not uid or kind not in (*ENDS, *BETWEEN):
            raise UsageError(f"{entry.where}: an element needs a `uid` and a `type` that GNPy knows, found `{kind}`")
        if uid in elements:
            raise UsageError(f"{entry.where}: stands there twice")
        elements[uid] = entry
    return elements


def _owners(elements: Mapping[str, Entry], after: Mapping[str, list[str]]) -> dict[str, str]:
    """The site of each ROADM and transceiver, by the uid that names it."""
    owner = {uid: uid for uid, entry in elements.items() if entry.text("type") == "Roadm"}
    homes = dict(owner)
    for start, ends in after.items():
        for end in ends:
            for one, other in ((start, end), (end, start)):
                if one in homes and elements[other].text("type") == "Transceiver":
                    owner.setdefault(other, one)
    for uid, entry in elements.items():
        if entry.text("type") == "Transceiver":
            owner.setdefault(uid, uid)
    return owner


def _places(elements: Mapping[str, Entry], owner: Mapping[str, str]) -> tuple[Place, ...]:
    uids = list(dict.fromkeys(owner.values()))
    cities = [elements[uid].map("metadata").map("location").text("city") for uid in uids]
    names: list[str] = []
    for uid, city in zip(uids, cities, strict=True):
        short = uid.removeprefix("roadm ").removeprefix("roadm_").removeprefix("trx ")
        name = city if city and cities.count(city) == 1 else short
        names.append(_free(name[:80], names))
    places = []
    for uid, name in zip(uids, names, strict=True):
        location = elements[uid].map("metadata").map("location")
        roadm = elements[uid] if elements[uid].text("type") == "Roadm" else None
        lat, lon = location.number("latitude") or 0.0, location.number("longitude") or 0.0
        if abs(lat) > 90 or abs(lon) > 180:
            lat, lon = 0.0, 0.0
        places.append(Place(name, uid, roadm, lat, lon))
    return tuple(places)


def _free(name: str, taken: list[str]) -> str:
    number, free = 2, name
    while free in taken:
        free, number = f"{name[:76]} {number}", number + 1
    return free


def _walk(
    start: str, first: str, elements: Mapping[str, Entry], after: Mapping[str, list[str]]
) -> tuple[list[Entry], str] | str:
    """The elements from a first one to a ROADM or transceiver, and that; or why there is no such chain."""
    chain, uid = [], first
    seen: set[str] = set()
    while elements[uid].text("type") not in ENDS:
        if uid in seen:
            return f"the line from {start} by {first} is left out: it runs in a circle"
        seen.add(uid)
        chain.append(elements[uid])
        ways = [other for other in after[uid] if other not in seen]
        if len(ways) != 1:
            why = "it ends" if not ways else "it branches"
            return f"the line from {start} by {first} is left out: {why} at {uid}"
        uid = ways[0]
    return chain, uid
