"""Checks what scheme relight adds to a design: each failure lights what survives, with the transponders that are there.

Without the program or the solver that made it, as all of `design.verify`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dcplan.design.existing import counts, removable, transponders_at
from dcplan.model.states import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.result import Design, Relit, Wavelengths
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath


def unknown(network: Network, design: Design) -> Iterator[str]:
    """Transponders that are owned of a type, or at a site, that is not there."""
    known = {*network.catalog.transponders, *network.catalog.appliances}
    for one in design.owned:
        if one.site not in network.sites or one.transponder not in known:
            yield f"{one.transponder} at {one.site}: there is no such site or transponder"


def faults(network: Network, paths: Mapping[str, Lightpath], states: Sequence[State], design: Design) -> Iterator[str]:
    """What does not hold: failures that are listed, what is lit in them, transponders by site, what is retuned.

    Of what is lit in a state: every wavelength takes a transponder of its type at both ends; Σ ≤ those owned there.
    """
    failures = [state for state in states if not state.healthy] if design.scheme == "relight" else []
    if [one.state for one in design.relit] != [state.name for state in failures]:
        yield f"lit anew are the states {[one.state for one in design.relit]}"
        return
    if design.scheme != "relight":
        if design.owned:
            yield f"transponders are owned by site, which scheme {design.scheme} does not do"
        return
    stock = Counter({(one.site, one.transponder): one.count for one in design.owned})
    if len(stock) != len(design.owned) or any(one.count < 1 for one in design.owned):
        yield "transponders of a site are listed twice, or there are none of them"
    yield from _stayed(network, design)
    yield from _stocked(network, paths, HEALTHY.name, design.wavelengths, stock)
    for state, lit in zip(failures, design.relit, strict=True):
        yield from _stocked(network, paths, state.name, lit.wavelengths, stock)
        yield from (f"{state.name}: {fault}" for fault in _lit(network, paths, state, lit, design))


def _stayed(network: Network, design: Design) -> Iterator[str]:
    """Transponders that are said to have been there were; without `removable` all of them are there still."""
    there = transponders_at(network)
    for one in design.owned:
        was = there.get((one.site, one.transponder), 0)
        if one.existing != min(one.count, was):
            yield f"{one.existing} of {one.count} × {one.transponder} at {one.site} are said to be there, {was} are"
    owned = {(one.site, one.transponder): one.count for one in design.owned}
    for (site, part), was in there.items() if not removable(network) else ():
        if owned.get((site, part), 0) < was:
            yield f"{was} × {part} are at {site} already, {owned.get((site, part), 0)} are left"


def _lit(network: Network, paths: Mapping[str, Lightpath], state: State, lit: Relit, design: Design) -> Iterator[str]:
    """What is lit survives, what was there already is counted as such, circuits stay, what is retuned is counted."""
    there = counts(network)
    for group in lit.wavelengths:
        route = paths[group.lightpath].route if group.lightpath in paths else None
        if route is None or state.breaks(route):
            yield f"{group.lightpath} is lit, which is broken"
            continue
        old = min(group.count, there.get((route.fibers, group.transponder, group.mode), 0))
        if group.existing != old:
            yield f"{group.existing} of {group.lightpath} are said to be there, there are {old}"
    leased = [group for group in design.wavelengths if group.transponder in network.circuits]
    now = [group for group in lit.wavelengths if group.transponder in network.circuits]
    if now != [group for group in leased if not state.breaks(paths[group.lightpath].route)]:
        yield "circuits are not those that are leased and stand"
    anew = len(lit.channels) - sum((Counter(lit.channels) & Counter(design.channels)).values())
    if lit.retuned != anew:
        yield f"{lit.retuned} wavelengths are said to be retuned, {anew} are"


def _stocked(
    network: Network,
    paths: Mapping[str, Lightpath],
    state: str,
    wavelengths: Sequence[Wavelengths],
    stock: Mapping[tuple[str, str], int],
) -> Iterator[str]:
    taken: Counter[tuple[str, str]] = Counter()
    for group in wavelengths:
        if group.transponder not in network.circuits and group.lightpath in paths:
            for site in paths[group.lightpath].route.ends:
                taken[site, group.transponder] += group.count
    for (site, part), count in sorted(taken.items()):
        if count > stock.get((site, part), 0):
            yield f"{state}: {count} × {part} are in use at {site}, {stock.get((site, part), 0)} are owned"
