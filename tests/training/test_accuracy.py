"""Step times against published runs. Gates hold on runs that no constant was fitted on."""

from __future__ import annotations

from typing import cast

import pytest

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Calibration

from .fit import fit, mape, relative_error
from .records import Record, records

ALL = records()
CALIBRATIONS = cast("dict[str, Calibration]", shipped("calibrations"))
FITTED = {run for entry in CALIBRATIONS.values() for run in entry.fitted_on}
H100_DENSE = ("megatron_h100_weak", "dgxc_", "nemotron4_")
TEST_SETS = {
    "sc21 table 1": [name for name in ALL if name.startswith("sc21_t1")],
    "sc21 table 2": [name for name in ALL if name.startswith("sc21_t2")],
    "vtrain odd rows": [name for name in ALL if name.startswith("vtrain") and int(name[-3:]) % 2],
    "h100 dense": [name for name in ALL if name.startswith(H100_DENSE) and name not in FITTED],
}
GATES_PERCENT = {"sc21 table 1": 6, "sc21 table 2": 10, "vtrain odd rows": 10, "h100 dense": 10}


def chosen(names: list[str]) -> list[Record]:
    return [ALL[name] for name in names]


def test_no_run_is_both_fitted_and_tested() -> None:
    assert set(ALL) >= FITTED
    for names in TEST_SETS.values():
        assert names
        assert not FITTED & set(names)


@pytest.mark.parametrize("name", TEST_SETS)
def test_runs_that_were_not_fitted(name: str) -> None:
    assert mape(chosen(TEST_SETS[name])) <= GATES_PERCENT[name]


def test_worst_of_sc21_table_1() -> None:
    assert max(abs(relative_error(record)) for record in chosen(TEST_SETS["sc21 table 1"])) <= 0.12


def test_fitted_runs() -> None:
    assert mape([record for name, record in ALL.items() if name.startswith("korthikanti_t5")]) <= 5
    assert mape(chosen([name for name in sorted(FITTED) if name.startswith("vtrain")])) <= 8
    assert mape(chosen([name for name in sorted(FITTED) if "h100" in name])) <= 10


def test_gradients_that_do_not_overlap_cost_what_korthikanti_measured() -> None:
    with_dp, alone = ALL["korthikanti_530B_dp8"], ALL["korthikanti_t5_530B_sele"]
    added = with_dp.seconds * (1 + relative_error(with_dp)) - alone.seconds * (1 + relative_error(alone))
    assert added == pytest.approx(1.32, rel=0.3)
    assert abs(relative_error(with_dp)) <= 0.05


def test_a_fit_on_large_models_alone_fails_on_small_ones() -> None:
    """Fitting on one table proves nothing, and this suite notices."""
    large = [record for name, record in ALL.items() if name.startswith("korthikanti_t5")]
    small = [record for name, record in ALL.items() if name.startswith("vtrain") and record.workload.model.layers == 30]
    start = CALIBRATIONS["a100-2021"]
    narrow = fit(start, [large], rounds=8)
    assert mape(large, narrow) < mape(large, start)
    assert mape(small, narrow) > mape(small, start)
