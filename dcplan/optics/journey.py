"""Routes in one direction as arrays: which line follows which, and what the sites between them cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from dcplan.optics.allowed import terminal
from dcplan.optics.fiber import WAVELENGTH_M
from dcplan.units import LIGHT_M_PER_S, from_db

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy import float64, int64
    from numpy.typing import NDArray

    from dcplan.catalog.bands import NamedBand
    from dcplan.catalog.parts import Equipment
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
    directions: tuple[str, ...]
    """As `a -> b`."""
    hops: NDArray[int64]
    """Index into all ways, −1 behind the last hop; shape (R, H)."""
    loss_before_db: Array
    """Loss between transmitter or the line before and the booster; shape (R, H) [dB]."""
    drop_db: Array
    """Loss between the last line and the receiver; shape (R,) [dB]."""
    nodes_noise: Array
    """Noise over signal in 0.1 nm of add, passes and drop; shape (R,)."""
    dispersion_ps_nm: Array
    """The larger of those at the two edges of the band."""
    pmd_ps: Array
    pdl_db: Array
    allowance_db: Array
    """Reserve for ripple behind spans and unequal channels behind lines, as the policy has it [dB]."""

    def part(self, rows: slice) -> Journey:
        """Some of the routes; as many hops as the longest of them has."""
        own = replace(self, **{one.name: getattr(self, one.name)[rows] for one in fields(self)})
        most = max(len(ways) for ways in own.ways)
        return replace(own, hops=own.hops[:, :most], loss_before_db=own.loss_before_db[:, :most])


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
    network: Network,
    routes: Sequence[Route],
    ways: Mapping[tuple[FiberId, SiteId], Way],
    *,
    back: bool,
    band: NamedBand | None = None,
) -> Journey:
    """All routes from their first site to their last, or back; each must be passable and have lines throughout.

    band: the one that the ways serve, by default the network's lowest.
    """
    import numpy as np

    index = {key: number for number, key in enumerate(ways)}
    walks = [_sites_and_fibers(route, back=back) for route in routes]
    longest = max(len(fibers) for _, fibers in walks)
    keys = [tuple(zip(fibers, sites, strict=False)) for sites, fibers in walks]
    hops = np.array([[index[key] for key in mine] + [-1] * (longest - len(mine)) for mine in keys], dtype=np.int64)
    place = {site: number for number, site in enumerate(network.sites)}
    at = np.array([[place[site] for site in sites] + [-1] * (longest + 1 - len(sites)) for sites, _ in walks])
    start, end = at[:, 0], at[np.arange(len(at)), (hops >= 0).sum(axis=1)]
    passed = np.where(hops[:, 1:] >= 0, at[:, 1:-1], -1)
    nodes, lines = _Nodes.of(network), _Sums.of(network, tuple(ways.values()))
    roadm = network.catalog.equipment["roadm"]
    passes = (passed >= 0).sum(axis=1)
    pmd = _along(lines.pmd_ps2, hops) + _along(lines.parts_pmd_ps2, hops)
    pmd += nodes.pmd_ps2[start] + nodes.pmd_ps2[end] + passes * roadm.pass_pmd_ps**2
    pdl = _along(lines.pdl_db2, hops) + passes * roadm.express_pdl_db**2
    pdl += nodes.add_drop_pdl_db2[start] + nodes.add_drop_pdl_db2[end]
    loss = np.where(hops >= 0, roadm.express_loss_db or 0.0, 0.0)
    loss[:, 0] = nodes.loss_db[start]
    at_1550 = _along(lines.dispersion_ps_nm, hops) + passes * roadm.pass_dispersion_ps_nm
    at_1550 += nodes.dispersion_ps_nm[start] + nodes.dispersion_ps_nm[end]
    rise = _along(lines.rise_ps_nm2, hops)
    band = network.topology.gear.bands[0] if band is None else band
    offset_nm = LIGHT_M_PER_S * 1e-3 / np.array([band.start_thz, band.end_thz]) - WAVELENGTH_M * 1e9
    return Journey(
        ways=tuple(tuple(ways[key] for key in mine) for mine in keys),
        ends=tuple(sites[-1] for sites, _ in walks),
        directions=tuple(f"{sites[0]} -> {sites[-1]}" for sites, _ in walks),
        hops=hops,
        loss_before_db=loss,
        drop_db=nodes.loss_db[end],
        nodes_noise=nodes.add_drop_noise[start] + nodes.add_drop_noise[end] + passes * _noise(roadm.express_osnr_db),
        dispersion_ps_nm=np.abs(at_1550[:, None] + rise[:, None] * offset_nm[None, :]).max(axis=1),
        pmd_ps=np.sqrt(pmd),
        pdl_db=np.sqrt(pdl),
        allowance_db=_along(lines.allowance_db, hops),
    )


def _sites_and_fibers(route: Route, *, back: bool) -> tuple[tuple[SiteId, ...], tuple[FiberId, ...]]:
    return (route.sites[::-1], route.fibers[::-1]) if back else (route.sites, route.fibers)


def _along(each: Array, taken: NDArray[int64]) -> Array:
    """What each place adds that a route takes, −1 for none; shape (R,).

    Compensated (Neumaier), as Python's own sum: what is lost in rounding is added at the end, so that a route and
    its reverse come to the same.
    """
    import numpy as np

    total, lost = np.zeros(len(taken)), np.zeros(len(taken))
    if not each.any():
        return total
    for step in taken.T:
        more = np.where(step >= 0, each[step], 0.0)
        sums = total + more
        lost += np.where(np.abs(total) >= np.abs(more), (total - sums) + more, (more - sums) + total)
        total = sums
    return total + lost


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The terminal gear of all sites, in file order, for light that begins or ends there."""

    loss_db: Array
    add_drop_noise: Array
    dispersion_ps_nm: Array
    pmd_ps2: Array
    add_drop_pdl_db2: Array

    @classmethod
    def of(cls, network: Network) -> _Nodes:
        import numpy as np

        def each(figure: Callable[[Equipment], float]) -> Array:
            return np.array([figure(one) for one in gear])

        gear = [terminal(network, site)[1] for site in network.sites]
        return cls(
            loss_db=each(lambda one: one.loss_db),
            add_drop_noise=each(lambda one: _noise(one.add_drop_osnr_db)),
            dispersion_ps_nm=each(lambda one: one.pass_dispersion_ps_nm),
            pmd_ps2=each(lambda one: one.pass_pmd_ps**2),
            add_drop_pdl_db2=each(lambda one: one.add_drop_pdl_db**2),
        )


def _noise(osnr_db: float | None) -> float:
    return 0.0 if osnr_db is None else from_db(-osnr_db)


@dataclass(frozen=True, slots=True)
class _Sums:
    """What each way adds: dispersion; PMD and PDL squared, since they add in quadrature."""

    dispersion_ps_nm: Array
    """At 1550 nm."""
    rise_ps_nm2: Array
    """By how much it rises with each nanometre."""
    pmd_ps2: Array
    parts_pmd_ps2: Array
    """Of the amplifiers."""
    pdl_db2: Array
    allowance_db: Array

    @classmethod
    def of(cls, network: Network, ways: Sequence[Way]) -> _Sums:
        import numpy as np

        policy, types = network.policy, network.catalog.fibers
        kinds = [
            [(types[row.type] if row.type else network.fiber_type(way.line.fiber), row.length_km) for row in way.rows]
            for way in ways
        ]
        parts = [
            [network.catalog.amplifiers[name] for name in (way.line.booster, *(row.amplifier for row in way.rows))]
            for way in ways
        ]
        return cls(
            dispersion_ps_nm=np.array(
                [math.fsum(kind.dispersion_ps_nm_km * km for kind, km in mine) for mine in kinds]
            ),
            rise_ps_nm2=np.array(
                [math.fsum(kind.dispersion_slope_ps_nm2_km * km for kind, km in mine) for mine in kinds]
            ),
            pmd_ps2=np.array([math.fsum(kind.pmd_ps_sqrt_km**2 * km for kind, km in mine) for mine in kinds]),
            parts_pmd_ps2=np.array([sum(part.pmd_ps**2 for part in mine) for mine in parts]),
            pdl_db2=np.array([sum(part.pdl_db**2 for part in mine) for mine in parts]),
            allowance_db=np.array(
                [len(way.rows) * policy.ripple_db_per_span + policy.equalisation_db_per_line for way in ways]
            ),
        )
