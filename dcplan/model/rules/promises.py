"""Codes 22x: what is promised to be survived, and by which scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity, did_you_mean
from dcplan.model.promises import KINDS, asking, scheme_of, schemes_in_use, survived, survived_by
from dcplan.model.rules.examples import adding, with_change
from dcplan.model.states import HEALTHY, MOST_STATES, states_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.model.job import Job
    from dcplan.model.network import Network
    from dcplan.model.schema import Demand
    from dcplan.model.source import Loc

_STORM = "failures: {storm: {fibers: [north]}}\n"

UNKNOWN = Rule(
    "DCP220",
    "unknown-promise",
    Severity.ERROR,
    "`survive` lists any one or two of a kind (any-fiber, any-two-sites, …) or names of the file's own `failures`."
    " A name that is neither promises nothing.",
    adding(_STORM + "policy: {survive: [strom]}\n"),
    adding(_STORM + "policy: {survive: [storm]}\n"),
)
MEMBER = Rule(
    "DCP221",
    "unknown-member",
    Severity.ERROR,
    "An entry of `failures` takes fibers, sites and shared-risk groups of the file; another name would fail nothing.",
    adding("failures: {storm: {fibers: [nroth]}}\npolicy: {survive: [storm]}\n"),
    adding(_STORM + "policy: {survive: [storm]}\n"),
)
TAKEN = Rule(
    "DCP222",
    "failure-name-taken",
    Severity.ERROR,
    "An entry of `failures` may not be called as a kind of failure is, nor `healthy`: `survive` and the tables of a"
    " plan could not tell them apart.",
    adding("failures: {any-fiber: {fibers: [north]}}\n"),
    adding(_STORM + "policy: {survive: [storm]}\n"),
)
TOO_MANY = Rule(
    "DCP223",
    "too-many-failures",
    Severity.ERROR,
    f"Every promised failure is looked at by itself; more than {MOST_STATES:,} are refused. Name those that matter"
    " under `failures`.",
    with_change(
        "fibers:\n",
        "fibers:\n"
        + "".join(
            f"  f{i}: {{ends: [papillion, lincoln], length_km: 58, type: g652d, pairs: 4, lease_usd_per_km_year: 1}}\n"
            for i in range(142)
        ),
        adding("policy: {survive: [any-two-fibers]}\n"),
    ),
    adding("policy: {survive: [any-fiber]}\n"),
)
TWO_WAYS = Rule(
    "DCP224",
    "two-ways-two-fibers",
    Severity.ERROR,
    "With scheme `one-plus-one` traffic goes two ways at once. One fiber lost on each of them takes both, so that no"
    " design survives any two fibers: promise less, or use scheme `reroute`.",
    adding("policy: {survive: [any-two-fibers], scheme: one-plus-one}\n"),
    adding("policy: {survive: [any-fiber], scheme: one-plus-one}\n"),
)

FEW_ROUTES = Rule(
    "DCP226",
    "few-routes-beside-relight",
    Severity.ERROR,
    "Where a job or demand is under scheme `relight`, those of scheme `reroute` or `one-plus-one` ride on wavelengths"
    " that no failure retunes. In such a mixture dcplan does not count routes: `max_paths` is refused.",
    adding("policy: {scheme: relight}\n", with_change("gbps: 400", "gbps: 400, scheme: one-plus-one, max_paths: 1")),
    adding("policy: {scheme: relight}\n", with_change("gbps: 400", "gbps: 400, scheme: one-plus-one")),
)
BESIDE_TWO_WAYS = Rule(
    "DCP227",
    "few-routes-beside-two-ways",
    Severity.ERROR,
    "Where a job or demand goes two ways at once (`one-plus-one`), dcplan counts the routes of such alone: `max_paths`"
    " of others, which are routed anew, is refused.",
    adding("policy: {scheme: one-plus-one}\n", with_change("gbps: 400", "gbps: 400, scheme: reroute, max_paths: 1")),
    adding("policy: {scheme: one-plus-one}\n", with_change("gbps: 400", "gbps: 400, max_paths: 1")),
)

RULES = (UNKNOWN, MEMBER, TAKEN, TOO_MANY, TWO_WAYS, FEW_ROUTES, BESIDE_TWO_WAYS)


def check(network: Network) -> list[Finding]:
    """Promises and members of failures that are not there, names that are taken, more failures than can be planned."""
    found = [*_promises(network), *_members(network), *_taken(network)]
    return found or [*_too_many(network), *_two_ways(network), *_few_routes(network), *_beside_two_ways(network)]


def lists(network: Network) -> Iterator[tuple[Loc, Sequence[str]]]:
    """Every list of promises in the file, and where it stands."""
    yield ("policy", "survive"), network.policy.survive
    for section, name, about in asking(network):
        if about.survive is not None:
            yield (section, name, "survive"), about.survive


def _promises(network: Network) -> Iterator[Finding]:
    own = network.topology.failures
    for loc, promises in lists(network):
        for i, promise in enumerate(promises):
            if promise not in KINDS and promise not in own:
                hint = did_you_mean(promise, [*KINDS, *own], f"write {', '.join(KINDS)}, or a name under `failures`")
                message = f"nothing is called `{promise}` that could be survived"
                yield Finding(UNKNOWN, network.document.locate((*loc, i)), message, hint)


def _members(network: Network) -> Iterator[Finding]:
    known = {
        "fibers": ("fiber or circuit", network.edges),
        "sites": ("site", network.sites),
        "shared_risk": ("shared-risk group", network.shared_risk_groups()),
    }
    for name, failure in network.topology.failures.items():
        for key, (what, there) in known.items():
            for i, member in enumerate(getattr(failure, key)):
                if member not in there:
                    span = network.document.locate(("failures", name, key, i))
                    hint = did_you_mean(member, there, f"failure `{name}` can only take what the file has")
                    yield Finding(MEMBER, span, f"there is no {what} `{member}`", hint)


def _taken(network: Network) -> Iterator[Finding]:
    for name in network.topology.failures:
        if name in KINDS or name == HEALTHY.name:
            span = network.document.locate(("failures", name), of_key=True)
            yield Finding(TAKEN, span, f"no failure of the file's own may be called `{name}`", "choose another name")


def _too_many(network: Network) -> Iterator[Finding]:
    count = states_in(network, survived(network))
    if count > MOST_STATES:
        loc = max(lists(network), key=lambda each: states_in(network, each[1]))[0]
        message = f"{count:,} failures are promised to be survived, {MOST_STATES:,} can be planned for"
        yield Finding(TOO_MANY, network.document.locate(loc), message, "name those that matter under `failures`")


def _two_ways(network: Network) -> Iterator[Finding]:
    if not network.edges:
        return
    for section, name, about in asking(network):
        if scheme_of(network, about) == "one-plus-one" and "any-two-fibers" in survived_by(network, about):
            mine: Loc = (section, name, "survive") if about.survive is not None else ("policy", "survive")
            span = network.document.locate((*mine, (about.survive or network.policy.survive).index("any-two-fibers")))
            message = f"{section[:-1]} `{name}` goes two ways, and losing one fiber of each takes both"
            yield Finding(TWO_WAYS, span, message, "use scheme `reroute` for it, or promise any-fiber")


def _few_routes(network: Network) -> Iterator[Finding]:
    schemes = schemes_in_use(network)
    others = [scheme for scheme in schemes if scheme != "relight"]
    for section, name, about in asking(network) if others and "relight" in schemes else ():
        if about.max_paths is not None:
            span = network.document.locate((section, name, "max_paths"))
            message = f"routes of {section[:-1]} `{name}` are counted where some are under relight, some {others[0]}"
            yield Finding(FEW_ROUTES, span, message, "leave `max_paths` out, or give all the same scheme")


def _beside_two_ways(network: Network) -> Iterator[Finding]:
    promised = [each for each in asking(network) if survived_by(network, each[2]) and _share(each[2]) > 0]
    two_ways = [one for one in promised if scheme_of(network, one[2]) == "one-plus-one"]
    for one in asking(network) if two_ways else ():
        section, name, about = one
        if about.max_paths is not None and one not in two_ways:
            span = network.document.locate((section, name, "max_paths"))
            other = f"{two_ways[0][0][:-1]} `{two_ways[0][1]}`"
            message = f"routes of {section[:-1]} `{name}` are counted, beside {other} on two ways"
            yield Finding(BESIDE_TWO_WAYS, span, message, "leave `max_paths` out, or give all the same scheme")


def _share(about: Job | Demand) -> float:
    """What is promised in a failure; of a job it is sized [%]."""
    return getattr(about, "under_failure_percent", 100.0)
