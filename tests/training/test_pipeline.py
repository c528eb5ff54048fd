"""The pipeline against discrete-event simulation: one from another program, one written for these tests."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.training.pipeline.one_f_one_b import Boundary, span_s
from dcplan.training.pipeline.stages import bubble_s, divides, stage_layers, to_hide

from .one_f_one_b import Edge, simulate
from .records import DATA, model

CASES = tomllib.loads((DATA / "pipeline.toml").read_text())["case"]
quiet = settings(derandomize=True, deadline=None, max_examples=60)


def test_our_simulator_agrees_with_the_oracle() -> None:
    for case in CASES:
        edge = Edge(int(case["cross"]) + 1, case["one_way"], 0.0, int(case["extra"]))
        assert simulate(int(case["p"]), int(case["m"]), 1.0, 2.0, (edge,)) == case["steps"]


def test_plain_1f1b_pays_one_delay_per_microbatch_and_extra_in_flight_hides_it() -> None:
    near = span_s((1.0,) * 8, (2.0,) * 8, (), 256)
    plain = span_s((1.0,) * 8, (2.0,) * 8, (Boundary(4, 20.0, 0.0, 0),), 256) - near
    hidden = span_s((1.0,) * 8, (2.0,) * 8, (Boundary(4, 20.0, 0.0, to_hide(20.0, 3.0)),), 256) - near
    assert plain == pytest.approx(256 * 20, rel=0.03)
    assert hidden == 40.0


@given(p=st.integers(1, 12), m=st.integers(1, 40))
@quiet
def test_bubble_of_plain_1f1b(p: int, m: int) -> None:
    assert m * 3.0 + bubble_s(p * 3.0, 3.0, 1) == pytest.approx(simulate(p, m, 1.0, 2.0))


@given(pp=st.integers(1, 64), name=st.sampled_from(("llama3-405b", "deepseek-v3-671b", "gpt3-175b", "kimi-k2-1t")))
@quiet
def test_every_layer_stands_in_one_stage(pp: int, name: str) -> None:
    shape = model(name)
    assume(divides(shape, pp, 1))
    kinds = stage_layers(shape, pp)
    assert sum(kind.stages for kind in kinds) == pp
    assert sum(kind.stages * (kind.dense + kind.moe) for kind in kinds) == pytest.approx(shape.layers)
    assert sum(kind.stages * kind.moe for kind in kinds) == pytest.approx(
        shape.layers - shape.dense_layers if shape.experts else 0
    )
    assert sum(kind.embedding for kind in kinds) == sum(kind.head for kind in kinds) == 1


def test_llama3_405b_runs_on_16_stages_as_published() -> None:
    first, inner, last = stage_layers(model("llama3-405b"), 16)
    assert (first.dense, inner.dense, last.dense) == (7, 8, 7)
