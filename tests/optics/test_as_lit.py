"""Margins of channels among those that are really lit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.optics.as_lit import LitChannel, margins_as_lit
from dcplan.optics.budget import Line
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import design_lines
from tests.optics.networks import chain, flat, whole

steady = settings(derandomize=True, deadline=None, max_examples=15)
CLEAN: dict[str, Any] = {"equipment": {"mux": {"loss_db": 0}, "roadm": {"loss_db": 0, "express_loss_db": 0}}}
MODES = {
    "slim": {"rate_gbps": 400, "baud_gbd": 63.1, "width_ghz": 75, "required_osnr_db": 20, "tx_dbm": 0},
    "wide": {"rate_gbps": 800, "baud_gbd": 118.2, "width_ghz": 150, "required_osnr_db": 22, "tx_dbm": 0},
}
GEAR = {
    **flat(),
    **CLEAN,
    "transponders": {"own": {"modes": MODES}},
    "allow": {"amplifiers": ["flat"], "transponders": ["own"]},
}
NETWORK = chain(
    {"spans": [{"length_km": 80}, {"length_km": 80}]}, {"spans": [{"length_km": 60}], "type": "g654e"}, gear=GEAR
)
LINES = {name: line for name, line in design_lines(NETWORK).items() if isinstance(line, Line)}
(PATH,) = evaluate(NETWORK, LINES, [whole(NETWORK)])
BUDGETS = {budget.mode: budget for budget in PATH.budgets}


def lit(widths: list[str], pairs: tuple[int, int] = (0, 0)) -> list[LitChannel]:
    edge, found = 191.325, []
    for mode in widths:
        width = MODES[mode]["width_ghz"] / 1e3
        found.append(LitChannel(PATH.route, BUDGETS[mode], edge + width / 2, pairs))
        edge += width
    return found


def margins(channels: list[LitChannel]) -> list[float]:
    found = margins_as_lit(NETWORK, LINES, channels)
    return [margin for margin in found if margin is not None]


def test_a_full_load_of_one_mode_has_the_margin_of_its_budget() -> None:
    found = margins(lit(["slim"] * 64))
    assert min(found) == pytest.approx(BUDGETS["slim"].margin_db, abs=0.01)


def test_a_lonely_channel_keeps_a_little_of_its_own_noise() -> None:
    (alone,) = margins(lit(["slim"]))
    assert BUDGETS["slim"].margin_db is not None
    assert BUDGETS["slim"].osnr_nli_db is not None
    assert alone > BUDGETS["slim"].margin_db + 0.5


@steady
@given(st.lists(st.sampled_from(["slim", "wide"]), min_size=1, max_size=32), st.sampled_from(["slim", "wide"]))
def test_a_channel_more_never_helps(widths: list[str], more: str) -> None:
    before, after = margins(lit(widths)), margins(lit([*widths, more]))
    assert all(two < one for one, two in zip(before, after, strict=False))


def test_channels_on_another_pair_do_not_matter() -> None:
    here, elsewhere = lit(["slim"] * 8), lit(["wide"] * 8, (1, 1))
    assert margins([*here, *elsewhere])[:8] == pytest.approx(margins(here))


def test_a_mixture_is_near_the_full_load_of_each() -> None:
    """Launched at their own optimum, slim and wide have nearly the same density."""
    widths = ["slim", "slim", "wide"] * 16
    found = margins(lit(widths))
    for mode in ("slim", "wide"):
        least = min(margin for margin, one in zip(found, widths, strict=True) if one == mode)
        assert least == pytest.approx(BUDGETS[mode].margin_db, abs=0.15)
