"""What the rows and columns of a program are, in the words of the planner: by their names, which hold indices."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from dcplan.design.certificate.record import WAVELENGTHS
from dcplan.design.circuits import EXISTING
from dcplan.design.formulation import TBPS, USD, by_source
from dcplan.design.problem import rate
from dcplan.design.relight.projected import Wanted
from dcplan.design.relight.stock import stock
from dcplan.model.grid import SLOT_GHZ

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dcplan.design.cuts.inequality import Cut
    from dcplan.design.cuts.loop import Held
    from dcplan.design.cuts.rounding import Divisors
    from dcplan.design.problem import Problem
    from dcplan.design.relight.shores import Asked
    from dcplan.design.relight.stock import Stock
    from dcplan.design.solver.program import Program
    from dcplan.design.ways.chains import Way
    from dcplan.model.network import Pair, SiteId

_INDEX = re.compile(r"([a-z]*)(\d+)([ab]?)")


def words_of(
    program: Program, problem: Problem, ways: Mapping[int, Sequence[Way]], cuts: Mapping[str, str] | None = None
) -> Iterator[str]:
    """A line for each column and each row: its name and what it is.

    ways: those that the program was made with. cuts: what the rows of cuts are, by name.
    """
    told = Words(problem, ways, cuts)
    for column in program.columns:
        yield f"column {column.name}: {told.column(column.name)}"
    for row in program.rows:
        yield f"row {row.name}: {told.row(row.name)}"


class Words:
    """Says what names mean."""

    def __init__(
        self, problem: Problem, ways: Mapping[int, Sequence[Way]], cuts: Mapping[str, str] | None = None
    ) -> None:
        self.problem, self.ways, self.cuts = problem, ways, cuts or {}
        self._links: dict[int, list[tuple[Pair, list[int]]]] = {}
        self._sources: dict[tuple[int, bool], list[tuple[SiteId, list[int]]]] = {}

    def column(self, name: str) -> str:
        """What is bought, or what flows where."""
        return self._said(name, self._columns)

    def row(self, name: str) -> str:
        """What is asked."""
        return self.cuts[name] if name in self.cuts else self._said(name, self._rows)

    def _said(self, name: str, known: Mapping[str, Callable[[dict[str, int], str], str]]) -> str:
        """By the letters that a name begins with, and the indices behind them."""
        parts = [(letters, int(digits), mark) for letters, digits, mark in _INDEX.findall(name)]
        if not parts or parts[0][0] not in known:
            return "auxiliary"
        kind = parts[0][0]
        indices = {"": parts[0][1]} | {letters: digits for letters, digits, _ in parts[1:]}
        return known[kind](indices, parts[-1][2])

    @cached_property
    def _stock(self) -> Stock:
        return stock(self.problem)

    @cached_property
    def _columns(self) -> dict[str, Callable[[dict[str, int], str], str]]:
        return {
            "n": lambda i, _: self._choice(i[""]) + self._lit_in(i),
            "m": lambda i, _: "transponders {1} at {0}".format(*self._stock.places[i[""]]),
            "s": lambda i, _: "of these, transponders {1} at {0} that were there already".format(
                *self._stock.places[i[""]]
            ),
            "p": lambda i, _: f"lit pairs of fiber {self.problem.fibers[i['']]}",
            "k": lambda i, _: f"of these, pairs of fiber {self.problem.fibers[i['']]} that were lit already",
            "o": lambda i, _: f"1 if fiber {self.problem.fibers[i['']]} is built",
            "r": lambda i, _: f"1 if lit pairs end in ROADMs at {self.problem.passed[i['']]}",
            "q": lambda i, _: f"lit pairs of fiber {self.problem.fibers[i['']]} with {self._ends(i)}",
            "w": lambda i, _: (
                f"of these, pairs of fiber {self.problem.fibers[i['']]} that were lit already, with {self._ends(i)}"
            ),
            "c": lambda i, _: f"1 if {self._path(i[''])} is set up",
            "z": lambda i, _: (
                f"1 if channels of {_ghz(i['w'])} stand on fiber {self.problem.fibers[i['']]}{self._lit_in(i)}"
            ),
            "b": lambda i, _: f"of {self._choice(i[''])}, what no failure retunes",
            "fk": lambda i, mark: self._flow(i[""], i["s"], i["e"], back=mark == "b"),
            "fb": lambda i, mark: self._flow(i[""], i["s"], i["e"], back=mark == "b", waits=False),
            "yk": lambda i, _: f"{self._on(i['d'], i['w'], i[''])} [Tb/s]{self._in(i[''])}",
            "yb": lambda i, _: f"{self._on(i['d'], i['w'], i[''])} [Tb/s]{self._in(i[''])}",
            "y": lambda i, _: f"{self._on(i[''], i['w'])} [Tb/s]",
            "zk": lambda i, _: f"1 if demand {self._demand(i['d'])} takes its route {i['w']}{self._in(i[''])}",
            "gk": lambda i, _: f"priced traffic on {self._path(i['l'])} [Tb/s]{self._in(i[''])}",
            "a": lambda i, _: f"set aside for demands on two ways of {self._hop(i, '')} [Tb/s]",
            "x": lambda i, _: f"share of demand {self._demand(i[''])} on pair {i['i']} of risks that do not meet",
        }

    @cached_property
    def _rows(self) -> dict[str, Callable[[dict[str, int], str], str]]:
        fibers = self.problem.fibers
        return {
            "stock": lambda i, _: (
                "wavelengths of {1} that end at {0} have transponders there".format(*self._stock.places[i[""]])
                + self._lit_in(i)
            ),
            "spared": lambda i, _: "transponders {1} at {0} that were there already are among those owned".format(
                *self._stock.places[i[""]]
            ),
            "spectrum": lambda i, _: (
                f"slots of all channels on fiber {fibers[i['']]} fit its lit pairs{self._lit_in(i)}"
            ),
            "channels": lambda i, _: (
                f"channels of {_ghz(i['w'])} or more on fiber {fibers[i['']]} fit its lit pairs{self._lit_in(i)}"
            ),
            "holes": lambda i, _: f"channels of {_ghz(i['w'])} or more fit beside those that stand on {fibers[i['']]}",
            "used": lambda i, _: (
                f"channels of {_ghz(i['w'])} on fiber {fibers[i['']]} only where that width is used{self._lit_in(i)}"
            ),
            "guards": lambda i, _: f"channels and guards on fiber {fibers[i['']]} fit its lit pairs{self._lit_in(i)}",
            "types": lambda i, _: f"something stands at the ends of each lit pair of fiber {fibers[i['']]}",
            "was": lambda i, _: (
                f"pairs of fiber {fibers[i['']]} that were lit already, with {self._ends(i)}, are among such"
            ),
            "were": lambda i, _: (
                f"something stands at the ends of each pair of fiber {fibers[i['']]} that was lit already"
            ),
            "roadm": lambda i, _: f"pairs of fiber {fibers[i['']]} end in ROADMs at {self._end(i)} only if it has any",
            "mux": lambda i, _: f"those of fiber {fibers[i['']]} end in multiplexers at {self._end(i)} only if not",
            "pass": lambda i, _: (
                f"light on fiber {fibers[i['']]} that passes {self._end(i)} fits the pairs with ROADMs{self._lit_in(i)}"
            ),
            "idle": lambda i, _: f"{self.problem.passed[i['']]} has ROADMs only if light passes",
            "closes": lambda i, _: (
                f"{self._choice(i[''])}: only where it closes with what its ends have{self._lit_in(i)}"
            ),
            "kept": lambda i, _: f"pairs of fiber {fibers[i['']]} that were lit already are among the lit ones",
            "open": lambda i, _: f"pairs of fiber {fibers[i['']]} are lit only where it is built",
            "one": lambda i, _: f"at most one module of {self._path(i[''])}",
            "lease": lambda i, _: f"{self._choice(i[''])}: only where the circuit is set up",
            "order": lambda i, _: "of two that are alike, the first in the file comes first",
            "linkk": lambda i, _: (
                f"traffic fits what is lit between {_both(self._links_in(i[''])[i['e']][0])}{self._in(i[''])}"
            ),
            "linkb": lambda i, _: (
                f"what may not wait fits what no failure retunes between "
                f"{_both(self._links_in(i[''])[i['e']][0])}{self._in(i[''])}"
            ),
            "stays": lambda i, _: f"{self._choice(i[''])} that no failure retunes are lit{self._lit_in(i)}",
            "pathk": lambda i, _: f"traffic of listed ways fits {self._hop(i, 'l')}{self._in(i[''])}",
            "pathb": lambda i, _: (
                f"what of listed ways may not wait fits what no failure retunes of {self._hop(i, 'l')}{self._in(i[''])}"
            ),
            "path": lambda i, _: f"both ways of all demands that go two fit {self._hop(i, '')}",
            "aside": lambda i, _: f"what is set aside of {self._hop(i, '')} is no less than what both ways put there",
            "usedk": lambda i, _: (
                f"demand {self._demand(i['d'])} is on its route {i['w']} only where it takes it{self._in(i[''])}"
            ),
            "fewk": lambda i, _: f"demand {self._demand(i['d'])} takes no more routes than it may{self._in(i[''])}",
            "splitk": lambda i, _: (
                f"traffic between {_both(self._links_in(i[''])[i['e']][0])} is that of its lightpaths{self._in(i[''])}"
            ),
            "mostk": lambda i, _: f"priced traffic fits {self._path(i['l'])}{self._in(i[''])}",
            "balancek": lambda i, _: self._balance(i[""], i["s"], i["v"]),
            "balanceb": lambda i, _: self._balance(i[""], i["s"], i["v"], waits=False),
            "waysk": lambda i, _: f"demand {self._demand(i['d'])} is carried on its listed ways{self._in(i[''])}",
            "waysb": lambda i, _: f"demand {self._demand(i['d'])} is carried on its listed ways{self._in(i[''])}",
            "split": lambda i, _: f"demand {self._demand(i[''])} is split over pairs of ways",
            "both": lambda i, _: f"ways of demand {self._demand(i[''])} of risk {i['r']} carry what their pairs share",
            "two": lambda i, _: f"no way of demand {self._demand(i[''])} protects itself",
        }

    def _ends(self, indices: Mapping[str, int]) -> str:
        fiber = self.problem.fibers[indices[""]]
        roadms = sorted(self.problem.patterns[fiber][indices["t"]].roadms)
        return f"ROADMs at {' and '.join(roadms)}" if roadms else "multiplexers"

    def _end(self, indices: Mapping[str, int]) -> SiteId:
        return self.problem.network.fibers[self.problem.fibers[indices[""]]].ends[indices["s"]]

    def _choice(self, j: int) -> str:
        choice = self.problem.choices[j]
        there = ", there already" if choice.existing else ""
        if self.problem.circuit(choice.lightpath) is None:
            return f"wavelengths of {choice.part} {choice.mode} on {self._path(choice.lightpath)}{there}"
        if choice.mode == EXISTING:
            return f"capacity of {self._path(choice.lightpath)} that is there already"
        return f"modules {choice.mode} of {self._path(choice.lightpath)}{there}"

    def _path(self, i: int) -> str:
        lightpath = self.problem.lightpaths[i]
        name = self.problem.circuit(i)
        return f"{lightpath.id} [{', '.join(lightpath.route.fibers)}]" if name is None else f"circuit {name}"

    def _hop(self, indices: Mapping[str, int], key: str) -> str:
        within = f" within {self.problem.tiers[indices[key]][indices['t']]:g} ms" if "t" in indices else ""
        return f"what is lit{within} on {self._path(indices[key])}"

    def _on(self, d: int, w: int, k: int | None = None) -> str:
        """The way of a demand by its number, in a state among those that survive."""
        mine = [way for way in self.ways[d] if k is None or k not in way.broken]
        chain = " + ".join(self.problem.lightpaths[i].id for i in mine[w].lightpaths)
        return f"traffic of demand {self._demand(d)} on {chain}"

    def _demand(self, d: int) -> str:
        return self.problem.demands[d].id

    def _lit_in(self, indices: Mapping[str, int]) -> str:
        """The state, where each lights wavelengths of its own."""
        return self._in(indices["k"]) if "k" in indices else ""

    def _in(self, k: int) -> str:
        return f", {_when(self.problem.states[k].name)}"

    def _links_in(self, k: int) -> list[tuple[Pair, list[int]]]:
        if k not in self._links:
            self._links[k] = list(self.problem.links(self.problem.alive(self.problem.states[k])).items())
        return self._links[k]

    def _sources_in(self, k: int, *, waits: bool) -> list[tuple[SiteId, list[int]]]:
        """waits: of the demands that wait for retuning, if any do not."""
        if (k, waits) not in self._sources:
            state, demands = self.problem.states[k], enumerate(self.problem.demands)
            listed = self.ways.keys() | self.problem.protected
            mine = {d: demand for d, demand in demands if (d in self.problem.anchored) != waits and d not in listed}
            asking = {d: demand for d, demand in mine.items() if rate(demand, state) > 0}
            self._sources[k, waits] = list(by_source(asking).items())
        return self._sources[k, waits]

    def _flow(self, k: int, s: int, e: int, *, back: bool, waits: bool = True) -> str:
        a, b = self._links_in(k)[e][0]
        start, end = (b, a) if back else (a, b)
        return f"traffic of {self._sources_in(k, waits=waits)[s][0]} from {start} to {end} [Tb/s]{self._in(k)}"

    def _balance(self, k: int, s: int, v: int, *, waits: bool = True) -> str:
        source, demands = self._sources_in(k, waits=waits)[s]
        sites = {site for ends, _ in self._links_in(k) for site in ends}
        sites |= {site for d in demands for site in self.problem.demands[d].ends}
        return f"traffic of {source} that stays at {sorted(sites)[v]} is what the two ask of each other{self._in(k)}"


def cut_in_words(problem: Problem, held: Held) -> str:
    """What must be able to cross, or the distances that demands must travel; and how it was rounded."""
    names = list(dict.fromkeys(problem.states[one.state].name for one in held.cuts))
    when = f"after losing any of {', '.join(names)}" if len(names) > 1 else _when(names[0])
    mine = held.cuts if len(names) == 1 else held.cuts[:1]
    over = " over lit pairs" if mine[0].fibers else ""
    needs = " and ".join(_needed(one, one.need_gbps(problem), over) for one in mine)
    return f"{when}, {needs}{', added up' if len(mine) > 1 else ''}{_rounded(held.divisors)}"


def asked_in_words(problem: Problem, asked: Asked | Wanted, divisors: Divisors) -> str:
    """The same under relight, over what is owned, lit in a state, or lit at all; or what the state asks of these."""
    when = _when(problem.states[asked.state].name)
    if isinstance(asked, Wanted):
        return f"{when}, what is bought must be worth US$ {asked.least / USD:.10g} in weights{_rounded(divisors)}"
    over = "" if asked.over == WAVELENGTHS else f" over {asked.over}"
    gbps = asked.need(problem) / TBPS
    return f"{when}, {_needed(asked, gbps, over)}{_rounded(divisors)}"


def _needed(cut: Cut | Asked, gbps: float, over: str) -> str:
    """What must be able to leave a shore; else a metric."""
    if cut.shore:
        return f"sites {{{', '.join(cut.shore)}}} need {gbps:.10g} Gb/s to the rest{over}"
    return f"{gbps:.10g} weighted Gb/s of {len(cut.distances)} demands (a metric) must fit"


def _rounded(divisors: Divisors) -> str:
    """By what an inequality was divided and rounded up; nothing where it was not."""
    found = " and ".join(f"{divisor:.10g}" for divisor in divisors if divisor is not None)
    return f"; rounded by {found}" if found else ""


def _when(state: str) -> str:
    return state if state == "healthy" else f"after losing {state}"


def _both(ends: Pair) -> str:
    return f"{ends[0]} and {ends[1]}"


def _ghz(slots: int) -> str:
    return f"{slots * SLOT_GHZ:g} GHz"
