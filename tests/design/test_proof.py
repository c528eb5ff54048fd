"""What a proof may claim, and which of several equal designs is the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.design.formulation import whole_slots
from dcplan.design.order import twins
from dcplan.design.problem import problem
from dcplan.design.verify import verify
from dcplan.model.states import promised_states
from tests.design import factory
from tests.design.test_design import mesh, run, traffic


def test_optimal_is_only_what_is_within_the_gap_that_was_asked():
    """A bound that is lowered together with the gap is consistent, but too far off."""
    net = mesh()
    found = run(net, traffic(net))
    bound = found.cost_usd * 0.6
    far = replace(found.proof, bound_usd=bound, gap=0.4)

    def said(proof, asked, certificate=None):
        paths, states = factory.lightpaths(net), promised_states(net)
        changed = replace(found, proof=proof, certificate=certificate)
        return verify(net, factory.lines(net), paths, traffic(net), states, changed, asked)

    assert said(far, None) == said(far, 0.4) == ()
    assert any("is not optimal within the 0.01" in one for one in said(far, 0.01))
    assert said(far, 0.4, found.certificate) == ("the certificate adds up to more than the bound",)
    assert said(replace(far, status="feasible", reason="time limit"), 0.01) == ()


@pytest.mark.parametrize("names", [("n", "m"), ("m", "n")])
def test_of_equal_fibers_the_first_is_lit(names):
    """Two in one duct, a third apart: whatever they are called, the first in the file."""
    duct = {"shared_risk": ["duct"]}
    fibers = dict.fromkeys(names, ("a", "b", 90, 4, duct)) | {"s": ("a", "b", 120, 4)}
    net = factory.network(["a", "b"], fibers, {"survive": ["any-fiber", "any-shared-risk"]})
    found = run(net, [factory.demand(net, "x", "a", "b", 3000)])
    assert [lit.fiber for lit in found.lit] == [names[0], "s"]


def test_twins_are_alike_in_everything():
    """Equal fibers of which one shares its duct are no twins: that one may be worth less."""
    fibers = {name: ("a", "b", 90, 4, {"shared_risk": ["d"] if name in "ns" else []}) for name in "nms"}
    net = factory.network(["a", "b"], fibers, {"survive": ["any-shared-risk"]})
    demands = [factory.demand(net, "x", "a", "b", 100)]
    made = problem(net, factory.lines(net), factory.lightpaths(net), demands, promised_states(net))
    assert twins(made, whole_slots(made), {}) == [("n", "s")]
    assert twins(made, whole_slots(made) | {"s": 10}, {}) == []
