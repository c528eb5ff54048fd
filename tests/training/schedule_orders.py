"""Pipeline schedules as orders of work on every device, run with given times: independent of the product's formulas.

Orders: Qi et al. 2024 (Zero Bubble), figures 2, 3 and 7, as AMD Primus writes them down; deepseek-ai/DualPipe, steps 1
to 8. A piece of work starts when its device is free and what it depends on has ended; a device takes it in its order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dcplan.training.pipeline.controlled import orders


@dataclass(frozen=True)
class Times:
    """One microbatch on one device: forward, input gradients, weight gradients; an overlapped forward and backward."""

    forward: float
    inputs: float
    weights: float
    both: float = 0.0

    @property
    def backward(self) -> float:
        return self.inputs + self.weights


@dataclass(frozen=True)
class Work:
    """F, B (input gradients), W (weight gradients) or D (whole backward) of a microbatch in a virtual stage.

    `with_`: a second piece that runs at the same time (DualPipe).
    """

    kind: str
    stage: int
    i: int
    way: int = 0
    with_: Work | None = None


@dataclass
class Run:
    """What came of an order."""

    start: list[float]
    end: list[float]
    most: list[float]
    """Most microbatches of the whole model part of a device whose activations it held."""
    done: dict[tuple[str, int, int, int], float] = field(default_factory=dict)

    @property
    def makespan(self) -> float:
        return max(self.end)

    @property
    def longest_span(self) -> float:
        """Where the optimizer of a stage need not wait for the other stages."""
        return max(end - start for start, end in zip(self.start, self.end, strict=True))


def run(orders: list[list[Work]], stages: int, times: Times | list[Times], parts: int) -> Run:
    """Runs the orders; `parts`: virtual stages that a device's part of the model is cut into.

    `times`: of a device, all alike, or of each stage; then a pair takes what its two pieces take.
    """

    def length(work: Work) -> float:
        each, share = (times[work.stage], 1) if isinstance(times, list) else (times, parts)
        whole = {"F": each.forward, "B": each.inputs, "W": each.weights, "D": each.backward}[work.kind]
        return whole / share

    def together(pieces: list[Work]) -> float:
        if len(pieces) == 1 or isinstance(times, list):
            return sum(map(length, pieces))
        return times.both

    result = Run([-1.0] * len(orders), [0.0] * len(orders), [0.0] * len(orders))
    done, at, held = result.done, [0] * len(orders), [0.0] * len(orders)

    def ready(work: Work) -> float | None:
        s, i, way = work.stage, work.i, work.way
        if work.kind == "F":
            return 0.0 if s == 0 else done.get(("F", s - 1, i, way))
        if work.kind == "W":
            return done.get(("B", s, i, way))
        return done.get(("F", s, i, way) if s == stages - 1 else ("B", s + 1, i, way))

    def finish(device: int, work: Work, when: float) -> None:
        kind = "B" if work.kind == "D" else work.kind
        done[kind, work.stage, work.i, work.way] = when
        held[device] += {"F": 1, "D": -1, "W": -1, "B": 0}[work.kind] / parts
        result.most[device] = max(result.most[device], held[device])

    progress = True
    while progress:
        progress = False
        for device, order in enumerate(orders):
            while at[device] < len(order):
                work = order[at[device]]
                pieces = [work] if work.with_ is None else [work, work.with_]
                moments = [ready(piece) for piece in pieces]
                if any(moment is None for moment in moments):
                    break
                start = max(result.end[device], *(moment or 0.0 for moment in moments))
                if result.start[device] < 0:
                    result.start[device] = start
                result.end[device] = start + together(pieces)
                for piece in pieces:
                    finish(device, piece, result.end[device])
                at[device] += 1
                progress = True
    assert all(at[device] == len(order) for device, order in enumerate(orders)), "the orders wait for each other"
    return result


def controlled(schedule: str, p: int, m: int) -> list[list[Work]]:
    """V-Half and V-Min as the product orders them; AMD Primus' own orders take as long, see test_schedules."""
    return [
        [Work(one.kind, 2 * p - 1 - device if one.piece else device, one.i) for one in order]
        for device, order in enumerate(orders(schedule, p, m))
    ]


def one_f_one_b(p: int, m: int) -> list[list[Work]]:
    orders = []
    for r in range(p):
        warm = min(m, p - 1 - r)
        order = [Work("F", r, i) for i in range(warm)]
        for i in range(m):
            if warm + i < m:
                order.append(Work("F", r, warm + i))
            order.append(Work("D", r, i))
        orders.append(order)
    return orders


def zb_h1(p: int, m: int) -> list[list[Work]]:
    """1F1B with weight gradients put off by as many microbatches as stages lie before: memory of the first stage."""
    orders = []
    for r in range(p):
        warm, late = min(m, p - 1 - r), r
        order = [Work("F", r, i) for i in range(warm)]
        for i in range(m):
            if warm + i < m:
                order.append(Work("F", r, warm + i))
            order.append(Work("B", r, i))
            if i >= late:
                order.append(Work("W", r, i - late))
        order += [Work("W", r, i) for i in range(max(0, m - late), m)]
        orders.append(order)
    return orders


def zb_h2(p: int, m: int) -> list[list[Work]]:
    """More forward passes before the first backward one: twice the memory, no bubble where all times are alike."""
    orders = []
    for r in range(p):
        warm, late = min(m, 2 * (p - 1 - r)), 2 * r
        order = [Work("F", r, i) for i in range(warm)]
        for i in range(m):
            if warm + i < m:
                order.append(Work("F", r, warm + i))
            order.append(Work("B", r, i))
            if i >= late:
                order.append(Work("W", r, i - late))
        order += [Work("W", r, i) for i in range(max(0, m - late), m)]
        orders.append(order)
    return orders


def zbv(p: int, m: int) -> list[list[Work]]:
    """Two chunks on a device, r and 2p-1-r. At least 2p-1 microbatches."""
    orders = []
    for r in range(p):
        near, far = r, 2 * p - 1 - r
        order: list[Work] = []
        n = {"F0": 0, "F1": 0, "B0": 0, "B1": 0, "W0": 0, "W1": 0}

        def put(what: str, order: list[Work] = order, n: dict[str, int] = n, at: tuple[int, int] = (near, far)) -> None:
            order.append(Work(what[0], at[int(what[1])], n[what]))
            n[what] += 1

        for _ in range(2 * (p - r) - 1):
            put("F0")
        for _ in range(r):
            put("F1")
            put("F0")
        for _ in range(p - r):
            put("F1")
            put("B1")
            put("W1")
        while n["F1"] < n["F0"] or n["F0"] < m:
            if n["F0"] < m:
                put("F0")
            for what in ("B0", "W0", "F1", "B1", "W1"):
                put(what)
        for _ in range(r):
            put("B0")
            put("B1")
        for _ in range(p - r):
            put("B0")
            put("W0")
        while n["W1"] < n["B1"]:
            put("W1")
        while n["W0"] < n["B0"]:
            put("W0")
        orders.append(order)
    return orders


def dualpipe(p: int, m: int) -> list[list[Work]]:
    """Microbatches enter at both ends; 2 p at least, an even number. Way 0 goes up the devices, way 1 down."""
    orders = []
    for rank in range(p):
        near = min(rank, p - 1 - rank)
        first = 0 if rank < p // 2 else 1
        order: list[Work] = []
        n: dict[tuple[str, int], int] = {}
        puts_off: list[Work] = []

        def piece(
            kind: str, phase: int, rank: int = rank, first: int = first, n: dict[tuple[str, int], int] = n
        ) -> Work:
            way = phase ^ first
            i = n.get((kind, phase), 0)
            n[kind, phase] = i + 1
            return Work({"F": "F", "B": "D"}[kind], rank if way == 0 else p - 1 - rank, i, way)

        def put(kind: str, phase: int, order: list[Work] = order) -> None:
            order.append(piece(kind, phase))

        def split(phase: int, order: list[Work] = order, puts_off: list[Work] = puts_off) -> None:
            work = piece("B", phase)
            order.append(Work("B", work.stage, work.i, work.way))
            puts_off.append(Work("W", work.stage, work.i, work.way))

        def pair(forward: int, order: list[Work] = order) -> None:
            one, other = piece("F", forward), piece("B", 1 - forward)
            order.append(Work(one.kind, one.stage, one.i, one.way, other))

        half = p // 2
        for _ in range((half - near - 1) * 2):
            put("F", 0)
        for _ in range(near + 1):
            put("F", 0)
            put("F", 1)
        for _ in range(half - near - 1):
            split(1)
            order.append(puts_off.pop(0))
            put("F", 1)
        for i in range(m // 2 - p + near + 1):
            if i == 0 and near == half - 1:
                put("F", 0)
                put("B", 1)
            else:
                pair(0)
            pair(1)
        for _ in range(half - near - 1):
            put("B", 1)
            pair(1)
        late = False
        for i in range(near + 1):
            late = late or (i == (near + 1) // 2 and near % 2 == 1)
            split(1) if late else put("B", 1)
            late = late or (i == (near + 1) // 2 and near % 2 == 0)
            split(0) if late else put("B", 0)
        for _ in range(half - near - 1):
            order.append(puts_off.pop(0))
            split(0)
        order += puts_off
        orders.append(order)
    return orders


def interleaved(p: int, v: int, m: int, *, paired: bool = False) -> list[list[Work]]:
    """Megatron-LM's interleaved 1F1B, p microbatches through a chunk at a time; m a multiple of p.

    `paired`: forward and backward passes of the steady state run together, one more is forwarded before
    (--overlap-moe-expert-parallel-comm).
    """
    orders = []
    total = m * v

    def piece(kind: str, k: int, rank: int) -> Work:
        chunk, i = k // p % v, k // (p * v) * p + k % p
        return Work(kind, (chunk if kind == "F" else v - 1 - chunk) * p + rank, i)

    for r in range(p):
        warm = min(total, 2 * (p - 1 - r) + (v - 1) * p + paired)
        order = [piece("F", k, r) for k in range(warm)]
        for k in range(total - warm):
            forward, backward = piece("F", warm + k, r), piece("D", k, r)
            if paired:
                order.append(Work(forward.kind, forward.stage, forward.i, 0, backward))
            else:
                order += [forward, backward]
        order += [piece("D", k, r) for k in range(total - warm, total)]
        orders.append(order)
    return orders
