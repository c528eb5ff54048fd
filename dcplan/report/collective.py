"""How the sites of each job sum gradients, and what other ways of doing so would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.report.sheet import Cell, Table, again, count, number, number_column, say, text_column
from dcplan.report.sheet import whole as amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcplan.design.result import JobCollective
    from dcplan.planfile import Plan
    from dcplan.report.sheet import Row


def tables(plan: Plan) -> Iterator[Table]:
    """Collectives of jobs in more than two sites, link by link; then what was compared, where the file says `auto`."""
    several = [one for one in plan.collectives if len(one.sites) > 2]
    if several:
        yield _links(several)
    if any(one.trees and one.pattern for one in several):
        yield _trees(several)
    if any(one.tried for one in plan.collectives):
        yield _tried(plan)


def in_words(one: JobCollective) -> str:
    """The pattern, with the order of a ring or the root of a tree."""
    if "ring" in one.pattern:
        return f"{one.pattern}: {' – '.join((*one.sites, one.sites[0]))}"
    if one.pattern in ("tree", "hub"):
        return f"{one.pattern}, root {one.sites[0]}"
    if one.trees:
        return f"{one.pattern}, {count(len(one.trees), 'tree')}"
    return one.pattern


def _links(several: list[JobCollective]) -> Table:
    rows: list[Row] = []
    for one in several:
        head = [say(one.job), say(in_words(one))]
        for link in one.links:
            rows.append((*head, say(" – ".join(link.ends)), number(link.gb), number(link.gbps, 4)))
            head = [again(cell) for cell in head]
    columns = (
        text_column("job", "Job", 6),
        text_column("collective", "Collective", 16),
        text_column("link", "Between", 14),
        number_column("gb", "Sends", "GB"),
        number_column("gbps", "Needs", "Gb/s"),
    )
    note = "Sends: in each direction, per step. Needs: the rate that is sized for it, healthy."
    return Table("collectives", "Gradients across sites", columns, tuple(rows), note=note)


def _trees(several: list[JobCollective]) -> Table:
    rows: list[Row] = []
    for one in several:
        job = say(one.job)
        for tree in one.trees:
            links = ", ".join(f"{site} – {above}" for site, above in tree.above)
            rows.append((job, number(100 * tree.share), say(tree.root), say(links)))
            job = again(job)
    columns = (
        text_column("job", "Job", 6),
        number_column("share_percent", "Carries", "%"),
        text_column("root", "Root"),
        text_column("links", "Each site sends to", 24),
    )
    note = "Each part of the gradients is summed up its tree to the root, and comes down it again."
    return Table("trees", "Trees that gradients take", columns, tuple(rows), note=note)


def _tried(plan: Plan) -> Table:
    rows: list[Row] = []
    for one in plan.collectives:
        job = say(one.job)
        for each in one.tried:
            mark = Cell("*" if each.kind == one.kind else "", each.kind == one.kind, "strong")
            cost = number(None) if each.least_usd is None else amount(each.least_usd)
            rows.append((job, mark, say(each.kind), cost, number(each.gbps, 4), say(each.plan), say(each.why_not)))
            job = again(job)
    columns = (
        text_column("job", "Job", 6),
        text_column("chosen", ""),
        text_column("collective", "Collective"),
        number_column("least_usd", "Network at least", "US$"),
        number_column("gbps", "Needs", "Gb/s"),
        text_column("plan", "Parallelism plan", 12),
        text_column("why_not", "Out of the question:", 24),
    )
    whole = "by the relaxation of the whole design" + (", without retuning" if plan.design.scheme == "relight" else "")
    note = f"* taken: of those that meet the targets, the one whose network costs least, {whole}. Needs: between all "
    note += "sites together, healthy. optimal: the cheapest of the trees of the others, of the tree of the links that "
    note += "cost least alone, and of halves of these."
    return Table("collectives_compared", "Collectives compared", columns, tuple(rows), note=note, main=True)
