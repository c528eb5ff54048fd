"""Codes 52x: bands, grids and launch powers that gear cannot serve, and load that will not stay what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.catalog.bands import covers
from dcplan.diagnostics import Finding, Rule, Severity
from dcplan.model.rules.examples import GOOD, adding
from dcplan.optics.allowed import allowed_amplifiers, allowed_transponders, on_grid
from dcplan.optics.budget import Line
from dcplan.optics.line import REFERENCE_WIDTH_GHZ, reference_comb
from dcplan.optics.raman import slope_per_w_km_thz
from dcplan.optics.tilt import Shape
from dcplan.units import db

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dcplan.catalog.bands import NamedBand
    from dcplan.model.network import FiberId, Network
    from dcplan.model.schema import Fiber
    from dcplan.model.source import Loc
    from dcplan.optics.line import NoLine

DARK_BAND = Rule(
    "DCP521",
    "band-without-amplifiers",
    Severity.ERROR,
    "No allowed amplifier is made for this band, so nothing in it can be lit. An own amplifier without `band` is taken"
    " to serve whichever band it is used in.",
    adding("gear: {band: l, allow: {amplifiers: [gnpy-medium-gain]}}\n", GOOD),
    adding("gear: {band: l, allow: {amplifiers: [l-band-medium-gain]}}\n", GOOD),
)
LAUNCH = Rule(
    "DCP522",
    "launch-beyond-amplifier",
    Severity.WARNING,
    "The launch power that the file gives, times the channels that fill the band, is more than the amplifiers of this"
    " line put out. It is clipped to what they do.",
    adding("policy: {launch_dbm: 9}\n", GOOD),
    adding("policy: {launch_dbm: 1}\n", GOOD),
)
GRID = Rule(
    "DCP523",
    "mode-wider-than-grid",
    Severity.ERROR,
    "No mode of this transponder fits the widths of `gear.grid_ghz`.",
    adding("gear: {grid_ghz: [75], allow: {transponders: [openzr+, 800zr]}}\n", GOOD),
    adding("gear: {grid_ghz: [75, 150], allow: {transponders: [openzr+, 800zr]}}\n", GOOD),
)
PARTIAL = Rule(
    "DCP524",
    "partial-load",
    Severity.WARNING,
    "Light is judged with part of the band loaded. Channels that are added later disturb those that are there, and"
    " share the output of the amplifiers with them: what closes now may then not.",
    adding("policy: {load_percent: 30}\n", GOOD),
    adding("policy: {load_percent: 100}\n", GOOD),
)
OTHER_BAND = Rule(
    "DCP525",
    "amplifier-of-another-band",
    Severity.WARNING,
    "An allowed amplifier is made for a band that the file does not use, so it stands nowhere.",
    adding("gear: {allow: {amplifiers: [gnpy-medium-gain, l-band-medium-gain]}}\n", GOOD),
    adding("gear: {band: c+l, allow: {amplifiers: [gnpy-medium-gain, l-band-medium-gain]}}\n", GOOD),
)
NO_EFFECT = Rule(
    "DCP526",
    "optics-key-without-effect",
    Severity.WARNING,
    "Nothing changes with this key: levels are made equal at sites only where no fiber tilts, or Raman scattering is"
    " counted where no fiber has it.",
    adding("policy: {equalise: site}\n", GOOD),
    adding("policy: {equalise: site, raman_tilt: always}\n", GOOD),
)
RULES: tuple[Rule, ...] = (DARK_BAND, LAUNCH, GRID, PARTIAL, OTHER_BAND, NO_EFFECT)


def dark_bands(network: Network) -> list[NamedBand]:
    """Bands for which no allowed amplifier is made."""
    return [band for band in network.topology.gear.bands if not allowed_amplifiers(network, band)]


def check(network: Network, lines: Mapping[FiberId, Line | NoLine]) -> Iterator[Finding]:
    """What bands, grid, launch and load ask of the gear."""
    yield from _bands(network)
    yield from _grid(network)
    yield from _launch(network, lines)
    yield from _effect(network)
    percent = network.policy.load_percent
    if percent < 100:
        at = network.document.locate(("policy", "load_percent"))
        yield Finding(PARTIAL, at, f"light is judged at {percent:g} % of full load", "judge at 100 to be sure for good")


def _bands(network: Network) -> Iterator[Finding]:
    gear, locate = network.topology.gear, network.document.locate
    if any(fiber.amplified for fiber in network.fibers.values()):
        for band in dark_bands(network):
            fit = [name for name, part in network.catalog.amplifiers.items() if covers(part.band, band)]
            hint = (
                f"allow {' or '.join(fit[:3])}"
                if fit
                else "give an own amplifier, with its band, under `gear.amplifiers`"
            )
            at: Loc = ("gear", "band") if gear.band else ("gear",)
            named = f"the {band.name} band" if gear.band else "the band"
            message = f"no allowed amplifier covers {named}, {band.start_thz:g} to {band.end_thz:g} THz"
            yield Finding(DARK_BAND, locate(at), message, hint)
    for i, name in enumerate(gear.allow.amplifiers or ()):
        made_for = network.catalog.amplifiers[name].band
        if not any(covers(made_for, band) for band in gear.bands):
            yield Finding(
                OTHER_BAND,
                locate(("gear", "allow", "amplifiers", i)),
                f"{name} is made for the {made_for} band, which is not used",
            )


def _grid(network: Network) -> Iterator[Finding]:
    gear, locate = network.topology.gear, network.document.locate
    if gear.grid_ghz is None:
        return
    widest = max(gear.grid_ghz)
    fitting = False
    for name, part in allowed_transponders(network).items():
        modes = [mode for mode in part.modes.values() if mode.required_osnr_db is not None]
        fits = any(on_grid(network, mode) is not None for mode in modes)
        fitting |= fits
        if modes and not fits and gear.allow.transponders is not None:
            place = gear.allow.transponders.index(name)
            least = min(mode.width_ghz for mode in modes)
            message = f"{name} needs {least:g} GHz, the grid has {widest:g} at most"
            yield Finding(GRID, locate(("gear", "allow", "transponders", place)), message)
    if not fitting and gear.allow.transponders is None:
        message = f"no mode of the catalog fits a grid of {widest:g} GHz"
        yield Finding(GRID, locate(("gear", "grid_ghz")), message)


def _launch(network: Network, lines: Mapping[FiberId, Line | NoLine]) -> Iterator[Finding]:
    for name, line in lines.items():
        own, general = network.fibers[name].launch_dbm, network.policy.launch_dbm
        given = general if own is None else own
        if given is None or not isinstance(line, Line) or not line.booster:
            continue
        for each, band in zip(line.in_bands, network.topology.gear.bands, strict=False):
            channels = reference_comb(band).channels
            weakest = min(each.amplifiers, key=lambda part: network.catalog.amplifiers[part].output_max_dbm)
            most = network.catalog.amplifiers[weakest].output_max_dbm - db(channels)
            if given > most + 1e-9:
                at: Loc = ("policy", "launch_dbm") if own is None else ("fibers", name, "launch_dbm")
                message = (
                    f"{given:g} dBm on {channels} channels of {REFERENCE_WIDTH_GHZ:g} GHz is beyond {weakest} "
                    f"on {name}, which gives {most:.1f} dBm each"
                )
                yield Finding(LAUNCH, network.document.locate(at), message, f"give {most:.1f} dBm or less")


def _effect(network: Network) -> Iterator[Finding]:
    policy, locate = network.policy, network.document.locate
    types = network.catalog.fibers
    kinds = [
        types[name]
        for fiber in network.fibers.values()
        for name in {fiber.type, *_span_types(fiber)}
        if fiber.amplified
    ]
    if policy.equalise == "site" and not Shape.of(network).matters(kinds):
        yield Finding(NO_EFFECT, locate(("policy", "equalise")), "no fiber tilts, so levels are equal everywhere")
    if policy.raman_tilt == "always" and not any(slope_per_w_km_thz(kind) > 0 for kind in kinds):
        yield Finding(NO_EFFECT, locate(("policy", "raman_tilt")), "no fiber has Raman scattering")


def _span_types(fiber: Fiber) -> set[str]:
    return {span.type for span in fiber.spans or () if span.type}
