"""Which parts a plan may use: those that the file names, or every one whose figures are published."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.catalog.bands import covers
from dcplan.model.grid import lower_edge_thz
from dcplan.optics.nonlinear import Comb, full_load

if TYPE_CHECKING:
    from dcplan.catalog.bands import NamedBand
    from dcplan.catalog.parts import Amplifier, Equipment, Mode, Transponder
    from dcplan.model.network import Network, SiteId


def allowed_amplifiers(network: Network, band: NamedBand | None = None) -> dict[str, Amplifier]:
    """Amplifiers by id that cover a band, by default the network's lowest: of those in gear.allow, or of the catalog.

    Estimates (low confidence) only by name, and Raman pumps, which make an open fiber dangerous.
    """
    catalog, names = network.catalog.amplifiers, network.topology.gear.allow.amplifiers
    band = network.topology.gear.bands[0] if band is None else band
    if names is None:
        names = [name for name, part in catalog.items() if part.confidence != "low" and part.raman is None]
    return {name: catalog[name] for name in dict.fromkeys(names) if covers(catalog[name].band, band)}


def allowed_transponders(network: Network) -> dict[str, Transponder]:
    """Transponders by id: those in gear.allow, or all of the catalog but estimates (low confidence)."""
    catalog, names = network.catalog.transponders, network.topology.gear.allow.transponders
    if names is not None:
        return {name: catalog[name] for name in dict.fromkeys(names)}
    return {name: transponder for name, transponder in catalog.items() if transponder.confidence != "low"}


def load_of(network: Network, mode: Mode, band: NamedBand | None = None) -> Comb:
    """The comb of a mode that loads a band, by default the network's lowest, from its first edge on the flexible grid.

    As many channels as `policy.load_percent` asks; at less than full load they stand side by side in the middle, where
    they disturb each other most.
    """
    band = network.topology.gear.bands[0] if band is None else band
    whole = full_load(lower_edge_thz(band.start_thz), band.end_thz, mode.width_ghz, mode.baud_gbd)
    lit = math.ceil(whole.channels * network.policy.load_percent / 100 - 1e-9)
    first = whole.first_thz + (whole.channels - lit) // 2 * whole.width_ghz / 1e3
    return replace(whole, first_thz=first, channels=lit)


def on_grid(network: Network, mode: Mode) -> Mode | None:
    """The mode with the width that it takes on the network's grid; none where it is wider than the grid."""
    widths = network.topology.gear.grid_ghz
    if widths is None:
        return mode
    width = min((width for width in widths if width >= mode.width_ghz), default=None)
    return None if width is None else mode.model_copy(update={"width_ghz": width})


def usable_modes(network: Network) -> list[tuple[str, str, Mode]]:
    """(transponder, mode name, mode) of every allowed mode with a published OSNR that fits a band, as on the grid."""
    found = []
    for part, transponder in allowed_transponders(network).items():
        for name, own in transponder.modes.items():
            mode = on_grid(network, own)
            if mode is not None and mode.required_osnr_db is not None and fits(network, mode):
                found.append((part, name, mode))
    return found


def fits(network: Network, mode: Mode) -> bool:
    """At least one channel of the mode fits into one of the bands."""
    return any(load_of(network, mode, band).channels > 0 for band in network.topology.gear.bands)


def terminal(network: Network, site: SiteId) -> tuple[str, Equipment]:
    """The gear at each end of a lit pair in a site, id and part: `roadm` where light passes, else `mux`.

    Light passes where a design has decided so; before there is one, where it can: where the site allows it (`express`)
    and has amplified fibers to two different sites.
    """
    if network.roadms is not None:
        name = "roadm" if site in network.roadms else "mux"
        return name, network.catalog.equipment[name]
    neighbours = {other for fiber, other in network.neighbours(site) if network.fibers[fiber].amplified}
    name = "roadm" if network.sites[site].express and len(neighbours) > 1 else "mux"
    return name, network.catalog.equipment[name]


def crossed(network: Network) -> frozenset[SiteId]:
    """Sites that let light pass, once they have ROADMs."""
    if network.catalog.equipment["roadm"].express_loss_db is None:
        return frozenset()
    return frozenset(site for site, about in network.sites.items() if about.express)
