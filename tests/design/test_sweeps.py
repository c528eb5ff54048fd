"""What is swept over a network are sets that lie before a line; the narrow middle of a wide network is found so."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.cuts import shores
from dcplan.design.cuts.explore import explored
from dcplan.design.cuts.loop import Task, start
from dcplan.design.cuts.sweeps import swept
from dcplan.design.distances import between_all
from dcplan.design.formulation import whole_slots
from dcplan.design.limits import Until
from tests.design import instances

MANY = settings(max_examples=150, deadline=None, derandomize=True)
ROWS, COLUMNS = 4, 10


@st.composite
def networks(draw):
    size = draw(st.integers(2, 7))
    links = draw(st.lists(st.sampled_from(list(combinations(range(size), 2))), min_size=1, unique=True))
    lengths = draw(st.lists(st.integers(0, 9), min_size=len(links), max_size=len(links)))
    return size, np.array(links), np.array(lengths, dtype=float)


@MANY
@given(networks(), st.integers(2, 20))
def test_every_set_lies_before_a_line(network, orders):
    size, links, lengths = network
    found = swept(size, links, lengths, orders, random.Random(1))
    far = between_all(size, links, lengths)
    joined = np.isfinite(far)
    far[~joined] = 1.0 + 2.0 * far[joined].max()
    lines = [*far, *(far[a] - far[b] for a in range(size) for b in range(size))]
    for inside in found:
        assert inside[0]
        assert not inside.all()
        assert any(line[side].max() <= line[~side].min() for line in lines for side in (inside, ~inside))
    assert len({tuple(inside) for inside in found}) == len(found)


def test_a_path_is_parted_at_each_link():
    links = np.array([(i, i + 1) for i in range(9)])
    found = swept(10, links, np.ones(9), 20, random.Random(1))
    assert {tuple(i <= link for i in range(10)) for link in range(9)} <= {tuple(inside.tolist()) for inside in found}


def grid(demands):
    """Sites in rows and columns, each joined with those beside it; any one link may fail."""
    beside = [((r, c), there) for r in range(ROWS) for c in range(COLUMNS) for there in ((r, c + 1), (r + 1, c))]
    links = {
        f"{name(*a)}-{name(*b)}": (name(*a), name(*b), [(400, 20.0), (1600, 60.0)], "any", 0.0, 0.0)
        for a, b in beside
        if b[0] < ROWS and b[1] < COLUMNS
    }
    return instances.problem_of(links, demands, [(), *((link,) for link in links)])


def name(r, c):
    return f"s{r}x{c}"


def opposite():
    """From each site of the left half to the one opposite."""
    return [
        (f"d{r}x{c}", name(r, c), name(r, COLUMNS - 1 - c), 500.0) for r in range(ROWS) for c in range(COLUMNS // 2)
    ]


def test_the_narrow_middle_is_found_from_single_sites(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shores, "MOST_BONDS", 50)
    monkeypatch.setattr(shores, "MOST_EXPRESS", 50)
    monkeypatch.setattr(shores, "MOST_SMALL", ROWS * COLUMNS)
    made = grid(opposite())
    loop = start(Task(made, whole_slots(made), {}, "highs", 1e-6, Until(), lambda _: None))
    cuts, table = loop.shore_cuts, loop.table
    assert not cuts.complete
    left = {i for i, site in enumerate(table.sites) if int(site.split("x")[1]) < COLUMNS // 2}
    middle = {i for i, ends in enumerate(table.links.tolist()) if len(left & set(ends)) == 1}
    point = np.zeros(len(loop.program.columns))
    point[list(cuts.waves)] = [1.0 if table.link_of[owner] in middle else 10.0 for owner in table.owner]
    sight = cuts.sight(point, every=True)
    assert not len(sight[0][0])  # none of the known shores is broken or nearly so
    found = explored(cuts, point, sight, random.Random(1))
    assert {frozenset(left), frozenset(range(len(table.sites))) - left} & {
        frozenset(i for i in range(len(table.sites)) if shore >> i & 1) for shore in found
    }
