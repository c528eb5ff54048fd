"""What a design says of itself in words, worked out again where that takes no solver."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dcplan.design import cost
from dcplan.design.cuts.tight import tightest
from dcplan.design.reasons.binding import UNPRICED, full_pairs, full_spectrum
from dcplan.design.relight import binding as relight
from dcplan.design.spectrum.place import placement
from dcplan.model.states import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.problem import Problem
    from dcplan.design.result import Binding, Design, Wavelengths

MONEY = r"US\$ [\d.,]+(?: [kM])?"
SAVED = (
    rf"one more would save (?:{MONEY}(?: \(relaxation\))?|nothing)|the relaxation gains nothing by more|"
    r"not known: (?:the search was ended|time ran out)"
)
LATER = (
    rf"one ms more would save (?:nothing|(?:at least )?{MONEY})(?: \(relaxation\))?(?:, of any of them alone)?|"
    r"not known: the search was ended"
)
CHEAPER = rf"(?:; each Gb/s less would save {MONEY} \(relaxation\))?"
FURTHER = rf"each further Gb/s costs {MONEY} \(relaxation\)"
AGAIN = r"(?:; sized again (?:once|\d+ times) because channels found no place on .+)?"
LEAVING = r".+ must leave or reach \{.+\}; the transponders there carry .+ at their best rates"


def faults(made: Problem, design: Design) -> Iterator[str]:
    """Words on spectrum, assumptions and what binds that are not those of the design.

    What prices are worth (the dual values of a relaxation, designs sized anew) is only known to whoever solved them:
    of these only the form is checked.
    """
    relit = design.scheme == "relight"
    names = [state.name for state in made.states] if relit else [HEALTHY.name]
    by_state = [counts_of(made, design.lit_in(name).wavelengths) for name in names]
    pairs = {lit.fiber: lit.pairs for lit in design.lit if lit.fiber in made.fibers}
    spectrum = placement(made, by_state, pairs, ())
    if not re.fullmatch(re.escape(spectrum) + AGAIN, design.proof.spectrum):
        yield f"of its channels the proof says `{design.proof.spectrum}`, so is: {spectrum}"
    rests_on = cost.assumptions(made.network, design.bill)
    if design.assumptions[: len(rests_on)] != rests_on:
        yield "what the cost rests on is not said as the bill has it"
    may_be = _relit(made, design, by_state, pairs) if relit else _plain(made, by_state[0], pairs)
    for one in design.binding:
        if one == UNPRICED:
            continue
        if not any(re.fullmatch(worth, one.worth) for worth in (*may_be.get(one.what, ()), *_of_demands(made, one))):
            yield f"what binds: it is not so that {one.what}, worth: {one.worth}"


def counts_of(made: Problem, wavelengths: Sequence[Wavelengths]) -> tuple[int, ...]:
    """How many of each choice are lit; of what is alike, those that are there already first."""
    left = {(lit.lightpath, lit.transponder, lit.mode): lit.count for lit in wavelengths}
    found = [0] * len(made.choices)
    for j, choice in sorted(enumerate(made.choices), key=lambda one: not one[1].existing):
        kind = (made.lightpaths[choice.lightpath].id, choice.part, choice.mode)
        found[j] = min(left.get(kind, 0), choice.most) if choice.existing else left.get(kind, 0)
        left[kind] = left.get(kind, 0) - found[j]
    return tuple(found)


def _plain(made: Problem, counts: Sequence[int], pairs: Mapping[str, int]) -> dict[str, list[str]]:
    """What may bind -> what may be said that it is worth."""
    lit = {fiber: pairs.get(fiber, 0) for fiber in made.fibers}
    found = {what: [SAVED] for what in full_pairs(made, lit).values()}
    for one in full_spectrum(made, counts, lit):
        found.setdefault(one.what, []).append(re.escape(one.worth))
    for one in tightest(made, counts):
        found.setdefault(one.what, []).append(re.escape(one.worth) + CHEAPER)
    return found


def _relit(
    made: Problem, design: Design, by_state: Sequence[Sequence[int]], pairs: Mapping[str, int]
) -> dict[str, list[str]]:
    found = {what: [SAVED] for what in full_pairs(made, pairs).values()}
    for one in relight.full_spectrum(made, by_state, pairs):
        found.setdefault(one.what, []).append(re.escape(one.worth))
    for one in design.binding:
        if re.fullmatch(LEAVING, one.what):
            found.setdefault(one.what, []).append(r"nothing to spare|.+ to spare")
    return found


def _of_demands(made: Problem, one: Binding) -> Iterator[str]:
    """What may be said of a demand or its limit."""
    for demand in made.demands:
        if one.what == f"demand {demand.id}":
            yield FURTHER
        if demand.max_latency_ms and one.what == f"demand {demand.id}: at most {demand.max_latency_ms:g} ms one way":
            yield LATER
    several = one.what.removeprefix("latency limit of ")
    if several != one.what and _all_named(several, {demand.id for demand in made.demands if demand.max_latency_ms}):
        yield LATER


def _all_named(text: str, names: set[str]) -> bool:
    """A list of names, of which any may have commas in it."""
    if not text:
        return True
    return any(
        text == name or (text.startswith(f"{name}, ") and _all_named(text[len(name) + 2 :], names)) for name in names
    )
