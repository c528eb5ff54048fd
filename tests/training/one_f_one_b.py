"""A discrete-event simulation of 1F1B with slow stage boundaries, independent of the product's formula."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Edge:
    """A slow boundary: stages before it, one-way latency, time a message occupies the link, extra microbatches."""

    upstream: int
    latency: float
    transfer: float
    extra: int


@dataclass
class _Stage:
    order: list[tuple[str, int]]
    inbox: set[tuple[str, int]] = field(default_factory=set)
    next: int = 0
    busy: bool = False


def _order(stage: int, p: int, m: int, edges: tuple[Edge, ...], late: int | None) -> list[tuple[str, int]]:
    warm = min(m, p - 1 - stage + sum(edge.extra for edge in edges if stage < edge.upstream))
    work = [("F", i) for i in range(warm)]
    for i in range(m):
        if warm + i < m:
            work.append(("F", warm + i))
        work.append(("B", i))
        if late is not None and i >= late:
            work.append(("W", i - late))
    return work + ([] if late is None else [("W", i) for i in range(max(0, m - late), m)])


def simulate(
    p: int,
    m: int,
    forward: float | tuple[float, ...],
    backward: float | tuple[float, ...],
    edges: tuple[Edge, ...] = (),
    weights: tuple[float, ...] = (),
) -> float:
    """Time until the last work ends; messages over an edge queue in each direction.

    weights: under ZB-H1, what gradients of weights take of `backward`; stage s puts them off by s microbatches.
    """
    forwards = forward if isinstance(forward, tuple) else (forward,) * p
    backwards = backward if isinstance(backward, tuple) else (backward,) * p
    inputs = tuple(b - w for b, w in zip(backwards, weights, strict=True)) if weights else backwards
    stages = [_Stage(_order(s, p, m, edges, s if weights else None)) for s in range(p)]
    stages[0].inbox = {("F", i) for i in range(m)}
    slow = {edge.upstream: edge for edge in edges}
    free = {(edge.upstream, way): 0.0 for edge in edges for way in "FB"}
    events: list[tuple[float, int, str, int, str, int]] = []
    count, now = 0, 0.0

    def push(when: float, what: str, stage: int, kind: str, i: int) -> None:
        nonlocal count
        count += 1
        heapq.heappush(events, (when, count, what, stage, kind, i))

    def start(s: int) -> None:
        stage = stages[s]
        if stage.busy or stage.next == len(stage.order) or stage.order[stage.next] not in stage.inbox:
            return
        kind, i = stage.order[stage.next]
        stage.busy = True
        push(now + {"F": forwards, "B": inputs, "W": weights}[kind][s], "done", s, kind, i)

    def send(s: int, kind: str, i: int) -> None:
        if kind == "W":
            return
        stages[s].inbox |= {("W", i)} if kind == "B" else set()
        target = s + 1 if kind == "F" else s - 1
        if kind == "F" and s == p - 1:
            stages[s].inbox.add(("B", i))
            return
        if not 0 <= target < p:
            return
        edge = slow.get(max(s, target))
        if edge is None:
            push(now, "arrive", target, kind, i)
            return
        key = (edge.upstream, kind)
        free[key] = max(free[key], now) + edge.transfer
        push(free[key] + edge.latency, "arrive", target, kind, i)

    start(0)
    while events:
        now, _, what, s, kind, i = heapq.heappop(events)
        if what == "done":
            stages[s].busy = False
            stages[s].next += 1
            send(s, kind, i)
        else:
            stages[s].inbox.add((kind, i))
        start(s)
    assert all(stage.next == len(stage.order) for stage in stages)
    return now
