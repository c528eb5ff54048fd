"""The line of progress on a terminal, and Ctrl-C: the best plan so far is written, and said to be that."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dcplan import api
from dcplan.cli import progress as shown
from dcplan.cli.progress import CLEAR, fitting
from dcplan.planfile import Plan

pty = pytest.importorskip("pty")
pytestmark = pytest.mark.usefixtures("interrupts")


@pytest.mark.parametrize(
    ("text", "columns", "line"),
    [
        ("short", 10, "short"),
        ("just right", 10, "just right"),
        ("one too many", 11, "one too ma…"),
        ("東京東京", 8, "東京東京"),
        ("東京東京", 6, "東京…"),
        ("a\x1b[2Jb\n", 20, "a?[2Jb?"),
        ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
        ("x", 0, ""),
    ],
)
def test_one_line_of_so_many_columns(text: str, columns: int, line: str) -> None:
    assert fitting(text, columns) == line


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_line_is_rewritten_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, clock = Screen(), [100.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(shown.time, "monotonic", lambda: clock[0])
    monkeypatch.setenv("COLUMNS", "20")
    with shown.progress() as say:
        assert say is not None
        say("one")
        clock[0] += 65
        say("a line longer than the terminal is wide")
    lines = screen.getvalue().split(CLEAR)
    assert lines == ["", "0:00  one", "1:05  a line longe…", ""]


def test_time_goes_on_while_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(shown, "TICK_S", 0.01)
    with shown.progress() as say:
        assert say is not None
        say("one")
        while screen.getvalue().count("one") < 3:
            pass


def test_nothing_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with shown.progress() as say:
        assert say is None


def lumpy(sites: int = 13, chords: int = 14, demands: int = 28) -> str:
    """Demands much smaller than modules: the relaxation is far from any design, and a proof takes for ever."""
    pick = random.Random(1)
    lines = ["dcplan: 1", "name: Lumpy", "sites:"]
    lines += [f"  s{i}: {{lat: {pick.uniform(30, 45):.2f}, lon: {pick.uniform(-120, -80):.2f}}}" for i in range(sites)]
    joined = {(min(i, (i + 1) % sites), max(i, (i + 1) % sites)) for i in range(sites)}
    while len(joined) < sites + chords:
        joined.add(tuple(sorted(pick.sample(range(sites), 2))))  # type: ignore[arg-type]
    lines.append("circuits:")
    for a, b in sorted(joined):
        usd = pick.randint(10_000, 40_000)
        sizes = f"small: {{gbps: 100, usd: {usd}}}, large: {{gbps: 400, usd: {5 * usd // 2}}}"
        lines.append(f"  c{a}-{b}: {{ends: [s{a}, s{b}], latency_ms: 1, modules: {{{sizes}}}}}")
    asked: dict[tuple[int, ...], int] = {}
    while len(asked) < demands:
        asked[tuple(sorted(pick.sample(range(sites), 2)))] = pick.randint(5, 40)
    lines.append("demands:")
    lines += [f"  d{a}-{b}: {{between: [s{a}, s{b}], gbps: {gbps}}}" for (a, b), gbps in sorted(asked.items())]
    return "\n".join([*lines, "policy: {survive: [any-fiber], solver: {gap: 0, time_limit_s: 600}}"]) + "\n"


def on_a_terminal(args: list[str], until: str, presses: int) -> tuple[int, str]:
    """Run dcplan with stderr on a terminal, press Ctrl-C when it shows some words; exit code and what it showed."""
    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "dcplan", *args], stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen, pressed = "", 0
    while True:
        try:
            read = os.read(master, 1000)
        except OSError:  # the other end is closed
            break
        if not read:
            break
        seen += read.decode("utf-8", "replace")
        if pressed < presses and (until if pressed == 0 else "stopping") in seen:
            process.send_signal(signal.SIGINT)
            pressed += 1
    os.close(master)
    return process.wait(), seen


def test_ctrl_c_gives_the_best_plan_so_far(tmp_path: Path) -> None:
    topology, plan = tmp_path / "lumpy.yaml", tmp_path / "plan.json"
    topology.write_text(lumpy())
    code, seen = on_a_terminal(["plan", str(topology), "-o", str(plan)], "relaxation", 1)
    assert code == 130
    assert "stopping with the best design so far" in seen
    assert seen.endswith("interrupted\r\n")
    assert "Traceback" not in seen
    made = api.open_plan(plan)
    assert made.design.proof.reason == "interrupted"
    assert made.design.proof.status == "feasible"
    assert made.design.proof.gap is not None
    assert made.design.proof.gap > 0
    assert api.verify(api.load(topology), made) == ()


def test_ctrl_c_twice_gives_up(tmp_path: Path) -> None:
    topology, plan = tmp_path / "lumpy.yaml", tmp_path / "plan.json"
    topology.write_text(lumpy())
    code, seen = on_a_terminal(["plan", str(topology), "-o", str(plan)], "relaxation", 2)
    assert code == 130
    assert "Traceback" not in seen
    assert not plan.exists()


def test_ctrl_c_after_the_design_loses_no_plan() -> None:
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        if line == "assessment":
            signal.raise_signal(signal.SIGINT)

    made = api.plan(api.load(Path(__file__).parents[2] / "topologies" / "two-campus.yaml"), progress=tell)
    assert isinstance(made, Plan)
    assert made.design.proof.status == "optimal"
    assert said[-1] == "the design is made, and its plan will be in a moment; Ctrl-C again gives up"
