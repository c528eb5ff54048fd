"""Of every shipped topology: whatever is changed in its plan file, `verify` notices."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan import api, planfile
from dcplan.planfile import Plan
from tests.topologies.leaves import BY_SEAL, unnoticed

FOLDER = Path(__file__).parent.parent.parent / "topologies"
FILES = sorted(file for file in FOLDER.rglob("*.yaml") if file.parent.name != "infeasible")


@pytest.mark.accept
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_one_leaf_of_each_kind(file: Path) -> None:
    network = api.load(file)
    made = api.plan(network)
    assert isinstance(made, Plan)
    found = unnoticed(network, planfile.dumps(made))
    limits = {"options.*"}  # a time limit may have been asked for on the command line
    assert found.keys() <= BY_SEAL | limits, found
