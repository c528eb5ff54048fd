"""The flexible grid, guards between widths and at band edges, and what is said of the places of channels."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.engine import Options, design
from dcplan.design.problem import problem
from dcplan.design.result import Infeasible
from dcplan.design.spectrum.place import Misfit, assign, least_pairs
from dcplan.design.verify import verify
from dcplan.model import grid
from dcplan.model.states import promised_states
from dcplan.optics.allowed import load_of
from tests.design import factory

MANY = settings(max_examples=60, deadline=None, derandomize=True)
BAND = {"band_start_thz": 191.3, "band_end_thz": 191.3 + 0.3}  # 24 slots
WIDE_SLIM = {
    "wide": {"rate_gbps": 800, "baud_gbd": 118, "width_ghz": 150, "required_osnr_db": 24},
    "slim": {"rate_gbps": 300, "baud_gbd": 60, "width_ghz": 75, "required_osnr_db": 20},
}


def one_fiber(pairs=1, policy=None, gear=None):
    net = factory.network(
        ["a", "b"], {"n": ("a", "b", 60, pairs)}, {"scheme": "none"} | (policy or {}), gear or BAND, modes=WIDE_SLIM
    )
    return net, problem(net, factory.lines(net), factory.lightpaths(net, {}), [], promised_states(net))


def test_the_c_band_is_the_64_channels_of_75_ghz_of_the_oif():
    """OIF 400ZR: centres from 191.375 to 196.100 THz on a 75 GHz grid; one band here is 37.5 GHz wider on each side."""
    band = grid.band(191.325, 196.125)
    assert band == grid.Band()
    centres = [grid.centre_thz(band.centre(6 * i, 6)) for i in range(64)]
    assert centres[0] == pytest.approx(191.3625)
    assert centres[-1] == pytest.approx(196.0875)
    assert band.slots == 64 * 6


@MANY
@given(st.floats(180, 200), st.floats(0.05, 10), st.integers(0, 3))
def test_a_band_stands_on_the_grid_inside_its_edges(start, width, guard):
    band = grid.band(start, start + width, guard * 12.5)
    assert start - 1e-8 <= band.start_thz < start + 6.25e-3
    assert band.end_thz <= start + width + 1e-8
    assert start + width - band.end_thz < 12.5e-3 + 1e-8
    assert band.usable == max(0, band.slots - 2 * guard)
    for first, m in ((0, 6), (3, 5), (7, 12)):
        edge = grid.centre_thz(band.centre(first, m)) - m * 6.25e-3
        assert edge == pytest.approx(band.start_thz + first * 12.5e-3)


def fits_one_pair(counts, slots, guard):
    """By trying: wide channels side by side, a guard, slim ones side by side, guards at both edges."""
    wide, slim = counts
    between = guard if wide and slim else 0
    return 12 * wide + 6 * slim + between + 2 * guard <= slots


@pytest.mark.parametrize("guard", [0, 1, 2, 4])
def test_guards_take_their_room_on_a_pair(guard):
    net, made = one_fiber(policy={"guard_ghz": 12.5 * guard})
    order = [choice.mode for choice in made.choices]
    assert sorted(order) == ["slim", "wide"]
    for wide, slim in product(range(4), range(6)):
        counts = [wide if mode == "wide" else slim for mode in order]
        found = assign(made, counts, {"n": 1})
        if fits_one_pair((wide, slim), 24, guard):
            assert not isinstance(found, Misfit), (wide, slim)
            stand_apart(net, made, found)
        else:
            assert isinstance(found, Misfit), (wide, slim)


def stand_apart(net, made, channels):
    routes = {path.id: path.route.fibers for path in made.lightpaths}
    band, on = made.band, {}
    for channel in channels:
        assert channel.n == band.edge + 2 * channel.first_slot + channel.slots
        assert channel.first_slot >= band.guard
        assert channel.first_slot + channel.slots <= band.slots - band.guard
        for at in zip(routes[channel.lightpath], channel.pairs, strict=True):
            on.setdefault(at, []).append((channel.first_slot, channel.slots))
    for here in on.values():
        for (first, m), (after, other) in pairwise(sorted(here)):
            assert after >= first + m + (band.guard if other != m else 0)


@MANY
@given(st.data())
def test_channels_on_a_mesh_keep_their_guards(data):
    fibers = {"f0": ("a", "b", 60, 3), "f1": ("b", "c", 60, 3), "f2": ("c", "a", 60, 3)}
    guard = data.draw(st.integers(0, 2))
    net = factory.network(["a", "b", "c"], fibers, {"guard_ghz": 12.5 * guard}, BAND, modes=WIDE_SLIM)
    made = problem(net, factory.lines(net), factory.lightpaths(net), [], promised_states(net))
    counts = [data.draw(st.integers(0, 1)) for _ in made.choices]
    found = assign(made, counts, dict.fromkeys(made.fibers, 3))
    if not isinstance(found, Misfit):
        assert len(found) == sum(counts)
        stand_apart(net, made, found)
        assert all(pairs <= 3 for pairs in least_pairs(made, counts).values())


def designed(policy, gbps, pairs=4):
    net, made = one_fiber(pairs, policy)
    demands = [factory.demand(net, "x", "a", "b", gbps)]
    found = design(net, factory.lines(net), made.lightpaths, demands, promised_states(net), Options(gap=1e-6))
    return net, made, demands, found


def cheapest_by_hand(net, made, gbps, guard):
    """Every mix of wide and slim channels on up to four pairs; a pair's mixes are those that fit by `fits_one_pair`."""
    price = {choice.mode: choice.usd for choice in made.choices}
    mixes = [mix for mix in product(range(3), range(5)) if fits_one_pair(mix, 24, guard)]
    best = None
    for pairs in range(1, 5):
        reached = {(0, 0)}
        for _ in range(pairs):
            reached = {(a + c, b + d) for a, b in reached for c, d in mixes}
        for wide, slim in reached:
            if 800 * wide + 300 * slim >= gbps:
                usd = wide * price["wide"] + slim * price["slim"] + pairs * made.pair_usd["n"]
                best = usd if best is None else min(best, usd)
    return best


@pytest.mark.parametrize("guard", [0, 1, 2])
@pytest.mark.parametrize("gbps", [1100, 1400, 1900, 2500, 3300])
def test_the_design_with_guards_is_the_cheapest(guard, gbps):
    net, made, _, found = designed({"guard_ghz": 12.5 * guard}, gbps)
    best = cheapest_by_hand(net, made, gbps, guard)
    if best is None:
        assert isinstance(found, Infeasible)
        return
    assert found.cost_usd == pytest.approx(best, rel=1e-6)
    assert found.proof.status == "optimal"
    assert "no assignment needs fewer" in found.proof.spectrum
    assert "sized again" not in found.proof.spectrum
    stand_apart(net, made, found.channels)


def test_a_design_that_was_sized_again_says_so_and_is_not_called_optimal():
    """A pair between guards of three slots holds one wide or three slim channels, which no sum of widths says."""
    net, made, _, found = designed({"guard_ghz": 37.5}, 1900)
    assert found.proof.spectrum.endswith("; sized again once because channels found no place on n")
    assert (found.proof.status, found.proof.reason) == ("feasible", "spectrum repaired")
    assert found.proof.bound_usd < found.cost_usd
    assert found.cost_usd >= cheapest_by_hand(net, made, 1900, 3) * (1 - 1e-9)
    stand_apart(net, made, found.channels)


def test_a_guard_costs_a_pair():
    *_, without = designed({}, 1600)
    *_, with_guard = designed({"guard_ghz": 12.5}, 1600)
    assert (without.lit[0].pairs, with_guard.lit[0].pairs) == (1, 2)
    assert without.lit[0].fill_percent == 100
    assert with_guard.band.guard == 1


def test_the_check_notices_a_missing_guard_and_a_wrong_centre():
    net, made, demands, found = designed({"guard_ghz": 12.5}, 1100)
    wide, slim = sorted(found.channels, key=lambda channel: channel.first_slot)
    assert (wide.slots, slim.slots, wide.first_slot, slim.first_slot) == (12, 6, 1, 14)

    def faults(*channels):
        spoiled = replace(found, channels=channels)
        return "; ".join(verify(net, factory.lines(net), made.lightpaths, demands, promised_states(net), spoiled))

    assert faults(wide, slim) == ""
    near = replace(slim, first_slot=13, n=slim.n - 2)
    assert faults(wide, near) == "pair 0 of n: no guard of 1 slots between slots 1 and 13"
    assert "leaves the band" in faults(replace(wide, first_slot=0, n=wide.n - 2), slim)
    assert f"not {wide.n + 1}" in faults(replace(wide, n=wide.n + 1), slim)
    assert "the band is" in "; ".join(
        verify(
            net, factory.lines(net), made.lightpaths, demands, promised_states(net), replace(found, band=grid.Band())
        )
    )


def test_two_bands_are_one_spectrum_with_a_dark_stretch_that_no_channel_takes():
    """L ends at 190.925, C begins at 191.325 THz: 32 slots between them."""
    net, made = one_fiber(gear={"band": "c+l"}, policy={"guard_ghz": 12.5})
    band = made.band
    assert band.dark == ((384, 32),)
    assert (band.slots, band.amplified, band.usable) == (800, 768, 764)
    counts = [31 * 2 if choice.mode == "wide" else 0 for choice in made.choices]
    found = assign(made, counts, {"n": 1})
    assert not isinstance(found, Misfit)
    stand_apart(net, made, found)
    edges = [(grid.centre_thz(one.n) - 0.075, grid.centre_thz(one.n) + 0.075) for one in found]
    assert all(high <= 190.925 - 0.0125 + 1e-9 or low >= 191.325 + 0.0125 - 1e-9 for low, high in edges)
    more = [count + 2 if count else 0 for count in counts]
    assert isinstance(assign(made, more, {"n": 1}), Misfit)  # 62 × 12 slots + 20 left over at the upper ends


@pytest.mark.parametrize("start", [191.325, 191.326, 191.33124, 191.32])
def test_optics_and_design_count_channels_on_the_same_grid(start):
    net, made = one_fiber(gear={"band_start_thz": start, "band_end_thz": 196.125})
    for mode in net.catalog.transponders["tx"].modes.values():
        comb, slots = load_of(net, mode), grid.width_slots(mode.width_ghz)
        assert comb.channels == made.band.usable // slots
        assert comb.first_thz == pytest.approx(grid.centre_thz(made.band.centre(0, slots)), abs=1e-9)
