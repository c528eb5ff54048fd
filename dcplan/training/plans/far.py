"""What distance adds to the steps of many plans at least, and what they send, all at once with numpy."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from dcplan.model.network import pair
from dcplan.training.across.cross_layers import SPANNING, spanned
from dcplan.training.across.place import places
from dcplan.training.across.sync import across_sites, exchange_s, gradient_pairs, rate_gbps
from dcplan.training.pipeline.line import may_be_by_speed
from dcplan.training.pipeline.stages import device_layers
from dcplan.training.plans.columns import KINDS_OF_STAGE
from dcplan.training.plans.once import once
from dcplan.training.site.machine import machines
from dcplan.training.terms import cross_site_gb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.training.plans.bounds import Near
    from dcplan.training.plans.columns import Columns
    from dcplan.training.plans.table import Table
    from dcplan.training.step import Layout, Links, Workload

    Array = Any


def far_s(
    found: Table, rows: Array, at: Columns, near: Near, exchange_s: Array, links: Links, loads: Sequence[Workload]
) -> Array:
    """No step of these rows is shorter [s]: what it takes without distance, and what of the exchange cannot hide.

    exchange_s: what of gradients and weights is exposed inside sites, see `inside.inside_s`.

    Rates and latencies are those of the links, which transport makes no better.
    """
    import numpy as np

    exposed_s, waits_s = _gradients_s(found, rows, at, near, links, loads)
    if all(box.modern for box in machines(found.workload)):
        exposed_s = exposed_s + exchange_s
    else:  # the links begin when the NICs do, so that the one hides the other
        exposed_s = np.maximum(exposed_s, exchange_s)
    own_s = np.where(at.has("across", "pp"), _over_stages_s(found.workload, at, near, links), near.own_s)
    return own_s + exposed_s + waits_s + _layers_s(found, rows, at, links)


def _gradients_s(
    found: Table, rows: Array, at: Columns, near: Near, links: Links, loads: Sequence[Workload]
) -> tuple[Array, Array]:
    """Exposed exchange of gradients: C − w − (p−1) δ, see `sync.across_s`, and latency; 0 where sites seldom agree.

    Interleaved C − (v−1) p δ. By speed nothing is taken to be exposed.
    """
    import numpy as np

    def sent(layout: Layout) -> tuple[float, float]:
        each = [
            (exchange_s(gradient_pairs(load, layout.spread), links),
             across_sites(load, layout.spread).waits_s(links.latency_ms))
            for load in loads
        ]  # fmt: skip
        return min(one[0] for one in each), min(one[1] for one in each)

    asked = at.has("across", "dp", "cp", "ep") & ~at.outer
    took_s, waits_s = np.zeros((2, len(rows)))
    if asked.any():
        mine = at.at(asked)
        keys = [mine.across, mine.sync, mine.cp, mine.ep, mine.dp]
        took_s[asked], waits_s[asked] = once(found, rows[asked], keys, sent)
    split = ~at.has("schedule", "1f1b")
    late_s = np.where(split, near.forward_s, near.backward_s / at.virtual_stages)
    window_s = np.where(
        at.virtual_stages > 1,
        (at.virtual_stages - 1) * at.pp * late_s,
        near.backward_s + (at.pp - 1) * late_s,
    )
    return np.maximum(0.0, took_s - window_s) * (not may_be_by_speed(found.workload)), waits_s


def _layers_s(found: Table, rows: Array, at: Columns, links: Links) -> Array:
    """Exposed exchange of layers of groups over sites, see `cross_layers.cross_layers_s`; once for those alike."""
    import numpy as np

    workload, result = found.workload, np.zeros(len(rows))
    asked = at.has("across", *SPANNING)
    if not asked.any():
        return result
    mine = at.at(asked)

    def each_s(layout: Layout) -> list[float]:
        by_box = []
        for box in dict.fromkeys(machines(workload)):
            there = spanned(workload, layout, places(workload, layout), box)
            by_box.append([
                sum(one.times * one.adds_s(links, layout.pp) for one in exchanges)
                for exchanges in (there.dense, there.moe, there.ends)
            ])  # fmt: skip
        return [min(values) for values in zip(*by_box, strict=True)]

    def of_stages(pp: int, v: int, schedule: str) -> list[float]:
        kinds = device_layers(workload.model, pp, v, schedule)
        each = [(one.dense, one.moe, float(one.embedding + one.head)) for one in kinds]
        each += [(0.0,) * 3] * (KINDS_OF_STAGE - len(each))
        return [value for one in each for value in one]

    keys = [mine.across, mine.tp, mine.cp, mine.ep, mine.dp, mine.pp, mine.microbatch, mine.recompute,
            mine.sequence_parallel, mine.cp_exchange]  # fmt: skip
    times = once(found, rows[asked], keys, each_s)
    stage_s = np.einsum("kpn,pn->kn", mine.by_stages(of_stages).reshape(KINDS_OF_STAGE, 3, -1), times).max(axis=0)
    result[asked] = stage_s * (mine.microbatches + (mine.pp - 1) / mine.virtual_stages)
    return result


def _over_stages_s(workload: Workload, at: Columns, near: Near, links: Links) -> Array:
    """Of a pipeline over sites: all work of a stage, or the last microbatch behind all others over the slowest link.

    Either of m t and Σ t + 2 Σ d + (m−1) transfer; see `in_flight.hidden`. By speed only what links take.
    """
    import numpy as np

    sites = [share.site for share in workload.shares]
    size_gb = 2 * at.microbatch * workload.sequence_length * workload.model.hidden * at.dp / 1e9
    delays_s, most_s = np.zeros(len(at.tp)), np.zeros(len(at.tp))
    for a, b in itertools.pairwise(sites):
        if a != b:
            transfer_s = 8 * size_gb / rate_gbps(links, pair(a, b))
            delays_s = delays_s + links.latency_ms.get(pair(a, b), np.inf) / 1e3 + transfer_s
            most_s = np.maximum(most_s, transfer_s)
    through_s = 2 * delays_s + (at.microbatches - 1) * most_s
    return through_s if may_be_by_speed(workload) else np.maximum(near.own_s, near.all_s + through_s)


def least_bytes_gb(found: Table, rows: Array, at: Columns, loads: Sequence[Workload]) -> Array:
    """Between two sites in a step, the most of all pairs [GB]: worked out once for all plans that send the same.

    What groups over sites exchange goes with the tokens of a step, however many are in a microbatch. With servers no
    bound but 0.
    """
    import numpy as np

    def sent_gb(layout: Layout) -> list[float]:
        if layout.sync == "parameter-server":
            return [0.0]
        return [min(max(cross_site_gb(load, layout).values(), default=0.0) for load in loads)]

    keys = [at.across, at.sync, at.every, np.where(at.has("across", "dp"), 1, at.tp), at.cp, at.ep, at.dp,
            ~at.has("across", "dp") & at.has("recompute", "full"), at.cp_exchange]  # fmt: skip
    result: Array = once(found, rows, keys, sent_gb)[0]
    return result
