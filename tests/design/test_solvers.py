"""Every solver that is installed: the same optimum, a bound that holds, limits that are kept, and no word for word."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import cache

import pytest

from dcplan.design.engine import Options, design
from dcplan.design.limits import LAST_S, Limits, Stop, Until, interruptible
from dcplan.design.solver.backends import BACKENDS, quiet, run_highs
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import available, solve
from dcplan.design.solver.whole_numbers import in_whole_numbers
from dcplan.errors import SolverError
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_programs import knapsack

SOLVERS = [name for name in BACKENDS if name != "mosek"]
"""Mosek answers nothing without a licence file."""


@pytest.fixture(params=SOLVERS)
def solver(request):
    if request.param not in available():
        pytest.skip(f"{BACKENDS[request.param].package} is not installed")
    return request.param


def covering(seed, size=16, rows=6):
    """Rows ≥ with coefficients like those of cuts, rows ≤ like those of spectrum; not always feasible."""
    pick, program = random.Random(seed), Program()
    for i in range(size):
        program.column(f"n{i}", pick.randint(20, 60) / 7, 4, integer=True)
    for j in range(rows):
        terms = {i: pick.choice([1.0, 2.0, 4 / 3, 10 * pick.random()]) for i in range(size) if pick.random() < 0.5}
        program.row(f"need{j}", terms, lower=1.3 * sum(terms.values()))
        taken = {i: float(pick.randint(1, 5)) for i in range(size) if pick.random() < 0.3}
        program.row(f"most{j}", taken, upper=2.0 * sum(taken.values()))
    return program


def impossible():
    program = Program()
    column = program.column("n0", 1.0, 3, integer=True)
    program.row("need", {column: 2.0}, lower=5)
    program.row("most", {column: 2.0}, upper=4)
    return program


def hard(size=300, rows=60):
    """Takes minutes, and has answers soon."""
    pick, program = random.Random(3), Program()
    for i in range(size):
        program.column(f"n{i}", pick.randint(20, 60) + pick.random(), 3, integer=True)
    for j in range(rows):
        program.row(f"r{j}", {i: float(pick.randint(5, 50)) for i in pick.sample(range(size), 60)}, lower=1000)
    return program


OPTIMA = {seed: solve("highs", covering(seed), Limits(60, 0.0)).objective for seed in range(3)}


@pytest.mark.parametrize("seed", OPTIMA)
def test_same_optimum_and_bound(solver, seed):
    found = solve(solver, covering(seed), Limits(60, 0.0))
    assert found.status == "optimal"
    assert found.objective == pytest.approx(OPTIMA[seed], rel=1e-9)
    assert found.bound == pytest.approx(OPTIMA[seed], rel=1e-6)
    loose = solve(solver, covering(seed), Limits(60, 0.2))
    assert loose.status == "optimal"
    assert loose.gap <= 0.2
    assert loose.bound <= OPTIMA[seed] * (1 + 1e-9)
    assert loose.objective >= OPTIMA[seed] * (1 - 1e-9)


def test_infeasible(solver):
    assert solve(solver, impossible(), Limits(60)).status == "infeasible"


def test_limits_are_kept_and_said(solver):
    few = Limits(60, 0.0, nodes=2)
    found = [solve(solver, knapsack(), few) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].status != "optimal" or found[0].nodes <= 2
    if found[0].status == "feasible":
        assert found[0].reason == "node limit"
        assert found[0].bound is None or found[0].bound <= 5031 + 1e-6
    begun = time.monotonic()
    late = solve(solver, hard(120, 40), Limits(0.3, 0.0))
    assert late.reason in ("time limit", "proven")
    assert time.monotonic() - begun < 30
    if late.bound is not None:
        assert late.bound <= 2_400


def test_a_start_is_taken(solver):
    program = covering(0)
    best = solve("highs", program, Limits(60, 0.0))
    again = solve(solver, program, Limits(60, 0.0), best.values)
    assert again.objective == pytest.approx(best.objective)


def test_nodes_are_spent_together():
    stop = Stop(nodes=5)
    until = Until(stop=stop)
    first = solve("highs", knapsack(), until.limits(0.0))
    assert first.nodes <= 5
    assert stop.nodes == 5 - max(1, first.nodes)
    while stop.nodes:
        solve("highs", covering(1), until.limits(0.5))
    assert until.over
    assert until.why == "node limit"
    assert solve("highs", covering(1), until.limits(0.5)).reason == "node limit"


def test_time_limit_is_one_of_each_run():
    """Of a HiGHS model that is run again too, not of all its runs together."""
    import numpy as np
    from highspy import HighsModelStatus, HighsVarType, kHighsInf

    model = quiet()
    program = hard()
    for column in program.columns:
        model.addVar(column.lower, column.upper)
    for i, column in enumerate(program.columns):
        model.changeColCost(i, column.cost)
        model.changeColIntegrality(i, HighsVarType.kInteger)
    for row in program.rows:
        model.addRow(row.lower, kHighsInf, len(row.terms), np.array(list(row.terms)), np.array([*row.terms.values()]))
    for _ in range(2):
        begun = time.monotonic()
        run_highs(model, Limits(0.5, 0.0))
        assert model.getModelStatus() == HighsModelStatus.kTimeLimit
        assert 0.4 < time.monotonic() - begun < 5


def test_stopped_while_it_solves():
    """What a signal handler does, from another thread."""
    stop = Stop()
    threading.Timer(1.0, lambda: setattr(stop, "asked", True)).start()
    found = solve("highs", hard(), Limits(100, 0.0, stop=stop))
    assert found.reason == "interrupted"
    assert found.status == "feasible"
    assert found.bound < found.objective
    assert Until(stop=stop).why == "interrupted"
    assert Until(stop=stop).over
    assert not Until(stop=stop).finishing.over


@pytest.mark.usefixtures("interrupts")
def test_interrupt_in_a_solve_is_not_lost_in_it():
    """HiGHS swallows what is raised where it calls back: the interrupt is held until it has ended."""
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        solve("highs", hard(), Limits(100, 0.0))
    stop = Stop()
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with interruptible(stop, lambda _: None):
        assert solve("highs", hard(), Limits(100, 0.0, stop=stop)).reason == "interrupted"
        assert stop.asked


@pytest.mark.usefixtures("interrupts")
def test_first_interrupt_asks_the_second_insists():
    stop, said = Stop(), []
    with interruptible(stop, said.append):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.asked
        assert said == ["stopping with the best design so far; Ctrl-C again gives up"]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_times_of_until(monkeypatch):
    monkeypatch.setattr("dcplan.design.limits.now_s", lambda: 100.0)
    until = Until(110.0)
    assert until.left_s == 10
    assert until.within(4).left_s == 4
    assert until.within(40).left_s == 10
    assert until.sooner(10).over
    assert until.why == "time limit"


def test_one_last_moment_for_all(monkeypatch):
    """What must still be done is given `LAST_S` beyond a limit, once; asked to stop, as long from then."""
    monkeypatch.setattr("dcplan.design.limits.now_s", lambda: 100.0)
    whole = Until(stop=Stop(nodes=0)).within(20)
    assert whole.over
    assert whole.finishing.left_s == whole.finishing.finishing.left_s == 20 + LAST_S
    assert whole.sooner(5).finishing == whole.finishing
    share = whole.within(4)
    assert share.finishing.left_s == 4 + LAST_S
    assert share.within(4, 0.0).finishing.left_s == 4
    assert whole.within(40).finishing == whole.finishing
    whole.stop.ask()
    assert whole.finishing.left_s == share.finishing.left_s == LAST_S
    monkeypatch.setattr("dcplan.design.limits.now_s", lambda: 131.0)
    assert whole.finishing.over
    assert Until().finishing == Until()


@pytest.mark.parametrize("seed", range(20))
def test_whole_numbers_lose_no_point(seed):
    """Every point of the program is one of the program in whole numbers, at no more cost."""
    program = covering(seed)
    posed, steps = in_whole_numbers(program)
    assert all(value == round(value) for row in posed.rows for value in row.terms.values())
    assert all(column.cost == round(column.cost) for column in posed.columns)
    pick = random.Random(seed)
    for _ in range(50):
        point = [pick.randint(0, 4) for _ in program.columns]
        here = all(row.lower <= sum(a * point[i] for i, a in row.terms.items()) <= row.upper for row in program.rows)
        there = all(row.lower <= sum(a * point[i] for i, a in row.terms.items()) <= row.upper for row in posed.rows)
        assert there or not here
        paid = sum(column.cost * x for column, x in zip(program.columns, point, strict=True))
        assert sum(column.cost * x for column, x in zip(posed.columns, point, strict=True)) <= steps * paid + 1e-6


def test_whole_numbers_refuse_fractions():
    program = Program()
    program.column("flow", 1.0)
    with pytest.raises(SolverError, match="whole numbers only"):
        in_whole_numbers(program)


def test_an_answer_that_does_not_hold_is_none(monkeypatch):
    """CBC, when its time is up, may hand out a relaxation as its answer."""
    import pulp

    real = pulp.LpProblem.solve

    def lying(self, *args, **kwargs):
        stats = real(self, *args, **kwargs)
        self.variables()[0].setInitialValue(0.5)
        return stats

    monkeypatch.setattr(pulp.LpProblem, "solve", lying)
    found = solve("highs", covering(0), Limits(60))
    assert found.status == "failed"
    assert found.values == ()


def test_broken_solver_is_said(monkeypatch):
    import pulp

    def broken(*_args, **_kwargs):
        raise RuntimeError("no licence")

    monkeypatch.setattr(pulp.LpProblem, "solve", broken)
    with pytest.raises(SolverError, match="solver `highs` broke down: no licence"):
        solve("highs", covering(0), Limits(60))


SILENT = """
from dcplan.design.limits import Limits
from dcplan.design.solver.solve import Linear, available, solve
from tests.design.test_programs import knapsack
program = knapsack(8)
Linear(program).solve()
for name in available():
    if name != "mosek":
        solve(name, program, Limits(20))
"""


def test_no_solver_prints_anything():
    """On a descriptor, not only through Python: HiGHS writes a banner from C++."""
    done = subprocess.run([sys.executable, "-c", SILENT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


RING = {"ab": ("a", "b", 80, 4), "bc": ("b", "c", 90, 4), "cd": ("c", "d", 60, 4), "da": ("d", "a", 75, 4)}
STAR = RING | {"ae": ("a", "e", 70, 2), "ce": ("c", "e", 85, 3)}
NARROW = {"band_start_thz": 191.3, "band_end_thz": 191.9}
NETWORKS = {
    "four sites": (
        factory.network("abcd", RING | {"bd": ("b", "d", 95, 2)}, {"survive": ["any-fiber"]}),
        [("a", "c", 1500), ("b", "d", 900), ("a", "b", 300)],
    ),
    "five sites": (
        factory.network("abcde", STAR, {"survive": ["any-fiber", "any-site"], "routes": 2}, NARROW),
        [("a", "c", 1100), ("e", "b", 700), ("d", "c", 450)],
    ),
}
"""Four sites with parallel routes, and five in a narrow band; fibers break, sites too."""


@cache
def designed(name, solver):
    net, asked = NETWORKS[name]
    demands = [factory.demand(net, f"{a}-{b}", a, b, gbps) for a, b, gbps in asked]
    options = Options(solver=solver, gap=1e-6)
    return design(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net), options)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_solver_designs_the_same_network(solver, name):
    theirs, ours = designed(name, solver), designed(name, "highs")
    assert theirs.proof.status == ours.proof.status == "optimal"
    assert theirs.cost_usd == pytest.approx(ours.cost_usd, rel=1e-6)
    assert theirs.proof.bound_usd == pytest.approx(ours.proof.bound_usd, rel=2e-6)


def test_whole_number_solver_refuses_traffic():
    if "cpsat" not in available():
        pytest.skip("ortools is not installed")
    program = Program()
    program.column("flow", 1.0, 2.0)
    with pytest.raises(SolverError, match="use highs"):
        solve("cpsat", program, Limits(5))
