"""How far a step time can be trusted: whether its constants were measured, and how near this job is to what was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.training import shapes
from dcplan.training.across.cross_layers import SPANNING
from dcplan.training.remember import remembered

if TYPE_CHECKING:
    from dcplan.training.step import Layout, Share, Workload

NEAR = 2.0
"""Within this factor of the fitted range counts as interpolated."""
ORDER = ("measured-range", "interpolated", "simulated-source", "extrapolated")


def evidence(workload: Workload, layout: Layout) -> str:
    """measured-range, interpolated, simulated-source or extrapolated; the worst of the shares.

    measured-range: a dense model in one site, on an accelerator that the calibration's matrix products were fitted on,
    with hidden size and number of accelerators between those of the fitted records. interpolated: the same within a
    factor of two, or with experts where those were fitted too, or over several sites, whose exchange is computed, or in
    a way that no fitted record ran (schedule, gathered keys and values, oversubscribed fabric, sums other than by ring
    or tree). simulated-source: the same with fragments or parameter servers, of which only simulations are published.
    extrapolated: all else, every calibration that is an estimate, an optimizer in hosts that nobody measured, and
    groups of every layer over sites, which nobody runs.
    """
    if layout.optimizer_offload_percent or layout.across in SPANNING:
        return "extrapolated"
    found = _of_shares(workload)
    if layout.across == "dp" and layout.sync in {"streaming", "parameter-server"}:
        return max(found, "simulated-source", key=ORDER.index)
    computed = layout.across != "none" or _unlike_records(workload, layout)
    return "interpolated" if computed and found == "measured-range" else found


def _unlike_records(workload: Workload, layout: Layout) -> bool:
    if layout.schedule != "1f1b" or (layout.cp > 1 and layout.cp_exchange != "ring"):
        return True
    return any(share.fabric or share.all_reduce != "auto" for share in workload.shares)


@remembered
def _of_shares(workload: Workload) -> str:
    return max((_of_share(workload, share) for share in workload.shares), key=ORDER.index)


def _of_share(workload: Workload, share: Share) -> str:
    fitted = share.calibration
    known = fitted.fitted_on and share.accelerator_id in fitted.fitted_accelerators
    sparse = shapes.is_moe(workload.model)
    needed = {"gemm_efficiency", "moe_efficiency"} if sparse else {"gemm_efficiency"}
    if not known or not needed <= set(fitted.fitted_constants) or fitted.precision != workload.precision:
        return "extrapolated"
    ranges = ((workload.model.hidden, fitted.fitted_hidden), (workload.accelerators, fitted.fitted_count))
    far = 1.0
    for value, bounds in ranges:
        if bounds is None:
            return "extrapolated"
        far = max(far, bounds[0] / value, value / bounds[1])
    return "measured-range" if far == 1.0 and not sparse else "interpolated" if far <= NEAR else "extrapolated"
