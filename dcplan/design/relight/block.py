"""The ILP of relight: transponders and lit pairs are bought once, each state lights its own wavelengths with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dcplan.design.few.program import NOBODY, Few, write_in_few
from dcplan.design.formulation import USD, Bought, buy_fibers, hop_name, leasing, opening, spectrum
from dcplan.design.relight.stock import Stock, stock
from dcplan.design.solver.program import Program
from dcplan.design.spectrum.holes import holes
from dcplan.design.ways.protection import protect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dcplan.design.nodes import Nodes
    from dcplan.design.problem import Hop, Problem
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import FiberId


@dataclass(frozen=True, slots=True)
class Purchase:
    """The columns of what is bought once."""

    owned: tuple[int, ...]
    """Transponders by place."""
    modules: Mapping[int, int]
    """Choice -> modules of a circuit."""
    pairs: Mapping[FiberId, int]
    opened: Mapping[FiberId, int]
    spared: Mapping[int, int]
    """Column of what may be there already -> the column of how much of it is, at less cost."""
    nodes: Nodes
    anchors: Mapping[int, int] = field(default_factory=dict)
    """Choice -> wavelengths of it that no failure retunes; only where demands of other schemes ride on them."""
    aside: Mapping[Hop, int] = field(default_factory=dict)
    """Set aside for demands on two ways [Tb/s]; only where others share what is left."""

    @property
    def useful(self) -> tuple[int, ...]:
        """Those that light something in a state."""
        return (*self.owned, *self.modules.values(), *self.pairs.values())

    @property
    def columns(self) -> tuple[int, ...]:
        """All of them but what follows from these, and where ROADMs stand."""
        return (*self.useful, *self.opened.values(), *self.nodes.roadms.values())

    @property
    def promised(self) -> tuple[int, ...]:
        """What is decided once as well, and costs nothing: what is never retuned, what is set aside on it."""
        return (*self.anchors.values(), *self.aside.values())


def purchase(program: Program, problem: Problem, stood: Stock) -> Purchase:
    """What is bought once, with what opening a route or a circuit asks for."""
    bought = things(program, problem, stood)
    leased = columns_of(problem, bought, {})
    opening(program, problem, leased)
    leasing(program, problem, leased)
    if not problem.anchored:
        return bought
    anchors = {
        j: program.column(f"b{j}", 0.0, choice.most, integer=True)
        for j, choice in enumerate(problem.choices)
        if choice.slots
    }
    return replace(bought, anchors=anchors)


def things(program: Program, problem: Problem, stood: Stock) -> Purchase:
    """Integer transponders m per place, modules of circuits, lit pairs p per fiber, opened routes and circuits.

    Of transponders that are there already, s ≤ m are spared their price.
    """
    owned = tuple(
        program.column(
            f"m{i}",
            usd * USD,
            max(there, sum(problem.choices[j].most for j in users)),
            there if stood.kept else 0,
            integer=True,
        )
        for i, (usd, users, there) in enumerate(zip(stood.usd, stood.users, stood.there, strict=True))
    )
    spared = {column: _spared(program, stood, i, column) for i, column in enumerate(owned) if stood.there[i]}
    modules = {
        j: program.column(f"n{j}", choice.usd * USD, choice.most, choice.least, integer=True)
        for j, choice in enumerate(problem.choices)
        if not choice.slots
    }
    pairs, opened, nodes = buy_fibers(program, problem)
    named = {column.name: i for i, column in enumerate(program.columns)}
    spared |= {pairs[fiber]: named[f"k{i}"] for i, fiber in enumerate(problem.fibers) if fiber in problem.pairs_lit}
    return Purchase(owned, modules, pairs, opened, spared, nodes)


def _spared(program: Program, stood: Stock, place: int, owned: int) -> int:
    there = stood.there[place]
    least = there if stood.kept else 0
    column = program.column(f"s{place}", -stood.saved_usd[place] * USD, there, least, integer=True)
    if not stood.kept:
        program.row(f"spared{place}", {column: 1.0, owned: -1.0}, upper=0)
    return column


def light(
    program: Program, problem: Problem, stood: Stock, bought: Purchase, state: int, slots: Mapping[FiberId, int]
) -> Bought:
    """Integer wavelengths n per surviving choice of one state, within the transponders and the spectrum that are there.

    What is lit already and stays is lit when healthy; in a failure its transponders are retuned as others are.
    Of those that survive, no fewer are lit than are never retuned.
    Per place: Σ n over the wavelengths that end there ≤ transponders owned. Per fiber: the rows of `spectrum`.
    """
    about = problem.states[state]
    alive = set(problem.alive(about))
    lit = {}
    for j in stood.glass:
        choice = problem.choices[j]
        most = choice.most if choice.lightpath in alive else 0
        lit[j] = program.column(f"n{j}k{state}", 0.0, most, choice.least if about.healthy else 0, integer=True)
    for i, users in enumerate(stood.users):
        program.row(f"stock{i}k{state}", {lit[j]: 1.0 for j in users} | {bought.owned[i]: -1.0}, upper=0)
    for j, never in bought.anchors.items():
        if problem.choices[j].lightpath in alive:
            program.row(f"stays{j}k{state}", {lit[j]: 1.0, never: -1.0}, lower=0)
    columns = columns_of(problem, bought, lit)
    spectrum(program, problem, columns, slots, f"k{state}")
    if about.healthy:
        holes(program, problem, columns)
    return columns


def columns_of(problem: Problem, bought: Purchase, lit: Mapping[int, int]) -> Bought:
    """The columns that carry traffic in a state, by choice: its wavelengths, and the modules of circuits."""
    lit_or_leased, never = {**bought.modules, **lit}, {**bought.modules, **bought.anchors}
    columns = tuple(lit_or_leased.get(j, -1) for j in range(len(problem.choices)))
    anchors = tuple(never.get(j, -1) for j in range(len(problem.choices))) if problem.anchored else ()
    return Bought(columns, bought.pairs, bought.opened, bought.nodes, bought.aside, anchors)


def two_ways(program: Program, problem: Problem, bought: Purchase, ways: Mapping[int, Sequence[Way]]) -> Purchase:
    """What demands on two ways have for themselves, on wavelengths that no failure retunes."""
    held = {d: ways[d] for d in sorted(problem.protected)}
    if not held:
        return bought
    columns = columns_of(problem, bought, {})
    never = replace(columns, wavelengths=columns.anchors)
    return replace(bought, aside=protect(program, problem, never, held, every=True).aside)


def set_aside(program: Program, problem: Problem, bought: Purchase) -> Purchase:
    """The columns of `two_ways` without what rides there: for one state, where they are given."""
    if not problem.protected or not problem.shared:
        return bought
    hops = [(i, tier) for i, tiers in enumerate(problem.tiers) for tier in range(len(tiers))]
    return replace(bought, aside={hop: program.column(f"a{hop_name(problem, hop)}") for hop in hops})


def whole(
    problem: Problem,
    slots: Sequence[Mapping[FiberId, int]],
    ways: Mapping[int, Sequence[Way]],
    few: Few = NOBODY,
) -> tuple[Program, Purchase]:
    """The whole ILP of relight, every state written out: the model of record that the search is tested against.

    With demands of other schemes it is that of `dcplan.design.mixed`.
    """
    program, stood = Program(), stock(problem)
    bought = two_ways(program, problem, purchase(program, problem, stood), ways)
    for k in range(len(problem.states)):
        lit = light(program, problem, stood, bought, k, slots[k])
        write_in_few(program, problem, lit, ways, few, k)
    return program, bought
