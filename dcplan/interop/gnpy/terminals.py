"""GNPy's ROADMs as the two kinds of terminal gear that dcplan knows: where light passes, and where it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.interop.gnpy.launch import target_dbm
from dcplan.interop.gnpy.roadm import NO_NOISE_DB
from dcplan.units import db, from_db

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dcplan.interop.gnpy.entry import Entry
    from dcplan.interop.gnpy.fold import Cable
    from dcplan.interop.gnpy.launch import Spectrum
    from dcplan.interop.gnpy.oms import Place

Figures = dict[str, float | None]
"""As in `gear.equipment`; OSNR none: without noise."""
_WORST: dict[str, Callable[[list[float]], float]] = {
    "loss_db": max,
    "express_loss_db": max,
    "add_drop_osnr_db": min,
    "express_osnr_db": min,
    "add_drop_pdl_db": max,
    "express_pdl_db": max,
    "pass_pmd_ps": max,
}


def equipment(
    places: Sequence[Place], varieties: Mapping[str, Entry], cables: Sequence[Cable], spectrum: Spectrum
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Own `roadm` and `mux`, with the worst figures of all sites of a kind, and where these differ."""
    neighbours: dict[str, set[str]] = {place.name: set() for place in places}
    for cable in cables:
        neighbours[cable.ends[0]].add(cable.ends[1])
        neighbours[cable.ends[1]].add(cable.ends[0])
    kinds: dict[str, list[Figures]] = {}
    for place in places:
        if not neighbours[place.name]:
            continue
        kind = "roadm" if place.roadm is not None and len(neighbours[place.name]) > 1 else "mux"
        kinds.setdefault(kind, []).extend(_figures(place, varieties, cables, spectrum, passes=kind == "roadm"))
    parts, notes = {}, []
    for kind, all_figures in kinds.items():
        part: dict[str, Any] = {}
        for key, worst in _WORST.items():
            values = [figures[key] for figures in all_figures if key in figures]
            known = [value for value in values if value is not None]
            if not known:
                continue
            part[key] = round(worst(known), 6)
            spread = max(known) - min(known)
            if spread > 0.01 or (len(known) < len(values) and key.endswith("osnr_db")):
                notes.append(f"{kind}: {key} differs from site to site by {spread:.2f}; the worst is kept for all")
        if kind == "mux":
            part.pop("express_loss_db", None)
        parts[kind] = {**part, "price_usd": 0.0, "source": "GNPy topology and equipment"}
    return parts, notes


def _figures(
    place: Place, varieties: Mapping[str, Entry], cables: Sequence[Cable], spectrum: Spectrum, *, passes: bool
) -> list[Figures]:
    """The figures of a site, degree by degree."""
    mine = [
        (out, into)
        for cable in cables
        for out, into in ((cable.there, cable.back), (cable.back, cable.there))
        if out.start == place.name and out.first
    ]
    if place.roadm is None:
        return [{"loss_db": 0.0, "add_drop_osnr_db": None, "add_drop_pdl_db": 0.0, "pass_pmd_ps": 0.0}]
    variety = varieties.get(place.roadm.text("type_variety") or "default")
    if variety is None:
        return []
    profiles = _Profiles(place.roadm, variety)
    found: list[Figures] = []
    for out, _ in mine:
        target = target_dbm(place.roadm, variety, out.first, spectrum)
        figures = profiles.add_and_drop(out.first)
        figures["loss_db"] = max(0.0, spectrum.tx_dbm - target)
        if passes:
            others = [into for other, into in mine if other is not out and into.last]
            for into in others:
                level = spectrum.power_dbm if into.launch_dbm is None else into.launch_dbm
                express = profiles.express(into.last, out.first)
                found.append({"express_loss_db": max(0.0, level - target), **express})
        found.append(figures)
    return found


class _Profiles:
    """Noise, PDL and PMD of the ways through a ROADM."""

    def __init__(self, roadm: Entry, variety: Entry) -> None:
        self.variety = variety
        self.params = roadm.map("params")
        self.by_id = {profile.number("roadm-path-impairments-id"): profile for profile in variety.list(_LIST)}
        self.by_way = {
            (way.text("from_degree"), way.text("to_degree")): self.by_id.get(way.number("impairment_id"))
            for way in self.params.list("per_degree_impairments")
        }

    def _profile(self, kind: str, start: str | None, end: str | None) -> Entry | None:
        """That of a way by its degrees (none: any), else the first of its kind."""
        key = f"roadm-{kind}-path"
        for (a, b), profile in self.by_way.items():
            fits = (start is None or a == start) and (end is None or b == end)
            if fits and profile is not None and profile.get(key) is not None:
                return next(profile.list(key), None)
        for profile in self.by_id.values():
            if profile.get(key) is not None:
                return next(profile.list(key), None)
        return None

    def add_and_drop(self, degree: str) -> Figures:
        """Of one add or drop, the noisier where they differ; GNPy's add_drop_osnr is that of both together."""
        whole = self.params.level("add_drop_osnr") or self.variety.level("add_drop_osnr") or NO_NOISE_DB
        noise, pdl, pmd = 0.0, 0.0, 0.0
        for kind, start, end in (("add", None, degree), ("drop", None, None)):
            profile = self._profile(kind, start, end)
            osnr = whole + db(2) if profile is None else profile.level("roadm-osnr")
            noise = max(noise, 0.0 if osnr is None or osnr >= NO_NOISE_DB else from_db(-osnr))
            entry = self.variety if profile is None else profile
            prefix = "" if profile is None else "roadm-"
            pdl = max(pdl, entry.number(f"{prefix}pdl") or 0.0)
            pmd = max(pmd, entry.number(f"{prefix}pmd") or 0.0)
        osnr_db = -db(noise) if noise > 0 else None
        return {"add_drop_osnr_db": osnr_db, "add_drop_pdl_db": pdl, "pass_pmd_ps": pmd * 1e12}

    def express(self, start: str, end: str) -> Figures:
        """Of light that passes."""
        profile = self._profile("express", start, end)
        if profile is None:
            return {
                "express_osnr_db": None,
                "express_pdl_db": self.variety.level("pdl") or 0.0,
                "pass_pmd_ps": (self.variety.number("pmd") or 0.0) * 1e12,
            }
        return {
            "express_osnr_db": profile.level("roadm-osnr"),
            "express_pdl_db": profile.level("roadm-pdl") or 0.0,
            "pass_pmd_ps": (profile.number("roadm-pmd") or 0.0) * 1e12,
        }


_LIST = "roadm-path-impairments"
