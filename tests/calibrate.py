"""`make calibrate`: fits the calibrations of the catalog anew and writes them; shows what moved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dcplan.accuracy.calibrate import refitted, text
from dcplan.accuracy.fit import KEYS
from dcplan.catalog.load import shipped

if TYPE_CHECKING:
    from dcplan.catalog.parts import Calibration

FILE = Path(__file__).parent.parent / "dcplan" / "catalog" / "data" / "calibrations.toml"


def main() -> None:
    """Write the file anew."""
    before = cast("dict[str, Calibration]", shipped("calibrations"))
    after = refitted()
    for name, entry in after.items():
        moved = [key for key in KEYS if getattr(entry, key) != getattr(before[name], key)]
        for key in moved:
            print(f"{name}.{key}: {getattr(before[name], key):g} -> {getattr(entry, key):g}")
    FILE.write_text(text(after), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
