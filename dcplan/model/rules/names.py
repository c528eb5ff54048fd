"""Codes 2xx: names that the file uses and nothing has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity, did_you_mean
from dcplan.model.rules import existing, promises
from dcplan.model.rules.examples import WITH_JOB, adding, with_change

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from dcplan.model.job import Job
    from dcplan.model.network import Network
    from dcplan.model.source import Loc

SITE = Rule(
    "DCP201",
    "unknown-site",
    Severity.ERROR,
    "A fiber, circuit, job or demand names a site that the file does not have.",
    with_change("ends: [papillion, lincoln]", "ends: [papilion, lincoln]"),
    WITH_JOB,
)
FIBER_TYPE = Rule(
    "DCP202",
    "unknown-fiber-type",
    Severity.ERROR,
    "The type of a fiber sets its loss, noise and latency; it is a catalog id or one of the file's own `gear.fibers`.",
    with_change("type: g652d", "type: g652"),
    WITH_JOB,
)
PART = Rule(
    "DCP203",
    "unknown-part",
    Severity.ERROR,
    "Allowed or priced gear must exist in the catalog or among the file's own parts, or it has no effect.",
    adding("gear: {allow: {transponders: [400zx]}}\n"),
    adding("gear: {allow: {transponders: [400zr]}}\n"),
)
ACCELERATOR = Rule(
    "DCP204",
    "unknown-accelerator",
    Severity.ERROR,
    "Step times need the figures of the accelerator: a catalog id or one of the file's own `gear.accelerators`.",
    with_change("accelerators: {h100-sxm: 16384}", "accelerators: {h100: 16384}"),
    WITH_JOB,
)
MODEL = Rule(
    "DCP205",
    "unknown-model",
    Severity.ERROR,
    "Step times need the shape of the model: a catalog id or one of the file's own `gear.models`.",
    with_change("model: llama3-405b", "model: llama-405b"),
    WITH_JOB,
)
PLAN = Rule(
    "DCP206",
    "unknown-plan",
    Severity.ERROR,
    "`use` names the parallelism plan that the network is sized for; it must be one of the job's own `plans`.",
    adding("    plans: {wide: {tp: 8, pp: 16}, long: {tp: 4, pp: 32}}\n    use: deep\n"),
    adding("    plans: {wide: {tp: 8, pp: 16}, long: {tp: 4, pp: 32}}\n    use: wide\n"),
)
SAME_SITE = Rule(
    "DCP207",
    "same-site",
    Severity.ERROR,
    "A fiber, circuit or demand joins two different sites; from a site to itself there is nothing to plan.",
    with_change("between: [papillion, lincoln]", "between: [lincoln, lincoln]"),
    WITH_JOB,
)
NOT_THERE = Rule(
    "DCP208",
    "accelerator-not-there",
    Severity.ERROR,
    "A job can only use accelerators of a type that its site has.",
    with_change("lon: -96.60, power_mw: 100, accelerators: {h100-sxm: 16384}", "lon: -96.60"),
    WITH_JOB,
)
AMBIGUOUS = Rule(
    "DCP209",
    "ambiguous-type",
    Severity.ERROR,
    "Where a site has accelerators of several types, a job must say how many of which it takes.",
    with_change("{h100-sxm: 16384}", "{h100-sxm: 16384, h200-sxm: 1024}"),
    with_change(
        "{papillion: 8192",
        "{papillion: {h100-sxm: 8192}",
        with_change("{h100-sxm: 16384}", "{h100-sxm: 16384, h200-sxm: 1024}"),
    ),
)
CALIBRATION = Rule(
    "DCP210",
    "unknown-calibration",
    Severity.ERROR,
    "An own accelerator may name the calibration that its step times use; it must be one of the catalog.",
    adding(
        "gear:\n  accelerators:\n    next: {bf16_tflops: 2000, hbm_gb: 288, hbm_tb_per_s: 20, scale_up_domain: 144,"
        " scale_up_gb_per_s: 1800, nic_gbps: 800, calibration: none-such}\n"
    ),
    WITH_JOB,
)

TAKEN = Rule(
    "DCP211",
    "name-taken",
    Severity.ERROR,
    "Fibers and circuits fail and carry traffic alike, so no circuit may have the name of a fiber.",
    adding("circuits: {north: {ends: [papillion, lincoln], length_km: 90, modules: {wave: {gbps: 400, usd: 1e6}}}}\n"),
    adding("circuits: {lease: {ends: [papillion, lincoln], length_km: 90, modules: {wave: {gbps: 400, usd: 1e6}}}}\n"),
)

RULES = (
    *(SITE, FIBER_TYPE, PART, ACCELERATOR, MODEL, PLAN, SAME_SITE, NOT_THERE, AMBIGUOUS, CALIBRATION, TAKEN),
    *existing.NAMES,
)


def check(network: Network) -> list[Finding]:
    """Names of sites, fiber types, parts, accelerators, models and plans that are not there, each where it stands."""
    return [
        *_sites(network),
        *_fibers(network),
        *_circuits(network),
        *_gear(network),
        *(finding for name, job in network.jobs.items() for finding in _job(network, name, job)),
        *_demands(network),
        *promises.check(network),
        *existing.check_names(network),
    ]


def _unknown(network: Network, rule: Rule, loc: Loc, name: str, known: Collection[str], kind: str) -> Finding:
    """A finding for a name that is not known; the hint has the nearest, and the command that lists all."""
    place = "the file has none" if not known else "the names stand under `sites`"
    where = place if kind == "sites" else f"`dcplan catalog {kind}` lists all"
    what = {"sites": "site", "fibers": "fiber type"}.get(kind, kind.removesuffix("s"))
    of_key = loc[-1] == name
    span = network.document.locate(loc, of_key=of_key)
    return Finding(rule, span, f"there is no {what} `{name}`", did_you_mean(name, known, where))


def _sites(network: Network) -> Iterator[Finding]:
    known = network.catalog.accelerators
    for name, site in network.sites.items():
        for kind in site.accelerators:
            if kind not in known:
                yield _unknown(network, ACCELERATOR, ("sites", name, "accelerators", kind), kind, known, "accelerators")


def _ends(network: Network, loc: Loc, ends: list[str], what: str) -> Iterator[Finding]:
    for i, site in enumerate(ends):
        if site not in network.sites:
            yield _unknown(network, SITE, (*loc, i), site, network.sites, "sites")
    if ends[0] == ends[1]:
        message = f"{what} joins `{ends[0]}` to itself"
        yield Finding(SAME_SITE, network.document.locate(loc), message, "name two different sites")


def _fibers(network: Network) -> Iterator[Finding]:
    known = network.catalog.fibers
    for name, fiber in network.fibers.items():
        yield from _ends(network, ("fibers", name, "ends"), fiber.ends, f"fiber `{name}`")
        if fiber.type not in known:
            yield _unknown(network, FIBER_TYPE, ("fibers", name, "type"), fiber.type, known, "fibers")
        for i, span in enumerate(fiber.spans or ()):
            if span.type is not None and span.type not in known:
                yield _unknown(network, FIBER_TYPE, ("fibers", name, "spans", i, "type"), span.type, known, "fibers")
        yield from _standing(network, name)


def _circuits(network: Network) -> Iterator[Finding]:
    for name, circuit in network.circuits.items():
        yield from _ends(network, ("circuits", name, "ends"), circuit.ends, f"circuit `{name}`")
        if name in network.fibers:
            span = network.document.locate(("circuits", name), of_key=True)
            yield Finding(TAKEN, span, f"circuit `{name}` has the name of a fiber", "give it another name")


def _standing(network: Network, name: str) -> Iterator[Finding]:
    """Amplifiers that a fiber has already."""
    fiber, known = network.fibers[name], network.catalog.amplifiers
    there: list[tuple[Loc, str | None]] = [(("booster",), fiber.booster), (("preamp",), fiber.preamp)]
    there += [(("spans", i, "amplifier"), span.amplifier) for i, span in enumerate(fiber.spans or ())]
    for at, amplifier in there:
        if amplifier is not None and amplifier not in known:
            yield _unknown(network, PART, ("fibers", name, *at), amplifier, known, "amplifiers")


def _gear(network: Network) -> Iterator[Finding]:
    catalog, gear = network.catalog, network.topology.gear
    allowed = {
        "transponders": gear.allow.transponders,
        "amplifiers": gear.allow.amplifiers,
        "appliances": gear.allow.appliances,
    }
    for kind, names in allowed.items():
        known = getattr(catalog, kind)
        for i, name in enumerate(names or ()):
            if name not in known:
                yield _unknown(network, PART, ("gear", "allow", kind, i), name, known, kind)
    priced = {**catalog.transponders, **catalog.amplifiers, **catalog.appliances, **catalog.equipment}
    for name in gear.prices_usd:
        if name not in priced:
            span = network.document.locate(("gear", "prices_usd", name), of_key=True)
            where = "`dcplan catalog` lists all parts; transponders, amplifiers, appliances and equipment have prices"
            yield Finding(PART, span, f"there is no part `{name}`", did_you_mean(name, priced, where))
    for name, accelerator in gear.accelerators.items():
        wanted = accelerator.calibration
        if wanted is not None and wanted not in catalog.calibrations:
            loc = ("gear", "accelerators", name, "calibration")
            yield _unknown(network, CALIBRATION, loc, wanted, catalog.calibrations, "calibrations")


def _job(network: Network, name: str, job: Job) -> Iterator[Finding]:
    models = network.catalog.models
    if job.model not in models:
        yield _unknown(network, MODEL, ("jobs", name, "model"), job.model, models, "models")
    if job.use is not None and isinstance(job.plans, dict) and job.use not in job.plans:
        span = network.document.locate(("jobs", name, "use"))
        plans = ", ".join(job.plans)
        message = f"job `{name}` has no plan `{job.use}`"
        yield Finding(PLAN, span, message, did_you_mean(job.use, job.plans, f"its plans: {plans}"))
    for site, wanted in job.accelerators.items():
        loc: Loc = ("jobs", name, "accelerators", site)
        if site not in network.sites:
            yield _unknown(network, SITE, loc, site, network.sites, "sites")
        elif isinstance(wanted, int):
            yield from _number(network, name, site, loc)
        else:
            yield from _types(network, name, site, list(wanted), loc)


def _number(network: Network, job: str, site: str, loc: Loc) -> Iterator[Finding]:
    there = [kind for kind, count in network.sites[site].accelerators.items() if count]
    span = network.document.locate(loc)
    if not there:
        message = f"job `{job}` wants accelerators at `{site}`, which has none"
        yield Finding(NOT_THERE, span, message, f"give `sites.{site}` its `accelerators`")
    elif len(there) > 1:
        message = f"job `{job}` does not say which accelerators of `{site}` it takes: {', '.join(there)}"
        yield Finding(AMBIGUOUS, span, message, f"write {site}: {{{there[0]}: …}}")


def _types(network: Network, job: str, site: str, wanted: list[str], loc: Loc) -> Iterator[Finding]:
    there = network.sites[site].accelerators
    for kind in wanted:
        if kind not in network.catalog.accelerators:
            known = network.catalog.accelerators
            yield _unknown(network, ACCELERATOR, (*loc, kind), kind, known, "accelerators")
        elif not there.get(kind):
            span = network.document.locate((*loc, kind), of_key=True)
            has = ", ".join(there) or "none"
            yield Finding(NOT_THERE, span, f"job `{job}` wants `{kind}` at `{site}`, which has {has}")


def _demands(network: Network) -> Iterator[Finding]:
    for name, demand in network.topology.demands.items():
        yield from _ends(network, ("demands", name, "between"), demand.between, f"demand `{name}`")
