"""Codes 5xx: light that cannot do what the file asks of it, and figures that are not to be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.ending import ending_sites
from dcplan.model.network import Route
from dcplan.model.rules.effect import UNUSED_PART
from dcplan.model.rules.examples import GOOD, adding, with_change
from dcplan.optics import band_rules, existing_rules, line_rules
from dcplan.optics.allowed import allowed_amplifiers, allowed_transponders, crossed, fits, usable_modes
from dcplan.optics.lightpath import evaluate
from dcplan.optics.line import NoLine, design_lines
from dcplan.optics.spans import span_of, standing
from dcplan.optics.tilt import WIDE_GHZ

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.catalog.parts import Part, Transponder
    from dcplan.model.network import FiberId, Network
    from dcplan.model.source import Loc
    from dcplan.optics.budget import Lightpath, Line

SPAN = Rule(
    "DCP501",
    "span-beyond-amplifiers",
    Severity.ERROR,
    "No allowed amplifier has the gain for the loss of this span, or none may stand in a place that the line needs."
    " The loss is that of the fiber, two connectors and the repair allowance of the policy.",
    with_change("length_km: 58", "spans: [{length_km: 58, loss_db: 41}]", GOOD),
    with_change("length_km: 58", "spans: [{length_km: 58, loss_db: 12.4}]", GOOD),
)
BAND = Rule(
    "DCP502",
    "band-too-narrow",
    Severity.ERROR,
    "An allowed transponder has no mode that fits between `band_start_thz` and `band_end_thz`.",
    adding("gear: {band_start_thz: 196.0, band_end_thz: 196.1, allow: {transponders: [800zr]}}\n", GOOD),
    adding("gear: {band_start_thz: 195.0, band_end_thz: 196.1, allow: {transponders: [800zr]}}\n", GOOD),
)
UNPUBLISHED = Rule(
    "DCP503",
    "transponder-not-published",
    Severity.ERROR,
    "The required OSNR of this transponder is not published, so nobody outside its maker can tell where it closes."
    " State it in an own transponder under `gear.transponders`.",
    adding("gear: {allow: {transponders: [nokia-pse6s]}}\n", GOOD),
    adding("gear: {allow: {transponders: [openzr+]}}\n", GOOD),
)
NO_MODE = Rule(
    "DCP504",
    "no-mode-closes",
    Severity.ERROR,
    "No allowed mode has margin from one end of this fiber to the other, so it can carry nothing.",
    adding("gear: {allow: {transponders: [400zr]}}\n", with_change("length_km: 58", "length_km: 400", GOOD)),
    adding("gear: {allow: {transponders: [400zr]}}\n", GOOD),
)
ESTIMATE = Rule(
    "DCP505",
    "low-confidence-part",
    Severity.WARNING,
    "The figures of this part are estimates or from memory; what the plan says of it is no better than they are.",
    with_change("type: g652d", "type: hollow-core", GOOD),
    GOOD,
)
SLOT = Rule(
    "DCP506",
    "slot-too-narrow",
    Severity.WARNING,
    "A signal takes symbol rate x (1 + roll-off). In a narrower slot neighbours overlap, which no figure here counts.",
    adding("gear:\n  transponders:\n    own: {modes: {a: {rate_gbps: 400, baud_gbd: 70, width_ghz: 75}}}\n", GOOD),
    adding("gear:\n  transponders:\n    own: {modes: {a: {rate_gbps: 400, baud_gbd: 60, width_ghz: 75}}}\n", GOOD),
)
WIDE_BAND = Rule(
    "DCP507",
    "band-beyond-c",
    Severity.WARNING,
    "Over more than the C band, Raman scattering moves power from high to low frequencies. It is counted: a gain that"
    " rises in a straight line with the distance of two channels, per span, at the launch power of a full load, with"
    " the levels made equal where `policy.equalise` says. Loss and noise figure are taken as even over the band.",
    adding("gear: {band: super-c, allow: {amplifiers: [super-c-medium-gain]}}\n", GOOD),
    GOOD,
)
LONG_SPAN = Rule(
    "DCP508",
    "span-beyond-policy",
    Severity.WARNING,
    "A span as built loses more than `policy.max_span_loss_db`, to which designed spans keep. An amplifier reaches it,"
    " at a price in noise.",
    with_change("length_km: 58", "spans: [{length_km: 58, loss_db: 28}]", GOOD),
    with_change("length_km: 58", "spans: [{length_km: 58, loss_db: 12.4}]", GOOD),
)

RULES: tuple[Rule, ...] = (
    SPAN,
    BAND,
    UNPUBLISHED,
    NO_MODE,
    ESTIMATE,
    SLOT,
    WIDE_BAND,
    LONG_SPAN,
    *band_rules.RULES,
    *line_rules.RULES,
    *existing_rules.RULES,
)


WAY_OUT = "allow a transponder of longer reach, or end the fiber at a site on the way"


def check(network: Network) -> list[Finding]:
    """Spans, modes, bands and parts of a valid network; lines and one-fiber lightpaths are designed on the way."""
    found = [*_parts(network), *_gear(network), *_policy_spans(network), *_fibers(network)]
    return list(dict.fromkeys(found))  # what is wrong with the allowed parts shows on every fiber


def _fibers(network: Network) -> Iterator[Finding]:
    plain = replace(network, roadms=frozenset())  # a fiber by itself runs between multiplexers, at its best
    lines = design_lines(plain)
    yield from band_rules.check(network, lines)
    yield from line_rules.check(network, lines)
    yield from existing_rules.check(network)
    yield from _idle_gear(network, lines)
    for line in () if band_rules.dark_bands(network) else lines.values():
        if isinstance(line, NoLine) and not line.at:
            hint = "allow another amplifier, or put a hut into the span"
            yield Finding(SPAN, network.document.locate(_span_at(network, line)), line.reason, hint)
    modes = usable_modes(network)
    if not modes:
        return
    ending = ending_sites(network)  # elsewhere only light that comes from beyond the fiber matters
    routes = [
        Route((network.fibers[name].ends[0], network.fibers[name].ends[1]), (name,))
        for name, line in lines.items()
        if not isinstance(line, NoLine) and line.booster and ending.issuperset(network.fibers[name].ends)
    ]
    hardiest = min(modes, key=lambda named: named[2].required_osnr_db or 0.0)
    for tried in ([hardiest], modes):  # nearly every fiber carries the hardiest mode, and one that closes is enough
        found = evaluate(plain, lines, routes, modes=tried, itemise=False)
        routes = [lightpath.route for lightpath in found if not lightpath.closing]
    for lightpath in found:
        if not lightpath.closing:
            name = lightpath.route.fibers[0]
            at: Loc = ("fibers", name, "length_km" if network.fibers[name].spans is None else "spans")
            yield Finding(NO_MODE, network.document.locate(at), _nearest(lightpath), WAY_OUT)


def _idle_gear(network: Network, lines: Mapping[FiberId, Line | NoLine]) -> Iterator[Finding]:
    """Own terminal gear, and prices of it and of amplifiers, that nothing on the map has."""
    designed = [line for line in lines.values() if not isinstance(line, NoLine)]
    standing = {name for line in designed for name in line.amplifiers}
    ended = [line.fiber for line in designed if line.booster or network.fibers[line.fiber].multiplexed]
    ends = {site for fiber in ended for site in network.fibers[fiber].ends}
    terminals = {"mux"} if ends else set()
    if any(
        len({other for fiber, other in network.neighbours(site) if fiber in ended}) > 1 for site in crossed(network)
    ):
        terminals.add("roadm")
    for name in network.topology.gear.equipment:
        if name in ("mux", "roadm") and name not in terminals:
            span = network.document.locate(("gear", "equipment", name), of_key=True)
            yield Finding(UNUSED_PART, span, f"own part `{name}` has no effect: no site has one")
    for name in network.topology.gear.prices_usd:
        if name in allowed_amplifiers(network) and name not in standing:
            why = "no line has it, and amplifiers are chosen by noise, not by price"
        elif name in network.catalog.equipment and name not in terminals:
            why = "no site has one"
        else:
            continue
        span = network.document.locate(("gear", "prices_usd", name), of_key=True)
        yield Finding(UNUSED_PART, span, f"the price of `{name}` has no effect: {why}")


def _span_at(network: Network, line: NoLine) -> Loc:
    if line.span_number is None:
        return ("gear", "allow", "amplifiers")
    if network.fibers[line.fiber].spans is None:
        return ("fibers", line.fiber, "length_km")
    return ("fibers", line.fiber, "spans", line.span_number - 1)


def _nearest(lightpath: Lightpath) -> str:
    best = max(lightpath.budgets, key=lambda budget: -1e9 if budget.margin_db is None else budget.margin_db)
    short = "" if best.margin_db is None else f", {-best.margin_db:.1f} dB short"
    return (
        f"none of {len(lightpath.budgets)} allowed modes closes over {lightpath.length_km:g} km; "
        f"the nearest is {best.transponder} {best.mode}, stopped by {best.limit}{short}"
    )


def _parts(network: Network) -> Iterator[Finding]:
    allow, locate = network.topology.gear.allow, network.document.locate
    for name, fiber in network.fibers.items():
        yield from _estimate(network, ("fibers", name, "type"), fiber.type, network.fiber_type(name))
        for i, given in enumerate(fiber.spans or ()):
            if given.type is not None:
                kind = network.catalog.fibers[given.type]
                yield from _estimate(network, ("fibers", name, "spans", i, "type"), given.type, kind)
        for there, amplifier in standing(fiber):
            yield from _estimate(network, ("fibers", name, *there), amplifier, network.catalog.amplifiers[amplifier])
    for i, name in enumerate(allow.amplifiers or ()):
        yield from _estimate(network, ("gear", "allow", "amplifiers", i), name, network.catalog.amplifiers[name])
    for i, name in enumerate(allow.appliances):
        yield from _estimate(network, ("gear", "allow", "appliances", i), name, network.catalog.appliances[name])
    for i, name in enumerate(allow.transponders or ()):
        part, at = network.catalog.transponders[name], ("gear", "allow", "transponders", i)
        yield from _estimate(network, at, name, part)
        if all(mode.required_osnr_db is None for mode in part.modes.values()):
            yield Finding(UNPUBLISHED, locate(at), f"{name} has no mode with a published required OSNR")
        elif not _fits(network, part):
            least = min(mode.width_ghz for mode in part.modes.values())
            yield Finding(BAND, locate(at), f"{name} needs {least:g} GHz, the band has {_band_ghz(network):g}")


def _estimate(network: Network, at: Loc, name: str, part: Part) -> Iterator[Finding]:
    if part.confidence == "low":
        message = f"{name} is an estimate: {part.note or part.source}"
        yield Finding(ESTIMATE, network.document.locate(at), message, f"own figures go under `gear` as a part `{name}`")


def _fits(network: Network, part: Transponder) -> bool:
    return any(fits(network, mode) for mode in part.modes.values() if mode.required_osnr_db is not None)


def _band_ghz(network: Network) -> float:
    """Width of the widest band [GHz]."""
    return max(band.width_ghz for band in network.topology.gear.bands)


def _gear(network: Network) -> Iterator[Finding]:
    gear, locate = network.topology.gear, network.document.locate
    if gear.allow.transponders is None and not any(
        _fits(network, part) for part in allowed_transponders(network).values()
    ):
        yield Finding(BAND, locate(("gear",)), f"no mode of the catalog fits a band of {_band_ghz(network):g} GHz")
    whole = sum(band.width_ghz for band in gear.bands)
    if whole > WIDE_GHZ:
        levels = "behind each span" if network.policy.equalise == "span" else "at sites only"
        message = f"{whole:g} GHz of spectrum tilt by Raman scattering: counted, levels made equal {levels}"
        yield Finding(WIDE_BAND, locate(("gear", "band") if gear.band else ("gear",)), message)
    for part, transponder in gear.transponders.items():
        for name, mode in transponder.modes.items():
            taken = mode.baud_gbd * (1 + mode.roll_off)
            if taken > mode.width_ghz:
                at: Loc = ("gear", "transponders", part, "modes", name, "width_ghz")
                message = f"{mode.baud_gbd:g} GBd at roll-off {mode.roll_off:g} takes {taken:.4g} GHz"
                yield Finding(SLOT, locate(at), message, f"take a width of {-(-taken // 12.5) * 12.5:g} GHz")


def _policy_spans(network: Network) -> Iterator[Finding]:
    limit = network.policy.max_span_loss_db
    for name, fiber in network.fibers.items():
        for i, given in enumerate(fiber.spans or ()):
            kind = network.catalog.fibers[given.type or fiber.type]
            span = span_of(kind, network.policy, given.length_km, given.loss_db)
            if span.loss_db > limit + 1e-9:
                message = f"span of {span.loss_db:.1f} dB with connectors and repairs, the policy allows {limit:g}"
                yield Finding(LONG_SPAN, network.document.locate(("fibers", name, "spans", i)), message)
