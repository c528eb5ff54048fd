"""Where light does not get through: the stretch of a route over which no mode closes, and what stops the nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model.ending import ending_sites
from dcplan.optics.ends import rated
from dcplan.optics.limits import next_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.model.network import Network, Route
    from dcplan.optics.budget import Lightpath


def out_of_reach(network: Network, lightpaths: Sequence[Lightpath], route: Route) -> tuple[str, str]:
    """The limit on the first stretch of a route between sites where wavelengths may end over which none closes."""
    by_fibers = {path.route.fibers: path for path in lightpaths}
    for stretch in _stretches(network, route):
        if stretch.fibers[0] in network.circuits:
            continue
        path = by_fibers.get(stretch.fibers) or by_fibers.get(stretch.fibers[::-1])
        if path is None or not path.closing:
            return "reach", f"no mode closes {_where(stretch)}{_nearest(network, path)}"
    return "spectrum", f"every mode that closes on {', '.join(route.fibers)} is wider than the band"


def _stretches(network: Network, route: Route) -> Iterator[Route]:
    ending = ending_sites(network)
    start = 0
    for i, site in enumerate(route.sites[1:], 1):
        if site in ending:
            yield type(route)(route.sites[start : i + 1], route.fibers[start:i])
            start = i


def _where(stretch: Route) -> str:
    if not stretch.through:
        return f"on {stretch.fibers[0]}"
    through = ", ".join(stretch.through)
    return f"through {through}, where `regenerate: false` lets no wavelength start again"


def _nearest(network: Network, path: Lightpath | None) -> str:
    if path is None:
        return ": it is no lightpath candidate (see policy.routes and policy.max_hops)"
    _, (whole,) = rated(network, [path.route], frozenset(), whole=True)
    if not whole.budgets:
        return ": no allowed mode can run there"
    return f": over {path.length_km:,.0f} km the {next_in_words(whole)}"
