"""Where wavelengths are cut and started again: what runs on each side, what it takes, why it is not one lightpath."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.optics.limits import next_in_words
from dcplan.report.sheet import Table, fixed, number_column, say, text_column, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dcplan.design.result import Wavelengths
    from dcplan.optics.budget import Lightpath
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row

ENDS = ("transponder", "long-haul port")
"""How the bill calls what a wavelength has at each end."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Traffic that leaves one lightpath at a site and goes on over another."""

    site: str
    sides: tuple[str, str]
    """The two lightpaths, by id."""
    demands: tuple[str, ...]
    healthy_gbps: float
    most_gbps: float
    """In the state that passes on most."""


def cuts(plan: Plan) -> tuple[Cut, ...]:
    """All of them in any state, by site, in the order of the lightpaths."""
    ends = {path.id: path.route.ends for path in plan.lightpaths}
    order = {path.id: i for i, path in enumerate(plan.lightpaths)}
    passed: dict[tuple[str, str, str], dict[str, float]] = {}
    demands: dict[tuple[str, str, str], dict[str, None]] = {}
    for routing in plan.design.routing:
        for flow in routing.flows:
            for one, other in zip(flow.lightpaths, flow.lightpaths[1:], strict=False):
                site = min(set(ends[one]) & set(ends[other]))
                first, second = sorted((one, other), key=lambda name: order[name])
                by_state = passed.setdefault((site, first, second), {})
                by_state[routing.state] = by_state.get(routing.state, 0.0) + flow.gbps
                demands.setdefault((site, first, second), {})[flow.demand] = None
    healthy = plan.design.routing[0].state if plan.design.routing else ""
    keys = sorted(passed, key=lambda key: (key[0], order[key[1]], order[key[2]]))
    return tuple(
        Cut(
            key[0],
            key[1:],
            tuple(demands[key]),
            passed[key].get(healthy, 0.0),
            max(passed[key].values()),
        )
        for key in keys
    )


def regenerators(plan: Plan) -> Table:
    """A row for each two lightpaths between which traffic is passed on at a site."""
    paths = {path.id: path for path in plan.lightpaths}
    lit: dict[str, list[Wavelengths]] = {}
    for group in plan.design.ever_lit:
        lit.setdefault(group.lightpath, []).append(group)
    used_parts = {group.transponder for group in plan.design.ever_lit}
    prices = {
        item.part: item.unit_usd for item in plan.design.bill if item.what.startswith(ENDS) and item.part in used_parts
    }
    rows: list[Row] = []
    leased = {path.id for path in plan.lightpaths if not path.budgets}
    for cut in cuts(plan):
        if leased.issuperset(cut.sides):
            continue  # a router between two circuits: no light, no transponder
        used = [wave for side in cut.sides if side not in leased for wave in _enough(lit[side], cut.most_gbps)]
        cost = sum(count * prices.get(group.transponder, 0.0) for group, count in used)
        rows.append(
            (
                say(cut.site),
                say(_side(lit, cut.sides[0])),
                say(_side(lit, cut.sides[1])),
                fixed(cut.healthy_gbps, 0),
                fixed(cut.most_gbps, 0),
                whole(sum(count for _, count in used)),
                whole(cost),
                say(", ".join(cut.demands)),
                say(_why(plan.lightpaths, paths, cut)),
            )
        )
    columns = (
        text_column("site", "Site", 8),
        text_column("one", "Between", 14),
        text_column("other", "and", 14),
        number_column("healthy_gbps", "Healthy", "Gb/s"),
        number_column("most_gbps", "Most", "Gb/s"),
        number_column("transponders", "Transponders"),
        number_column("usd", "Price", "US$"),
        text_column("demands", "Demands", 12),
        text_column("why", "Why cut", 20),
    )
    note = (
        "Traffic that passes on at a site. Most: in the state that passes on most; the transponders that face the site "
        "for it, one for each wavelength of each side, are among those of the bill."
    )
    return Table("regenerators", "Regenerators", columns, tuple(rows), note=note if rows else "")


def _enough(groups: Sequence[Wavelengths], gbps: float) -> Iterator[tuple[Wavelengths, int]]:
    """Whole wavelengths that carry a rate, the fastest first."""
    left = gbps
    for group in sorted(groups, key=lambda group: -group.rate_gbps):
        taken = min(group.count, max(0, -int(-(left - 1e-6) // group.rate_gbps)))
        if taken:
            yield group, taken
        left -= taken * group.rate_gbps


def _side(lit: Mapping[str, Sequence[Wavelengths]], name: str) -> str:
    modes = ", ".join(f"{group.count} × {group.transponder} {group.mode}" for group in lit[name])
    return f"{name}: {modes}"


def _why(lightpaths: Sequence[Lightpath], paths: Mapping[str, Lightpath], cut: Cut) -> str:
    """What a single lightpath over the fibers of both would do."""
    one, other = (paths[name] for name in cut.sides)
    if not (one.budgets and other.budgets):
        return "a circuit ends here"
    fibers = sorted((*one.route.fibers, *other.route.fibers))
    through = next((path for path in lightpaths if sorted(path.route.fibers) == fibers), None)
    if through is None:
        return "no candidate passes through: the site lets no light pass, or it is beyond policy.routes or max_hops"
    if not through.closing:
        return f"{through.id} closes with no mode, {next_in_words(through) or 'none is allowed'}"
    fastest = max(budget.rate_gbps for budget in through.closing)
    slowest = min(max(budget.rate_gbps for budget in path.closing) for path in (one, other))
    if fastest < slowest:
        return f"{through.id} closes up to {fastest:,.0f} Gb/s; {next_in_words(through)}"
    return f"{through.id} would close; wavelengths that end here are shared"
