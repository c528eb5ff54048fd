"""ECMP: splits that can be done by hand, and every tiny graph against networkx, which enumerates the paths."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan import api
from dcplan.api import ecmp
from dcplan.cli.app import run
from dcplan.design.result import Demand, Relit, Wavelengths
from dcplan.errors import UsageError
from dcplan.model.network import pair
from dcplan.planfile import PlanState, dumps, loads
from tests.report import plans

HEALTHY = PlanState("healthy", (), ())
MANY = settings(max_examples=80, deadline=None, derandomize=True)


def lit(links, demands, states=(HEALTHY,)):
    """A plan with one lightpath per link (a, b, ms, Gb/s) over a fiber of its own, and demands (a, b, Gb/s, limit)."""
    paths = tuple(
        replace(plans.lightpath(i, (a, b), (f"f{i}",), 1.0), latency_ms=ms) for i, (a, b, ms, _) in enumerate(links)
    )
    waves = tuple(Wavelengths(f"L{i}", "tx", "mode", 1, gbps, 75, ms) for i, (_, _, ms, gbps) in enumerate(links))
    asked = tuple(
        Demand(f"d{i}", pair(a, b), {state.name: gbps for state in states}, limit)
        for i, (a, b, gbps, limit) in enumerate(demands)
    )
    calm = plans.calm()
    first = calm.assessment.states[0]
    seen = replace(calm.assessment, states=tuple(replace(first, state=one.name) for one in states))
    design = replace(calm.design, wavelengths=waves, demands=asked)
    return replace(calm, lightpaths=paths, states=states, design=design, assessment=seen)


def loads_of(state):
    return {(link.source, link.target): link.load_gbps for link in state.links}


SQUARE = [("a", "b", 1.0, 100), ("b", "d", 1.0, 100), ("a", "c", 1.0, 100), ("c", "d", 1.0, 100)]


def test_equal_paths_share_equally_whatever_their_capacity():
    slim = [*SQUARE[:3], ("c", "d", 1.0, 30)]
    (state,) = ecmp(lit(slim, [("a", "d", 80, None)])).states
    assert set(loads_of(state).values()) == {40.0}
    assert [(link.source, link.target) for link in state.overloaded] == [("c", "d"), ("d", "c")]
    assert state.overloaded[0].used == pytest.approx(40 / 30)


def test_a_longer_path_takes_nothing_by_latency_and_its_part_by_hops():
    longer = [*SQUARE[:3], ("c", "d", 1.001, 100)]
    made = lit(longer, [("a", "d", 80, None)])
    assert loads_of(ecmp(made).states[0]) == {("a", "b"): 80, ("b", "a"): 80, ("b", "d"): 80, ("d", "b"): 80}
    assert set(loads_of(ecmp(made, "hops").states[0]).values()) == {40.0}


def test_less_than_half_a_microsecond_is_no_difference():
    close = [*SQUARE[:3], ("c", "d", 1.0004, 100)]
    assert set(loads_of(ecmp(lit(close, [("a", "d", 80, None)])).states[0]).values()) == {40.0}


def test_the_way_back_is_no_mirror():
    # towards d: half at a by c, half by b, which halves again; towards a: a third at d each way
    links = [*SQUARE, ("b", "e", 0.5, 100), ("e", "d", 0.5, 100)]
    found = loads_of(ecmp(lit(links, [("a", "d", 120, None)])).states[0])
    assert found["b", "d"] == pytest.approx(30)
    assert found["d", "b"] == pytest.approx(40)
    assert found["b", "a"] == pytest.approx(80)


def test_parallel_lightpaths_of_the_same_latency_are_one_link():
    links = [("a", "b", 1.0, 400), ("a", "b", 1.0, 100), ("a", "b", 2.0, 1000)]
    (state,) = ecmp(lit(links, [("a", "b", 500, None)])).states
    link = state.links[0]
    assert (link.lightpaths, link.capacity_gbps, link.load_gbps) == (("L0", "L1"), 500, 500)
    assert state.kept
    assert not ecmp(lit(links, [("a", "b", 501, None)])).kept
    assert ecmp(lit(links, [("a", "b", 1500, None)]), "hops").kept


def test_failures_lateness_and_parted_ends():
    states = (HEALTHY, PlanState("fiber f1", ("f1",), ()), PlanState("site b", ("f0", "f1"), ("b",)))
    links = [("a", "b", 1.0, 100), ("b", "d", 1.0, 100), ("a", "c", 2.0, 100), ("c", "d", 2.0, 100)]
    found = ecmp(lit(links, [("a", "d", 80, 3.0), ("a", "b", 10, None)], states))
    healthy, cut, gone = found.states
    assert healthy.kept
    assert [(late.demand, late.latency_ms) for late in cut.late] == [("d0", 4.0)]
    assert gone.late[0].demand == "d0"
    assert gone.parted == ()  # b is gone: d1 asks for nothing
    alone = ecmp(lit(links[:2], [("a", "d", 80, None)], states[:2]))
    assert alone.states[1].parted == ("d0",)
    assert not alone.kept


def test_under_relight_what_is_lit_anew_counts():
    states = (HEALTHY, PlanState("fiber f0", ("f0",), ()))
    made = lit([("a", "b", 1.0, 100), ("a", "b", 2.0, 100)], [("a", "b", 100, None)], states)
    short, long = made.design.wavelengths
    kept = replace(made, design=replace(made.design, scheme="relight", wavelengths=(short,)))
    assert [state.parted for state in ecmp(kept).states] == [(), ("d0",)]
    anew = Relit("fiber f0", (replace(long, count=2),), (), 1)
    found = ecmp(replace(kept, design=replace(kept.design, relit=(anew,))))
    assert [[link.capacity_gbps for link in state.links] for state in found.states] == [[100, 100], [200, 200]]


def by_enumeration(links, demands, weights):
    """Loads by walking every shortest path that networkx lists, split equally at each site on the way."""
    import networkx as nx

    graph = nx.Graph()
    for a, b, ms, _ in links:
        weight = round(1000 * ms) if weights == "latency" else 1
        if not graph.has_edge(a, b) or graph[a][b]["weight"] > weight:
            graph.add_edge(a, b, weight=weight)
    load = defaultdict(float)
    for a, b, gbps, _ in demands:
        for source, target in ((a, b), (b, a)):
            if source not in graph or target not in graph or not nx.has_path(graph, source, target):
                continue
            ahead = defaultdict(set)
            paths = list(nx.all_shortest_paths(graph, source, target, "weight"))
            for path in paths:
                for here, there in pairwise(path):
                    ahead[here].add(there)
            for path in paths:
                share = gbps
                for here in path[:-1]:
                    share /= len(ahead[here])
                for here, there in pairwise(path):
                    load[here, there] += share
    return dict(load)


SITES = ["a", "b", "c", "d", "e", "f"]
ENDS = st.sampled_from(list(combinations(SITES, 2)))


@MANY
@given(
    st.lists(st.tuples(ENDS, st.sampled_from([0.5, 1.0, 1.5, 2.0])), min_size=3, max_size=14),
    st.lists(st.tuples(ENDS, st.integers(1, 100)), min_size=1, max_size=4),
    st.sampled_from(["latency", "hops"]),
)
def test_as_networkx_enumerates(links, demands, weights):
    links = [(a, b, ms, 100.0) for (a, b), ms in links]
    demands = [(a, b, float(gbps), None) for (a, b), gbps in demands]
    (state,) = ecmp(lit(links, demands), weights).states
    assert loads_of(state) == pytest.approx(by_enumeration(links, demands, weights))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("ecmp") / "plan.json"
    network = api.load(Path(__file__).parents[2] / "topologies" / "two-campus.yaml")
    file.write_text(dumps(api.plan(network)), encoding="utf-8")
    return file


def test_a_plan_that_survives_may_not_under_ecmp(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(made)]) == 0
    capsys.readouterr()
    assert run(["assess", str(made), "--ecmp", "--format", "json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    every = shown["tables"]["ecmp_overloaded_by_state"]["rows"]
    assert {row["state"] for row in every} == {"healthy"}
    worst = shown["facts"][1]
    assert worst["state"] == "healthy"
    assert worst["used_percent"] == pytest.approx(max(row["used_percent"] for row in every))
    assert run(["assess", str(made), "--ecmp", "--weights", "hops"]) == 0
    assert "carries everything in 5 states" in capsys.readouterr().out


def test_what_cannot_be_asked(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(made), "--weights", "hops"]) == 2
    assert "give both" in capsys.readouterr().err
    assert run(["assess", str(made), "--ecmp", "--weights", "cost"]) == 2
    assert "latency or hops" in capsys.readouterr().err
    older = replace(loads(made.read_text(encoding="utf-8"), "plan.json"), states=())
    with pytest.raises(UsageError, match="plan it again"):
        api.ecmp(older)


def test_verify_compares_what_fails(made: Path) -> None:
    network = api.load(Path(__file__).parents[2] / "topologies" / "two-campus.yaml")
    plan = loads(made.read_text(encoding="utf-8"), "plan.json")
    assert api.verify(network, plan) == ()
    less = tuple(replace(state, fibers=()) for state in plan.states)
    assert api.verify(network, replace(plan, states=less)) == (
        "the states of the plan are not what the topology gives",
    )
