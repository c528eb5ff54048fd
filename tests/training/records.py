"""Shares, models and layouts for tests, with what a plan leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from dcplan.accuracy.workloads import layout, share
from dcplan.catalog.load import shipped

if TYPE_CHECKING:
    from dcplan.catalog.parts import ModelShape

__all__ = ["DATA", "layout", "model", "share"]

DATA = Path(__file__).parent / "data"


def model(name: str) -> ModelShape:
    """A model of the catalog."""
    return cast("ModelShape", shipped("models")[name])
