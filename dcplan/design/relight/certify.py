"""The certificate of relight: the inequalities of its master, with the duals of the program of all states as prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.design.certificate.book import book
from dcplan.design.certificate.prices import certificate, nine, state_cut
from dcplan.design.certificate.record import WAVELENGTHS, StateCut, Term
from dcplan.design.relight.shores import Asked

if TYPE_CHECKING:
    from dcplan.design.certificate.record import Certificate
    from dcplan.design.cuts.loop import Task
    from dcplan.design.cuts.rounding import Divisors
    from dcplan.design.problem import Problem
    from dcplan.design.relight.master import Master


def certify(master: Master, task: Task) -> Certificate | None:
    """A certificate with the whole band in every state; None where the solver gives no duals.

    task: that of the master, or one that asks for more. Of a demand on two ways its inequalities count both.
    """
    made = book(task.problem, task.held)
    about = [(one.asked, one.divisors) for one in master.pool.kept]
    about += [(one.asked, one.divisors) for apart in master.projected for one in apart.pool.kept]
    drafts = [
        _draft(task.problem, asked, divisors)
        for n, (asked, divisors) in enumerate(about)
        if isinstance(asked, Asked) and (asked.over != WAVELENGTHS or n >= len(master.pool.kept))
    ]
    return certificate(task, made, drafts)


def _draft(problem: Problem, asked: Asked, divisors: Divisors) -> Term:
    """An inequality without its price."""
    divisor = divisors[0]
    if asked.metric is None:
        cut = StateCut(problem.states[asked.state].name, asked.over, asked.shore)
    else:
        cut = state_cut(problem, asked.metric)
    return Term((cut,), (None if divisor is None else nine(divisor), None), 0.0, 0.0)
