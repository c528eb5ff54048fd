"""Parameters and FLOPs against published totals and closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Accelerator, Calibration, ModelShape
from dcplan.training.shapes import model_flops, parameters

from .records import model

if TYPE_CHECKING:
    from dcplan.catalog.parts import Part

CALIBRATIONS = cast("dict[str, Calibration]", shipped("calibrations"))
ACCELERATORS = cast("dict[str, Accelerator]", shipped("accelerators"))


@pytest.mark.parametrize("name", shipped("models"))
def test_published_totals(name: str) -> None:
    shape = model(name)
    assert shape.total_params_b is not None
    tolerance = 0.015 if name == "kimi-k2-1t" else 0.01
    assert parameters(shape) / 1e9 == pytest.approx(shape.total_params_b, rel=tolerance)


@pytest.mark.parametrize("name", ["gpt3-175b", "megatron-22b", "mt-nlg-530b", "megatron-1t"])
def test_gpt_flops_are_the_closed_form_of_korthikanti_with_causal_attention(name: str) -> None:
    shape, s, batch = model(name), 2048, 64
    h, layers, vocab = shape.hidden, shape.layers, shape.vocab
    closed = 72 * batch * layers * s * h**2 * (1 + s / (12 * h) + vocab / (12 * h * layers))
    assert model_flops(shape, s, batch) == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("name", ["gpt3-175b", "llama3-405b", "mt-nlg-530b"])
def test_six_times_parameters_times_tokens_is_near_for_large_models(name: str) -> None:
    shape, s = model(name), 4096
    assert model_flops(shape, s, 1) == pytest.approx(6 * parameters(shape) * s, rel=0.03)


def test_a_token_of_a_sparse_model_meets_the_published_active_parameters() -> None:
    published = {"deepseek-v3-671b": 37e9, "qwen3-235b-a22b": 22e9, "mixtral-8x7b": 12.9e9, "kimi-k2-1t": 32.6e9}
    for name, active in published.items():
        short = model_flops(model(name), 1, 1) / 6
        assert short == pytest.approx(active, rel=0.03)  # without the look-up of the embedding


@pytest.mark.parametrize("kind", ["accelerators", "models", "calibrations"])
def test_every_entry_says_where_it_comes_from(kind: str) -> None:
    entries: dict[str, Part] = dict(shipped(kind))
    assert all(name == name.lower() and " " not in name for name in entries)
    assert all(len(entry.source) > 10 and entry.source != "user" for entry in entries.values())


def test_what_is_from_memory_is_not_called_sure() -> None:
    for entry in shipped("accelerators").values():
        assert "recall" not in entry.source or entry.confidence != "high" or entry.estimates
    assert {name for name, part in ACCELERATORS.items() if part.confidence == "low"} == {
        "vera-rubin-nvl72",
        "mi455x-helios",
    }


def test_a_calibration_has_at_most_seven_constants() -> None:
    for entry in CALIBRATIONS.values():
        numbers = [
            key
            for key, value in entry.model_dump().items()
            if isinstance(value, int | float) and key != "software_year"
        ]
        assert len(numbers) <= 7, numbers


def test_calibrations_named_by_accelerators_exist_and_estimates_admit_it() -> None:
    for part in ACCELERATORS.values():
        assert part.calibration is None or part.calibration in CALIBRATIONS
    for entry in CALIBRATIONS.values():
        assert bool(entry.fitted_on) == bool(entry.fitted_accelerators) == bool(entry.fitted_hidden)
        assert entry.fitted_on or (entry.confidence == "low" and "estimate" in entry.source)
    assert isinstance(model("llama3-8b"), ModelShape)
