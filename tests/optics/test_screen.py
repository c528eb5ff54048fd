"""Thousands of routes at once are what each is alone: by arrays, by budgets, and by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from dcplan import api
from dcplan.api import optical, written
from dcplan.catalog.parts import Mode
from dcplan.design.candidates import routes
from dcplan.model.network import Network, Route
from dcplan.optics import lightpath
from dcplan.optics.allowed import load_of, terminal
from dcplan.optics.amplifier import noise_figure_db
from dcplan.optics.budget import Line
from dcplan.optics.journey import ways_of
from dcplan.optics.judged import LIMITS
from dcplan.optics.lightpath import evaluate, loads_of
from dcplan.optics.line import design_lines
from dcplan.optics.screen import screen
from dcplan.units import NOISE_BANDWIDTH_GHZ, PLANCK_J_S, db, from_db, watts
from tests.bench.continental import continental
from tests.optics.networks import chain, flat, own, whole

TOPOLOGIES = sorted((Path(__file__).parents[2] / "topologies").glob("*.yaml"))


@pytest.fixture(scope="module")
def small() -> Network:
    """A continent of 10 sites."""
    return continental(10, 18)


def by_hand(network: Network, lines: dict[str, Line], route: Route, mode: Mode) -> tuple[float, float]:
    """GSNR of the worst channel in 0.1 nm [dB] and received power [dBm] in one direction, hop by hop in plain numbers.

    For lines whose amplifiers have a noise figure that follows their gain, all channels alike.
    """
    comb = load_of(network, mode)
    ways = ways_of(network, lines)
    loads = dict(zip(ways, loads_of(network, list(ways.values()), comb).each, strict=True))
    gear = {site: terminal(network, site)[1] for site in route.sites}
    level, fixed = mode.tx_dbm - gear[route.sites[0]].loss_db, 0.0
    osnrs = [gear[route.sites[0]].add_drop_osnr_db, gear[route.sites[-1]].add_drop_osnr_db, mode.tx_osnr_db]
    osnrs += [gear[site].express_osnr_db for site in route.through]
    fixed += math.fsum(from_db(-osnr) for osnr in osnrs if osnr is not None)
    noise = [fixed] * comb.channels
    for hop, (fiber, (site, _)) in enumerate(zip(route.fibers, pairwise(route.sites), strict=True)):
        if hop > 0:
            level -= gear[site].express_loss_db or 0.0
        load, booster = loads[fiber, site], network.catalog.amplifiers[lines[fiber].booster]
        launch = min(load.launch_dbm, level + booster.gain_max_db)
        gain = max(launch - level, booster.gain_min_db)
        factor = load.noise_factor + from_db(noise_figure_db(booster, gain) + gain)
        for i, frequency_thz in enumerate(comb.frequencies_thz().tolist()):
            ase = factor * PLANCK_J_S * frequency_thz * 1e12 * NOISE_BANDWIDTH_GHZ * 1e9
            nonlinear = float(load.nli_per_w2[i]) * watts(launch) ** 2 * NOISE_BANDWIDTH_GHZ / mode.baud_gbd
            noise[i] += ase / watts(launch) + nonlinear
        level = launch
    return -db(max(noise)), level - gear[route.sites[-1]].loss_db


@pytest.mark.parametrize("stem", ["us-midwest", "nvidia-1000km"])
def test_budgets_are_those_of_plain_arithmetic(stem: str) -> None:
    (file,) = [file for file in TOPOLOGIES if file.stem == stem]
    network = api.load(file)
    lines = {name: line for name, line in design_lines(network).items() if isinstance(line, Line)}
    chosen = routes(network)[::9]
    compared = 0
    for route, found in zip(chosen, evaluate(network, lines, chosen, itemise=False), strict=True):
        for budget in found.budgets:
            mode = network.catalog.transponders[budget.transponder].modes[budget.mode]
            start = budget.direction.split(" -> ")[0]
            there = route if route.sites[0] == start else Route(route.sites[::-1], route.fibers[::-1])
            gsnr, received = by_hand(network, lines, there, mode)
            assert budget.gsnr_db == pytest.approx(gsnr, abs=1e-9)
            assert budget.rx_dbm <= received + 1e-9
            if mode.rx_max_dbm is None:
                assert budget.rx_dbm == pytest.approx(received, abs=1e-9)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("file", TOPOLOGIES, ids=lambda file: file.stem)
def test_screen_says_what_budgets_say(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = api.load(file)
    light = optical.optics(network)
    found = [path.route for path in light.lightpaths]
    monkeypatch.setattr(lightpath, "BLOCK", 7)
    quick = screen(network, light.fibers, found)
    whole = written.whole(network, light.fibers, light.lightpaths, lambda _: True)
    for brief, path in zip(light.lightpaths, whole, strict=True):
        assert brief == replace(path, budgets=tuple(replace(budget, items=()) for budget in path.closing))
    for number, path in enumerate(whole):
        told = {(budget.transponder, budget.mode): budget for budget in path.budgets}
        for column, (transponder, name, _) in enumerate(quick.modes):
            budget = told.get((transponder, name))
            if budget is None:
                assert not quick.closes[number, column]
                continue
            margin = -math.inf if budget.margin_db is None else budget.margin_db
            assert quick.margin_db[number, column] == pytest.approx(margin, abs=1e-9)
            assert quick.closes[number, column] == budget.closes
            assert quick.gsnr_db[number, column] == pytest.approx(budget.gsnr_db, abs=1e-9)
            assert quick.channel_thz[number, column] == budget.channel_thz
            assert LIMITS[quick.limit[number, column]] == budget.limit
            ends = path.route.sites[0], path.route.sites[-1]
            assert budget.direction == " -> ".join(ends[::-1] if quick.back[number, column] else ends)


def test_blocks_change_nothing(small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes from all routes at once, in blocks of any size, and from each route alone."""
    lines, found = design_lines(small), routes(small)
    at_once = evaluate(small, lines, found, itemise=False)
    monkeypatch.setattr(lightpath, "BLOCK", 10)
    assert evaluate(small, lines, found, itemise=False) == at_once
    for number in range(0, len(found), 25):
        (alone,) = evaluate(small, lines, [found[number]], itemise=False)
        assert alone.budgets == at_once[number].budgets


def test_lightpaths_on_demand(small: Network) -> None:
    lines, found = design_lines(small), routes(small)
    quick = screen(small, lines, found)
    best = sorted(range(len(found)), key=lambda number: -quick.margin_db[number].max())[:3]
    one, two, three = quick.lightpaths(best)
    assert [one.id, two.id, three.id] == [f"L{number + 1}" for number in best]
    everything = evaluate(small, lines, found)
    assert (one, two, three) == tuple(everything[number] for number in best)
    assert quick.closes.sum() == sum(len(path.closing) for path in everything)
    assert not quick.lightpaths([])


def test_a_route_that_light_cannot_take_does_not_close() -> None:
    network = chain({"length_km": 60}, {"length_km": 60}, gear={**flat(), "transponders": own()})
    lines = dict(design_lines(network))
    quick = screen(network, {"f1": lines["f1"]}, [whole(network), Route(("s0", "s1"), ("f1",))])
    assert not quick.closes[0].any()
    assert math.isnan(quick.gsnr_db[0, 0])
    assert quick.closes[1].any()


def test_fibers_without_amplifiers_are_screened_too() -> None:
    gear = {"allow": {"transponders": ["400zr", "openzr+"]}}
    network = chain(
        {"spans": [{"length_km": 20}], "amplified": False, "multiplexed": False}, {"length_km": 60}, gear=gear
    )
    lines = design_lines(network)
    found = [Route(("s0", "s1"), ("f1",)), Route(("s1", "s2"), ("f2",)), whole(network)]
    quick = screen(network, lines, found)
    for number, path in enumerate(evaluate(network, lines, found)):
        told = {(budget.transponder, budget.mode): budget.closes for budget in path.budgets}
        expected = [told.get((part, name), False) for part, name, _ in quick.modes]
        assert quick.closes[number].tolist() == expected
    assert quick.closes[0].any()
    assert quick.closes[1].any()
    assert not quick.closes[2].any()


def test_continent_of_a_hundred_sites() -> None:
    """100 sites, 200 fibers, parallel ones among them; every site within six hops of most others."""
    network = continental()
    assert (len(network.sites), len(network.fibers)) == (100, 200)
    assert len({frozenset(fiber.ends) for fiber in network.fibers.values()}) < 200
    assert continental().topology == network.topology
    found = routes(network)
    assert len(found) > 30_000
    assert max(len(route.fibers) for route in found) == 6
