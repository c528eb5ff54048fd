"""Every leaf of a plan file, changed one at a time, and what `verify` makes of it."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from typing import TYPE_CHECKING, Any
from unittest import mock

from dcplan import api, planfile
from dcplan.api import optical
from dcplan.design import traffic
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.model.network import Network

MAPS = {"gbps", "accelerators", "inputs", "options", "offers", "distances", "weights"}
"""Keys behind which names of the file stand, not those of the format."""
BY_SEAL = {
    "dcplan",
    "inputs.*",
    "design.proof.solver_version",
    "design.binding.*.worth",
    "collectives.*.tried.*.gbps",
    "collectives.*.tried.*.least_usd",
    "collectives.*.tried.*.plan",
    "collectives.*.tried.*.why_not",
    "growth.at_once_status",
    "growth.at_once_usd",
    "seal",
}
"""What takes a solver to work out anew, or another dcplan: only the seal of the file guards it."""
LEAST = 2e-6
"""Changes smaller than this count as rounding."""


def leaves(whole: Any, here: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Where each leaf stands, and what it is."""
    if isinstance(whole, dict | list):
        for key, part in whole.items() if isinstance(whole, dict) else enumerate(whole):
            yield from leaves(part, (*here, key))
    else:
        yield here, whole


def kind(place: Sequence[str | int]) -> str:
    """The place with `*` for what is a number or a name of the file."""
    before = ("", *place)
    return ".".join(
        "*" if isinstance(key, int) or last in MAPS else str(key) for last, key in zip(before, place, strict=False)
    )


def other(value: Any) -> Any:
    """Something else of the same type: a digit of a text, a thousandth of a number."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        digit = re.search(r"\d", value)
        return value + "x" if digit is None else value.replace(digit[0], str((int(digit[0]) + 1) % 10), 1)
    return value + max(1, abs(value) // 1000) if isinstance(value, int) else value * 1.001


def put(whole: Any, place: Sequence[str | int], value: Any) -> Any:
    """The same with one leaf changed."""
    if not place:
        return value
    if isinstance(whole, dict):
        return {**whole, place[0]: put(whole[place[0]], place[1:], value)}
    return [put(one, place[1:], value) if i == place[0] else one for i, one in enumerate(whole)]


def unnoticed(network: Network, text: str, most: int | None = None) -> dict[str, tuple[Any, Any]]:
    """Kinds of leaves of which one, drawn from a fixed seed, can be changed without the check telling, seal apart.

    What light can do and what jobs ask follow from the topology alone: they are worked out once for all changes.
    """
    chance, whole, by_kind = random.Random(1), json.loads(text), dict[str, list[Any]]()
    for place, value in leaves(whole):
        if value is not None and value != "":
            by_kind.setdefault(kind(place), []).append((place, value))
    kinds = sorted(by_kind) if most is None else sorted(chance.sample(sorted(by_kind), most))
    found = {}
    asked = cache(lambda kinds: traffic_of(network, *known[kinds]))
    known: dict[str, Any] = {}
    traffic_of, light = traffic.traffic_of, optical.optics(network)

    def once(_: Any, states: Any, kinds: Any) -> Any:
        known[repr(kinds)] = (states, kinds)
        return asked(repr(kinds))

    with (
        mock.patch.object(planfile, "is_sealed", return_value=True),
        mock.patch.object(optical, "optics", return_value=light),
        mock.patch.object(traffic, "traffic_of", side_effect=once),
    ):
        assert api.verify(network, planfile.loads(text, "plan.json")) == ()
        for name in kinds:
            place, value = chance.choice(by_kind[name])
            new = other(value)
            if isinstance(value, float) and abs(new - value) < LEAST:
                continue
            try:
                changed = planfile.loads(json.dumps(put(whole, place, new)), "plan.json")
            except UsageError:
                continue
            if not api.verify(network, changed):
                found[name] = (value, new)
    return found
