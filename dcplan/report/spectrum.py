"""The spectrum of a plan: a strip per lit fiber pair, and which channels stand where on the flexible grid."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

from dcplan.model.grid import SLOT_GHZ, centre_thz
from dcplan.report.sheet import Table, count, fixed, number_column, say, strip_column, text_column, whole
from dcplan.report.strip import DARK, FREE, GOES_ON, Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.design.result import Channel
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row

LETTERS = ascii_uppercase + ascii_lowercase
Place = tuple[str, int]
"""Fiber and lit pair."""
Kind = tuple[str, str, str, int]
"""Lightpath, transponder, mode, slots: channels that share a letter."""


def strips(plan: Plan) -> Table:
    """One line across the band for each lit pair: a letter begins each wavelength."""
    band, on = plan.design.band, _channels(plan)
    letters = _letters(on)
    rows: list[Row] = []
    for (fiber, pair), channels in on.items():
        marks = [FREE] * band.slots
        for first, slots in band.dark:
            marks[first : first + slots] = DARK * slots
        for channel in channels:
            end = channel.first_slot + channel.slots
            marks[channel.first_slot : end] = letters[_kind(channel)] + GOES_ON * (channel.slots - 1)
        used = sum(channel.slots for channel in channels)
        rows.append(
            (
                say(fiber),
                whole(pair + 1),
                fixed(100 * used / band.amplified if band.amplified else None, 0),
                say("".join(marks)),
            )
        )
    columns = (
        text_column("fiber", "Fiber"),
        number_column("pair", "Pair"),
        number_column("fill_percent", "Fill", "%"),
        strip_column("marks", "Spectrum, THz", Scale(band.start_thz, band.slots)),
    )
    note = f"A letter begins a wavelength, {GOES_ON} goes on, {FREE} is free"
    note += f", {DARK} has no amplifier" if band.dark else ""
    note += "; what the letters are stands below. "
    note += f"Guards of {SLOT_GHZ * band.guard:g} GHz. " if band.guard else ""
    proof = plan.design.proof.spectrum
    note += f"Places: {proof}." if proof else ""
    return Table("spectrum-map", "Spectrum map", columns, tuple(rows), note=note.strip() if rows else "")


def blocks(plan: Plan) -> Table:
    """Which channels stand where; neighbours of one kind are one row."""
    on = _channels(plan)
    letters = _letters(on)
    rows: list[Row] = []
    for (fiber, pair), channels in on.items():
        for block in _blocks(channels):
            first, last = block[0], block[-1]
            low = centre_thz(first.n) - first.slots * SLOT_GHZ / 2e3
            high = centre_thz(last.n) + last.slots * SLOT_GHZ / 2e3
            rows.append(
                (
                    say(letters[_kind(first)]),
                    say(fiber),
                    whole(pair + 1),
                    whole(len(block)),
                    say(f"{first.n} to {last.n}" if len(block) > 1 else str(first.n)),
                    whole(first.slots),
                    fixed(SLOT_GHZ * first.slots, 1),
                    fixed(low, 4),
                    fixed(high, 4),
                    say(first.lightpath),
                    say(f"{first.transponder} {first.mode}"),
                )
            )
    columns = (
        text_column("letter", ""),
        text_column("fiber", "Fiber"),
        number_column("pair", "Pair"),
        number_column("channels", "Waves"),
        text_column("n", "n", 6),
        number_column("m", "m"),
        number_column("width_ghz", "Each", "GHz"),
        number_column("start_thz", "From", "THz"),
        number_column("end_thz", "To", "THz"),
        text_column("lightpath", "Id"),
        text_column("mode", "Mode", 9),
    )
    note = "Centres at 193.1 THz + n × 6.25 GHz, width m × 12.5 GHz (ITU-T G.694.1); neighbours are 2m apart in n."
    if len(letters) > len(LETTERS):
        note += f" {count(len(letters), 'kind')} of channel share {len(LETTERS)} letters."
    return Table("spectrum", "Spectrum", columns, tuple(rows), note=note if rows else "")


def _channels(plan: Plan) -> dict[Place, list[Channel]]:
    """The channels of each lit pair from low to high frequency, fibers in file order."""
    routes = {path.id: path.route.fibers for path in plan.lightpaths}
    found: dict[Place, list[Channel]] = {}
    for channel in plan.design.channels:
        for fiber, pair in zip(routes[channel.lightpath], channel.pairs, strict=True):
            found.setdefault((fiber, pair), []).append(channel)
    order = {fiber.name: i for i, fiber in enumerate(plan.fibers)}
    places = sorted(found, key=lambda place: (order.get(place[0], len(order)), place))
    return {place: sorted(found[place], key=lambda channel: channel.first_slot) for place in places}


def _letters(on: Mapping[Place, list[Channel]]) -> dict[Kind, str]:
    """A letter for each kind of channel, in the order in which a reader meets them."""
    kinds = dict.fromkeys(_kind(channel) for channels in on.values() for channel in channels)
    return {kind: LETTERS[i % len(LETTERS)] for i, kind in enumerate(kinds)}


def _blocks(channels: list[Channel]) -> Iterator[list[Channel]]:
    """Channels of one kind that stand side by side."""
    block: list[Channel] = []
    for channel in channels:
        if block and (
            _kind(block[-1]) != _kind(channel) or block[-1].first_slot + block[-1].slots != channel.first_slot
        ):
            yield block
            block = []
        block.append(channel)
    if block:
        yield block


def _kind(channel: Channel) -> Kind:
    return channel.lightpath, channel.transponder, channel.mode, channel.slots
