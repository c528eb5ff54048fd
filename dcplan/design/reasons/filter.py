"""Of things that cannot all be had together, a set of which every one is needed for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Conflict[Thing]:
    """Things that cannot all be had together."""

    things: tuple[Thing, ...]
    complete: bool
    """Shown: none of them can be left out without the others being possible together."""


def conflict[Thing](things: Sequence[Thing], possible: Callable[[frozenset[Thing]], bool | None]) -> Conflict[Thing]:
    """A set of things that are not possible together, though any of them left out they are.

    possible: of some of the things; None where that is not known. Divided by halves (QuickXplain, Junker, AAAI 2004),
    then by a deletion filter (Chinneck and Dravnieks, ORSA Journal on Computing 3(2), 1991) that shows it. Those that
    stand first are rather kept. `things` together must be impossible.
    """
    asked = _Asked(possible)
    found = [thing for thing in things if thing in set(_among(asked, (), False, tuple(things)))]  # noqa: FBT003
    if asked(found) is not False:
        found = list(things)
    complete = True
    for thing in tuple(found):
        rest = [other for other in found if other != thing]
        answer = asked(rest)
        if answer is False:
            found = rest
        complete = complete and answer is not None
    return Conflict(tuple(found), complete)


class _Asked[Thing]:
    """Asks once for each set of things."""

    def __init__(self, possible: Callable[[frozenset[Thing]], bool | None]) -> None:
        self._possible = possible
        self._known: dict[frozenset[Thing], bool | None] = {}

    def __call__(self, things: Sequence[Thing]) -> bool | None:
        """Whether they are possible together."""
        key = frozenset(things)
        if key not in self._known:
            self._known[key] = self._possible(key)
        return self._known[key]


def _among[Thing](
    asked: _Asked[Thing],
    given: tuple[Thing, ...],
    changed: bool,  # noqa: FBT001
    things: tuple[Thing, ...],
) -> tuple[Thing, ...]:
    """Those of `things` that are needed to be impossible together with what is given; not known counts as possible."""
    if changed and asked(given) is False:
        return ()
    if len(things) <= 1:
        return things
    first, second = things[: len(things) // 2], things[len(things) // 2 :]
    later = _among(asked, (*given, *first), bool(first), second)
    earlier = _among(asked, (*given, *later), bool(later), first)
    return (*earlier, *later)
