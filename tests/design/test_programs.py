"""The program as text for tiny networks; rounding and projection are valid; the solver's word is not taken for it."""

from __future__ import annotations

import pytest

from dcplan.design.cuts.inequality import pair_capacity_gbps
from dcplan.design.formulation import buy, opening, spectrum, whole, whole_slots
from dcplan.design.limits import Limits
from dcplan.design.problem import problem
from dcplan.design.solver import solve as solver
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear, available, relative_gap, solve
from dcplan.design.solver.text import lp_text
from dcplan.design.ways.chains import ways_of
from dcplan.design.ways.protection import protect
from dcplan.errors import SolverError
from dcplan.model.states import promised_states
from tests.design import factory


def made(net, demands, paths=None):
    return problem(net, factory.lines(net), paths or factory.lightpaths(net), demands, promised_states(net))


def test_golden_two_fibers(golden):
    net = factory.network(["a", "b"], {"n": ("a", "b", 82, 8), "s": ("a", "b", 116, 4, {"build_usd_per_km": 100})})
    golden("two-fibers.lp", lp_text(whole(made(net, [factory.demand(net, "d", "a", "b", 5200, 0.5)]))))


def test_golden_triangle_with_limit(golden):
    fibers = {"ab": ("a", "b", 100, 2), "bc": ("b", "c", 100, 2), "ac": ("a", "c", 100, 2)}
    net = factory.network(["a", "b", "c"], fibers, {"routes": 1})
    demands = [factory.demand(net, "d", "a", "b", 900, 1, 1.2), factory.demand(net, "e", "b", "c", 400)]
    tiny = made(net, demands)
    golden("triangle-limit.lp", lp_text(whole(tiny, {0: ways_of(tiny, tiny.demands[0]).ways})))


def test_golden_one_plus_one(golden):
    fibers = {"ab": ("a", "b", 100, 2), "bc": ("b", "c", 100, 2), "ac": ("a", "c", 100, 2)}
    net = factory.network(["a", "b", "c"], fibers, {"routes": 1, "scheme": "one-plus-one"})
    tiny = made(net, [factory.demand(net, "d", "a", "b", 900)])
    program = Program()
    bought = buy(program, tiny)
    spectrum(program, tiny, bought, whole_slots(tiny))
    opening(program, tiny, bought)
    protect(program, tiny, bought, {0: ways_of(tiny, tiny.demands[0]).ways})
    golden("one-plus-one.lp", lp_text(program))


def test_pair_capacity_fills_the_band():
    net = factory.network(["a", "b"], {"n": ("a", "b", 82, 8)}, gear={"band_start_thz": 191.3, "band_end_thz": 191.6})
    assert pair_capacity_gbps(made(net, [])) == {"n": 1600.0}  # 24 slots: two of 800 Gb/s in 12 slots each
    odd = factory.network(["a", "b"], {"n": ("a", "b", 82, 8)}, gear={"band_start_thz": 191.3, "band_end_thz": 191.55})
    assert pair_capacity_gbps(made(odd, [])) == {"n": 1200.0}  # 20 slots: 800 in 12, 400 in 6


def knapsack(size=40):
    """A program that no solver proves at once: many equal-ratio items, one tight row."""
    program = Program()
    columns = {
        program.column(f"n{i}", 7.0 + 3 * i + (i * i) % 11, 5, integer=True): 5.0 + 2 * i + (i * 7) % 13
        for i in range(size)
    }
    program.row("need", {i: float(value) for i, value in columns.items()}, lower=2 * sum(columns.values()) + 0.5)
    program.row("also", {i: float((value * 37) % 101) for i, value in columns.items()}, lower=40 * size + 0.5)
    return program


def test_gap_is_computed_not_believed():
    loose = solve("highs", knapsack(), Limits(20, 0.5))
    assert loose.gap is not None
    assert loose.bound is not None
    assert loose.objective is not None
    assert loose.gap == pytest.approx(relative_gap(loose.objective, loose.bound))
    tight = solve("highs", knapsack(), Limits(20, 1e-4))
    assert tight.objective is not None
    assert loose.bound <= tight.objective + 1e-6 <= loose.objective + 2e-6


def test_a_stopped_solve_is_never_optimal(monkeypatch):
    """Whatever a solver says: with a bound farther off than the gap, the answer is feasible."""
    import pulp

    program = knapsack(5)
    real = pulp.LpProblem.solve

    def lying(self, *args, **kwargs):
        stats = real(self, *args, **kwargs)
        from types import SimpleNamespace

        return SimpleNamespace(status=pulp.LpSolveStatus.Optimal, has_solution=True, best_bound=0.5 * stats.best_bound)

    monkeypatch.setattr(pulp.LpProblem, "solve", lying)
    assert solve("highs", program, Limits(20, 1e-4)).status == "feasible"


def test_stopped_without_answer_is_failed():
    stopped = solve("highs", knapsack(), Limits(1e-6, 1e-9))
    assert stopped.status in ("failed", "feasible")
    assert stopped.reason == "time limit"


def test_infeasible_is_said():
    program = Program()
    column = program.column("n0", 1.0, 3, integer=True)
    program.row("need", {column: 1.0}, lower=4)
    assert solve("highs", program, Limits()).status == "infeasible"
    assert Linear(program).solve() == "infeasible"


def test_solvers_by_name():
    assert "highs" in available()
    with pytest.raises(SolverError, match="unknown solver `cbcc`"):
        solver.require("cbcc")
    for name in set(solver.names()) - set(available()):
        with pytest.raises(SolverError, match="install the Python package"):
            solver.require(name)


def test_relative_gap():
    assert relative_gap(100, 99) == pytest.approx(0.01)
    assert relative_gap(0, 0) == 0
    assert relative_gap(100, 101) == 0
