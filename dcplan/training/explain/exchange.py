"""Terms of the exchange of gradients, inside a site and across sites, and of waiting for a slower site."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.training.across.sync import across_sites, backlog_s, exchange_s, gradient_pairs, inside_s, rate_gbps
from dcplan.training.explain import outer
from dcplan.training.explain.quantities import NOTHING, Quantity, Worked, number, seconds, used
from dcplan.training.replica import tied_gb
from dcplan.training.terms import first_and_last

if TYPE_CHECKING:
    from dcplan.training.across.sync import Reduction, Window
    from dcplan.training.explain.picture import Picture


def inside(of: Picture) -> Worked:
    """Gradients and weights inside a site, as far as nothing hides them."""
    layout, work, window, m = of.mine, of.replica.work, of.replica.window, of.mine.microbatches
    inputs = [
        seconds("r", work.reduce_s, "reduce-scatter in the sharding group (and its mirror without sharding)"),
        seconds("a", work.mirror_s, "all-reduce over sharding groups and copies"),
        seconds("x", work.cross_s, "share of its NIC in the exchange across sites"),
        seconds("g", work.gather_s, "all-gather of weights"),
    ]
    if not window.overlap:
        times, gathers = m if layout.sharding >= 2 else 1, 2 * m if layout.sharding == 3 else 1
        inputs += [number("k", times, "reductions in a step"), number("j", gathers, "gathers in a step")]
        return _tied(of, "k × r + a + x + j × g", inputs)
    inputs += _behind(window, work)
    parts = [_last_backward(window, layout.sharding), _left(window, "g", "F")]
    if layout.sharding >= 2:
        inputs.append(number("m", m, "microbatches"))
        each = "max(2 × g + r − F − B, (2 × g + r) / n)" if layout.sharding == 3 else "max(r − B, r / n)"
        parts.append(f"(m − 1) × {each}")
    return _tied(of, " + ".join(parts), inputs)


def _behind(window: Window, work: Reduction) -> list[Quantity]:
    """What an exchange can hide behind."""
    inputs = [
        seconds("B", window.backward_s, "backward pass of the last microbatch"),
        seconds("F", window.forward_s, "forward pass of the first microbatch"),
        number("n", work.buckets, "buckets"),
    ]
    if window.chunks > 1:
        inputs += [
            number("v", window.chunks, "virtual stages, whose gradients go off one after another"),
            seconds("d", window.spacing_s, "from one of them to the next"),
        ]
    return inputs


def _left(window: Window, cost: str, behind: str) -> str:
    """What is not hidden of an exchange, as a formula; see `sync.Window.exposed_s`."""
    whole = f"({cost})" if "+" in cost else cost
    if window.chunks > 1:
        return f"max({whole} / v, {cost} − (v − 1) × d)"
    return f"max({cost} − {behind}, {whole} / n)"


def _last_backward(window: Window, sharding: int) -> str:
    """What the last microbatch's backward pass does not hide; see `sync.inside_s`."""
    gather = " + g" if sharding == 3 else ""
    if not window.across:
        return f"{_left(window, f'r + a{gather}', 'B')} + x"
    return _left(window, f"r + a + x{gather}", "B")


def _tied(of: Picture, formula: str, inputs: list[Quantity]) -> Worked:
    tied_s = of.replica.terms.dp_s - inside_s(of.mine, of.replica.work, of.replica.window)
    if abs(tied_s) > 1e-12:
        inputs = [*inputs, seconds("y", tied_s, "gradient of the embedding that first and last stage share")]
        formula += " + y"
    return used(formula, inputs)


def across(of: Picture) -> Worked:
    """Gradients across sites, beyond what NICs expose anyway."""
    if of.placed:
        return _embedding(of)
    if of.layout.across not in ("dp", "cp", "ep"):
        return NOTHING
    if of.layout.outer:
        return outer.across(of)
    slow = max(of.replicas, key=lambda replica: replica.terms.total_s)
    work, window, p = slow.work, slow.window, of.layout.pp
    pairs = gradient_pairs(of.workload, of.layout.spread)
    crossing = across_sites(of.workload, of.layout.spread)
    ends = max(pairs, key=lambda pair: pairs[pair] / rate_gbps(of.links, pair))
    links_s = exchange_s(pairs, of.links)
    name = f"{ends[0]} – {ends[1]}"
    inputs = [
        Quantity("G", pairs[ends], "GB", f"gradients over {name}, which takes longest, each way"),
        Quantity("R", rate_gbps(of.links, ends), "Gb/s", f"payload between {name}, each way"),
        seconds("l", crossing.waits_s(of.links.latency_ms), "one-way latencies that the last part adds up"),
    ]
    if not (window.overlap and window.across):
        base = work.reduce_s if of.layout.sync == "synchronous" else work.cross_s
        inputs += [
            number("p", p, "stages, which share the links"),
            seconds("d", window.stagger_s, "how much later than its neighbour a stage has its gradients"),
            seconds("x", base, "what NICs take for it, which is in DP"),
        ]
        return Worked("max(0, max(8 × G / R / p, 8 × G / R − (p − 1) × d) − x) + l", tuple(inputs))
    inputs += [
        seconds("r", work.reduce_s, "reduce-scatter inside the slowest site"),
        seconds("a", work.mirror_s, "all-reduce over sharding groups and copies"),
        seconds("x", work.cross_s, "share of its NIC in this exchange"),
        seconds("g", work.gather_s, "all-gather of weights"),
        *_behind(window, work),
    ]
    if window.chunks > 1:
        sent = "max(8 × G / R / v, 8 × G / R − (v − 1) × d)"
    else:
        backlog = backlog_s(links_s, p, window.backward_s, window.stagger_s)
        inputs += [
            seconds("q", backlog, "left on the links when the last stage has its gradients"),
            number("p", p, "stages, which share the links"),
        ]
        sent = "max(q, 8 × G / R / p / n)"
    return used(f"max(0, {sent} − {_last_backward(window, of.layout.sharding)}) + l", inputs)


def _embedding(of: Picture) -> Worked:
    """The gradient of a tied embedding between the first and the last site of a pipeline."""
    ends = first_and_last(of.where)
    if not of.workload.model.tied or ends is None:
        return NOTHING
    inputs = (
        Quantity("E", tied_gb(of.workload), "GB", "gradient of the embedding that first and last stage share"),
        Quantity("R", rate_gbps(of.links, ends), "Gb/s", f"payload between {ends[0]} – {ends[1]}, each way"),
        number("t", of.layout.tp, "tensor parallel size"),
        Quantity("w", min(box.leaving for box in of.boxes), "bytes/s", "one NIC, which DP counts already"),
        seconds("l", of.links.latency_ms.get(ends, math.inf) / 1e3, "one-way latency"),
    )
    return Worked("max(0, 8 × E / R − 1e9 × E / t / w) + l", inputs)


def straggler(of: Picture) -> Worked:
    """Waiting for the slowest site, or stage."""
    inputs: tuple[Quantity, ...]
    if of.placed:
        inputs = (
            number("m", of.layout.microbatches, "microbatches"),
            seconds("T", of.slowest.total_s, "one microbatch in the slowest stage"),
            seconds("t", of.stage.total_s, "the same in the fastest site"),
        )
        return Worked("m × (T − t)", inputs)
    slow_s = outer.computed_s(of) if of.layout.outer else max(one.terms.total_s for one in of.replicas)
    inputs = (
        seconds("T", slow_s, "step of the slowest site without exchange across sites (servers: mean of all)"),
        seconds("t", of.replica.terms.total_s, "the same of the fastest site"),
    )
    return Worked("T − t", inputs)
