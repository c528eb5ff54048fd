"""Shares, models and layouts for tests, with what a plan leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from dcplan.accuracy.workloads import layout, share
from dcplan.catalog.load import shipped
from dcplan.model.job import ParallelismPlan
from dcplan.training.plans.shortlist import shortlist

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape
    from dcplan.training.plans.shortlist import Shortlist
    from dcplan.training.step import Workload

__all__ = ["DATA", "layout", "listed", "model", "share"]

DATA = Path(__file__).parent / "data"


def model(name: str) -> ModelShape:
    """A model of the catalog."""
    return cast("ModelShape", shipped("models")[name])


def listed(work: Workload, **pin: object) -> Shortlist:
    """The plans that a search gives a designer, with these keys pinned."""
    return shortlist(work, ParallelismPlan.model_validate(pin), 0.0)
