"""Routes in one direction as arrays: which line follows which, and what the sites between them cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.allowed import terminal
from dcplan.units import from_db

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy import float64, int64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Amplifier, Equipment
    from dcplan.model.network import FiberId, Network, Route, SiteId
    from dcplan.optics.budget import Line, SpanRow

    Array = NDArray[float64]

NODE_LATENCY_MS = 1e-4
"""Latency of passing a site: some 20 m of passive optics (estimate, 0.1 µs) [ms]."""


@dataclass(frozen=True, slots=True)
class Way:
    """A line in one direction."""

    line: Line
    start: SiteId
    rows: tuple[SpanRow, ...]
    labels: tuple[str, str, str, str]
    """What its lines in a budget are called: launch, booster, amplifiers, nonlinearity."""


@dataclass(frozen=True, slots=True)
class Journey:
    """Routes in one direction; R routes, H hops at most. What does not depend on the mode."""

    ways: tuple[tuple[Way, ...], ...]
    """The lines of each route in the order of travel."""
    ends: tuple[SiteId, ...]
    """Where each route ends."""
    hops: NDArray[int64]
    """Index into all ways, −1 behind the last hop; shape (R, H)."""
    loss_before_db: Array
    """Loss between transmitter or the line before and the booster; shape (R, H) [dB]."""
    drop_db: Array
    """Loss between the last line and the receiver; shape (R,) [dB]."""
    nodes_noise: Array
    """Noise over signal in 0.1 nm of add, passes and drop; shape (R,)."""
    dispersion_ps_nm: Array
    pmd_ps: Array
    pdl_db: Array


def passable(network: Network, route: Route) -> bool:
    """Every site between the ends lets light through: it has a ROADM with an express loss."""
    return all(terminal(network, site)[1].express_loss_db is not None for site in route.through)


def ways_of(network: Network, lines: Mapping[FiberId, Line]) -> dict[tuple[FiberId, SiteId], Way]:
    """Each line in both directions, by fiber and the site where light enters."""
    ways: dict[tuple[FiberId, SiteId], Way] = {}
    for fiber, line in lines.items():
        first, second = network.fibers[fiber].ends
        for start, rows in ((first, line.spans), (second, line.back or line.spans[::-1])):
            labels = (
                f"launch into {fiber}",
                f"booster at {start}",
                f"amplifiers of {fiber}",
                f"nonlinearity of {fiber}",
            )
            ways[fiber, start] = Way(line, start, rows, labels)
    return ways


def journey(
    network: Network, routes: Sequence[Route], ways: Mapping[tuple[FiberId, SiteId], Way], *, back: bool
) -> Journey:
    """All routes from their first site to their last, or back; each must be passable and have lines throughout."""
    import numpy as np

    index = {key: number for number, key in enumerate(ways)}
    walks = [_sites_and_fibers(route, back=back) for route in routes]
    longest = max(len(fibers) for _, fibers in walks)
    hops = np.full((len(routes), longest), -1, dtype=np.int64)
    loss = np.zeros((len(routes), longest))
    gear = {site: terminal(network, site)[1] for site in network.sites}
    noise, sums = [], []
    for number, (sites, fibers) in enumerate(walks):
        for hop, (fiber, site) in enumerate(zip(fibers, sites, strict=False)):
            hops[number, hop] = index[fiber, site]
            loss[number, hop] = gear[site].loss_db if hop == 0 else gear[site].express_loss_db or 0.0
        noise.append(_nodes_noise([gear[site] for site in sites]))
        sums.append(_sums(network, [gear[site] for site in sites], [ways[k] for k in zip(fibers, sites, strict=False)]))
    return Journey(
        ways=tuple(tuple(ways[k] for k in zip(fibers, sites, strict=False)) for sites, fibers in walks),
        ends=tuple(sites[-1] for sites, _ in walks),
        hops=hops,
        loss_before_db=loss,
        drop_db=np.array([gear[sites[-1]].loss_db for sites, _ in walks]),
        nodes_noise=np.array(noise),
        dispersion_ps_nm=np.array([total[0] for total in sums]),
        pmd_ps=np.array([total[1] for total in sums]),
        pdl_db=np.array([total[2] for total in sums]),
    )


def _sites_and_fibers(route: Route, *, back: bool) -> tuple[tuple[SiteId, ...], tuple[FiberId, ...]]:
    return (route.sites[::-1], route.fibers[::-1]) if back else (route.sites, route.fibers)


def _nodes_noise(gear: list[Equipment]) -> float:
    ends = [gear[0].add_drop_osnr_db, gear[-1].add_drop_osnr_db]
    passes = [node.express_osnr_db for node in gear[1:-1]]
    return sum(from_db(-osnr) for osnr in (*ends, *passes) if osnr is not None)


def _sums(network: Network, gear: list[Equipment], ways: list[Way]) -> tuple[float, float, float]:
    """Dispersion [ps/nm], PMD [ps] and PDL [dB] of fibers, amplifiers and nodes; the latter two in quadrature."""
    amplifiers: list[Amplifier] = [
        network.catalog.amplifiers[name]
        for way in ways
        for name in (way.line.booster, *(row.amplifier for row in way.rows))
    ]
    kinds = [(network.fiber_type(way.line.fiber), way.line.length_km) for way in ways]
    dispersion = sum(kind.dispersion_ps_nm_km * length for kind, length in kinds)
    dispersion += sum(node.pass_dispersion_ps_nm for node in gear)
    pmd = sum(kind.pmd_ps_sqrt_km**2 * length for kind, length in kinds)
    pmd += sum(part.pmd_ps**2 for part in amplifiers) + sum(node.pass_pmd_ps**2 for node in gear)
    pdl = sum(part.pdl_db**2 for part in amplifiers) + sum(node.express_pdl_db**2 for node in gear[1:-1])
    pdl += gear[0].add_drop_pdl_db ** 2 + gear[-1].add_drop_pdl_db ** 2
    return abs(dispersion), pmd**0.5, pdl**0.5
