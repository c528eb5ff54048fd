"""Codes 34x: what stands in the file and changes nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.ending import asking_pairs
from dcplan.model.promises import survived_by
from dcplan.model.rules.examples import adding, with_change
from dcplan.model.rules.promises import lists
from dcplan.model.rules.unpromised import promises_without_effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network
    from dcplan.model.source import Loc

_OWN = (
    "gear:\n  fibers:\n    own: {attenuation_db_per_km: 0.18, dispersion_ps_nm_km: 17, effective_area_um2: 85,"
    " group_index: 1.4682}\n"
)

UNUSED_PART = Rule(
    "DCP340",
    "unused-part",
    Severity.WARNING,
    "An own part that nothing in the file uses has no effect; most often the place that should use it names another.",
    adding(_OWN),
    with_change("type: g652d", "type: own", adding(_OWN)),
)
NO_EFFECT = Rule(
    "DCP341",
    "no-effect",
    Severity.WARNING,
    "The key is valid and, with the rest of the file as it is, changes nothing. What was meant by it will not happen.",
    adding("policy: {scheme: none, survive: [any-fiber]}\n"),
    adding("policy: {scheme: none}\n"),
)

RULES = (UNUSED_PART, NO_EFFECT)
NO_FIBERS = "there are no fibers, only circuits"
ABOUT_LIGHT = (
    "margin_db", "ageing_db", "repair_db_per_span", "connector_db", "launch_dbm", "load_percent", "equalise",
    "raman_tilt", "max_span_km", "max_span_loss_db", "span_split", "years", "energy_usd_per_mwh", "routes", "max_hops",
    "guard_ghz",
)  # fmt: skip
"""Keys of the policy that speak of own fibers and what is lit on them."""
BY_SITE = ("hierarchical", "local-sgd", "streaming")
"""Ways to synchronise in which sites sum gradients each for itself first."""
OPTICAL_GEAR = ("allow", "prices_usd", "band", "band_start_thz", "band_end_thz", "grid_ghz")


def check(network: Network) -> list[Finding]:
    """Own parts that nothing uses, and keys that have no effect beside the others."""
    keys = (
        *promises_without_effect(network),
        *_policy(network),
        *_own_prices(network),
        *_sites(network),
        *_circuits(network),
        *_jobs(network),
        *_demands(network),
    )
    no_effect = [_no_effect(network, loc, message) for loc, message in keys if loc in network.document.values]
    return [*_parts(network), *no_effect]


def _no_effect(network: Network, loc: Loc, why: str) -> Finding:
    what = loc[-1]
    if isinstance(what, int):
        what = next(promises for at, promises in lists(network) if at == loc[:-1])[what]
    return Finding(NO_EFFECT, network.document.locate(loc, of_key=True), f"`{what}` has no effect: {why}")


def _parts(network: Network) -> Iterator[Finding]:
    gear, allow = network.topology.gear, network.topology.gear.allow
    used: dict[str, set[str] | None] = {
        "fibers": {fiber.type for fiber in network.fibers.values()} | _types_of_spans(network),
        "accelerators": {kind for site in network.sites.values() for kind in site.accelerators},
        "models": {job.model for job in network.jobs.values()},
        "transponders": None if allow.transponders is None else set(allow.transponders),
        "amplifiers": _amplifiers(network),
        "appliances": set(allow.appliances),
        "equipment": {"mux", "roadm"},
    }
    why = {
        "fibers": "no fiber has this type",
        "accelerators": "no site has it",
        "models": "no job trains it",
        "equipment": "terminal gear is called `mux` or `roadm`",
    }
    for kind, names in used.items():
        for name in getattr(gear, kind):
            if names is not None and name not in names:
                span = network.document.locate(("gear", kind, name), of_key=True)
                reason = why.get(kind, f"`gear.allow.{kind}` does not name it")
                yield Finding(UNUSED_PART, span, f"own part `{name}` has no effect: {reason}")
    for kind in ("transponders", "amplifiers", "appliances"):
        for name in gear.prices_usd:
            known, names = getattr(network.catalog, kind), used[kind]
            if name in known and names is not None and name not in names:
                span = network.document.locate(("gear", "prices_usd", name), of_key=True)
                yield Finding(
                    UNUSED_PART, span, f"the price of `{name}` has no effect: `gear.allow.{kind}` does not name it"
                )


def _types_of_spans(network: Network) -> set[str]:
    return {span.type for fiber in network.fibers.values() for span in fiber.spans or () if span.type is not None}


def _amplifiers(network: Network) -> set[str]:
    """Amplifiers that may be chosen, or stand there; Raman hybrids and estimates are chosen by name only."""
    allowed = network.topology.gear.allow.amplifiers
    if allowed is None:
        known = network.catalog.amplifiers
        allowed = [name for name, part in known.items() if part.raman is None and part.confidence != "low"]
    there = [name for fiber in network.fibers.values() for name in (fiber.booster, fiber.preamp)]
    there += [span.amplifier for fiber in network.fibers.values() for span in fiber.spans or ()]
    return {*allowed, *(name for name in there if name is not None)}


def _own_prices(network: Network) -> Iterator[tuple[Loc, str]]:
    """Prices of own parts that `prices_usd` overrides."""
    gear = network.topology.gear
    for kind in ("transponders", "amplifiers", "appliances", "equipment"):
        for name in getattr(gear, kind):
            if name in gear.prices_usd:
                yield ("gear", kind, name, "price_usd"), "`gear.prices_usd` has another price of it"


def _policy(network: Network) -> Iterator[tuple[Loc, str]]:
    if network.policy.periods:
        for key in ("demand_percent", "price_percent"):
            yield ("policy", key), "each of the `periods` has its own"
    if network.fibers and all(fiber.spans is not None for fiber in network.fibers.values()):
        yield ("policy", "max_span_km"), "every fiber lists its spans"
        yield ("policy", "max_span_loss_db"), "every fiber lists its spans"
    yield from _line_policy(network)


def _line_policy(network: Network) -> Iterator[tuple[Loc, str]]:
    """Keys about spans that no fiber asks for."""
    fibers = network.fibers.values()
    split = [fiber for fiber in fibers if fiber.amplified and fiber.spans is None and fiber.huts_km is None]
    if network.fibers and not split:
        yield ("policy", "span_split"), "no fiber is split: spans or huts are listed"
    if not any(fiber.amplified for fiber in fibers):
        for key in ("ripple_db_per_span", "equalisation_db_per_line", "min_span_loss_db"):
            yield ("policy", key), "no fiber has amplifiers"
    if split and network.policy.span_split == "gnpy" and not any(fiber.huts_km for fiber in fibers):
        yield ("policy", "max_span_km"), "GNPy's rule splits at 150 km, whatever the limits"
        if all(fiber.spans is None for fiber in fibers):
            yield ("policy", "max_span_loss_db"), "GNPy's rule splits at 150 km, whatever the limits"


def _circuits(network: Network) -> Iterator[tuple[Loc, str]]:
    """Keys and modules of circuits that change nothing; in a file without fibers, all that is about light."""
    for name, circuit in network.circuits.items():
        if not circuit.modules:
            yield ("circuits", name, "pick"), "the circuit has no modules"
            yield ("circuits", name, "build_usd"), "the circuit has no modules"
        for module, about in circuit.modules.items():
            loc: Loc = ("circuits", name, "modules", module)
            if circuit.pick == "one":
                yield (*loc, "most"), "`pick: one` takes one module at most"
            better = next(
                (
                    other
                    for other, more in circuit.modules.items()
                    if (more.gbps, -more.usd) > (about.gbps, -about.usd)
                    and more.usd <= about.usd
                    and (circuit.pick == "one" or more.most is None)
                ),
                None,
            )
            if better is not None:
                yield loc, f"module `{better}` gives no less for no more"
    if network.circuits and not network.fibers:
        yield from ((("policy", key), NO_FIBERS) for key in ABOUT_LIGHT)
        yield from ((("gear", key), NO_FIBERS) for key in OPTICAL_GEAR)


def _sites(network: Network) -> Iterator[tuple[Loc, str]]:
    own = {site for ends in asking_pairs(network) for site in ends}
    at = Counter(end for fiber in network.fibers.values() for end in fiber.ends)
    for name, site in network.sites.items():
        if not any(site.accelerators.values()):
            yield ("sites", name, "power_mw"), "it is compared with the power of accelerators, and there are none"
        if name in own and not site.regenerate:
            yield ("sites", name, "regenerate"), "a job or demand of the site needs wavelengths to end there"
        if at[name] < 2:
            yield ("sites", name, "express"), "nothing can pass through a site in which fewer than two fibers end"


def _jobs(network: Network) -> Iterator[tuple[Loc, str]]:
    for name, job in network.jobs.items():
        if len(job.accelerators) == 1:
            for key in ("gradient_bits", "targets", "max_paths"):
                yield ("jobs", name, key), "the job stays in one site"
        elif not survived_by(network, job):
            yield ("jobs", name, "targets", "max_overhead_percent_under_failure"), "no failure is promised"
        if _own_bits(job):
            yield ("jobs", name, "gradient_bits"), "every plan has `outer.bits` of its own"
        if why := _without_collective(job):
            yield ("jobs", name, "collective"), why
        if why := _without_experts(network, job):
            yield ("jobs", name, "expert_imbalance"), why
        if isinstance(job.plans, dict) and len(job.plans) == 1:
            yield ("jobs", name, "use"), "there is only one plan"


def _without_experts(network: Network, job: Job) -> str:
    """Why it does not matter how evenly tokens go to experts; empty where it does."""
    if not network.catalog.models[job.model].experts:
        return f"{job.model} has no experts"
    if isinstance(job.plans, dict) and all(plan.ep == 1 for plan in job.plans.values()):
        return "in every plan each rank has all experts, ep is 1"
    return ""


def _own_bits(job: Job) -> bool:
    plans = job.plans.values() if isinstance(job.plans, dict) and len(job.accelerators) > 1 else ()
    return bool(plans) and all(plan.outer is not None and plan.outer.bits is not None for plan in plans)


def _without_collective(job: Job) -> str:
    """Why it does not matter how sites sum gradients; empty where it does."""
    if len(job.accelerators) < 3:
        return "between two sites all collectives are the same" if len(job.accelerators) == 2 else "there is one site"
    plans = job.plans.values() if isinstance(job.plans, dict) else ()
    if plans and not any(plan.across not in ("pp", "tp") and plan.sync in BY_SITE for plan in plans):
        return "no plan sums gradients site by site (`across: dp`, `sync: hierarchical`, `local-sgd` or `streaming`)"
    return ""


def _demands(network: Network) -> Iterator[tuple[Loc, str]]:
    for name, demand in network.topology.demands.items():
        if not survived_by(network, demand):
            yield ("demands", name, "under_failure_percent"), "no failure is promised"
