"""Codes 214, 215 and 36x: what is lit already must be there, join, and run on pairs that are lit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import Finding, Rule, Severity, did_you_mean
from dcplan.model.graph import walk
from dcplan.model.rules.examples import adding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dcplan.model.existing import Existing, ExistingWavelengths
    from dcplan.model.network import Network
    from dcplan.model.source import Loc

Fault = tuple[Rule, "Loc", str, str | None]
"""A rule, where it is broken, what was found, what to do."""
PORT = "long-haul port"
"""What the one mode of an appliance is called."""

_LIT = (
    "existing:\n  fibers: {north: {pairs: 2}}\n  wavelengths:\n"
    "    - {route: [north], transponder: 800zr, mode: 800g, count: 2}\n"
)


def _but(was: str, now: str) -> str:
    if was not in _LIT:
        raise ValueError(f"the example has no passage {was!r}")
    return adding(_LIT.replace(was, now, 1))


FIBER = Rule(
    "DCP214",
    "unknown-existing-fiber",
    Severity.ERROR,
    "What is lit or leased already runs on fibers and circuits of the file; spare transponders stand at its sites.",
    _but("{north: {pairs: 2}}", "{nroth: {pairs: 2}}"),
    adding(_LIT),
)
MODE = Rule(
    "DCP215",
    "unknown-existing-mode",
    Severity.ERROR,
    "A wavelength that is lit already has a transponder of the catalog or of the file, and one of its modes; leased"
    " capacity is a module of its circuit.",
    _but("mode: 800g", "mode: 800gb"),
    adding(_LIT),
)
NO_ROUTE = Rule(
    "DCP360",
    "existing-route-parted",
    Severity.ERROR,
    "The fibers of an existing wavelength join one after the other and pass no site twice.",
    _but("fibers: {north: {pairs: 2}}", "fibers: {north: {pairs: 2}, south: {pairs: 1}}").replace(
        "route: [north]", "route: [north, south]"
    ),
    adding(_LIT),
)
MOST_PAIRS = Rule(
    "DCP361",
    "existing-pairs-beyond-fiber",
    Severity.ERROR,
    "No more pairs of a fiber can be lit already than it has, nor more modules of a circuit be leased.",
    _but("pairs: 2", "pairs: 9"),
    adding(_LIT),
)
DARK = Rule(
    "DCP362",
    "existing-on-dark-pair",
    Severity.ERROR,
    "A wavelength that is lit already runs on a lit pair of each fiber; `existing.fibers` says how many are lit.",
    _but("route: [north]", "route: [south]"),
    adding(_LIT),
)
NAMES = (FIBER, MODE)
RULES = (NO_ROUTE, MOST_PAIRS, DARK)


def check_names(network: Network) -> list[Finding]:
    """Fibers, transponders and modes of what is lit already that are not there."""
    return located(network, unknown(network))


def check(network: Network) -> list[Finding]:
    """Routes that do not join, and pairs that are not lit or not there."""
    return located(network, faults(network))


def located(network: Network, broken: Iterable[Fault]) -> list[Finding]:
    """Faults as findings where they stand in the file."""
    return [Finding(rule, network.document.locate(loc), what, hint) for rule, loc, what, hint in broken]


def unknown(network: Network) -> Iterator[Fault]:
    """Names that nothing has."""
    existing = network.topology.existing
    if existing is None:
        return
    for name in existing.fibers:
        if name not in network.fibers:
            yield _no_fiber(network, ("existing", "fibers", name), name)
    for i, lit in enumerate(existing.wavelengths):
        at: Loc = ("existing", "wavelengths", i)
        for place, name in enumerate(lit.route):
            if name not in network.fibers:
                yield _no_fiber(network, (*at, "route", place), name)
        yield from _no_mode(network, at, lit)
    yield from _no_circuit(network, existing)
    yield from _no_spare(network, existing)


def _no_circuit(network: Network, existing: Existing) -> Iterator[Fault]:
    for name, modules in existing.circuits.items():
        if name not in network.circuits:
            hint = did_you_mean(name, network.circuits, "the names stand under `circuits`")
            yield FIBER, ("existing", "circuits", name), f"there is no circuit `{name}`", hint
            continue
        known = network.circuits[name].modules
        for module in modules:
            if module not in known:
                hint = did_you_mean(module, known, f"its modules: {', '.join(known)}")
                yield MODE, ("existing", "circuits", name, module), f"circuit `{name}` has no module `{module}`", hint


def _no_spare(network: Network, existing: Existing) -> Iterator[Fault]:
    known = {**network.catalog.transponders, **network.catalog.appliances}
    for i, site in enumerate(existing.roadms):
        if site not in network.sites:
            hint = did_you_mean(site, network.sites, "the names stand under `sites`")
            yield FIBER, ("existing", "roadms", i), f"there is no site `{site}`", hint
    for site, parts in existing.transponders.items():
        at: Loc = ("existing", "transponders", site)
        if site not in network.sites:
            hint = did_you_mean(site, network.sites, "the names stand under `sites`")
            yield FIBER, at, f"there is no site `{site}`", hint
        for part in parts:
            if part not in known:
                hint = did_you_mean(part, known, "`dcplan catalog transponders` lists all")
                yield MODE, (*at, part), f"there is no transponder `{part}`", hint


def _no_fiber(network: Network, at: Loc, name: str) -> Fault:
    hint = did_you_mean(name, network.fibers, "the names stand under `fibers`")
    return FIBER, at, f"there is no fiber `{name}`", hint


def _no_mode(network: Network, at: Loc, lit: ExistingWavelengths) -> Iterator[Fault]:
    catalog = network.catalog
    if lit.transponder in catalog.appliances:
        modes: Iterable[str] = (PORT,)
    elif lit.transponder in catalog.transponders:
        modes = catalog.transponders[lit.transponder].modes
    else:
        known = {**catalog.transponders, **catalog.appliances}
        hint = did_you_mean(lit.transponder, known, "`dcplan catalog transponders` lists all")
        yield MODE, (*at, "transponder"), f"there is no transponder `{lit.transponder}`", hint
        return
    if lit.mode not in modes:
        hint = did_you_mean(lit.mode, modes, f"its modes: {', '.join(modes)}")
        yield MODE, (*at, "mode"), f"{lit.transponder} has no mode `{lit.mode}`", hint


def faults(network: Network) -> Iterator[Fault]:
    """What sites and fibers alone tell to be wrong."""
    existing = network.topology.existing
    if existing is None:
        return
    for name, fiber in existing.fibers.items():
        have = network.fibers[name].pairs
        if fiber.pairs > have:
            message = f"{fiber.pairs} pairs of `{name}` are lit, it has {have}"
            yield MOST_PAIRS, ("existing", "fibers", name, "pairs"), message, f"give `fibers.{name}` its `pairs`"
    for name, modules in existing.circuits.items():
        yield from _too_many(network, name, modules)
    for i, lit in enumerate(existing.wavelengths):
        at: Loc = ("existing", "wavelengths", i)
        if walk(network, lit.route) is None:
            fibers = ", ".join(f"{name} ({' – '.join(network.fibers[name].ends)})" for name in lit.route)
            message = f"these fibers do not join one after the other, or pass a site twice: {fibers}"
            yield NO_ROUTE, (*at, "route"), message, "list them in the order in which light passes them"
        yield from _dark(network, at, lit)


def _too_many(network: Network, name: str, leased: Mapping[str, int]) -> Iterator[Fault]:
    circuit = network.circuits[name]
    if circuit.pick == "one" and sum(leased.values()) > 1:
        message = f"{sum(leased.values())} modules of circuit `{name}` are leased, one may be picked"
        yield MOST_PAIRS, ("existing", "circuits", name), message, None
    for module, count in leased.items():
        most = circuit.modules[module].most
        if most is not None and count > most:
            message = f"{count} × `{module}` of circuit `{name}` are leased, there are {most}"
            yield MOST_PAIRS, ("existing", "circuits", name, module), message, None


def _dark(network: Network, at: Loc, lit: ExistingWavelengths) -> Iterator[Fault]:
    existing = network.topology.existing
    there = existing.fibers if existing else {}
    for place, name in enumerate(lit.route):
        pairs = there[name].pairs if name in there else 0
        wanted = 1 if lit.on_pairs is None else lit.on_pairs[place]
        if wanted > pairs:
            which = "none is lit" if not pairs else f"{pairs} {'is' if pairs == 1 else 'are'} lit"
            where: Loc = (*at, "route", place) if lit.on_pairs is None else (*at, "on_pairs", place)
            hint = f"say under `existing.fibers.{name}` how many pairs are lit"
            yield DARK, where, f"it runs on pair {wanted} of `{name}`, of which {which}", hint
