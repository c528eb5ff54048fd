"""V-Half and V-Min: the order of work in pipelines that hold about a half and a third of the activations of 1F1B.

The model is folded in two: each device has a piece of either half, the first device the first and the last one. A
building block says in which slots a device works on a microbatch, six for each; the blocks of all microbatches stand
side by side, weight gradients in the slots that are left, and all of it then moves to the front as far as memory lets
it. Frameworks make this order once, for passes that all take as long, and follow it whatever they take.

Source: Qi, Wan, Amar, Lin: Pipeline Parallelism with Controllable Memory (NeurIPS 2024), sections 3 and 4; blocks and
the way to the front as in sail-sg/zero-bubble and AMD Primus (zbv_greedy).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

SETTLED = 3
"""Times the devices of a pipeline: of more microbatches each takes as long as the ones before."""
SLOTS = 6
"""Of a microbatch on a device: two forward passes, two of input gradients, two of weight gradients."""
KINDS = "FBW"
"""Forward pass, gradients of inputs, gradients of weights."""
HOLDS = {"F": 1, "B": 0, "W": -1}
"""Half microbatches whose activations a device holds after a piece of work, over those before."""


class Work(NamedTuple):
    """A piece of work of a device."""

    kind: str
    """F forward, B gradients of inputs, W gradients of weights."""
    piece: int
    """0: the device's piece of the first half of the model, 1: of the second."""
    i: int
    """Microbatch."""


def before(p: int, device: int, work: Work) -> tuple[int, Work] | None:
    """What a piece of work waits for, and on which device; nothing for the first forward pass of a microbatch."""
    kind, piece, i = work
    if kind == "W":
        return device, Work("B", piece, i)
    down = (kind == "F") == (piece == 0)  # the first half forward, and the second backward
    if down and device == 0:
        return None if kind == "F" else (0, Work("F", 1, i))
    if not down and device == p - 1:
        return p - 1, Work("F", 0, i) if kind == "F" else Work("B", 1, i)
    return (device - 1 if down else device + 1), work


@lru_cache(maxsize=256)
def orders(schedule: str, p: int, m: int) -> tuple[tuple[Work, ...], ...]:
    """What each device does, first to last."""
    devices = [_Device(schedule, p, m, device) for device in range(p)]
    most = max(max(device.held) for device in devices)
    end = max(max(device.at) for device in devices)
    for slot in range(end + 1):
        for d, device in enumerate(devices):
            if slot in device.at:
                device.move(slot, _earliest(devices, d, device.at[slot]), most)
    late: list[list[Work]] = [[] for _ in devices]
    for slot in range(end + 1):
        for d, device in enumerate(devices):
            work = device.at.get(slot)
            if work is None or work not in device.last:
                continue
            if work.kind == "W":
                late[d].append(device.at.pop(slot))
            else:
                device.move(slot, _earliest(devices, d, work), None)
    for d, device in enumerate(devices):
        for work in late[d]:
            device.put(work, _earliest(devices, d, work))
    return tuple(tuple(device.at[slot] for slot in sorted(device.at)) for device in devices)


@lru_cache(maxsize=256)
def held(schedule: str, p: int, m: int) -> int:
    """Most half microbatches whose activations a device holds."""
    most = 0
    for order in orders(schedule, p, m):
        now = 0
        for work in order:
            now += HOLDS[work.kind]
            most = max(most, now)
    return most


def block(schedule: str, p: int, device: int) -> dict[tuple[str, int], int]:
    """Kind and piece of the work on the first microbatch, without weight gradients -> its slot."""
    if schedule == "v-half":
        gap = 0 if p % 2 else 3
        slots = (2 * device, 3 * p - device - 2, 3 * p + gap + 2 * device - 1, 6 * p + gap - device - 2)
    else:
        gap = 0 if p % 3 else 2
        slots = (device, 2 * p - device - 1, 2 * p + gap + device, 4 * p + gap - device - 1)
    return dict(zip((("F", 0), ("F", 1), ("B", 1), ("B", 0)), slots, strict=True))


class _Device:
    """Its slots."""

    def __init__(self, schedule: str, p: int, m: int, device: int) -> None:
        mine = block(schedule, p, device)
        self.at = {slot + SLOTS * i: Work(*work, i) for work, slot in mine.items() for i in range(m)}
        self.held: list[int] = []
        """After each slot."""
        self.last = set[Work]()
        """Work after its last forward pass."""
        left, now, ends = list[Work](), 0, False
        for slot in range(max(self.at) + SLOTS):
            if slot not in self.at and left:
                self.at[slot] = left.pop(0)
            work = self.at.get(slot)
            if work:
                now += HOLDS[work.kind]
                if work.kind == "B":
                    left.append(Work("W", work.piece, work.i))
                if ends:
                    self.last.add(work)
                ends = ends or work == Work("F", 1, m - 1)
            self.held.append(now)
        self.slot = {work: slot for slot, work in self.at.items()}

    def move(self, slot: int, earliest: int, most: int | None) -> None:
        """What stands in a slot to the first free one since `earliest` in which no more than `most` is ever held."""
        change = HOLDS[self.at[slot].kind]
        if most is not None:
            full = (to for to in range(slot - 1, earliest - 1, -1) if self.held[to] + change > most)
            earliest = next(full, earliest - 1) + 1
        to = next((to for to in range(earliest, slot) if to not in self.at), slot)
        if to == slot:
            return
        if most is not None:
            self.held[to:slot] = [now + change for now in self.held[to:slot]]
        work = self.at.pop(slot)
        self.at[to], self.slot[work] = work, to

    def put(self, work: Work, earliest: int) -> None:
        """A piece of work into the first free slot."""
        while earliest in self.at:
            earliest += 1
        self.at[earliest], self.slot[work] = work, earliest


def _earliest(devices: list[_Device], d: int, work: Work) -> int:
    """The slot behind what a piece of work waits for, and behind the same work on the microbatch before."""
    waits = list[int]()
    found = before(len(devices), d, work)
    if found:
        waits.append(devices[found[0]].slot[found[1]])
    if work.i:
        waits.append(devices[d].slot[work._replace(i=work.i - 1)])
    return max(waits, default=-1) + 1


@lru_cache(maxsize=4096)
def bubble_s(
    schedule: str, p: int, m: int, forward_s: float, inputs_s: float, weights_s: float, hop_s: float = 0.0
) -> float:
    """Idle time of a device from the first work of any to the last [s]; times of one microbatch on a device.

    hop_s: from one device to the next, which nothing hides, for the blocks leave no slot for it [s]. The order is run.
    Where passes do not all take as long, a part of it comes back with every microbatch: beyond 3 p microbatches it
    grows by as much with each as on average over the p before.
    """
    if m <= SETTLED * p:
        return _span_s(schedule, p, m, (forward_s, inputs_s, weights_s), hop_s) - m * (forward_s + inputs_s + weights_s)
    near, far = (bubble_s(schedule, p, k * p, forward_s, inputs_s, weights_s, hop_s) for k in (SETTLED - 1, SETTLED))
    return far + (m - SETTLED * p) * (far - near) / p


def _span_s(schedule: str, p: int, m: int, times_s: tuple[float, float, float], hop_s: float) -> float:
    """Time from the first work to the last; a piece takes half of what a microbatch takes on a device [s]."""
    took = tuple(whole_s / 2 for whole_s in times_s)
    ends, free = list[float](), [0.0] * p
    for d, kind, waits, elsewhere in _sequence(schedule, p, m):
        start = free[d]
        if waits is not None:
            ready = ends[waits] + hop_s if elsewhere else ends[waits]
            start = ready if ready > start else start  # noqa: FURB136  no call: this runs six times p m
        free[d] = end = start + took[kind]
        ends.append(end)
    return max(free)


class _Step(NamedTuple):
    """A piece of work where all of it is done one by one."""

    device: int
    kind: int
    """Its place in KINDS."""
    waits: int | None
    """The number of what it waits for."""
    elsewhere: bool
    """That is done on another device."""


@lru_cache(maxsize=32)
def _sequence(schedule: str, p: int, m: int) -> tuple[_Step, ...]:
    """All work, each behind what it waits for, whatever the times."""
    work = orders(schedule, p, m)
    numbers, at, found = dict[tuple[int, Work], int](), [0] * p, list[_Step]()
    moved = True
    while moved:
        moved = False
        for d in range(p):
            while at[d] < len(work[d]):
                one = work[d][at[d]]
                waits = before(p, d, one)
                if waits and waits not in numbers:
                    break
                numbers[d, one] = len(found)
                elsewhere = waits is not None and waits[0] != d
                found.append(_Step(d, KINDS.index(one.kind), numbers[waits] if waits else None, elsewhere))
                at[d] += 1
                moved = True
    return tuple(found)
