"""Codes 53x: huts and amplifiers that stand already, links without amplifiers, appliances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.catalog.bands import covers
from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.network import Route
from dcplan.model.rules.examples import GOOD, adding, with_change
from dcplan.optics.amplifier import ase_w
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import NoLine, reference_comb
from dcplan.optics.loading import nli_per_w2, noise_factor
from dcplan.optics.nonlinear import optimum_w
from dcplan.optics.spans import standing
from dcplan.units import db, dbm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.model.network import FiberId, Network
    from dcplan.model.source import Loc
    from dcplan.optics.budget import Budget, Line

_BARE = "length_km: 58, amplified: false, multiplexed: false"
_STRONG = (
    "gear:\n  allow: {transponders: [strong]}\n  transponders:\n    strong:\n      price_usd: 60000\n      modes:\n"
    "        400g: {rate_gbps: 400, baud_gbd: 59.84, width_ghz: 75, required_osnr_db: 26, rx_min_dbm: -12,"
    " tx_dbm: 0, tx_osnr_db: 34, unamplified: {rx_min_dbm: -20, required_osnr_db: 34}}\n"
)
_BOX = (
    "gear:\n  allow: {appliances: [box]}\n  appliances:\n"
    "    box: {long_haul_ports: 2, rate_gbps: 100, reach_km: 80, price_usd: 50000}\n"
)

HUTS = Rule(
    "DCP530",
    "huts-out-of-place",
    Severity.ERROR,
    "Huts stand along the fiber, from its first end, and so that some choice of them keeps every span within the limits"
    " of the policy and the gain of the allowed amplifiers.",
    with_change("length_km: 58", "length_km: 158, huts_km: [20, 170]", GOOD),
    with_change("length_km: 58", "length_km: 158, huts_km: [20, 78, 120]", GOOD),
)
GIVEN = Rule(
    "DCP531",
    "given-amplifier-cannot-reach",
    Severity.ERROR,
    "An amplifier that stands there already is kept, so it must have the gain for the span before it, and may be a"
    " booster only where it is not a Raman hybrid or made for another place.",
    with_change("length_km: 58", "spans: [{length_km: 90, amplifier: gnpy-low-gain}]", GOOD),
    with_change("length_km: 58", "spans: [{length_km: 90, amplifier: gnpy-medium-gain}]", GOOD),
)
WEAK = Rule(
    "DCP532",
    "given-amplifier-is-weak",
    Severity.WARNING,
    "An amplifier that stands there already has less output than all channels ask at the best launch power, by more"
    " than 1 dB, and takes reach from the whole line.",
    with_change(
        "length_km: 58",
        "length_km: 58, booster: weak",
        adding(
            "gear: {amplifiers: {weak: {gain_min_db: 5, gain_max_db: 25, nf_db: [[5, 6]], output_max_dbm: 10,"
            " price_usd: 1000}}}\n",
            GOOD,
        ),
    ),
    with_change("length_km: 58", "length_km: 58, booster: gnpy-medium-gain", GOOD),
)
BARE = Rule(
    "DCP533",
    "unamplified-beyond-budget",
    Severity.ERROR,
    "Without amplifiers the power budget of the transponder, less penalties and margins, must cover the loss of fiber,"
    " connectors, repairs and multiplexers; an appliance must reach.",
    with_change("length_km: 58", _BARE, adding("gear: {allow: {transponders: [400zr]}}\n", GOOD)),
    with_change("length_km: 58", _BARE, adding(_STRONG, GOOD)),
)
REACH = Rule(
    "DCP534",
    "appliance-beyond-reach",
    Severity.ERROR,
    "A long-haul appliance works over a fiber pair of its own without amplifiers and multiplexers, up to the reach that"
    " its maker states; an allowed one that reaches no such fiber cannot be used.",
    with_change("length_km: 58", _BARE, adding("gear: {allow: {appliances: [metrox-2-tq8100]}}\n", GOOD)),
    with_change("length_km: 58", _BARE, adding(_BOX, GOOD)),
)

RULES: tuple[Rule, ...] = (HUTS, GIVEN, WEAK, BARE, REACH)


def check(network: Network, lines: Mapping[FiberId, Line | NoLine]) -> Iterator[Finding]:
    """Huts, given amplifiers, fibers without amplifiers, appliances."""
    for name, line in lines.items():
        if isinstance(line, NoLine):
            if line.at:
                rule = HUTS if line.at[0] in ("huts_km", "multiplexed") else GIVEN
                yield Finding(rule, network.document.locate(("fibers", name, *line.at)), line.reason)
        elif line.booster:
            yield from _weak(network, line)
    yield from _bare(network, lines)
    yield from _appliances(network)


def _weak(network: Network, line: Line) -> Iterator[Finding]:
    """Amplifiers that stand there and put out less than the reference load asks at its best launch."""
    fiber, amplifiers = network.fibers[line.fiber], network.catalog.amplifiers
    if fiber.launch_dbm is not None or network.policy.launch_dbm is not None:
        return  # the launch is given: another rule says where an amplifier does not reach that
    given = standing(fiber)
    if not given:
        return
    kind, types, connector = network.fiber_type(line.fiber), network.catalog.fibers, network.policy.connector_db
    for band, each in zip(network.topology.gear.bands, line.in_bands, strict=True):
        comb = reference_comb(band)
        nli = float(nli_per_w2(kind, connector, each.spans, comb, types)[comb.centre])
        best = dbm(optimum_w(ase_w(noise_factor(each.spans), comb.centre_thz, comb.baud_gbd), nli))
        for at, name in given:
            most = amplifiers[name].output_max_dbm - db(comb.channels)
            if covers(amplifiers[name].band, band) and math.isfinite(best) and most < best - 1:
                message = f"{name} gives {most:.1f} dBm to each of {comb.channels} channels, {best:.1f} would be best"
                yield Finding(WEAK, network.document.locate(("fibers", line.fiber, *at)), message)


def _bare(network: Network, lines: Mapping[FiberId, Line | NoLine]) -> Iterator[Finding]:
    routes = [
        Route((network.fibers[name].ends[0], network.fibers[name].ends[1]), (name,))
        for name, line in lines.items()
        if not isinstance(line, NoLine) and not line.booster
    ]
    for lightpath in evaluate(network, lines, routes, itemise=False):
        if not lightpath.closing:
            at: Loc = ("fibers", lightpath.route.fibers[0], "amplified")
            hint = "allow a transponder with `unamplified` figures and more power, or let the fiber have amplifiers"
            yield Finding(BARE, network.document.locate(at), _nearest(lightpath.budgets), hint)


def _nearest(budgets: tuple[Budget, ...]) -> str:
    if not budgets:
        return "no allowed mode or appliance works without amplifiers"
    best = max(budgets, key=lambda budget: -1e9 if budget.margin_db is None else budget.margin_db)
    short = "" if best.margin_db is None else f", {-best.margin_db:.1f} dB short"
    return f"nothing closes without amplifiers; the nearest is {best.transponder} {best.mode}, by {best.limit}{short}"


def _appliances(network: Network) -> Iterator[Finding]:
    bare = [fiber.total_km for fiber in network.fibers.values() if not fiber.multiplexed]
    for place, name in enumerate(network.topology.gear.allow.appliances):
        reach = network.catalog.appliances[name].reach_km
        if not any(length <= reach for length in bare):
            span = network.document.locate(("gear", "allow", "appliances", place))
            least = f"the shortest is {min(bare):g} km" if bare else "there is none"
            message = f"{name} reaches {reach:g} km of fiber without amplifiers and multiplexers; {least}"
            hint = "say `amplified: false, multiplexed: false` at a fiber within its reach"
            yield Finding(REACH, span, message, hint)
