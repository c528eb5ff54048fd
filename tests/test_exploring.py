"""What a search weighs plans by is what their rows say, whatever the collective, the transport and the sites."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan import api
from dcplan.training.plans.pins import read_pins

THREE = """\
dcplan: 1
name: three
sites:
  a: {lat: 41.1, lon: -96.1, power_mw: 9, accelerators: {h100-sxm: 64}}
  b: {lat: 40.9, lon: -97.6, power_mw: 9, accelerators: {h100-sxm: 64}}
  c: {lat: 42.9, lon: -96.6, power_mw: 9, accelerators: {h100-sxm: 64}}
fibers:
  ab: {ends: [a, b], length_km: 158, type: g652d, pairs: 4, lease_usd_per_km_year: 400}
  bc: {ends: [b, c], length_km: 264, type: g652d, pairs: 4, lease_usd_per_km_year: 400}
  ca: {ends: [c, a], length_km: 264, type: g652d, pairs: 4, lease_usd_per_km_year: 400}
jobs:
  one:
    model: llama3-8b
    accelerators: {a: 16, b: 16, c: 16}
    sequence_length: 8192
    global_batch_tokens: 1572864
"""
PIN = "cp=1,schedule=1f1b,recompute=full,sharding=1,virtual_stages=1"


@pytest.mark.parametrize(
    "more", ["collective: hub", "collective: auto", "collective: optimal", "transport: {packet_loss: 1e-6}"]
)
def test_figures_are_those_of_the_rows(more: str, tmp_path: Path) -> None:
    path = tmp_path / "three.yaml"
    path.write_text(f"{THREE}    {more}\n", encoding="utf-8")
    (found,) = api.explore(api.load(path), objective="bytes", gbps=100, pin=read_pins([PIN]))
    rows = {row.plan: row for row in found.rows}
    assert set(rows) - {misfit.plan for misfit in found.explored.misfits} == set(found.explored.weighed)
    assert "dp" in {row.across for row in rows.values()}
    for plan, figures in found.explored.weighed.items():
        row = rows[plan]
        assert row.step_s == pytest.approx(figures.step_s)
        assert row.cross_site_gb == pytest.approx(figures.cross_site_gb)
        assert row.memory is not None
        assert 0.95 * row.memory.capacity_gb - row.memory.total_gb == pytest.approx(figures.headroom_gb)
        assert figures.headroom_gb >= 0
