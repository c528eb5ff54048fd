"""Keys of a plan that a user fixes for a search: `tp=8,across=dp`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args, get_origin

from pydantic import ValidationError

from dcplan.diagnostics import did_you_mean
from dcplan.errors import UsageError
from dcplan.model.job import ParallelismPlan

if TYPE_CHECKING:
    from collections.abc import Iterable

KEYS = tuple(ParallelismPlan.model_fields)


def read_pins(texts: Iterable[str]) -> ParallelismPlan:
    """The plan of which the given keys count; `texts` hold key=value, with commas between.

    UsageError for a key that no plan has, for a value that it cannot have, and for a key that is given twice.
    """
    given: dict[str, str] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise UsageError(f"--pin `{part}`: write key=value, with commas between, as in tp=8,across=dp")
        if key.partition(".")[0] not in KEYS:
            hint = did_you_mean(key, KEYS, f"a plan has {', '.join(KEYS)}")
            raise UsageError(f"--pin `{part}`: a plan has no key `{key}`: {hint}")
        if key in given:
            raise UsageError(f"--pin: `{key}` is given twice")
        given[key] = value
    try:
        return ParallelismPlan.model_validate(_nested(given))
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        if not where:
            raise UsageError(f"--pin: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from error
        key = ".".join(map(str, where))
        raise UsageError(f"--pin `{key}={given.get(key, '…')}`: {_allowed(key, given.get(key, ''), error)}") from error


def merged(pins: Iterable[ParallelismPlan | None]) -> ParallelismPlan:
    """All pins together; of a key that several give, the last one counts."""
    return ParallelismPlan.model_validate(
        {key: value for pin in pins if pin for key, value in pin.model_dump(exclude_unset=True).items()}
    )


def _nested(given: dict[str, str]) -> dict[str, object]:
    """outer.every_steps stands below outer."""
    found: dict[str, object] = {}
    for key, value in given.items():
        above, dot, below = key.partition(".")
        inner = found.setdefault(above, {}) if dot else None
        if isinstance(inner, dict):
            inner[below] = _value(value)
        else:
            found[above] = _value(value)
    return found


def _value(text: str) -> str | int | bool:
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.isascii() and text.isdigit() else text


def _allowed(key: str, value: str, error: ValidationError) -> str:
    """What the key may be."""
    if "." in key:
        unknown = error.errors()[0]["type"] == "extra_forbidden"
        return f"there is no key `{key}`" if unknown else error.errors()[0]["msg"]
    annotation = ParallelismPlan.model_fields[key].annotation
    if get_origin(annotation) is Literal:
        values = [str(each) for each in get_args(annotation)]
        return did_you_mean(value, values, f"`{key}` is one of {', '.join(values)}")
    if annotation is bool:
        return f"`{key}` is true or false"
    return error.errors()[0]["msg"].replace("Input should", f"`{key}` should")
