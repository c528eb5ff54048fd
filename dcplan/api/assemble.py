"""Puts a plan file together from what the engines answered."""

from __future__ import annotations

import hashlib
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dcplan import __version__
from dcplan.api.about_work import about_layout, about_work
from dcplan.api.recipe import in_words, outer_in_words
from dcplan.assess.taken import about_losses
from dcplan.model.graph import STRETCH
from dcplan.model.network import CIRCUIT_US_PER_KM
from dcplan.optics.limits import left_out
from dcplan.planfile import FORMAT, Assumption, CircuitInfo, FiberInfo, Plan, PlanRow, PlanState, SiteInfo
from dcplan.training.transport.carried import stopped
from dcplan.training.transport.packets import DEVICE_US, packet
from dcplan.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.assess.compare import Compared
    from dcplan.assess.hollow import HollowCore
    from dcplan.assess.result import Assessment
    from dcplan.design.result import Design, JobCollective
    from dcplan.design.traffic import JobPlans, JobTraffic
    from dcplan.model.network import Network
    from dcplan.model.schema import Fiber, Policy
    from dcplan.model.states import State
    from dcplan.optics.budget import Lightpath, Line
    from dcplan.training.step import Layout, Share


def plan_file(
    network: Network,
    options: Mapping[str, str],
    lines: Sequence[Line],
    lightpaths: Sequence[Lightpath],
    design: Design,
    assessment: Assessment,
    rows: Sequence[PlanRow],
    assumptions: Sequence[Assumption],
    hollow: HollowCore | None,
    states: Sequence[State],
    collectives: Sequence[JobCollective],
) -> Plan:
    """The whole answer; the same wherever its files lie."""
    return Plan(
        format=FORMAT,
        dcplan=__version__,
        name=network.topology.name,
        description=network.topology.description,
        inputs=inputs_of(network),
        options=dict(options),
        sites=sites_of(network),
        fibers=fibers_of(network),
        lines=tuple(lines),
        lightpaths=tuple(lightpaths),
        design=design,
        assessment=assessment,
        plans=tuple(rows),
        assumptions=tuple(assumptions),
        collectives=tuple(collectives),
        hollow=hollow,
        states=states_of(states),
        circuits=circuits_of(network),
        existing=network.topology.existing,
    )


def inputs_of(network: Network) -> dict[str, str]:
    """Each file that was read, by its path from the topology file, with the SHA-256 of its text."""
    texts = network.document.texts
    folder = Path(next(reversed(texts), "")).parent
    return {
        Path(os.path.relpath(name, folder)).as_posix(): hashlib.sha256(text.encode()).hexdigest()
        for name, text in sorted(texts.items())
    }


def sites_of(network: Network) -> tuple[SiteInfo, ...]:
    """The sites in file order."""
    return tuple(
        SiteInfo(
            name,
            "datacenter" if site.is_datacenter else "pop",
            site.lat,
            site.lon,
            dict(sorted(site.accelerators.items())),
        )
        for name, site in network.sites.items()
    )


def fibers_of(network: Network) -> tuple[FiberInfo, ...]:
    """The fibers in file order."""
    return tuple(
        FiberInfo(
            name=name,
            a=fiber.ends[0],
            b=fiber.ends[1],
            type=fiber.type,
            length_km=fiber.total_km,
            latency_ms=network.fiber_latency_ms(name),
            pairs=fiber.pairs,
            shared_risk=tuple(fiber.shared_risk),
        )
        for name, fiber in network.fibers.items()
    )


def states_of(states: Sequence[State]) -> tuple[PlanState, ...]:
    """The states in their order, each with what is gone, by name."""
    return tuple(PlanState(state.name, tuple(sorted(state.fibers)), tuple(sorted(state.sites))) for state in states)


def circuits_of(network: Network) -> tuple[CircuitInfo, ...]:
    """The circuits in file order."""
    return tuple(
        CircuitInfo(
            name=name,
            a=circuit.ends[0],
            b=circuit.ends[1],
            latency_ms=network.edge_latency_ms(name),
            offers={module: about.gbps for module, about in circuit.modules.items()},
            shared_risk=tuple(circuit.shared_risk),
        )
        for name, circuit in network.circuits.items()
    )


def rows_of(job: JobPlans, chosen: Layout | None, compared: Sequence[Compared]) -> tuple[PlanRow, ...]:
    """The parallelism plans of a job as rows: those that fit, best first, then those that do not and why."""
    fitting = [_row(job.job, chosen, row) for row in compared]
    misfits = [
        PlanRow(
            job=job.job,
            plan=misfit.plan,
            layout="",
            across="",
            fits=False,
            why_not=misfit.reason,
            chosen=False,
            step_s=None,
            one_site_s=None,
            overhead_percent=None,
            overhead_worst_percent=None,
            terms=None,
            memory=None,
            cross_site_gb=None,
            needed_gbps=None,
            mfu_percent=None,
            evidence="",
        )
        for misfit in job.misfits
    ]
    return tuple(fitting + misfits)


def _row(job: str, chosen: Layout | None, row: Compared) -> PlanRow:
    layout, healthy = row.layout, row.healthy
    reachable = math.isfinite(healthy.step_s)
    return PlanRow(
        job=job,
        plan=layout.name,
        layout=in_words(layout),
        across=layout.across,
        fits=True,
        why_not="" if reachable else stopped(row.transport) or "its sites cannot reach each other on this network",
        chosen=chosen is not None and layout.name == chosen.name,
        step_s=healthy.step_s if reachable else None,
        one_site_s=row.alone.step_s,
        overhead_percent=row.overhead_percent if reachable else None,
        overhead_worst_percent=row.overhead_worst_percent,
        terms=healthy.terms if reachable else None,
        memory=healthy.memory,
        cross_site_gb=max(healthy.cross_site_gb.values(), default=0.0),
        needed_gbps=row.needed_gbps,
        mfu_percent=healthy.mfu_percent if reachable else None,
        evidence=healthy.evidence,
        goodput=row.goodput,
        quality=healthy.quality,
        collective=row.collective,
        parts=row.parts,
        equal_s=row.equal_s if row.equal_s is not None and math.isfinite(row.equal_s) else None,
        transport=row.transport,
    )


def assumptions_of(
    network: Network, design: Design, jobs: Sequence[JobTraffic], searched: str, roadms: Sequence[str]
) -> tuple[Assumption, ...]:
    """What the answer rests on: policy, training constants, which routes light may take, what the design assumed."""
    file = "the topology file or its defaults"
    stated: list[Assumption] = []
    if network.fibers or not network.circuits:
        stated += [*_about_light(network.policy, file), Assumption("routes of light", searched, "dcplan", "high")]
        where = f"ROADMs at {', '.join(roadms)}, where light passes; else multiplexers" if roadms else "multiplexers"
        stated.append(Assumption("ends of lit pairs", where, "dcplan", "high"))
        stated += _parts_lit(network, design)
        stated += [Assumption("mode not tried", reason, "dcplan", "high") for reason in left_out(network)]
    if network.topology.existing is not None and network.topology.existing.fibers:
        what = (
            "has the amplifiers that this plan has on each fiber, at its ends ROADMs where light passes that is lit "
            "already, else multiplexers"
        )
        stated.append(Assumption("what is lit already", what, "dcplan: what differs stands under `fibers`", "medium"))
    if any(circuit.length_km for circuit in network.circuits.values()):
        value = f"{CIRCUIT_US_PER_KM:g} µs/km where a length is given"
        stated.append(Assumption("latency of circuits", value, "solid core of group index 1.469", "medium"))
    for job in jobs:
        stated.append(Assumption(f"plan of {job.job}", f"{job.chosen.name}: {job.why}", "dcplan", "high"))
        stated.append(
            Assumption(
                f"gradients of {job.job}",
                _bits_in_words(job),
                file,
                "high",
            )
        )
        stated += [*about_work(job.plans.workload, file), *about_layout(job.plans.workload, job.chosen)]
        stated += _about_transport(job)
        stated += [
            Assumption(
                f"latency of {job.job}, {a} - {b}",
                f"at most {significant(ms)} ms one way, which its rates are sized for",
                f"{STRETCH:g} × the shortest fiber route after the worst single failure",
                "high",
            )
            for (a, b), ms in sorted(job.plans.latency_ms.items())
        ]
        stated += [Assumption(*each) for each in about_losses(network, job.job, job.plans.scheme)]
        for calibration, entry in sorted({_calibration_line(share) for share in job.plans.workload.shares}):
            stated.append(Assumption(f"calibration {calibration}", *entry))
    stated += _retuning(design)
    stated += [Assumption("design", text, "dcplan", "high") for text in design.assumptions]
    return tuple(stated)


def _bits_in_words(job: JobTraffic) -> str:
    outer = job.chosen.outer
    if outer is None:
        return f"{job.plans.workload.gradient_bits} bit on the wire between sites"
    return f"{outer_in_words(job.chosen.sync, outer)} on the wire between sites: a step teaches less, see Learning"


def _about_light(policy: Policy, file: str) -> list[Assumption]:
    """What every link budget and price of light rests on."""
    stated = [
        Assumption("system margin", f"{policy.margin_db:g} dB", file, "high"),
        Assumption("transponder ageing", f"{policy.ageing_db:g} dB", file, "low"),
        Assumption("repair splices", f"{policy.repair_db_per_span:g} dB per span", file, "low"),
        Assumption("connectors", f"{policy.connector_db:g} dB at each end of a span", file, "medium"),
        Assumption("horizon", f"{policy.years:g} years of lease and energy", file, "high"),
        Assumption("energy", f"US$ {policy.energy_usd_per_mwh:g} per MWh", file, "low"),
        Assumption("spectral load", "every lightpath is checked with the band full of its own mode", "dcplan", "high"),
    ]
    if policy.ripple_db_per_span or policy.equalisation_db_per_line:
        each = f"{policy.ripple_db_per_span:g} dB per span, {policy.equalisation_db_per_line:g} dB per line"
        stated.append(Assumption("ripple and equalisation", each, file, "low"))
    return stated


def _about_transport(job: JobTraffic) -> Iterator[Assumption]:
    """How the bytes of a job travel, where it says so."""
    said = job.plans.workload.transport
    if said is None:
        return
    form = packet(said)
    parts = [
        said.protocol,
        f"{form.payload_bytes} of {form.wire_bytes} bytes on the wire are payload",
        *([f"{said.ec_parity} parity packets for {said.ec_data}"] if said.protocol == "ec" else []),
        f"{said.packet_loss:g} of the packets lost",
        f"{said.flows:,} flows between two sites" if said.flows else "a flow for each accelerator",
        f"windows of {said.window_mb:g} MB" if said.window_mb is not None else "windows as large as it takes",
        *(["lossless ports"] if said.pauses else []),
    ]
    yield Assumption(f"transport of {job.job}", ", ".join(parts), "the topology file or its defaults", "high")
    if said.encryption != "none":
        value = f"{DEVICE_US[said.encryption]:g} µs one way"
        source = "1 to 3 µs for MACsec, by its vendors; taken for all"
        yield Assumption(f"{said.encryption} of {job.job}", value, source, "low")


def _retuning(design: Design) -> Iterator[Assumption]:
    """How long the switch takes under relight, and what it asks of the sites."""
    if any(relit.retuned for relit in design.relit):
        yield Assumption(
            "time to retune after a failure",
            "seconds where amplifiers stay loaded with noise (8 s, testbed), else tens of minutes; until then "
            "only what survives of the healthy wavelengths carries traffic",
            "ARROW, Zhong and others, SIGCOMM 2021",
            "medium",
        )
        yield Assumption(
            "add and drop under relight",
            "each transponder reaches every fiber and slot of its site; a switch that does it beside multiplexers is "
            "not priced",
            "dcplan",
            "low",
        )


def _parts_lit(network: Network, design: Design) -> Iterator[Assumption]:
    """The optical parts that the design uses, with the figure that matters most, their sources and confidence."""
    catalog, fibers = network.catalog, [network.fibers[lit.fiber] for lit in design.lit]
    for name in dict.fromkeys(span or fiber.type for fiber in fibers for span in _span_types(fiber)):
        kind = catalog.fibers[name]
        value = f"{kind.attenuation_db_per_km:g} dB/km{_guessed(kind.estimates)}"
        yield Assumption(f"fiber {name}", value, kind.source, kind.confidence)
    for name in dict.fromkeys(item.part for item in design.bill if item.part in catalog.amplifiers):
        part = catalog.amplifiers[name]
        value = f"{part.gain_min_db:g} to {part.gain_max_db:g} dB of gain, at most {part.output_max_dbm:g} dBm"
        value += _guessed(part.estimates)
        yield Assumption(f"amplifier {name}", value, part.source, part.confidence)
    modes: dict[str, dict[str, None]] = {}
    for lit in design.ever_lit:
        if lit.transponder in network.circuits:
            continue
        modes.setdefault(lit.transponder, {})[lit.mode] = None
    for name, used in modes.items():
        if name in catalog.transponders:
            whole = catalog.transponders[name]
            value = ", ".join(f"{mode} at {whole.modes[mode].required_osnr_db:g} dB of OSNR" for mode in used)
            ours = tuple(f"modes.{mode}." for mode in used)
            value += _guessed([field for field in whole.estimates if field.startswith(ours)])
            yield Assumption(f"transponder {name}", value, whole.source, whole.confidence)
        else:
            box = catalog.appliances[name]
            value = f"{box.long_haul_ports} long-haul ports of {box.rate_gbps:g} Gb/s, reach of {box.reach_km:g} km"
            yield Assumption(f"appliance {name}", value, box.source, box.confidence)


def _guessed(fields: Sequence[str]) -> str:
    """Figures that are estimates, whatever else is known of the part; the bill marks prices itself."""
    named = [field for field in fields if field != "price_usd"]
    return f"; estimated: {', '.join(named)}" if named else ""


def _span_types(fiber: Fiber) -> list[str | None]:
    """The type of each span where it has its own, else none for that of the fiber."""
    return [span.type for span in fiber.spans] if fiber.spans else [None]


def _calibration_line(share: Share) -> tuple[str, tuple[str, str, str]]:
    calibration = share.calibration
    name = share.accelerator.calibration or "nearest of its vendor"
    fitted = (
        f"fitted on {len(calibration.fitted_on)} published runs" if calibration.fitted_on else "estimate, not fitted"
    )
    value = f"{calibration.gemm_efficiency:.0%} of peak in matrix products; {fitted}"
    return (f"{share.accelerator_id} ({name})", (value, calibration.source, calibration.confidence))
