"""What room channels leave that stand already and stay: holes in the spectrum of lit pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplan.design.formulation import Bought
    from dcplan.design.problem import Problem
    from dcplan.design.solver.program import Program
    from dcplan.model.network import FiberId


def holes(program: Program, problem: Problem, bought: Bought) -> None:
    """Per fiber and width w: channels at least so wide ≤ those that stand + what fits between them + more on new pairs.

    Σ n − floor(slots / w) × p ≤ standing + Σ over lit pairs, over stretches, floor(free / w) − floor(slots / w) × lit.
    """
    for i, fiber in enumerate(problem.fibers):
        standing = _standing(problem, fiber)
        if not any(standing):
            continue
        over = [j for j, choice in enumerate(problem.choices) if fiber in problem.glass(choice.lightpath)]
        for width in sorted({problem.choices[j].slots for j in over}):
            whole = problem.slots // width
            room = sum(sum(size // width for size in _free(problem, channels)) for channels in standing)
            there = sum(slots >= width for channels in standing for _, slots in channels)
            if room + there < whole * len(standing):
                wide = {bought.wavelengths[j]: 1.0 for j in over if problem.choices[j].slots >= width}
                most = float(room + there - whole * len(standing))
                program.row(f"holes{i}w{width}", wide | {bought.pairs[fiber]: -float(whole)}, upper=most)


def _standing(problem: Problem, fiber: FiberId) -> list[list[tuple[int, int]]]:
    """(first slot, slots) of the channels that stay, on each pair that stays lit."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(problem.pairs_kept.get(fiber, 0))]
    for j, places in problem.places.items():
        choice = problem.choices[j]
        fibers = problem.lightpaths[choice.lightpath].route.fibers
        if found and choice.least and fiber in fibers:
            for place in places:
                found[place.pairs[fibers.index(fiber)]].append((place.first_slot, choice.slots))
    return found


def _free(problem: Problem, channels: list[tuple[int, int]]) -> list[int]:
    """Sizes of the stretches of slots between channels and edges."""
    found = []
    for start, size in problem.band.stretches:
        at = start
        for first, slots in sorted(channels):
            if start <= first < start + size:
                found.append(first - at)
                at = first + slots
        found.append(start + size - at)
    return found
