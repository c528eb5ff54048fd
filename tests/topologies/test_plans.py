"""Every shipped topology is planned, proven, verified, and survives what it promises to survive."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dcplan import api, planfile
from dcplan.api.assemble import inputs_of
from dcplan.api.optical import candidates
from dcplan.design.circuits import lightpaths_of
from dcplan.design.traffic import traffic_of
from dcplan.design.verify import verify
from dcplan.errors import UsageError
from dcplan.model.network import Network
from dcplan.model.states import State, promised_states
from dcplan.planfile import Plan
from tests.design import mutations
from tests.topologies.leaves import BY_SEAL, kind, leaves, other, put, unnoticed

FOLDER = Path(__file__).parent.parent.parent / "topologies"
FILES = sorted(FOLDER.glob("*.yaml"))
SAMPLED = 12
"""Numbers of each certificate and its flows that are changed."""
BELOW = {
    "two-campus": 1e-6,
    "china-telecom-500km": 1e-6,
    "hollow-core": 0.04,
    "us-stargate": 0.05,
    "nvidia-1000km": 0.05,
}
"""What a certificate may lie below the cost at most, relative to it; others, by a quarter."""
each = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@cache
def network(file: Path) -> Network:
    return api.load(file)


@cache
def plan(file: Path) -> Plan:
    made = api.plan(network(file))
    assert isinstance(made, Plan), made
    return made


@each
def test_proven_within_the_stated_gap(file: Path) -> None:
    proof = plan(file).design.proof
    assert proof.bound_usd is not None
    assert proof.status == "optimal", proof
    assert proof.bound_usd <= proof.cost_usd * (1 + 1e-9)
    assert proof.cost_usd - proof.bound_usd <= network(file).policy.solver.gap * proof.cost_usd * (1 + 1e-6)


@each
def test_the_bill_adds_up_to_the_cost(file: Path) -> None:
    design = plan(file).design
    assert sum(item.quantity * item.unit_usd for item in design.bill) == pytest.approx(design.proof.cost_usd, rel=1e-6)


@each
def test_verifies_after_a_trip_through_the_file(file: Path) -> None:
    text = planfile.dumps(plan(file))
    again = planfile.loads(text, "plan.json")
    assert planfile.dumps(again) == text
    assert api.verify(network(file), again) == ()


@pytest.mark.parametrize("part", ["sites", "fibers", "lines"])
def test_what_a_plan_says_of_the_topology_is_checked(part: str) -> None:
    file = FOLDER / "two-campus.yaml"
    made = plan(file)
    assert api.verify(network(file), replace(made, **{part: getattr(made, part)[1:]})) == (
        f"the {part} of the plan are not what the topology gives",
    )


@each
def test_every_promise_is_kept_in_every_state(file: Path) -> None:
    assessment = plan(file).assessment
    assert [state.state for state in assessment.states] == [state.name for state in promised_states(network(file))]
    assert assessment.kept
    assert assessment.weakest in {state.state for state in assessment.states[1:]}


def surviving(made: Plan, state: State) -> dict[str, float]:
    """Capacity of each lightpath that is left, counted here and not by the product [Gb/s]."""
    routes = {path.id: path.route for path in made.lightpaths}
    left: dict[str, float] = defaultdict(float)
    for lit in made.design.wavelengths:
        route = routes[lit.lightpath]
        if not state.fibers & set(route.fibers) and not state.sites & set(route.sites):
            left[lit.lightpath] += lit.count * lit.rate_gbps
    return left


@each
def test_after_any_promised_cut_the_traffic_still_adds_up(file: Path) -> None:
    made = plan(file)
    routes = {path.id: path.route for path in made.lightpaths}
    routing = {state.state: state.flows for state in made.design.routing}
    for state in promised_states(network(file)):
        left, load, served = surviving(made, state), defaultdict(float), defaultdict(float)
        for flow in routing[state.name]:
            served[flow.demand] += flow.gbps
            for lightpath in flow.lightpaths:
                load[lightpath] += flow.gbps
            ends = [site for lightpath in flow.lightpaths for site in routes[lightpath].ends]
            odd = {site for site in ends if ends.count(site) % 2}
            assert odd == set(next(d.ends for d in made.design.demands if d.id == flow.demand))
        for lightpath, gbps in load.items():
            assert gbps <= left[lightpath] * (1 + 1e-6) + 1e-3, (state.name, lightpath)
        for demand in made.design.demands:
            assert served[demand.id] >= demand.gbps.get(state.name, 0.0) * (1 - 1e-6) - 1e-3, (state.name, demand.id)


@each
def test_after_any_promised_cut_no_group_of_sites_is_short(file: Path) -> None:
    made = plan(file)
    sites = sorted(network(file).sites)
    routes = {path.id: path.route for path in made.lightpaths}
    groups = [set(group) for size in range(1, len(sites) // 2 + 1) for group in combinations(sites, size)]
    for state in promised_states(network(file)):
        ends = [(set(routes[name].ends), gbps) for name, gbps in surviving(made, state).items()]
        asked = [(set(demand.ends), demand.gbps.get(state.name, 0.0)) for demand in made.design.demands]
        for group in groups:
            capacity = sum(gbps for pair, gbps in ends if len(pair & group) == 1)
            need = sum(gbps for pair, gbps in asked if len(pair & group) == 1)
            assert need <= capacity * (1 + 1e-6) + 1e-3, (state.name, group)


@cache
def inputs(file: Path) -> tuple[Any, ...]:
    net = network(file)
    light, states = candidates(net), promised_states(net)
    traffic = traffic_of(net, states)
    assert isinstance(traffic, tuple)
    return net, light.lines, (*light.lightpaths, *lightpaths_of(net)), traffic[1], states


@each
def test_the_certificate_adds_up_to_nearly_the_cost(file: Path) -> None:
    design = plan(file).design
    said = design.certificate
    assert said is not None
    assert said.bound_usd <= (design.proof.bound_usd or 0) * (1 + 1e-9)
    assert said.bound_usd >= design.cost_usd * (1 - BELOW.get(file.stem, 0.25))
    parts = [*(term.usd for term in said.terms), *(row.usd for row in said.rows), *(one.usd for one in said.columns)]
    assert sum(parts) == pytest.approx(said.bound_usd, rel=1e-7)
    assert [term.usd for term in said.terms] == sorted((term.usd for term in said.terms), reverse=True)


@each
def test_a_changed_number_of_the_certificate_is_noticed(file: Path) -> None:
    whole = mutations.plain(plan(file).design)
    assert verify(*inputs(file), mutations.DESIGN.validate_python(whole)) == ()
    places = [(place, value) for place, value in mutations.numbers(whole) if place[0] in ("certificate", "routing")]
    for turn, (place, value) in enumerate(random.Random(1).sample(places, SAMPLED)):
        other = mutations.other(value, turn)
        try:
            changed = mutations.changed(whole, place, other)
        except ValidationError:
            continue
        assert verify(*inputs(file), changed), (place, value, other)


def test_no_solver_is_loaded_to_verify(tmp_path: Path) -> None:
    file = FOLDER / "two-campus.yaml"
    saved = tmp_path / "plan.json"
    saved.write_text(planfile.dumps(plan(file)), encoding="utf-8")
    code = (
        "import sys; from dcplan.cli.app import run; "
        f"code = run(['verify', {str(file)!r}, {str(saved)!r}]); "
        "solvers = {'pulp', 'highspy', 'ortools', 'pyscipopt', 'cbcbox'}; "
        "loaded = {name.split('.')[0] for name in sys.modules} & solvers; "
        "sys.exit(code or bool(loaded))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_same_input_same_bytes_wherever_it_lies(tmp_path: Path) -> None:
    file = FOLDER / "two-campus.yaml"
    elsewhere = tmp_path / file.name
    elsewhere.write_bytes(file.read_bytes())
    again = api.plan(api.load(elsewhere))
    assert isinstance(again, Plan)
    assert planfile.dumps(again) == planfile.dumps(plan(file))


def test_files_are_named_from_where_the_topology_lies() -> None:
    assert set(inputs_of(api.load(FOLDER / "goodput" / "two-campus.yaml"))) == {"two-campus.yaml", "../two-campus.yaml"}


def efficiency_percent(file: Path, plan_name: str, gbps: float) -> float:
    """Speed over two sites at a rate between them, over the speed in one site [%]."""
    row = next(row for row in api.steps(network(file), gbps=gbps) if row.plan == plan_name)
    assert row.overhead_percent is not None
    return 100 / (1 + row.overhead_percent / 100)


def test_nvidia_trial_is_predicted() -> None:
    """Reported 96 %; the rate between the sites was not published, so that of the plan is taken."""
    made = plan(FOLDER / "nvidia-1000km.yaml")
    row = next(row for row in made.plans if row.chosen)
    assert row.overhead_percent is not None
    assert 94 <= 100 / (1 + row.overhead_percent / 100) <= 100


def test_china_telecom_trial_is_predicted() -> None:
    """Reported 97 to 99 % on 3.2 Tb/s."""
    file = FOLDER / "china-telecom-500km.yaml"
    assert 95 <= efficiency_percent(file, "data-parallel-across", 3200) <= 100


def test_whatever_is_changed_in_a_plan_file_is_noticed() -> None:
    """Some kinds of leaves here, all of them in `make accept`; the seal notices what nothing works out anew."""
    file = FOLDER / "two-campus.yaml"
    text = planfile.dumps(plan(file))
    assert unnoticed(network(file), text, most=30).keys() <= BY_SEAL
    whole = json.loads(text)
    places = {kind(place): (place, value) for place, value in leaves(whole) if kind(place) in BY_SEAL}
    for place, value in places.values():
        (told,) = api.verify(network(file), planfile.loads(json.dumps(put(whole, place, other(value))), "plan.json"))
        assert "its seal does not fit" in told, place
    with pytest.raises(UsageError, match="no seal"):
        planfile.loads(json.dumps(put(whole, ("seal",), "")), "plan.json")
