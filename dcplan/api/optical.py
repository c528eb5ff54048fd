"""What light can do on a network, before anything is designed: lines, link budgets, sweeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.result import Design
    from dcplan.model.network import FiberId, Network, Route
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.optics.ends import Light
    from dcplan.optics.line import NoLine
    from dcplan.optics.sweep import Bathtub


@dataclass(frozen=True, slots=True)
class Optics:
    """What light can do on a network."""

    fibers: Mapping[FiberId, Line | NoLine]
    """For each fiber its line, or why there is none."""
    lightpaths: tuple[Lightpath, ...]
    """Every candidate, in file order of its ends, with the budgets of modes that close; see `written.whole`."""
    searched: str
    """Which routes are candidates, in words."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """The fibers that can be lit."""
        from dcplan.optics.budget import Line

        return tuple(line for line in self.fibers.values() if isinstance(line, Line))


def optics(network: Network) -> Optics:
    """Design the line of every fiber, then find the allowed modes that close on every lightpath candidate.

    What else is to be known of a lightpath (each item of a budget, what stops the other modes) is written out by
    `written.whole` for those that are shown: of thousands of candidates few close, and fewer are lit.
    Circuits are leased, not lit: they are not in it.
    """
    from dcplan.optics.existing import with_existing_light
    from dcplan.optics.lightpath import evaluate
    from dcplan.optics.line import design_lines

    lines = design_lines(network)
    routes, searched = _routes(network, lines)
    closing = evaluate(network, lines, routes, itemise=False, closing=True)
    return Optics(lines, with_existing_light(network, lines, closing), searched)


def candidates(network: Network) -> Optics:
    """The lines and lightpaths from which a design chooses, and with them where light passes (see `optics.ends`)."""
    from dcplan.optics.allowed import crossed
    from dcplan.optics.ends import candidates as open_ends
    from dcplan.optics.line import design_lines

    plain = replace(network, roadms=frozenset())
    routes, searched = _routes(plain, design_lines(replace(network, roadms=crossed(network))), design_lines(plain))
    lines, lightpaths = open_ends(network, routes)
    return Optics(lines, lightpaths, searched)


def _routes(
    network: Network, lines: Mapping[FiberId, Line | NoLine], alone: Mapping[FiberId, Line | NoLine] | None = None
) -> tuple[tuple[Route, ...], str]:
    """The routes of all candidates, and in words which they are; lines, alone: as of `further`."""
    from dcplan.design.candidates import by_length, routes
    from dcplan.design.further import further

    listed = routes(network)
    more = further(network, lines, listed, alone)
    return by_length(network, (*listed, *more.routes)), more.in_words(network)


def as_designed(network: Network, lightpaths: Sequence[Lightpath], design: Design) -> Light:
    """Lines and lightpaths with the ROADMs of a design, where light passes; circuits stay as they are."""
    from dcplan.design.nodes import passed
    from dcplan.optics.budget import Line
    from dcplan.optics.ends import Light, rated

    roadms = passed(lightpaths, design)
    light = [path for path in lightpaths if path.route.fibers[0] not in network.circuits]
    lines, paths = rated(network, [path.route for path in light], roadms)
    own = {before.id: path for before, path in zip(light, paths, strict=True)}
    return Light(
        replace(network, roadms=roadms),
        tuple(line for line in lines.values() if isinstance(line, Line)),
        tuple(own.get(path.id, path) for path in lightpaths),
    )


def at_load(network: Network, percent: float) -> Network:
    """The network with light judged at a share of full load [%]. UsageError when it is not above 0 and up to 100."""
    if not 0 < percent <= 100:
        raise UsageError(f"--load {percent:g} is not above 0 and up to 100")
    policy = network.policy.model_copy(update={"load_percent": percent})
    return replace(network, topology=network.topology.model_copy(update={"policy": policy}))


def latency_saved_ms(network: Network) -> dict[FiberId, float]:
    """What each fiber with hollow core saves one way against solid fiber of its length [ms]."""
    from dcplan.optics.hollow import saved_ms

    found = {fiber: saved_ms(network, fiber) for fiber in network.fibers}
    return {fiber: gain for fiber, gain in found.items() if gain > 0}


def sweep(network: Network, what: str, names: Sequence[str] = ()) -> tuple[Bathtub, ...]:
    """GSNR and margin of each mode on each line over the launch power; `what` is launch.

    names: of a fiber, of one site whose fibers are meant, or of two sites. UsageError for another sweep, for names
    that no fiber answers to, and where no line has amplifiers.
    """
    from dcplan.optics.line import design_lines
    from dcplan.optics.sweep import bathtubs

    if what != "launch":
        raise UsageError(f"there is no sweep of `{what}`: ask for launch")
    meant = [
        fiber
        for fiber, about in network.fibers.items()
        if not names or list(names) == [fiber] or set(names) <= set(about.ends)
    ]
    if not meant:
        raise UsageError(f"no fiber is called or ends at {' and '.join(f'`{name}`' for name in names)}")
    found = bathtubs(network, design_lines(network), meant)
    if not found:
        raise UsageError("no line with amplifiers, or no allowed mode, so no launch power to sweep")
    return found
