"""Fits the calibrations of the catalog anew, each on the runs that it names, and writes the file that holds them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from dcplan.accuracy.fit import KEYS, START, fit
from dcplan.accuracy.runs import Run, all_runs, run_sets
from dcplan.catalog.load import shipped
from dcplan.training import shapes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.catalog.parts import Calibration

HEAD = """\
# Constants of the step-time model, one entry per accelerator family, precision and software year. An id without a year
# is what accelerators use. fitted_on names the published runs (dcplan/accuracy/data/runs) that the constants named in
# fitted_constants were fitted on; where it is empty, the entry is an estimate and says so. Written by `make calibrate`.
"""
COPIED = ("memory_efficiency", "scale_up_efficiency", "scale_out_efficiency", "layer_us", "step_ms")
"""Constants that do not depend on the precision of matrix products."""
_DIGITS = 3


ROUNDS = 40


def refit(entry: Calibration, rounds: int = ROUNDS, bf16: Calibration | None = None) -> Calibration:
    """The entry with its fitted constants fitted anew, from `START` as everywhere; bf16: what its runs leave in bf16.

    First those of dense models on dense runs, every source weighing the same; then moe_efficiency on the others. What
    the runs cover is read off them: accelerators, hidden sizes, numbers of accelerators.
    """
    runs = [_beside(all_runs()[name], bf16) for name in entry.fitted_on]
    if not runs:
        return entry
    dense = [run for run in runs if not shapes.is_moe(run.workload.model)]
    sparse = [run for run in runs if shapes.is_moe(run.workload.model)]
    entry = entry.model_copy(update={key: START[key] for key in entry.fitted_constants})
    wanted = [key for key in KEYS if key in entry.fitted_constants and key != "moe_efficiency"]
    found = fit(entry, by_source(dense), wanted, rounds) if dense and wanted else entry
    if sparse and "moe_efficiency" in entry.fitted_constants:
        found = fit(found, by_source(sparse), ("moe_efficiency",), rounds)
    values = {key: _rounded(getattr(found, key)) for key in KEYS}
    return found.model_copy(update={**values, **_covered(runs)})


def _beside(run: Run, bf16: Calibration | None) -> Run:
    if bf16 is None:
        return run
    shares = tuple(replace(share, bf16=bf16) for share in run.workload.shares)
    return replace(run, workload=replace(run.workload, shares=shares))


def by_source(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs by the set that they stand in."""
    chosen = {run.id: run for run in runs}
    groups = [[chosen[name] for name in group.runs if name in chosen] for group in run_sets().values()]
    return [group for group in groups if group]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _covered(runs: Iterable[Run]) -> dict[str, Any]:
    loads = [run.workload for run in runs]
    hidden, count = [load.model.hidden for load in loads], [load.accelerators for load in loads]
    return {
        "fitted_accelerators": tuple(sorted({share.accelerator_id for load in loads for share in load.shares})),
        "fitted_hidden": (min(hidden), max(hidden)),
        "fitted_count": (min(count), max(count)),
    }


def refitted(rounds: int = ROUNDS) -> dict[str, Calibration]:
    """All calibrations of the catalog, those with runs fitted anew.

    What is no matter of precision and was not fitted is the same in all precisions of a family: it is copied from the
    entry in bf16.
    """
    entries = cast("Mapping[str, Calibration]", shipped("calibrations"))
    found = {name: refit(entry, rounds) for name, entry in entries.items() if entry.precision == "bf16"}
    for name, entry in entries.items():
        if entry.precision != "bf16":
            plain = found[re.sub(r"(-20\d\d)?-fp\d$", "", name)]
            same = {key: getattr(plain, key) for key in COPIED if key not in entry.fitted_constants}
            found[name] = refit(entry.model_copy(update=same), rounds, plain)
    return {name: found[name] for name in entries}


def text(entries: Mapping[str, Calibration]) -> str:
    """The entries as the file of the catalog."""
    return HEAD + "".join(f"\n[{name}]\n{_table(entry)}" for name, entry in entries.items())


def _table(entry: Calibration) -> str:
    values = entry.model_dump(exclude_defaults=True)
    order = [key for key in type(entry).model_fields if key in values or key in KEYS or key == "fitted_on"]
    order.sort(key=lambda key: key in {"source", "confidence", "note", "estimates"})
    return "".join(f"{key} = {_value(getattr(entry, key))}\n" for key in order)


def _value(value: Any) -> str:
    """A value as TOML; a long list over several lines."""
    if isinstance(value, tuple):
        inner = [_value(item) for item in value]
        short = f"[{', '.join(inner)}]"
        return short if len(short) < 90 else "[\n" + "".join(f"  {item},\n" for item in inner) + "]"
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False)
