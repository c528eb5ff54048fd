"""Small networks made by hand: catalog, fibers, lines, lightpaths and demands, without the optics engine."""

from __future__ import annotations

from dataclasses import replace

from dcplan.catalog.load import Catalog
from dcplan.catalog.parts import Amplifier, Equipment, FiberType, Mode, Transponder
from dcplan.design.candidates import routes
from dcplan.design.result import Demand
from dcplan.model.network import Network, pair
from dcplan.model.schema import Topology
from dcplan.model.source import Document
from dcplan.model.states import promised_states
from dcplan.optics.budget import Budget, Lightpath, Line, SpanRow

MODES = {
    "fast": {"rate_gbps": 800, "baud_gbd": 118, "width_ghz": 150, "required_osnr_db": 24},
    "slow": {"rate_gbps": 400, "baud_gbd": 60, "width_ghz": 75, "required_osnr_db": 20},
}
REACH_KM = {"fast": 300.0, "slow": 900.0}


def catalog(modes=None, price=10_000.0):
    """One transponder `tx`, one amplifier `amp`, terminal gear, one fiber type."""
    modes = {name: Mode(**about) for name, about in (modes or MODES).items()}
    return Catalog(
        fibers={
            "glass": FiberType(
                attenuation_db_per_km=0.2, dispersion_ps_nm_km=17, effective_area_um2=80, group_index=1.468
            )
        },
        amplifiers={
            "amp": Amplifier(
                gain_min_db=10, gain_max_db=30, nf_db=((10, 5), (30, 5)), output_max_dbm=23, power_w=50, price_usd=8_000
            )
        },
        transponders={"tx": Transponder(modes=modes, power_w=25, price_usd=price)},
        equipment={
            "mux": Equipment(loss_db=6, power_w=10, price_usd=5_000),
            "roadm": Equipment(loss_db=9, express_loss_db=9, power_w=80, price_usd=20_000),
        },
        accelerators={},
        models={},
        calibrations={},
    )


def network(sites, fibers, policy=None, gear=None, demands=None, modes=None, price=10_000.0, failures=None):
    """A network. `fibers`: name -> (a, b, km, pairs); demands: (a, b, Gb/s); or with a dict of further fields."""
    made = {}
    for name, (a, b, km, pairs, *more) in fibers.items():
        made[name] = {
            "ends": [a, b],
            "type": "glass",
            "length_km": km,
            "pairs": pairs,
            "lease_usd_per_km_year": 300,
        } | (more[0] if more else {})
    about = sites if isinstance(sites, dict) else {site: {} for site in sites}
    topology = Topology.model_validate(
        {
            "dcplan": 1,
            "name": "test",
            "sites": {
                site: {"lat": 40.0 + i, "lon": -90.0 + i} | dict(more) for i, (site, more) in enumerate(about.items())
            },
            "fibers": made,
            "policy": policy or {},
            "gear": gear or {},
            "demands": {
                f"d{i}": {"between": [a, b], "gbps": gbps} | (more[0] if more else {})
                for i, (a, b, gbps, *more) in enumerate(demands or ())
            },
            "failures": failures or {},
        }
    )
    return Network(topology, catalog(modes, price), Document(None))


def lines(net):
    """A line per fiber: spans of at most 80 km."""
    found = []
    for name, fiber in net.fibers.items():
        count = max(1, round(fiber.total_km / 80 + 0.4999))
        span = fiber.total_km / count
        rows = tuple(
            SpanRow(i + 1, span, span * 0.2, span * 0.2 + 1, False, "amp", 0.0, span * 0.2 + 1, 5.0, "only one")
            for i in range(count)
        )
        found.append(Line(name, fiber.total_km, net.fiber_latency_ms(name), "amp", rows, 0.0, 0.0))
    return tuple(found)


def budget(mode, about, length_km, reach_km):
    margin = 10.0 * (1 - length_km / reach_km)
    return Budget(
        transponder="tx", mode=mode, rate_gbps=about.rate_gbps, width_ghz=about.width_ghz, launch_dbm=0.0,
        launch_limit="optimum", channels=32, channel_thz=193.7, direction="a -> b", osnr_ase_db=30.0, osnr_nli_db=33.0,
        gsnr_db=28.0, required_osnr_db=about.required_osnr_db or 0.0, penalties_db=0.0, margins_db=2.5,
        margin_db=margin, rx_dbm=-5.0, limit="OSNR", items=(),
    )  # fmt: skip


def lightpaths(net, reach_km=None, only=None):
    """A lightpath per candidate route; a mode closes up to its reach. `only` filters routes."""
    reach = reach_km or REACH_KM
    modes = net.catalog.transponders["tx"].modes
    found = []
    for route in routes(net):
        if only is not None and not only(route):
            continue
        length = sum(net.fibers[fiber].total_km for fiber in route.fibers)
        latency = sum(net.fiber_latency_ms(fiber) for fiber in route.fibers)
        budgets = tuple(budget(mode, about, length, reach.get(mode, 1e9)) for mode, about in modes.items())
        found.append(Lightpath(f"L{len(found) + 1}", route, length, latency, budgets))
    return tuple(found)


def demand(net, name, a, b, gbps, share=1.0, max_latency_ms=None):
    """The same rate in every promised state that leaves both ends alive; `share` of it in failures."""
    by_state = {
        state.name: gbps * (1.0 if state.healthy else share)
        for state in promised_states(net)
        if state.sites.isdisjoint((a, b)) and (state.healthy or share > 0)
    }
    return Demand(name, pair(a, b), by_state, max_latency_ms, scheme=net.policy.scheme)


def under(scheme, demands):
    """The same demands under another scheme."""
    return [replace(one, scheme=scheme) for one in demands]
