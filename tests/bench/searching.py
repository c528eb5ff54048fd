"""Searches over every choice of a plan, timed by the processor time of this process."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import cast

from dcplan.catalog.load import shipped
from dcplan.catalog.parts import Accelerator, Calibration, ModelShape
from dcplan.training.engine import step_time
from dcplan.training.plans.explore import Weighing, explore
from dcplan.training.plans.table import candidates, table
from dcplan.training.step import Links, Share, Workload
from dcplan.training.terms import no_distance

CALCULON = "Calculon, recorded: 9 to 14 ms per evaluation"
"""Of GPT-3 175B on 1,024 accelerators, by its own search on two cores; not run here."""


@dataclass(frozen=True)
class Case:
    """A job to search."""

    said: str
    model: str
    accelerator: str
    sites: tuple[str, ...]
    each: int
    """Accelerators in each site."""
    tokens: int
    batch: int
    most_s: float
    """What it may take."""

    @property
    def workload(self) -> Workload:
        """Anew each time, so that nothing is known of it."""
        part = cast("Accelerator", shipped("accelerators")[self.accelerator])
        fitted = cast("Calibration", shipped("calibrations")[part.calibration or ""])
        shares = tuple(Share(site, self.accelerator, part, fitted, self.each) for site in self.sites)
        shape = cast("ModelShape", shipped("models")[self.model])
        return Workload("bench", shape, self.tokens, self.batch, "bf16", 32, shares)


CASES = (
    Case("GPT-3 175B on 1,024 A100", "gpt3-175b", "a100-sxm-80gb", ("a",), 1024, 2048, 1536, 2.0),
    Case("Llama 3 405B on 16,384 H100 in 4 sites", "llama3-405b", "h100-sxm", tuple("abcd"), 4096, 8192, 2048, 10.0),
)


@dataclass(frozen=True)
class Searched:
    """What a search took."""

    took_s: float
    fitting: int
    said: str

    @property
    def each_ms(self) -> float:
        """For each plan that fits, with all that did not fit, the ranking and the front [ms]."""
        return 1e3 * self.took_s / self.fitting


def far(work: Workload) -> Links:
    """The sites of a job 2 ms apart, with 1.6 Tb/s between any two."""
    pairs = no_distance(work).rate_gbps
    return Links(dict.fromkeys(pairs, 1600.0), dict.fromkeys(pairs, 2.0))


def searched(case: Case) -> Searched:
    """One whole search, from the job to its Pareto front."""
    work = case.workload
    start = time.process_time()
    found = explore(Weighing(work, far(work)), table(work))
    took_s = time.process_time() - start
    result = Searched(took_s, found.fitting, "")
    said = (
        f"{case.said}: {found.looked:,} plans looked at, {found.fitting:,} fit, in {took_s:.2f} s of one core; "
        f"{result.each_ms:.3f} ms for each that fits, {1e6 * took_s / found.looked:.1f} µs for each looked at; "
        f"{found.priced:,} were priced, bounds rule out the others"
    )
    return Searched(took_s, found.fitting, said)


def evaluation(case: Case) -> tuple[float, str]:
    """Time of one evaluation in a search [ms]: the step time of every plan that fits, of a job seen for the first time.

    Memory, bytes and MFU are part of it; the search for what fits is not.
    """
    layouts = list(candidates(case.workload))
    work = case.workload
    links = far(work)
    start = time.process_time()
    for layout in layouts:
        step_time(work, layout, links)
    each_ms = 1e3 * (time.process_time() - start) / len(layouts)
    return each_ms, f"{case.said}: {each_ms:.3f} ms per evaluation, amortised over {len(layouts):,} plans. {CALCULON}"
