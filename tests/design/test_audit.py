"""A program that is handed to another solver has the optimum of the plan, in both formats, and says what it means."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dcplan.api import load
from dcplan.api.exchange import export
from dcplan.design.audit import audit
from dcplan.design.circuits import lightpaths_of
from dcplan.design.engine import Options, design
from dcplan.design.problem import problem
from dcplan.design.result import Infeasible
from dcplan.design.solver.program import Program
from dcplan.design.solver.text import lp_text, mps_text
from dcplan.errors import SolverError, UsageError
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_circuits import MIXED, network, ring

WRITE = {"lp": lp_text, "mps": mps_text}


def parts(net, demands):
    states = promised_states(net)
    paths = (*factory.lightpaths(net), *lightpaths_of(net))
    return factory.lines(net), paths, demands, states


def optimum(text, form, folder):
    """By HiGHS from the file, not by way of PuLP [US$]."""
    import highspy

    file = folder / f"program.{form}"
    file.write_text(text, encoding="utf-8")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    assert highs.readModel(str(file)) == highspy.HighsStatus.kOk
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return 1000 * highs.getInfo().objective_function_value


def triangle(policy=None, gear=None, **more):
    fibers = {"ab": ("a", "b", 100, 2, more), "bc": ("b", "c", 100, 2, more), "ac": ("a", "c", 100, 2, more)}
    return factory.network(["a", "b", "c"], fibers, policy, gear=gear)


def cases():
    yield "circuits", network("abc", ring(build_usd=7, existing_gbps=50), [("a", "b", 300), ("b", "c", 90)]), None
    yield "pick one", network("abc", ring(pick="one"), [("a", "b", 300)]), None
    yield "priced traffic", network("abc", ring(usd_per_gbps=0.1), [("a", "b", 300), ("b", "c", 90)]), None
    yield "fibers", triangle(build_usd_per_km=100), 1.2
    yield "guards", triangle({"guard_ghz": 25}), None
    yield "one-plus-one", triangle({"scheme": "one-plus-one"}), None
    yield "none", triangle({"scheme": "none"}), None
    yield "relight", triangle({"scheme": "relight"}), 1.2
    yield "relight with guards", triangle({"scheme": "relight", "guard_ghz": 25}), None
    circuits = network("abc", ring(build_usd=7), [("a", "b", 300), ("b", "c", 90)], {"scheme": "relight"})
    yield "relight of circuits", circuits, None


@pytest.mark.parametrize("form", ["lp", "mps"])
@pytest.mark.parametrize(("net", "limit_ms"), [case[1:] for case in cases()], ids=[case[0] for case in cases()])
def test_master_and_whole_have_the_optimum_of_the_design(net, limit_ms, form, tmp_path):
    demands = [factory.demand(net, "d", "a", "b", 900 if net.fibers else 300, max_latency_ms=limit_ms)]
    demands.append(factory.demand(net, "e", "b", "c", 400 if net.fibers else 90))
    lines, paths, demands, states = parts(net, demands)
    cost = design(net, lines, paths, demands, states, Options(gap=0.0)).cost_usd
    made = problem(net, lines, paths, demands, states)
    for whole in (False, True):
        found = audit(made, Options(gap=0.0), whole=whole)
        assert optimum(WRITE[form](found.program, found.words), form, tmp_path) == pytest.approx(cost, rel=1e-9)
        assert not [line for line in found.words if "auxiliary" in line]
        assert len(found.words) == len(found.program.columns) + len(found.program.rows) + (2 if whole else 3)


def test_few_routes_stand_in_the_whole_program_only(tmp_path):
    leased = {"ends": ["a", "b"], "latency_ms": 1}
    offers = {"x": (100, 10), "y": (100, 10), "z": (200, 50)}
    modules = {name: {"m": {"gbps": gbps, "usd": usd, "most": 1}} for name, (gbps, usd) in offers.items()}
    circuits = {name: leased | {"modules": mine} for name, mine in modules.items()}
    net = network("ab", circuits, [], {"scheme": "none"})
    demands = [replace(factory.demand(net, f"d{i}", "a", "b", (70, 70, 60)[i]), max_paths=1) for i in range(3)]
    lines, paths, demands, states = parts(net, demands)
    cost = design(net, lines, paths, demands, states, Options(gap=0.0)).cost_usd
    split = [replace(demand, max_paths=None) for demand in demands]
    assert (cost, design(net, lines, paths, split, states, Options(gap=0.0)).cost_usd) == (50, 20)
    made = problem(net, lines, paths, demands, states)
    found = audit(made, Options(), whole=True)
    assert optimum(lp_text(found.program, found.words), "lp", tmp_path) == pytest.approx(cost)
    assert not [line for line in found.words if "auxiliary" in line]
    with pytest.raises(UsageError, match="ask for it with --whole"):
        audit(made, Options(), whole=False)


def test_golden_circuits(golden):
    net = network("ab", {"x": ring(build_usd=7)["ab"], "y": ring(pick="one", existing_gbps=50)["ab"]}, [])
    lines, paths, demands, states = parts(net, [factory.demand(net, "d", "a", "b", 300, 0.5)])
    found = audit(problem(net, lines, paths, demands, states), Options(), whole=True)
    golden("circuits-whole.lp", lp_text(found.program, found.words))
    golden("circuits-whole.mps", mps_text(found.program, found.words))


def test_golden_whole(golden):
    net = factory.network(["a", "b"], {"n": ("a", "b", 82, 8), "s": ("a", "b", 116, 4, {"build_usd_per_km": 100})})
    lines, paths, demands, states = parts(net, [factory.demand(net, "d", "a", "b", 5200, 0.5)])
    found = audit(problem(net, lines, paths, demands, states), Options(), whole=True)
    golden("two-fibers-whole.lp", lp_text(found.program, found.words))


def test_names_of_any_characters_end_no_comment(tmp_path):
    net = network("ab", {"x\ny\\ \x85z": ring()["ab"]}, [("a", "b", 300)], {"scheme": "none"})
    lines, paths, demands, states = parts(net, [factory.demand(net, "d\r\n*", "a", "b", 300)])
    found = audit(problem(net, lines, paths, demands, states), Options(), whole=True)
    for form, write in WRITE.items():
        text = write(found.program, found.words)
        assert optimum(text, form, tmp_path) == pytest.approx(25)
        assert "circuit x y\\  z" in text


def test_every_number_is_written_as_it_is(tmp_path):
    """Long rows over several lines, both bounds of a row, free and fixed columns, a column that stands nowhere."""
    program = Program()
    columns = [program.column(f"n{i}", 1 / 3 + i, 7, i % 3, integer=i % 2 == 0) for i in range(40)]
    program.column("unused")
    fixed = program.column("fixed", 0.1, 2.5, 2.5)
    program.row("range", {i: 1.0 / (1 + i) for i in columns}, 3.3, 4.4)
    program.row("same", {columns[3]: 2.0, fixed: -1.0}, 1.5, 1.5)
    expected = None
    for form, write in WRITE.items():
        text = write(program)
        assert max(map(len, text.splitlines())) < 130
        found = optimum(text, form, tmp_path)
        expected = found if expected is None else expected
        assert found == pytest.approx(expected, rel=1e-12)
    assert "rangelo" in text
    assert "rangeup" in text


@pytest.mark.parametrize("name", ["n0", "e1", "2n", "a b", "OBJ", ""])
def test_a_name_that_is_not_safe_or_unique_is_refused(name):
    program = Program()
    program.column("n0")
    program.column(name)
    for write in WRITE.values():
        with pytest.raises(SolverError, match="cannot be written"):
            write(program)


def test_from_a_file_both_programs_cost_what_the_plan_costs(tmp_path):
    from dcplan.api import plan

    file = tmp_path / "mixed.yaml"
    file.write_text(MIXED)
    net = load(file)
    cost = plan(net).design.cost_usd
    for whole in (False, True):
        made = export(net, "lp", whole=whole)
        assert made.notes[0] == "where channels stand in the spectrum is not in it, only how many fit"
        assert optimum(made.files["program.lp"], "lp", tmp_path) == pytest.approx(cost, rel=2e-4)
        title = made.files["program.lp"].splitlines()[0]
        assert re.match(r"\\ mixed: the (whole ILP|master): ", title)


def test_without_a_design_the_reason_is_given():
    net = network("ab", {"ab": ring()["ab"] | {"pick": "one"}}, [("a", "b", 500)], {"scheme": "none"})
    lines, paths, demands, states = parts(net, [factory.demand(net, "d", "a", "b", 500)])
    found = audit(problem(net, lines, paths, demands, states), Options(), whole=False)
    assert isinstance(found, Infeasible)
    assert found.limit == "circuits"


def test_options_go_with_their_format(tmp_path):
    file = tmp_path / "mixed.yaml"
    file.write_text(MIXED)
    net = load(file)
    with pytest.raises(UsageError, match="--mode goes with `dcplan export gnpy`"):
        export(net, "lp", mode="400zr:400g")
    with pytest.raises(UsageError, match="--whole goes with"):
        export(net, "gnpy", whole=True)
