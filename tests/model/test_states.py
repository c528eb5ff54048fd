"""The states of a network are what is promised, each loss once, under a name of its own."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.states import HEALTHY, promised_states, promised_to, single_failures
from tests.model.factory import graphs, text_of, valid

FEW = settings(max_examples=60, deadline=None, derandomize=True)


def made(survive: str, more: str = "", fibers: str = "") -> tuple[str, ...]:
    """Names of the states of three sites on a ring, with a duct over two fibers."""
    text = (
        "dcplan: 1\nname: ring\nsites: {a: {lat: 40, lon: -96}, b: {lat: 40, lon: -96}, c: {lat: 40, lon: -96}}\n"
        "fibers:\n"
        "  ab: {ends: [a, b], length_km: 9, type: g652d, pairs: 1, shared_risk: [duct]}\n"
        "  bc: {ends: [b, c], length_km: 9, type: g652d, pairs: 1, shared_risk: [duct, bridge]}\n"
        f"{fibers}  ca: {{ends: [c, a], length_km: 9, type: g652d, pairs: 1}}\n"
        f"policy: {{survive: {survive}}}\n{more}"
    )
    return tuple(state.name for state in promised_states(valid(text)))


def test_two_of_a_kind_may_be_one_alone() -> None:
    assert made("[any-two-fibers]") == (
        "healthy", "fiber ab", "fiber bc", "fiber ca", "fibers ab + bc", "fibers ab + ca", "fibers bc + ca"
    )  # fmt: skip
    assert made("[any-two-sites]") == ("healthy", "site a", "site b", "site c", *(
        f"sites {one} + {other}" for one, other in ("ab", "ac", "bc")
    ))  # fmt: skip


def test_what_takes_the_same_is_one_state() -> None:
    """A group of one fiber is that fiber, two groups within each other are the larger one, a pair may be a group."""
    assert made("[any-fiber, any-two-shared-risks]") == (
        "healthy", "fiber ab", "fiber bc", "fiber ca", "shared risk duct"
    )  # fmt: skip
    assert "fibers ab + bc" not in made("[any-two-fibers, any-shared-risk]")


def test_own_failures_take_all_that_they_name() -> None:
    text = "failures: {storm: {fibers: [ca], shared_risk: [bridge]}, fire: {sites: [a]}}\n"
    assert made("[storm, any-site, fire]", text) == ("healthy", "site a", "site b", "site c", "storm")
    assert made("[fire]", text) == ("healthy", "fire")


def test_circuits_fail_like_fibers() -> None:
    lease = "circuits: {rent: {ends: [a, b], length_km: 9, modules: {wave: {gbps: 100, usd: 1}}}}\n"
    assert made("[any-fiber]", lease)[-1] == "circuit rent"
    assert made("[any-two-fibers]", lease)[-1] == "fiber ca + circuit rent"


def test_names_that_read_alike_are_told_apart() -> None:
    odd = "  ab + bc: {ends: [a, b], length_km: 9, type: g652d, pairs: 1}\n"
    odd += "  bc + ca: {ends: [a, b], length_km: 9, type: g652d, pairs: 1}\n"
    found = made("[any-two-fibers]", fibers=odd)
    assert len(set(found)) == len(found)
    assert {"fibers ab + bc + ca", "fibers ab + bc + ca (2)"} <= set(found)


def test_promises_of_others_do_not_count() -> None:
    more = (
        "demands:\n  d: {between: [a, b], gbps: 1, survive: [any-site]}\n  e: {between: [a, b], gbps: 1, survive: []}\n"
    )
    assert made("[any-fiber]", more) == ("healthy", "site a", "site b", "site c")
    assert made("[any-fiber]", more + "  f: {between: [a, b], gbps: 1}\n")[1:4] == ("fiber ab", "fiber bc", "fiber ca")


@FEW
@given(graphs(), st.sets(st.sampled_from(["any-fiber", "any-two-fibers", "any-site", "any-two-sites"])))
def test_states_are_the_losses_that_were_promised(graph: tuple[int, list[tuple[int, int]]], survive: set[str]) -> None:
    sites, fibers = graph
    network = valid(text_of(sites, fibers, f"policy: {{survive: [{', '.join(sorted(survive))}]}}\n"))
    states = promised_states(network)
    names = [f"f{i}" for i in range(len(fibers))]
    losses = {(frozenset[str](), frozenset[str]())}
    most = 2 if "any-two-fibers" in survive else int("any-fiber" in survive)
    for size in range(1, most + 1):
        losses |= {(frozenset(lost), frozenset[str]()) for lost in combinations(names, size)}
    most = 2 if "any-two-sites" in survive else int("any-site" in survive)
    for size in range(1, most + 1):
        for gone in combinations([f"s{i}" for i in range(sites)], size):
            ending = frozenset(f"f{i}" for i, ends in enumerate(fibers) if {f"s{end}" for end in ends} & set(gone))
            losses.add((ending, frozenset(gone)))
    assert {(state.fibers, state.sites) for state in states} == losses
    assert len(states) == len(losses) == len({state.name for state in states})
    assert states[0] is HEALTHY
    assert promised_to(network, states, ["any-fiber"]) == {state.name for state in states} & {
        "healthy", *(f"fiber f{i}" for i in range(len(fibers)))
    }  # fmt: skip
    assert all(len(state.sites) <= 1 for state in single_failures(network))
