"""Codes 31x: what hangs together, healthy and in each promised failure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity, did_you_mean, nearest
from dcplan.model.ending import crossable_sites, ending_sites, usable_circuits
from dcplan.model.graph import adjacency
from dcplan.model.promises import survived_by
from dcplan.model.rules.examples import GOOD, WITH_JOB, adding, with_change
from dcplan.model.split import forest, split
from dcplan.model.states import HEALTHY, promised_states, promised_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.diagnostics import Span
    from dcplan.model.graph import Adjacency
    from dcplan.model.job import Job
    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.model.schema import Demand
    from dcplan.model.source import Loc
    from dcplan.model.split import Forest, Part
    from dcplan.model.states import State

MOST_NAMED = 4
"""More needs of one failure are not worth reading, nor searching for in a large file."""
_THIRD = "  omaha: {lat: 41.26, lon: -95.94}\nfibers:"

CUT_OFF = Rule(
    "DCP310",
    "cut-off",
    Severity.ERROR,
    "A job or demand needs this site, and no fiber or circuit ends in it.",
    with_change("between: [papillion, lincoln]", "between: [papillion, omaha]", with_change("fibers:", _THIRD)),
    WITH_JOB,
)
IDLE = Rule(
    "DCP311",
    "idle-site",
    Severity.WARNING,
    "No fiber or circuit ends in this site and nothing needs it: it has no effect on the plan.",
    with_change("fibers:", _THIRD),
    WITH_JOB,
)
NO_PATH = Rule(
    "DCP312",
    "no-path",
    Severity.ERROR,
    "A job or demand needs sites between which no chain of fibers and circuits leads.",
    with_change(
        "between: [papillion, lincoln]",
        "between: [papillion, omaha]",
        with_change(
            "fibers:",
            "  omaha: {lat: 41.26, lon: -95.94}\n  ames: {lat: 42.03, lon: -93.62}\nfibers:\n"
            "  east: {ends: [omaha, ames], length_km: 260, type: g652d, pairs: 2, lease_usd_per_km_year: 400}",
        ),
    ),
    WITH_JOB,
)
PARTED = Rule(
    "DCP313",
    "parted-by-failure",
    Severity.ERROR,
    "`survive` promises that this failure is survived, but it leaves sites that need each other with no fiber"
    " between them. No design can keep the promise: it takes another fiber, or a smaller promise.",
    with_change(
        "length_km: 64, type: g652d,",
        "length_km: 64, type: g652d, shared_risk: [bridge],",
        with_change(
            "length_km: 58, type: g652d,",
            "length_km: 58, type: g652d, shared_risk: [bridge],",
            adding("policy: {survive: [any-shared-risk]}\n"),
        ),
    ),
    WITH_JOB,
)
LONELY = Rule(
    "DCP314",
    "lonely-shared-risk",
    Severity.WARNING,
    "A shared-risk group of one fiber or circuit says nothing that the fiber does not; most often its other members"
    " spell the name in another way.",
    with_change("length_km: 58, type: g652d,", "length_km: 58, type: g652d, shared_risk: [i80],"),
    WITH_JOB,
)
NOTHING = Rule(
    "DCP315",
    "nothing-to-plan",
    Severity.WARNING,
    "Without jobs and demands there is no traffic, and the cheapest network for no traffic is none.",
    with_change("demands:\n  checkpoints: {between: [papillion, lincoln], gbps: 400}\n", "", GOOD),
    GOOD,
)
_POP = "  ashland: {lat: 41.04, lon: -96.37, express: false, regenerate: false}\nfibers:"
_OVER = (
    "  east: {ends: [papillion, ashland], length_km: 22, type: g652d, pairs: 4, lease_usd_per_km_year: 400}\n"
    "  west: {ends: [ashland, lincoln], length_km: 36, type: g652d, pairs: 4, lease_usd_per_km_year: 400}\ndemands:"
)
WALL = Rule(
    "DCP316",
    "impassable-site",
    Severity.WARNING,
    "A site that lets no light pass (`express: false`) and starts no wavelength again (`regenerate: false`) is a wall:"
    " the fibers that end in it carry nothing, unless a job or demand of its own needs them.",
    with_change("demands:", _OVER, with_change("fibers:", _POP)),
    with_change("demands:", _OVER, with_change("fibers:", _POP.replace(", regenerate: false", ""))),
)

_LEASE = "circuits: {lease: {ends: [papillion, ashland], length_km: 25, modules: {wave: {gbps: 400, usd: 1e6}}}}\n"
DEAD_END = Rule(
    "DCP317",
    "circuit-to-nowhere",
    Severity.WARNING,
    "A circuit ends in routers at both sites. At a site with `regenerate: false` and no traffic of its own nothing"
    " ends, so the circuit carries nothing.",
    adding(_LEASE, with_change("demands:", _OVER, with_change("fibers:", _POP.replace("express: false, ", "")))),
    adding(_LEASE, with_change("demands:", _OVER, with_change("fibers:", _POP.replace(", regenerate: false", "")))),
)

RULES = (CUT_OFF, IDLE, NO_PATH, PARTED, LONELY, NOTHING, WALL, DEAD_END)


@dataclass(frozen=True, slots=True)
class Need:
    """Two sites that something in the file needs joined."""

    what: str
    a: SiteId
    b: SiteId
    in_states: frozenset[str]
    """Names of the states in which it is promised."""
    all_sites: frozenset[SiteId]
    """It is promised only while all these are alive."""


def needs(network: Network) -> list[Need]:
    """Which pairs of sites must hang together, for the jobs and then the demands, in file order."""
    states = promised_states(network)
    known: dict[tuple[str, ...], frozenset[str]] = {}

    def promised(about: Job | Demand) -> frozenset[str]:
        survive = survived_by(network, about)
        if survive not in known:
            known[survive] = promised_to(network, states, survive)
        return known[survive]

    found = []
    for name, job in network.jobs.items():
        first, *others = job.accelerators
        mine, sites = promised(job), frozenset(job.accelerators)
        found += [Need(f"job `{name}`", first, other, mine, sites) for other in others]
    for name, demand in network.topology.demands.items():
        a, b = demand.between
        mine = promised(demand) if demand.under_failure_percent > 0 else frozenset([HEALTHY.name])
        found.append(Need(f"demand `{name}`", a, b, mine, frozenset((a, b))))
    return found


def check(network: Network) -> list[Finding]:
    """Sites without fibers, needs without a path, promised failures that part the network, groups of one."""
    around = adjacency(network)
    walk = forest(around)
    wanted = needs(network)
    joined = [need for need in wanted if walk.root[need.a] == walk.root[need.b]]
    return [
        *_bare(network, around, wanted),
        *_apart(network, around, [need for need in wanted if walk.root[need.a] != walk.root[need.b]]),
        *_parted(network, around, walk, joined),
        *_lonely(network),
        *_nothing(network),
        *_walls(network, around),
        *_dead_ends(network),
    ]


def _bare(network: Network, around: Adjacency, wanted: Sequence[Need]) -> Iterator[Finding]:
    """Sites in which no fiber ends."""
    needed = {site: need.what for need in reversed(wanted) for site in (need.b, need.a)}
    working = {site for job in network.jobs.values() for site in job.accelerators}
    kinds = network.edge_kinds
    for site in network.sites:
        if around[site]:
            continue
        span = network.document.locate(("sites", site), of_key=True)
        if site in needed:
            message = f"no {kinds} ends in site `{site}`, which {needed[site]} needs"
            yield Finding(CUT_OFF, span, message, f"add a {kinds} with `{site}` among its `ends`")
        elif site not in working:
            yield Finding(IDLE, span, f"no {kinds} ends in site `{site}` and nothing needs it")


def _apart(network: Network, around: Adjacency, wanted: Sequence[Need]) -> Iterator[Finding]:
    """Needs between sites that no chain of fibers joins; those of a site without fibers are told there."""
    chain = network.edge_kinds.replace(" or", "s and") + "s"
    for need in wanted:
        if around[need.a] and around[need.b]:
            message = f"{need.what} needs `{need.a}` and `{need.b}`, but no chain of {chain} joins them"
            yield Finding(NO_PATH, _where(network, need), message)


def _where(network: Network, need: Need) -> Span:
    kind, name = need.what.rstrip("`").split(" `", 1)
    return network.document.locate(("jobs" if kind == "job" else "demands", name), of_key=True)


def _parted(network: Network, around: Adjacency, walk: Forest, promised: Sequence[Need]) -> Iterator[Finding]:
    """One finding per promised state in which needs are parted; of two that fail, those that neither parts alone."""
    told: list[tuple[State, Part]] = []
    for state in promised_states(network)[1:] if network.policy.parted == "refuse" else ():
        part = split(around, walk, state)
        if part is None:
            continue
        smaller = [(lost, other) for lost, other in told if len(state.members) > 1 and state.holds(lost)]
        fresh = (
            need
            for need in promised
            if _parts(state, part, need) and not any(_parts(lost, other, need) for lost, other in smaller)
        )
        broken = list(islice(fresh, MOST_NAMED + 1))
        if broken:
            told.append((state, part))
            yield _split(network, part, state, broken)


def _parts(state: State, part: Part, need: Need) -> bool:
    """A promised failure leaves the sites of a need alive and apart."""
    asked = state.name in need.in_states and state.sites.isdisjoint(need.all_sites)
    return asked and part(need.a) != part(need.b)


def _split(network: Network, part: Part, state: State, broken: Sequence[Need]) -> Finding:
    sides: dict[int, list[SiteId]] = {}
    for site in sorted({site for need in broken for site in (need.a, need.b)}):
        sides.setdefault(part(site), []).append(site)
    shown = " from ".join("{" + ", ".join(_some(side)) + "}" for side in sides.values())
    whose = list(dict.fromkeys(need.what for need in broken))
    verb = "needs" if len(whose) == 1 else "need"
    message = f"losing {_called(state)} parts {shown}, which {' and '.join(_some(whose))} {verb} joined"
    hint = f"add a {network.edge_kinds} between the two sides that does not share this risk, promise less in `survive`,"
    hint += " or promise nothing to those whom a failure parts (`policy.parted: excuse`)"
    return Finding(PARTED, _place(network, state), message, hint)


def _some(names: Sequence[str]) -> list[str]:
    """The names; of more than are worth reading, the first, and that there are others."""
    return list(names) if len(names) <= MOST_NAMED else [*names[: MOST_NAMED - 1], "others"]


def _called(state: State) -> str:
    return f"{state.kind} {' and '.join(f'`{name}`' for name in state.members)}"


def _place(network: Network, state: State) -> Span:
    """Where the first of what fails stands."""
    first = state.members[0]
    if state.kind.startswith("shared risk"):
        return network.document.locate(_in_group(network, network.shared_risk_groups()[first][0], first))
    section = {"failure": "failures", "site": "sites", "sites": "sites"}.get(state.kind) or _kind(network, first)
    return network.document.locate((section, first), of_key=True)


def _kind(network: Network, edge: FiberId) -> str:
    """The key under which it stands in the file."""
    return "circuits" if edge in network.circuits else "fibers"


def _in_group(network: Network, edge: FiberId, group: str) -> Loc:
    """Where a fiber or circuit names a shared-risk group."""
    return (_kind(network, edge), edge, "shared_risk", network.edges[edge].shared_risk.index(group))


def _lonely(network: Network) -> Iterator[Finding]:
    groups = network.shared_risk_groups()
    for group, members in groups.items():
        if len(members) == 1:
            (edge,) = members
            loc = _in_group(network, edge, group)
            others = [other for other in groups if other != group]
            hint = did_you_mean(group, others, "") if nearest(group, others) else None
            message = f"only {_kind(network, edge)[:-1]} `{edge}` is in the shared-risk group `{group}`"
            yield Finding(LONELY, network.document.locate(loc), message, hint and hint.strip())


def _walls(network: Network, around: Adjacency) -> Iterator[Finding]:
    crossable = crossable_sites(network)
    for site in network.sites:
        if site not in crossable and around[site]:
            span = network.document.locate(("sites", site, "regenerate"), of_key=True)
            message = f"nothing crosses site `{site}`: what ends there carries nothing"
            yield Finding(WALL, span, message, "take `express: false` or `regenerate: false` away")


def _dead_ends(network: Network) -> Iterator[Finding]:
    usable, ending = usable_circuits(network), ending_sites(network)
    for name, circuit in network.circuits.items():
        if name not in usable:
            site = next(end for end in circuit.ends if end not in ending)
            span = network.document.locate(("circuits", name), of_key=True)
            hint = f"take `regenerate: false` away from `{site}`, or leave the circuit out"
            yield Finding(DEAD_END, span, f"circuit `{name}` carries nothing: no traffic ends at `{site}`", hint)


def _nothing(network: Network) -> Iterator[Finding]:
    if not network.jobs and not network.topology.demands:
        span = network.document.locate(("name",), of_key=True)
        yield Finding(NOTHING, span, "there are no jobs and no demands: no traffic to plan for")
