"""`make calibrate`: fits the calibrations of the catalog anew and writes them; shows what moved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dcplan.accuracy.calibrate import refitted, text
from dcplan.accuracy.fit import KEYS
from dcplan.accuracy.hosts import fitted_launch_us, fitted_message_us
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
        for key, fitted in (("site_message_us", fitted_message_us), ("launch_us", fitted_launch_us)):
            now = getattr(part, key)
            if part.fitted_on and now and (found := fitted(part)) != now:
                print(f"{name}.{key}: {now:g} -> {found:g}, to be changed in accelerators.toml")
    FILE.write_text(text(after), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
