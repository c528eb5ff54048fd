"""Terms of the work inside a site: compute and its collectives, the pipeline, the optimizer, what is fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.training.across.sync import local_parameters
from dcplan.training.compute import attention_core_s, costs, ring_exchange_s
from dcplan.training.explain.quantities import NOTHING, Quantity, Worked, number, seconds, used
from dcplan.training.outer.exchange import traffic_bytes
from dcplan.training.passes import pairs_of
from dcplan.training.pipeline.one_f_one_b import span_s
from dcplan.training.pipeline.schedules import CONTROLLED, Times, bubble_s, copies, splits_backward
from dcplan.training.pipeline.stages import hops_s, idle_s, pace_of, passes_of
from dcplan.training.replica import transfer_bytes
from dcplan.training.site.collectives import group
from dcplan.training.site.offload import STEP_BYTES, UP_BYTES
from dcplan.training.state import adam_traffic, gradient_bytes

if TYPE_CHECKING:
    from dcplan.training.explain.picture import Picture

BUBBLES = {
    "1f1b": "(T − t) / v",
    "zb-h1": "x × (f + b) + (p − 1 − x) × max(f, b, f + b − w)",
    "zb-h2": "(p − 1) × max(0, f + b − 2 × w, b − f)",
    "zbv": "max((p − 1) × b / 2, (p − 1) × (b − w), (max(f, b) + (p − 2) × w) / 2, "
    "(p − 1.5) × f − (p − 2) × b / 2, (p − 1.5) × f + b / 2 − (p − 1) × w)",
    "v-half": "T − m × (f + b + w)",
    "v-min": "T − m × (f + b + w)",
    "dualpipe": "max((p − 2) × f, (p / 2 − 2) × f + (p / 2 − 1) × b) + (p / 2 − 1) × max(0, b − w)",
}
"""Schedule -> idle time of a device; see `schedules.bubble_s`."""


def compute(of: Picture) -> Worked:
    """All microbatches of the fullest stage."""
    return _repeated(of, "compute_s", "kernels")


def tensor(of: Picture) -> Worked:
    """Tensor and sequence parallel collectives of all microbatches."""
    return _repeated(of, "tp_s", "collectives")


def context(of: Picture) -> Worked:
    """Context parallel exchange of all microbatches, or what hides it behind the attention of each layer."""
    worked, tile = _repeated(of, "cp_s", "exposed exchange"), of.layout.tile
    if worked is not NOTHING or tile.cp == 1:
        return worked
    box = of.boxes[of.fast]
    forward, backward = attention_core_s(of.workload, tile, box)
    inputs = (
        seconds("x", ring_exchange_s(of.workload, tile, box), "keys and values once round the ring, one layer"),
        seconds("a", forward, "attention of that layer, forward, which hides them"),
        seconds("c", backward, "attention backward, which hides them and their gradients"),
    )
    return Worked("max(0, x − a) + max(0, 2 × x − c)", inputs)


def expert(of: Picture) -> Worked:
    """Expert all-to-alls of all microbatches, less what overlapped pairs of passes hide."""
    whole, pairs = _repeated(of, "ep_s", "all-to-alls"), pairs_of(of.mine, of.stage.forward + of.stage.backward)
    if not pairs.many:
        return whole
    hidden = (
        number("q", pairs.many, "pairs of passes that run at the same time"),
        seconds("s", pairs.hidden_s, "hidden in each of them"),
    )
    return Worked(f"{whole.formula} − q × s", (*whole.inputs, *hidden))


def host(of: Picture) -> Worked:
    """Waiting for the host in passes that run alone, and in overlapped pairs of them."""
    forward, backward = of.stage.forward, of.stage.backward
    pairs = pairs_of(of.mine, forward + backward)
    if not (forward.waits_s or backward.waits_s or pairs.many * pairs.waits_s):
        return NOTHING
    alone = "max(0, h − f) + max(0, i − b)"
    inputs = [
        number("m", of.mine.microbatches, "microbatches of a rank in a step"),
        seconds("h", forward.host_s, "the host launches the forward pass of one microbatch, fullest stage"),
        seconds("f", forward.device_s, "the accelerator works through it"),
        seconds("i", backward.host_s, "the host launches the backward pass"),
        seconds("b", backward.device_s, "the accelerator works through it"),
    ]
    if not pairs.many:
        return Worked(f"m × ({alone})", tuple(inputs))
    inputs += [
        number("q", pairs.many, "pairs of passes that run at the same time"),
        seconds("s", pairs.hidden_s, "expert exchange hidden in each of them"),
    ]
    return Worked(f"(m − q) × ({alone}) + q × max(0, h + i − f − b + s)", tuple(inputs))


def _repeated(of: Picture, part: str, what: str) -> Worked:
    """M × (layers × what each takes, forward and backward)."""
    forward, backward = getattr(of.stage.forward, part), getattr(of.stage.backward, part)
    if not forward and not backward:
        return NOTHING
    batches = number("m", of.mine.microbatches, "microbatches of a rank in a step")
    if of.holds is None:
        inputs = (
            batches,
            seconds("f", forward, f"forward pass of one microbatch, {what}, fullest stage"),
            seconds("b", backward, f"backward pass, {what}, recompute included"),
        )
        return Worked("m × (f + b)", inputs)
    takes = costs(of.workload, of.boxes[of.fast], of.layout.tile)
    kinds = (
        (of.holds.dense, takes.dense, "n", "layers without experts", "f", "b", "such a layer"),
        (of.holds.moe, takes.moe, "o", "layers with experts", "g", "c", "such a layer"),
        (of.holds.embedding, takes.embedding, "e", "embedding", "h", "d", "it"),
        (of.holds.head, takes.head, "l", "logits", "i", "j", "them"),
    )
    parts, inputs_ = list[str](), [batches]
    for count, cost, often, name, there, back, one in kinds:
        each = getattr(cost.forward, part), getattr(cost.backward, part)
        if count and any(each):
            parts.append(f"{often} × ({there} + {back})")
            inputs_ += [
                number(often, count, f"{name} of the fullest stage"),
                seconds(there, each[0], f"{what} of one microbatch in {one}, forward"),
                seconds(back, each[1], "the same backward, recompute included"),
            ]
    copied = copies(of.mine.schedule)
    inside = f"({' + '.join(parts)})" if len(parts) > 1 else parts[0]
    if copied > 1:
        inputs_.append(number("k", copied, "copies of each stage, which share its microbatches"))
        inside += " / k"
    return Worked(f"m × {inside}", tuple(inputs_))


def transfers(of: Picture) -> Worked:
    """Transfers over stage boundaries inside sites."""
    layout = of.mine
    inner = layout.pp - 1 - len(of.boundaries)
    if inner <= 0:
        return NOTHING
    groups = [group(box, 2, layout.tp * layout.cp * place.ranks) for place, box in zip(of.where, of.boxes, strict=True)]
    size = transfer_bytes(of.workload, layout)
    hidden = [splits_backward(layout.schedule) or (box.modern and layout.virtual_stages > 1) for box in of.boxes]
    i = of.fast
    if of.placed:
        i = max(range(len(groups)), key=lambda j: (size / groups[j].ring + groups[j].hop_s) * (1 if hidden[j] else 2))
    inputs = [
        number("i", inner, "stage boundaries inside sites"),
        Quantity("z", size, "bytes", "one microbatch of one accelerator: 2 b s h / (c t)"),
        Quantity("w", groups[i].ring, "bytes/s", "between neighbouring stages"),
        seconds("a", groups[i].hop_s, "latency of one transfer"),
    ]
    if layout.schedule in CONTROLLED:
        hop_s = size / groups[i].ring + groups[i].hop_s
        pace = pace_of(of.kinds, layout.pp)
        idle = idle_s(layout, pace)
        way = f"its order of work, each way to another device {1e3 * hop_s:.3g} ms: idle time of a device"
        longer = seconds("T", idle + hops_s(layout, pace, hop_s), way)
        return Worked("T − t", (longer, seconds("t", idle, "the same where no way takes time")))
    if hidden[i]:
        return Worked("2 × i × (z / w + a)", tuple(inputs))
    inputs += [
        number("m", layout.microbatches, "microbatches"),
        number("v", layout.virtual_stages, "virtual stages"),
    ]
    return Worked("2 × (i − 1 + m × v) × (z / w + a)", tuple(inputs))


def bubble(of: Picture) -> Worked:
    """Idle time of the slowest stage."""
    layout, inputs = of.mine, tuple[Quantity, ...]()
    p, m = layout.pp, layout.microbatches
    if of.placed:
        inputs = (
            seconds("T", _span_s(of, slow=False), "the schedule to the last microbatch, boundaries take no time"),
            number("m", m, "microbatches"),
            seconds("t", of.slowest.total_s, "one microbatch in the slowest stage"),
        )
        return Worked("T − m × t", inputs)
    if p == 1:
        return NOTHING
    whole_s = sum(stage.total_s * stage.stages for stage in of.kinds)
    if layout.schedule == "1f1b":
        inputs = (
            seconds("T", whole_s, "one microbatch in all stages, forward and backward"),
            seconds("t", of.stage.total_s, "one microbatch in the slowest stage"),
            number("v", layout.virtual_stages, "virtual stages"),
        )
        return Worked(BUBBLES["1f1b"], inputs)
    forward = sum(stage.forward.total_s * stage.stages for stage in of.kinds) - of.stage.forward.total_s
    weights = sum(stage.weights_s * stage.stages for stage in of.kinds) - of.stage.weights_s
    others = whole_s - of.stage.total_s
    each = "one microbatch, mean of all stages but the slowest"
    inputs = (
        number("p", p, "stages"),
        seconds("f", forward / (p - 1), f"forward, {each}"),
        seconds("b", (others - forward - weights) / (p - 1), f"gradients of inputs, {each}"),
        seconds("w", weights / (p - 1), f"gradients of weights, {each}"),
    )
    if layout.schedule in CONTROLLED:
        found = Times(*(one.value for one in inputs[1:]))
        whole_s = bubble_s(layout.schedule, p, m, found) + m * (found.forward_s + found.inputs_s + found.weights_s)
        order = "the order of work of the schedule, from its first piece to its last"
        inputs = (*inputs[1:], number("m", m, "microbatches"), seconds("T", whole_s, order))
    if layout.schedule == "zb-h1":
        inputs = (*inputs, number("x", min(p - 1, max(0, p - m)), "microbatches that lack to fill the pipeline"))
    return Worked(BUBBLES[layout.schedule], inputs)


def cross_pipeline(of: Picture) -> Worked:
    """Delay of stage boundaries between sites."""
    if not of.placed:
        return NOTHING
    inputs = [
        seconds("T", _span_s(of, slow=True), "the schedule to the last microbatch, with these boundaries"),
        seconds("t", _span_s(of, slow=False), "the same with boundaries that take no time"),
    ]
    for i, each in enumerate(of.boundaries, 1):
        name = f"boundary {i}, behind stage {each.upstream}"
        inputs += [
            seconds(f"d{i}", each.delay_s, f"{name}: latency and transfer of a microbatch, one way"),
            seconds(f"x{i}", each.transfer_s, f"{name}: transfer alone"),
            number(f"e{i}", each.extra, f"{name}: extra microbatches in flight"),
        ]
    return Worked("T − t", tuple(inputs))


def _span_s(of: Picture, *, slow: bool) -> float:
    forward_s, backward_s, weights_s = passes_of(of.layout, of.placed)
    quick = tuple(replace(one, delay_s=0.0, transfer_s=0.0) for one in of.boundaries)
    return span_s(forward_s, backward_s, of.boundaries if slow else quick, of.layout.microbatches, weights_s)


def optimizer(of: Picture) -> Worked:
    """Adam, what of it runs in the host at the same time, and the mean of outer optimizer steps."""
    layout = of.layout
    slow = max(range(len(of.replicas)), key=lambda i: of.replicas[i].terms.optimizer_s) if of.placed else of.fast
    box = of.boxes[slow]
    shared, experts = of.held[slow] or local_parameters(of.workload, layout)
    shards = layout.shard_size * layout.cp * copies(layout.schedule) if layout.sharding else 1
    inputs = [
        Quantity("k", adam_traffic(layout), "bytes", "Adam through memory, per parameter"),
        number("A", shared, "parameters of one accelerator that every token meets"),
        number("s", shards, "accelerators that share their optimizer state"),
        number("X", experts, "parameters of one accelerator in routed experts"),
        number("e", max(1, shards // layout.ep), "accelerators that share those"),
        Quantity("w", box.hbm, "bytes/s", "memory of one accelerator, as calibrated"),
        number("o", layout.optimizer_offload_percent / 100, "share that is offloaded to the host"),
        Quantity("u", traffic_bytes(layout.sync, layout.outer), "bytes", "outer optimizer, mean of all steps"),
        Quantity("L", box.host.link, "bytes/s", "link to the host"),
        Quantity("M", box.host.memory, "bytes/s", "host memory"),
        Quantity("c", max(gradient_bytes(layout), UP_BYTES), "bytes", "over the link, the larger way, per parameter"),
        Quantity("j", STEP_BYTES + gradient_bytes(layout), "bytes", "Adam through host memory, per parameter"),
    ]
    held = "(A / s + X / e)"
    traffic = "k × (1 − o)" if layout.optimizer_offload_percent else "k"
    own = f"{f'({traffic} + u)' if layout.outer else traffic} × {held} / w"
    host = f"o × {held} × max(c / L, j / M)"
    return used(f"max({own}, {host})" if layout.optimizer_offload_percent else own, inputs)


def fixed(of: Picture) -> Worked:
    """What the calibration adds to every step."""
    box = max(of.boxes, key=lambda box: box.step_s) if of.placed else of.boxes[of.fast]
    return Worked("c", (seconds("c", box.step_s, "fixed time of the calibration"),))
