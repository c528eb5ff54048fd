"""Fair rates against the program over links of each demand, which lists no ways; with and without HiGHS."""

from __future__ import annotations

import random
from math import inf

import pytest

from dcplan.design.routing.fair import max_min
from dcplan.design.simplex import Simplex
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear
from dcplan.model.states import HEALTHY, State
from tests.design import factory
from tests.design.test_pieces import waves


def by_links(capacity, wanted, most):
    """Progressive filling, a flow of every demand over every link: who cannot rise alone, at that level, is done."""

    def level(fixed, rising, alone=None):
        program = Program()
        t = program.column("t", -1.0, most)
        load = {link: {} for link in capacity}
        for name, (a, b), gbps in wanted:
            balance = {}
            for link, terms in load.items():
                for head, tail in (link, link[::-1]):
                    f = program.column(f"f{len(program.columns)}")
                    terms[f] = 1.0
                    balance.setdefault(head, {})[f] = -1.0
                    balance.setdefault(tail, {})[f] = 1.0
            for site, here in balance.items():
                if site not in (a, b):
                    program.row(f"b{len(program.rows)}", here, 0, 0)
            here = balance.get(b, {})
            if name == alone or (alone is None and name in rising):
                program.row(f"r{len(program.rows)}", here | {t: -gbps}, lower=0)
            else:
                program.row(f"r{len(program.rows)}", here, lower=fixed.get(name, 0) * gbps * (1 - 1e-9))
        for link, terms in load.items():
            program.row(f"l{len(program.rows)}", terms, upper=capacity[link])
        linear = Linear(program)
        assert linear.solve() == "optimal"
        return linear.values[t]

    fixed, rising = {}, {name for name, _, _ in wanted}
    while rising:
        reached = level(fixed, rising)
        held = fixed | dict.fromkeys(rising, reached * (1 - 1e-9))
        done = {name for name in rising if reached >= most or level(held, set(), name) <= reached * (1 + 1e-6) + 1e-6}
        assert done
        fixed |= dict.fromkeys(done, reached)
        rising -= done
    return fixed


@pytest.mark.parametrize("programs", [Simplex, Linear])
def test_shares_are_those_of_a_flow_over_every_link(programs):
    for seed in range(12):
        chance = random.Random(seed)
        sites = "abcde"[: chance.randint(3, 5)]
        fibers = {a + b: (a, b, 60, 1) for i, a in enumerate(sites) for b in sites[i + 1 :] if chance.random() < 0.7}
        if not fibers:
            continue
        net = factory.network(list(sites), fibers)
        paths = factory.lightpaths(net, only=lambda route: len(route.fibers) == 1)
        lit = [one for one in waves(*((path.id, chance.randint(0, 4)) for path in paths)) if one.count]
        wanted = [
            (f"d{i}", tuple(sorted(chance.sample(sites, 2))), chance.uniform(20, 400))
            for i in range(chance.randint(1, 5))
        ]
        state = chance.choice([HEALTHY, State("f", frozenset([min(fibers)]))])
        routes, most = {path.id: path.route for path in paths}, chance.choice([inf, 1.0])
        capacity = {routes[one.lightpath].ends: 100.0 * one.count for one in lit}
        capacity = {ends: gbps for ends, gbps in capacity.items() if not state.fibers & {"".join(ends)}}
        found = max_min(paths, lit, state, wanted, most=most, programs=programs)
        assert found == pytest.approx(by_links(capacity, wanted, most), rel=1e-5, abs=1e-5), seed


@pytest.mark.parametrize("programs", [Simplex, Linear])
def test_where_to_begin_changes_nothing(programs):
    """Ways of a plan, and that it carries all fixed demands, only make it quicker; where it does not, it is not so."""
    net = factory.network(list("abc"), {"ab": ("a", "b", 60, 1), "bc": ("b", "c", 60, 1), "ac": ("a", "c", 60, 1)})
    paths = factory.lightpaths(net, only=lambda route: len(route.fibers) == 1)
    by_ends = {path.route.ends: path.id for path in paths}
    lit = waves(*((path.id, 2) for path in paths))
    detour = (by_ends["a", "c"], by_ends["b", "c"])
    for fixed_gbps in (150.0, 500.0):
        wanted = [("x", ("a", "b"), fixed_gbps), ("job", ("a", "c"), 100.0)]
        plain = max_min(paths, lit, HEALTHY, wanted, frozenset(["x"]), programs=programs)
        told = max_min(
            paths, lit, HEALTHY, wanted, frozenset(["x"]), likely={"x": [detour]}, carried=True, programs=programs
        )
        assert told == pytest.approx(plain)
    assert plain == pytest.approx({"x": 0.8, "job": 0.0}), "400 Gb/s by two ways leave a job nothing"
