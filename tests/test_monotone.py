"""A fiber more never costs more, and more demand never less, from topology file to plan: routes, optics, design."""

from __future__ import annotations

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from dcplan import api
from dcplan.design.result import Infeasible
from dcplan.model.load import load_document
from dcplan.model.source import parse

SOME = settings(max_examples=8, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
"""Without shrinking: every example is two plans."""
PLACES = {"a": (40.0, -95.0), "b": (40.3, -95.0), "c": (40.0, -95.3), "m": (40.2, -95.2)}
"""All within 50 km; `m` only lets light pass."""


def planned(fibers, demands, policy="survive: [any-fiber]"):
    """The plan of a file. `fibers`: (a, b, km, US$ of lease per km and year); demands: (a, b, Gb/s, more)."""
    used = {site for a, b, *_ in (*fibers, *demands) for site in (a, b)}
    lines = ["dcplan: 1", "name: few", "sites:"]
    for site, (lat, lon) in PLACES.items():
        if site in used:
            more = ", regenerate: false" if site == "m" else ""
            lines.append(f"  {site}: {{lat: {lat}, lon: {lon}{more}}}")
    lines.append("fibers:")
    for i, (a, b, km, lease) in enumerate(fibers):
        about = f"length_km: {km}, type: g652d, pairs: 2, lease_usd_per_km_year: {lease}"
        lines.append(f"  f{i}: {{ends: [{a}, {b}], {about}}}")
    lines.append("demands:")
    for i, (a, b, gbps, *more) in enumerate(demands):
        lines.append(f"  d{i}: {{between: [{a}, {b}], gbps: {gbps}{more[0] if more else ''}}}")
    lines += ["gear: {allow: {transponders: [400zr, 800zr+]}}", f"policy: {{{policy}}}"]
    network, found = load_document(parse("\n".join(lines) + "\n", "few.yaml"))
    assert network is not None, found
    return api.plan(network)


def no_dearer(free, bound):
    """Who is bound less has a plan wherever the other has one, for no more; both are known to their bounds."""
    if isinstance(bound, Infeasible):
        return
    assert not isinstance(free, Infeasible), free.reason
    assert free.design.proof.bound_usd <= bound.design.proof.cost_usd * (1 + 1e-9)
    if free.design.proof.status == bound.design.proof.status == "optimal":
        assert free.design.proof.cost_usd <= bound.design.proof.cost_usd * (1 + 1.1e-4)


lengths = st.sampled_from([52, 58, 75, 90, 123, 190])
leases = st.sampled_from([10, 300, 5000])
ends = st.sampled_from([("a", "b"), ("a", "c"), ("b", "c"), ("a", "m"), ("b", "m"), ("c", "m")])
cables = st.builds(lambda two, km, lease: (*two, km, lease), ends, lengths, leases)
rates = st.sampled_from([100, 400, 700, 1100, 1600])
asked = st.lists(
    st.builds(lambda two, gbps: (*two, gbps), st.sampled_from([("a", "b"), ("a", "c")]), rates),
    min_size=1,
    max_size=2,
    unique_by=lambda one: one[:2],
)
RING = [("a", "b", 75, 300), ("b", "c", 58, 10), ("a", "c", 123, 300)]

# Light from a 400zr reaches over 58 km between multiplexers, not between ROADMs.
BETWEEN_MULTIPLEXERS = [("a", "b", 58, 300)], ("b", "c", 52, 300), [("a", "b", 400)], "survive: []"
# Of four routes through m the longest is by far the cheapest; a fiber more makes it the longest of six.
MANY_ROUTES = (
    [("a", "m", 90, 10), ("m", "b", 90, 10), ("a", "m", 58, 5000), ("m", "b", 58, 5000)],
    ("m", "b", 75, 5000),
    [("a", "b", 400)],
    "survive: []",
)


@SOME
@given(st.lists(cables, max_size=2), cables, asked, st.sampled_from(["survive: []", "survive: [any-fiber]"]))
@example(*BETWEEN_MULTIPLEXERS)
@example(*MANY_ROUTES)
def test_a_fiber_more_never_costs_more(fibers, further, demands, policy):
    fibers = fibers if policy == "survive: []" and fibers else [*RING, *fibers]
    no_dearer(planned([*fibers, further], demands, policy), planned(fibers, demands, policy))


@settings(SOME, max_examples=5)
@given(st.lists(cables, max_size=2), asked, st.sampled_from([1.2, 2.0]))
def test_more_demand_never_costs_less(fibers, demands, times):
    (a, b, gbps), *others = demands
    fibers = [*RING, *fibers]
    no_dearer(planned(fibers, demands), planned(fibers, [(a, b, gbps * times), *others]))


@settings(SOME, max_examples=4)
@given(st.lists(cables, max_size=2), asked)
def test_all_of_a_demand_promised_is_protection(fibers, demands):
    fibers = [*RING, *fibers]
    whole = [(a, b, gbps, ", under_failure_percent: 100") for a, b, gbps in demands]
    one, other = planned(fibers, demands), planned(fibers, whole)
    assert isinstance(one, Infeasible) == isinstance(other, Infeasible)
    if not isinstance(one, Infeasible):
        assert one.design == other.design
