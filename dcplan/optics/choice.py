"""Which lightpaths are meant: by site or id, or the best between each two sites; and which fibers none crosses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import did_you_mean
from dcplan.errors import UsageError
from dcplan.model.ending import ending_sites
from dcplan.model.network import pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.model.network import FiberId, Network
    from dcplan.optics.budget import Lightpath


def lightpaths_of(network: Network, lightpaths: Sequence[Lightpath], names: Sequence[str]) -> tuple[Lightpath, ...]:
    """The lightpaths that names mean: that of an id, those that end at a site, those between two sites.

    UsageError for a name that is no site and no lightpath, or more than two sites.
    """
    ids = {path.id.casefold(): path for path in lightpaths}
    for name in names:
        if name not in network.sites and name.casefold() not in ids:
            known = [*network.sites, *(path.id for path in lightpaths)]
            hint = did_you_mean(name, known, "`dcplan optics FILE` lists all")
            raise UsageError(f"there is no site and no lightpath `{name}`: {hint}")
    if all(name in network.sites for name in names):
        if len(names) == 1:
            return tuple(path for path in lightpaths if names[0] in path.route.ends)
        return tuple(path for path in lightpaths if path.route.ends == pair(names[0], names[1]))
    if len(names) > 1:
        raise UsageError(f"name one lightpath, one site or two sites, not `{'` and `'.join(names)}`")
    return (ids[names[0].casefold()],)


def dark_fibers(network: Network, lightpaths: Sequence[Lightpath]) -> tuple[FiberId, ...]:
    """Fibers that no mode crosses from end to end, of those at whose both ends wavelengths may end."""
    ending = ending_sites(network)
    alone = {path.route.fibers[0] for path in lightpaths if len(path.route.fibers) == 1 and path.closing}
    ended = (name for name, fiber in network.fibers.items() if ending.issuperset(fiber.ends))
    return tuple(name for name in ended if name not in alone)


def best_per_pair(lightpaths: Sequence[Lightpath]) -> tuple[Lightpath, ...]:
    """For each pair of sites its fastest lightpath, of equal ones that with less latency; in the order given."""
    best: dict[tuple[str, str], Lightpath] = {}
    for path in lightpaths:
        held = best.get(path.route.ends)
        if held is None or _rank(path) < _rank(held):
            best[path.route.ends] = path
    kept = {path.id for path in best.values()}
    return tuple(path for path in lightpaths if path.id in kept)


def _rank(path: Lightpath) -> tuple[float, float]:
    return -max((budget.rate_gbps for budget in path.closing), default=0.0), path.latency_ms
