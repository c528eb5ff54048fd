"""Rules of optics: the bad example of each triggers it, the good one does not, and findings stand where they should."""

from __future__ import annotations

import pytest

from dcplan.diagnostics import Finding, Rule
from dcplan.model.rules.examples import GOOD, adding, with_change
from dcplan.optics.allowed import allowed_amplifiers
from dcplan.optics.budget import Line
from dcplan.optics.line import design_lines
from dcplan.optics.rules import RULES, check
from tests.optics.networks import network_from


def found(text: str) -> list[Finding]:
    return check(network_from(text))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_examples(rule: Rule) -> None:
    assert rule.code in {finding.rule.code for finding in found(rule.bad)}
    assert rule.code not in {finding.rule.code for finding in found(rule.good)}


def test_codes_are_unique_and_of_the_family() -> None:
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)
    assert all(code.startswith("DCP5") for code in codes)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_good_file_has_no_findings() -> None:
    assert found(GOOD) == []


def marked(text: str, code: str) -> str:
    """What the finding of a rule points at."""
    (finding,) = [finding for finding in found(text) if finding.rule.code == code]
    line = text.splitlines()[finding.span.line - 1]
    return line[finding.span.column - 1 : finding.span.end_column - 1]


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        (
            with_change("length_km: 58", "spans: [{length_km: 30}, {length_km: 58, loss_db: 41}]", GOOD),
            "DCP501",
            "{length_km: 58, loss_db: 41}",
        ),
        (with_change("length_km: 58", "length_km: 4000", GOOD), "DCP504", "4000"),
        (
            with_change(
                "length_km: 64", "spans: [{length_km: 64, loss_db: 1}]", adding("policy: {connector_db: 14}\n", GOOD)
            ),
            "DCP501",
            "58",
        ),
        (with_change("type: g652d", "type: hollow-core", GOOD), "DCP505", "hollow-core"),
        (adding("gear: {allow: {transponders: [400zr, 1600zr]}}\n", GOOD), "DCP503", "1600zr"),
        (adding("gear: {allow: {amplifiers: [generic]}}\n", GOOD), "DCP505", "generic"),
        (
            with_change("length_km: 58", "spans: [{length_km: 30}, {length_km: 58, loss_db: 28}]", GOOD),
            "DCP508",
            "{length_km: 58, loss_db: 28}",
        ),
    ],
)
def test_findings_point_at_what_is_wrong(text: str, code: str, at: str) -> None:
    assert marked(text, code) == at


def test_no_booster_is_found_at_the_allowed_amplifiers() -> None:
    text = adding("gear: {allow: {amplifiers: [alibaba-preamp-25]}}\n", GOOD)
    spots = [(f.span.line, f.message) for f in found(text) if f.rule.code == "DCP501"]
    assert spots == [(len(text.splitlines()), "no allowed amplifier may stand as a booster")]


def test_a_band_without_room_is_found() -> None:
    text = adding("gear: {band_start_thz: 196.0, band_end_thz: 196.02}\n", GOOD)
    assert "DCP502" in {finding.rule.code for finding in found(text)}


def test_no_mode_closes_names_the_nearest() -> None:
    (finding,) = [f for f in found(with_change("length_km: 58", "length_km: 4000", GOOD)) if f.rule.code == "DCP504"]
    assert "4000 km" in finding.message
    assert "stopped by" in finding.message


def test_a_fiber_is_judged_between_multiplexers() -> None:
    """-10 dBm from a 400zr falls short behind a ROADM; but light need not pass where two fibers meet."""
    third = "  omaha: {lat: 41.26, lon: -95.93, power_mw: 100}\nfibers:\n"
    west = (
        "  west: {ends: [papillion, omaha], length_km: 30, type: g652d, pairs: 4, lease_usd_per_km_year: 400}\ndemands:"
    )
    text = adding("gear: {allow: {transponders: [400zr]}}\n", GOOD)
    text = text.replace("fibers:\n", third, 1).replace("demands:", west, 1)
    assert "DCP504" not in {finding.rule.code for finding in found(text)}


@pytest.mark.parametrize(
    ("lines", "code", "at"),
    [
        ("gear: {band: l, allow: {amplifiers: [gnpy-medium-gain]}}\n", "DCP521", "l"),
        ("gear: {band: super-c}\n", "DCP521", "super-c"),
        ("policy: {launch_dbm: 9}\n", "DCP522", "9"),
        ("gear: {grid_ghz: [75], allow: {transponders: [openzr+, 800zr]}}\n", "DCP523", "800zr"),
        ("gear: {grid_ghz: [25]}\n", "DCP523", "[25]"),
        ("policy: {load_percent: 30}\n", "DCP524", "30"),
        ("gear: {allow: {amplifiers: [gnpy-medium-gain, l-band-medium-gain]}}\n", "DCP525", "l-band-medium-gain"),
        ("gear: {band: c+l}\n", "DCP507", "c+l"),
    ],
)
def test_findings_of_bands_grids_and_launch_point_at_what_is_wrong(lines: str, code: str, at: str) -> None:
    text = adding(lines, GOOD)
    spots = {
        text.splitlines()[finding.span.line - 1][finding.span.column - 1 : finding.span.end_column - 1]
        for finding in found(text)
        if finding.rule.code == code
    }
    assert spots == {at}


def test_a_launch_of_one_fiber_is_found_at_that_fiber() -> None:
    text = with_change("length_km: 58,", "length_km: 58, launch_dbm: 12,", adding("policy: {launch_dbm: 1}\n", GOOD))
    assert marked(text, "DCP522") == "12"


def test_a_dark_band_is_said_once_not_for_every_fiber() -> None:
    codes = [finding.rule.code for finding in found(adding("gear: {band: super-c}\n", GOOD))]
    assert codes.count("DCP521") == 1
    assert "DCP501" not in codes


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (adding("policy: {equalise: site}\n", GOOD), "site"),
        (adding("policy: {raman_tilt: always}\n", GOOD.replace("g652d", "hollow-core")), "always"),
    ],
)
def test_keys_of_optics_without_effect(text: str, at: str) -> None:
    assert marked(text, "DCP526") == at


def test_prices_of_what_stands_nowhere_are_told() -> None:
    """Two sites and two fibers between them: multiplexers, no ROADM; of the amplifiers, those of the lines."""
    known = network_from(GOOD)
    lines = [line for line in design_lines(known).values() if isinstance(line, Line)]
    has = {name for line in lines for name in line.amplifiers}
    idle = next(name for name in sorted(allowed_amplifiers(known)) if name not in has)
    text = GOOD + f"gear: {{prices_usd: {{roadm: 1, mux: 2, {idle}: 3, {min(has)}: 4}}}}\n"
    assert [finding.message for finding in found(text) if finding.rule.code == "DCP340"] == [
        "the price of `roadm` has no effect: no site has one",
        f"the price of `{idle}` has no effect: no line has it, and amplifiers are chosen by noise, not by price",
    ]


def test_own_gear_that_stands_nowhere_is_told() -> None:
    own = "gear: {equipment: {roadm: {loss_db: 8, price_usd: 1}, mux: {loss_db: 6, price_usd: 2}}}\n"
    told = [finding.message for finding in found(GOOD + own) if finding.rule.code == "DCP340"]
    assert told == ["own part `roadm` has no effect: no site has one"]
