"""A plan under ECMP: which links would be overloaded in which state, and which demands would be late."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

from dcplan.assess.ecmp import FULL
from dcplan.report.sheet import (
    Fact,
    Table,
    View,
    count,
    fixed,
    number,
    number_column,
    say,
    text_column,
    verdict,
)
from dcplan.units import rate, significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.assess.ecmp import Ecmp, EcmpState, LinkLoad
    from dcplan.report.sheet import Cell, Row, Value

SPLIT = "Split equally at each site over the neighbours on shortest paths; lightpaths between the same sites with the "
SPLIT += "same weight are one link. Loads in one direction."


def view(name: str, found: Ecmp, *, every: bool = False) -> View:
    """What holds under ECMP and what does not, then states, links and demands; every: each link in each state too."""
    return View(
        kind="ecmp",
        title=name,
        facts=(_verdict(found), _worst(found)),
        tables=(_states(found), _overloaded(found), _late(found), *([_every(found)] if every else [])),
    )


def _verdict(found: Ecmp) -> Fact:
    weights = "latency in µs" if found.weights == "latency" else "1 for each hop"
    broken = [state for state in found.states if not state.kept]
    values: dict[str, Value] = {"weights": found.weights, "kept": found.kept, "states_broken": len(broken)}
    states = count(len(found.states), "state")
    if not broken:
        return Fact("ECMP", f"carries everything in {states} (weights: {weights})", values, "ok")
    links = {(name, link.lightpaths) for state in broken for name, link in _by_name(state)}
    late = {one.demand for state in broken for one in state.late}
    parted = {demand for state in broken for demand in state.parted}
    what = [f"overloads {count(len(links), 'link')}"] * bool(links)
    what += [f"makes {count(len(late), 'demand')} late"] * bool(late)
    what += [f"leaves {count(len(parted), 'demand')} without a path"] * bool(parted)
    return Fact("ECMP", f"{', '.join(what)}, in {len(broken)} of {states} (weights: {weights})", values, "FAIL")


def _worst(found: Ecmp) -> Fact:
    loaded = [(state.links[0], state.state) for state in found.states if state.links]
    if not loaded:
        return Fact("fullest link", "no link carries anything", {"used_percent": None})
    link, state = max(loaded, key=lambda pair: pair[0].used)
    values: dict[str, Value] = {
        "state": state,
        "link": _name(link),
        "used_percent": 100 * link.used,
        "carried_percent": 100 / max(1.0, link.used),
    }
    text = f"{_name(link)}, {state}: {rate(link.load_gbps)} on {rate(link.capacity_gbps)}"
    if link.used > FULL:
        text += f"; only {significant(100 / link.used)} % of all traffic would fit"
    return Fact("fullest link", text, values, "FAIL" if link.used > FULL else "ok")


def _name(link: LinkLoad) -> str:
    return f"{link.source} → {link.target}"


def _states(found: Ecmp) -> Table:
    rows = tuple(_state(state) for state in found.states)
    columns = (
        text_column("state", "State", 10),
        text_column("kept", ""),
        text_column("link", "Fullest link", 14),
        number_column("load_gbps", "Load", "Gb/s"),
        number_column("capacity_gbps", "Capacity", "Gb/s"),
        number_column("used_percent", "Used", "%"),
        number_column("overloaded", "Over"),
        number_column("late", "Late"),
        text_column("parted", "Without a path", 14),
    )
    note = f"{SPLIT} Over: links that are asked to carry more than they can. Late: demands beyond their latency limit."
    return Table("ecmp_states", "Healthy and in each failure, under ECMP", columns, rows, note=note, main=True)


def _state(state: EcmpState) -> Row:
    fullest = state.links[0] if state.links else None
    return (
        say(state.state),
        verdict(good=state.kept),
        say(_name(fullest) if fullest else ""),
        number(fullest.load_gbps if fullest else None),
        number(fullest.capacity_gbps if fullest else None),
        fixed(100 * fullest.used if fullest else None, 0, tone="bad" if state.overloaded else ""),
        fixed(len(state.overloaded), 0),
        fixed(len(state.late) or None, 0),
        say(", ".join(state.parted)),
    )


def _overloaded(found: Ecmp) -> Table:
    """Each overloaded link once, in its worst state."""
    by_link: dict[tuple[str, tuple[str, ...]], list[tuple[LinkLoad, str]]] = {}
    for state in found.states:
        for name, link in _by_name(state):
            by_link.setdefault((name, link.lightpaths), []).append((link, state.state))
    rows = []
    for (name, _), seen in by_link.items():
        link, when = max(seen, key=lambda pair: pair[0].used)
        rows.append((say(name), *_load(link), say(when), fixed(len(seen), 0), fixed(link.latency_ms, 3), _path(link)))
    rows.sort(key=lambda row: -float(row[3].value or 0))
    columns = (
        text_column("link", "Link", 14),
        *_LOAD,
        text_column("state", "Worst in", 10),
        number_column("states", "States"),
        number_column("latency_ms", "One way", "ms"),
        text_column("lightpaths", "Lightpaths", 10),
    )
    note = "– both ways alike, → one way; in the worst state. States: in how many it is overloaded."
    return Table("ecmp_overloaded", "Overloaded links", columns, tuple(rows), note=note if rows else "", main=True)


def _by_name(state: EcmpState) -> Iterator[tuple[str, LinkLoad]]:
    """Overloaded links of a state, a link that is as full both ways once."""
    both = {(link.source, link.target): link for link in state.overloaded}
    for (a, b), link in both.items():
        back = both.get((b, a))
        if back is None or not isclose(back.load_gbps, link.load_gbps, rel_tol=1e-9):
            yield _name(link), link
        elif a < b:
            yield f"{a} – {b}", link


def _every(found: Ecmp) -> Table:
    """Each overloaded link in each state, for machines."""
    rows = tuple(
        (say(state.state), say(link.source), say(link.target), *_load(link), fixed(link.latency_ms, 3), _path(link))
        for state in found.states
        for link in state.overloaded
    )
    columns = (
        text_column("state", "State", 10),
        text_column("source", "From", 10),
        text_column("target", "To", 10),
        *_LOAD,
        number_column("latency_ms", "One way", "ms"),
        text_column("lightpaths", "Lightpaths", 10),
    )
    return Table("ecmp_overloaded_by_state", "Overloaded links, state by state", columns, rows)


_LOAD = (
    number_column("load_gbps", "Load", "Gb/s"),
    number_column("capacity_gbps", "Capacity", "Gb/s"),
    number_column("used_percent", "Used", "%"),
)


def _load(link: LinkLoad) -> Row:
    return number(link.load_gbps, 4), number(link.capacity_gbps, 4), fixed(100 * link.used, 1, tone="bad")


def _path(link: LinkLoad) -> Cell:
    return say(", ".join(link.lightpaths))


def _late(found: Ecmp) -> Table:
    rows = tuple(
        (say(state.state), say(one.demand), fixed(one.latency_ms, 3), fixed(one.max_latency_ms, 3))
        for state in found.states
        for one in state.late
    )
    columns = (
        text_column("state", "State", 10),
        text_column("demand", "Demand", 10),
        number_column("latency_ms", "One way", "ms"),
        number_column("max_latency_ms", "At most", "ms"),
    )
    return Table("ecmp_late", "Demands that would be late", columns, rows, main=True)
