"""Margins among the channels that are really lit: mixed widths beside each other, gaps, part of the band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.allowed import load_of, usable_modes
from dcplan.optics.existing import with_existing_parts
from dcplan.optics.fiber import span_attenuation_db_per_km
from dcplan.optics.journey import ways_of
from dcplan.optics.lightpath import kinds_of, plain_load
from dcplan.optics.mixture import Mixture, nli_to_signal
from dcplan.units import NOISE_BANDWIDTH_GHZ, db, from_db, watts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.catalog.parts import Mode
    from dcplan.model.network import FiberId, Network, Route, SiteId
    from dcplan.optics.budget import Budget, Line
    from dcplan.optics.journey import Way


@dataclass(frozen=True, slots=True)
class LitChannel:
    """A wavelength where it stands."""

    route: Route
    budget: Budget
    """At full load of its own mode."""
    centre_thz: float
    pairs: tuple[int, ...]
    """Which lit pair of each fiber of the route."""


def margins_as_lit(
    network: Network, lines: Mapping[FiberId, Line], channels: Sequence[LitChannel]
) -> tuple[float | None, ...]:
    """Margin of each channel beside those that are lit on the same pairs, in the worse direction of its budget [dB].

    1/GSNR = 1/GSNR of the budget + its NLI × (NLI of the mixture / NLI of the full load − 1) + its ASE × (f / f of
    its worst channel − 1); both NLI by the closed form without tilt; every channel launches as in its own full load.
    None where the budget has no margin.
    """
    modes = {(part, name): mode for part, name, mode in usable_modes(with_existing_parts(network))}
    known: dict[tuple[FiberId, SiteId, int], dict[int, float]] = {}
    plan = _Plan(network, ways_by_band(network, lines), modes, channels)
    return tuple(plan.margin_db(number, known) for number in range(len(channels)))


def ways_by_band(network: Network, lines: Mapping[FiberId, Line]) -> list[dict[tuple[FiberId, SiteId], Way]]:
    """The amplified lines in both directions, band by band."""
    lit = {fiber: line for fiber, line in lines.items() if line.booster}
    return [
        ways_of(network, {fiber: line.in_bands[place] for fiber, line in lit.items()})
        for place in range(len(network.topology.gear.bands))
    ]


@dataclass(frozen=True, slots=True)
class _Plan:
    network: Network
    ways: list[dict[tuple[FiberId, SiteId], Way]]
    modes: Mapping[tuple[str, str], Mode]
    channels: Sequence[LitChannel]

    def margin_db(self, number: int, known: dict[tuple[FiberId, SiteId, int], dict[int, float]]) -> float | None:
        """Of one channel; `known` keeps what pairs of fibers gave already."""
        channel = self.channels[number]
        budget = channel.budget
        if budget.margin_db is None or budget.gsnr_db is None or budget.osnr_nli_db is None:
            return budget.margin_db
        full = mixed = 0.0
        for (fiber, start), pair in self.hops(channel):
            if (fiber, start, pair) not in known:
                known[fiber, start, pair] = self.mixture(fiber, start, pair)
            mixed += known[fiber, start, pair][number]
            full += self.at_full_load(channel, fiber, start)
        if full == 0:
            return budget.margin_db
        noise = from_db(-budget.gsnr_db) + from_db(-budget.osnr_nli_db) * (mixed / full - 1)
        if budget.osnr_ase_db is not None and budget.channel_thz is not None:
            noise += from_db(-budget.osnr_ase_db) * (channel.centre_thz / budget.channel_thz - 1)
        return budget.margin_db - db(noise) - budget.gsnr_db

    def hops(self, channel: LitChannel) -> list[tuple[tuple[FiberId, SiteId], int]]:
        """(fiber, site where light enters) and pair of each hop, in the direction of the budget."""
        route, pairs = channel.route, channel.pairs
        if channel.budget.direction.startswith(f"{route.sites[0]} -> "):
            return list(zip(zip(route.fibers, route.sites, strict=False), pairs, strict=True))
        back = zip(route.fibers[::-1], route.sites[::-1], strict=False)
        return list(zip(back, pairs[::-1], strict=True))

    def mode(self, channel: LitChannel) -> Mode:
        return self.modes[channel.budget.transponder, channel.budget.mode]

    def band(self, channel: LitChannel) -> int:
        bands = self.network.topology.gear.bands
        return next((i for i, band in enumerate(bands) if channel.centre_thz <= band.end_thz + 1e-9), len(bands) - 1)

    def launch_w(self, channel: LitChannel, fiber: FiberId, start: SiteId) -> float:
        place = self.band(channel)
        comb = load_of(self.network, self.mode(channel), self.network.topology.gear.bands[place])
        return watts(plain_load(self.network, self.ways[place][fiber, start], comb).launch_dbm)

    def at_full_load(self, channel: LitChannel, fiber: FiberId, start: SiteId) -> float:
        """NLI over signal in 0.1 nm of one hop at the worst channel of a full load."""
        place, mode = self.band(channel), self.mode(channel)
        comb = load_of(self.network, mode, self.network.topology.gear.bands[place])
        loading = plain_load(self.network, self.ways[place][fiber, start], comb)
        worst_thz = comb.centre_thz if channel.budget.channel_thz is None else channel.budget.channel_thz
        worst = round((worst_thz - comb.first_thz) * 1e3 / comb.width_ghz)
        at = min(max(worst, 0), comb.channels - 1)
        return float(loading.nli_per_w2[at]) * watts(loading.launch_dbm) ** 2 * NOISE_BANDWIDTH_GHZ / mode.baud_gbd

    def mixture(self, fiber: FiberId, start: SiteId, pair: int) -> dict[int, float]:
        """NLI over signal in 0.1 nm of every channel on one pair of a fiber, by number of the channel."""
        here = [
            number
            for number, channel in enumerate(self.channels)
            if any(name == fiber and on == pair for name, on in zip(channel.route.fibers, channel.pairs, strict=True))
        ]
        if not here:
            return {}
        lit = [self.channels[number] for number in here]
        powers = [(one.centre_thz, self.mode(one).baud_gbd, self.launch_w(one, fiber, start)) for one in lit]
        way, connector_db = self.ways[self.band(lit[0])][fiber, start], self.network.policy.connector_db
        total: list[float] = [0.0] * len(lit)
        for row, kind in zip(way.rows, kinds_of(self.network, way), strict=True):
            joint = from_db(-connector_db - kind.splice_db)
            mixture = Mixture.of([(at, baud, power * joint) for at, baud, power in powers])
            attenuation = span_attenuation_db_per_km(kind, row.length_km, row.fiber_loss_db)
            noise = nli_to_signal(kind, mixture, attenuation, row.length_km).tolist()
            total = [before + more for before, more in zip(total, noise, strict=True)]
        return {
            number: value * NOISE_BANDWIDTH_GHZ / self.mode(self.channels[number]).baud_gbd
            for number, value in zip(here, total, strict=True)
        }
