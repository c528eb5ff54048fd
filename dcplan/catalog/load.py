"""Reads the shipped catalog. Its files are TOML, which the standard library reads: only model/source.py knows YAML."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from dcplan.catalog import parts

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS: dict[str, type[parts.Part]] = {
    "fibers": parts.FiberType,
    "amplifiers": parts.Amplifier,
    "transponders": parts.Transponder,
    "appliances": parts.Appliance,
    "equipment": parts.Equipment,
    "accelerators": parts.Accelerator,
    "models": parts.ModelShape,
    "calibrations": parts.Calibration,
}
"""Kind of part -> its model. `data/<kind>.toml` holds a table per entry."""


@cache
def shipped(kind: str) -> Mapping[str, parts.Part]:
    """All shipped entries of one kind by id, in file order. KeyError for an unknown kind."""
    model = KINDS[kind]
    text = (files("dcplan.catalog") / "data" / f"{kind}.toml").read_text(encoding="utf-8")
    return {name: model.model_validate(entry) for name, entry in tomllib.loads(text).items()}


@dataclass(frozen=True, slots=True)
class Catalog:
    """Every part that a plan may use, by kind and id: the shipped ones and, over them, a user's own."""

    fibers: Mapping[str, parts.FiberType]
    amplifiers: Mapping[str, parts.Amplifier]
    transponders: Mapping[str, parts.Transponder]
    equipment: Mapping[str, parts.Equipment]
    accelerators: Mapping[str, parts.Accelerator]
    models: Mapping[str, parts.ModelShape]
    calibrations: Mapping[str, parts.Calibration]
    appliances: Mapping[str, parts.Appliance] = field(default_factory=dict)

    def latency_us(self, name: str) -> float:
        """What a pair of transponders or appliances adds [µs]. KeyError for an unknown id."""
        appliance = self.appliances.get(name)
        return self.transponders[name].latency_us if appliance is None else appliance.latency_us

    @classmethod
    def with_own(cls, own: Mapping[str, Mapping[str, parts.Part]]) -> Catalog:
        """The shipped catalog with a user's own parts, kind -> id -> part, added or put in place of shipped ones."""
        return cls(**{kind: {**shipped(kind), **own.get(kind, {})} for kind in KINDS})  # type: ignore[arg-type]
