"""What a workload remembers is what would be worked out anew, and lives no longer than it does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.training.engine import step_time
from dcplan.training.pipeline.one_f_one_b import span_s
from dcplan.training.plans.table import FITS, table
from dcplan.training.remember import remembered
from dcplan.training.site.collectives import group
from dcplan.training.site.machine import machines
from dcplan.training.step import Links, Workload

from .records import layout, model, share


def load(batch: int = 512) -> Workload:
    return Workload("job", model("llama3-70b"), 8192, batch, "bf16", 32, (share("here", "h100-sxm", 512),))


def test_worked_out_once_for_each_workload_and_sizes() -> None:
    asked = []

    @remembered
    def area(workload: Workload, width: int) -> int:
        asked.append(width)
        return workload.batch * width

    one, other = load(512), load(1024)
    assert [area(one, 2), area(one, 2), area(one, 3), area(other, 2)] == [1024, 1024, 1536, 2048]
    assert asked == [2, 3, 2]


def test_what_raises_is_asked_again() -> None:
    @remembered
    def refuse(workload: Workload) -> int:
        raise ValueError(workload.job)

    for _ in range(2):
        with pytest.raises(ValueError, match="job"):
            refuse(load())


def test_a_changed_workload_knows_nothing_of_the_old_one() -> None:
    first = load()
    assert machines(first)[0].operand_bytes == 2
    eight = (share("here", "h100-sxm", 512, "fp8"),)
    second = replace(first, precision="fp8", shares=eight)
    assert machines(second)[0].operand_bytes == 1
    assert first == load()
    assert "answers" not in repr(first)


def test_the_order_of_questions_changes_no_answer() -> None:
    plans = [
        layout(512, tp=tp, pp=pp, dp=512 // tp // pp, virtual_stages=v, recompute=recompute, sharding=sharding)
        for tp in (4, 8)
        for pp, v in ((1, 1), (4, 1), (4, 5))
        for recompute in ("selective", "full")
        for sharding in (0, 1, 3)
    ]
    nothing = Links({}, {})
    shared = load()
    together = [step_time(shared, plan, nothing) for plan in plans]
    backwards = load()
    assert together == [step_time(backwards, plan, nothing) for plan in plans[::-1]][::-1]
    assert together == [step_time(load(), plan, nothing) for plan in plans]


def test_a_search_prices_each_plan_as_if_there_were_no_other() -> None:
    far = Links({("here", "there"): 800.0}, {("here", "there"): 3.0})

    def job() -> Workload:
        shares = tuple(share(site, "h100-sxm", 256) for site in ("here", "there"))
        return Workload("job", model("mixtral-8x7b"), 8192, 512, "bf16", 16, shares)

    searched = job()
    found = table(searched)
    rows = (found.kind == FITS).nonzero()[0]
    plans = [found.layout(int(row)) for row in rows[:: len(rows) // 61]]
    assert {plan.across for plan in plans} == {"dp", "pp", "tp", "cp", "ep"}
    assert {plan.sync for plan in plans} > {"synchronous", "streaming", "parameter-server"}
    together = [step_time(searched, plan, far) for plan in plans]
    for clear in (group, span_s):
        clear.cache_clear()
    assert together == [step_time(job(), plan, far) for plan in plans]
