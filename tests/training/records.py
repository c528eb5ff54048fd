"""Published runs as workloads and layouts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Accelerator, Calibration, ModelShape
from dcplan.training.step import Layout, Share, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Record:
    """One published run."""

    id: str
    workload: Workload
    layout: Layout
    seconds: float


def share(site: str, accelerator: str, count: int, precision: str = "bf16") -> Share:
    part = cast("Accelerator", shipped("accelerators")[accelerator])
    fitted = cast("Calibration", shipped("calibrations")[part.calibration or ""])
    if precision == "bf16":
        return Share(site, accelerator, part, fitted, count)
    other = cast("Calibration", shipped("calibrations")[f"{part.calibration}-{precision}"])
    return Share(site, accelerator, part, other, count, fitted)


def model(name: str) -> ModelShape:
    return cast("ModelShape", shipped("models")[name])


def layout(batch: int, **sizes: Any) -> Layout:
    """A layout with what a plan leaves out."""
    whole = {
        "name": "plan", "tp": 1, "cp": 1, "pp": 1, "ep": 1, "dp": 1, "virtual_stages": 1, "microbatch": 1,
        "sharding": 1, "recompute": "selective", "sequence_parallel": True, "across": "none",
        "sync": "hierarchical", "extra_in_flight": None, **sizes,
    }  # fmt: skip
    whole.setdefault("shard_size", whole["dp"])
    return Layout(microbatches=batch // (whole["dp"] * whole["microbatch"]), **whole)


@cache
def records() -> Mapping[str, Record]:
    """All of data/measured.toml."""
    found = {}
    for name, row in tomllib.loads((DATA / "measured.toml").read_text()).items():
        shape = ModelShape(
            layers=row["layers"], hidden=row["hidden"], heads=row["heads"], kv_heads=row.get("kv_heads"),
            ffn=row.get("ffn", 4 * row["hidden"]), vocab=row["vocab"], glu=row.get("glu", False),
            tied=row.get("tied", True),
        )  # fmt: skip
        count = row["tp"] * row["cp"] * row["pp"] * row["dp"]
        keys = ("tp", "cp", "pp", "dp", "virtual_stages", "microbatch", "sharding", "recompute", "sequence_parallel")
        work = Workload(
            name, shape, row["sequence_length"], row["batch"], "bf16", row["gradient_bits"],
            (share("here", row["accelerator"], count),),
        )  # fmt: skip
        plan = layout(row["batch"], name=name, **{key: row[key] for key in keys})
        found[name] = Record(name, work, plan, row["seconds"])
    return found
