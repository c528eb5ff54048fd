"""Circuits leased from a carrier: each is a lightpath of one hop without optics."""

from __future__ import annotations

from collections import Counter
from math import isclose
from typing import TYPE_CHECKING

from dcplan.design.tolerance import CLOSE
from dcplan.model.ending import usable_circuits
from dcplan.model.network import Route, pair
from dcplan.optics.budget import Lightpath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.result import Wavelengths
    from dcplan.model.network import FiberId, Network

EXISTING = "existing"
"""Name of the module that stands for capacity which is there already."""


def lightpaths_of(network: Network) -> tuple[Lightpath, ...]:
    """The circuits as lightpaths `C1`, `C2`, … in file order; those whose traffic could not end at both sites lack."""
    usable = usable_circuits(network)
    found = []
    for number, (name, circuit) in enumerate(network.circuits.items(), 1):
        if name in usable:
            a, b = circuit.ends
            route = Route(pair(a, b), (name,))
            found.append(Lightpath(f"C{number}", route, circuit.length_km or 0.0, network.edge_latency_ms(name), ()))
    return tuple(found)


def faults(network: Network, paths: Mapping[str, Lightpath], lit: Sequence[Wavelengths]) -> Iterator[str]:
    """What does not hold of leased capacity: modules exist, in such numbers, with this rate; what is there is kept."""
    leased: dict[FiberId, list[Wavelengths]] = {name: [] for name in network.circuits}
    for each in lit:
        route = paths[each.lightpath].route.fibers if each.lightpath in paths else ()
        if route and route[0] in leased:
            leased[route[0]].append(each)
    usable = usable_circuits(network)
    for name, mine in leased.items():
        yield from (f"circuit {name}: {fault}" for fault in _faults(network, name, mine, usable=name in usable))


def _faults(network: Network, name: FiberId, mine: Sequence[Wavelengths], *, usable: bool) -> Iterator[str]:
    circuit = network.circuits[name]
    counts = Counter({each.mode: each.count for each in mine})
    latency_ms = network.edge_latency_ms(name)
    if circuit.existing_gbps and usable and counts[EXISTING] != 1:
        yield f"the {circuit.existing_gbps:g} Gb/s that are there are counted {counts[EXISTING]} times"
    for each in mine:
        module = circuit.modules.get(each.mode)
        gbps = circuit.existing_gbps if each.mode == EXISTING else module.gbps if module else 0.0
        if each.transponder != name or not gbps:
            yield f"there is no module {each.transponder} {each.mode}"
        elif not isclose(gbps, each.rate_gbps, rel_tol=CLOSE) or each.width_ghz:
            yield f"{each.mode} is counted with another rate or width than the file has"
        elif not isclose(latency_ms, each.latency_ms, rel_tol=CLOSE, abs_tol=CLOSE):
            yield f"{each.mode} is counted with {each.latency_ms} ms, it takes {latency_ms} ms"
        if each.count < 1 or (module and module.most and each.count > module.most):
            yield f"{each.count} × {each.mode} are leased"
    picked = sum(count for mode, count in counts.items() if mode != EXISTING)
    if circuit.pick == "one" and picked > 1:
        yield f"{picked} modules are leased, one may be picked"
