"""Which mode an export is written for: GNPy's gains and powers hold for one load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.diagnostics import did_you_mean
from dcplan.errors import UsageError
from dcplan.optics.allowed import usable_modes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.catalog.parts import Mode
    from dcplan.model.network import Network
    from dcplan.optics.budget import Lightpath


def mode_for(network: Network, lightpaths: Sequence[Lightpath], wanted: str | None) -> tuple[str, str, Mode]:
    """The mode wanted, as `TRANSPONDER:MODE`; else the one that closes on most fibers, of these the fastest.

    (transponder, mode name, mode). UsageError where it is not among the allowed modes, or where there are none.
    """
    modes = {f"{part}:{name}": (part, name, mode) for part, name, mode in usable_modes(network)}
    if not modes:
        raise UsageError("no allowed transponder has a mode with a published OSNR that fits the band")
    if wanted is not None:
        if wanted not in modes:
            hint = did_you_mean(wanted, modes, f"modes are {', '.join(modes)}")
            raise UsageError(f"there is no mode `{wanted}`: {hint}")
        return modes[wanted]
    alone = [path for path in lightpaths if len(path.route.fibers) == 1]
    closing = [f"{one.transponder}:{one.mode}" for path in alone for one in path.closing]
    return modes[max(modes, key=lambda name: (closing.count(name), modes[name][2].rate_gbps))]
