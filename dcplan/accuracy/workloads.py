"""Published runs as workloads and layouts: what a row of the data says, joined with the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Accelerator, Calibration, ModelShape
from dcplan.errors import DcplanError
from dcplan.training.step import Layout, Share, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

SIZES = ("tp", "cp", "pp", "ep", "dp", "virtual_stages", "microbatch")
CHOICES = (
    "sharding",
    "shard_size",
    "recompute",
    "sequence_parallel",
    "across",
    "sync",
    "schedule",
    "cp_exchange",
    "cuda_graphs",
    "fp8_attention",
    "fused_experts",
    "flash_attention",
    "token_dispatcher",
    "recompute_modules",
    "grad_reduce_in_fp32",
    "fp8_param_gather",
    "exp_avg_dtype",
    "expert_overlap",
)


def share(site: str, accelerator: str, count: int, precision: str = "bf16", calibration: str | None = None) -> Share:
    """Accelerators in a site with their own calibration, or with another one by its id.

    DcplanError when there is none in that precision.
    """
    part = cast("Accelerator", shipped("accelerators")[accelerator])
    own = part.calibration or ""
    if precision == "bf16":
        return Share(site, accelerator, part, _calibration(calibration or own), count)
    used = _calibration(calibration or f"{own}-{precision}")
    return Share(site, accelerator, part, used, count, _calibration(own))


def _calibration(name: str) -> Calibration:
    entry = shipped("calibrations").get(name)
    if entry is None:
        raise DcplanError(f"the catalog has no calibration {name}")
    return cast("Calibration", entry)


def model(row: Mapping[str, Any]) -> ModelShape:
    """A model of the catalog with what the row changes, or one from dimensions alone: a GPT unless it says more."""
    own = {key: value for key, value in row.items() if key in ModelShape.model_fields}
    if "model" in row:
        known = cast("ModelShape", shipped("models")[row["model"]])
        return ModelShape.model_validate({**known.model_dump(exclude={"total_params_b"}), **own})
    return ModelShape.model_validate({"ffn": 4 * row["hidden"], "glu": False, "tied": True, **own})


def layout(batch: int, **given: Any) -> Layout:
    """A layout with what a plan leaves out."""
    whole = {
        "name": "plan", "tp": 1, "cp": 1, "pp": 1, "ep": 1, "dp": 1, "virtual_stages": 1, "microbatch": 1,
        "sharding": 1, "recompute": "selective", "sequence_parallel": True, "across": "none",
        "sync": "hierarchical", "extra_in_flight": None, **given,
    }  # fmt: skip
    whole.setdefault("shard_size", whole["dp"])
    return Layout(microbatches=batch // (whole["dp"] * whole["microbatch"]), **whole)


def work(name: str, row: Mapping[str, Any], sites: int = 1) -> tuple[Workload, Layout]:
    """The workload and layout of a row; over several sites, each has the same number of accelerators."""
    given = {key: row[key] for key in (*SIZES, *CHOICES) if key in row}
    given["recompute_modules"] = tuple(given.get("recompute_modules", ()))
    plan = layout(row["batch"], name=name, **given)
    count = plan.tp * plan.cp * plan.pp * plan.dp
    precision = row.get("precision", "bf16")
    places = ["here"] if sites == 1 else [f"site-{i + 1:02}" for i in range(sites)]
    shares = tuple(
        share(place, row["accelerator"], count // sites, precision, row.get("calibration")) for place in places
    )
    load = Workload(
        job=name,
        model=model(row),
        sequence_length=row["sequence_length"],
        batch=row["batch"],
        precision=precision,
        gradient_bits=row.get("gradient_bits", 32),
        shares=shares,
    )
    return load, plan
