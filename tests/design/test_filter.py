"""Irreducible sets: found among any conflicts, each thing needed, as few tries as halving promises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.design.reasons.filter import conflict

THINGS = "abcdefghij"
conflicts = st.lists(st.frozensets(st.sampled_from(THINGS), min_size=1, max_size=4), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(conflicts)
def test_one_of_the_conflicts_is_found_and_no_more(sets):
    least = [one for one in sets if not any(other < one for other in sets)]
    found = conflict(THINGS, lambda some: not any(one <= some for one in sets))
    assert frozenset(found.things) in least
    assert found.complete


@settings(max_examples=100, deadline=None, derandomize=True)
@given(conflicts, st.frozensets(st.integers(0, 40), max_size=20))
def test_what_is_not_known_never_makes_it_wrong(sets, silent):
    """Some questions stay without an answer: the set is a conflict all the same, and said not to be shown least."""
    count = iter(range(10**6))

    def possible(some):
        if next(count) in silent and len(some) < len(THINGS):
            return None
        return not any(one <= some for one in sets)

    found = conflict(THINGS, possible)
    assert any(one <= frozenset(found.things) for one in sets)
    if found.complete:
        assert frozenset(found.things) in [one for one in sets if not any(other < one for other in sets)]


def test_tries_grow_with_the_conflict_and_not_with_what_is_there():
    tries = []

    def possible(some):
        tries.append(some)
        return not {3, 700} <= some

    assert conflict(range(1000), possible).things == (3, 700)
    assert len(tries) < 60
