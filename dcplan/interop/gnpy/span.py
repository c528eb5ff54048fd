"""A span in GNPy's terms: loss per kilometre, and connectors that hold the rest of its loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.optics.fiber import span_attenuation_db_per_km

if TYPE_CHECKING:
    from dcplan.model.network import FiberId, Network
    from dcplan.optics.budget import SpanRow


def variety(network: Network, fiber: FiberId, row: SpanRow) -> str:
    """The fiber type of a span, which is its variety in GNPy."""
    return row.type or network.fibers[fiber].type


def fiber_params(network: Network, fiber: FiberId, row: SpanRow) -> dict[str, Any]:
    """Parameters of a GNPy Fiber.

    loss_coef: attenuation that the nonlinearity sees. con_in: connector and splice, in front of the nonlinearity.
    con_out: all that is left of the span's loss: connector, splice, repair allowance, lumped loss.
    """
    kind, policy = network.catalog.fibers[variety(network, fiber, row)], network.policy
    attenuation = span_attenuation_db_per_km(kind, row.length_km, row.fiber_loss_db)
    before = policy.connector_db + kind.splice_db
    behind = row.loss_db - before - attenuation * row.length_km
    if behind < 0:
        attenuation, behind = (row.loss_db - before) / row.length_km, 0.0
    return {
        "length": round(row.length_km, 6),
        "length_units": "km",
        "loss_coef": round(attenuation, 9),
        "att_in": 0,
        "con_in": round(before, 4),
        "con_out": round(behind, 4),
    }
