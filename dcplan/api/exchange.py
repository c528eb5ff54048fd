"""Networks from the files of other programs, and for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dcplan.api import optical
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dcplan.design.result import Infeasible
    from dcplan.interop.exported import Exported
    from dcplan.interop.imported import Imported
    from dcplan.model.network import Network


def export(
    network: Network,
    form: str,
    *,
    mode: str | None = None,
    whole: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Exported | Infeasible:
    """The designed network as files of another program, with what these cannot say. `form`: gnpy, mps or lp.

    mode: of gnpy, whose full load the files hold for, as `TRANSPONDER:MODE`; none: that which closes on most fibers.
    whole: of mps and lp, the ILP of all states in place of the master with its cuts, which takes a solve. Infeasible
    where that has no answer. UsageError for a form or mode that is not there, and for what goes with another form.
    """
    from dcplan.interop import EXPORTS, check_form

    check_form(form, EXPORTS)
    if mode is not None and form != "gnpy":
        raise UsageError(f"--mode goes with `dcplan export gnpy`, not with {form}")
    if form != "gnpy":
        return _program(network, form, progress, whole=whole)
    if whole:
        raise UsageError("--whole goes with `dcplan export mps` and `lp`, not with gnpy")
    from dcplan.interop.gnpy.comb import mode_for
    from dcplan.interop.gnpy.export import export as write

    light = optical.optics(network)
    return write(network, light.fibers, light.lightpaths, mode_for(network, light.lightpaths, mode))


def _program(
    network: Network, form: str, progress: Callable[[str], None] | None, *, whole: bool
) -> Exported | Infeasible:
    from functools import partial

    from dcplan.design.audit import audit
    from dcplan.design.circuits import lightpaths_of
    from dcplan.design.collective.choice import traffic_by_cost
    from dcplan.design.engine import Options, least_usd
    from dcplan.design.limits import longest_s
    from dcplan.design.problem import problem
    from dcplan.design.result import Infeasible
    from dcplan.design.solver.text import lp_text, mps_text
    from dcplan.interop.exported import Exported
    from dcplan.model.states import promised_states

    states = promised_states(network)
    light = optical.candidates(network)
    lightpaths = (*light.lightpaths, *lightpaths_of(network))
    limits = network.policy.solver
    options = Options(
        time_limit_s=longest_s(limits.time_limit_s, limits.max_nodes),
        max_nodes=limits.max_nodes,
        gap=limits.gap,
        progress=progress,
    )
    cost = partial(least_usd, network, light.lines, lightpaths, states=states, options=options)
    traffic = traffic_by_cost(network, states, cost, progress or (lambda _line: None))
    if isinstance(traffic, Infeasible):
        return traffic
    made = problem(network, light.lines, lightpaths, traffic[1], states)
    found = audit(made, options, whole=whole)
    if isinstance(found, Infeasible):
        return found
    write = lp_text if form == "lp" else mps_text
    return Exported({f"program.{form}": write(found.program, found.words)}, found.notes)


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
