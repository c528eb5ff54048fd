"""Every number of a result, changed one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from dcplan.design.result import Design
from dcplan.planfile import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

DESIGN: TypeAdapter[Design] = TypeAdapter(Design)
Place = tuple[str | int, ...]


def plain(design: Design) -> Any:
    """As it stands in a plan file."""
    return rounded(design)


def numbers(whole: Any, here: Place = ()) -> Iterator[tuple[Place, float]]:
    """Where each number stands, and what it is."""
    if isinstance(whole, dict | list):
        for key, part in whole.items() if isinstance(whole, dict) else enumerate(whole):
            yield from numbers(part, (*here, key))
    elif isinstance(whole, int | float) and not isinstance(whole, bool):
        yield here, whole


def other(value: float, turn: int) -> float:
    """Another number: a little more, the opposite, a little less, far off; which one goes by turns."""
    more, less = (value * 1.001, value * 0.999) if value != int(value) else (value + 1, value - 1)
    return [more, -value, less, value + 1][turn % 4] if value else [1.0, -1.0][turn % 2]


def changed(whole: Any, place: Place, value: float) -> Design:
    """The design with one number changed."""

    def put(part: Any, rest: Place) -> Any:
        if not rest:
            return value
        if isinstance(part, dict):
            return {**part, rest[0]: put(part[rest[0]], rest[1:])}
        return [put(one, rest[1:]) if i == rest[0] else one for i, one in enumerate(part)]

    return DESIGN.validate_python(put(whole, place))
