"""Out to GNPy and back: the same light."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcplan.interop.gnpy.bring import bring
from dcplan.interop.imported import Imported
from tests.interop.networks import GLASS, HEAD, OWN, POLICY, SITES, TEXTS, exported, lit, network_from

CHAIN = """\
fibers:
  ab: {ends: [a, b], length_km: 240, type: glass, pairs: 1, launch_dbm: 1}
  bc: {ends: [b, c], length_km: 240, type: glass, pairs: 1, launch_dbm: 1}
"""
LEVEL = OWN.replace("tx_dbm: -5", "tx_dbm: -4")
"""Light that is added then meets boosters at the level of light that passes: 1 - 16.5 = -4 - 11.5 dBm."""
ALIKE = {
    "lines": TEXTS["lines"],
    "chain": HEAD.format(name="Chain") + SITES.split("  d:", 1)[0] + CHAIN + GLASS + LEVEL + POLICY,
}


def back(text: str, folder: Path) -> Imported:
    for file, content in exported(network_from(text)).files.items():
        (folder / file).write_text(content, encoding="utf-8")
    return bring(folder / "topology.json", folder / "eqpt_config.json")


@pytest.mark.parametrize("name", ALIKE)
def test_the_same_light_within_a_hundredth(name: str, tmp_path: Path) -> None:
    """Margin, GSNR and launch of every lightpath, one terminal gear of each kind: nothing is lost."""
    made = back(ALIKE[name], tmp_path)
    before, after = (lit(network_from(text)) for text in (ALIKE[name], made.text))
    assert [path.route.fibers for path in before] == [path.route.fibers for path in after]
    for ours, again in zip(before, after, strict=True):
        first, second = ours.budgets[0], again.budgets[0]
        assert second.gsnr_db == pytest.approx(first.gsnr_db, abs=0.01)
        assert second.launch_dbm == pytest.approx(first.launch_dbm, abs=0.01)
        assert second.channels == first.channels
        assert second.margin_db == pytest.approx(first.margin_db, abs=0.01)


def test_where_sites_differ_the_worst_is_kept(tmp_path: Path) -> None:
    """dcplan has one ROADM for all sites: light is never better for the trip, and it is said."""
    made = back(TEXTS["mesh"], tmp_path)
    before, after = (lit(network_from(text)) for text in (TEXTS["mesh"], made.text))
    for ours, again in zip(before, after, strict=True):
        assert again.budgets[0].gsnr_db <= ours.budgets[0].gsnr_db + 0.01
        assert again.budgets[0].gsnr_db > ours.budgets[0].gsnr_db - 1
    assert any(note.startswith("roadm: express_loss_db differs from site to site") for note in made.notes)


def test_twice_out_is_the_same_as_once(tmp_path: Path) -> None:
    """What comes back is written again to the same spans, gains and losses."""
    first = exported(network_from(ALIKE["lines"])).files["topology.json"]
    second = exported(network_from(back(ALIKE["lines"], tmp_path).text)).files["topology.json"]
    for before, after in zip(json.loads(first)["elements"], json.loads(second)["elements"], strict=True):
        assert before["uid"] == after["uid"]
        if before["type"] == "Fiber":
            for key in ("length", "loss_coef", "con_in", "con_out"):
                assert after["params"][key] == pytest.approx(before["params"][key], abs=2e-4)
        if before["type"] == "Edfa":
            assert after["operational"]["gain_target"] == pytest.approx(before["operational"]["gain_target"], abs=0.01)
