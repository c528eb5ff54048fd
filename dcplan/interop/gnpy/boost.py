"""Boosters and ROADMs as GNPy sees them: one level into each booster, whatever the light comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.allowed import terminal
from dcplan.optics.amplifier import ase_w, noise_figure_db, per_50_ghz_dbm
from dcplan.units import from_db, watts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.catalog.parts import Amplifier, Equipment, Mode
    from dcplan.model.network import FiberId, Network, SiteId
    from dcplan.optics.journey import Way
    from dcplan.optics.nonlinear import Comb
    from dcplan.optics.walk import Loads

WayId = tuple[str, str]
"""A line in one direction: fiber, and the site where light enters it."""
ADDED = ("", "")
"""In place of a way: light that is added at the site."""


@dataclass(frozen=True, slots=True)
class Boost:
    """The booster of a way, set for the level that GNPy's ROADM gives to all light."""

    amplifier: str
    input_dbm: float
    """What the ROADM equalises to, per channel [dBm]."""
    launch_dbm: float
    gain_db: float
    padding_db: float
    """Attenuation in front, up to the amplifier's least gain [dB]."""
    noise_figure_db: float
    """At that gain [dB]."""
    extra_noise: Mapping[WayId, float]
    """Noise over signal in 0.1 nm that light from each source gets here and GNPy's booster does not make."""
    starved: tuple[WayId, ...]
    """Sources whose light arrives too weak for the launch, which GNPy cannot tell apart."""


def boosts(
    network: Network, ways: Mapping[tuple[FiberId, SiteId], Way], loads: Loads, mode: Mode
) -> dict[WayId, Boost]:
    """The booster of every way.

    dcplan: light that is added arrives at tx − loss of the terminal, light that passes at the launch of its last
    line − express loss, and the booster makes up for each, with its noise at that gain. GNPy: a ROADM gives all light
    one level, and gain is fixed. So the level is the one at which the booster is quietest, and what the others get
    more noise is the OSNR of their way through the ROADM.
    """
    launch = {key: float(loads.launch_dbm[number]) for number, key in enumerate(ways)}
    gear = {site: terminal(network, site)[1] for site in network.sites}
    found: dict[WayId, Boost] = {}
    for key, way in ways.items():
        levels = _levels(network, key, gear[way.start], launch, mode)
        amplifier = network.catalog.amplifiers[way.line.booster]
        found[key] = _boost(way.line.booster, amplifier, launch[key], levels, loads.comb)
    return found


def passing(network: Network, key: WayId) -> list[WayId]:
    """Ways whose light may go on into this one: every other fiber that ends in its first site."""
    fiber, site = key
    return [(other, far) for other, far in network.neighbours(site) if other != fiber and far != site]


def _levels(
    network: Network, key: WayId, gear: Equipment, launch: Mapping[WayId, float], mode: Mode
) -> dict[WayId, float]:
    """Power per channel in front of the booster, by source [dBm]."""
    levels = {ADDED: mode.tx_dbm - gear.loss_db}
    if gear.express_loss_db is not None:
        for source in passing(network, key):
            if source in launch:
                levels[source] = launch[source] - gear.express_loss_db
    return levels


def _boost(name: str, amplifier: Amplifier, line_dbm: float, levels: Mapping[WayId, float], comb: Comb) -> Boost:
    def setting(level_dbm: float) -> tuple[float, float, float]:
        launch = min(line_dbm, level_dbm + amplifier.gain_max_db)
        gain = max(launch - level_dbm, amplifier.gain_min_db)
        figure = noise_figure_db(amplifier, gain, per_50_ghz_dbm(level_dbm, comb.width_ghz))
        return launch, figure, ase_w(from_db(gain + figure), comb.centre_thz) / watts(launch)

    settings = {source: setting(level) for source, level in levels.items()}
    strongest = max(launch for launch, _, _ in settings.values())
    full = [source for source, (launch, _, _) in settings.items() if launch > strongest - 1e-9]
    quietest = min(full, key=lambda source: settings[source][2])
    launch, figure, noise = settings[quietest]
    gain = max(launch - levels[quietest], amplifier.gain_min_db)
    return Boost(
        amplifier=name,
        input_dbm=levels[quietest],
        launch_dbm=launch,
        gain_db=gain,
        padding_db=gain - (launch - levels[quietest]),
        noise_figure_db=figure,
        extra_noise={source: max(0.0, settings[source][2] - noise) for source in levels},
        starved=tuple(source for source in levels if source not in full),
    )
