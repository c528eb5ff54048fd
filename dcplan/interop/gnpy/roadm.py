"""A site as GNPy's ROADM: target powers, and noise, PMD and PDL of each way through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.interop.gnpy.boost import ADDED, passing
from dcplan.optics.allowed import terminal
from dcplan.units import db, from_db

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.catalog.parts import Equipment
    from dcplan.interop.gnpy.boost import Boost, WayId
    from dcplan.model.network import Network, SiteId

NO_NOISE_DB = 100.0
"""Add and drop OSNR of a ROADM that has none; GNPy asks for a figure [dB]."""


def trx(site: SiteId) -> str:
    """Name of the transceivers of a site."""
    return f"trx {site}"


def roadm(site: SiteId) -> str:
    """Name of the ROADM of a site."""
    return f"roadm {site}"


def booster(key: WayId) -> str:
    """Name of the booster of a way."""
    return f"booster {key[0]} at {key[1]}"


def sites(
    network: Network, boost: Mapping[WayId, Boost], last: Mapping[WayId, str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, str]]]:
    """Elements, equipment and connections of all sites.

    `last`: the element by which each way enters its far site.
    """
    elements: list[dict[str, Any]] = []
    library: list[dict[str, Any]] = []
    connections: list[dict[str, str]] = []
    for site, about in network.sites.items():
        leaving = [key for key in boost if key[1] == site]
        arriving = [key for key in boost if key[0] in {fiber for fiber, _ in leaving} and key[1] != site]
        place = {"location": {"city": site, "region": "", "latitude": about.lat, "longitude": about.lon}}
        variety, params, entry = _roadm(network, site, boost, last, leaving, arriving)
        library.append(entry)
        elements += [
            {"uid": trx(site), "type": "Transceiver", "metadata": place},
            {"uid": roadm(site), "type": "Roadm", "type_variety": variety, "params": params, "metadata": place},
        ]
        connections += [_join(trx(site), roadm(site)), _join(roadm(site), trx(site))]
        connections += [_join(roadm(site), booster(key)) for key in leaving]
        connections += [_join(last[key], roadm(site)) for key in arriving]
    return elements, library, connections


def _join(start: str, end: str) -> dict[str, str]:
    return {"from_node": start, "to_node": end}


def _roadm(
    network: Network,
    site: SiteId,
    boost: Mapping[WayId, Boost],
    last: Mapping[WayId, str],
    leaving: Sequence[WayId],
    arriving: Sequence[WayId],
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Variety, parameters of the element, entry of the library."""
    gear = terminal(network, site)[1]
    profiles: list[dict[str, Any]] = []
    ways: list[dict[str, Any]] = []

    def way(kind: str, start: str, end: str, noise: float, pdl_db: float) -> None:
        profile = _profile(kind, noise, pdl_db, gear)
        if profile not in profiles:
            profiles.append(profile)
        ways.append({"from_degree": start, "to_degree": end, "impairment_id": profiles.index(profile)})

    for key in leaving:
        extra = boost[key].extra_noise
        way("add", trx(site), booster(key), _noise(gear.add_drop_osnr_db) + extra[ADDED], gear.add_drop_pdl_db)
        for source in passing(network, key):
            if source in extra:
                noise = _noise(gear.express_osnr_db) + extra[source]
                way("express", last[source], booster(key), noise, gear.express_pdl_db)
    for key in arriving:
        way("drop", last[key], trx(site), _noise(gear.add_drop_osnr_db), gear.add_drop_pdl_db)
    drop_dbm = min((boost[key].launch_dbm for key in arriving), default=0.0) - gear.loss_db
    drop_dbm = round(drop_dbm, 4)
    params = {
        "target_pch_out_db": drop_dbm,
        "per_degree_pch_out_db": {booster(key): round(boost[key].input_dbm, 4) for key in leaving},
        "per_degree_impairments": ways,
        "restrictions": {"preamp_variety_list": [], "booster_variety_list": []},
    }
    variety = f"{terminal(network, site)[0]} of {site}"
    entry = {
        "type_variety": variety,
        "target_pch_out_db": drop_dbm,
        "add_drop_osnr": NO_NOISE_DB,
        "pmd": 0,
        "pdl": 0,
        "restrictions": {"preamp_variety_list": [], "booster_variety_list": []},
        "roadm-path-impairments": [
            {"roadm-path-impairments-id": number, **profile} for number, profile in enumerate(profiles)
        ],
    }
    return variety, params, entry


def _noise(osnr_db: float | None) -> float:
    return 0.0 if osnr_db is None else from_db(-osnr_db)


def _profile(kind: str, noise: float, pdl_db: float, gear: Equipment) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "frequency-range": {"lower-frequency": 100e12, "upper-frequency": 300e12},
        "roadm-pmd": gear.pass_pmd_ps * 1e-12,
        "roadm-cd": gear.pass_dispersion_ps_nm,
        "roadm-pdl": pdl_db,
        "roadm-maxloss": 0,
    }
    if noise > 0:
        figures["roadm-osnr"] = round(-db(noise), 4)
    return {f"roadm-{kind}-path": [figures]}
