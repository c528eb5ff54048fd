"""Codes 47x: transport between sites that cannot work over the distance, and keys of it that change nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.graph import STRETCH, adjacency, fastest
from dcplan.model.network import pair
from dcplan.model.rules.examples import adding
from dcplan.model.states import HEALTHY, single_failures
from dcplan.training.across.patterns import KINDS, Collective
from dcplan.training.plans.pins import merged
from dcplan.training.plans.search import named
from dcplan.training.plans.shortlist import shortlist
from dcplan.training.transport.advice import too_slow
from dcplan.training.transport.lossless import headroom_mb, reach_km, slowed_to
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network, Pair, Route
    from dcplan.model.source import Loc
    from dcplan.model.states import State
    from dcplan.model.transport import Transport
    from dcplan.training.step import Workload


def _transport(keys: str) -> str:
    plan = "    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}}\n"
    return adding(f"{plan}    transport: {{{keys}}}\n")


BUFFER = Rule(
    "DCP470",
    "lossless-beyond-buffer",
    Severity.WARNING,
    "A switch port must hold all that arrives until its pause takes hold, a round trip at full rate. Where the buffer"
    " holds less, a lossless port can only run as slowly as it does hold.",
    _transport("lossless: true, switch_buffer_mb: 16"),
    _transport("lossless: true, switch_buffer_mb: 64"),
)
FLOWS = Rule(
    "DCP471",
    "flows-carry-too-little",
    Severity.WARNING,
    "A flow carries at most its window in a round trip, and what its NIC does, whatever is lit. Here no parallelism"
    " plan, or not the named one, meets its target at the latency that rates are sized for, that of the shortest route"
    " after the worst failure and half as much again, and does with larger windows or more flows.",
    _transport("flows: 4096, window_mb: 0.05"),
    _transport("flows: 4096, window_mb: 1"),
)
NO_EFFECT = Rule(
    "DCP472",
    "transport-key-without-effect",
    Severity.WARNING,
    "The key is valid but, with the rest of the transport as it is, changes nothing. What was meant by it will not"
    " happen.",
    _transport("protocol: tcp, ec_parity: 4"),
    _transport("protocol: ec, ec_parity: 4"),
)

RULES: tuple[Rule, ...] = (BUFFER, FLOWS, NO_EFFECT)
NEED_PAUSES = ("switch_buffer_mb", "port_gbps", "lossless_priorities")


def check(network: Network, at: Loc, job: Job, load: Workload) -> Iterator[Finding]:
    """The transport of one job whose accelerators and plans are right."""
    said = job.transport
    if said is None:
        return
    where = (*at, "transport")
    for key, why in _idle(said, several=len({share.site for share in load.shares}) > 1):
        span = network.document.locate((*where, key) if key else where, of_key=True)
        yield Finding(NO_EFFECT, span, f"`{key or 'transport'}` has no effect: {why}", "leave it out")
    near_ms = shortest_ms(network, load, (HEALTHY,))
    if said.pauses and said.switch_buffer_mb is not None and near_ms:
        yield from _buffer(network, where, job, said, near_ms)
    if near_ms:
        yield from _flows(network, where, job, load)


def shortest_ms(network: Network, load: Workload, states: Iterable[State]) -> dict[Pair, float]:
    """One-way latency of the fastest fiber route between every two sites of a job, in the worst state [ms].

    Of those that are joined, over the states that leave them so.
    """
    around, found = adjacency(network), dict[tuple[str, str], float]()
    latency_ms = {edge: network.edge_latency_ms(edge) for edge in network.edges}
    best: dict[Pair, tuple[float, Route]] = {}
    for state in states:
        for a, b in combinations(dict.fromkeys(share.site for share in load.shares), 2):
            ends = pair(a, b)
            if ends in best and not state.breaks(best[ends][1]):
                continue
            route = fastest(around, latency_ms, a, [b], state).get(b)
            if route:
                best.setdefault(ends, route)
                found[ends] = max(found.get(ends, 0.0), route[0])
    return found


def _idle(said: Transport, *, several: bool) -> Iterator[tuple[str, str]]:
    """Keys that are given and change nothing; the object itself by an empty name."""
    if not said.said:
        yield "", "no key of it is given"
        return
    if not several:
        yield "", "the job stays in one site"
        return
    coded, given = said.protocol == "ec", said.model_fields_set
    reasons = {
        "rto_ms": None if said.packet_loss else "packet_loss is 0",
        "ec_data": None if coded else f"protocol is {said.protocol}",
        "ec_parity": None if coded else f"protocol is {said.protocol}",
        **dict.fromkeys(NEED_PAUSES, None if said.pauses else "no port is lossless"),
    }
    if said.lossless and not said.pauses:
        reasons["lossless"] = f"{said.protocol} takes losses and sends no pause"
    elif said.lossless and said.switch_buffer_mb is None:
        reasons["lossless"] = "without switch_buffer_mb any headroom is there; it is only printed"
    for key, why in reasons.items():
        if key in given and why:
            yield key, why


def _buffer(network: Network, where: Loc, job: Job, said: Transport, near_ms: dict[Pair, float]) -> Iterator[Finding]:
    """Pairs of sites beyond the buffer; of a ring or tree, which joins only some, where all are."""
    reach = reach_km(said) or 0.0
    beyond = {ends: ms for ends, ms in near_ms.items() if slowed_to(said, 2 * ms / 1e3) < 1}
    if not beyond or (job.collective != "direct" and len(beyond) < len(near_ms)):
        return
    a, b = min(beyond, key=lambda ends: (beyond[ends], ends))
    rtt_s = 2 * beyond[a, b] / 1e3
    message = (
        f"{said.switch_buffer_mb:g} MB keep a port of {said.port_gbps:g} Gb/s lossless over {significant(reach)} km of "
        f"fiber; {a} – {b} has a round trip of {significant(1e3 * rtt_s)} ms at least, so it runs at "
        f"{significant(100 * slowed_to(said, rtt_s))} % of its rate"
    )
    others = len(beyond) - 1
    hint = f"{significant(headroom_mb(said, rtt_s))} MB would do, or a protocol that takes losses (roce-sr, ec)"
    more = f"; {others} other pair{'s' if others > 1 else ''} of sites too" if others else ""
    yield Finding(BUFFER, network.document.locate((*where, "lossless"), of_key=True), message + more, hint)


def _flows(network: Network, where: Loc, job: Job, load: Workload) -> Iterator[Finding]:
    """All plans of a job together; where one of them does, each that the file names."""
    if load.transport is None or (load.transport.window_mb is None and load.transport.flows is None):
        return
    far_ms = shortest_ms(network, load, (HEALTHY, *single_failures(network)))
    sized_ms = {ends: STRETCH * ms for ends, ms in far_ms.items()}
    kind = job.collective if job.collective in KINDS else "direct"
    load = replace(load, collective=Collective(kind, tuple(sorted(sized_ms.items()))))
    if job.plans == "auto":
        plans = shortlist(load, merged([job.pin]), 0.0, job.allow_sync, job.use).layouts
    else:
        plans = named(load, job)[0]
    wanted = [layout for layout in plans if job.use in (None, layout.name)]
    for some in (wanted, *([each] for each in wanted if job.plans != "auto" and len(wanted) > 1)):
        slow = too_slow(load, some, sized_ms, job.targets.max_overhead_percent)
        if slow:
            key = slow.key if getattr(load.transport, slow.key) is not None else "window_mb"
            span = network.document.locate((*where, key), of_key=True)
            yield Finding(FLOWS, span, slow.in_words, "larger windows, or more flows")
            if some is wanted:
                return
