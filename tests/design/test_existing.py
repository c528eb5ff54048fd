"""What is lit already: free but for its running costs, kept in its place, and never a reason to pay more."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dcplan import api
from dcplan.design import cost
from dcplan.design.engine import Options, design
from dcplan.design.result import Infeasible
from dcplan.design.verify import verify
from dcplan.model.existing import Existing
from dcplan.model.spectrum import band_of
from dcplan.model.states import promised_states
from tests.design import brute, factory

FEW = settings(max_examples=5, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
BAND = {"band_start_thz": 191.3, "band_end_thz": 191.3 + 0.3}  # 24 slots: two wide channels, or one wide and two slim
TWO = {
    "fast": {"rate_gbps": 800, "baud_gbd": 118, "width_ghz": 150, "required_osnr_db": 24},
    "slim": {"rate_gbps": 300, "baud_gbd": 70, "width_ghz": 87.5, "required_osnr_db": 20},
}
REACH = {"fast": 300, "slim": 900}


def having(net, existing):
    about = Existing.model_validate(existing)
    return replace(net, topology=net.topology.model_copy(update={"existing": about}))


def solved(net, paths, demands):
    return design(net, factory.lines(net), paths, demands, promised_states(net), Options(gap=1e-6))


def as_existing(found, paths, *, removable=False):
    """A design as what a later one finds."""
    fibers = {path.id: path.route.fibers for path in paths}
    return {
        "fibers": {lit.fiber: {"pairs": lit.pairs} for lit in found.lit},
        "wavelengths": [
            {
                "route": list(fibers[channel.lightpath]),
                "transponder": channel.transponder,
                "mode": channel.mode,
                "count": 1,
                "n": [channel.n],
                "on_pairs": [pair + 1 for pair in channel.pairs],
            }
            for channel in found.channels
        ],
        "removable": removable,
    }


def bought_usd(found):
    """What is paid once: everything but energy and lease."""
    return found.cost_usd - found.running_usd


@st.composite
def ring(draw):
    """Three sites, four fibers, two demands."""
    ends = [("a", "b"), ("b", "c"), ("a", "c"), draw(st.sampled_from([("a", "b"), ("b", "c")]))]
    fibers = {
        f"f{i}": (a, b, draw(st.sampled_from([60, 90, 140])), draw(st.integers(1, 2)),
                  {"build_usd_per_km": draw(st.sampled_from([None, 900.0]))})
        for i, (a, b) in enumerate(ends)
    }  # fmt: skip
    asked = [(a, b, draw(st.sampled_from([250, 500, 900]))) for a, b in (("a", "b"), ("b", "c"))]
    return fibers, asked


def made(case, scale=1.0):
    fibers, asked = case
    net = factory.network(["a", "b", "c"], fibers, {}, BAND, modes=TWO)
    paths = factory.lightpaths(net, REACH)
    return net, paths, [factory.demand(net, f"d{i}", a, b, scale * gbps) for i, (a, b, gbps) in enumerate(asked)]


@FEW
@given(ring())
def test_what_a_design_lit_is_all_that_the_same_demands_need(case):
    net, paths, demands = made(case)
    first = solved(net, paths, demands)
    if isinstance(first, Infeasible):
        return
    second = solved(having(net, as_existing(first, paths)), paths, demands)
    assert bought_usd(second) == 0
    assert second.cost_usd == pytest.approx(first.cost_usd - bought_usd(first), rel=1e-9)
    assert second.wavelengths == tuple(replace(lit, existing=lit.count) for lit in first.wavelengths)
    assert second.lit == tuple(replace(lit, existing=lit.pairs) for lit in first.lit)
    assert sorted(second.channels, key=repr) == sorted(first.channels, key=repr)
    assert second.proof.status == "optimal"


@FEW
@given(ring(), st.integers(0, 2**12))
def test_more_that_is_there_never_costs_more_where_it_may_be_taken_out(case, chosen):
    net, paths, demands = made(case)
    lit = solved(net, paths, [replace(d, gbps={k: 1.5 * v for k, v in d.gbps.items()}) for d in demands])
    none = solved(net, paths, demands)
    if isinstance(lit, Infeasible) or isinstance(none, Infeasible):
        return
    everything = as_existing(lit, paths, removable=True)
    some = everything | {
        "wavelengths": [one for i, one in enumerate(everything["wavelengths"]) if chosen >> i & 1],
    }
    all_of_it, part = (solved(having(net, one), paths, demands) for one in (everything, some))
    kept = solved(having(net, everything | {"removable": False}), paths, demands)
    assert all_of_it.proof.bound_usd <= part.cost_usd * (1 + 1e-6)
    assert part.proof.bound_usd <= none.cost_usd * (1 + 1e-6)
    assert all_of_it.proof.bound_usd <= kept.cost_usd * (1 + 1e-6)


@FEW
@given(ring(), st.floats(1.2, 2.0))
def test_growth_keeps_what_is_there_and_costs_no_less_than_a_fresh_start(case, scale):
    net, paths, demands = made(case)
    first, (_, _, grown) = solved(net, paths, demands), made(case, scale)
    fresh = solved(net, paths, grown)
    if isinstance(first, Infeasible) or isinstance(fresh, Infeasible):
        return
    later = solved(having(net, as_existing(first, paths)), paths, grown)
    if isinstance(later, Infeasible):
        return
    assert bought_usd(first) + later.cost_usd >= fresh.proof.bound_usd * (1 - 1e-6)
    assert set(first.channels) <= set(later.channels)


def one_channel(fiber, mode, n, pair):
    return {"route": [fiber], "transponder": "tx", "mode": mode, "count": 1, "n": [n], "on_pairs": [pair]}


def packs(widths, rooms):
    """Widths, widest first, fit into stretches of free slots (exact, by trying)."""
    if not widths:
        return True
    return any(
        room >= widths[0] and packs(widths[1:], [*rooms[:i], room - widths[0], *rooms[i + 1 :]])
        for i, room in enumerate(rooms)
    )


def stretches(band, taken):
    found, at = [], 0
    for first, slots in sorted(taken):
        found.append(first - at)
        at = first + slots
    return [*found, band - at]


def cheapest(net, lines, paths, demands, states, there, lit):
    """Brute force over new wavelengths 0…3 per option on parallel fibers, beside channels that stand.

    there: (fiber, mode, first slot, pair) of each channel; lit: fiber -> pairs.
    """
    choices = brute.options(net, paths)
    line_of = {line.fiber: line for line in lines}
    band = band_of(net).usable
    slots = {budget.mode: width for _, budget, width, _ in choices}
    best = math.inf
    for new in product(range(4), repeat=len(choices)):
        total = 0.0
        counts = list(new)
        for i, (path, budget, _, _) in enumerate(choices):
            old = sum(fiber == path.route.fibers[0] and mode == budget.mode for fiber, mode, *_ in there)
            counts[i] += old
            total += cost.total(cost.wavelength_items(net, path, budget.transponder, counts[i], old))
        for fiber in net.fibers:
            widths = sorted(
                (
                    w
                    for n, (path, _, w, _) in zip(new, choices, strict=True)
                    if path.route.fibers == (fiber,)
                    for _ in range(n)
                ),
                reverse=True,
            )
            pairs = lit.get(fiber, 0)
            while not packs(widths, [
                room
                for pair in range(pairs)
                for room in stretches(band, [(s, slots[m]) for f, m, s, p in there if (f, p) == (fiber, pair)])
            ]):  # fmt: skip
                pairs += 1
            if pairs > net.fibers[fiber].pairs:
                total = math.inf
                break
            if pairs:
                old = lit.get(fiber, 0)
                total += cost.total(cost.pair_items(net, line_of[fiber], pairs, old))
                total += cost.total(cost.build_items(net, fiber))
        if total < best and brute.by_cuts(net, choices, counts, demands, states):
            best = total
    return None if best == math.inf else best


@st.composite
def standing(draw):
    """Two parallel fibers of at most two pairs; channels that stand apart, so that they leave holes."""
    pairs = [draw(st.integers(1, 2)) for _ in range(2)]
    fibers = {f"f{i}": ("a", "b", draw(st.sampled_from([40, 82, 150])), n) for i, n in enumerate(pairs)}
    lit, there = {}, []
    for i, n in enumerate(pairs):
        lit[f"f{i}"] = draw(st.integers(0, n))
        for pair in range(lit[f"f{i}"]):
            mode, first = draw(
                st.sampled_from([("slim", 0), ("slim", 5), ("slim", 9), ("fast", 6), ("fast", 12), (None, 0)])
            )
            if mode:
                there.append((f"f{i}", mode, first, pair))
    return fibers, {k: v for k, v in lit.items() if v}, there, draw(st.sampled_from([[250], [500, 250], [900]]))


@settings(FEW, max_examples=25)
@given(standing())
def test_the_cheapest_beside_channels_that_stand_is_that_of_brute_force(case):
    fibers, lit, there, asked = case
    net = factory.network(["a", "b"], fibers, {}, BAND, modes=TWO)
    band = band_of(net)
    slots = {"fast": 12, "slim": 7}
    waves = [one_channel(f, m, band.centre(s, slots[m]), p + 1) for f, m, s, p in there]
    net = having(net, {"fibers": {fiber: {"pairs": n} for fiber, n in lit.items()}, "wavelengths": waves})
    paths, lines, states = factory.lightpaths(net, REACH), factory.lines(net), promised_states(net)
    demands = [factory.demand(net, f"d{i}", "a", "b", gbps) for i, gbps in enumerate(asked)]
    found = solved(net, paths, demands)
    best = cheapest(net, lines, paths, demands, states, there, lit)
    if best is None:
        assert isinstance(found, Infeasible)
        return
    assert found.cost_usd == pytest.approx(best, rel=1e-6)
    assert found.proof.status == "optimal"
    where = {(c.lightpath, c.mode, c.first_slot, c.pairs) for c in found.channels}
    ids = {path.route.fibers[0]: path.id for path in paths}
    assert {(ids[f], m, s, (p,)) for f, m, s, p in there} <= where


def corrupt(design_, **changes):
    return replace(design_, **changes)


def test_verify_misses_nothing_of_what_was_there():
    fibers = {"f0": ("a", "b", 60, 3), "f1": ("a", "b", 80, 3)}
    net = factory.network(["a", "b"], fibers, {}, BAND, modes=TWO)
    band = band_of(net)
    waves = [one_channel("f0", "slim", band.centre(5, 7), 2)]
    net = having(net, {"fibers": {"f0": {"pairs": 2}}, "wavelengths": waves})
    paths, lines, states = factory.lightpaths(net, REACH), factory.lines(net), promised_states(net)
    demands = [factory.demand(net, "d", "a", "b", 700)]
    found = solved(net, paths, demands)

    def faults(changed):
        return " ".join(verify(net, lines, paths, demands, states, changed))

    assert faults(found) == ""
    lit = found.lit[0]
    assert (lit.fiber, lit.pairs, lit.existing) == ("f0", 2, 2)
    assert "said to be lit already" in faults(replace(found, lit=(replace(lit, existing=1), *found.lit[1:])))
    old = next(one for one in found.wavelengths if one.existing)
    others = tuple(one for one in found.wavelengths if one is not old)
    assert "are said to be there" in faults(replace(found, wavelengths=(replace(old, existing=0), *others)))
    channel = next(one for one in found.channels if one.mode == "slim" and one.lightpath == old.lightpath)
    rest = tuple(one for one in found.channels if one is not channel)
    moved = replace(channel, first_slot=0, n=band.centre(0, 7))
    assert "stands there no longer" in faults(replace(found, channels=(moved, *rest)))
    free = next(i for i, item in enumerate(found.bill) if item.existing)
    bill = [*found.bill]
    bill[free] = replace(bill[free], existing=0)
    assert "already there" in faults(replace(found, bill=tuple(bill)))


def test_what_stays_in_the_way_is_the_reason_where_it_is():
    net = factory.network(["a", "b"], {"f0": ("a", "b", 60, 1)}, {"scheme": "none"}, BAND, modes=TWO)
    band = band_of(net)
    waves = [one_channel("f0", "slim", band.centre(6, 7), 1)]
    paths = factory.lightpaths(net, REACH)
    demands = [factory.demand(net, "d", "a", "b", 1600)]
    existing = {"fibers": {"f0": {"pairs": 1}}, "wavelengths": waves}
    found = solved(having(net, existing), paths, demands)
    assert isinstance(found, Infeasible)
    assert found.limit == "existing"
    assert found.reason == (
        "without what is lit already there is a design; it stays and takes 88 GHz of f0 (29 % of all its pairs)"
    )
    free = solved(having(net, existing | {"removable": True}), paths, demands)
    assert [(one.mode, one.count, one.existing) for one in free.wavelengths] == [("fast", 2, 0)]
    assert solved(net, paths, [replace(demands[0], gbps={"healthy": 1700.0})]).limit != "existing"


OF_NO_USE = """\
dcplan: 1
name: there, and of no use
sites:
  a: {lat: 40, lon: -96}
  b: {lat: 40.1, lon: -96}
  c: {lat: 40.2, lon: -96, regenerate: false}
fibers:
  ab: {ends: [a, b], type: g652d, pairs: 2, length_km: 80}
  other: {ends: [a, b], type: g652d, pairs: 2, length_km: 90}
  far: {ends: [a, b], type: g652d, pairs: 2, length_km: 1200}
circuits:
  bc: {ends: [b, c], length_km: 80, modules: {m100: {gbps: 100, usd: 1000}}, existing_gbps: 10}
gear: {allow: {transponders: [400zr]}}
demands: {d: {between: [a, b], gbps: 100}}
policy: {years: 1, survive: [any-fiber], scheme: SCHEME}
existing:
  fibers: {far: {pairs: 1}}
  circuits: {bc: {m100: 1}}
"""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scheme", ["reroute", "relight", "one-plus-one"])
def test_what_is_there_and_of_no_use_stands_in_no_ones_way(scheme, tmp_path):
    """A pair over which no mode closes, a circuit to where nothing ends: neither carries anything, nor is it missed."""
    file = tmp_path / "of-no-use.yaml"
    file.write_text(OF_NO_USE.replace("SCHEME", scheme))
    net = api.load(file, despite=frozenset(["DCP501", "DCP504"]))
    made = api.plan(net)
    assert {lit.transponder for lit in made.design.wavelengths} == {"400zr"}
    assert api.verify(net, made) == ()
