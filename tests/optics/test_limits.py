"""What stops the next faster mode, which modes are not tried, and which lightpath of a pair is the best."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dcplan.optics.choice import best_per_pair
from dcplan.optics.lightpath import evaluate
from dcplan.optics.limits import left_out, next_faster, next_in_words, stop_of
from dcplan.optics.line import design_lines
from tests.optics.networks import OWN_MODE, chain, flat, whole

MODES = {
    "slow": {**OWN_MODE, "rate_gbps": 200, "required_osnr_db": 10},
    "far": {**OWN_MODE, "rate_gbps": 300, "required_osnr_db": 10, "cd_penalty": [[1000, 0.5]]},
    "noisy": {**OWN_MODE, "rate_gbps": 400, "required_osnr_db": 40},
    "noisier": {**OWN_MODE, "rate_gbps": 400, "required_osnr_db": 45},
    "deaf": {**OWN_MODE, "rate_gbps": 500, "required_osnr_db": 10, "rx_min_dbm": 10},
}


def path_with(*names, length_km=80, **gear):
    own = {"own": {"modes": {name: MODES[name] for name in names}}}
    parts = flat(nf_db=5.0)
    parts["allow"]["transponders"] = ["own"]
    network = chain({"length_km": length_km}, gear={**parts, "transponders": own, **gear})
    (path,) = evaluate(network, design_lines(network), [whole(network)])
    return network, path


def test_the_next_faster_mode_is_the_least_that_does_not_close() -> None:
    _, path = path_with(*MODES)
    assert [budget.mode for budget in path.closing] == ["slow"]
    assert next_faster(path).mode == "far"
    assert re.fullmatch(r"own far: dispersion, 1[34]\d\d ps/nm, at most 1000", next_in_words(path))


def test_of_equal_rates_the_nearest_counts_and_says_how_much_is_missing() -> None:
    _, path = path_with("slow", "noisier", "noisy")
    faster = next_faster(path)
    assert faster.mode == "noisy"
    assert stop_of(faster) == f"OSNR, {-faster.margin_db:.1f} dB short"


def test_power_says_what_arrives_and_what_is_needed() -> None:
    _, path = path_with("slow", "deaf")
    faster = next_faster(path)
    assert stop_of(faster) == f"power, {faster.rx_dbm:.1f} dBm received, window 10 to none dBm"


def test_nothing_faster_and_nothing_that_closes() -> None:
    _, path = path_with("slow")
    assert next_faster(path) is None
    assert next_in_words(path) == ""
    assert stop_of(path.budgets[0]) == ""
    _, path = path_with("noisier", "noisy")
    assert next_in_words(path).startswith("nearest own noisy: OSNR")


def test_without_items_the_limit_stands_alone() -> None:
    _, path = path_with("slow", "far")
    bare = replace(next_faster(path), items=())
    assert stop_of(bare) == "dispersion"


def test_a_mode_wider_than_the_band_is_stopped_by_its_width() -> None:
    network, _ = path_with("slow", "noisy", band_start_thz=193.0, band_end_thz=193.1)
    assert left_out(network) == ()
    wide = {
        "own": {"modes": {**{name: MODES[name] for name in ("slow",)}, "wide": {**MODES["noisy"], "width_ghz": 150}}}
    }
    network = chain(
        {"length_km": 80},
        gear={
            **flat(), "transponders": wide, "allow": {"amplifiers": ["flat"], "transponders": ["own"]},
            "band_start_thz": 193.0, "band_end_thz": 193.1,
        },
    )  # fmt: skip
    assert left_out(network) == ("own wide: width, 150 GHz, the band has 100",)


def test_a_mode_without_published_osnr_is_named_where_its_transponder_was_asked_for() -> None:
    network = chain({"length_km": 80}, gear={"allow": {"transponders": ["openroadm-6"]}})
    assert [reason.partition(":")[0] for reason in left_out(network)] == [
        "openroadm-6 600g-118gbd",
        "openroadm-6 600g-124gbd",
    ]


def test_the_best_of_a_pair_is_the_fastest_then_the_shortest() -> None:
    _, fast = path_with("noisier", length_km=10)
    _, slow = path_with("slow", length_km=80)
    near, far, other = replace(slow, id="L1"), replace(slow, id="L2", latency_ms=9.0), replace(slow, id="L3")
    assert not fast.closing
    assert best_per_pair([replace(fast, id="L0"), far, near]) == (near,)
    apart = replace(other, route=replace(other.route, sites=("s0", "s2")))
    assert best_per_pair([far, apart]) == (far, apart)


@pytest.mark.parametrize("name", ["slow", "far", "noisy", "deaf"])
def test_a_closing_mode_is_never_called_stopped(name: str) -> None:
    _, path = path_with(name)
    (budget,) = path.budgets
    assert (stop_of(budget) == "") == budget.closes
