"""A plan made by hand, rich enough for every table: missed promises, estimates, a plan that does not fit, no proof.

Its numbers are those of no engine; only sums are consistent: the bill, the wavelengths, the terms of a step.
"""

from __future__ import annotations

from dataclasses import replace

from dcplan.assess.result import Assessment, JobInState, StateResult
from dcplan.design.certificate.record import (
    COUPLES,
    PAIRS,
    TRAFFIC,
    WAVELENGTHS,
    Certificate,
    Counted,
    OwnRow,
    StateCut,
    Term,
)
from dcplan.design.result import (
    BillItem,
    Binding,
    Channel,
    Demand,
    Design,
    Flow,
    LitFiber,
    Proof,
    Routing,
    Wavelengths,
)
from dcplan.model.grid import Band
from dcplan.model.network import Route
from dcplan.optics.budget import Budget, BudgetItem, Lightpath, Line, OtherWay, SpanRow
from dcplan.planfile import FORMAT, Assumption, FiberInfo, Plan, PlanRow, SiteInfo
from dcplan.training.step import Memory, Terms

A, B, POP = "papillion", "lincoln", "ashland"
STATES = ("healthy", "fiber north", "fiber south-west", "fiber south-east", "shared risk i80")


def span(number: int, length_km: float, loss_db: float | None = None) -> SpanRow:
    fiber = loss_db or 0.2 * length_km
    padding = max(0.0, 12 - fiber - 1)
    return SpanRow(
        number=number,
        length_km=length_km,
        fiber_loss_db=fiber,
        loss_db=fiber + 1.0,
        measured=loss_db is not None,
        amplifier="edfa-25" if fiber + 1 > 15 else "edfa-15",
        padding_db=padding,
        gain_db=fiber + 1 + padding,
        noise_figure_db=5.5 if fiber > 14 else 6.8,
        why="least noise at this gain",
    )


def line(fiber: str, *spans: SpanRow) -> Line:
    length = sum(row.length_km for row in spans)
    return Line(
        fiber=fiber,
        length_km=length,
        latency_ms=length * 0.0049,
        booster="edfa-25",
        spans=spans,
        dispersion_ps_nm=16.7 * length,
        pmd_ps=0.04 * length**0.5,
    )


def budget(
    transponder: str,
    mode: str,
    rate: float,
    width: float,
    gsnr: float,
    required: float,
    *,
    penalties: float | None = 0.31,
    nli: float | None = 31.2,
    limit: str = "OSNR",
    direction: str = f"{A} -> {B}",
) -> Budget:
    margins = 2.5
    margin = None if penalties is None else gsnr - required - penalties - margins
    items = (
        BudgetItem("level", "transmitter", -6.0, "before the add loss of 8 dB"),
        BudgetItem("noise", "transmitter", 36.0),
        BudgetItem("level", "launch into north", 0.8, "optimum"),
        BudgetItem("noise", "amplifiers of north", gsnr + 2.1),
        BudgetItem("noise", "nonlinearity of north", nli),
        BudgetItem("sum", "GSNR", gsnr, "noise above, 0.1 nm"),
        BudgetItem("required", "required OSNR", required),
        BudgetItem("penalty", "chromatic dispersion", None if penalties is None else penalties - 0.1),
        BudgetItem("penalty", "PMD", 0.1, "0.36 of 30 ps"),
        BudgetItem("margin", "system margin", 2.0),
        BudgetItem("margin", "ageing", 0.5),
        BudgetItem("sum", "margin", margin),
    )
    return Budget(
        transponder=transponder,
        mode=mode,
        rate_gbps=rate,
        width_ghz=width,
        launch_dbm=0.8,
        launch_limit="optimum",
        channels=int(4800 / width),
        channel_thz=196.0625,
        direction=direction,
        osnr_ase_db=gsnr + 2.1,
        osnr_nli_db=nli,
        gsnr_db=gsnr,
        required_osnr_db=required,
        penalties_db=penalties,
        margins_db=margins,
        margin_db=margin,
        rx_dbm=-8.2,
        limit=limit,
        items=items,
        other=OtherWay(
            direction=" -> ".join(reversed(direction.split(" -> "))),
            channel_thz=191.4375,
            gsnr_db=gsnr + 0.21,
            penalties_db=penalties,
            margin_db=None if margin is None else margin + 0.21,
            launch_dbm=0.8,
            rx_dbm=-7.9,
        ),
    )


def lightpath(number: int, sites: tuple[str, ...], fibers: tuple[str, ...], km: float, *budgets: Budget) -> Lightpath:
    return Lightpath(f"L{number}", Route(sites, fibers), km, km * 0.0049, budgets)


def lightpaths() -> tuple[Lightpath, ...]:
    return (
        lightpath(
            1,
            (B, A),
            ("north",),
            82.0,
            budget("800zr+", "800g-16qam", 800, 150, 29.4, 24.9, direction=f"{B} -> {A}"),
            budget("400zr+", "400g-16qam", 400, 75, 29.6, 24.0, direction=f"{B} -> {A}"),
            budget("400zr", "400g-16qam", 400, 75, 28.1, 26.0, limit="OSNR", direction=f"{B} -> {A}"),
        ),
        lightpath(
            2,
            (B, POP, A),
            ("south-west", "south-east"),
            131.0,
            budget("400zr+", "400g-16qam", 400, 75, 27.2, 24.0, direction=f"{A} -> {B}"),
            budget("800zr+", "800g-16qam", 800, 150, 27.0, 24.9, direction=f"{A} -> {B}"),
            budget("400zr", "400g-16qam", 400, 75, 26.9, 26.0, penalties=None, limit="dispersion"),
        ),
        lightpath(3, (B, POP), ("south-west",), 70.0, budget("800zr+", "800g-16qam", 800, 150, 30.1, 24.9, nli=None)),
    )


def lines() -> tuple[Line, ...]:
    return (
        line("north", span(1, 41.0), span(2, 41.0)),
        line("south-west", span(1, 70.0, 14.9)),
        line("south-east", span(1, 61.0, 12.4)),
    )


WAVES = (
    Wavelengths("L1", "800zr+", "800g-16qam", 8, 800, 150, 0.411),
    Wavelengths("L2", "400zr+", "400g-16qam", 6, 400, 75, 0.655),
)


def channels() -> tuple[Channel, ...]:
    found = [Channel("L1", "800zr+", "800g-16qam", 12 * i + (24 if i > 3 else 0), 12, (0,)) for i in range(8)]
    found += [Channel("L2", "400zr+", "400g-16qam", 6 * i, 6, (0, 1)) for i in range(6)]
    return tuple(replace(channel, n=Band().centre(channel.first_slot, channel.slots)) for channel in found)


def bill() -> tuple[BillItem, ...]:
    items = (
        ("800zr+", "transponder", 16, 9500, "analyst estimate, 2025", "low"),
        ("400zr+", "transponder", 12, 3200, "reseller list price, 2025-03", "medium"),
        ("north", "lease of one pair, 82 km, 5 years", 1, 410000, "topology file", "high"),
        ("south-west", "lease of one pair, 70 km, 5 years", 1, 350000, "topology file", "high"),
        ("south-east", "lease of one pair, 61 km, 5 years", 1, 305000, "topology file", "high"),
        ("roadm", "terminal gear", 6, 21000, "OpenROADM cost model of a published study, relative units", "low"),
        ("edfa-25", "amplifier", 10, 8400, "published techno-economic study, table 3", "medium"),
        ("energy", "transponders, 5 years", 28.032, 80, "policy.energy_usd_per_mwh", "high"),
    )
    return tuple(BillItem(part, what, q, unit, q * unit, source, sure) for part, what, q, unit, source, sure in items)


def design() -> Design:
    items = bill()
    cost = sum(item.total_usd for item in items)
    demands = (
        Demand("pretrain: lincoln - papillion", (B, A), dict.fromkeys(STATES, 5200.0), None, "pretrain"),
        Demand("tune: lincoln - papillion", (B, A), dict.fromkeys(STATES, 900.0), None, "tune"),
        Demand("checkpoints", (B, A), dict.fromkeys(STATES, 400.0), 5.0, None),
    )
    healthy = (
        Flow("pretrain: lincoln - papillion", ("L1",), 5200.0, 0.411),
        Flow("tune: lincoln - papillion", ("L1",), 800.0, 0.411),
        Flow("tune: lincoln - papillion", ("L2",), 100.0, 0.655),
        Flow("checkpoints", ("L2",), 400.0, 0.655),
    )
    cut = (
        Flow("pretrain: lincoln - papillion", ("L2",), 1400.0, 0.655),
        Flow("tune: lincoln - papillion", ("L2",), 600.0, 0.655),
        Flow("checkpoints", ("L2",), 400.0, 0.655),
    )
    other = (
        Flow("pretrain: lincoln - papillion", ("L1",), 5200.0, 0.411),
        Flow("tune: lincoln - papillion", ("L1",), 800.0, 0.411),
        Flow("checkpoints", ("L1",), 400.0, 0.411),
    )
    flows = (healthy, cut, other, other, other)
    return Design(
        scheme="reroute",
        proof=Proof("feasible", "time limit", cost, cost / 1.031, 1 - 1 / 1.031, "HiGHS", "1.11.0", 214, len(STATES)),
        lit=(
            LitFiber("north", 1, 8, 1200.0, 25.0),
            LitFiber("south-west", 2, 6, 450.0, 4.7),
            LitFiber("south-east", 2, 6, 450.0, 4.7),
        ),
        wavelengths=WAVES,
        channels=channels(),
        demands=demands,
        routing=tuple(Routing(state, flow) for state, flow in zip(STATES, flows, strict=True)),
        bill=items,
        binding=(
            Binding("fiber north: its one pair is full", "the next pair would save US$ 18.0 k"),
            Binding("demand pretrain in state `fiber north`", "US$ 41.2 per Gb/s"),
        ),
        assumptions=("traffic splits over routes in any ratio",),
        certificate=certificate(),
    )


def certificate() -> Certificate:
    """A term of each kind and some small ones; the limit of a row and of a column count as well."""

    def cut(state: str, over: str, gbps: float, *shore: str) -> StateCut:
        return StateCut(state, over, shore, need_gbps=gbps)

    def apart(state: str, over: str, gbps: float, **distances: float) -> StateCut:
        return StateCut(state, over, weights={"L1": 0.5}, distances=distances, need_gbps=gbps)

    both = ("fiber north", "fiber south-west")
    terms = (
        Term((cut("healthy", WAVELENGTHS, 6250.0, "lincoln"),), (0.8, None), 8.0, 30_000.0, 240_000.0),
        Term((cut("fiber north", PAIRS, 3100.0, "papillion", "lincoln"),), (25.6, None), 1.0, 88_000.0, 88_000.0),
        Term(tuple(cut(one, PAIRS, 900.0, "lincoln") for one in both), (25.6, 2.0), 2.0, 12_000.5, 24_001.0),
        Term((cut("fiber north", PAIRS, 900.0, "lincoln"),), (25.6, None), 1.0, 9000.0, 9000.0, ("south-west",)),
        Term((cut("fiber north", WAVELENGTHS, 900.0, "lincoln"),), (None, None), 0.9, 8000.0, 7200.0),
        Term((apart("fiber north", WAVELENGTHS, 950.0, checkpoints=0.5),),
             (None, None), 0.95, 6000.0, 5700.0),
        Term((apart("healthy", COUPLES, 1800.0, pretrain=2.0, tune=1.0),), (None, None), 1.8, 2.0, 3.6),
        Term((apart("healthy", TRAFFIC, 1.2, tune=1.0),), (None, None), 1.2, 1.0, 1.2),
        *(Term((cut("site lincoln", WAVELENGTHS, 1.0, "lincoln"),), (0.4, None), 1.0, 0.1, 0.1) for _ in range(4)),
    )  # fmt: skip
    rows = (OwnRow("one0", "at most one module of circuit x", -2.0, 1.0, -2.0),)
    columns = (Counted("n0", "wavelengths of 800zr+ on L1", 30_000.0, 30_010.0, 3.0, -30.0),)
    total = sum(part.usd for part in (*terms, *rows, *columns))
    return Certificate(total, terms, rows, columns)


def in_state(job: str, step: float | None, overhead: float | None, target: float | None, rate: float) -> JobInState:
    running = step is not None
    why = "" if running else "site lincoln is gone"
    return JobInState(job, running, why, rate, 0.655 if rate < 1 else 0.411, step, overhead, target)


def assessment() -> Assessment:
    pretrain, tune = "pretrain: lincoln - papillion", "tune: lincoln - papillion"

    def state(
        name: str, lost: float, served: float, worst: str, moved: tuple[str, ...], *jobs: JobInState
    ) -> StateResult:
        return StateResult(name, lost, 8800.0 - lost, served, worst, moved, jobs)

    healthy = (in_state("pretrain", 17.294, 2.131, 3.0, 1.0), in_state("tune", 0.8123, 0.42, 5.0, 1.0))
    light = (in_state("pretrain", 17.294, 2.131, 20.0, 1.0), in_state("tune", 0.8180, 1.12, 25.0, 0.89))
    heavy = (in_state("pretrain", 20.61, 21.71, 20.0, 0.269), in_state("tune", 0.8271, 2.25, 25.0, 0.67))
    moved = (pretrain, tune)
    return Assessment(
        states=(
            state("healthy", 0.0, 100.0, pretrain, (), *healthy),
            state("fiber north", 6400.0, 26.9, pretrain, moved, *heavy),
            state("fiber south-west", 2400.0, 88.9, tune, ("checkpoints", tune), *light),
            state("fiber south-east", 2400.0, 88.9, tune, ("checkpoints", tune), *light),
            state("shared risk i80", 2400.0, 88.9, tune, ("checkpoints", tune), *light),
        ),
        weakest="fiber north",
    )


def row(
    job: str,
    plan: str,
    layout: str,
    terms: Terms | None,
    memory: Memory | None,
    *,
    one_site_s: float | None = None,
    chosen: bool = False,
    why_not: str = "",
    across: str = "dp",
    crosses: float | None = None,
    needs: float | None = None,
    evidence: str = "interpolated",
) -> PlanRow:
    step = terms.total_s if terms else None
    overhead = 100 * (step / one_site_s - 1) if step and one_site_s else None
    worst = overhead * 10 if overhead is not None else None
    return PlanRow(
        job=job,
        plan=plan,
        layout=layout,
        across=across,
        fits=terms is not None,
        why_not=why_not,
        chosen=chosen,
        step_s=step,
        one_site_s=one_site_s,
        overhead_percent=overhead,
        overhead_worst_percent=worst,
        terms=terms,
        memory=memory,
        cross_site_gb=crosses,
        needed_gbps=needs,
        mfu_percent=38.4 * one_site_s / step if step and one_site_s else None,
        evidence=evidence,
    )


def plan_rows() -> tuple[PlanRow, ...]:
    flat = Terms(14.1, 1.02, 0.0, 0.0, 0.21, 0.88, 0.0, 0.31, 0.402, 0.092, 0.0, 0.28)
    ring = Terms(14.1, 1.02, 0.0, 0.0, 0.21, 0.88, 0.0, 0.31, 2.91, 0.092, 0.0, 0.28)
    pipe = Terms(14.1, 1.02, 0.0, 0.0, 0.26, 1.21, 0.733, 0.31, 0.0, 0.092, 0.0, 0.28)
    tune = Terms(0.61, 0.08, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0043, 0.021, 0.012, 0.035)
    memory = Memory(12.7, 6.3, 9.1, 31.6, 80.0)
    small = Memory(4.1, 2.0, 3.0, 22.9, 80.0)
    return (
        row("pretrain", "pipeline", "TP8 × PP16 × DP128", pipe, memory, one_site_s=17.02, across="pp", crosses=96.6),
        row("pretrain", "flat", "TP8 × PP16 × DP128", ring, memory, one_site_s=16.89, crosses=1620.0, needs=24800.0),
        row(
            "pretrain",
            "hierarchical",
            "TP8 × PP16 × DP128",
            flat,
            memory,
            one_site_s=16.93,
            chosen=True,
            crosses=810.0,
            needs=5200.0,
        ),
        row("pretrain", "wide", "TP4 × PP8 × DP512", None, None, why_not="memory: 131 GB needed, 80 GB there"),
        row("pretrain", "odd", "TP8 × PP12 × DP171", None, None, why_not="layout: 126 layers do not divide by 12"),
        row(
            "tune",
            "auto-1",
            "TP4 × PP1 × DP64",
            tune,
            small,
            one_site_s=0.8089,
            chosen=True,
            crosses=16.1,
            needs=900.0,
            evidence="extrapolated",
        ),
    )


def rich() -> Plan:
    """The plan of the golden files."""
    return Plan(
        format=FORMAT,
        dcplan="0.1.0",
        name="Two campuses",
        description="Papillion and Lincoln train one model; a hand-made plan with everything that can go wrong.",
        inputs={"two-campus.yaml": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        options={"scheme": "reroute", "time limit": "60 s"},
        sites=(
            SiteInfo(A, "datacenter", 41.07, -96.11, {"h100-sxm": 16384}),
            SiteInfo(B, "datacenter", 40.89, -96.6, {"h100-sxm": 16384, "a100-sxm": 256}),
            SiteInfo(POP, "pop", 41.04, -96.37, {}),
        ),
        fibers=(
            FiberInfo("north", A, B, "g652d", 82.0, 0.402, 1, ()),
            FiberInfo("south-west", B, POP, "g654e", 70.0, 0.343, 4, ("i80",)),
            FiberInfo("south-east", POP, A, "g654e", 61.0, 0.299, 4, ("i80",)),
        ),
        lines=lines(),
        lightpaths=lightpaths(),
        design=design(),
        assessment=assessment(),
        plans=plan_rows(),
        assumptions=(
            Assumption("step time of h100-sxm, bf16", "7 constants, software of 2024", "fitted on 9 runs", "medium"),
            Assumption("power of an 800zr+", "30 W", "estimate from its class", "low"),
            Assumption("repair allowance", "0.5 dB per span", "policy.repair_db_per_span", "high"),
        ),
    )


def calm() -> Plan:
    """The same plan with every promise kept, proven optimal, no estimates."""
    plan = rich()
    states = tuple(
        replace(
            state,
            served_percent=100.0,
            jobs=tuple(replace(job, overhead_percent=1.5, target_percent=20.0) for job in state.jobs),
        )
        for state in plan.assessment.states
    )
    sure = tuple(replace(item, confidence="high") for item in plan.design.bill)
    proof = replace(plan.design.proof, status="optimal", reason="proven", bound_usd=plan.design.cost_usd, gap=0.0)
    return replace(
        plan,
        design=replace(plan.design, bill=sure, proof=proof),
        assessment=replace(plan.assessment, states=states),
        plans=tuple(replace(row, evidence="interpolated") for row in plan.plans),
        assumptions=(),
    )


def bare() -> Plan:
    """No jobs, no failures promised, nothing lit: the least that a plan can be."""
    plan = rich()
    proof = replace(plan.design.proof, status="optimal", reason="proven", cost_usd=0.0, bound_usd=0.0, gap=0.0)
    empty = Design("none", proof, (), (), (), (), (Routing("healthy", ()),), (), (), ())
    healthy = StateResult("healthy", 0.0, 0.0, 100.0, "", (), ())
    return replace(
        plan, lines=(), lightpaths=(), design=empty, assessment=Assessment((healthy,), "healthy"), plans=(),
        assumptions=(), inputs={}, options={},
    )  # fmt: skip


def grown() -> Plan:
    """The same network with a second pair lit on north, more wavelengths there, one fewer on the detour."""
    plan = rich()
    bought = {"800zr+": 24, "400zr+": 10, "edfa-25": 14}
    items = tuple(
        replace(item, quantity=bought[item.part], total_usd=bought[item.part] * item.unit_usd)
        if item.part in bought
        else item
        for item in plan.design.bill
    )
    cost = sum(item.total_usd for item in items)
    states = tuple(
        replace(state, jobs=tuple(replace(job, overhead_percent=2.0, step_s=17.27) for job in state.jobs))
        for state in plan.assessment.states
    )
    proof = replace(plan.design.proof, status="optimal", reason="proven", cost_usd=cost, bound_usd=cost, gap=0.0)
    lit = (replace(plan.design.lit[0], pairs=2, channels=12), *plan.design.lit[1:])
    waves = (replace(WAVES[0], count=12), replace(WAVES[1], count=5))
    design_ = replace(plan.design, proof=proof, lit=lit, wavelengths=waves, bill=items)
    return replace(plan, design=design_, assessment=replace(plan.assessment, states=states))
