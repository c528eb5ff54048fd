"""The physics one formula at a time: against brute force, arithmetic on paper and limits."""

from __future__ import annotations

import math

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Amplifier, FiberType
from dcplan.optics.amplifier import Need, ase_w, choose, noise_figure_db, noise_to_signal, set_to
from dcplan.optics.fiber import (
    alpha_per_m,
    beta2_s2_per_m,
    effective_length_m,
    gamma_per_w_m,
    span_attenuation_db_per_km,
)
from dcplan.optics.nonlinear import Comb, full_load, interaction, optimum_w, span_nli_per_w2
from dcplan.optics.penalty import limit_of, penalty_db
from dcplan.units import db, dbm, watts
from tests.optics.networks import chain

steady = settings(derandomize=True, deadline=None, max_examples=50)
GLASS = shipped("fibers")["g652d"]
assert isinstance(GLASS, FiberType)


def amplifier(**given: object) -> Amplifier:
    return Amplifier.model_validate(
        {"gain_min_db": 10, "gain_max_db": 30, "nf_db": [[10, 8], [20, 5]], "output_max_dbm": 21, **given}
    )


def by_hand(comb: Comb, attenuation: float, dispersion: float) -> list[float]:
    """The double sum of the paper, channel by channel, without numpy."""
    baud, beta2, la = comb.baud_gbd * 1e9, beta2_s2_per_m(dispersion), 1 / alpha_per_m(attenuation)
    kappa = math.pi**2 * la * beta2 * baud
    found = []
    for i in range(comb.channels):
        total = 0.0
        for j in range(comb.channels):
            distance = (j - i) * comb.width_ghz * 1e9
            weight = 16 / 27 if i == j else 32 / 27
            total += weight * (math.asinh(kappa * (distance + baud / 2)) - math.asinh(kappa * (distance - baud / 2)))
        found.append(total / (4 * math.pi * beta2 * la * baud**2))
    return found


@steady
@given(
    st.integers(1, 9),
    st.floats(0.1, 0.4),
    st.floats(1, 25),
    st.sampled_from([(75, 60), (50, 32), (150, 118), (100, 60)]),
)
def test_closed_form_is_the_double_sum(
    channels: int, attenuation: float, dispersion: float, grid: tuple[float, float]
) -> None:
    comb = Comb(193.0, grid[0], grid[1], channels)
    assert interaction(comb, attenuation, dispersion) == pytest.approx(by_hand(comb, attenuation, dispersion), rel=1e-9)


def test_closed_form_is_the_integral_of_the_model() -> None:
    """Self-channel term against the GN integral done numerically (arXiv:1209.0394 eq. 1 for one span, one channel)."""
    comb, length_m = Comb(193.0, 50, 32, 1), 100e3
    alpha, beta2, baud = alpha_per_m(0.2), beta2_s2_per_m(16.7), 32e9
    half = np.linspace(-baud / 2, baud / 2, 1601)
    f1, f2 = np.meshgrid(half, half)
    inside = np.abs(f1 + f2) <= baud / 2
    phase = 4 * math.pi**2 * beta2 * f1 * f2
    leff = effective_length_m(0.2, 100)
    rho = np.abs((1 - np.exp(-alpha * length_m + 1j * phase * length_m)) / (alpha - 1j * phase)) ** 2 / leff**2
    integral = (rho * inside).sum() * (half[1] - half[0]) ** 2
    gamma = gamma_per_w_m(GLASS)
    by_integral = 16 / 27 * gamma**2 * leff**2 * integral / baud**2
    ours = float(span_nli_per_w2(GLASS, comb, 0.2, 100)[0])
    assert db(ours / by_integral) == pytest.approx(0, abs=0.6), "the closed form is an approximation of the integral"


def test_dispersion_to_zero_is_finite_and_worst() -> None:
    comb = Comb(193.0, 75, 63.1, 8)
    nli = [
        float(span_nli_per_w2(GLASS.model_copy(update={"dispersion_ps_nm_km": d}), comb, 0.2, 80)[4])
        for d in (0.0, 1e-3, 1.0, 5.0, 17.0)
    ]
    assert all(math.isfinite(value) for value in nli)
    assert nli == sorted(nli, reverse=True)
    plus, minus = (
        GLASS.model_copy(update={"dispersion_ps_nm_km": d, "dispersion_slope_ps_nm2_km": 0.0}) for d in (16.7, -16.7)
    )
    assert (span_nli_per_w2(minus, comb, 0.2, 80) == span_nli_per_w2(plus, comb, 0.2, 80)).all()


def test_fiber_constants() -> None:
    assert gamma_per_w_m(GLASS) * 1e3 == pytest.approx(1.27, abs=0.005)
    assert beta2_s2_per_m(16.7) * 1e27 == pytest.approx(21.3, abs=0.05)
    assert effective_length_m(0.2, 80) / 1e3 == pytest.approx((1 - 10**-1.6) / (0.2 / 4.342944819), rel=1e-9)
    assert effective_length_m(0.2, 0.001) == pytest.approx(1.0, rel=1e-4)


def test_a_measured_loss_is_lumped_where_it_is_worse() -> None:
    assert span_attenuation_db_per_km(GLASS, 50, 12.0) == 0.2
    assert span_attenuation_db_per_km(GLASS, 50, 8.0) == pytest.approx(0.16)


def test_latency_of_400_km() -> None:
    """1.9587 ms in G.652; the same in hollow core is 31.7 % less."""
    glass, hollow = (
        chain({"length_km": 400, "type": name}).fiber_latency_ms("f1") for name in ("g652d", "hollow-core")
    )
    assert glass == pytest.approx(1.9587, abs=1e-4)
    assert hollow / glass == pytest.approx(1 - 0.317, abs=1e-3)


@pytest.mark.parametrize(("width", "channels"), [(75, 64), (100, 48), (150, 32), (50, 96), (162.5, 29), (4900, 0)])
def test_full_load_of_the_c_band(width: float, channels: int) -> None:
    comb = full_load(191.325, 196.125, width, 30)
    assert comb.channels == channels
    if channels:
        assert comb.frequencies_thz()[0] - width / 2e3 == pytest.approx(191.325)
        assert comb.frequencies_thz()[-1] + width / 2e3 <= 196.125 + 1e-9


def test_total_power_of_64_channels() -> None:
    assert db(64) == pytest.approx(18.06, abs=0.01)


@steady
@given(st.floats(1e-9, 1e-3), st.floats(1, 1e6))
def test_optimum_has_twice_as_much_ase_as_nli(ase: float, nli: float) -> None:
    power = optimum_w(ase, nli)
    assert ase == pytest.approx(2 * nli * power**3, rel=1e-9)
    best = ase / power + nli * power**2
    assert all(best <= ase / p + nli * p**2 for p in (power * 0.9, power * 1.1))


def test_without_nonlinearity_there_is_no_optimum() -> None:
    assert math.isinf(optimum_w(1e-6, 0.0))


def test_ase_is_minus_58_dbm() -> None:
    """h f B at 193.4 THz in 0.1 nm is −58 dBm: the 58 of the rule."""
    assert dbm(ase_w(1.0, 193.4)) == pytest.approx(-57.96, abs=0.01)


def test_noise_figure_table() -> None:
    part = amplifier()
    assert [noise_figure_db(part, gain) for gain in (0, 10, 15, 20, 99)] == [8, 8, 6.5, 5, 5]


def test_padding_below_the_least_gain() -> None:
    part = amplifier()
    setting = set_to("a", part, 4.0)
    assert setting is not None
    assert (setting.gain_db, setting.padding_db, setting.noise_figure_db) == (10, 6, 8)
    assert set_to("a", part, 30.0) is not None
    assert set_to("a", part, 30.1) is None


def need(loss_db: float = 20, role: str = "line", nli: float = 300.0) -> Need:
    return Need(role, loss_db, 193.7, 63.1, 64, nli)


def test_choice_follows_noise_output_and_role() -> None:
    quiet, loud = amplifier(), amplifier(nf_db=[[10, 9]])
    assert choose({"loud": loud, "quiet": quiet}, need())[0].amplifier == "quiet"  # type: ignore[index]
    weak = amplifier(nf_db=[[10, 4.9]], output_max_dbm=10)
    assert choose({"weak": weak, "quiet": quiet}, need())[0].amplifier == "quiet"  # type: ignore[index]
    elsewhere = amplifier(nf_db=[[10, 4]], role="booster")
    assert choose({"elsewhere": elsewhere, "quiet": quiet}, need())[0].amplifier == "quiet"  # type: ignore[index]
    assert choose({"quiet": quiet}, need(loss_db=31)) is None
    assert choose({}, need()) is None
    assert choose({"first": quiet, "second": quiet}, need())[0].amplifier == "first"  # type: ignore[index]


@steady
@given(st.floats(3, 30), st.floats(0, 1000), st.floats(10, 25))
def test_choice_is_the_best_by_search(loss: float, nli: float, output: float) -> None:
    """noise_to_signal against a search over launch powers."""
    part = amplifier(output_max_dbm=output)
    setting = set_to("a", part, loss)
    assert setting is not None
    ase = ase_w(setting.noise_factor, 193.7, 63.1)
    most = watts(output - db(64))
    tried = [ase / p + nli * p**2 for p in (most * k / 500 for k in range(1, 501))]
    found = noise_to_signal(need(loss, nli=nli), setting, output)
    assert found <= min(tried) * (1 + 1e-9)
    assert found >= min(tried) * 0.97


TABLE = ((4000.0, 0.0), (12000.0, 0.5))


def test_penalties() -> None:
    at = np.array([0.0, 4000.0, 8000.0, 12000.0, 12000.1])
    assert penalty_db(TABLE, at).tolist() == [0, 0, 0.25, 0.5, math.inf]
    assert penalty_db(((1.0, 0.5), (2.0, 1.0)), np.array([0.5, 1.5])).tolist() == [0.25, 0.75]
    assert penalty_db(((2400.0, 0.5),), np.array([1200.0])).tolist() == [0.25]
    assert penalty_db((), np.array([1e9])).tolist() == [0]
    assert math.isinf(limit_of(()))
    assert limit_of(TABLE) == 12000
