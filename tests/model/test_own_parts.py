"""Own parts are checked like the shipped ones: each bad figure is found at its line, in every kind of optical part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dcplan import api
from dcplan.catalog.parts import Amplifier, Equipment, FiberType, Mode, Transponder
from dcplan.diagnostics import Severity
from dcplan.model.rules.examples import GOOD

if TYPE_CHECKING:
    from pathlib import Path

    from dcplan.diagnostics import Finding

PARTS: dict[str, tuple[Any, dict[str, str]]] = {
    "fibers": (
        FiberType,
        {
            "attenuation_db_per_km": "0.2",
            "dispersion_ps_nm_km": "17",
            "effective_area_um2": "83",
            "group_index": "1.468",
        },
    ),
    "amplifiers": (
        Amplifier,
        {"gain_min_db": "10", "gain_max_db": "30", "nf_db": "[[10, 6], [30, 5]]", "output_max_dbm": "21"},
    ),
    "transponders": (Transponder, {"modes": "{a: {rate_gbps: 400, baud_gbd: 60, width_ghz: 75}}"}),
    "equipment": (Equipment, {"loss_db": "6"}),
}
MODE = {"rate_gbps": "400", "baud_gbd": "60", "width_ghz": "75", "required_osnr_db": "24"}


def found_in(
    tmp_path: Path, kind: str, fields: dict[str, str], mode: dict[str, str] | None = None
) -> dict[str, Finding]:
    """Errors of a file with one own part, by the key in whose line they stand."""
    lines = [f"gear:\n  {kind}:\n    own:"]
    lines += [f"      {key}: {value}" for key, value in fields.items() if mode is None or key != "modes"]
    if mode is not None:
        lines.append("      modes:\n        a:")
        lines += [f"          {key}: {value}" for key, value in mode.items()]
    file = tmp_path / "own.yaml"
    text = GOOD + "\n".join(lines) + "\n"
    file.write_text(text, encoding="utf-8")
    rows = text.splitlines()
    errors = [finding for finding in api.check([file]) if finding.severity is Severity.ERROR]
    return {rows[finding.span.line - 1].partition(":")[0].strip(): finding for finding in errors}


def numbers(model: Any) -> list[str]:
    """Fields of a part that hold a number."""
    return [name for name, field in model.model_fields.items() if "float" in str(field.annotation)]


CASES = [(kind, field) for kind, (model, _) in PARTS.items() for field in numbers(model)]
MODE_CASES = numbers(Mode)


@pytest.mark.parametrize("kind", PARTS)
def test_a_good_part_has_no_errors(kind: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, kind, PARTS[kind][1]) == {}


@pytest.mark.parametrize(("kind", "field"), CASES)
@pytest.mark.parametrize("value", ["abc", ".inf", "12 dB"])
def test_what_is_no_number_is_found_at_its_line(kind: str, field: str, value: str, tmp_path: Path) -> None:
    found = found_in(tmp_path, kind, PARTS[kind][1] | {field: value})
    assert list(found) == [field]
    assert field in found[field].message


@pytest.mark.parametrize("field", MODE_CASES)
@pytest.mark.parametrize("value", ["abc", ".nan"])
def test_what_is_no_number_in_a_mode_is_found_at_its_line(field: str, value: str, tmp_path: Path) -> None:
    found = found_in(tmp_path, "transponders", PARTS["transponders"][1], MODE | {field: value})
    assert list(found) == [field]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("fibers", "attenuation_db_per_km", "-0.2"),
        ("fibers", "attenuation_db_per_km", "0"),
        ("fibers", "effective_area_um2", "0"),
        ("fibers", "group_index", "0.9"),
        ("fibers", "group_index", "2.5"),
        ("fibers", "pmd_ps_sqrt_km", "-0.1"),
        ("fibers", "splice_db", "-0.5"),
        ("fibers", "attenuation_db", "0.2"),
        ("fibers", "confidence", "sure"),
        ("amplifiers", "gain_min_db", "-1"),
        ("amplifiers", "gain_max_db", "0"),
        ("amplifiers", "nf_db", "[[30, 5], [10, 6]]"),
        ("amplifiers", "nf_db", "[[10, 6, 1]]"),
        ("amplifiers", "nf_db", "5"),
        ("amplifiers", "role", "middle"),
        ("amplifiers", "price_usd", "-1"),
        ("transponders", "modes", "{}"),
        ("transponders", "latency_us", "-3"),
        ("transponders", "power_w", "-1"),
        ("equipment", "loss_db", "-6"),
        ("equipment", "express_loss_db", "-1"),
        ("equipment", "loss", "6"),
    ],
)
def test_what_cannot_be_meant_is_found_at_its_line(kind: str, field: str, value: str, tmp_path: Path) -> None:
    found = found_in(tmp_path, kind, PARTS[kind][1] | {field: value})
    assert list(found) == [field]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rate_gbps", "0"),
        ("baud_gbd", "-60"),
        ("width_ghz", "0"),
        ("roll_off", "1.5"),
        ("cd_penalty", "[[2000, 0.5], [1000, 1]]"),
        ("cd_penalty", "[[2000, 0.5], [2000, 1]]"),
        ("pmd_penalty", "[[-10, 0.5]]"),
        ("pdl_penalty", "[[1, -0.5]]"),
        ("reqired_osnr_db", "24"),
    ],
)
def test_what_cannot_be_meant_in_a_mode_is_found_at_its_line(field: str, value: str, tmp_path: Path) -> None:
    found = found_in(tmp_path, "transponders", PARTS["transponders"][1], MODE | {field: value})
    assert list(found) == [field]


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("amplifiers", {"gain_max_db": "5"}, "gain_max_db 5 lies below gain_min_db 10"),
        ("amplifiers", {"nf_db": "[]"}, "give either nf_db or osnr_cubic"),
        ("fibers", {"effective_area_um2": "null"}, "a nonlinear fiber needs effective_area_um2"),
    ],
)
def test_figures_that_contradict_each_other_are_found_at_the_part(
    kind: str, change: dict[str, str], said: str, tmp_path: Path
) -> None:
    found = found_in(tmp_path, kind, PARTS[kind][1] | change)
    assert list(found) == ["own"]
    assert said in found["own"].message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"baud_gbd": "80"}, "does not fit a width"),
        ({"width_ghz": "80"}, "not a multiple of 12.5"),
        ({"rx_min_dbm": "0", "rx_max_dbm": "-10"}, "rx_max_dbm -10 does not lie above rx_min_dbm 0"),
    ],
)
def test_a_mode_that_contradicts_itself_is_found_at_the_mode(change: dict[str, str], said: str, tmp_path: Path) -> None:
    found = found_in(tmp_path, "transponders", PARTS["transponders"][1], MODE | change)
    assert list(found) == ["a"]
    assert said in found["a"].message


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, (_, base) in PARTS.items() for field in base])
def test_a_figure_that_is_missing_is_said_at_the_part(kind: str, field: str, tmp_path: Path) -> None:
    base = {key: value for key, value in PARTS[kind][1].items() if key != field}
    found = found_in(tmp_path, kind, base | {"note": "x"})
    assert list(found) == ["own"]
    assert field in found["own"].message
