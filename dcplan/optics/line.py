"""Makes a fiber ready for light: an amplifier behind each span in both directions, a booster at each end."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.catalog.bands import covers
from dcplan.optics.allowed import allowed_amplifiers, terminal
from dcplan.optics.amplifier import (
    LATENCY_MS,
    Need,
    Setting,
    ase_w,
    choose,
    largest_gain_db,
    may_stand,
    noise_figure_db,
    per_50_ghz_dbm,
    settle,
)
from dcplan.optics.budget import Line, SpanRow
from dcplan.optics.loading import nli_per_w2, noise_factor
from dcplan.optics.nonlinear import Comb, full_load, optimum_w
from dcplan.optics.spans import NoSplit, PlainSpan, spans_of
from dcplan.units import db, dbm, from_db, watts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.catalog.bands import NamedBand
    from dcplan.catalog.parts import Amplifier
    from dcplan.model.network import FiberId, Network

REFERENCE_WIDTH_GHZ = 75.0
REFERENCE_BAUD_GBD = 63.1
REFERENCE_TRANSMIT_DBM = -10.0
"""Amplifiers are compared under a full load of these channels (OpenROADM 400G, 400ZR launch): a line is built once."""


@dataclass(frozen=True, slots=True)
class NoLine:
    """A fiber that the allowed amplifiers cannot make into a line."""

    fiber: FiberId
    reason: str
    span_number: int | None
    """The span at fault, from 1, counted from the fiber's first end; none where it is not a span's fault."""
    at: tuple[str | int, ...] = ()
    """The key of the fiber at fault, where it is one that stands in the file."""


def design_lines(network: Network) -> dict[FiberId, Line | NoLine]:
    """The line of every fiber, in file order."""
    return {fiber: design_line(network, fiber) for fiber in network.fibers}


def design_line(network: Network, fiber: FiberId) -> Line | NoLine:
    """The spans and amplifiers of a fiber.

    Spans are those listed, or on the huts listed, else equal and the fewest that the limits of policy and amplifiers
    allow. Behind each span stands the amplifier that is there already, else the one that leaves the best GSNR there
    (noise figure at the working gain, padding, output limit); a booster, the same at both ends, that is there or
    leaves the line the best GSNR. The preamplifier brings a channel back to launch power. Without amplifiers, glass
    alone. In several bands, amplifiers of each band at the same places. Latency: length × group index / c and 0.1 µs
    for each amplifier.
    """
    bands, lines = network.topology.gear.bands, []
    cut = [spans_of(network, fiber, allowed_amplifiers(network, band)) for band in bands]
    for spans in cut:
        if isinstance(spans, NoSplit):
            return NoLine(fiber, spans.reason, None, (spans.key,))
    shortest = max((spans for spans in cut if not isinstance(spans, NoSplit)), key=len)
    if not network.fibers[fiber].amplified:
        if not network.fibers[fiber].multiplexed and len(bands) > 1:
            return NoLine(
                fiber, "without multiplexers a pair carries one wavelength, not two bands", None, ("multiplexed",)
            )
        return _line(network, fiber, "", tuple(_bare(span) for span in shortest), ())
    for band in bands:
        line = _in_band(network, fiber, band, shortest)
        if isinstance(line, NoLine):
            named = f"{band.name} band: " if len(bands) > 1 else ""
            return replace(line, reason=named + line.reason)
        lines.append(line)
    return replace(lines[0], further=tuple(lines[1:]))


def _in_band(network: Network, fiber: FiberId, band: NamedBand, spans: tuple[PlainSpan, ...]) -> Line | NoLine:
    """The amplifiers of one band; those that are there already and serve another band stay out of it."""
    cable, policy = network.fibers[fiber], network.policy
    limit_db = policy.max_span_loss_db
    cut = cable.spans is None and cable.huts_km is None and policy.span_split == "equal"
    if cut and spans[0].loss_db > limit_db + 1e-9:
        return NoLine(fiber, f"connectors, splices and repairs alone exceed the span loss limit of {limit_db:g} dB", 1)
    plant = _Plant(network, fiber, allowed_amplifiers(network, band), reference_comb(band), band)
    numbered = list(enumerate(spans, 1))
    forward = _amplify(plant, numbered)
    if isinstance(forward, NoLine):
        return forward
    mirrored = cable.spans is None and spans == spans[::-1]  # then both directions need the same
    back = forward if mirrored else _amplify(plant, numbered[::-1])
    if isinstance(back, NoLine):
        return back
    ways = [forward, back]
    nli = plant.nli_per_w2(spans)
    add_db = max(terminal(network, site)[1].loss_db for site in cable.ends)
    given = plant.serving(cable.booster)
    booster = given or _booster(plant, REFERENCE_TRANSMIT_DBM - add_db, nli, ways)
    if booster is None:
        return NoLine(fiber, "no allowed amplifier may stand as a booster", None)
    if given is not None and not may_stand(network.catalog.amplifiers[booster], "booster"):
        return NoLine(fiber, f"{booster} cannot be a booster", None, ("booster",))
    return replace(_line(network, fiber, booster, *ways), band="" if band.name == "band" else band.name)


def reference_comb(band: NamedBand) -> Comb:
    """The load by which amplifiers are compared: the band full of reference channels, at least one."""
    comb = full_load(band.start_thz, band.end_thz, REFERENCE_WIDTH_GHZ, REFERENCE_BAUD_GBD)
    return comb if comb.channels else Comb(comb.first_thz, comb.width_ghz, comb.baud_gbd, 1)


def _line(
    network: Network, fiber: FiberId, booster: str, forward: tuple[SpanRow, ...], back: tuple[SpanRow, ...]
) -> Line:
    kinds = [(network.catalog.fibers[row.type or network.fibers[fiber].type], row.length_km) for row in forward]
    names = [name for name in (booster, *(row.amplifier for row in forward)) if name]
    delays = math.fsum(network.catalog.amplifiers[name].pmd_ps ** 2 for name in names)
    return Line(
        fiber=fiber,
        length_km=math.fsum(length for _, length in kinds),
        latency_ms=network.fiber_latency_ms(fiber) + len(names) * LATENCY_MS,
        booster=booster,
        spans=forward,
        dispersion_ps_nm=math.fsum(kind.dispersion_ps_nm_km * length for kind, length in kinds),
        pmd_ps=math.sqrt(math.fsum(kind.pmd_ps_sqrt_km**2 * length for kind, length in kinds) + delays),
        back=back,
    )


def _bare(span: PlainSpan) -> SpanRow:
    return SpanRow(
        number=1,
        length_km=span.length_km,
        fiber_loss_db=span.fiber_loss_db,
        loss_db=span.loss_db,
        measured=span.measured,
        amplifier="",
        padding_db=0.0,
        gain_db=0.0,
        noise_figure_db=0.0,
        why="no amplifier: amplified is false",
        type=span.type,
    )


@dataclass(frozen=True, slots=True)
class _Plant:
    """A fiber with what may stand along it and the load that decides."""

    network: Network
    fiber: FiberId
    allowed: Mapping[str, Amplifier]
    comb: Comb
    band: NamedBand

    def serving(self, name: str | None) -> str | None:
        """An amplifier that stands there already, where it serves this band."""
        return name if name is not None and covers(self.network.catalog.amplifiers[name].band, self.band) else None

    def nli_per_w2(self, spans: Sequence[PlainSpan]) -> float:
        """Nonlinear noise of the centre channel [1/W²]."""
        network = self.network
        kind, connector = network.fiber_type(self.fiber), network.policy.connector_db
        return float(nli_per_w2(kind, connector, spans, self.comb, network.catalog.fibers)[self.comb.centre])

    def given(self, role: str, number: int, span: PlainSpan) -> tuple[str, tuple[str | int, ...]] | None:
        """The amplifier that stands behind a span already, and where the file says so."""
        if role == "preamp" and (preamp := self.serving(self.network.fibers[self.fiber].preamp)) is not None:
            return preamp, ("preamp",)
        there = self.serving(span.amplifier)
        return None if there is None else (there, ("spans", number - 1, "amplifier"))

    def need(self, role: str, span: PlainSpan) -> Need:
        """What a place asks, padded to the least loss of the policy."""
        return Need(
            role=role,
            loss_db=max(span.loss_db, self.network.policy.min_span_loss_db),
            frequency_thz=self.comb.centre_thz,
            baud_gbd=self.comb.baud_gbd,
            channels=self.comb.channels,
            nli_per_w2=self.nli_per_w2([span]),
            width_ghz=self.comb.width_ghz,
        )


def _amplify(plant: _Plant, numbered: list[tuple[int, PlainSpan]]) -> tuple[SpanRow, ...] | NoLine:
    """An amplifier behind each span in the order of travel; `numbered` keeps each span's number in the file."""
    rows: list[SpanRow] = []
    chosen: dict[tuple[str, PlainSpan], tuple[Setting, str] | None] = {}
    for place, (number, span) in enumerate(numbered, 1):
        role = "preamp" if place == len(numbered) else "line"
        given = plant.given(role, number, span)
        if (role, span) not in chosen:
            need = plant.need(role, span)
            chosen[role, span] = choose(plant.allowed, need) if given is None else _keep(plant, given[0], need)
        if (found := chosen[role, span]) is None:
            if given is not None:
                part = plant.network.catalog.amplifiers[given[0]]
                window = f"{part.gain_min_db:g} to {part.gain_max_db:g} dB"
                reason = f"loss of {span.loss_db:.1f} dB is not within the gain of {given[0]}, {window}"
                return NoLine(plant.fiber, reason, number, given[1])
            return NoLine(plant.fiber, _why_unreached(plant.allowed, role, span.loss_db), number)
        setting, why = found
        rows.append(
            SpanRow(
                number=place,
                length_km=span.length_km,
                fiber_loss_db=span.fiber_loss_db,
                loss_db=span.loss_db,
                measured=span.measured,
                amplifier=setting.amplifier,
                padding_db=setting.gain_db - span.loss_db,
                gain_db=setting.gain_db,
                noise_figure_db=setting.noise_figure_db,
                why=why,
                type=span.type,
            )
        )
    return tuple(rows)


def _keep(plant: _Plant, name: str, need: Need) -> tuple[Setting, str] | None:
    """The amplifier that stands there, set for the span; none where it does not reach."""
    amplifier = plant.network.catalog.amplifiers[name]
    setting = settle(name, amplifier, need)
    if setting is None:
        return None
    window = f"{amplifier.gain_min_db:g} to {amplifier.gain_max_db:g} dB"
    padded = f", padded by {setting.padding_db:.1f} dB" if setting.padding_db > 0 else ""
    return setting, f"stands there: gain {window}{padded}"


def _why_unreached(allowed: Mapping[str, Amplifier], role: str, loss_db: float) -> str:
    place = "a preamplifier" if role == "preamp" else "an amplifier in a hut"
    most = largest_gain_db(allowed, role)
    if math.isinf(most):
        return f"no allowed amplifier may stand as {place}"
    return f"loss of {loss_db:.1f} dB is beyond the largest gain of {place}, {most:.1f} dB"


def _booster(plant: _Plant, input_dbm: float, nli: float, ways: list[tuple[SpanRow, ...]]) -> str | None:
    """The booster that leaves the line the best GSNR: output limit, and noise at the gain from input to launch."""
    comb, amplifiers = plant.comb, plant.network.catalog.amplifiers
    noise = max(noise_factor(rows) for rows in ways)
    names = {row.amplifier for rows in ways for row in rows}
    spans_dbm = min(amplifiers[name].output_max_dbm for name in names) - db(comb.channels)
    optimum_dbm = dbm(optimum_w(ase_w(noise, comb.centre_thz, comb.baud_gbd), nli))
    best: tuple[float, str] | None = None
    for name, amplifier in plant.allowed.items():
        if not may_stand(amplifier, "booster"):
            continue
        output_dbm = amplifier.output_max_dbm - db(comb.channels)
        launch = min(optimum_dbm, spans_dbm, output_dbm, input_dbm + amplifier.gain_max_db)
        gain = max(launch - input_dbm, amplifier.gain_min_db)
        own = from_db(noise_figure_db(amplifier, gain, per_50_ghz_dbm(input_dbm, comb.width_ghz)) + gain)
        score = ase_w(noise + own, comb.centre_thz, comb.baud_gbd) / watts(launch) + nli * watts(launch) ** 2
        if best is None or score < best[0]:
            best = (score, name)
    return None if best is None else best[1]
