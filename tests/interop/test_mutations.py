"""Files that are nearly GNPy's: each is read, or refused with a reason; none is a crash."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from dcplan.errors import UsageError
from dcplan.interop.gnpy.bring import bring
from dcplan.model.source import parse
from tests.interop.networks import DATA, EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

JUNK: tuple[Any, ...] = (None, "", "x", 0, -1, 1e308, True, [], {}, [1], ["x"], {"x": 1}, [{}], [None])
READ = {name: json.loads((DATA / f"{name}.json").read_text()) for name in {*EXAMPLES, *EXAMPLES.values()}}


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a tree."""
    found = []
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        found.append((node, key))
        if isinstance(value, (dict, list)):
            found += places(value)
    return found


@pytest.mark.parametrize("name", ["edfa_example_network", "meshTopologyExampleV2", "raman_edfa_example_network"])
def test_each_junk_is_refused_or_read(name: str, tmp_path: Path) -> None:
    pick = random.Random(name)
    read = refused = 0
    for _ in range(150):
        files = {"t": copy.deepcopy(READ[name]), "e": copy.deepcopy(READ[EXAMPLES[name]])}
        container, key = pick.choice(places(files[pick.choice("te")]))
        if pick.random() < 0.3:
            del container[key]
        else:
            container[key] = pick.choice(JUNK)
        for file, data in files.items():
            (tmp_path / f"{file}.json").write_text(json.dumps(data), encoding="utf-8")
        try:
            made = bring(tmp_path / "t.json", tmp_path / "e.json")
        except UsageError:
            refused += 1
            continue
        assert not parse(made.text, "t.yaml").problems
        read += 1
    assert read > 10
    assert refused > 5
