"""Which wavelengths of a design have no margin among the channels that are really lit beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.model.grid import centre_thz
from dcplan.optics.as_lit import LitChannel, margins_as_lit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.design.result import Design
    from dcplan.model.network import Network
    from dcplan.optics.budget import Lightpath, Line


def not_closing(
    network: Network, lines: Sequence[Line], lightpaths: Sequence[Lightpath], design: Design
) -> tuple[str, ...]:
    """The wavelengths of a design without other faults that have no margin beside those lit with them, in words.

    Under relight in every state.
    """
    found = [*_not_closing(network, lines, lightpaths, design)]
    for relit in design.relit:
        then = _not_closing(network, lines, lightpaths, design.lit_in(relit.state))
        found += [f"{relit.state}: {fault}" for fault in then]
    return tuple(found)


def _not_closing(network: Network, lines: Sequence[Line], lightpaths: Sequence[Lightpath], design: Design) -> list[str]:
    line_of = {line.fiber: line for line in lines}
    budgets = {(path.id, one.transponder, one.mode): (path.route, one) for path in lightpaths for one in path.budgets}
    lit = []
    for channel in design.channels:
        route, budget = budgets[channel.lightpath, channel.transponder, channel.mode]
        if all(line_of[fiber].booster for fiber in route.fibers):
            lit.append((channel, LitChannel(route, budget, centre_thz(channel.n), channel.pairs)))
    margins = margins_as_lit(network, line_of, [one for _, one in lit])
    return [
        f"{channel.transponder} {channel.mode} on {channel.lightpath} at n = {channel.n} does not close beside the "
        f"channels lit with it: {'no margin' if margin is None else f'{margin:.2f} dB'}"
        for (channel, _), margin in zip(lit, margins, strict=True)
        if margin is None or margin < 0
    ]
