"""What a failure parts, against networkx, which searches the graph anew for each failure."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.graph import adjacency
from dcplan.model.split import forest, split
from dcplan.model.states import State, site_state
from tests.model.factory import graphs, text_of, valid

SETTINGS = settings(max_examples=100, deadline=None, derandomize=True)


@SETTINGS
@given(graphs(), st.sets(st.integers(0, 10), min_size=1, max_size=4))
def test_every_fiber_site_and_group_parts_what_networkx_says(
    graph: tuple[int, list[tuple[int, int]]], group: set[int]
) -> None:
    import networkx as nx

    sites, fibers = graph
    network = valid(text_of(sites, fibers))
    around = adjacency(network)
    walk = forest(around)
    lost = frozenset(f"f{i}" for i in group if i < len(fibers))
    states = [State(name, frozenset([name])) for name in network.fibers]
    states += [site_state(network, site) for site in network.sites]
    states += [State("group", lost)] if lost else []
    whole = nx.MultiGraph()
    whole.add_nodes_from(network.sites)
    whole.add_edges_from((*fiber.ends, name) for name, fiber in network.fibers.items())
    for state in states:
        left = nx.MultiGraph()
        left.add_nodes_from(site for site in network.sites if site not in state.sites)
        left.add_edges_from((*fiber.ends, name) for name, fiber in network.fibers.items() if name not in state.fibers)
        part = split(around, walk, state)
        for a in left:
            for b in nx.node_connected_component(whole, a) - state.sites:
                together = part is None or part(a) == part(b)
                assert together == nx.has_path(left, a, b), (state, a, b)
        for a in whole:
            for b in whole:
                assert (walk.root[a] == walk.root[b]) == nx.has_path(whole, a, b)
