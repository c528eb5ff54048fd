"""Why there is no plan, as few things as it takes: a set of which none can be left out, and what would suffice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations, product
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from dcplan.api.relaxing import (
    MARGINS,
    ending_by_traffic,
    members,
    pairs_in_words,
    plenty,
    with_limit,
    with_margins,
    with_pairs,
    with_share,
    without,
    without_targets,
)
from dcplan.design.engine import possible
from dcplan.design.limits import now_s
from dcplan.design.problem import whole_rate
from dcplan.design.reasons.filter import conflict
from dcplan.design.result import Change, Infeasible, Irreducible, Member
from dcplan.design.traffic import job_traffic
from dcplan.units import rate, significant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dcplan.api.relaxing import Case
    from dcplan.design.engine import Options
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line

    Light = Callable[[Network], tuple[tuple[Line, ...], tuple[Lightpath, ...]]]
    """Lines and lightpaths of a network, circuits among them."""

EACH_S = 20.0
"""Longest time for one design that is tried [s]."""
LITTLE = 0.01
"""A share of a rate below which a demand may as well be left out."""
FURTHER = 16.0
"""A latency limit is not raised beyond so many times what it is."""
HALVINGS = 10
MOST_COUPLES = 24
"""Two changes together are tried so many times at most."""


_SAID = {
    "job": "without job {}",
    "state": "no promise to survive the loss of {}",
    "scheme": "{} rerouted in place of two ways at once",
    "routes": "any number of routes for {}",
    "circuit": "more modules of circuit {}",
    "existing": "existing.removable: true",
}
"""Kind of a member that can only be dropped -> that in words."""


@dataclass(slots=True)
class _Trial:
    """Designs tried on changed cases, as long as time is left."""

    case: Case
    options: Options
    light: Light
    until_s: float
    tried: int = 0
    bare: tuple[tuple[Line, ...], tuple[Lightpath, ...]] | None = None
    """Lines and lightpaths without margins."""
    said: Callable[[str], None] = field(default=lambda _: None)

    def possible(self, case: Case) -> bool | None:
        """Whether there is any design; None where time runs out."""
        left_s = self.until_s - now_s()
        if left_s <= 0:
            return None
        self.tried += 1
        self.said(f"reasons: {self.tried} designs tried")
        options = replace(self.options, time_limit_s=min(EACH_S, left_s), progress=None)
        return possible(case.network, case.lines, case.lightpaths, case.demands, case.states, options)

    def without_margins(self, case: Case) -> Case:
        """The case in which light need keep no margin."""
        if self.bare is None:
            self.bare = self.light(with_margins(self.case.network, 0.0))
        network = with_margins(case.network, 0.0)
        return replace(case, network=network, lines=self.bare[0], lightpaths=self.bare[1])


def irreducible(case: Case, options: Options, light: Light) -> Irreducible:
    """The reasons of a case that has no plan. `options`: its time limit is for all designs that are tried together."""
    trial = _Trial(case, options, light, now_s() + options.time_limit_s, said=options.progress or (lambda _: None))
    every = tuple(members(case))

    def kept(some: frozenset[Member]) -> bool | None:
        gone = [member for member in every if member not in some]
        changed = without(case, gone, every)
        if any(member.kind == "margins" for member in gone):
            changed = trial.without_margins(changed)
        return trial.possible(changed)

    found = conflict(every, kept)
    changes = tuple(change for member in found.things for change in _changes(trial, member))
    couples = () if any(change.suffices for change in changes) else tuple(_couples(every, found.things, kept))
    ending = ending_by_traffic(case.network)
    return Irreducible(found.things, found.complete, changes, trial.tried, couples, ending)


def _couples(
    every: Sequence[Member], members: Sequence[Member], kept: Callable[[frozenset[Member]], bool | None]
) -> Iterator[Change]:
    """Two members without which the file has a plan, of those that are needed for there to be none.

    Where the rest has no plan without all of the first set, it holds a second one that shares nothing with it: then
    one of each, else two of the first.
    """
    rest = tuple(member for member in every if member not in members)
    apart = kept(frozenset(rest)) is False
    both = list(product(members, conflict(rest, kept).things) if apart else combinations(members, 2))
    answers = {couple: kept(frozenset(every) - set(couple)) for couple in both[:MOST_COUPLES]}
    for (one, other), enough in answers.items():
        if enough:
            yield Change(f"{_dropped(one)}, and {_dropped(other)}", suffices=True)
    if not any(answers.values()) and both:
        known = None not in answers.values() and len(both) <= MOST_COUPLES
        yield Change(f"any two of them together ({len(answers)} of {len(both)} tried)", False if known else None)


def _dropped(member: Member) -> str:
    """In words, the file without it."""
    return {
        "demand": f"without demand {member.name}",
        "pairs": f"any number of pairs on {member.name}",
        "latency": f"any latency limit of {member.name}",
        "margins": "without margins",
    }.get(member.kind) or _SAID[member.kind].format(member.name)


def of_traffic(network: Network, states: Sequence[State]) -> Irreducible:
    """The reasons why a job has no traffic that a network could carry: it, its targets, a promise that parts it."""
    job = next(job for job in network.jobs if isinstance(job_traffic(network, job, states), Infeasible))
    asked = Member("job", job, f"job {job}")
    targets = Member("targets", job, f"the targets of job {job}")
    failures = [state for state in states if not state.healthy]
    promises = {Member("state", one.name, f"the promise to survive the loss of {one.name}"): one for one in failures}
    tried = []

    def kept(some: frozenset[Member]) -> bool | None:
        tried.append(some)
        if asked not in some:
            return True
        left = [state for state in states if state.healthy or any(promises.get(one) == state for one in some)]
        changed = network if targets in some else without_targets(network, job)
        return not isinstance(job_traffic(changed, job, left), Infeasible)

    every = (asked, targets, *promises)
    found = conflict(every, kept)
    alone = frozenset(every)
    said = {"job": f"without job {job}", "targets": f"looser targets of job {job}"}
    changes = tuple(
        Change(said.get(one.kind, f"no promise to survive the loss of {one.name}"), kept(alone - {one}))
        for one in found.things
    )
    return Irreducible(found.things, found.complete, changes, len(tried))


def _changes(trial: _Trial, member: Member) -> Iterator[Change]:
    """The least change of a member that suffices, with everything else as it is in the file."""
    if member.kind == "pairs":
        yield _more_pairs(trial, member.name)
    elif member.kind == "demand":
        yield _less_rate(trial, member.name)
    elif member.kind == "latency":
        yield _more_latency(trial, member.name)
    elif member.kind == "margins":
        yield _less_margin(trial)
    else:
        yield Change(_SAID[member.kind].format(member.name), trial.possible(without(trial.case, [member], [member])))


def _more_pairs(trial: _Trial, fiber: str) -> Change:
    case = trial.case
    has = case.network.fibers[fiber].pairs

    def enough(more: int) -> bool | None:
        return trial.possible(replace(case, network=with_pairs(case.network, {fiber: more})))

    most, more = plenty(case), 1
    while more < most and not (found := enough(more)):
        if found is None:
            return Change(f"more pairs on {fiber}", None)
        more *= 2
    if more >= most:
        return Change(f"any number of pairs on {fiber}", enough(most))
    low, high = more // 2, more
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Change(f"{pairs_in_words(has + high)} on {fiber} in place of {has}", suffices=True)


def _less_rate(trial: _Trial, demand: str) -> Change:
    """The largest rate with which there is a plan, to three digits."""
    asked = next(whole_rate(one, trial.case.states) for one in trial.case.demands if one.id == demand)

    def enough(gbps: float) -> bool | None:
        return trial.possible(with_share(trial.case, demand, gbps / asked))

    none = enough(0.0)
    if not none:
        return Change(f"without demand {demand}", none)
    most = _furthest(enough, 0.0, asked)
    if most <= LITTLE * asked:
        return Change(f"without demand {demand}", suffices=True)
    return Change(f"{rate(most)} for {demand} in place of {rate(asked)}", suffices=True)


def _more_latency(trial: _Trial, demand: str) -> Change:
    """The least latency limit with which there is a plan, to three digits."""
    limit_ms = next(one.max_latency_ms for one in trial.case.demands if one.id == demand) or 0.0

    def enough(needed_ms: float) -> bool | None:
        return trial.possible(with_limit(trial.case, demand, needed_ms))

    far = enough(FURTHER * limit_ms)
    if not far:
        return Change(f"any latency limit of {demand} up to {significant(FURTHER * limit_ms)} ms", far)
    needed_ms = _furthest(enough, FURTHER * limit_ms, limit_ms)
    return Change(f"{demand} allows {significant(needed_ms)} ms in place of {limit_ms:g}", suffices=True)


def _less_margin(trial: _Trial) -> Change:
    """The largest share of all margins with which there is a plan, to three digits."""

    def enough(share: float) -> bool | None:
        network = with_margins(trial.case.network, share)
        lines, lightpaths = trial.light(network)
        return trial.possible(replace(trial.case, network=network, lines=lines, lightpaths=lightpaths))

    none = enough(0.0)
    if not none:
        return Change("without margins", none)
    share = _furthest(enough, 0.0, 1.0)
    policy = trial.case.network.policy
    less = [(name, share * getattr(policy, name)) for name in MARGINS if getattr(policy, name)]
    return Change(", ".join(f"{name}: {significant(value)}" for name, value in less), suffices=True)


def _furthest(enough: Callable[[float], bool | None], known: float, wanted: float) -> float:
    """By halving, the value nearest to the wanted one that is enough, as `known` is; to three digits, and still enough.

    What is not known counts as not enough.
    """
    good, bad = known, wanted
    for _ in range(HALVINGS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if enough(middle) else (good, middle)
    nearer = _to_digits(good, away=bad > good)
    return nearer if nearer != wanted and enough(nearer) else _to_digits(good, away=bad < good)


def _to_digits(value: float, *, away: bool) -> float:
    """Three significant digits, rounded up or down."""
    if value <= 0:
        return 0.0
    unit = 10.0 ** (floor(log10(value)) - 2)
    return (ceil(value / unit - 1e-9) if away else floor(value / unit + 1e-9)) * unit
