"""The simplex method that checks plans: what it finds is what HiGHS finds, with prices that prove it."""

from __future__ import annotations

import random
from math import inf

import pytest

from dcplan.design.simplex import Simplex
from dcplan.design.solver.program import Program
from dcplan.design.solver.solve import Linear


def some_program(chance):
    """Few rows and columns, all kinds of bounds, many ties."""
    program = Program()
    for j in range(chance.randint(1, 10)):
        cost, upper = chance.choice([0, 1, -1, 2.5, chance.uniform(-3, 3)]), chance.choice([inf, 5, 1, 10])
        program.column(f"x{j}", cost, upper, chance.choice([0, 0, 0, 1]))
    columns = range(len(program.columns))
    for i in range(chance.randint(1, 10)):
        terms = {j: chance.choice([1, -1, 2, 0.5, chance.uniform(-2, 2)]) for j in columns if chance.random() < 0.5}
        right = chance.choice([0.0, chance.uniform(0, 8), chance.uniform(-2, 6)])
        lower, upper = chance.choice(
            [(-inf, right), (-inf, right), (right, inf), (right, right), (right - 1, right + 2)]
        )
        program.row(f"r{i}", terms, lower, upper)
    return program


def test_it_agrees_with_highs_and_proves_it():
    """Status and cost; and the duals give the same cost, so that both are right."""
    seen = set()
    for seed in range(400):
        program = some_program(random.Random(seed))
        theirs, mine = Linear(program), Simplex(program)
        status = theirs.solve()
        seen.add(status)
        assert mine.solve() == status, seed
        if status != "optimal":
            continue
        cost = sum(column.cost * value for column, value in zip(program.columns, mine.values, strict=True))
        assert cost == pytest.approx(theirs.objective, abs=1e-7)
        parts = [price * (row.lower if price > 0 else row.upper)
                 for price, row in zip(mine.duals, program.rows, strict=True) if abs(price) > 1e-9]  # fmt: skip
        for j, column in enumerate(program.columns):
            left = column.cost - sum(
                price * row.terms.get(j, 0.0) for price, row in zip(mine.duals, program.rows, strict=True)
            )
            parts.append(left * (column.lower if left > 0 else column.upper) if abs(left) > 1e-9 else 0.0)
        assert sum(parts) == pytest.approx(cost, abs=1e-7)
    assert seen == {"optimal", "infeasible", "failed"}


def test_columns_that_are_added_and_bounds_that_move_end_where_a_fresh_start_does():
    """Path programs of a ring, as fair rates pose them: what was solved before must not show."""
    for seed in range(60):
        chance = random.Random(seed)
        links, demands = range(6), range(chance.randint(1, 5))
        program = Program()
        program.column("level", -1.0, chance.choice([inf, 2.0]))
        for link in links:
            program.row(f"room{link}", {}, upper=chance.choice([0.0, 1.0, chance.uniform(0, 4)]))
        for d in demands:
            program.row(f"rises{d}", {0: -chance.choice([1.0, chance.uniform(0.1, 2)])}, lower=0.0)
        ways = [(d, frozenset(chance.sample(links, chance.randint(1, 3)))) for d in demands for _ in range(3)]
        columns = [[*sorted(way), len(links) + d] for d, way in dict.fromkeys(ways)]
        mine, theirs = Simplex(program), Linear(program)
        for some in (columns[::2], columns[1::2]):
            for one in (mine, theirs):
                one.add_columns([0.0] * len(some), some)
                assert one.solve() == "optimal"
            assert mine.values[0] == pytest.approx(theirs.values[0], abs=1e-9)
        fixed = {len(links) + d: chance.uniform(0, 0.2) for d in demands if chance.random() < 0.4}
        for one in (mine, theirs):
            one.bound_rows(list(fixed), [-inf] * len(fixed), [inf] * len(fixed))
            one.bound_rows([0], [-inf], [0.5])
            one.bound_columns([0], [0.0], [1.5])
        assert mine.solve() == theirs.solve() == "optimal"
        assert mine.values[0] == pytest.approx(theirs.values[0], abs=1e-9)
