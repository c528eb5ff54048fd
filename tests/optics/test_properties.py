"""Properties of light that hold on every line: with Raman tilt, at given launch, for any spans and any glass."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.model.network import Route
from dcplan.optics.budget import Budget
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines
from dcplan.units import db, from_db
from tests.optics.networks import budget_of, chain, flat, own, whole

steady = settings(derandomize=True, deadline=None, max_examples=20)
CLEAN: dict[str, Any] = {"equipment": {"mux": {"loss_db": 0}, "roadm": {"loss_db": 0, "express_loss_db": 0}}}
GLASSES = st.sampled_from(["g652d", "g654e", "g655", "hollow-core"])
TILTS = st.sampled_from([{}, {"raman_tilt": "always"}, {"raman_tilt": "always", "equalise": "site"}])
LEVELS = st.floats(-4, 4)


def gear_of(nf_db: float = 5.0, **mode: Any) -> dict[str, Any]:
    allow = {"amplifiers": ["flat"], "transponders": ["own"]}
    return {**flat(nf_db=nf_db), **CLEAN, "transponders": own(**mode), "allow": allow}


def spans(lengths: list[float], kind: str = "g652d", extra_db: float = 0.0) -> dict[str, Any]:
    rows = [{"length_km": km, "loss_db": 0.25 * km + extra_db} for km in lengths]
    return {"spans": rows, "type": kind}


def gsnr(network: Any) -> float:
    found = budget_of(network, "m").gsnr_db
    assert found is not None
    return found


@steady
@given(st.lists(st.floats(30, 100), min_size=1, max_size=6), GLASSES, TILTS, LEVELS, st.floats(30, 100))
def test_gsnr_falls_with_a_span_more(
    lengths: list[float], kind: str, tilt: dict[str, Any], level: float, more: float
) -> None:
    policy = {**tilt, "launch_dbm": level}
    one, two = (chain(spans(each, kind), gear=gear_of(), **policy) for each in (lengths, [*lengths, more]))
    assert gsnr(two) < gsnr(one)


@steady
@given(st.lists(st.floats(30, 100), min_size=1, max_size=6), GLASSES, TILTS, st.floats(0.1, 6))
def test_gsnr_falls_with_loss_and_noise_figure(
    lengths: list[float], kind: str, tilt: dict[str, Any], worse: float
) -> None:
    policy = {**tilt, "launch_dbm": 0}
    here = gsnr(chain(spans(lengths, kind), gear=gear_of(), **policy))
    assert gsnr(chain(spans(lengths, kind, worse), gear=gear_of(), **policy)) < here
    assert gsnr(chain(spans(lengths, kind), gear=gear_of(5.0 + worse), **policy)) < here


def of_spans(budget: Budget, name: str) -> float:
    """One contribution as noise over signal."""
    (value,) = [item.value_db for item in budget.items if item.name == name]
    return 0.0 if value is None else from_db(-value)


@steady
@given(st.integers(1, 8), st.floats(40, 100), st.sampled_from(["g652d", "g654e", "hollow-core"]), LEVELS)
def test_half_the_spans_at_the_same_power_are_three_decibels_better(
    count: int, km: float, kind: str, level: float
) -> None:
    """Noise of the spans' amplifiers and their nonlinearity both double."""
    one, two = (
        budget_of(chain(spans([km] * n, kind), gear=gear_of(), launch_dbm=level), "m") for n in (count, 2 * count)
    )
    for part in ("amplifiers of f1", "nonlinearity of f1"):
        if of_spans(one, part) > 0:
            gain = db(of_spans(two, part) / of_spans(one, part))
            assert gain == pytest.approx(10 * math.log10(2), abs=0.02), part  # the worst channel may be another


@steady
@given(st.lists(st.floats(30, 100), min_size=1, max_size=4), TILTS)
def test_a_symmetric_route_is_the_same_both_ways(lengths: list[float], tilt: dict[str, Any]) -> None:
    network = chain(spans([*lengths, *lengths[::-1]]), gear=gear_of(), **tilt)
    back = Route(whole(network).sites[::-1], whole(network).fibers)
    one, two = evaluate(network, design_lines(network), [whole(network), back])
    assert one.budgets[0].gsnr_db == pytest.approx(two.budgets[0].gsnr_db, abs=1e-9)
    other = one.budgets[0].other
    assert other is not None
    assert other.gsnr_db == pytest.approx(one.budgets[0].gsnr_db, abs=1e-9)


@steady
@given(st.integers(1, 90), TILTS, LEVELS)
def test_a_channel_more_never_helps(channels: int, tilt: dict[str, Any], level: float) -> None:
    def of(count: int) -> float:
        band = {"band_start_thz": 193.0 - count * 0.0375, "band_end_thz": 193.0 + count * 0.0375}
        return gsnr(chain(spans([80, 80]), gear={**gear_of(), **band}, launch_dbm=level, **tilt))

    assert of(channels + 1) <= of(channels) + 0.002  # the grid moves by half a channel, the noise quantum with it


@steady
@given(st.integers(1, 96), st.floats(5, 20))
def test_total_power_is_that_of_a_channel_times_their_number(channels: int, output: float) -> None:
    band = {"band_start_thz": 191.0, "band_end_thz": 191.0 + channels * 0.05}
    gear = {**gear_of(width_ghz=50, baud_gbd=32, tx_dbm=30), **band, **flat(output_max_dbm=output)}
    budget = budget_of(chain(spans([40], "hollow-core"), gear=gear), "m")
    assert budget.launch_dbm is not None
    assert budget.launch_dbm + db(budget.channels) == pytest.approx(output)
    assert budget.channels == channels


@steady
@given(st.floats(20, 2500), st.floats(100, 40_000), GLASSES)
def test_nothing_closes_beyond_its_dispersion_limit(km: float, limit: float, kind: str) -> None:
    gear = gear_of(required_osnr_db=-20, cd_penalty=[[limit, 0.5]])
    budget = budget_of(chain({"length_km": km, "type": kind}, gear=gear, margin_db=0), "m")
    (item,) = [item for item in budget.items if item.name == "chromatic dispersion"]
    amount = float(item.why.split()[0].replace(",", ""))
    if amount > limit * 1.001:
        assert not budget.closes
        assert budget.limit == "dispersion"
    elif amount < limit * 0.999:
        assert budget.closes
    assert (
        amount >= 0.99 * km * {"g652d": 16.7, "g654e": 21.0, "g655": 5.0, "hollow-core": 3.0}[kind] or kind == "g652d"
    )


@steady
@given(st.floats(15, 40), st.floats(15, 40), st.integers(1, 4))
def test_gsnr_is_below_each_of_its_parts(tx: float, add: float, count: int) -> None:
    """Neither transmitter nor add/drop counts never or twice."""
    gear = {**gear_of(tx_osnr_db=tx), "equipment": {"mux": {"loss_db": 0, "add_drop_osnr_db": add}}}
    budget = budget_of(chain(spans([60] * count), gear=gear), "m")
    assert budget.gsnr_db is not None
    noise = [from_db(-item.value_db) for item in budget.items if item.kind == "noise" and item.value_db is not None]
    assert budget.gsnr_db == pytest.approx(-db(math.fsum(noise)), abs=1e-9)
    assert budget.gsnr_db < min(tx, add - 10 * math.log10(2))
