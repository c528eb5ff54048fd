"""How often states come: by hand, and against a network that fails and is repaired for many years."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.load import load_document
from dcplan.model.network import Network
from dcplan.model.outages import UNSEEN, Risk, outages, risks
from dcplan.model.rules.examples import GOOD, adding, with_change
from dcplan.model.source import parse
from dcplan.model.states import HEALTHY, State, promised_states

quiet = settings(derandomize=True, deadline=None, max_examples=40)


def risk(name: str, failures_per_year: float, repair_h: float, *fibers: str) -> Risk:
    return Risk(State(name, frozenset(fibers or (name,))), failures_per_year, repair_h)


def network(text: str) -> Network:
    found, findings = load_document(parse(text, "example.yaml"))
    assert found is not None, findings
    return found


def test_a_single_fiber_by_hand() -> None:
    """Two cuts a year of 12 h: up for 4,380 h, down for 12."""
    (up, down) = outages([HEALTHY], [risk("a", 2, 12)])
    assert up.state is HEALTHY
    assert (up.share, down.share) == (pytest.approx(4380 / 4392), pytest.approx(12 / 4392))


def test_what_takes_the_same_is_one_state_under_its_known_name() -> None:
    duct = State("shared risk duct", frozenset("ab"))
    found = {one.state.name: one.share for one in outages([HEALTHY, duct], [
        risk("a", 1, 87.6), risk("b", 1, 87.6), risk("dig", 1, 87.6, "a", "b"),
    ])}  # fmt: skip
    u = 0.01 / 1.01
    want = u * (1 - u) ** 2 + 3 * u**2 * (1 - u)  # the dig alone, and any two of the three
    assert found["shared risk duct"] == pytest.approx(want)
    assert set(found) == {"healthy", "a", "b", "shared risk duct"}


@given(st.lists(st.tuples(st.floats(0.01, 20), st.floats(1, 200)), max_size=6))
@quiet
def test_shares_add_up_to_one_but_for_what_is_not_looked_at(rates: list[tuple[float, float]]) -> None:
    at_risk = [risk(f"f{i}", *rate) for i, rate in enumerate(rates)]
    found = outages([HEALTHY], at_risk)
    total = sum(one.share for one in found)
    busy = sum(one.unavailable for one in at_risk)
    assert total <= 1 + 1e-12
    assert 1 - total <= UNSEEN + busy**3  # three at once are not looked at
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


def test_a_simulation_of_many_years_agrees() -> None:
    at_risk = [risk("a", 20, 40), risk("b", 10, 60), risk("c", 30, 20)]
    source, hours = random.Random(11), 2_000_000.0
    changes = []
    for one in at_risk:
        clock, down = 0.0, False
        while clock < hours:
            mean = one.repair_h if down else 8760 / one.failures_per_year
            clock += source.expovariate(1 / mean)
            down = not down
            changes.append((clock, one.state.name, down))
    spent: dict[frozenset[str], float] = {}
    clock, gone = 0.0, frozenset[str]()
    for at, name, down in sorted(changes):
        spent[gone] = spent.get(gone, 0.0) + min(at, hours) - min(clock, hours)
        clock, gone = at, gone | {name} if down else gone - {name}
    for one in outages([HEALTHY], at_risk):
        assert spent[one.state.fibers] / hours == pytest.approx(one.share, rel=0.1)
    assert spent[frozenset()] / hours == pytest.approx(outages([HEALTHY], at_risk)[0].share, rel=0.005)


def test_everything_in_a_file_that_says_how_often_it_fails() -> None:
    text = with_change("type: g652d, pairs: 4,", "type: g652d, pairs: 4, failures_per_year: 0.5, repair_h: 12,", GOOD)
    text = with_change("{lat: 40.89,", "{failures_per_year: 0.1, repair_h: 6, lat: 40.89,", text)
    text = adding("failures:\n  both: {fibers: [north, south], failures_per_year: 0.2, repair_h: 20}\n", text)
    net = network(text)
    found = {one.state.name: (sorted(one.state.fibers), sorted(one.state.sites)) for one in risks(net)}
    assert found == {
        "fiber north": (["north"], []),
        "site lincoln": (["north", "south"], ["lincoln"]),
        "both": (["north", "south"], []),
    }
    assert promised_states(net)[1].name == "fiber north"
