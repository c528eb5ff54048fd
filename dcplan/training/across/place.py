"""Where a layout stands: data parallel ranks or pipeline stages of each share, and the sites in order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.training.remember import remembered

if TYPE_CHECKING:
    from dcplan.model.network import SiteId
    from dcplan.training.step import Layout, Share, Spread, Workload


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a layout on one share."""

    share: Share
    ranks: int
    """Data parallel ranks that run on it."""
    stages: int
    """Pipeline stages that each of them has here."""
    members: int = 0
    """Of each tensor parallel group that spans sites, the members that it has here; all ranks have a part here."""


def places(workload: Workload, layout: Layout) -> tuple[Place, ...]:
    """Each share with its ranks and stages, in the order of the job's sites.

    Across pp a share holds whole stages of every rank, across tp so many members of every group; otherwise it holds
    whole ranks with all their stages, or as much of them where a group spans sites (cp).
    ValueError when a share is not a whole number of them.
    """
    return placed(workload, layout.spread)


def placed(workload: Workload, spread: Spread) -> tuple[Place, ...]:
    """The same for all layouts that are spread alike."""
    return _places(workload, spread.across, spread.tp, spread.cp, spread.pp, spread.dp)


@remembered
def _places(workload: Workload, across: str, tp: int, cp: int, pp: int, dp: int) -> tuple[Place, ...]:
    whole = tp * cp * pp * dp // {"pp": pp, "tp": tp}.get(across, dp)
    result = []
    for share in workload.shares:
        parts, rest = divmod(share.count, whole)
        if rest or not parts:
            raise ValueError(f"{share.count} accelerators in {share.site} are not a multiple of {whole}")
        if across == "pp":
            result.append(Place(share, dp, parts))
        elif across == "tp":
            result.append(Place(share, dp, pp, parts))
        else:
            result.append(Place(share, parts, pp))
    return tuple(result)


def site_ranks(where: tuple[Place, ...]) -> dict[SiteId, int]:
    """Data parallel ranks of each site, all its shares together, in the order of the job."""
    ranks: dict[SiteId, int] = {}
    for place in where:
        here = 0 if place.members else ranks.get(place.share.site, 0)
        ranks[place.share.site] = here + place.ranks
    return ranks


def crossings(where: tuple[Place, ...]) -> tuple[tuple[SiteId, SiteId], ...]:
    """Neighbouring sites of a pipeline over sites, from the first stage to the last."""
    sites = [place.share.site for place in where]
    return tuple((a, b) for a, b in itertools.pairwise(sites) if a != b)
