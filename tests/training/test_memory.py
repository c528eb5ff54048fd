"""Memory against Korthikanti et al. 2022, figures 1 and 7, and what sharding must do to it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import pytest

from dcplan.training.memory import memory
from dcplan.training.step import Memory, Workload

from .records import DATA, layout, model, share

ROWS = tomllib.loads((DATA / "memory.toml").read_text())
GIB = 2**30 / 1e9


def used(row: dict[str, Any], recompute: str, *, sequence_parallel: bool) -> Memory:
    load = Workload(
        "job", model(row["model"]), 2048, 1024, "bf16", 16, (share("here", "a100-sxm-80gb", 8 * row["pp"]),)
    )
    plan = layout(
        1024, tp=8, pp=row["pp"], virtual_stages=row["virtual_stages"], microbatch=row["microbatch"],
        recompute=recompute, sequence_parallel=sequence_parallel, sharding=0,
    )  # fmt: skip
    return memory(load, plan)


@pytest.mark.parametrize("name", ROWS)
def test_activations_in_bytes(name: str) -> None:
    row = ROWS[name]
    assert used(row, "none", sequence_parallel=False).activations_gb == pytest.approx(row["none_gib"] * GIB, rel=0.05)
    both = used(row, "selective", sequence_parallel=True).activations_gb
    assert both == pytest.approx(row["selective_gib"] * GIB, rel=0.05)


@pytest.mark.parametrize("name", ROWS)
def test_activations_as_shares(name: str) -> None:
    row = ROWS[name]
    whole = used(row, "none", sequence_parallel=False).activations_gb
    cases = (("none", True, "sp"), ("selective", False, "selective"), ("selective", True, "both"))
    for recompute, sequence_parallel, key in cases:
        found = 100 * used(row, recompute, sequence_parallel=sequence_parallel).activations_gb / whole
        assert found == pytest.approx(row[f"{key}_percent"], rel=0.03)
    full = 100 * used(row, "full", sequence_parallel=False).activations_gb / whole
    assert full == pytest.approx(row["full_percent"], rel=0.2)


@pytest.mark.parametrize("name", ROWS)
def test_weights_gradients_and_optimizer(name: str) -> None:
    found = used(ROWS[name], "none", sequence_parallel=False)
    state = found.weights_gb + found.gradients_gb + found.optimizer_gb
    # The figure spreads the embedding over all stages, here it stands on the first and the last.
    assert 0 <= state / (ROWS[name]["state_gib"] * GIB) - 1 <= 0.09


def test_bytes_per_parameter_by_sharding() -> None:
    load = Workload("job", model("llama3-8b"), 8192, 64, "bf16", 32, (share("here", "h100-sxm", 64),))
    parameters = 8.03
    expected = {0: 18, 1: 6 + 12 / 64, 2: 2 + 16 / 64}
    for sharding, per_parameter in expected.items():
        found = memory(load, layout(64, dp=64, sharding=sharding))
        state = found.weights_gb + found.gradients_gb + found.optimizer_gb
        assert state == pytest.approx(per_parameter * parameters, rel=0.01)
    found = memory(load, layout(64, dp=64, sharding=3))
    layer = 2 * 2 * 0.218  # two whole layers in bf16
    assert found.weights_gb == pytest.approx(2 * parameters / 64 + layer, rel=0.02)


def test_extra_microbatches_in_flight_cost_their_activations() -> None:
    load = Workload("job", model("llama3-70b"), 8192, 256, "bf16", 32, (share("here", "h100-sxm", 64),))
    plan = layout(256, tp=8, pp=4, dp=2)
    none, two, four = (memory(load, plan, extra) for extra in (0, 2, 4))
    assert two.activations_gb - none.activations_gb == pytest.approx(none.activations_gb / 2)
    assert four.activations_gb - none.activations_gb == pytest.approx(none.activations_gb)
    assert memory(load, replace(plan, microbatches=3), 4).activations_gb < none.activations_gb


def test_the_smallest_accelerator_counts() -> None:
    mixed = (share("a", "h200-sxm", 64), share("b", "h100-sxm", 64))
    load = Workload("job", model("llama3-8b"), 8192, 128, "bf16", 32, mixed)
    assert memory(load, layout(128, dp=128)).capacity_gb == 80
