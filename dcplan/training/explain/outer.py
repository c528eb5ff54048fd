"""The exchange of outer gradients, explained: what sites that train by themselves wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training.across.sync import across_sites, gradient_pairs, rate_gbps
from dcplan.training.explain.quantities import NOTHING, Quantity, Worked, number, seconds
from dcplan.training.outer.loose import outer_gb, outer_step_s, own_steps_s, waits, with_servers_s
from dcplan.training.outer.tiers import slowed_s
from dcplan.training.replica import workers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.model.network import Pair, SiteId
    from dcplan.training.explain.picture import Picture
    from dcplan.training.outer.exchange import Outer
    from dcplan.training.outer.loose import Waits, Worker


def across(of: Picture) -> Worked:
    """What the exchange adds to the mean of all steps."""
    if of.layout.outer is None:
        return NOTHING
    if of.layout.sync == "parameter-server":
        return _servers(of, of.layout.outer)
    return _meeting(of, of.layout.outer)


def computed_s(of: Picture) -> float:
    """Mean step as sites compute, without the exchange [s]."""
    if of.layout.outer and of.layout.sync == "parameter-server":
        return with_servers_s(of.workload, of.layout, of.layout.outer, _workers(of), of.links)[0]
    return max(replica.terms.total_s for replica in of.replicas)


def _workers(of: Picture) -> Mapping[SiteId, Worker]:
    sites = [place.share.site for place in of.where]
    return workers_of(list(zip(sites, of.replicas, strict=True)), of.where)


def _meeting(of: Picture, outer: Outer) -> Worked:
    """Sites that wait for each other at every exchange: the one whose steps and waits together are the longest."""
    load, layout, slowest_s = of.workload, of.layout, computed_s(of)
    pairs = gradient_pairs(load, layout.spread)
    latency_s = across_sites(load, layout.spread).waits_s(of.links.latency_ms)
    each = [(outer_step_s(load, layout, outer, one, pairs, latency_s, of.links), one) for one in _workers(of).values()]
    worker = max(each, key=lambda pair: pair[0])[1]
    found = waits(load, layout, outer, worker, pairs, latency_s, of.links)
    formula, inputs = _of_fragments(outer, found) if layout.sync == "streaming" else _of_all(found)
    inputs += [number("H", outer.every_steps, "steps from one exchange of a parameter to the next")]
    inputs += _longest(of, pairs, outer)
    if worker.step_s < slowest_s:
        formula += " − (T − t)"
        inputs += [
            seconds("T", slowest_s, "step of the slowest site by itself"),
            seconds("t", worker.step_s, "that of the site that is the longest with its exchange"),
        ]
    return Worked(formula, tuple(inputs))


def _of_all(found: Waits) -> tuple[str, list[Quantity]]:
    """All parameters at once."""
    return "(x + a + l) / H", [
        seconds("x", found.nics_s, "what NICs expose of the step with an exchange, beyond other steps"),
        seconds("a", found.links_s, "what the links expose beyond that, the last backward pass having hidden some"),
        seconds("l", found.latency_s, "one-way latencies that the last part adds up"),
    ]


def _of_fragments(outer: Outer, found: Waits) -> tuple[str, list[Quantity]]:
    """Fragments by turns."""
    return "w / H", [
        seconds("w", found.fragments_s, "waits for fragments in H steps, run through one after another"),
        number("P", outer.fragments, f"fragments, {outer.pattern}, each sent once in H steps"),
        number("o", outer.overlap_steps, "whole steps from the one after which it is sent to the one that needs it"),
        seconds("c", found.layer_s, "one layer on the links, or on the NICs of its stage"),
    ]


def _longest(of: Picture, pairs: Mapping[Pair, float], outer: Outer) -> list[Quantity]:
    """The pair of sites that takes longest."""
    ends = max(pairs, key=lambda pair: pairs[pair] / rate_gbps(of.links, pair))
    name = f"{ends[0]} – {ends[1]}"
    return [
        Quantity("G", pairs[ends] * outer.every_steps, "GB", f"all parameters over {name}, which takes longest"),
        Quantity("R", rate_gbps(of.links, ends), "Gb/s", f"payload between {name}, each way"),
    ]


def _servers(of: Picture, outer: Outer) -> Worked:
    """Sites that wait for nobody: the mean of their rates, and how far links and servers slow each."""
    workers = _workers(of)
    mean_s, linked_s = with_servers_s(of.workload, of.layout, outer, workers, of.links)
    own = own_steps_s(outer, workers)
    slowed = slowed_s(outer, own, outer_gb(of.workload, outer), of.links)
    inputs = [
        seconds("T", linked_s, "all sites together, batch / Σ (part / step), as links and servers let them"),
        seconds("t", mean_s, "the same as they compute"),
    ]
    for i, site in enumerate(own, 1):
        what = f"{site}: its step as links and servers let it, over its own; 1 where nothing slows it"
        inputs.append(number(f"q{i}", slowed[site] / own[site], what))
    return Worked("T − t", tuple(inputs))
