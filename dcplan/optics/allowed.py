"""Which parts a plan may use: those that the file names, or every one whose figures are published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.optics.nonlinear import Comb, full_load

if TYPE_CHECKING:
    from dcplan.catalog.parts import Amplifier, Equipment, Mode, Transponder
    from dcplan.model.network import Network, SiteId


def allowed_amplifiers(network: Network) -> dict[str, Amplifier]:
    """Amplifiers by id: those in gear.allow, or all of the catalog but estimates (low confidence)."""
    catalog, names = network.catalog.amplifiers, network.topology.gear.allow.amplifiers
    if names is not None:
        return {name: catalog[name] for name in dict.fromkeys(names)}
    return {name: amplifier for name, amplifier in catalog.items() if amplifier.confidence != "low"}


def allowed_transponders(network: Network) -> dict[str, Transponder]:
    """Transponders by id: those in gear.allow, or all of the catalog but estimates (low confidence)."""
    catalog, names = network.catalog.transponders, network.topology.gear.allow.transponders
    if names is not None:
        return {name: catalog[name] for name in dict.fromkeys(names)}
    return {name: transponder for name, transponder in catalog.items() if transponder.confidence != "low"}


def load_of(network: Network, mode: Mode) -> Comb:
    """The comb of a mode that fills the network's band."""
    gear = network.topology.gear
    return full_load(gear.band_start_thz, gear.band_end_thz, mode.width_ghz, mode.baud_gbd)


def usable_modes(network: Network) -> list[tuple[str, str, Mode]]:
    """(transponder, mode name, mode) of every allowed mode with a published OSNR that fits the band."""
    return [
        (part, name, mode)
        for part, transponder in allowed_transponders(network).items()
        for name, mode in transponder.modes.items()
        if mode.required_osnr_db is not None and load_of(network, mode).channels > 0
    ]


def terminal(network: Network, site: SiteId) -> tuple[str, Equipment]:
    """The gear at each end of a lit pair in a site, id and part: `roadm` where light can pass, else `mux`.

    Light can pass where the site allows it (`express`) and has fibers to two different sites.
    """
    neighbours = {other for _, other in network.neighbours(site)}
    name = "roadm" if network.sites[site].express and len(neighbours) > 1 else "mux"
    return name, network.catalog.equipment[name]
