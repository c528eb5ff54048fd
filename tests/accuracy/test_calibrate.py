"""Calibrations are what a fit on the runs that they name gives."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, cast

import pytest

from dcplan.accuracy.calibrate import COPIED, by_source, refit, text
from dcplan.accuracy.fit import CEILING, KEYS, fit, mape
from dcplan.accuracy.hosts import fitted_launch_us, fitted_message_us
from dcplan.accuracy.runs import all_runs
from dcplan.catalog.load import shipped
from dcplan.training import shapes

if TYPE_CHECKING:
    from dcplan.catalog.parts import Accelerator, Calibration

CALIBRATIONS = cast("dict[str, Calibration]", shipped("calibrations"))
FITTED = {name: entry for name, entry in CALIBRATIONS.items() if entry.fitted_on}


def test_the_file_is_what_calibrate_writes() -> None:
    there = (files("dcplan.catalog") / "data" / "calibrations.toml").read_text(encoding="utf-8")
    assert text(CALIBRATIONS) == there
    assert set(tomllib.loads(there)) == set(CALIBRATIONS)


@pytest.mark.parametrize("name", FITTED)
def test_a_fit_anew_finds_nothing_much_better(name: str) -> None:
    entry = FITTED[name]
    found = refit(entry, rounds=12)
    for moe in (False, True):
        runs = [all_runs()[run] for run in entry.fitted_on if shapes.is_moe(all_runs()[run].workload.model) == moe]
        if runs:
            now = sum(mape(group, entry) for group in by_source(runs))
            assert sum(mape(group, found) for group in by_source(runs)) >= now - 0.5
    for key in ("fitted_accelerators", "fitted_hidden", "fitted_count"):
        assert getattr(found, key) == getattr(entry, key)


@pytest.mark.parametrize("name", FITTED)
def test_only_named_constants_move_and_there_are_runs_for_them(name: str) -> None:
    entry = FITTED[name]
    assert set(entry.fitted_constants) <= set(KEYS)
    assert entry.fitted_constants
    found = refit(entry, rounds=3)
    assert all(getattr(found, key) == getattr(entry, key) for key in KEYS if key not in entry.fitted_constants)
    sparse = any(shapes.is_moe(all_runs()[run].workload.model) for run in entry.fitted_on)
    assert ("moe_efficiency" in entry.fitted_constants) == sparse


def test_precisions_of_a_family_differ_only_in_what_precision_changes() -> None:
    for name in ("hopper", "gb200", "gb300", "b200", "b300", "cdna3", "tpu-v5p"):
        plain, other = CALIBRATIONS[name], CALIBRATIONS[f"{name}-fp8"]
        assert [getattr(plain, key) for key in COPIED] == [getattr(other, key) for key in COPIED]


def test_what_is_not_fitted_names_no_constants() -> None:
    assert all(not entry.fitted_constants for name, entry in CALIBRATIONS.items() if name not in FITTED)


def test_a_fit_finds_the_constants_that_made_its_runs() -> None:
    """Runs made with known constants: the fit comes back to them from elsewhere."""
    from dataclasses import replace

    from dcplan.accuracy.fit import predicted_s

    entry = CALIBRATIONS["a100"]
    runs = [all_runs()[name] for name in ("korthikanti_t5_22B_sele", "sc21_t1_1.7B", "sc21_t1_145B")]
    truth = entry.model_copy(update={"gemm_efficiency": 0.6, "step_ms": 300.0})
    made = [replace(run, seconds=predicted_s(run, truth)) for run in runs]
    found = fit(entry, [made], ("gemm_efficiency", "step_ms"), rounds=40)
    assert found.gemm_efficiency == pytest.approx(0.6, rel=0.01)
    assert found.step_ms == pytest.approx(300, rel=0.05)
    assert mape(made, found) < 0.3


def test_what_a_message_and_a_launch_cost_is_what_a_fit_gives() -> None:
    parts = cast("dict[str, Accelerator]", shipped("accelerators"))
    fitted = {name: part for name, part in parts.items() if part.fitted_on}
    assert set(fitted) == {"tpu-v5e", "b200-sxm"}
    assert fitted["tpu-v5e"].site_message_us == fitted_message_us(fitted["tpu-v5e"])
    assert fitted["b200-sxm"].launch_us == fitted_launch_us(fitted["b200-sxm"])
    hosts = {name: part.launch_us for name, part in parts.items() if part.launch_us}
    assert set(hosts) == {
        "h100-sxm",
        "h200-sxm",
        "h800-sxm",
        "h20",
        "b200-sxm",
        "b300-sxm",
        "gb200-nvl72",
        "gb300-nvl72",
    }
    assert set(hosts.values()) == {fitted["b200-sxm"].launch_us}
    assert {name for name, part in parts.items() if part.site_message_us} == {
        "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7-ironwood"
    }  # fmt: skip


def test_no_efficiency_is_fitted_above_the_ceiling() -> None:
    for entry in FITTED.values():
        assert all(getattr(entry, key) <= CEILING for key in entry.fitted_constants if key.endswith("efficiency"))
