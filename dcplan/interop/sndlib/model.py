"""The name of an SNDlib problem, as U-U-M-N-C-A-N-U: what each letter asks, and which of it dcplan can plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.interop.sndlib.instance import Instance

DEFAULT = "U-U-M-N-C-A-N-U"
LETTERS = (
    ("demand model", {"U": "undirected", "D": "directed"}),
    ("link model", {"U": "undirected", "B": "bidirected", "D": "directed"}),
    ("link capacity", {"L": "linear", "M": "modular", "S": "single modular", "E": "explicit"}),
    ("fixed charge", {"Y": "set-up cost counts", "N": "none"}),
    ("routing", {"C": "continuous", "I": "integer", "S": "single path"}),
    ("admissible paths", {"A": "all", "E": "explicit list"}),
    ("hop limits", {"N": "ignored", "Y": "individual"}),
    ("survivability", {"N": "none", "P": "1+1 protection", "S": "shared path protection", "U": "rerouting"}),
)
"""Position -> what it is about, and its letters in words."""


@dataclass(frozen=True, slots=True)
class Model:
    """A problem that dcplan can plan."""

    name: str
    one: bool
    """At most one module of each list (E)."""
    setup: bool
    """The set-up cost of links counts."""
    single: bool
    """Each demand takes one path at a time (S); under 1+1 one pair of them."""
    scheme: str
    """Of the policy: none, reroute, one-plus-one."""

    @property
    def priced(self) -> bool:
        """The healthy traffic has its price (routing cost)."""
        return self.scheme != "one-plus-one"


def model_of(name: str, instance: Instance) -> Model:
    """The model by the name of a problem, with or without that of the instance.

    UsageError where the name is none, and, letter by letter in words, where dcplan has no such thing.
    """
    letters = name.rpartition("--")[2].upper().split("-")
    if len(letters) != len(LETTERS):
        raise UsageError(f"--model {name}: a problem has {len(LETTERS)} letters, as {DEFAULT}")
    for position, (letter, (what, known)) in enumerate(zip(letters, LETTERS, strict=True), 1):
        if letter not in known:
            there = ", ".join(f"{each} ({said})" for each, said in known.items())
            raise UsageError(f"--model {name}: letter {position}, {what}, is {letter}: there is {there}")
    refused = list(_refused(letters, instance))
    if refused:
        raise UsageError(f"--model {name} cannot be planned: {'; '.join(refused)}")
    return Model(
        "-".join(letters),
        one=letters[2] == "E",
        setup=letters[3] == "Y",
        single=letters[4] == "S",
        scheme={"N": "none", "P": "one-plus-one", "U": "reroute"}[letters[7]],
    )


def _refused(letters: list[str], instance: Instance) -> Iterator[str]:
    """What dcplan has not, by letter."""
    for position, why in (*_of_links(letters, instance), *_of_routes(letters, instance)):
        what, known = LETTERS[position - 1]
        letter = letters[position - 1]
        yield f"letter {position}, {what} {letter} ({known[letter]}): {why}"


def _of_links(letters: list[str], instance: Instance) -> Iterator[tuple[int, str]]:
    demand, link, capacity = letters[:3]
    if demand == "D":
        yield 1, "demands of dcplan are the same both ways; U folds those of both directions by adding"
    if link != "U":
        yield 2, "a circuit has one capacity that both directions of a demand take alike; U is possible"
    if capacity == "L":
        yield 3, "modules are whole; M, S and E are possible"
    if capacity == "S" and any(len(link.modules) > 1 for link in instance.links):
        yield 3, "some link offers several modules; M (any mix) and E (one of the list) are possible"


def _of_routes(letters: list[str], instance: Instance) -> Iterator[tuple[int, str]]:
    routing, paths, hops, survival = letters[4:]
    if routing == "I":
        yield 5, "traffic is split at will (C) or not at all (S), not in units"
    if paths == "E":
        yield 6, "routes are those of the network, not of a list; A is possible"
    if hops == "Y" and any(demand.most_hops != float("inf") for demand in instance.demands):
        yield 7, "routes are limited by latency, not by their number of links; N is possible"
    if survival == "S":
        yield 8, "N (none), P (1+1) and U (rerouted in every failure of a link) are possible"
