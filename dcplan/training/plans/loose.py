"""Ways to synchronise in which sites train by themselves that a search looks at: few, each as it was published.

Sizes of the outer steps are those of the papers, for no search can weigh what they cost in learning against time: the
fewer exchanges, the shorter the step, and the less is known of what it teaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training.outer.exchange import Outer, Tier
from dcplan.training.outer.streaming import default_fragments
from dcplan.training.remember import remembered

if TYPE_CHECKING:
    from dcplan.training.step import Workload

FITTED_EVERY, STREAMED_EVERY = 30, 100
"""H that the loss law was fitted at (Charles et al. 2025, arXiv 2503.09799), and that of Streaming DiLoCo (Douillard et
al. 2025, arXiv 2501.18512)."""
STREAMED_BITS = 4
"""Of an outer gradient in Streaming DiLoCo."""


@remembered
def loose_ways(workload: Workload) -> tuple[tuple[str, Outer], ...]:
    """Local SGD every 30 and 100 steps; streaming every 100 in 4 bit; one parameter server, pushed to every 30 steps.

    The server stands in the site with the least latency to all others, the first one where no latency is known.
    """
    bits, layers = workload.gradient_bits, workload.model.layers
    sites = tuple(dict.fromkeys(share.site for share in workload.shares))
    away_ms = dict.fromkeys(sites, 0.0)
    for ends, latency_ms in workload.collective.latency_ms:
        for site in ends:
            away_ms[site] = away_ms.get(site, 0.0) + latency_ms
    middle = min(sites, key=lambda site: away_ms[site])
    return (
        ("local-sgd", Outer(FITTED_EVERY, bits)),
        ("local-sgd", Outer(STREAMED_EVERY, bits)),
        ("streaming", Outer(STREAMED_EVERY, STREAMED_BITS, default_fragments(layers, STREAMED_EVERY), 1)),
        ("parameter-server", Outer(FITTED_EVERY, bits, tiers=(Tier(FITTED_EVERY, ((middle, sites),)),))),
    )
