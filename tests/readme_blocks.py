"""The parts of the README that are output: made anew by `make readme`, compared by the tests."""

from __future__ import annotations

import sys
from pathlib import Path

from dcplan import api
from dcplan.planfile import Plan
from dcplan.report.render import render
from tests.accept.accuracy import table

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def report() -> str:
    """What `dcplan plan topologies/two-campus.yaml -o plan.json` prints."""
    made = api.plan(api.load(ROOT / "topologies" / "two-campus.yaml"))
    assert isinstance(made, Plan)
    return f"```text\n{render(made, main=True).strip()}\n```\n"


BLOCKS = {"report of two-campus": report, "accuracy": table}


def block(readme: str, name: str) -> str:
    """What stands between the marks of a block."""
    return readme[readme.index(f"<!-- {name} -->") : readme.index(f"<!-- end of {name.partition(' ')[0]} -->")]


def main() -> None:
    """Write every block of the README anew."""
    readme = README.read_text(encoding="utf-8")
    for name, make in BLOCKS.items():
        readme = readme.replace(block(readme, name), f"<!-- {name} -->\n{make()}")
    README.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
