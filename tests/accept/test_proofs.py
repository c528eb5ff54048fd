"""Known optima are reproduced and proven, in time, by the command line alone; every plan verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.accept.proofs import SNDLIB, Instance, instances, prove
from tests.accept.test_accept import slowness

PEAK_GB = 1.5
"""No process takes more."""


@pytest.mark.accept
@pytest.mark.parametrize("instance", instances(), ids=lambda instance: instance.id)
def test_known_optimum(instance: Instance) -> None:
    if instance.problem and not (Path(SNDLIB) / f"{instance.name}.txt").is_file():
        pytest.skip(
            f"SNDlib's files carry no licence and do not ship: make accept SNDLIB=folder of {instance.name}.txt"
        )
    found = prove(instance)
    print(f"{instance.id}: {found}")
    assert found.gap <= instance.gap * (1 + 1e-6)
    if instance.best is not None and instance.bound is not None:
        assert found.cost >= instance.bound * (1 - 1e-6)
        assert found.cost <= instance.best * (1 + instance.gap)
        assert found.bound <= instance.best * (1 + 1e-6)
    assert found.peak_gb < PEAK_GB
    assert found.wall_s < instance.within_s * slowness()
