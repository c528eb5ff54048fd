"""Speed, on a quiet machine: beside GNPy and the plain ILP in one run, searches of plans, lightpaths of a continent."""

from __future__ import annotations

import pytest

from tests.bench.__main__ import continent
from tests.bench.lines import GNPY, compared
from tests.bench.searching import CASES, Case, evaluation, searched
from tests.bench.survivable import compared as designed


@pytest.mark.accept
def test_candidate_lightpaths_of_a_hundred_sites_in_ten_seconds() -> None:
    took, said = continent()
    print(said)
    assert took < 10


@pytest.mark.accept
@pytest.mark.skipif(not GNPY.is_file(), reason="GNPy is not in .venv-gnpy: `make gnpy` installs it")
def test_ours_beside_gnpy() -> None:
    """One line at once: 30 times faster at least; lines in a batch: 100 times; both sides say the same GSNR."""
    found = compared()
    for one in found:
        print(one.said)
    single, _, batch, _ = found
    assert single.ratio >= 30
    assert batch.ratio >= 100
    for one in found:
        assert one.apart_db <= 0.2


@pytest.mark.accept
def test_thirty_sites_beside_the_ilp_of_all_states() -> None:
    """The same HiGHS in one run: the ILP takes 20 times as long, or does not finish."""
    found = designed("dci_30_1")
    print(found.said)
    assert found.ratio >= 20 or not found.finished


@pytest.mark.accept
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_a_search_over_every_choice(case: Case) -> None:
    """One plan, amortised over all that can run: a hundred times less than what Calculon took."""
    found = searched(case)
    print(found.said)
    assert found.fitting > 1000
    assert found.took_s < case.most_s
    assert found.each_ms <= 0.1


@pytest.mark.accept
def test_one_evaluation_in_a_search() -> None:
    """A hundred times less than what Calculon took, for every plan that can run: without the bounds that spare most."""
    each_ms, said = evaluation(CASES[0])
    print(said)
    assert each_ms <= 0.1
