"""The accuracy that the README quotes, measured anew: ours against GNPy and against published training runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.optics import test_gnpy as gnpy
from tests.training.fit import relative_error
from tests.training.test_accuracy import ALL, FITTED, TEST_SETS

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = ("set", "n", "used for", "error", "worst", "bias")


def rows() -> Iterator[tuple[str, ...]]:
    """A line per set."""
    centre, worst, every = [], [], []
    for case in gnpy.LINES["cases"]:
        _, noise, _ = gnpy.run(case, case["launch_power_dbm"])
        ours, theirs = gnpy.gsnr_db(noise), gnpy.np.array(case["gsnr_db"])
        middle = case["n_channels"] // 2
        centre.append(float(ours[middle] - theirs[middle]))
        worst.append(float(ours.min() - theirs.min()))
        every.append(float(max(ours - theirs, key=abs)))
    for what, deltas in (("centre channel", centre), ("worst channel", worst), ("any channel", every)):
        yield _decibels(f"GNPy 3.0.1, 24 lines × 3 powers, GSNR, {what}", deltas)
    fitted = {
        "Korthikanti 2022, table 5": [name for name in ALL if name.startswith("korthikanti_t5")],
        "vTrain, even rows": [name for name in sorted(FITTED) if name.startswith("vtrain")],
        "Megatron H100, 3 runs": [name for name in sorted(FITTED) if "h100" in name],
    }
    for what, names in fitted.items():
        yield _percent(f"step time: {what}", names, "fitted")
    tested = {
        "sc21 table 1": "SC21 table 1 (Calculon: 10.3 %)",
        "sc21 table 2": "SC21 table 2",
        "vtrain odd rows": "vTrain, odd rows (Calculon, all rows: 19.7 %)",
        "h100 dense": "H100 dense, other runs",
    }
    for key, what in tested.items():
        yield _percent(f"step time: {what}", TEST_SETS[key], "test")


def table() -> str:
    """The whole as a Markdown table."""
    lines = [HEAD, ("---",) * len(HEAD), *rows()]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _decibels(what: str, deltas: list[float]) -> tuple[str, ...]:
    mean, bias = sum(map(abs, deltas)) / len(deltas), sum(deltas) / len(deltas)
    return (what, str(len(deltas)), "test", f"{mean:.2f} dB", f"{max(deltas, key=abs):+.2f} dB", f"{bias:+.2f} dB")


def _percent(what: str, names: list[str], use: str) -> tuple[str, ...]:
    errors = [100 * relative_error(ALL[name]) for name in names]
    mean, bias = sum(map(abs, errors)) / len(errors), sum(errors) / len(errors)
    return (what, str(len(errors)), use, f"{mean:.1f} %", f"{max(errors, key=abs):+.1f} %", f"{bias:+.1f} %")
