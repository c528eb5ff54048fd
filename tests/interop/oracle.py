"""Writes down what GNPy says: `python -m tests.interop.oracle PYTHON`, PYTHON being one that has GNPy."""

from __future__ import annotations

import json
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tests.interop.networks import DATA, EXAMPLES, GNPY, RESULTS, TEXTS, exported, network_from, paths_of, run_gnpy

if TYPE_CHECKING:
    from collections.abc import Mapping

SWEDEN = [
    ["Stockholm", "Uppsala"],
    ["Gävle", "Uppsala", "Stockholm"],
    ["Stockholm", "Norrköping", "Linköping", "Jönköping"],
    ["Malmö", "Helsingborg"],
    ["Umeå", "Gävle", "Uppsala"],
]
"""Sites along paths of the Swedish example."""


def digest(files: Mapping[str, str]) -> str:
    """Of the files that GNPy read: results hold for these and no others."""
    return sha256((files["topology.json"] + files["eqpt_config.json"]).encode()).hexdigest()


def swedish(sites: list[str]) -> list[str]:
    """The nodes of a path in the uids of that example."""
    return [f"trx_{sites[0]}", *(f"roadm_{site}" for site in sites[1:-1]), f"trx_{sites[-1]}"]


def main() -> None:
    """Run GNPy on every exported network and on its own examples."""
    python = Path(sys.argv[1]) if len(sys.argv) > 1 else GNPY
    found: dict[str, object] = {}
    for name, text in TEXTS.items():
        made = exported(network_from(text))
        with tempfile.TemporaryDirectory() as folder:
            for file, content in made.files.items():
                (Path(folder) / file).write_text(content, encoding="utf-8")
            paths = paths_of(made)
            answer = run_gnpy(
                python, Path(folder) / "topology.json", Path(folder) / "eqpt_config.json", list(paths.values())
            )
        services = dict(zip(paths, answer["paths"], strict=True))
        found[name] = {"digest": digest(made.files), "services": services}
    sweden = "Sweden_OpenROADMv5_example_network"
    answer = run_gnpy(
        python, DATA / f"{sweden}.json", DATA / f"{EXAMPLES[sweden]}.json", [swedish(path) for path in SWEDEN]
    )
    ends = [{"sites": path, **rated} for path, rated in zip(SWEDEN, answer["paths"], strict=True)]
    whole = {"gnpy": answer["gnpy"], "exports": found, "sweden": ends}
    RESULTS.write_text(json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
