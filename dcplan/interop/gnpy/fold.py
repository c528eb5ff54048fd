"""Two sections, there and back, as one fiber; where they differ the worse is kept and it is said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.interop.gnpy.amplifiers import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dcplan.interop.gnpy.section import Glass, Section

SAME_DB = 0.01
SAME_KM = 0.01
"""Less is rounding."""


@dataclass(frozen=True, slots=True)
class Cable:
    """A fiber between two sites, both directions."""

    name: str
    ends: tuple[str, str]
    there: Section
    back: Section
    spans: tuple[Glass, ...]
    """From the first end; `amplifier` is what stands behind, each way, in a hut."""
    booster: str | None
    preamp: str | None
    launch_dbm: float | None


def fold(sections: Sequence[Section], noisier: Callable[[str, str], str]) -> tuple[list[Cable], list[str]]:
    """Fibers of all sections, and what differs between directions. `noisier`: the worse of two amplifiers."""
    notes: list[str] = []
    cables: list[Cable] = []
    left = list(sections)
    while left:
        there = left.pop(0)
        candidates = [one for one in left if (one.start, one.end) == (there.end, there.start)]
        if there.start == there.end:
            notes.append(f"a line from {there.start} to itself is left out")
            continue
        if candidates:
            back = min(candidates, key=lambda one: _unlike(there, one))
            left.remove(back)
        else:
            notes.append(f"{there.start} to {there.end}: there is no way back, which is taken to be the same")
            back = _mirror(there)
        cables.append(_cable(there, back, _name(there, cables), noisier, notes))
    return cables, notes


def _unlike(there: Section, back: Section) -> tuple[bool, float]:
    named = there.name != back.name
    return (named, abs(there.length_km - back.length_km) + abs(there.loss_db - back.loss_db))


def _mirror(there: Section) -> Section:
    return replace(there, start=there.end, end=there.start, first="", last="", spans=_turned(there.spans, there.spans))


def _turned(spans: Sequence[Glass], behind: Sequence[Glass]) -> tuple[Glass, ...]:
    """Spans seen from the other end, with the amplifiers of `behind` in the same order of travel."""
    return tuple(replace(span, amplifier=other.amplifier) for span, other in zip(reversed(spans), behind, strict=True))


def _name(there: Section, cables: Iterable[Cable]) -> str:
    taken = {cable.name for cable in cables}
    name = there.name or f"{there.start} - {there.end}"[:76]
    number, free = 2, name
    while free in taken:
        free, number = f"{name[:76]} {number}", number + 1
    return free


def _cable(there: Section, back: Section, name: str, noisier: Callable[[str, str], str], notes: list[str]) -> Cable:
    ends = (there.start, there.end)

    def one(a: str | None, b: str | None, place: str) -> str | None:
        """Of the amplifiers in a place, one direction each, that which is there, or the worse."""
        if a == b or a is None or b is None:
            return a or b
        worse = noisier(a, b)
        notes.append(f"{name}: {place} is {a} one way and {b} the other; {worse} is kept for both")
        return worse

    booster = one(there.booster, back.booster, "the booster")
    preamp = one(there.spans[-1].amplifier, back.spans[-1].amplifier, "the preamplifier")
    if len(there.spans) == len(back.spans):
        spans = _both(there, back, name, one, notes)
    else:
        worse = max((there, back), key=lambda section: section.loss_db)
        notes.append(
            f"{name}: {len(there.spans)} spans of {there.loss_db:.2f} dB one way, {len(back.spans)} of "
            f"{back.loss_db:.2f} dB the other; the way from {worse.start} is kept for both"
        )
        huts = (*worse.spans[:-1], replace(worse.spans[-1], amplifier=None))
        spans = huts if worse is there else _turned(huts, (*huts[:-1][::-1], huts[-1]))
    launches = [section.launch_dbm for section in (there, back) if section.launch_dbm is not None]
    if len(launches) == 2 and abs(launches[0] - launches[1]) > SAME_DB:
        notes.append(
            f"{name}: launched at {launches[0]:.2f} dBm one way and {launches[1]:.2f} the other; the lower is kept"
        )
    return Cable(name, ends, there, back, spans, booster, preamp, min(launches, default=None))


def _both(
    there: Section,
    back: Section,
    name: str,
    one: Callable[[str | None, str | None, str], str | None],
    notes: list[str],
) -> tuple[Glass, ...]:
    """Span by span: the longer, the one that loses more; in huts, one amplifier for both ways."""
    last = len(there.spans) - 1
    spans = []
    for number, (a, b) in enumerate(zip(there.spans, reversed(back.spans), strict=True)):
        if abs(a.length_km - b.length_km) > SAME_KM or abs(a.loss_db - b.loss_db) > SAME_DB or a.variety != b.variety:
            notes.append(
                f"{name}, span {number + 1}: {a.length_km:g} km {a.variety} of {a.loss_db:.2f} dB one way, "
                f"{b.length_km:g} km {b.variety} of {b.loss_db:.2f} dB the other; the larger loss is kept for both"
            )
        worse = max((a, b), key=lambda span: span.loss_db)
        hut_there, hut_back = (a.amplifier if number < last else None), (b.amplifier if number > 0 else None)
        amplifier = one(hut_there, hut_back, f"behind span {number + 1}") if last else None
        spans.append(replace(worse, length_km=max(a.length_km, b.length_km), amplifier=amplifier))
    return tuple(spans)


def amplifiers_of(cable: Cable) -> tuple[str, ...]:
    """Ids of the amplifiers that a cable names."""
    names = (cable.booster, cable.preamp, *(span.amplifier for span in cable.spans))
    return tuple(dict.fromkeys(name for name in names if name))


def silent_in(cables: Sequence[Cable]) -> list[str]:
    """Names of the cables in which a place has no amplifier."""
    return [cable.name for cable in cables if NOTHING in amplifiers_of(cable)]
