"""Scheme relight in a report: transponders by site, and what is tuned to what in each failure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dcplan.report.regeneration import ENDS
from dcplan.report.sheet import Table, again, number_column, say, text_column, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dcplan.design.result import Channel, Relit, Wavelengths
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Cell, Row

Place = tuple[str, str]
"""Site and type of transponder."""
Tuned = tuple[str, str]
"""Lightpath and mode; twice nothing: dark."""
DARK: Tuned = ("", "")


def tables(plan: Plan) -> Iterator[Table]:
    """Transponders by site and what is retuned; none but under relight."""
    if plan.design.scheme == "relight":
        yield transponders(plan)
        yield retuned(plan)


def transponders(plan: Plan) -> Table:
    """A row for each type of transponder at each site: what is there, and the state that takes most."""
    ends = {path.id: path.route.ends for path in plan.lightpaths}
    used = {"healthy": _in_use(ends, plan.design.wavelengths)}
    used |= {relit.state: _in_use(ends, relit.wavelengths) for relit in plan.design.relit}
    prices = {item.part: item.unit_usd for item in plan.design.bill if item.what.startswith(ENDS)}
    rows: list[Row] = []
    above = None
    for owned in plan.design.owned:
        place = (owned.site, owned.transponder)
        most = max(used, key=lambda state: used[state][place])
        site = say(owned.site)
        rows.append(
            (
                again(site) if owned.site == above else site,
                say(owned.transponder),
                whole(owned.count),
                whole(used["healthy"][place]),
                whole(used[most][place]),
                say(most),
                whole((owned.count - owned.existing) * prices.get(owned.transponder, 0.0)),
            )
        )
        above = owned.site
    columns = (
        text_column("site", "Site", 10),
        text_column("transponder", "Transponder", 10),
        number_column("owned", "Owned"),
        number_column("healthy", "Healthy"),
        number_column("most", "Most"),
        text_column("most_state", "in", 12),
        number_column("usd", "Price", "US$"),
    )
    note = "In use: healthy, and in the state that takes most. " if rows else ""
    note += "A long-haul port of an appliance counts as one. Energy stands in the bill." if rows else ""
    total = (say("total"), say(""), whole(sum(one.count for one in plan.design.owned)), *[say("")] * 3, _total(rows))
    return Table(
        "transponders", "Transponders by site", columns, tuple(rows), total if len(rows) > 1 else None, note, main=True
    )


def _total(rows: Sequence[Row]) -> Cell:
    return whole(sum(float(row[-1].value or 0.0) for row in rows))


def retuned(plan: Plan) -> Table:
    """What each failure tunes to what, transponder by transponder, equal ones at several sites in one row."""
    ends = {path.id: path.route.ends for path in plan.lightpaths}
    fibers = {path.id: ", ".join(path.route.fibers) for path in plan.lightpaths}
    rows: list[Row] = []
    for relit in plan.design.relit:
        state = say(relit.state)
        for (part, before, after), sites in _moves(ends, plan.design.channels, relit).items():
            at = ", ".join(f"{count} at {site}" for site, count in sorted(sites.items()))
            moved = say(_tuned(before, fibers)), say(_tuned(after, fibers))
            rows.append((state, whole(sum(sites.values())), *moved, say(at), say(part)))
            state = again(state)
    columns = (
        text_column("state", "State", 10),
        number_column("transponders", "Tuned"),
        text_column("before", "From", 16),
        text_column("after", "to", 16),
        text_column("sites", "Transponders", 14),
        text_column("transponder", "Type", 6),
    )
    still = [relit.state for relit in plan.design.relit if not relit.retuned]
    note = "Every other wavelength that survives stays as it is. "
    if plan.design.anchored:
        note += (
            f"Retuned in no failure: {len(plan.design.anchored)} of {len(plan.design.channels)} wavelengths, on which "
            "demands of other schemes ride. "
        )
    if still:
        note += f"Nothing is retuned in {len(still)} of {len(plan.design.relit)} failures."
    return Table("retuned", "Retuned in each failure", columns, tuple(rows), note=note.strip())


def _in_use(ends: Mapping[str, tuple[str, str]], wavelengths: Iterable[Wavelengths]) -> Counter[Place]:
    used: Counter[Place] = Counter()
    for group in wavelengths:
        for site in ends[group.lightpath]:
            used[site, group.transponder] += group.count
    return used


def _moves(
    ends: Mapping[str, tuple[str, str]], healthy: Sequence[Channel], relit: Relit
) -> dict[tuple[str, Tuned, Tuned], Counter[str]]:
    """(type, from, to) -> site -> transponders: at each site what falls free takes up, in order, what is lit anew."""
    gone, anew = Counter(healthy) - Counter(relit.channels), Counter(relit.channels) - Counter(healthy)
    free, wanted = _by_place(ends, gone), _by_place(ends, anew)
    moves: dict[tuple[str, Tuned, Tuned], Counter[str]] = {}
    for place in sorted(wanted):
        before = [*free.get(place, ()), *[DARK] * len(wanted[place])]
        for move in zip(before, wanted[place], strict=False):
            moves.setdefault((place[1], *move), Counter())[place[0]] += 1
    return dict(sorted(moves.items()))


def _by_place(ends: Mapping[str, tuple[str, str]], channels: Mapping[Channel, int]) -> dict[Place, list[Tuned]]:
    found: dict[Place, list[Tuned]] = {}
    for channel in channels:
        for site in ends[channel.lightpath]:
            found.setdefault((site, channel.transponder), []).append((channel.lightpath, channel.mode))
    return {place: sorted(tuned) for place, tuned in found.items()}


def _tuned(tuned: Tuned, fibers: Mapping[str, str]) -> str:
    return "dark" if tuned == DARK else f"{tuned[0]} [{fibers[tuned[0]]}] {tuned[1]}"
