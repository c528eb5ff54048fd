"""Connectors and repairs of imported spans: one figure each for the whole network, the rest in the loss of the span."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.interop.gnpy.fold import Cable
    from dcplan.interop.gnpy.section import Defaults, Glass

UNLIKE_DB = 0.01
"""Connectors that differ by more are said."""


@dataclass(frozen=True, slots=True)
class Joints:
    """What dcplan counts for every span beside its fiber."""

    connector_db: float
    """In front of the fiber and behind it [dB]."""
    repair_db: float
    notes: tuple[str, ...]

    def fiber_loss_db(self, span: Glass) -> float:
        """What is left for the fiber, so that the whole loss is that of GNPy [dB]."""
        return span.loss_db - 2 * self.connector_db - self.repair_db


def joints_of(cables: Sequence[Cable], defaults: Defaults) -> Joints:
    """The commonest connector in front of fibers; what spans lose behind them beyond that is repair allowance."""
    spans = [span for cable in cables for span in cable.spans]
    if not spans:
        return Joints(defaults.con_in_db, defaults.end_of_life_db, ())
    connector = _commonest([span.before_db for span in spans])
    behind = _commonest([span.loss_db - span.before_db - span.coefficient * span.length_km for span in spans])
    repair = max(0.0, behind - connector)
    unlike = sum(1 for span in spans if abs(span.before_db - connector) > UNLIKE_DB)
    note = (
        f"{unlike} of {len(spans)} spans do not lose {connector:g} dB in front of the fiber: their whole loss is kept, "
        "nonlinear noise is that of the commonest connector"
    )
    smallest = min(span.loss_db for span in spans)
    if smallest <= 2 * connector + repair:
        connector, repair = min(connector, smallest / 4), 0.0
    return Joints(connector, repair, (note,) if unlike else ())


def _commonest(values: list[float]) -> float:
    """The value that most have, to 0.001 dB; the least of several."""
    counts = Counter(round(value, 3) for value in values)
    common = max(counts, key=lambda value: (counts[value], -value))
    return next(value for value in values if round(value, 3) == common)
