"""What a network carries as it is, state by state; what limits it, what helps."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from dcplan.design.given.network import WHOLE
from dcplan.report.sheet import (
    Cell,
    Fact,
    Notice,
    Table,
    View,
    count,
    fixed,
    number,
    number_column,
    say,
    text_column,
    verdict,
    whole,
)
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.api.standing import AsItIs
    from dcplan.design.given.helps import Addition, Tight
    from dcplan.design.given.network import GivenState
    from dcplan.report.sheet import Row

MOST_TIGHT = 12
"""Limiting links that are listed."""
ROUTED = {
    "fraction": "Traffic at that fraction of what each demand asks, on the fastest routes that allow it.",
    "utilisation": "Traffic as asked, the fullest wavelengths as empty as they can be (above 100 % it does not fit), "
    "on the fastest of such routes.",
    "latency": "Traffic as asked, or at the largest common fraction where that is less, at the least latency.",
}
"""Objective -> what the table shows."""


def view(answer: AsItIs) -> View:
    """How much is carried in each state, then what limits and what helps."""
    given = answer.given
    return View(
        kind="given",
        title=answer.name,
        facts=tuple(_facts(answer)),
        notices=tuple(_apart(given.routing.states)),
        tables=(_states(answer), _tight(given.limits), _helps(answer)),
    )


def _facts(answer: AsItIs) -> Iterator[Fact]:
    routing = answer.given.routing
    short = [state for state in routing.states if not state.whole]
    good = "everything that is promised is carried, nothing is bought"
    text = f"not everything that is promised is carried in {count(len(short), 'state')}" if short else good
    yield Fact("answer", text, {"whole": not short}, "FAIL" if short else "ok")
    asking = [state for state in routing.states if state.fraction is not None]
    if not asking:
        yield Fact("fraction", "nothing is asked", {"fraction": None})
        return
    worst = min(asking, key=lambda state: state.fraction or 0.0)
    share = _percent(worst.fraction)
    yield Fact("fraction", f"{share} of all demands alike, at the least: {worst.state}", {"fraction": worst.fraction})
    fullest = max(routing.states, key=lambda state: state.utilisation)
    if fullest.worst_link is not None:
        link = " – ".join(fullest.worst_link)
        text = f"{_percent(fullest.utilisation)} at the most: {link}, {fullest.state}"
        yield Fact("utilisation", text, {"utilisation": fullest.utilisation, "link": link})
    late = max((state for state in routing.states if state.latest_ms), key=lambda s: s.latest_ms or 0.0, default=None)
    if late is not None:
        text = f"{significant(late.latest_ms or 0.0)} ms at the most: {late.latest}, {late.state}"
        yield Fact("latency", text, {"latency_ms": late.latest_ms})


def _percent(fraction: float | None) -> str:
    """Below 100 % never rounded up to it."""
    share = 100 * (fraction or 0.0)
    if share / 100 >= WHOLE or share < 99.9:
        return f"{significant(share)} %"
    return f"{floor(share * 1e4) / 1e4:.4f} %"


def _apart(states: Sequence[GivenState]) -> Iterator[Notice]:
    by_demand: dict[str, list[str]] = {}
    for state in states:
        for demand in state.apart:
            by_demand.setdefault(demand, []).append(state.state)
    for demand, where in by_demand.items():
        more = f" and {count(len(where) - 1, 'other state')}" if len(where) > 1 else ""
        yield Notice("FAIL", f"nothing lit joins the ends of {demand} in time in {where[0]}{more}")


def _states(answer: AsItIs) -> Table:
    rows = tuple(_state(state) for state in answer.given.routing.states)
    columns = (
        text_column("state", "State", 10),
        text_column("whole", ""),
        number_column("fraction_percent", "Fraction", "%"),
        number_column("rest_percent", "of others", "%"),
        number_column("asked_gbps", "Asks", "Gb/s"),
        number_column("routed_gbps", "Routed", "Gb/s"),
        text_column("link", "Fullest link", 12),
        number_column("utilisation_percent", "Load", "%"),
        number_column("mean_ms", "Mean", "ms"),
        number_column("latest_ms", "Latest", "ms"),
        text_column("latest", "is", 10),
    )
    note = (
        "Fraction: the largest share of what they ask that all demands can have at once. Of others: where the ends of "
    )
    note += f"some demand are apart. {ROUTED[answer.given.routing.objective]} Mean: one-way latency, weighed by rate."
    return Table("states", "On what is lit", columns, rows, note=note, main=True)


def _state(state: GivenState) -> Row:
    apart = bool(state.apart) and state.rest is not None
    return (
        say(state.state),
        verdict(good=state.whole),
        _share(state.fraction),
        _share(state.rest) if apart else Cell("", None),
        whole(state.asked_gbps),
        whole(state.routed_gbps),
        say(" – ".join(state.worst_link) if state.worst_link else ""),
        fixed(100 * state.utilisation, 1),
        fixed(state.mean_ms, 3),
        fixed(state.latest_ms, 3),
        say(state.latest),
    )


def _share(fraction: float | None) -> Cell:
    if fraction is None:
        return number(None)
    return Cell(_percent(fraction).removesuffix(" %"), 100 * fraction, "" if fraction >= WHOLE else "bad")


def _tight(limits: Sequence[Tight]) -> Table:
    shown = limits[:MOST_TIGHT]
    rows = tuple(
        (say(one.state), say(" – ".join(one.link)), whole(one.lit_gbps), number(100 * 100 * one.per_gbps))
        for one in shown
    )
    columns = (
        text_column("state", "State", 10),
        text_column("link", "Link", 12),
        number_column("lit_gbps", "Lit", "Gb/s"),
        number_column("per_100_gbps_percent", "100 Gb/s more", "% more"),
    )
    note = "In the states with the least fraction: what 100 Gb/s more on a link would add to it, for small additions. "
    note += f"{count(len(limits) - len(shown), 'further link')} not listed. " if len(limits) > len(shown) else ""
    return Table("limits", "What limits", columns, rows, note=note.strip() if rows else "nothing", main=True)


def _helps(answer: AsItIs) -> Table:
    paths = {path.id: path for path in answer.lightpaths}
    before = answer.given.routing.fraction
    rows = tuple(_addition(one, paths[one.lightpath].route.name, before) for one in answer.given.helps)
    columns = (
        text_column("what", "One more", 16),
        text_column("on", "on", 16),
        number_column("gbps", "Rate", "Gb/s"),
        number_column("usd", "Price", "US$"),
        number_column("fraction_percent", "Fraction", "%"),
        number_column("percent_per_musd", "per US$ M", "% more"),
    )
    note = "Each alone, worked out anew in all states; price with energy, lease and what must be lit or built for it."
    none = "no single wavelength or module raises the least fraction: `--upgrade` designs what is lacking"
    return Table("helps", "What helps most", columns, rows, note=note if rows else none, main=True)


def _addition(one: Addition, route: str, before: float) -> Row:
    pairs = f", a pair of {', '.join(one.pairs)}" if one.pairs else ""
    gain = 100 * (one.fraction - before)
    return (
        say(f"{one.part} {one.mode}{pairs}"),
        say(route),
        whole(one.gbps),
        whole(one.usd),
        _share(one.fraction),
        number(gain / one.usd * 1e6 if one.usd else None),
    )
