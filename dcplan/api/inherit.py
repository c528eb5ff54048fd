"""What an earlier plan lit, as what a later one finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.design.circuits import EXISTING
from dcplan.design.nodes import passed, passed_by
from dcplan.errors import UsageError
from dcplan.model.existing import Existing, ExistingFiber, ExistingWavelengths
from dcplan.model.rules import existing as rules
from dcplan.optics import existing_rules

if TYPE_CHECKING:
    from dcplan.design.result import Channel
    from dcplan.model.network import Network
    from dcplan.planfile import Plan


def existing_of(made: Plan, *, removable: bool = False) -> Existing:
    """What a plan lit and leased: pairs, channels in their places, modules; under relight also spare transponders."""
    routes = {path.id: path.route.fibers for path in made.lightpaths}
    together: dict[tuple[tuple[str, ...], str, str, tuple[int, ...]], list[Channel]] = {}
    for channel in made.design.channels:
        kind = (routes[channel.lightpath], channel.transponder, channel.mode, channel.pairs)
        together.setdefault(kind, []).append(channel)
    leased: dict[str, dict[str, int]] = {}
    circuits = {circuit.name for circuit in made.circuits}
    for lit in made.design.wavelengths:
        if lit.transponder in circuits and lit.mode != EXISTING:
            leased.setdefault(lit.transponder, {})[lit.mode] = lit.count
    healthy = {lit.lightpath for lit in made.design.wavelengths}
    passed_when_healthy = passed_by(path for path in made.lightpaths if path.id in healthy)
    return Existing(
        fibers={lit.fiber: ExistingFiber(pairs=lit.pairs) for lit in made.design.lit},
        wavelengths=[
            ExistingWavelengths(
                route=list(fibers),
                transponder=part,
                mode=mode,
                count=len(channels),
                n=[channel.n for channel in channels],
                on_pairs=[pair + 1 for pair in pairs],
            )
            for (fibers, part, mode, pairs), channels in together.items()
        ],
        circuits=leased,
        transponders=_spare(made),
        roadms=sorted(passed(made.lightpaths, made.design) - passed_when_healthy),
        removable=removable,
    )


def _spare(made: Plan) -> dict[str, dict[str, int]]:
    """Transponders by site that nothing takes when healthy."""
    ends = {path.id: path.route.ends for path in made.lightpaths}
    lit = Counter((site, channel.transponder) for channel in made.design.channels for site in ends[channel.lightpath])
    found: dict[str, dict[str, int]] = {}
    for one in made.design.owned:
        if spare := one.count - lit[one.site, one.transponder]:
            found.setdefault(one.site, {})[one.transponder] = spare
    return found


def having(network: Network, existing: Existing, called: str) -> Network:
    """The network with other things lit already, in place of what its file says.

    called: whose things they are, for the UsageError where they do not fit the network.
    """
    found = replace(network, topology=network.topology.model_copy(update={"existing": existing}))
    broken = [*rules.unknown(found)]
    broken = broken or [*rules.faults(found)]
    broken = broken or [*existing_rules.faults(found)]
    if broken:
        said = "; ".join(what for _, _, what, _ in broken[:3])
        more = f"; and {len(broken) - 3} more" if len(broken) > 3 else ""
        raise UsageError(f"{called} does not fit this topology: {said}{more}")
    return found


def inherited(network: Network, old: Plan) -> Network:
    """The network in which an earlier plan is lit; UsageError where that does not fit it."""
    there = network.topology.existing
    return having(network, existing_of(old, removable=there is not None and there.removable), f"plan `{old.name}`")
