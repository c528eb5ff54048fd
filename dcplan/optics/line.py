"""Makes a fiber ready for light: an amplifier behind each span in both directions, a booster at each end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.allowed import allowed_amplifiers, terminal
from dcplan.optics.amplifier import LATENCY_MS, Need, Setting, ase_w, choose, largest_gain_db, noise_figure_db
from dcplan.optics.budget import Line, SpanRow
from dcplan.optics.loading import nli_per_w2, noise_factor
from dcplan.optics.nonlinear import Comb, full_load, optimum_w
from dcplan.optics.spans import PlainSpan, spans_of
from dcplan.units import db, dbm, from_db, watts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dcplan.catalog.parts import Amplifier, FiberType
    from dcplan.model.network import FiberId, Network
    from dcplan.model.schema import Policy

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


def design_lines(network: Network) -> dict[FiberId, Line | NoLine]:
    """The line of every fiber, in file order."""
    return {fiber: design_line(network, fiber) for fiber in network.fibers}


def design_line(network: Network, fiber: FiberId) -> Line | NoLine:
    """The spans and amplifiers of a fiber.

    Spans are those listed, else equal and the fewest that the limits of policy and amplifiers allow. Behind each
    span stands the amplifier that leaves the best GSNR there (noise figure at the working gain, padding, output
    limit); a booster, the same at both ends, that leaves the line the best GSNR. The preamplifier brings a channel
    back to launch power. Latency: length × group index / c and 0.1 µs for each amplifier.
    """
    allowed, kind, policy = allowed_amplifiers(network), network.fiber_type(fiber), network.policy
    gear = network.topology.gear
    spans = spans_of(network, fiber, allowed)
    comb = full_load(gear.band_start_thz, gear.band_end_thz, REFERENCE_WIDTH_GHZ, REFERENCE_BAUD_GBD)
    if comb.channels == 0:
        comb = Comb(comb.first_thz, comb.width_ghz, comb.baud_gbd, 1)
    limit_db = policy.max_span_loss_db
    if network.fibers[fiber].spans is None and spans[0].loss_db > limit_db + 1e-9:
        return NoLine(fiber, f"connectors, splices and repairs alone exceed the span loss limit of {limit_db:g} dB", 1)
    ways = []
    for numbered in (list(enumerate(spans, 1)), list(enumerate(spans, 1))[::-1]):
        rows = _amplify(allowed, kind, policy, comb, numbered)
        if isinstance(rows, _Unreached):
            return NoLine(fiber, rows.reason, rows.span_number)
        ways.append(rows)
    nli = float(nli_per_w2(kind, policy.connector_db, spans, comb)[comb.centre])
    add_db = max(terminal(network, site)[1].loss_db for site in network.fibers[fiber].ends)
    booster = _booster(allowed, REFERENCE_TRANSMIT_DBM - add_db, comb, nli, ways)
    if booster is None:
        return NoLine(fiber, "no allowed amplifier may stand as a booster", None)
    forward, back = ways
    length_km = sum(span.length_km for span in spans)
    delays = sum(allowed[name].pmd_ps ** 2 for name in (booster, *(row.amplifier for row in forward)))
    return Line(
        fiber=fiber,
        length_km=length_km,
        latency_ms=network.fiber_latency_ms(fiber) + (len(spans) + 1) * LATENCY_MS,
        booster=booster,
        spans=forward,
        dispersion_ps_nm=kind.dispersion_ps_nm_km * length_km,
        pmd_ps=math.sqrt(kind.pmd_ps_sqrt_km**2 * length_km + delays),
        back=back,
    )


@dataclass(frozen=True, slots=True)
class _Unreached:
    reason: str
    span_number: int


def _amplify(
    allowed: Mapping[str, Amplifier],
    kind: FiberType,
    policy: Policy,
    comb: Comb,
    numbered: list[tuple[int, PlainSpan]],
) -> tuple[SpanRow, ...] | _Unreached:
    """An amplifier behind each span in the order of travel; `numbered` keeps each span's number in the file."""
    rows: list[SpanRow] = []
    chosen: dict[tuple[str, PlainSpan], tuple[Setting, str] | None] = {}
    for place, (number, span) in enumerate(numbered, 1):
        role = "preamp" if place == len(numbered) else "line"
        if (role, span) not in chosen:
            chosen[role, span] = choose(allowed, _need(role, span, kind, policy, comb))
        if (found := chosen[role, span]) is None:
            return _Unreached(_why_unreached(allowed, role, span.loss_db), number)
        setting, why = found
        rows.append(
            SpanRow(
                number=place,
                length_km=span.length_km,
                fiber_loss_db=span.fiber_loss_db,
                loss_db=span.loss_db,
                measured=span.measured,
                amplifier=setting.amplifier,
                padding_db=setting.padding_db,
                gain_db=setting.gain_db,
                noise_figure_db=setting.noise_figure_db,
                why=why,
            )
        )
    return tuple(rows)


def _need(role: str, span: PlainSpan, kind: FiberType, policy: Policy, comb: Comb) -> Need:
    return Need(
        role=role,
        loss_db=span.loss_db,
        frequency_thz=comb.centre_thz,
        baud_gbd=comb.baud_gbd,
        channels=comb.channels,
        nli_per_w2=float(nli_per_w2(kind, policy.connector_db, [span], comb)[comb.centre]),
    )


def _why_unreached(allowed: Mapping[str, Amplifier], role: str, loss_db: float) -> str:
    place = "a preamplifier" if role == "preamp" else "an amplifier in a hut"
    most = largest_gain_db(allowed, role)
    if math.isinf(most):
        return f"no allowed amplifier may stand as {place}"
    return f"loss of {loss_db:.1f} dB is beyond the largest gain of {place}, {most:.1f} dB"


def _booster(
    allowed: Mapping[str, Amplifier], input_dbm: float, comb: Comb, nli: float, ways: list[tuple[SpanRow, ...]]
) -> str | None:
    """The booster that leaves the line the best GSNR: output limit, and noise at the gain from input to launch."""
    frequency = comb.centre_thz
    noise = max(noise_factor(rows) for rows in ways)
    names = {row.amplifier for rows in ways for row in rows}
    spans_dbm = min(allowed[name].output_max_dbm for name in names) - db(comb.channels)
    optimum_dbm = dbm(optimum_w(ase_w(noise, frequency, comb.baud_gbd), nli))
    best: tuple[float, str] | None = None
    for name, amplifier in allowed.items():
        if amplifier.role not in ("any", "booster"):
            continue
        output_dbm = amplifier.output_max_dbm - db(comb.channels)
        launch = min(optimum_dbm, spans_dbm, output_dbm, input_dbm + amplifier.gain_max_db)
        gain = max(launch - input_dbm, amplifier.gain_min_db)
        own = from_db(noise_figure_db(amplifier, gain) + gain)
        score = ase_w(noise + own, frequency, comb.baud_gbd) / watts(launch) + nli * watts(launch) ** 2
        if best is None or score < best[0]:
            best = (score, name)
    return None if best is None else best[1]
