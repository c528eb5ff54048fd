"""Named plans made whole, and the search against looking at everything."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

import pytest

from dcplan.model.job import Job, ParallelismPlan
from dcplan.training.engine import one_site
from dcplan.training.layout import complete
from dcplan.training.memory import fits, memory
from dcplan.training.outer.exchange import Outer
from dcplan.training.plans.search import any_fits, named
from dcplan.training.plans.search import name as called
from dcplan.training.plans.space import CHOICES, Space
from dcplan.training.plans.table import FITS, candidates, table
from dcplan.training.step import Layout, Misfit, Workload

from .records import listed, model, share


def load(accelerators: int = 4096, sites: int = 2, name: str = "llama3-405b", batch: int = 2048) -> Workload:
    shares = tuple(share(site, "h100-sxm", accelerators) for site in "abc"[:sites])
    return Workload("job", model(name), 8192, batch, "bf16", 32, shares)


GOOD = ParallelismPlan(tp=8, cp=2, pp=16, virtual_stages=8)
FAULTS = {
    "layout": [
        ({"dp": 100}, "× dp 100"),
        ({"tp": 7}, "does not divide 8,192 accelerators"),
        ({"tp": 256, "pp": 1, "virtual_stages": 1}, "does not divide 128 attention heads"),
        ({"pp": 32, "virtual_stages": 8}, "do not fall evenly"),
        ({"pp": 1}, "virtual stages need a pipeline"),
        ({"ep": 2}, "the model is dense"),
    ],
    "batch": [({"microbatch": 3}, "not a multiple of dp 32 × microbatch 3")],
    "sites": [
        ({"shard_size": 3}, "does not divide the 16 data parallel ranks"),
        ({"across": "pp"}, "virtual stages over sites"),
        ({"across": "pp", "pp": 1, "virtual_stages": 1, "sharding": 3}, "whole pipeline stages"),
    ],
    "memory": [({"cp": 1}, "activations")],
}


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [(kind, change, words) for kind, cases in FAULTS.items() for change, words in cases],
    ids=str,
)
def test_faults_of_a_named_plan(kind: str, change: dict[str, int], words: str) -> None:
    found = complete("mine", GOOD.model_copy(update=change), load())
    assert isinstance(found, Misfit)
    assert (found.plan, found.kind) == ("mine", kind)
    assert words in found.reason


def test_a_plan_is_made_whole() -> None:
    found = complete("mine", GOOD, load())
    assert isinstance(found, Layout)
    assert (found.dp, found.microbatches, found.shard_size, found.across) == (32, 64, 16, "dp")
    alone = complete("mine", GOOD, load(8192, sites=1))
    assert isinstance(alone, Layout)
    assert (alone.across, alone.shard_size) == ("none", 32)


def test_a_site_that_does_not_hold_whole_ranks() -> None:
    uneven = replace(load(), shares=(share("a", "h100-sxm", 4096 - 64), share("b", "h100-sxm", 4096 + 64)))
    found = complete("mine", GOOD, uneven)
    assert isinstance(found, Misfit)
    assert found.kind == "sites"


def test_extra_microbatches_in_flight_must_fit_too() -> None:
    plan = ParallelismPlan(tp=8, cp=2, pp=14, across="pp")
    work = load(4032, batch=2016)
    assert isinstance(complete("mine", plan, work), Layout)
    many = complete("mine", plan.model_copy(update={"extra_in_flight": 50}), work)
    assert isinstance(many, Misfit)
    assert many.kind == "memory"


def outer_steps(outer: Outer) -> dict[str, object]:
    """As a file has it."""
    if outer.tiers:
        (tier,) = outer.tiers
        servers = {site: list(pushing) for site, pushing in tier.servers}
        return {"bits": outer.bits, "tiers": [{"every": tier.every, "servers": servers}]}
    given = {"every_steps": outer.every_steps, "bits": outer.bits}
    return given | ({"fragments": outer.fragments} if outer.fragments > 1 else {})


@pytest.mark.parametrize(
    ("name", "count", "sites", "batch"),
    [("llama3-70b", 64, 2, 128), ("qwen3-30b-a3b", 16, 2, 64), ("llama3-8b", 64, 1, 256)],
)
def test_every_plan_of_the_search_is_one_that_could_be_named(name: str, count: int, sites: int, batch: int) -> None:
    work = load(count, sites, name, batch)
    space = Space(ParallelismPlan(cp=1, recompute="full", sharding=1, sequence_parallel=True))
    found = list(candidates(work, space))
    names = [called(layout) for layout in found]
    assert len(set(names)) == len(names) > 0
    keys = set(ParallelismPlan.model_fields)
    for layout in found[:: 1 + len(found) // 200]:
        sizes = {key: value for key, value in asdict(layout).items() if key in keys}
        sizes["outer"] = None if layout.outer is None else outer_steps(layout.outer)
        if layout.across == "none":
            del sizes["across"]
        assert complete("", ParallelismPlan(**sizes), work) == layout
        assert fits(memory(work, layout))


def test_every_choice_of_a_plan_is_a_field_of_a_layout_that_the_search_varies() -> None:
    """A new key with few values joins the search by being in the schema and in `Layout`."""
    assert set(CHOICES) <= {field.name for field in fields(Layout)}
    shares = tuple(share(site, "a100-sxm-80gb", 32) for site in "ab")
    varied: dict[str, set[object]] = {key: set() for key in CHOICES}
    for what, s in (("megatron-22b", 2048), ("qwen3-30b-a3b", 8192)):
        found = table(Workload("job", model(what), s, 64, "bf16", 32, shares))
        rows = found.kind == FITS
        chosen = [found.chosen[i] for i in set(found.way[rows].tolist()) if found.chosen[i]["outer"] is None]
        varied["across"] |= {found.nodes[i].across for i in set(found.node[rows].tolist())}
        for key in varied.keys() - {"across"}:
            varied[key] |= {way[key] for way in chosen}
    assert varied == {key: set(values) for key, values in CHOICES.items()}


def test_the_search_keeps_the_best() -> None:
    work, pins = load(16, 2, "llama3-8b", 32), {"recompute": "full", "sequence_parallel": True, "schedule": "1f1b"}
    kept, misfits = listed(work, **pins).layouts, listed(work, **pins).misfits
    space = Space(ParallelismPlan.model_validate(pins))
    everything = [candidate for candidate in candidates(work, space) if candidate.outer is None]
    for across, most in (("dp", 8), ("pp", 4), ("cp", 1), ("tp", 1)):
        steps = sorted(one_site(work, layout).step_s for layout in everything if layout.across == across)
        mine = [one_site(work, layout).step_s for layout in kept if layout.across == across and layout.outer is None]
        assert mine[0] == steps[0]
        assert mine == sorted(mine)
        assert 0 < len(mine) <= most
    assert {misfit.kind for misfit in misfits} <= {"batch", "memory", "sites"}


def test_the_search_finds_a_plan_that_beats_the_published_one() -> None:
    work = load(8192, sites=1)
    published = complete("llama3", GOOD, work)
    assert isinstance(published, Layout)
    best = listed(work).layouts[0]
    assert one_site(work, best).step_s <= one_site(work, published).step_s


def test_when_nothing_fits() -> None:
    small = load(8, batch=16)
    assert listed(small).layouts == ()
    why = any_fits(small)
    assert why is not None
    assert why.kind == "memory"
    assert any_fits(load()) is None


def test_named_through_a_job() -> None:
    base = {
        "model": "llama3-405b",
        "accelerators": {"a": 4096, "b": 4096},
        "sequence_length": 8192,
        "global_batch_tokens": 16777216,
    }
    job = Job.model_validate({**base, "plans": {"good": GOOD.model_dump(), "bad": {"tp": 7}}})
    runs, misfits = named(load(), job)
    assert [layout.name for layout in runs] == ["good"]
    assert [misfit.plan for misfit in misfits] == ["bad"]
