"""How sites exchange what they have learned by themselves: keys of a parallelism plan below `outer`."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from dcplan.catalog.parts import Count, NotNegative, Strict
from dcplan.model.fields import Name

Sync = Literal["synchronous", "hierarchical", "local-sgd", "streaming", "parameter-server"]
LooseSync = Literal["local-sgd", "streaming", "parameter-server"]
OUTER_SYNC: tuple[LooseSync, ...] = get_args(LooseSync)
"""Ways to synchronise that have outer steps."""


class ServerTier(Strict):
    """Parameter servers of one tier, and who pushes to them."""

    every: Count
    """Own steps of a site (first tier), or periods of a server of the tier below, from one push to the next."""
    servers: Annotated[dict[Name, Annotated[list[Name], Field(min_length=1)]], Field(min_length=1)]
    """Site of each server: the sites, or in the next tier the servers below, that push to it."""
    ingress_gbps: Annotated[float, Field(ge=0.001, allow_inf_nan=False)] | None = None
    """What each server takes in from all that push to it [Gb/s]; without it, only the links between sites bound it."""


class OuterSteps(Strict):
    """Sites train by themselves and exchange what they have learned; for local-sgd, streaming, parameter-server."""

    every_steps: Count | None = None
    """Steps from one exchange of a parameter to the next (H); parameter servers have `every` in each tier."""
    bits: Literal[4, 8, 16, 32] | None = None
    """Bits of an element of the outer gradients on the wire; without it, `gradient_bits` of the job."""
    fragments: Count | None = None
    """Streaming: parts of the model that are sent by turns; without it, of three layers each."""
    overlap_steps: Annotated[int, Field(ge=0)] | None = None
    """Streaming: whole steps that a site trains on before it waits for what it has sent; without it, one."""
    pattern: Literal["strided", "sequential"] = "strided"
    """Streaming: layers of a fragment; strided, one in as many as there are fragments; sequential, neighbours."""
    state_in_host: bool = False
    """Streaming: outer weights and momentum lie in the host, and come in for the fragment that is taken over."""
    tiers: Annotated[list[ServerTier], Field(min_length=1)] | None = None
    """Parameter servers, tier by tier from the sites up; the last one is a single server."""
    staleness_kappa: NotNegative | None = None
    """κ by which an update of age τ counts 1/(1 + κ τ); shown beside the step time. No value is known for large
    models, so there is no default."""


def misplaced(sync: Sync, outer: OuterSteps | None) -> str:
    """Why `outer` does not go with `sync`; empty where it does."""
    if outer is None:
        return f"sync: {sync} asks for outer" if sync in OUTER_SYNC else ""
    if sync not in OUTER_SYNC:
        return f"outer goes with sync: local-sgd, streaming or parameter-server, not with {sync}"
    streaming = {"fragments", "overlap_steps", "pattern", "state_in_host"} & outer.model_fields_set
    if streaming and sync != "streaming":
        return f"outer.{min(streaming)} goes with sync: streaming, not with {sync}"
    if sync == "parameter-server":
        return _servers_misplaced(outer)
    if outer.tiers is not None:
        return f"outer.tiers goes with sync: parameter-server, not with {sync}"
    if outer.every_steps is None:
        return f"sync: {sync} asks for outer.every_steps"
    if sync == "streaming":
        return _fragments_misplaced(outer, outer.every_steps)
    return "" if outer.staleness_kappa is None else NOTHING_LATE


NOTHING_LATE = "outer.staleness_kappa has nothing to discount: no update is late without overlap_steps"


def _fragments_misplaced(outer: OuterSteps, every_steps: int) -> str:
    overlap = 1 if outer.overlap_steps is None else outer.overlap_steps
    if overlap >= every_steps:
        return f"outer.overlap_steps, {overlap}, must lie below outer.every_steps, {every_steps}"
    if outer.fragments == 1 and not overlap:
        return "one fragment without overlap is sync: local-sgd"
    if outer.fragments == 1 and "pattern" in outer.model_fields_set:
        return "outer.pattern has no effect with one fragment"
    if outer.fragments == 1 and outer.state_in_host:
        return "outer.state_in_host has no effect with one fragment, which is all of the state"
    return NOTHING_LATE if outer.staleness_kappa is not None and not overlap else ""


def _servers_misplaced(outer: OuterSteps) -> str:
    if outer.every_steps is not None:
        return "outer.every_steps does not go with sync: parameter-server, where each of outer.tiers has its own every"
    if outer.tiers is None:
        return "sync: parameter-server asks for outer.tiers"
    if len(outer.tiers[-1].servers) > 1:
        return "the last of outer.tiers must have one server, which all weights come together in"
    below: set[str] | None = None
    for number, tier in enumerate(outer.tiers, 1):
        children = [child for mine in tier.servers.values() for child in mine]
        if twice := next((child for child in children if children.count(child) > 1), None):
            return f"{twice} pushes twice in tier {number} of outer.tiers"
        if below is not None and set(children) != below:
            names = ", ".join(sorted(below))
            return f"who pushes in tier {number} of outer.tiers must be the servers of the tier below: {names}"
        below = set(tier.servers)
    return ""
