"""How long a search may go on: until a time, until someone stops it, until its branch-and-bound nodes are used up."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import TYPE_CHECKING

from dcplan.errors import NothingYetError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


TIME_LIMIT_S = 60.0
"""Where nothing limits a design [s]."""
LAST_S = 10.0
"""Longest time for some answer where a search was ended without one [s]."""


@dataclass(slots=True)
class Stop:
    """What ends all parts of one search at once; they share it."""

    asked: bool = False
    """By someone: Ctrl-C."""
    nodes: int | None = None
    """Branch-and-bound nodes left to all integer programs together; none: as many as they take."""
    last_s: float = inf
    """As of `Until`."""

    def ask(self) -> None:
        """Someone asks to stop."""
        self.asked, self.last_s = True, now_s() + LAST_S

    def spend(self, nodes: int) -> None:
        """Take off the nodes of a solve, which counts as one at least."""
        if self.nodes is not None:
            self.nodes = max(0, self.nodes - max(1, nodes))

    @contextmanager
    def saving(self, share: float) -> Iterator[None]:
        """While it lasts, this share of the nodes that are left is kept for what comes after."""
        saved = int(share * (self.nodes or 0))
        self.nodes = None if self.nodes is None else self.nodes - saved
        try:
            yield
        finally:
            self.nodes = None if self.nodes is None else self.nodes + saved

    @property
    def now(self) -> bool:
        """The search is over, whatever the clock says."""
        return self.asked or self.nodes == 0


EXACT = 1e-9
"""By how much a row may be missed where a solve is to be exact, 1 kb/s of traffic; else 1e-6."""


@dataclass(frozen=True, slots=True)
class Until:
    """When work must end: at a time, or when it is stopped."""

    at_s: float = inf
    """On the clock `now_s`."""
    stop: Stop = field(default_factory=Stop)
    exact: bool = False
    """Integer programs keep to their rows more closely than is usual, which takes longer."""
    last_s: float = inf
    """When the making of some answer must end too, where there was none, on the same clock."""

    @property
    def left_s(self) -> float:
        """Time that is left, 0 where it is over [s]."""
        return 0.0 if self.stop.now else max(0.0, self.at_s - now_s())

    @property
    def over(self) -> bool:
        """Nothing further may be begun."""
        return self.left_s == 0.0

    @property
    def hurried(self) -> bool:
        """Not even what takes no nodes may be begun: time is up, or someone asked to stop."""
        return self.stop.asked or self.at_s <= now_s()

    @property
    def timed(self) -> bool:
        """The clock counts: what is not must not hang on the speed of the machine."""
        return isfinite(self.at_s)

    @property
    def why(self) -> str:
        """What ended it, in the words of a proof: interrupted, node limit, time limit."""
        return "interrupted" if self.stop.asked else "node limit" if self.stop.nodes == 0 else "time limit"

    def within(self, seconds: float, more_s: float = LAST_S) -> Until:
        """Until the same, but no longer than so many seconds from now; so many more for what some answer takes."""
        at_s = min(self.at_s, now_s() + seconds)
        return replace(self, at_s=at_s, last_s=min(self.last_s, at_s + more_s))

    def sooner(self, seconds: float) -> Until:
        """Until so many seconds earlier."""
        return replace(self, at_s=self.at_s - seconds)

    def prolonged(self, seconds: float) -> Until:
        """At least so many seconds from now where only the clock has ended it, but not beyond the last moment."""
        return replace(self, at_s=max(self.at_s, min(now_s() + seconds, self.last_s)))

    @property
    def finishing(self) -> Until:
        """For what some answer takes although it is over: the one last moment, however often it is asked for."""
        last_s = min(self.last_s, self.stop.last_s)
        return Until(last_s, last_s=last_s, exact=self.exact)

    def limits(self, gap: float, nodes: int | None = None, least_s: float = 0.0) -> Limits:
        """Those of one solve, which has so much time at least."""
        return Limits(max(least_s, self.left_s), gap, nodes, self.stop, self.exact)


def nothing_yet(why: str) -> NothingYetError | StoppedError:
    """What to raise where a search ended, for a reason as `Until.why` gives it, before it had a design."""
    if why == "interrupted":
        return StoppedError("interrupted before any design was found")
    return NothingYetError(f"{why} before any design was found: allow more (policy.solver, --time-limit, --max-nodes)")


@dataclass(frozen=True, slots=True)
class Limits:
    """When one solve may stop."""

    time_s: float = 60.0
    gap: float = 1e-4
    nodes: int | None = None
    """Branch-and-bound nodes, a limit that is the same on every machine (conflicts for CP-SAT)."""
    stop: Stop = field(default_factory=Stop)
    """What ends the search that the solve is part of; its nodes are spent on."""
    exact: bool = False
    """Rows are kept to `EXACT`; HiGHS only."""

    @property
    def most_nodes(self) -> int | None:
        """The nearer of the two limits on nodes."""
        both = [nodes for nodes in (self.nodes, self.stop.nodes) if nodes is not None]
        return min(both, default=None)


SEARCHING = "stopping with the best design so far"
FINISHING = "the design is made, and its plan will be in a moment"


@contextmanager
def interruptible(stop: Stop, say: Callable[[str], None], words: str = SEARCHING) -> Iterator[None]:
    """While it lasts, Ctrl-C asks to stop, which is said in these words; again, it raises KeyboardInterrupt as ever.

    Only in the main thread, and only where nobody else handles the signal; else nothing is changed.
    """
    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.ask()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        say(f"{words}; Ctrl-C again gives up")

    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def held_back() -> Iterator[list[int]]:
    """While it lasts, interrupts are only noted in the list; behind it they are handed to whom they were meant for.

    For code that calls back into Python and would swallow the KeyboardInterrupt. Only in the main thread.
    """
    noted: list[int] = []
    meant = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(meant):
        yield noted
        return
    signal.signal(signal.SIGINT, lambda number, _frame: noted.append(number))
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, meant)
    for number in noted:
        meant(number, None)


def longest_s(given_s: float | None, max_nodes: int | None) -> float:
    """The time limit that is given; else none where there is one on nodes, and `TIME_LIMIT_S` where there is not."""
    if given_s is not None:
        return given_s
    return TIME_LIMIT_S if max_nodes is None else inf


def now_s() -> float:
    """A clock that only runs forward [s]."""
    return time.monotonic()
