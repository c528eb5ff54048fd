"""The simplex method that checks plans: what it finds is what HiGHS finds, with prices that prove it."""

from __future__ import annotations

import random
from math import inf

import pytest

from dcplan.design.program import Program
from dcplan.design.simplex import Simplex
from dcplan.design.solver import Linear


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
