"""`make calibrate`: fits the calibrations of the catalog anew and writes them; shows what moved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dcplan.accuracy.calibrate import refitted, text
from dcplan.accuracy.fit import KEYS
from dcplan.accuracy.messages import fitted_message_us
from dcplan.catalog.load import shipped

if TYPE_CHECKING:
    from dcplan.catalog.parts import Accelerator, Calibration

FILE = Path(__file__).parent.parent / "dcplan" / "catalog" / "data" / "calibrations.toml"


def main() -> None:
    """Write the file anew."""
    before = cast("dict[str, Calibration]", shipped("calibrations"))
    after = refitted()
    for name, entry in after.items():
        moved = [key for key in KEYS if getattr(entry, key) != getattr(before[name], key)]
        for key in moved:
            print(f"{name}.{key}: {getattr(before[name], key):g} -> {getattr(entry, key):g}")
    for name, part in cast("dict[str, Accelerator]", shipped("accelerators")).items():
        if part.fitted_on and (found := fitted_message_us(part)) != part.site_message_us:
            print(f"{name}.site_message_us: {part.site_message_us:g} -> {found:g}, to be changed in accelerators.toml")
    FILE.write_text(text(after), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
