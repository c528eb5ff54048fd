"""Networks with known optima through `dcplan plan`: cost, bound, gap, wall time, processor time and memory of each.

Generated meshes of data centers lie in `data/`. The files of SNDlib carry no licence and do not ship: the folder that
holds them is named by the environment variable SNDLIB. `python -m tests.accept.proofs NAME…` runs some by hand.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
SNDLIB = os.environ.get("SNDLIB", "")


@dataclass(frozen=True, slots=True)
class Instance:
    """A row of `data/best_known.csv`: costs in US$, or in the units of the file."""

    name: str
    problem: str
    """SNDlib's letters; empty for a topology file in `data/`."""
    best: float | None
    bound: float | None
    """No cheaper design exists."""
    within_s: float
    """In which the command must end, on a quiet machine of two cores [s]."""
    limit_s: float
    """Its time limit [s]."""
    gap: float
    """That must be reached."""

    @property
    def id(self) -> str:
        return "-".join(filter(None, (self.name, self.problem.rpartition("-")[2], f"{self.gap:g}")))


@dataclass(frozen=True, slots=True)
class Proven:
    """What a run said and took."""

    cost: float
    bound: float
    status: str
    reason: str
    wall_s: float
    cpu_s: float
    peak_gb: float
    """Of its largest process [GB]."""

    @property
    def gap(self) -> float:
        return max(0.0, self.cost - self.bound) / self.cost

    def __str__(self) -> str:
        return (
            f"cost {self.cost:,.0f}, bound {self.bound:,.0f}, gap {100 * self.gap:.4f} %, {self.status} "
            f"({self.reason}), {self.wall_s:.1f} s wall, {self.cpu_s:.1f} s processor, {self.peak_gb:.2f} GB"
        )


def instances() -> list[Instance]:
    with (DATA / "best_known.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = [{key: float(row[key]) if row[key] else None for key in ("best_known", "lower_bound")} for row in rows]
    return [
        Instance(
            name=row["instance"],
            problem=row["problem"],
            best=two["best_known"],
            bound=two["lower_bound"],
            within_s=float(row["within"]),
            limit_s=float(row["limit_s"]),
            gap=float(row["gap"]),
        )
        for row, two in zip(rows, known, strict=True)
    ]


def dcplan(*args: str) -> tuple[int, float, float, float]:
    """Run the command line; exit code, wall time [s], processor time [s], memory of its largest process [GB].

    With byte code compiled, as in an installed program.
    """
    told = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begun = time.perf_counter()
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "dcplan", *args],
        told,
        file_actions=[(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)],
    )
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - begun
    return os.waitstatus_to_exitcode(status), wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9


def prove(instance: Instance) -> Proven:
    """Plan an instance in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        topology, plan = DATA / f"{instance.name}.yaml", Path(folder) / "plan.json"
        if instance.problem:
            topology = Path(folder) / "topology.yaml"
            source = Path(SNDLIB) / f"{instance.name}.txt"
            code, *_ = dcplan("import", "sndlib", str(source), "--model", instance.problem, "-o", str(topology))
            assert code == 0
        dcplan("validate", str(topology))  # what it loads is compiled then
        asked = ["--time-limit", f"{instance.limit_s:g}", "--gap", f"{instance.gap:g}"]
        code, wall, cpu, peak = dcplan("plan", str(topology), "-o", str(plan), *asked)
        assert code == 0
        proof: dict[str, Any] = json.loads(plan.read_text(encoding="utf-8"))["design"]["proof"]
        code, *_ = dcplan("verify", str(topology), str(plan))
        assert code == 0
    return Proven(proof["cost_usd"], proof["bound_usd"], proof["status"], proof["reason"], wall, cpu, peak)


def main(wanted: list[str]) -> None:
    for instance in instances():
        if (instance.name in wanted or instance.id in wanted) and (SNDLIB or not instance.problem):
            sys.stdout.write(f"{instance.id}: {prove(instance)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
