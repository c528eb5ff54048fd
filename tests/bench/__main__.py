"""`make bench`: searches of plans, lightpaths of a continent, designs beside the plain ILP, light beside GNPy."""

from __future__ import annotations

import sys
import time

from dcplan.design.candidates import routes
from dcplan.optics.line import design_lines
from dcplan.optics.screen import screen
from tests.bench.continental import continental
from tests.bench.lines import CHANNELS, GNPY, SPAN_KM, SPANS, WIDTH_GHZ, compared
from tests.bench.searching import CASES, evaluation, searched
from tests.bench.survivable import MESHES
from tests.bench.survivable import compared as designed


def continent() -> tuple[float, str]:
    """Seconds of one core from the network to every mode on every candidate, and what they went into, in words."""
    network = continental()
    start = time.process_time()
    lines = design_lines(network)
    designed = time.process_time()
    found = routes(network)
    listed = time.process_time()
    screened = screen(network, lines, found)
    end = time.process_time()
    closing, modes = screened.closes.any(axis=1).sum(), screened.closes.sum()
    said = (
        f"{len(network.sites)} sites, {len(network.fibers)} fibers: {len(found):,} routes × {len(screened.modes)} "
        f"modes in {end - start:.1f} s of one core (lines {designed - start:.1f}, routes {listed - designed:.1f}, "
        f"modes {end - listed:.1f}); {closing:,} lightpaths close, with {modes:,} modes"
    )
    return end - start, said


def main() -> int:
    """Print all."""
    for case in CASES:
        sys.stdout.write(f"{searched(case).said}\n{evaluation(case)[1]}\n")
    sys.stdout.write(continent()[1] + "\n")
    for name in MESHES:
        sys.stdout.write(designed(name).said + "\n")
        sys.stdout.flush()
    if not GNPY.is_file():
        sys.stdout.write("GNPy is not there to compare with: make gnpy\n")
        return 1
    sys.stdout.write(f"{SPANS} × {SPAN_KM:g} km SSMF, all of {CHANNELS} channels × {WIDTH_GHZ:g} GHz:\n")
    for one in compared():
        sys.stdout.write(one.said + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
