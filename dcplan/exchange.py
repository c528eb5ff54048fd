"""Networks from the files of other programs, and for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan import optical
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from dcplan.interop.gnpy.export import Exported
    from dcplan.interop.imported import Imported
    from dcplan.model.network import Network


def export(network: Network, form: str, mode: str | None = None) -> Exported:
    """The designed network as files of another program, with what these cannot say. `form`: gnpy.

    mode: whose full load the files hold for, as `TRANSPONDER:MODE`; none: that which closes on most fibers.
    UsageError for a form or mode that is not there.
    """
    from dcplan.interop import EXPORTS, check_form
    from dcplan.interop.gnpy.comb import mode_for
    from dcplan.interop.gnpy.export import export as write

    check_form(form, EXPORTS)
    light = optical.optics(network)
    return write(network, light.fibers, light.lightpaths, mode_for(network, light.lightpaths, mode))


def import_(
    form: str,
    source: str,
    *,
    equipment: Path | None = None,
    model: str | None = None,
    total_gbps: float | None = None,
) -> Imported:
    """A topology file from those of another program, with what it cannot say. `form`: gnpy, sndlib or topohub.

    source: a file; of topohub, also a name. equipment: of gnpy, its library; model: of sndlib, the problem, as
    U-U-M-N-C-A-N-U; total_gbps: of topohub, all demands together. UsageError for a form that is not there, for files
    that are not of it, and for what goes with another form.
    """
    from dcplan.interop import IMPORTS, check_form

    check_form(form, IMPORTS)
    given = (("--equipment", equipment, "gnpy"), ("--model", model, "sndlib"), ("--total-gbps", total_gbps, "topohub"))
    for option, value, only in given:
        if value is not None and form != only:
            raise UsageError(f"{option} goes with `dcplan import {only}`, not with {form}")
    if form == "sndlib":
        from dcplan.interop.sndlib.bring import bring as from_sndlib

        return from_sndlib(Path(source), model)
    if form == "topohub":
        from dcplan.interop.topohub.bring import bring as from_topohub

        return from_topohub(source, total_gbps)
    from dcplan.interop.gnpy.bring import bring

    if equipment is None:
        raise UsageError("GNPy keeps amplifiers, fibers and modes in a second file: name it with --equipment")
    return bring(Path(source), equipment)
