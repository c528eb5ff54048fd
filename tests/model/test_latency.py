"""Latency limits against networkx: a demand is refused in exactly the states that no route can serve in time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.graph import adjacency, fastest
from dcplan.model.rules.latency import BEYOND_IN_FAILURE, BEYOND_LIGHT
from dcplan.model.states import HEALTHY, promised_states
from tests.model.factory import graphs, network, text_of, valid

LENGTHS = st.lists(st.integers(1, 60).map(float), min_size=11, max_size=11)
POLICY = "policy: {survive: [any-fiber, any-site]}\n"


@settings(max_examples=100, deadline=None, derandomize=True)
@given(graphs(), LENGTHS, st.floats(0.005, 0.6))
def test_limits(graph: tuple[int, list[tuple[int, int]]], lengths: list[float], limit_ms: float) -> None:
    import networkx as nx

    sites, fibers = graph
    demand = f"demands: {{d: {{between: [s0, s1], gbps: 1, max_latency_ms: {limit_ms!r}}}}}\n"
    checked, findings = network(text_of(sites, fibers, demand + POLICY, lengths))
    assert checked is not None
    codes = {finding.rule.code for finding in findings}

    def shortest(lost_fibers: frozenset[str], lost_sites: frozenset[str]) -> float | None:
        left = nx.Graph()
        left.add_nodes_from(site for site in checked.sites if site not in lost_sites)
        for name, fiber in checked.fibers.items():
            if name not in lost_fibers:
                ms = checked.fiber_latency_ms(name)
                a, b = fiber.ends
                if ms < left.get_edge_data(a, b, {"ms": float("inf")})["ms"]:
                    left.add_edge(a, b, ms=ms)
        if not nx.has_path(left, "s0", "s1"):
            return None
        return float(nx.shortest_path_length(left, "s0", "s1", weight="ms"))

    healthy = shortest(frozenset(), frozenset())
    assert (BEYOND_LIGHT.code in codes) == (healthy is not None and healthy > limit_ms)
    states = [state for state in promised_states(checked)[1:] if not {"s0", "s1"} & state.sites]
    slow = [ms for state in states if (ms := shortest(state.fibers, state.sites)) is not None and ms > limit_ms]
    expected = healthy is not None and healthy <= limit_ms and bool(slow)
    assert (BEYOND_IN_FAILURE.code in codes) == expected


def test_fastest_route_is_whole() -> None:
    made = valid(text_of(3, [(0, 1), (1, 2), (0, 2)], lengths=[10.0, 10.0, 30.0]))
    latency = {name: made.fiber_latency_ms(name) for name in made.fibers}
    ms, route = fastest(adjacency(made), latency, "s0", ["s2"], HEALTHY)["s2"]
    assert route.sites == ("s0", "s1", "s2")
    assert route.fibers == ("f0", "f1")
    assert ms == pytest.approx(20 * 1.468 / 299_792.458 * 1e3)
