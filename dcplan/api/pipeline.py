"""Steps between a network and a plan that several answers go through: assessment, the plan file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.assess.result import Assessment
    from dcplan.assess.view import NetworkView
    from dcplan.design.result import CollectiveTried, Design
    from dcplan.design.traffic import JobTraffic
    from dcplan.model.network import Network
    from dcplan.model.states import State
    from dcplan.optics.ends import Light
    from dcplan.planfile import Plan, PlanRow


def assessed(
    network: Network, view: NetworkView, states: Sequence[State], jobs: Sequence[JobTraffic]
) -> tuple[Assessment, tuple[PlanRow, ...]]:
    """A design in every state with what jobs may expect of it, and the parallelism plans of each job on it."""
    from dcplan.api.assemble import rows_of
    from dcplan.assess.compare import compare
    from dcplan.assess.expected import outlook
    from dcplan.assess.states import assess

    compared = {job.job: compare(network, job.plans, states, view.links_for(job)) for job in jobs}
    rows = [row for job in jobs for row in rows_of(job.plans, job.chosen, compared[job.job])]
    found = assess(network, view, states, jobs)
    chosen = {job.job: row.healthy for job in jobs for row in compared[job.job] if row.layout == job.chosen}
    return replace(found, outlook=outlook(network, states, jobs, view, found, chosen)), tuple(rows)


def planned(
    network: Network,
    options: Mapping[str, str],
    light: Light,
    design: Design,
    states: Sequence[State],
    jobs: Sequence[JobTraffic],
    tried: Mapping[str, Sequence[CollectiveTried]],
    searched: str,
) -> Plan:
    """A design, assessed, as a plan.

    tried: the collectives that were compared for jobs that leave theirs open. searched: which routes light may take.
    """
    from dcplan.api.assemble import assumptions_of, plan_file
    from dcplan.api.written import in_plan
    from dcplan.assess.hollow import saved
    from dcplan.assess.view import NetworkView
    from dcplan.design.collective.choice import collectives_of
    from dcplan.design.nodes import passed

    view = NetworkView(light.lightpaths, design)
    assessment, rows = assessed(network, view, states, jobs)
    return plan_file(
        network,
        options,
        light.lines,
        in_plan(light.network, light.lightpaths, design),
        design,
        assessment,
        rows,
        assumptions_of(network, design, jobs, searched, sorted(passed(light.lightpaths, design))),
        saved(network, view, jobs),
        states,
        collectives_of(jobs, tried),
    )
