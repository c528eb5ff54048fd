"""What closes on thousands of routes, as arrays; whole budgets only for those that are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.optics import unamplified
from dcplan.optics.allowed import usable_modes
from dcplan.optics.budget import Line
from dcplan.optics.judged import LIMITS, Worst, limits
from dcplan.optics.lightpath import evaluate, survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

    from dcplan.catalog.parts import Mode
    from dcplan.model.network import FiberId, Network, Route
    from dcplan.optics.budget import Budget, Lightpath
    from dcplan.optics.line import NoLine

    Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class Screened:
    """All modes on all routes; R routes, M modes. In the worse direction and band of each."""

    network: Network
    lines: Mapping[FiberId, Line | NoLine]
    routes: tuple[Route, ...]
    modes: tuple[tuple[str, str, Mode], ...]
    """Transponder, mode name, mode."""
    margin_db: Array
    """Shape (R, M); −infinite where the mode cannot work, or light cannot take the route [dB]."""
    gsnr_db: Array
    """On the worst channel, 0.1 nm, shape (R, M); nan where light cannot take the route [dB]."""
    channel_thz: Array
    """The worst channel, shape (R, M); nan where light cannot take the route [THz]."""
    back: NDArray[bool_]
    """The worse direction is from the last site to the first, shape (R, M)."""
    limit: NDArray[int64]
    """What stops the mode, or would stop it first: index into `judged.LIMITS`, shape (R, M)."""

    @property
    def closes(self) -> NDArray[bool_]:
        """The mode works with all margins, shape (R, M)."""
        result: NDArray[bool_] = self.margin_db >= 0
        return result

    def lightpaths(self, numbers: Iterable[int], *, itemise: bool = True) -> tuple[Lightpath, ...]:
        """The lightpaths of some routes, by their place, as `evaluate` gives them."""
        chosen = tuple(numbers)
        found = evaluate(
            self.network, self.lines, [self.routes[number] for number in chosen], modes=self.modes, itemise=itemise
        )
        return tuple(replace(one, id=f"L{number + 1}") for one, number in zip(found, chosen, strict=True))


def screen(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    routes: Sequence[Route],
    *,
    modes: Sequence[tuple[str, str, Mode]] | None = None,
) -> Screened:
    """Every allowed mode, or the `modes` given, on every route; appliances, which are no modes, are left out.

    The figures are those of the budgets of `lightpath.evaluate`, from the same arrays.
    """
    import numpy as np

    named = tuple(usable_modes(network) if modes is None else modes)
    column = {(transponder, name): number for number, (transponder, name, _) in enumerate(named)}
    shape = (len(routes), len(named))
    margin, gsnr, channel = (np.full(shape, empty) for empty in (-np.inf, np.nan, np.nan))
    back, limit = np.zeros(shape, np.bool_), np.full(shape, LIMITS.index("power"))
    for block in survey(network, lines, routes, modes=named):
        there, again = (Worst.of(side) for side in block.sides)
        worse = again.worse_than(there)
        rows = np.array(block.numbers)
        at = column[block.sides[0][0].named.transponder, block.sides[0][0].named.name]
        back[rows, at] = worse
        for turned, (side, worst) in enumerate(zip(block.sides, (there, again), strict=True)):
            for place, one in enumerate(side):
                mine = (worst.band == place) & (worse == bool(turned))
                here = rows[mine]
                margin[here, at] = one.verdict.margin[mine]
                gsnr[here, at] = -10 * np.log10(one.noise.total[mine])
                channel[here, at] = one.noise.worst_thz[mine]
                limit[here, at] = limits(one)[mine]
    for number, at, budget in _unamplified(network, lines, routes, named):
        margin[number, at] = -np.inf if budget.margin_db is None else budget.margin_db
        gsnr[number, at] = np.nan if budget.gsnr_db is None else budget.gsnr_db
        channel[number, at] = np.nan if budget.channel_thz is None else budget.channel_thz
        limit[number, at] = LIMITS.index(budget.limit) if budget.limit in LIMITS else LIMITS.index("power")
    return Screened(network, lines, tuple(routes), named, margin, gsnr, channel, back, limit)


def _unamplified(
    network: Network,
    lines: Mapping[FiberId, Line | NoLine],
    routes: Sequence[Route],
    modes: Sequence[tuple[str, str, Mode]],
) -> Iterator[tuple[int, int, Budget]]:
    """Route, mode and budget of every mode on every single fiber without amplifiers."""
    for number, route in enumerate(routes):
        line = lines.get(route.fibers[0]) if len(route.fibers) == 1 else None
        if isinstance(line, Line) and not line.booster:
            for at, budget in enumerate(unamplified.budgets(network, line, modes=modes, itemise=False)):
                yield number, at, budget
