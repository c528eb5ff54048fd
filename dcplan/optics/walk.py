"""Noise along many routes at once under a full load of one mode: every hop adds booster, amplifiers, nonlinearity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.optics.amplifier import MEASURED_IN_GHZ, noise_figures_db
from dcplan.units import NOISE_BANDWIDTH_GHZ, PLANCK_J_S, db, from_db

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Amplifier, Mode
    from dcplan.optics.journey import Journey
    from dcplan.optics.loading import Loading
    from dcplan.optics.nonlinear import Comb

    Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class Loads:
    """All ways under a full load of one mode, W ways; filled once, used by every route."""

    comb: Comb
    each: tuple[Loading, ...]
    launch_dbm: Array
    noise_factor: Array
    nli_per_w2: Array
    """Shape (W, channels)."""
    unlike: Array | None
    """Amplifier noise of each channel over that of the mean channel, shape (W, channels); none: all alike."""
    sag_db: Array
    """By how much the lowest channel arrives below the mean, shape (W,) [dB]."""
    boosters: tuple[Amplifier, ...]
    """Distinct boosters."""
    booster: NDArray[int64]
    """Which of them each way has."""
    following: NDArray[bool_]
    """Ways whose amplifiers are less noisy, or more, with less light in."""

    @classmethod
    def of(cls, comb: Comb, each: Sequence[Loading], boosters: Sequence[Amplifier]) -> Loads:
        """Loads in arrays; `boosters` has one amplifier for each way."""
        import numpy as np

        distinct = tuple({id(amplifier): amplifier for amplifier in boosters}.values())
        place = {id(amplifier): number for number, amplifier in enumerate(distinct)}
        return cls(
            comb=comb,
            each=tuple(each),
            launch_dbm=np.array([load.launch_dbm for load in each]),
            noise_factor=np.array([load.noise_factor for load in each]),
            nli_per_w2=np.stack([load.nli_per_w2 for load in each]),
            unlike=_unlike(each),
            sag_db=np.array([load.sag_db for load in each]),
            boosters=distinct,
            booster=np.array([place[id(amplifier)] for amplifier in boosters]),
            following=np.array([bool(load.following) for load in each]),
        )


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise over signal in 0.1 nm at the worst channel of each route, part by part; shape (R,) or (R, H)."""

    every: Array
    """All noise of every channel: transmitter, nodes, amplifiers, nonlinearity; shape (R, channels)."""
    worst_thz: Array
    total: Array
    """All noise of the worst channel."""
    booster: Array
    spans: Array
    nonlinear: Array
    launch_dbm: Array
    starved: NDArray[bool_]
    """The booster's gain, not the line, limits the launch."""
    arriving_dbm: Array
    """Power per channel behind the drop [dBm]."""


def noise_along(journey: Journey, loads: Loads, mode: Mode) -> Noise:
    """Noise over signal of every channel of every route, its worst channel, and the parts of that.

    Per hop: launch P = min(line's launch, input + largest gain); booster NF G h f B / P with G = max(P / input,
    least gain); amplifiers Σ NF G h f B / P; nonlinearity η P². B = 12.5 GHz; η in the signal bandwidth is scaled
    by 12.5 GHz / symbol rate. All parts add up linearly.
    """
    return with_transmitter(noise_without(journey, loads, mode.tx_dbm), mode)


def with_transmitter(noise: Noise, mode: Mode) -> Noise:
    """The noise with that of the mode's transmitter, the same on every channel."""
    own = 0.0 if mode.tx_osnr_db is None else from_db(-mode.tx_osnr_db)
    return replace(noise, every=noise.every + own, total=noise.total + own) if own else noise


def noise_without(journey: Journey, loads: Loads, tx_dbm: float) -> Noise:
    """`noise_along` but for the noise of the transmitter: the same for all modes of one load and transmitted power."""
    import numpy as np

    count, longest = journey.hops.shape
    launch, booster, spans, power = (np.zeros((count, longest)) for _ in range(4))
    starved = np.zeros((count, longest), dtype=np.bool_)
    total = np.zeros((count, loads.comb.channels))
    more, tilt = np.empty_like(total), None if loads.unlike is None else np.zeros_like(total)
    scale = NOISE_BANDWIDTH_GHZ / loads.comb.baud_gbd
    for hop in range(longest):
        taken = journey.hops[:, hop] >= 0
        here = slice(None) if taken.all() else np.flatnonzero(taken)
        way = journey.hops[here, hop]
        before = tx_dbm if hop == 0 else launch[here, hop - 1]
        arriving = before - journey.loss_before_db[here, hop]
        most, gain, figure = _booster(loads, way, arriving)
        launch[here, hop] = np.minimum(loads.launch_dbm[way], most)
        starved[here, hop] = most < loads.launch_dbm[way]
        watts = 1e-3 * 10 ** (launch[here, hop] / 10)
        power[here, hop] = watts
        booster[here, hop] = 10 ** ((gain + figure) / 10) / watts
        spans[here, hop] = _span_noise(loads, way, launch[here, hop], starved[here, hop]) / watts
        nonlinear = np.take(loads.nli_per_w2, way, axis=0, out=more[: len(way)], mode="clip")
        nonlinear *= (watts**2 * scale)[:, None]
        total[here] += nonlinear
        if tilt is not None and loads.unlike is not None:
            tilt[here] += (loads.unlike[way] - 1) * spans[here, hop][:, None]
    frequencies_thz = loads.comb.frequencies_thz()
    quantum = PLANCK_J_S * frequencies_thz * 1e12 * NOISE_BANDWIDTH_GHZ * 1e9
    total += np.multiply((booster + spans).sum(axis=1)[:, None], quantum[None, :], out=more)
    total += journey.nodes_noise[:, None]
    if tilt is not None:
        total += tilt * quantum[None, :]
    worst, rows = total.argmax(axis=1), np.arange(count)
    if loads.unlike is not None:
        spans *= loads.unlike[journey.hops, worst[:, None]]
    last = (journey.hops >= 0).sum(axis=1) - 1
    return Noise(
        every=total,
        worst_thz=frequencies_thz[worst],
        total=total[rows, worst],
        booster=booster * quantum[worst][:, None],
        spans=spans * quantum[worst][:, None],
        nonlinear=loads.nli_per_w2[journey.hops, worst[:, None]] * power**2 * scale,
        launch_dbm=launch,
        starved=starved,
        arriving_dbm=launch[rows, last] - journey.drop_db - loads.sag_db[journey.hops[rows, last]],
    )


def _unlike(each: Sequence[Loading]) -> Array | None:
    import numpy as np

    if all(load.unlike is None for load in each):
        return None
    return np.stack([np.ones_like(load.nli_per_w2) if load.unlike is None else load.unlike for load in each])


def _booster(loads: Loads, way: NDArray[int64], arriving_dbm: Array) -> tuple[Array, Array, Array]:
    """Largest output [dBm] that gain allows, gain [dB] and noise figure [dB] of the booster of each way."""
    import numpy as np

    most, gain, figure = np.zeros((3, len(way)))
    for number, amplifier in enumerate(loads.boosters):
        these = slice(None) if len(loads.boosters) == 1 else loads.booster[way] == number
        most[these] = arriving_dbm[these] + amplifier.gain_max_db
        target = np.minimum(loads.launch_dbm[way[these]], most[these])
        gain[these] = np.maximum(target - arriving_dbm[these], amplifier.gain_min_db)
        per_50_ghz = arriving_dbm[these] + db(MEASURED_IN_GHZ / loads.comb.width_ghz)
        figure[these] = noise_figures_db(amplifier, gain[these], per_50_ghz)
    return most, gain, figure


def _span_noise(loads: Loads, way: NDArray[int64], launch_dbm: Array, starved: NDArray[bool_]) -> Array:
    """NF × G of the amplifiers behind the spans; anew for less launch where noise figures follow the input."""
    import numpy as np

    factor: Array = loads.noise_factor[way]
    if not loads.following.any():
        return factor
    for row in np.flatnonzero(starved & loads.following[way]).tolist():
        factor[row] = loads.each[way[row]].noise_factor_at(float(launch_dbm[row]))
    return factor
