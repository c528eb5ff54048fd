"""The opening of a plan's report: five lines, then what must not be overlooked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcplan.design.circuits import EXISTING
from dcplan.design.cost import UNPRICED
from dcplan.report import circuits, learning, promises, unlike
from dcplan.report.sheet import Fact, Notice, apart, count
from dcplan.units import money, rate, significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dcplan.assess.result import JobInState, StateResult
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Value


def facts(plan: Plan) -> tuple[Fact, ...]:
    """Cost, what of it is new, capacity, overhead healthy and under failure, weakest state, proof."""
    return (_cost(plan), *_new(plan), _capacity(plan), _overhead(plan), _weakest(plan), _proof(plan))


def notices(plan: Plan) -> tuple[Notice, ...]:
    """Promises that are missed or excused, a design that is not proven optimal, figures that are estimates."""
    return (*_missed(plan), *promises.notices(plan), *_unproven(plan), *_estimates(plan))


def capacity_gbps(plan: Plan) -> float:
    """All wavelengths together, each direction [Gb/s]."""
    return math.fsum(lit.count * lit.rate_gbps for lit in plan.design.wavelengths)


def estimated_usd(plan: Plan) -> float:
    """The part of the cost that rests on prices of low confidence [US$]."""
    return math.fsum(item.total_usd for item in plan.design.bill if item.confidence == "low")


def _cost(plan: Plan) -> Fact:
    cost, estimated = plan.design.cost_usd, estimated_usd(plan)
    text = money(cost)
    if plan.growth is not None:
        text += f" in {plan.growth.periods[-1].name}"
    if estimated:
        text += f", of which {money(estimated)} is estimated"
    free = sorted({item.part for item in plan.design.bill if item.source == UNPRICED and item.quantity > 0})
    if free:
        text += f"; without a price, counted as free: {', '.join(free)}"
    values: dict[str, Value] = {"cost_usd": cost, "estimated_usd": estimated}
    return Fact("cost", text, values, "~" if estimated or free else "")


def _new(plan: Plan) -> tuple[Fact, ...]:
    """What is bought beside what is lit already; nothing where nothing is."""
    if plan.existing is None:
        return ()
    design, leased = plan.design, {circuit.name for circuit in plan.circuits}
    running = design.running_usd
    there = [0, sum(fiber.existing for fiber in design.lit), 0]
    new = [0, sum(fiber.pairs - fiber.existing for fiber in design.lit), 0]
    for lit in design.wavelengths:
        kind = 2 if lit.transponder in leased else 0
        there[kind] += lit.existing
        new[kind] += lit.count - lit.existing
    text = f"{_amounts(new)} for {money(design.cost_usd - running)}" if any(new) else "nothing"
    text += f", beside {_amounts(there)} that {'is' if sum(there) == 1 else 'are'} there"
    if running:
        text += f"; all of it costs {money(running)} to run"
    keys = ("wavelengths", "pairs", "modules")
    values: dict[str, Value] = {f"new_{key}": amount for key, amount in zip(keys, new, strict=True)}
    values |= {f"existing_{key}": amount for key, amount in zip(keys, there, strict=True)}
    return (Fact("new", text, values | {"new_usd": design.cost_usd - running, "running_usd": running}),)


def _amounts(amounts: Sequence[int]) -> str:
    """Wavelengths, fiber pairs and modules in words."""
    names = ("wavelength", "fiber pair", "module")
    parts = [count(amount, name) for amount, name in zip(amounts, names, strict=True) if amount]
    return ", ".join(parts) or "nothing"


def _capacity(plan: Plan) -> Fact:
    waves = sum(lit.count for lit in circuits.lit(plan))
    pairs = sum(fiber.pairs for fiber in plan.design.lit)
    fibers = sum(fiber.pairs > 0 for fiber in plan.design.lit)
    total = capacity_gbps(plan)
    light = f"{count(waves, 'wavelength')} on {count(pairs, 'fiber pair')}"
    values: dict[str, Value] = {
        "capacity_gbps": total, "wavelengths": waves, "lit_pairs": pairs, "lit_fibers": fibers
    }  # fmt: skip
    parts = [light] if plan.fibers or not plan.circuits else []
    if plan.circuits:
        leased = [own for own in circuits.leased(plan).values() if own]
        modules = sum(one.count for own in leased for one in own if one.mode != EXISTING)
        values |= {"modules": modules, "circuits": len(leased)}
        parts.append(f"{count(modules, 'module')} on {count(len(leased), 'circuit')}")
    text = f"{rate(total)} each way: {', '.join(parts)}"
    if retuned := max((relit.retuned for relit in plan.design.relit), default=0):
        text += f"; a failure retunes up to {count(retuned, 'wavelength')}"
    return Fact("capacity", text, values)


def _worst(states: tuple[StateResult, ...]) -> JobInState | None:
    """The job with the largest overhead in any of the states in which it is promised something."""
    jobs = [job for state in states for job in state.jobs if job.overhead_percent is not None and job.promised]
    return max(jobs, key=lambda job: job.overhead_percent or 0.0, default=None)


def _overhead(plan: Plan) -> Fact:
    healthy, failures = plan.assessment.states[:1], plan.assessment.states[1:]
    before, after = _worst(healthy), _worst(failures)
    values: dict[str, Value] = {
        "overhead_percent": before.overhead_percent if before else None,
        "overhead_under_failure_percent": after.overhead_percent if after else None,
    }
    if not any(state.jobs for state in plan.assessment.states):
        return Fact("overhead", "no training job: nothing is slowed down", values)
    missed = any(not job.met for state in plan.assessment.states for job in state.jobs)
    text = f"{_percent(before)} healthy, "
    text += f"{_percent(after)} under failure" if failures else "no failure is promised to be survived"
    stopped = sum(any(not job.running for job in state.jobs) for state in failures)
    if stopped:
        text += f"; a job stops in {count(stopped, 'failure')}"
    return Fact("overhead", text, values, "FAIL" if missed else "ok")


def _percent(job: JobInState | None) -> str:
    if job is None or job.overhead_percent is None:
        return "no step"
    return f"{significant(job.overhead_percent)} % ({job.job})"


def _weakest(plan: Plan) -> Fact:
    states = plan.assessment.states
    found = next((state for state in states if state.state == plan.assessment.weakest), states[0])
    values: dict[str, Value] = {
        "weakest": found.state,
        "left_gbps": found.left_gbps,
        "served_percent": found.served_percent,
    }
    mark = "ok" if kept(found) else "FAIL"
    if found is states[0]:
        return Fact("weakest state", "no failure is promised to be survived", values, mark if mark == "FAIL" else "")
    text = f"{found.state}: {rate(found.left_gbps)} left"
    worst = _worst((found,))
    if worst is not None:
        text += f", {worst.job} {significant(worst.overhead_percent or 0.0)} % slower"
    stopped = [job.job for job in found.jobs if not job.running]
    if stopped:
        text += f", {', '.join(stopped)} stops"
    return Fact("weakest state", text, values, mark)


def kept(state: StateResult) -> bool:
    """Every promise of this state is."""
    return served(state) and all(job.met for job in state.jobs)


def served(state: StateResult) -> bool:
    """Every demand gets what it is promised in this state."""
    return state.served_percent >= 100 - 1e-6


def _proof(plan: Plan) -> Fact:
    proof = plan.design.proof
    solver = f"{proof.solver} {proof.solver_version}"
    values: dict[str, Value] = {
        "status": proof.status,
        "reason": proof.reason,
        "bound_usd": proof.bound_usd,
        "gap_percent": None if proof.gap is None else 100 * proof.gap,
        "candidates": proof.candidates,
        "states": proof.states,
        "solver": solver,
        "certified_usd": None if plan.design.certificate is None else plan.design.certificate.bound_usd,
    }
    if proof.status == "optimal":
        scope = f"{count(proof.candidates, 'candidate')}, {count(proof.states, 'state')}, {solver}"
        return Fact("proof", f"optimal ({scope})", values, "ok")
    gap = "" if proof.gap is None else f"; gap {significant(100 * proof.gap)} %"
    return Fact("proof", f"{proof.status}, not proven optimal: {proof.reason}{gap}", values, "gap")


def _missed(plan: Plan) -> Iterator[Notice]:
    """One for each demand and job that is let down: its worst state, and in how many others."""
    states = plan.assessment.states
    short = sorted((state for state in states if not served(state)), key=lambda state: state.served_percent)
    for demand in dict.fromkeys(state.worst_demand for state in short):
        own = [state for state in short if state.worst_demand == demand]
        share = apart(own[0].served_percent, 100.0)[0]
        yield Notice("FAIL", f"{demand} gets {share} % of its promise, {_when(plan, own)}")
    late = [(state, job) for state in states for job in state.jobs if not job.met]
    late.sort(key=lambda pair: (pair[1].running, -(pair[1].overhead_percent or 0.0)))
    for name in dict.fromkeys(job.job for _, job in late):
        own = [state for state, job in late if job.job == name]
        worst = next(job for _, job in late if job.job == name)
        yield Notice("FAIL", f"{_late(worst)}, {_when(plan, own)}")


def _late(job: JobInState) -> str:
    if not job.running or job.overhead_percent is None or job.target_percent is None:
        return f"{job.job} stops ({job.why})"
    slow, limit = apart(job.overhead_percent, job.target_percent)
    return f"{job.job} is {slow} % slower, promised {limit} %"


def _when(plan: Plan, states: Sequence[StateResult]) -> str:
    """The first state by name, the others by number."""
    first = "healthy" if states[0] is plan.assessment.states[0] else f"in {states[0].state}"
    return first + (f"; missed in {count(len(states) - 1, 'other state')} too" if len(states) > 1 else "")


def _unproven(plan: Plan) -> Iterator[Notice]:
    proof = plan.design.proof
    if proof.status == "optimal":
        return
    if proof.bound_usd is None or proof.gap is None:
        yield Notice("gap", "how much cheaper a design could be is not known")
    else:
        text = f"a design could be up to {money(proof.cost_usd - proof.bound_usd)} cheaper"
        yield Notice("gap", f"{text}, {significant(100 * proof.gap)} % of the cost")


def _estimates(plan: Plan) -> Iterator[Notice]:
    prices = sum(item.confidence == "low" for item in plan.design.bill)
    assumed = sum(assumption.confidence == "low" for assumption in plan.assumptions)
    parts = [count(prices, "price")] * bool(prices) + [count(assumed, "assumption")] * bool(assumed)
    if parts:
        verb = "is an estimate" if prices + assumed == 1 else "are estimates"
        yield Notice("~", f"{' and '.join(parts)} {verb} of low confidence, marked ~ below")
    yield from learning.notices(row for row in plan.plans if row.chosen)
    yield from unlike.notices(row for row in plan.plans if row.chosen)
    for row in plan.plans:
        if row.chosen and row.evidence == "extrapolated":
            yield Notice("~", f"step times of {row.job} are extrapolated: no measured run is near")
