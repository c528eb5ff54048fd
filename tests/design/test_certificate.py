"""The certificate of a design: what it says is true of every design, it adds up, and no number of it can be changed."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dcplan.design.certificate import book as arithmetic
from dcplan.design.certificate.reckon import differences, reckon
from dcplan.design.certificate.record import COUPLES, TRAFFIC, Certificate, Flawed, StateCut, Term
from dcplan.design.circuits import lightpaths_of
from dcplan.design.engine import Options, design
from dcplan.design.problem import problem
from dcplan.design.result import Design
from dcplan.design.verify import verify
from dcplan.design.ways import listing
from dcplan.design.ways.chains import ways_of
from dcplan.model.existing import Existing
from dcplan.model.network import Network
from dcplan.model.states import promised_states
from tests.design import factory, mutations

RING = {"n": ("a", "b", 50, 2), "m": ("b", "c", 60, 2), "s": ("a", "c", 250, 2, {"build_usd_per_km": 500})}


def inputs(net, demands):
    paths = (*factory.lightpaths(net), *lightpaths_of(net))
    return net, factory.lines(net), paths, demands, promised_states(net)


def designed(net, demands):
    found = design(*inputs(net, demands), Options())
    assert isinstance(found, Design)
    return found


def ring(limit_ms=None, **policy):
    net = factory.network("abc", RING, policy, {"band_start_thz": 191.3, "band_end_thz": 192.5})
    return net, [
        factory.demand(net, "x", "a", "b", 4900, max_latency_ms=limit_ms),
        factory.demand(net, "y", "b", "c", 2500, 0.5),
    ]


def book_of(net, demands, held=()):
    made = problem(*inputs(net, demands))
    return arithmetic.book(made, {d: ways_of(made, made.demands[d]).ways for d in held})


# rounding


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_a_rounded_row_holds_wherever_the_row_holds(data):
    """All whole points of a box, by brute force."""
    size = data.draw(st.integers(1, 3))
    value = st.sampled_from([0.1, 0.4, 0.5, 0.8, 1.0, 1.2, 2.5])
    terms = {i: data.draw(value) for i in range(size)}
    right, divisor = data.draw(st.floats(0.05, 9)), data.draw(value)
    least = [data.draw(st.integers(0, 2)) for _ in range(size)]
    rounded, asked = arithmetic.rounded((terms, right), divisor, least)
    for point in product(*(range(low, low + 8) for low in least)):
        if sum(terms[i] * point[i] for i in terms) >= right:
            assert sum(rounded[i] * point[i] for i in rounded) >= asked - 1e-9


def test_rounding_asks_for_whole_things():
    """0.4 x + 0.8 y ≥ 1.9 by 0.4: x + 2 y ≥ 5; by 0.8: three of 0.8, of which one of 0.4 may count as half or more."""
    row = {0: 0.4, 1: 0.8}, 1.9
    assert arithmetic.rounded(row, 0.4, [0, 0]) == ({0: pytest.approx(1), 1: pytest.approx(2)}, 5)
    left, right = arithmetic.rounded(row, 0.8, [0, 0])
    assert (left[1], right) == (pytest.approx(1), 3)
    assert left[0] == pytest.approx(min(1, 0.5 / 0.375))


# what it says is true


@st.composite
def networks(draw):
    """A ring of three or four with a chord; prices at random, some fibers to be built, maybe a circuit."""
    sites = "abcd"[: draw(st.integers(3, 4))]
    ends = [*pairwise(sites), (sites[0], sites[-1]), (sites[0], sites[2])][: draw(st.integers(3, 5))]
    fibers = {}
    for i, (a, b) in enumerate(ends):
        more = {"lease_usd_per_km_year": draw(st.sampled_from([10, 300, 3000]))}
        more |= {"build_usd_per_km": draw(st.sampled_from([0, 800]))}
        fibers[f"f{i}"] = (a, b, draw(st.sampled_from([60, 200, 350])), draw(st.integers(1, 3)), more)
    policy = {
        "survive": draw(st.sampled_from([["any-fiber"], []])),
        "scheme": draw(st.sampled_from(["reroute", "one-plus-one"])),
    }
    pairs = draw(st.lists(st.sampled_from([(a, b) for a, b in product(sites, sites) if a < b]), min_size=1, max_size=3))
    limit = draw(st.sampled_from([None, 2.0]))
    rates = [draw(st.sampled_from([300, 900, 2300])) for _ in pairs]

    def make(change):
        priced = {name: (*about[:4], {**about[4], **change(name)}) for name, about in fibers.items()}
        net = factory.network(list(sites), priced, policy)
        return net, [
            factory.demand(net, f"d{i}", a, b, rate, max_latency_ms=limit if i == 0 else None)
            for i, ((a, b), rate) in enumerate(zip(pairs, rates, strict=True))
        ]

    return make


@settings(max_examples=8, deadline=None, derandomize=True)
@given(networks())
def test_every_term_holds_for_every_design_and_the_sum_lies_below_the_cost(make):
    """Designs for other prices are designs too: what each of them buys keeps each term of the certificate."""
    net, demands = make(lambda _: {})
    found = design(*inputs(net, demands), Options())
    if not isinstance(found, Design):
        return
    said = found.certificate
    assert said.bound_usd <= found.cost_usd * (1 + 1e-9)
    held = [d for d, demand in enumerate(demands) if demand.id in said.held]
    book = book_of(net, demands, held)
    assert reckon(book, said).bound_usd == pytest.approx(said.bound_usd, rel=1e-8)  # nine digits
    chance = random.Random(1)
    for _ in range(2):
        other = make(lambda _: {"lease_usd_per_km_year": chance.choice([1, 500, 9000])})
        bought = amounts(book, designed(*other))
        for term in said.terms:
            left, right = arithmetic.row_of(book, term)
            assert sum(value * bought[column] for column, value in left.items()) >= right * (1 - 1e-9) - 1e-9, term


def amounts(book, found):
    """What a design buys of each column."""
    bought = dict.fromkeys(range(len(book.program.columns)), 0.0)
    number = {lightpath.id: i for i, lightpath in enumerate(book.problem.lightpaths)}
    for lit in found.wavelengths:
        (j,) = [
            j
            for j in book.problem.offered[number[lit.lightpath]]
            if (book.problem.choices[j].part, book.problem.choices[j].mode) == (lit.transponder, lit.mode)
        ]
        bought[book.bought.wavelengths[j]] = lit.count
    for lit in found.lit:
        bought[book.bought.pairs[lit.fiber]] = lit.pairs
        if lit.fiber in book.bought.opened:
            bought[book.bought.opened[lit.fiber]] = 1
    return bought


def test_two_lines_that_anyone_can_add_up():
    """One fiber, 1.9 Tb/s, wavelengths of 400 Gb/s: five of them, and one pair. That is all, and costs what it says."""
    net = factory.network("ab", {"n": ("a", "b", 50, 2)}, {"scheme": "none"}, modes={"slow": factory.MODES["slow"]})
    demands = [factory.demand(net, "x", "a", "b", 1900)]
    found, made = designed(net, demands), problem(*inputs(net, demands))
    pair, wave = found.certificate.terms
    assert (wave.right, wave.multiplier_usd) == (5, pytest.approx(made.choices[0].usd))
    assert (pair.right, pair.multiplier_usd) == (1, pytest.approx(made.pair_usd["n"]))
    assert wave.usd + pair.usd == pytest.approx(found.cost_usd) == found.certificate.bound_usd


@pytest.mark.parametrize("gbps", [0.0005, 0.01])
def test_a_need_of_next_to_nothing_is_planned_and_certified(gbps):
    """Rounded rows then differ from whole numbers by more than a plan file's digits; what says nothing is left out."""
    kinds = ((100, 1, 12), (200, 2, 14), (400, 2, 20), (800, 4, 22))
    modes = {
        f"m{rate}": {"rate_gbps": rate, "baud_gbd": 30 * wide, "width_ghz": 37.5 * wide, "required_osnr_db": osnr_db}
        for rate, wide, osnr_db in kinds
    }
    fibers = {"n": ("a", "b", 60, 4), "s": ("a", "b", 71, 4)}
    net = factory.network("ab", fibers, {"survive": ["any-fiber"]}, modes=modes)
    demands = [factory.demand(net, "x", "a", "b", gbps)]
    found = designed(net, demands)
    assert 0 < found.certificate.bound_usd <= found.cost_usd * (1 + 1e-9)
    assert not list(verify(*inputs(net, demands)[:3], demands, promised_states(net), found))


def test_one_plus_one_counts_both_ways():
    """Three equal fibers: 4.9 Tb/s must stand on two of them, so what is lit counts for 9.8 Tb/s."""
    net = factory.network("ab", dict.fromkeys("nms", ("a", "b", 50, 1)), {"scheme": "one-plus-one"})
    found = designed(net, [factory.demand(net, "x", "a", "b", 4900)])
    assert 9800 in {cut.need_gbps for term in found.certificate.terms for cut in term.cuts}
    assert 0.9 * found.cost_usd < found.certificate.bound_usd <= found.cost_usd


def test_one_plus_one_counts_the_second_way():
    """On a ring two demands need the way around at once, which no failure alone says: weight by weight it counts."""
    ring = {"ab": ("a", "b", 50, 4), "bc": ("b", "c", 250, 4), "ca": ("c", "a", 50, 4)}
    net = factory.network("abc", ring, {"scheme": "one-plus-one", "routes": 1})
    found = designed(net, [factory.demand(net, "x", "a", "b", 4900), factory.demand(net, "y", "a", "c", 4900)])
    (cut,) = [cut for term in found.certificate.terms for cut in term.cuts if cut.over == COUPLES]
    assert cut.need_gbps == pytest.approx(4900 * sum(cut.distances.values()))
    assert 0.9 * found.cost_usd < found.certificate.bound_usd <= found.cost_usd


def test_traffic_with_a_price_counts_once():
    net = circuits()
    found = designed(*net)
    (priced,) = [term for term in found.certificate.terms if term.cuts[0].over == TRAFFIC]
    twice = replace(found.certificate, terms=(*found.certificate.terms, priced))
    with pytest.raises(Flawed, match="more than once"):
        reckon(book_of(*net), twice)


def circuits():
    module = {"modules": {"big": {"gbps": 400, "usd": 9000}}, "latency_ms": 1.0, "usd_per_gbps": 30.0}
    cables = {"one": {"ends": ["a", "b"], **module}, "two": {"ends": ["a", "b"], **module, "usd_per_gbps": 50.0}}
    plain = factory.network("ab", {"n": ("a", "b", 50, 1)}, {"survive": ["any-fiber"]})
    topology = plain.topology.model_validate(plain.topology.model_dump(exclude_unset=True) | {"circuits": cables})
    net = Network(topology, plain.catalog, plain.document)
    return net, [factory.demand(net, "x", "a", "b", 1500)]


def beside_what_is_lit():
    net, demands = ring(survive=[])
    lit = [{"route": ["n"], "transponder": "tx", "mode": "fast", "count": 2}]
    existing = Existing.model_validate({"fibers": {"n": {"pairs": 1}}, "wavelengths": lit})
    return replace(net, topology=net.topology.model_copy(update={"existing": existing})), demands


def each_its_own():
    """One demand on two ways, beside one that shares what is left."""
    net, (one, other) = ring()
    return net, [replace(one, scheme="one-plus-one"), other]


def two_ways_beside_relight():
    net, (one, other) = ring()
    return net, [replace(one, scheme="relight"), replace(other, scheme="one-plus-one")]


def single_path():
    net, (one, other) = ring(survive=[])
    return net, [replace(one, max_paths=1), other]


CASES = {
    "reroute": ring,
    "beside what is lit": beside_what_is_lit,
    "each its own scheme": each_its_own,
    "single path": single_path,
    "healthy only": lambda: ring(scheme="none"),
    "one-plus-one": lambda: ring(scheme="one-plus-one"),
    "generated ways": lambda: ring(4.0, scheme="one-plus-one"),
    "relight": lambda: ring(scheme="relight"),
    "two ways beside relight": two_ways_beside_relight,
    "within a limit": lambda: ring(0.5, survive=[]),
    "circuits": circuits,
}


WHOLE_CHECK = 6
"""Of so many numbers of a certificate one is taken through the whole check, the others through its sum alone."""


@pytest.mark.parametrize("case", CASES)
def test_no_number_can_be_changed(case, monkeypatch):
    """Every number of the certificate, the flows, the proof, the counts: each in one of four ways; each is noticed."""
    net, demands = CASES[case]()
    if case == "generated ways":
        monkeypatch.setattr(listing, "MANY_WAYS", 0)
    found = designed(net, demands)
    whole = mutations.plain(found)
    assert verify(*inputs(net, demands), mutations.DESIGN.validate_python(whole), 1e-4) == ()
    held = [d for d, one in enumerate(demands) if one.id in found.certificate.held]
    book = book_of(net, demands, held)
    unnoticed = []
    for turn, (place, value) in enumerate(mutations.numbers(whole)):
        if "channels" in place and "pairs" in place:
            continue  # a place on another lit pair may be as good
        if 0 < abs(value) < 1e-6:
            continue  # what nine digits leave of a price of nothing
        other = mutations.other(value, turn)
        try:
            changed = mutations.changed(whole, place, other)
        except ValidationError:
            continue
        if place[0] == "certificate" and turn % WHOLE_CHECK:
            noticed = adds_up_to_something_else(book, changed.certificate)
        else:
            noticed = verify(*inputs(net, demands), changed, 1e-4)
        if not noticed:
            unnoticed.append((place, value, other))
    assert unnoticed == []


def adds_up_to_something_else(book, said):
    try:
        return list(differences(said, reckon(book, said)))
    except Flawed:
        return True


def test_ways_that_were_listed_in_a_hurry_are_no_ground_for_a_certificate(monkeypatch):
    """Another time there may be more of them; the plan says so, and passes its check."""
    listed = listing.ways_of
    monkeypatch.setattr(listing, "ways_of", lambda *about: replace(listed(*about), hurried=True))
    found = designed(*single_path())
    assert found.certificate is None
    assert any("no certificate: the ways of x were listed only" in one for one in found.assumptions)
    assert designed(*ring(scheme="one-plus-one")).certificate is not None  # which takes them by search


def test_what_is_not_there_is_no_certificate():
    net, demands = ring()
    book = book_of(net, demands)
    cut = StateCut("fiber n", "wavelengths", ("b",))
    for term, word in (
        (Term((replace(cut, state="fiber z"),), (None, None), 0, 1), "no promised state"),
        (Term((cut,), (0.123, None), 0, 1), "the size of nothing"),
        (Term((cut,), (None, None), 0, -1), "multiplier"),
        (Term((StateCut("fiber n", "wavelengths", weights={"L99": 1}),), (None, None), 0, 1), "L99"),
        (Term((cut,), (None, None), 0, 1, built=("n",)), "needs no building"),
    ):
        with pytest.raises(Flawed, match=word):
            reckon(book, Certificate(0, (term,), (), ()))


def test_differences_name_the_place():
    net, demands = ring()
    said = designed(net, demands).certificate
    assert list(differences(said, said)) == []
    first = replace(said.terms[0], right=7.0)
    (told,) = differences(replace(said, terms=(first, *said.terms[1:])), said)
    assert told.startswith("certificate.terms.0.right is 7, it adds up to ")
