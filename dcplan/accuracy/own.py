"""Runs of one's own in a TOML file, laid out as those that ship: `[common]`, then `[runs]` with a table per run."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import Field, ValidationError

from dcplan.accuracy.runs import Run, RunSet, run_of
from dcplan.accuracy.workloads import CHOICES, SIZES, work
from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Accelerator, Count, ModelShape, Positive, Strict
from dcplan.diagnostics import did_you_mean
from dcplan.errors import DcplanError, UsageError
from dcplan.model.job import ParallelismPlan
from dcplan.training.layout import complete
from dcplan.training.site.machine import peak_tflops
from dcplan.training.step import Misfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MEASURES = ("seconds", "tokens_per_s_per_accelerator", "mfu_percent")
_SHAPE = frozenset(ModelShape.model_fields) - {"source", "confidence", "note", "estimates", "total_params_b"}
_PLAN = frozenset((*SIZES, *CHOICES)) - {"across", "sync"}


class _File(Strict):
    """The whole file."""

    title: str = "Own runs"
    source: str = "own"
    confidence: Literal["high", "medium", "low"] = "high"
    note: str = ""
    common: dict[str, Any] = Field(default_factory=dict)
    runs: dict[str, dict[str, Any]] = Field(min_length=1)


class _Rest(Strict):
    """What a run says beside its model and its layout."""

    accelerator: str
    model: str | None = None
    calibration: str | None = None
    precision: Literal["bf16", "fp8", "fp4"] = "bf16"
    batch: Count
    sequence_length: Count
    gradient_bits: Literal[8, 16, 32] = 32
    seconds: Positive | None = None
    tokens_per_s_per_accelerator: Positive | None = None
    mfu_percent: Annotated[float, Field(gt=0, le=100)] | None = None


def own_set(path: Path) -> RunSet:
    """The runs of a file. UsageError that names file, run and key for whatever is wrong with them."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    try:
        file = _File.model_validate(table)
    except ValidationError as error:
        raise UsageError(f"{path}: {_first(error)}") from error
    runs = {name: _run(path, name, {**file.common, **row}) for name, row in file.runs.items()}
    return RunSet(path.stem, file.title, file.source, file.confidence, file.note, runs)


def _run(path: Path, name: str, row: Mapping[str, Any]) -> Run:
    where = f"{path}: run `{name}`"
    try:
        rest = _Rest.model_validate({key: value for key, value in row.items() if key not in _PLAN | _SHAPE})
        plan = ParallelismPlan.model_validate({key: value for key, value in row.items() if key in _PLAN})
    except ValidationError as error:
        raise UsageError(f"{where}: {_first(error)}") from error
    if trouble := _named(rest) or _measured(rest) or _sized(rest, row):
        raise UsageError(f"{where}: {trouble}")
    try:
        load, _ = work(name, row)
    except ValidationError as error:
        raise UsageError(f"{where}: {_first(error)}") from error
    except DcplanError as error:
        raise UsageError(f"{where}: {error}") from error
    if peak_tflops(load.shares[0], load.precision) is None:
        raise UsageError(f"{where}: {rest.accelerator} has no {load.precision} peak in the catalog")
    whole = complete(name, plan, load)
    if isinstance(whole, Misfit) and whole.kind != "memory":  # it ran, so it fitted
        raise UsageError(f"{where}: {whole.reason}")
    return run_of(name, row)


def _first(error: ValidationError) -> str:
    """One fault in words, a strange key before all: which key, and what is wrong with it."""
    fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    key = ".".join(map(str, fault["loc"]))
    said = "is no key of this file" if fault["type"] == "extra_forbidden" else fault["msg"]
    return f"{key}: {said}" if key else said


def _named(rest: _Rest) -> str:
    """Names that the catalog does not have."""
    named = {"accelerators": rest.accelerator, "models": rest.model, "calibrations": rest.calibration}
    for kind, name in named.items():
        if name is not None and name not in shipped(kind):
            return f"the catalog has no `{name}` among its {kind}: {_hint(name, shipped(kind))}"
    part = cast("Accelerator", shipped("accelerators")[rest.accelerator])
    if rest.calibration is None and part.calibration is None:
        return f"{rest.accelerator} has no calibration of its own, name one: {', '.join(shipped('calibrations'))}"
    return ""


def _hint(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, list(known), f"it has {', '.join(known)}")


def _measured(rest: _Rest) -> str:
    given = [key for key in MEASURES if getattr(rest, key) is not None]
    return "" if len(given) == 1 else f"give one of {', '.join(MEASURES)}; it has {' and '.join(given) or 'none'}"


def _sized(rest: _Rest, row: Mapping[str, Any]) -> str:
    missing = [key for key in ("layers", "hidden", "heads", "vocab") if key not in row]
    if rest.model is None and missing:
        return f"give a `model` of the catalog, or its dimensions: {', '.join(missing)} missing"
    return "" if "dp" in row else "dp: its number of accelerators is tp × cp × pp × dp, so that dp has to be given"
