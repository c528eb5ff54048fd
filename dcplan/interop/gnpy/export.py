"""Writes a designed network for GNPy 3: the same comb, launch, spans and amplifiers, so that it gives the same GSNR."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dcplan.interop.exported import Exported
from dcplan.interop.gnpy.boost import boosts
from dcplan.interop.gnpy.library import Settings, fiber_entries, si, transceivers
from dcplan.interop.gnpy.lost import notes
from dcplan.interop.gnpy.roadm import booster, sites, trx
from dcplan.interop.gnpy.span import fiber_params, variety
from dcplan.optics.allowed import load_of
from dcplan.optics.amplifier import noise_figure_db, per_50_ghz_dbm
from dcplan.optics.budget import Line
from dcplan.optics.journey import ways_of
from dcplan.optics.lightpath import loads_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.catalog.parts import Mode
    from dcplan.interop.gnpy.boost import Boost, WayId
    from dcplan.model.network import FiberId, Network
    from dcplan.optics.budget import Lightpath
    from dcplan.optics.journey import Way
    from dcplan.optics.line import NoLine


def export(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    lightpaths: Sequence[Lightpath],
    named: tuple[str, str, Mode],
) -> Exported:
    """Topology, equipment and services for GNPy 3 under a full load of one mode (transponder, mode name, mode).

    Gains and noise figures are fixed to those of the design, so GNPy must run as the files say: gain mode, all
    amplifiers in place, channels from the SI block. `services.json` asks for every lightpath on which the mode closes.
    """
    transponder, name, mode = named
    whole = {fiber: line for fiber, line in lines.items() if isinstance(line, Line) and line.booster}
    ways = ways_of(network, whole)
    comb = load_of(network, mode)
    boost = boosts(network, ways, loads_of(network, list(ways.values()), comb), mode) if ways else {}
    settings = Settings(network)
    last: dict[WayId, str] = {}
    elements: list[dict[str, Any]] = []
    connections: list[dict[str, str]] = []
    for key, way in ways.items():
        chain = list(_chain(network, way, boost[key], settings, comb.width_ghz))
        names = [element["uid"] for element in chain]
        elements += chain
        connections += [{"from_node": a, "to_node": b} for a, b in pairwise(names)]
        last[key] = names[-1]
    nodes, varieties, joins = sites(network, boost, last)
    equipment = {
        "Edfa": settings.entries(comb),
        "Fiber": fiber_entries(network, whole.values()),
        "Span": [SPAN],
        "Roadm": varieties,
        "SI": [si(network, mode, comb)],
        "Transceiver": transceivers(network),
    }
    topology = {"network_name": network.topology.name, "elements": nodes + elements, "connections": joins + connections}
    services = {"path-request": list(_requests(lightpaths, transponder, name, mode, ways, last))}
    files = {"topology.json": topology, "eqpt_config.json": equipment, "services.json": services}
    text = {file: json.dumps(data, indent=1, ensure_ascii=False) + "\n" for file, data in files.items()}
    return Exported(text, tuple(notes(network, lines, boost, transponder, name)))


SPAN: dict[str, Any] = {
    "power_mode": False,
    "delta_power_range_db": [0, 0, 0],
    "max_fiber_lineic_loss_for_raman": 0.25,
    "target_extended_gain": 0,
    "max_length": 1000,
    "length_units": "km",
    "max_loss": 60,
    "padding": 0,
    "EOL": 0,
    "con_in": 0,
    "con_out": 0,
}
"""Nothing is left for GNPy to design: no fiber is split or padded, gains are those given."""


def _chain(network: Network, way: Way, boost: Boost, settings: Settings, width_ghz: float) -> Iterator[dict[str, Any]]:
    """Booster, spans and the amplifiers behind them, in the order of travel."""
    fiber, start = way.line.fiber, way.start
    far = next(end for end in network.fibers[fiber].ends if end != start)
    a, b = network.sites[start], network.sites[far]

    def place(share: float) -> dict[str, Any]:
        latitude, longitude = a.lat + share * (b.lat - a.lat), a.lon + share * (b.lon - a.lon)
        spot = {"city": "", "region": "", "latitude": round(latitude, 6), "longitude": round(longitude, 6)}
        return {"location": spot}

    def edfa(uid: str, setting: tuple[str, float, float], padding_db: float, share: float) -> dict[str, Any]:
        return {
            "uid": uid,
            "type": "Edfa",
            "type_variety": settings.variety(*setting),
            "operational": {
                "gain_target": round(setting[1], 4),
                "delta_p": None,
                "tilt_target": 0,
                "out_voa": 0,
                "in_voa": round(padding_db, 4),
            },
            "metadata": place(share),
        }

    setting = (boost.amplifier, boost.gain_db, boost.noise_figure_db)
    yield edfa(booster((fiber, start)), setting, boost.padding_db, 0.0)
    passed = 0.0
    for number, row in enumerate(way.rows, 1):
        middle = (passed + row.length_km / 2) / way.line.length_km
        passed += row.length_km
        yield {
            "uid": f"{fiber} span {number} from {start}",
            "type": "Fiber",
            "type_variety": variety(network, fiber, row),
            "params": fiber_params(network, fiber, row),
            "metadata": place(middle),
        }
        arriving = per_50_ghz_dbm(boost.launch_dbm - row.gain_db, width_ghz)
        figure = noise_figure_db(network.catalog.amplifiers[row.amplifier], row.gain_db, arriving)
        uid = f"amplifier {fiber} span {number} from {start}"
        yield edfa(uid, (row.amplifier, row.gain_db, figure), row.padding_db, passed / way.line.length_km)


def _requests(
    lightpaths: Sequence[Lightpath],
    transponder: str,
    name: str,
    mode: Mode,
    ways: Mapping[tuple[FiberId, str], Way],
    last: Mapping[WayId, str],
) -> Iterator[dict[str, Any]]:
    """A service for each lightpath that closes in the mode, along its fibers."""
    for path in lightpaths:
        if not any((one.transponder, one.mode) == (transponder, name) for one in path.closing):
            continue
        sites_, fibers = path.route.sites, path.route.fibers
        if any((fiber, site) not in ways for fiber, site in zip(fibers, sites_, strict=False)):
            continue
        via = [last[fiber, site] for fiber, site in zip(fibers, sites_, strict=False)] + [trx(sites_[-1])]
        bandwidth = {
            "technology": "flexi-grid",
            "trx_type": transponder,
            "trx_mode": name,
            "spacing": mode.width_ghz * 1e9,
            "path_bandwidth": mode.rate_gbps * 1e9,
        }
        yield {
            "request-id": path.id,
            "source": trx(sites_[0]),
            "destination": trx(sites_[-1]),
            "src-tp-id": trx(sites_[0]),
            "dst-tp-id": trx(sites_[-1]),
            "bidirectional": False,
            "path-constraints": {"te-bandwidth": bandwidth},
            "explicit-route-objects": {
                "route-object-include-exclude": [
                    {
                        "explicit-route-usage": "route-include-ero",
                        "index": index,
                        "num-unnum-hop": {"node-id": node, "link-tp-id": "", "hop-type": "STRICT"},
                    }
                    for index, node in enumerate(via)
                ]
            },
        }
