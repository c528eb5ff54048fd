"""Plans whose sites train by themselves are chosen by name alone, and then size the network."""

from __future__ import annotations

import pytest

from dcplan.design.result import Infeasible
from dcplan.design.traffic import job_traffic
from dcplan.model.load import load_document
from dcplan.model.rules.examples import WITH_JOB, adding
from dcplan.model.source import parse
from dcplan.model.states import HEALTHY, promised_states
from dcplan.training.engine import step_time
from dcplan.training.step import Links

SIZES = "tp: 8, cp: 2, pp: 16, virtual_stages: 8"
EVERY_STEP = f"every-step: {{{SIZES}}}"
STREAMED = f"streamed: {{{SIZES}, sync: streaming, outer: {{every_steps: 100, bits: 4}}}}"
SERVED = (
    f"served: {{{SIZES}, sync: parameter-server, "
    "outer: {tiers: [{every: 16, servers: {papillion: [papillion, lincoln]}}]}}"
)


def traffic(*plans: str, more: str = ""):
    text = adding(f"    plans: {{{', '.join(plans)}}}\n{more}", WITH_JOB)
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


def test_where_only_they_meet_the_targets_the_reason_names_one() -> None:
    tight = "    targets: {max_overhead_percent: 0.001}\n"
    found = traffic(EVERY_STEP, STREAMED, more=tight)
    assert isinstance(found, Infeasible)
    assert "streamed, whose sites train by themselves, does: name it in `use`" in found.reason
    assert traffic(EVERY_STEP, STREAMED, more=tight + "    use: streamed\n").chosen.name == "streamed"
