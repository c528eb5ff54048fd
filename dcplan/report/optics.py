"""What light can do: the span table of every line, the link budget and the modes of every lightpath candidate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.optics.budget import Line
from dcplan.optics.choice import best_per_pair
from dcplan.optics.limits import next_in_words, stop_of
from dcplan.report.sheet import (
    NOTHING,
    Cell,
    Fact,
    Notice,
    Table,
    View,
    count,
    fixed,
    number,
    number_column,
    say,
    text_column,
    verdict,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dcplan.optics.budget import Budget, Lightpath, SpanRow
    from dcplan.optics.line import NoLine
    from dcplan.report.sheet import Row

_SPANS = (
    number_column("span", "Span"),
    number_column("length_km", "Length", "km"),
    number_column("fiber_loss_db", "Fiber", "dB"),
    number_column("allowance_db", "Joints", "dB"),
    number_column("loss_db", "Loss", "dB"),
    text_column("measured", "By"),
    text_column("amplifier", "Amplifier", 9),
    number_column("gain_db", "Gain", "dB"),
    number_column("noise_figure_db", "NF", "dB"),
    number_column("padding_db", "Pad", "dB"),
    text_column("type", "Type", 8),
    text_column("why", "Why", 16),
)
_ITEMS = (
    text_column("kind", "Kind"),
    text_column("item", "Item", 34),
    number_column("value_db", "Value"),
    text_column("unit", ""),
    text_column("why", "Why", 20),
)
_MODES = (
    text_column("transponder", "Mode"),
    text_column("mode", ""),
    text_column("closes", ""),
    number_column("rate_gbps", "Rate", "Gb/s"),
    number_column("margin_db", "Margin", "dB"),
    number_column("gsnr_db", "GSNR", "dB"),
    number_column("required_osnr_db", "Needs", "dB"),
    number_column("penalties_db", "Pen.", "dB"),
    number_column("margins_db", "Res.", "dB"),
    text_column("limit", "Limit", 10),
    number_column("width_ghz", "Width", "GHz"),
    number_column("channels", "Fill"),
    number_column("launch_dbm", "Launch", "dBm"),
    number_column("rx_dbm", "Receive", "dBm"),
    number_column("channel_thz", "Worst at", "THz"),
    text_column("direction", "Worse way", 12),
)
_WAYS = (
    text_column("direction", "Direction", 12),
    number_column("launch_dbm", "Launch", "dBm"),
    number_column("gsnr_db", "GSNR", "dB"),
    number_column("penalties_db", "Penalties", "dB"),
    number_column("margin_db", "Margin", "dB"),
    number_column("rx_dbm", "Receive", "dBm"),
    number_column("channel_thz", "Worst at", "THz"),
)
NO_MODE = "no line, no way through a site, or no allowed mode"
_SPANS_LEGEND = "Joints: connectors and repair allowance. The amplifier is the one behind the span."
_LEGEND = (
    "Margin = GSNR − needs − penalties − reserve (system margin and ageing), at full load, worst channel and worse "
    "direction; OSNR in 0.1 nm. Limit: what stops a mode, or would stop one that closes first. Fill: channels in the "
    "full band."
)


def view(
    name: str,
    fibers: Iterable[Line | NoLine],
    lightpaths: Sequence[Lightpath],
    *,
    unused: Sequence[str] = (),
    chosen: Sequence[Lightpath] | None = None,
    brief: bool = False,
    saved_ms: Mapping[str, float] | None = None,
    load_percent: float = 100.0,
) -> View:
    """The view of `dcplan optics`. `fibers`: of each, the line that was designed or why there is none.

    `unused`: modes that no lightpath is tried with, and why. `chosen`: the lightpaths to show, with the lines that they
    run on, in place of all. `brief`: of each pair of sites the best lightpath, a row each, and the lines. `saved_ms`:
    what fibers with hollow core save. `load_percent`: share of the band that is loaded.
    """
    found = list(fibers)
    shown = lightpaths if chosen is None else chosen
    run = {fiber for path in shown for fiber in path.route.fibers}
    lines = [fiber for fiber in found if isinstance(fiber, Line) and (chosen is None or fiber.fiber in run)]
    refused = [fiber for fiber in found if not isinstance(fiber, Line)]
    closing = [path for path in lightpaths if path.closing]
    fastest = max((path.closing[0].rate_gbps for path in closing), default=None)
    lit = f"{len(found) - len(refused)} of {count(len(found), 'fiber')} can carry light"
    paths = f"{len(closing)} of {count(len(lightpaths), 'lightpath candidate')} close"
    facts = [
        Fact("fibers", lit, {"lines": len(found) - len(refused), "refused": len(refused)}, "FAIL" if refused else "ok"),
        Fact("lightpaths", paths, {"lightpaths": len(lightpaths), "closing": len(closing)}, "" if closing else "FAIL"),
    ]
    if fastest is not None:
        facts.append(Fact("fastest mode", f"{fastest:,.0f} Gb/s", {"fastest_gbps": fastest}))
    for fiber, gain in (saved_ms or {}).items():
        facts.append(Fact(fiber, f"hollow core saves {gain:.3f} ms one way against solid fiber", {"saved_ms": gain}))
    notices = [*_notices(lightpaths, refused), *(Notice("~", f"not tried: {reason}") for reason in unused)]
    if load_percent < 100:
        notices.append(
            Notice("~", f"judged with {load_percent:g} % of the band loaded: what is lit later is not foreseen")
        )
    listed = best_per_pair(shown) if brief else shown
    if brief:
        notices.append(Notice("~", _omitted(len(shown), len(listed))))
    tables = [_overview(listed)]
    each = [line for whole_line in lines for line in whole_line.in_bands]
    tables += [_line(line, _SPANS_LEGEND if i == 0 else "") for i, line in enumerate(each)]
    for i, path in enumerate(() if brief else shown):
        tables += [_budget(path), *_ways(path), _modes(path, _LEGEND if i == 0 else "")]
    return View("optics", name, tuple(facts), tuple(notices), tuple(tables))


def _omitted(candidates: int, listed: int) -> str:
    """What a brief view leaves out, and how to see it."""
    return (
        f"left out: {count(candidates - listed, 'lightpath')} that another between the same sites beats, and all link "
        "budgets; name a site, two sites or a lightpath to see theirs, or ask for --all"
    )


def _notices(lightpaths: Sequence[Lightpath], refused: Sequence[NoLine]) -> tuple[Notice, ...]:
    """Fibers that cannot be lit, or that no mode crosses on its own. A long candidate that fails is no surprise."""
    found = [Notice("FAIL", f"fiber {fiber.fiber}{_at(fiber)}: {fiber.reason}") for fiber in refused]
    dark = {fiber.fiber for fiber in refused}
    for path in lightpaths:
        fibers = path.route.fibers
        if len(fibers) == 1 and not path.closing and fibers[0] not in dark:
            found.append(Notice("FAIL", f"fiber {fibers[0]}: no mode closes from end to end ({_limits(path)})"))
    return tuple(found)


def _limits(path: Lightpath) -> str:
    return ", ".join(dict.fromkeys(budget.limit for budget in path.budgets)) or NO_MODE


def _overview(lightpaths: Sequence[Lightpath]) -> Table:
    """All candidates, a row each, with their fastest mode that closes."""
    columns = (
        text_column("lightpath", "Id"),
        text_column("closes", ""),
        text_column("ends", "Ends", 12),
        text_column("fibers", "Fibers", 12),
        number_column("length_km", "Length", "km"),
        number_column("latency_ms", "One way", "ms"),
        number_column("rate_gbps", "Rate", "Gb/s"),
        number_column("margin_db", "Margin", "dB"),
        text_column("mode", "Fastest mode", 12),
        text_column("limit", "Next faster", 14),
    )
    rows = tuple(
        (
            say(path.id),
            _closes(good=bool(path.closing)),
            say(f"{path.route.sites[0]} – {path.route.sites[-1]}"),
            say(", ".join(path.route.fibers)),
            number(path.length_km),
            fixed(path.latency_ms, 3),
            whole(path.closing[0].rate_gbps) if path.closing else number(None),
            _margin(path.closing[0]) if path.closing else number(None),
            say(f"{path.closing[0].transponder} {path.closing[0].mode}" if path.closing else NOTHING),
            say(next_in_words(path) or ("" if path.closing else _limits(path))),
        )
        for path in lightpaths
    )
    return Table("lightpaths", "Lightpath candidates", columns, rows, main=True)


def _closes(*, good: bool) -> Cell:
    return Cell("ok" if good else "no", good, verdict(good=good).tone)


def _at(refused: NoLine) -> str:
    return "" if refused.span_number is None else f", span {refused.span_number}"


def _line(line: Line, legend: str) -> Table:
    rows = tuple(_span(span) for span in line.spans)
    sums = {i: math.fsum(float(row[i].value or 0) for row in rows) for i in (1, 2, 3, 4)}
    total = tuple(
        fixed(sums[i], 1 if i == 1 else 2) if i in sums else say("total" if i == 0 else "") for i in range(len(_SPANS))
    )
    note = (
        f"{line.latency_ms:.3f} ms one way; {_gear(line)}; "
        f"dispersion {line.dispersion_ps_nm:,.0f} ps/nm; PMD {line.pmd_ps:.2f} ps. {legend}"
    )
    band = f" {line.band.upper()} band" if line.band else ""
    title = f"Line {line.fiber}{band}, {line.length_km:,.1f} km, {count(len(rows), 'span')}"
    return Table(f"line {line.fiber}{band}", title, _SPANS, rows, total if len(rows) > 1 else None, note)


def _gear(line: Line) -> str:
    return f"booster {line.booster}; {count(line.huts, 'hut')}" if line.booster else "no amplifiers"


def _span(span: SpanRow) -> Row:
    return (
        whole(span.number),
        fixed(span.length_km, 1),
        fixed(span.fiber_loss_db, 2),
        fixed(span.loss_db - span.fiber_loss_db, 2),
        fixed(span.loss_db, 2),
        Cell("measured" if span.measured else "length", span.measured),
        say(span.amplifier),
        fixed(span.gain_db, 2),
        fixed(span.noise_figure_db, 2),
        fixed(span.padding_db, 2),
        say(span.type),
        say(span.why),
    )


def _title(path: Lightpath) -> str:
    return f"{path.id} {path.route.name}, {path.length_km:,.1f} km, {path.latency_ms:.3f} ms one way"


def _budget(path: Lightpath) -> Table:
    """The best mode, line by line; the unit of a level is dBm, of everything else dB."""
    if not path.budgets:
        return Table(
            f"budget {path.id}", _title(path), _ITEMS, (), note="no line, no way through a site, or no allowed mode"
        )
    best = path.budgets[0]
    rows = tuple(
        (
            say(item.kind),
            say(item.name),
            fixed(item.value_db, 2, none="−∞" if item.kind == "sum" else "∞"),
            say("dBm" if item.kind == "level" else "dB"),
            say(item.why),
        )
        for item in best.items
    )
    outcome = "closes" if best.closes else f"fails by {best.limit}"
    title = f"{_title(path)}: {best.transponder} {best.mode}, {best.rate_gbps:,.0f} Gb/s, {outcome}"
    return Table(f"budget {path.id}", title, _ITEMS, rows)


def _ways(path: Lightpath) -> list[Table]:
    """Both directions of the best mode side by side, the worse first."""
    best = path.budgets[0] if path.budgets else None
    if best is None or best.other is None:
        return []
    rows = tuple(
        (
            say(way.direction.replace("->", "→")),
            fixed(way.launch_dbm, 2),
            fixed(way.gsnr_db, 2),
            fixed(way.penalties_db, 2, none="∞"),
            fixed(way.margin_db, 2, none="−∞"),
            fixed(way.rx_dbm, 2),
            fixed(way.channel_thz, 4),
        )
        for way in (best, best.other)
    )
    return [
        Table(f"directions {path.id}", f"{path.id}: both directions of {best.transponder} {best.mode}", _WAYS, rows)
    ]


def _modes(path: Lightpath, legend: str) -> Table:
    rows = tuple(_mode(budget) for budget in path.budgets)
    return Table(f"modes {path.id}", f"{path.id}: all modes", _MODES, rows, note=legend)


def _margin(budget: Budget) -> Cell:
    return fixed(budget.margin_db, 2, none="−∞", tone="" if budget.closes else "bad")


def _mode(budget: Budget) -> Row:
    return (
        say(budget.transponder),
        say(budget.mode),
        _closes(good=budget.closes),
        whole(budget.rate_gbps),
        _margin(budget),
        fixed(budget.gsnr_db, 2),
        fixed(budget.required_osnr_db, 2),
        fixed(budget.penalties_db, 2, none="∞"),
        fixed(budget.margins_db, 2),
        Cell(stop_of(budget) or budget.limit, budget.limit),
        fixed(budget.width_ghz, 1),
        whole(budget.channels),
        fixed(budget.launch_dbm, 2),
        fixed(budget.rx_dbm, 2),
        fixed(budget.channel_thz, 4),
        say(budget.direction.replace("->", "→")),
    )
