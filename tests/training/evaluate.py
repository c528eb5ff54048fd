"""Works a printed formula out from the inputs printed with it, knowing nothing of how dcplan did."""

from __future__ import annotations

import ast
import math
import operator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """The value of a formula of +, −, ×, /, max and min."""

    def work(node: ast.expr) -> float:
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](work(node.left), work(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return {"max": max, "min": min}[node.func.id](map(work, node.args))
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        raise ValueError(f"{formula}: {ast.dump(node)}")

    found = work(ast.parse(formula.replace("×", "*").replace("−", "-"), mode="eval").body)
    return 0.0 if math.isnan(found) else found
