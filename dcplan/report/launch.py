"""The bathtub of every line: margin of each mode over launch power, as a table and as a plot of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import (
    NOTHING,
    Cell,
    Column,
    Fact,
    Table,
    View,
    count,
    fixed,
    number_column,
    say,
    text_column,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.optics.sweep import Bathtub, Point
    from dcplan.report.sheet import Row

BLOCKS = "▁▂▃▄▅▆▇█"
"""From the least to the most."""
PLOT = 40
"""Characters between the least and the largest GSNR of a plot."""
_MODES = (
    text_column("mode", "Mode", 16),
    text_column("closes", ""),
    number_column("launch_dbm", "Launch", "dBm"),
    number_column("gsnr_db", "GSNR", "dB"),
    number_column("margin_db", "Margin", "dB"),
    number_column("clip_dbm", "Clip", "dBm"),
    text_column("bathtub", "−6 to +6 dB"),
    text_column("closes_within", "Closes, dBm"),
    Column("limits", "Limits", wrap=16, footnote=True),
)
_POINTS = (
    number_column("launch_dbm", "Launch", "dBm"),
    number_column("gsnr_db", "GSNR", "dB"),
    number_column("margin_db", "Margin", "dB"),
    text_column("plot", "GSNR"),
    text_column("mark", "", 12),
)
_NOTE = (
    "Launch: per channel, what a plan takes. Clip: the most that the amplifiers give. Small plot: GSNR from 6 dB below "
    "to 6 dB above the optimum in steps of 1 dB (without nonlinearity: the clip), · beyond the clip. "
    "Closes: from where to where in that range. Optimum: amplifier noise of the spans is twice the nonlinear noise."
)
_PLOT_NOTE = "● what the amplifiers give, ○ beyond: what stronger ones of the same noise figure would."


def view(name: str, bathtubs: Sequence[Bathtub]) -> View:
    """The view of `dcplan optics --sweep launch`: per line all modes, then the plot of its fastest that closes."""
    fibers = list(dict.fromkeys(bathtub.fiber for bathtub in bathtubs))
    clipped = [one for one in bathtubs if "amplifier" in one.used_limit or "booster" in one.used_limit]
    facts = (
        Fact("lines", f"{count(len(fibers), 'line')} with amplifiers", {"lines": len(fibers)}),
        Fact(
            "clipped",
            f"{len(clipped)} of {len(bathtubs)} launch powers are limited by amplifiers",
            {"clipped": len(clipped), "launches": len(bathtubs)},
        ),
    )
    tables: list[Table] = []
    for i, fiber in enumerate(fibers):
        mine = [one for one in bathtubs if one.fiber == fiber]
        mine.sort(key=lambda one: (not one.closes, -one.rate_gbps, -(one.margin_db or 0.0), one.transponder, one.mode))
        rows = tuple(_mode(one) for one in mine)
        tables.append(Table(f"launch {fiber}", f"Launch into {fiber}", _MODES, rows, note=_NOTE if i == 0 else ""))
        tables.append(_plot(mine[0], first=i == 0))
    return View("launch", name, facts, (), tuple(tables))


def _mode(one: Bathtub) -> Row:
    closing = [point.launch_dbm for point in one.points if point.reached and _closes(point)]
    return (
        say(f"{one.transponder} {one.mode}"),
        Cell("ok" if one.closes else "no", one.closes, verdict(good=one.closes).tone),
        fixed(one.used_dbm, 1),
        fixed(one.gsnr_db, 2),
        fixed(one.margin_db, 2, none="−∞", tone="" if one.closes else "bad"),
        fixed(one.clip_dbm, 1),
        say(_small(one.points[::2])),
        say(f"{min(closing):.1f} to {max(closing):.1f}" if closing else NOTHING),
        say(f"launch: {one.used_limit}; clip: {one.clip_limit}"),
    )


def _closes(point: Point) -> bool:
    return point.margin_db is not None and point.margin_db >= 0


def _small(points: Sequence[Point]) -> str:
    """A plot one character high."""
    least, most = _range(points)
    return "".join(
        BLOCKS[round((point.gsnr_db - least) / (most - least) * (len(BLOCKS) - 1))] if point.reached else "·"
        for point in points
    )


def _range(points: Sequence[Point]) -> tuple[float, float]:
    levels = [point.gsnr_db for point in points]
    return min(levels), max(*levels, min(levels) + 1e-9)


def _plot(one: Bathtub, *, first: bool) -> Table:
    """One line for each launch power; GSNR grows to the right."""
    least, most = _range(one.points)
    best = max((point for point in one.points if point.reached), key=lambda point: point.gsnr_db, default=None)
    last = max((point.launch_dbm for point in one.points if point.reached), default=None)
    rows = []
    for number, point in enumerate(one.points):
        at = round((point.gsnr_db - least) / (most - least) * PLOT)
        marks = []
        if number == len(one.points) // 2 and one.optimum_dbm is not None:
            marks.append("optimum")
        if point is best:
            marks.append("best")
        if point.launch_dbm == last and point is not one.points[-1]:
            marks.append("clip")
        rows.append(
            (
                fixed(point.launch_dbm, 1),
                fixed(point.gsnr_db, 2),
                fixed(point.margin_db, 2, none="−∞", tone="" if _closes(point) else "bad"),
                Cell("·" * at + ("●" if point.reached else "○"), round(point.gsnr_db, 9)),
                say(", ".join(marks)),
            )
        )
    title = f"Launch into {one.fiber}: {one.transponder} {one.mode}, {one.rate_gbps:,.0f} Gb/s"
    note = (
        f"{_PLOT_NOTE} Best: for the worst channel, booster noise counted. Left {least:.1f} dB, right {most:.1f} dB."
        if first
        else ""
    )
    return Table(f"bathtub {one.fiber}", title, _POINTS, tuple(rows), note=note)
