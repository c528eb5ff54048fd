"""The accuracy that the README quotes, measured anew: ours against GNPy, and what `dcplan accuracy` compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.accuracy.compare import comparisons
from tests.optics import test_gnpy as gnpy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.accuracy.compare import Comparison

HEAD = ("set", "n", "used for", "error", "worst", "bias", "Calculon")


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
    for one in comparisons():
        yield from _compared(one)


def table() -> str:
    """The whole as a Markdown table."""
    lines = [HEAD, ("---",) * len(HEAD), *rows()]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _decibels(what: str, deltas: list[float]) -> tuple[str, ...]:
    mean, bias = sum(map(abs, deltas)) / len(deltas), sum(deltas) / len(deltas)
    return (what, str(len(deltas)), "test", f"{mean:.2f} dB", f"{max(deltas, key=abs):+.2f} dB", f"{bias:+.2f} dB", "–")


def _compared(one: Comparison) -> Iterator[tuple[str, ...]]:
    for fitted in (True, False):
        found, calculon = one.figures(fitted=fitted), one.calculon(fitted=fitted)
        if found is None:
            continue
        unit = one.error_unit
        what = f"{one.quantity}{', at least' if one.at_least else ''}: {one.title}"
        used = "fitted" if fitted else "test"
        figures = (f"{found.mean:.1f} {unit}", f"{found.worst:+.1f} {unit}", f"{found.bias:+.1f} {unit}")
        yield (what, str(found.n), used, *figures, f"{calculon.mean:.1f} {unit}" if calculon else "–")
