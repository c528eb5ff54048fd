"""Pins narrow a search, from the command line and from a job, or are refused in words."""

from __future__ import annotations

import pytest

from dcplan.errors import UsageError
from dcplan.model.job import Job, ParallelismPlan
from dcplan.training.plans.idle import idle
from dcplan.training.plans.pins import merged, read_pins
from dcplan.training.plans.search import PINS, any_fits, idle_pins, named
from dcplan.training.plans.shortlist import shortlist
from dcplan.training.plans.space import CHOICES, Space
from dcplan.training.plans.table import candidates
from dcplan.training.step import Layout, Workload

from .records import listed, model, share


def load(name: str = "llama3-70b", count: int = 512, sites: str = "ab", accelerator: str = "h100-sxm") -> Workload:
    shares = tuple(share(site, accelerator, count) for site in sites)
    return Workload("job", model(name), 8192, 1024, "bf16", 32, shares)


def fitting(work: Workload, space: Space) -> set[Layout]:
    return set(candidates(work, space))


def test_read() -> None:
    found = read_pins(["tp=8, across=dp", "sequence_parallel=false,recompute=full"])
    given = {"tp": 8, "across": "dp", "sequence_parallel": False, "recompute": "full"}
    assert found.model_dump(exclude_unset=True) == given
    assert merged([ParallelismPlan(tp=2, pp=4), None, found]).model_dump(exclude_unset=True) == {**given, "pp": 4}
    outer = read_pins(["sync=local-sgd,outer.every_steps=100"]).model_dump(exclude_unset=True)
    assert outer == {"sync": "local-sgd", "outer": {"every_steps": 100}}
    assert merged([None]).model_fields_set == set()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tp", "key=value"),
        ("tp=", "key=value"),
        ("tp=8,,pp=2", "key=value"),
        ("", "key=value"),
        ("tpp=8", "did you mean `tp`"),
        ("name=x", "has no key `name`"),
        ("tp=8,tp=4", "twice"),
        ("tp=x", "valid integer"),
        ("tp=0", "greater than or equal to 1"),
        ("sharding=9", "one of 0, 1, 2, 3"),
        ("across=DP", "did you mean `dp`"),
        ("sequence_parallel=8", "true or false"),
        ("sync=local-sgd", "asks for outer"),
        ("sync=local-sgd,outer.every=8", "there is no key `outer.every`"),
        ("sync=local-sgd,outer.every_steps=x", "valid integer"),
        ("outer=8", "`outer` should be"),
    ],
)
def test_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_pins([text])


@pytest.mark.parametrize(
    "pin",
    [
        {"tp": 8},
        {"across": "pp"},
        {"pp": 4, "virtual_stages": 2},
        {"microbatch": 2},
        {"dp": 4},
        {"sync": "synchronous"},
        {"sharding": 3},
        {"recompute": "full", "cp": 1},
        {"schedule": "zb-h1"},
    ],
)
def test_a_pin_is_a_filter_of_the_whole_space(pin: dict[str, object]) -> None:
    """What is found with a pin is what is found without and has those values, or to which they make no difference."""
    base = {"sequence_parallel": True, "cp_exchange": "ring", "ep": 1}
    work = load("llama3-8b", 16)
    whole = fitting(work, Space(ParallelismPlan.model_validate(base)))
    kept = {
        layout
        for layout in whole
        if all(
            getattr(layout, key) == value or (key != "recompute" and key in idle(layout, work))
            for key, value in pin.items()
        )
    }
    found = fitting(work, Space(ParallelismPlan.model_validate({**base, **pin})))
    assert found
    if "virtual_stages" in pin or "microbatch" in pin:  # values that an unpinned search need not try
        assert kept <= found
    else:
        assert found == kept


def test_a_pin_may_have_a_value_that_the_search_does_not_try() -> None:
    pins: list[dict[str, object]] = [
        {"microbatch": 16}, {"sequence_parallel": False, "tp": 2}, {"shard_size": 8}, {"extra_in_flight": 3},
        {"pp": 5, "cp": 1}, {"virtual_stages": 5, "pp": 4},
    ]  # fmt: skip
    works = [load(), load(), load(), load(), load(count=640), load()]
    for pin, work in zip(pins, works, strict=True):
        some = {"recompute": "full", "cp": 1, "sequence_parallel": True, "sync": "hierarchical"}
        found = fitting(work, Space(ParallelismPlan.model_validate({**some, **pin})))
        assert found, pin
        assert all(getattr(layout, key) == value for layout in found for key, value in pin.items())


def test_when_a_pin_leaves_nothing() -> None:
    for pin, said in (
        ({"tp": 3}, "no sizes of tp, cp and pp with tp 3 divide"),
        ({"dp": 7}, "with dp 7 divide"),
        ({"pp": 1, "tp": 1, "sharding": 0}, "do not fit the"),
        ({"ep": 2}, "the model is dense"),
        ({"virtual_stages": 4, "across": "pp"}, "whole ranks or whole stages"),
    ):
        space = Space(ParallelismPlan.model_validate(pin))
        why = any_fits(load(), space)
        assert why is not None
        assert said in why.reason
        found = listed(load(), **pin)
        assert not found.layouts
        assert why in found.misfits


@pytest.mark.parametrize(
    ("pin", "said"),
    [
        ({"tp": 8, "pp": 7, "across": "dp"}, "no plan can run with pp 7; without it some can"),
        ({"virtual_stages": 4, "across": "pp", "tp": 8}, "with virtual_stages 4, across pp; without any one of them"),
        ({"pp": 1, "tp": 1, "sharding": 0, "across": "dp"}, "with pp 1, sharding 0; without any one of them"),
        ({"sync": "local-sgd", "outer": {"every_steps": 9}, "across": "pp"}, "with across pp, sync local-sgd, outer {"),
    ],
)
def test_which_pins_leave_nothing(pin: dict[str, object], said: str) -> None:
    """No fewer of them do, and without any one of them some plan is found."""
    found = listed(load(), **pin)
    (why,) = [misfit.reason for misfit in found.misfits if misfit.plan == PINS]
    assert said in why
    assert not [misfit for misfit in listed(load(), tp=3).misfits if misfit.plan == PINS]


def test_pins_without_effect() -> None:
    def without(work: Workload, **pin: object) -> set[str]:
        return set(idle_pins(work, Space(ParallelismPlan.model_validate(pin))))

    assert without(load(), tp=8, across="dp", sync="synchronous") == set()
    assert without(load(sites="a"), tp=8, across="dp", sync="synchronous") == {"across", "sync"}
    assert without(load(), recompute="none") == {"recompute"}
    assert without(load("megatron-22b", accelerator="a100-sxm-80gb"), recompute="none") == set()
    assert without(load(), schedule="zb-h1") == set()
    assert without(load(), schedule="1f1b", pp=1) == {"schedule"}
    assert without(load(), tp=3, sync="synchronous") == set()  # nothing fits: another rule says so


def test_a_job_with_pins() -> None:
    base = {
        "model": "llama3-70b", "accelerators": {"a": 512, "b": 512}, "sequence_length": 8192,
        "global_batch_tokens": 8192 * 1024,
    }  # fmt: skip
    job = Job.model_validate({**base, "pin": {"tp": 8, "across": "dp"}})
    assert job.pin is not None
    for more, tp in ((None, 8), (read_pins(["tp=4"]), 4)):
        found = shortlist(load(), merged([job.pin, more]), 0.0).layouts
        assert {(layout.tp, layout.across) for layout in found} == {(tp, "dp")}
    both = Job.model_validate({**base, "pin": {"tp": 8}, "plans": {"mine": {"tp": 4, "pp": 8}}})
    assert [layout.tp for layout in named(load(), both)[0]] == [4]


def test_every_choice_can_be_pinned() -> None:
    for key, values in CHOICES.items():
        for value in values:
            assert getattr(read_pins([f"{key}={value}"]), key) == value
