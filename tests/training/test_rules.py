"""Every rule on training jobs tells of its bad example and not of its good one, where the fault stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dcplan.errors import DcplanError
from dcplan.model.load import load_document
from dcplan.model.rules.examples import WITH_JOB, adding, with_change
from dcplan.model.source import parse
from dcplan.training.rules import RULES, check
from dcplan.training.workload import workload

if TYPE_CHECKING:
    from dcplan.diagnostics import Finding, Rule
    from dcplan.model.network import Network


def network(text: str) -> Network:
    found, findings = load_document(parse(text, "example.yaml"))
    assert found is not None, findings
    return found


def findings(text: str) -> list[Finding]:
    return check(network(text))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_examples(rule: Rule) -> None:
    bad = findings(rule.bad)
    assert rule.code in {finding.rule.code for finding in bad}
    assert all(finding.message and finding.hint for finding in bad)
    assert rule.code not in {finding.rule.code for finding in findings(rule.good)}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_good_examples_have_no_other_fault(rule: Rule) -> None:
    assert [finding for finding in findings(rule.good) if finding.rule.code != "DCP406"] == []


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.code.startswith("DCP4") for rule in RULES)


def test_a_finding_stands_where_the_plan_stands() -> None:
    text = adding("    plans:\n      good: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}\n      deep: {tp: 8, pp: 17}\n")
    (found,) = findings(text)
    line = text.splitlines()[found.span.line - 1]
    assert line[found.span.column - 1 :].startswith("deep")
    assert "does not divide 16,384 accelerators" in found.message


def test_keys_of_a_job_in_one_site_that_change_nothing() -> None:
    one = with_change("{papillion: 8192, lincoln: 8192}", "{papillion: 8192}")
    plan = "{tp: 8, cp: 2, pp: 16, virtual_stages: 8, across: dp, sync: synchronous, extra_in_flight: 2}"
    found = findings(adding(f"    plans: {{deep: {plan}}}\n", one))
    assert [finding.message.split("`")[1] for finding in found] == ["across", "sync", "extra_in_flight"]


def test_a_workload_joins_the_catalog() -> None:
    load = workload(network(WITH_JOB), "pretrain")
    assert [(share.site, share.count) for share in load.shares] == [("papillion", 8192), ("lincoln", 8192)]
    assert (load.batch, load.sequence_length, load.gradient_bits) == (2048, 8192, 32)
    assert load.shares[0].calibration.fitted_on


def test_types_of_one_site_become_shares() -> None:
    several = with_change("{h100-sxm: 16384}", "{h100-sxm: 8192, h200-sxm: 8192}")
    text = with_change("papillion: 8192", "papillion: {h100-sxm: 4096, h200-sxm: 4096}", several)
    load = workload(network(text), "pretrain")
    assert [(share.site, share.accelerator_id, share.count) for share in load.shares[:2]] == [
        ("papillion", "h100-sxm", 4096),
        ("papillion", "h200-sxm", 4096),
    ]


def test_a_borrowed_calibration_is_of_the_same_vendor_and_claims_nothing() -> None:
    text = WITH_JOB.replace("h100-sxm", "mi355x")
    share = workload(network(text), "pretrain").shares[0]
    assert "MI300X" in share.calibration.source
    assert share.calibration.fitted_on == ()
    fp8 = workload(network(adding("    precision: fp8\n", text)), "pretrain").shares[0]
    assert fp8.calibration.precision == "fp8"


def test_a_precision_that_is_not_there() -> None:
    text = adding("    precision: fp8\n", WITH_JOB.replace("h100-sxm", "a100-sxm-80gb"))
    with pytest.raises(DcplanError, match="a100-sxm-80gb has no fp8 peak"):
        workload(network(text), "pretrain")


@pytest.mark.parametrize("recompute", ["none", "selective"])
def test_flash_attention_leaves_nothing_to_choose_between_none_and_selective(recompute: str) -> None:
    found = findings(
        adding(f"    plans: {{deep: {{tp: 8, cp: 2, pp: 16, virtual_stages: 8, recompute: {recompute}}}}}\n")
    )
    assert [finding.message.split("`")[1] for finding in found] == ["recompute"]


def test_pins_that_change_nothing() -> None:
    found = findings(adding("    pin: {tp: 8, recompute: none, across: dp}\n"))
    assert [(finding.rule.code, finding.message) for finding in found] == [
        ("DCP407", "`recompute` has no effect: flash attention recomputes its core by itself")
    ]
    assert not findings(adding("    pin: {tp: 8, across: dp}\n"))
    named = adding("    pin: {tp: 8}\n    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}}\n")
    assert [finding.message for finding in findings(named)] == ["`pin` has no effect: the job names its plans"]
    (nothing,) = findings(adding("    pin: {tp: 3}\n"))
    assert (nothing.rule.code, nothing.hint) == ("DCP405", "change the sizes, or leave keys of `pin` out")


def test_checkpoints_that_take_longer_than_the_job_lasts() -> None:
    found = findings(adding("    reliability: {checkpoint: {gb_per_s: 0.1}}\n"))
    (told,) = [one for one in found if one.rule.code == "DCP442"]
    assert told.message == "5,682 GB take 56,819 s to write, the job fails every 11,135 s"


def small(plan: str) -> list[str]:
    """What is told of a plan of Qwen3 30B in fp8, in microbatches of 4,096 tokens."""
    text = with_change("llama3-405b", "qwen3-30b-a3b", with_change("16777216", "268435456"))
    text = with_change("sequence_length: 8192", "sequence_length: 4096", text)
    job = adding(f"    plans: {{small: {{{plan}}}}}\n    precision: fp8\n", text)
    return [finding.message for finding in findings(job)]


def test_graphs_and_dispatchers_that_change_nothing_are_told() -> None:
    """A dense model of this size keeps its hosts idle; experts of 8 accelerators are in one scale-up domain."""
    (told,) = findings(adding("    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8, cuda_graphs: step}}\n"))
    assert told.message == "`cuda_graphs` has no effect: its hosts launch fast enough without"
    assert not small("pp: 4, ep: 8, cuda_graphs: step")
    assert not small("pp: 4, ep: 64, token_dispatcher: alltoall")
    for plan in ("ep: 8, token_dispatcher: alltoall", "ep: 64, token_dispatcher: flex"):
        (said,) = small(f"pp: 4, {plan}")
        assert said.startswith("`token_dispatcher` has no effect: its software sends tokens so anyway, or all experts")


@pytest.mark.parametrize(
    ("said", "precision", "told"),
    [
        ("calibration: hopper, vendor: acme, year: 2024", "bf16", ["vendor", "year"]),
        ("calibration: hopper, vendor: acme", "bf16", ["vendor"]),
        ("calibration: hopper", "bf16", []),
        ("vendor: acme, year: 2024", "bf16", []),  # it looks for the nearest
        ("calibration: tpu-v5e, year: 2024, fp8_tflops: 4000", "fp8", []),  # so it does in fp8
    ],
)
def test_what_tells_the_nearest_calibration_where_none_is_looked_for(
    said: str, precision: str, told: list[str]
) -> None:
    sizes = (
        "bf16_tflops: 2000, hbm_gb: 288, hbm_tb_per_s: 20, scale_up_domain: 8, scale_up_gb_per_s: 1800, nic_gbps: 800"
    )
    job = adding(f"    precision: {precision}\n", WITH_JOB.replace("h100-sxm", "next"))
    found = findings(adding(f"gear:\n  accelerators:\n    next: {{{sizes}, {said}}}\n", job))
    idle = [finding for finding in found if "nearest calibration is found" in finding.message]
    assert [finding.message.split("`")[1] for finding in idle] == told
