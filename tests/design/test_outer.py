"""Plans whose sites train by themselves are chosen by name alone, and then size the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dcplan import api
from dcplan.design.result import Infeasible
from dcplan.design.traffic import LEAST_GBPS, job_traffic
from dcplan.model.load import load_document
from dcplan.model.rules.examples import WITH_JOB, adding
from dcplan.model.source import parse
from dcplan.model.states import HEALTHY, promised_states
from dcplan.planfile import Plan
from dcplan.training.engine import step_time
from dcplan.training.step import Links

if TYPE_CHECKING:
    from pathlib import Path

SIZES = "tp: 8, cp: 2, pp: 16, virtual_stages: 8"
EVERY_STEP = f"every-step: {{{SIZES}}}"
STREAMED = f"streamed: {{{SIZES}, sync: streaming, outer: {{every_steps: 100, bits: 4}}}}"
SERVED = (
    f"served: {{{SIZES}, sync: parameter-server, "
    "outer: {tiers: [{every: 16, servers: {papillion: [papillion, lincoln]}}]}}"
)


def traffic(*plans: str, more: str = ""):
    named = f"    plans: {{{', '.join(plans)}}}\n" if plans else ""
    text = adding(f"{named}{more}", WITH_JOB)
    network, findings = load_document(parse(text, "example.yaml"))
    assert network is not None, findings
    (job,) = network.jobs
    return job_traffic(network, job, promised_states(network))


def test_a_synchronous_plan_is_taken_however_little_the_others_need() -> None:
    for plans in ((EVERY_STEP, STREAMED, SERVED), (SERVED, STREAMED, EVERY_STEP)):
        assert traffic(*plans).chosen.name == "every-step"


@pytest.mark.parametrize(("name", "plan"), [("streamed", STREAMED), ("served", SERVED)])
def test_a_name_or_the_lack_of_others_takes_one_and_sizes_the_network_for_it(name: str, plan: str) -> None:
    synchronous = traffic(EVERY_STEP)
    for found in (traffic(EVERY_STEP, plan, more=f"    use: {name}\n"), traffic(plan)):
        assert found.chosen.name == name
        (demand,) = found.demands
        assert 0 < demand.gbps[HEALTHY.name] < synchronous.demands[0].gbps[HEALTHY.name] / 10
        seen = Links({demand.ends: demand.gbps[HEALTHY.name]}, {demand.ends: demand.max_latency_ms})
        step = step_time(found.plans.workload, found.chosen, seen)
        assert step.terms.sync_s > 0
        assert step.quality is not None


def test_a_way_that_the_job_allows_is_chosen_where_it_needs_less() -> None:
    for more, chosen in (
        ("", "every-step"),
        ("    allow_sync: [streaming]\n", "streamed"),
        ("    allow_sync: [parameter-server]\n", "served"),
        ("    allow_sync: [local-sgd]\n", "every-step"),
    ):
        assert traffic(EVERY_STEP, STREAMED, SERVED, more=more).chosen.name == chosen


def test_a_search_shows_them_and_chooses_one_only_where_that_is_allowed() -> None:
    pin = "    pin: {tp: 8, cp: 2, pp: 16, schedule: 1f1b, recompute: selective}\n"
    strict = traffic(more=pin)
    shown = {(layout.sync, layout.outer.every_steps) for layout in strict.plans.layouts if layout.outer}
    assert shown == {("local-sgd", 30), ("local-sgd", 100), ("streaming", 100), ("parameter-server", 30)}
    assert strict.chosen.outer is None
    loose = traffic(more=pin + "    allow_sync: [streaming, local-sgd]\n")
    assert loose.chosen.sync in {"streaming", "local-sgd"}
    assert loose.chosen in loose.plans.layouts
    assert loose.demands[0].gbps[HEALTHY.name] < strict.demands[0].gbps[HEALTHY.name] / 10
    named = traffic(more=f"{pin}    use: {strict.plans.layouts[-1].name}\n")
    assert named.chosen.name == strict.plans.layouts[-1].name


def test_where_only_they_meet_the_targets_the_reason_names_one() -> None:
    tight = "    targets: {max_overhead_percent: 0.001}\n"
    found = traffic(EVERY_STEP, STREAMED, more=tight)
    assert isinstance(found, Infeasible)
    assert "streamed, whose sites train by themselves, does: name it in `use`" in found.reason
    assert traffic(EVERY_STEP, STREAMED, more=tight + "    use: streamed\n").chosen.name == "streamed"


THREE = """\
dcplan: 1
name: three
sites:
  a: {lat: 40, lon: -90, accelerators: {h100-sxm: 1024}}
  b: {lat: 40.5, lon: -90.5, accelerators: {a100-sxm-80gb: 1024}}
  c: {lat: 41, lon: -91, accelerators: {h100-sxm: 1024}}
circuits:
  ab: {ends: [a, b], length_km: 5000, modules: {m: {gbps: 400, usd: 1e6}}}
  bc: {ends: [b, c], length_km: 900, modules: {m: {gbps: 400, usd: 1e6}}}
  ca: {ends: [c, a], length_km: 900, modules: {m: {gbps: 400, usd: 1e6}}}
jobs:
  j:
    model: llama3-70b
    accelerators: {a: 512, b: 1024, c: 512}
    sequence_length: 8192
    global_batch_tokens: 47185920
    collective: COLLECTIVE
    plans: {p: {tp: 8, pp: 4, PLAN}}
policy: {survive: [any-SURVIVE]}
"""


@pytest.mark.parametrize(
    ("collective", "plan", "survive"),
    [
        ("direct", "sync: streaming, outer: {every_steps: 100}", "fiber"),
        ("optimal", "sync: streaming, outer: {every_steps: 100}", "site"),
        ("ring", "sync: local-sgd, outer: {every_steps: 1000000000000000, bits: 4}", "fiber"),
        ("direct", "sync: parameter-server, outer: {tiers: [{every: 9000000, servers: {c: [a, b, c]}}]}", "site"),
    ],
)
def test_plans_that_need_next_to_nothing_are_planned_and_hold(
    tmp_path: Path, collective: str, plan: str, survive: str
) -> None:
    """Rates are a thousandth of a Gb/s at least; what gets hundreds of times what it asks is told apart by name."""
    file = tmp_path / "three.yaml"
    text = THREE.replace("COLLECTIVE", collective).replace("PLAN", plan).replace("SURVIVE", survive)
    file.write_text(text, encoding="utf-8")
    network = api.load(file)
    made = api.plan(network)
    assert isinstance(made, Plan)
    assert api.verify(network, made) == ()
    assert all(gbps >= LEAST_GBPS for demand in made.design.demands for gbps in demand.gbps.values())
