"""The README tells the truth: its commands run, its example plans, its Python works, its tables list what there is."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dcplan.cli.app import COMMANDS, run
from tests.readme_blocks import BLOCKS, block

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Fenced blocks of one language."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [text for said, text in fences if said == language]


def commands() -> list[str]:
    """Every line of the README's shell blocks that calls dcplan, without its comment."""
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("dcplan ")]
    return [re.sub(r"\s+#.*", "", line) for line in lines]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that looks like a fresh clone to the command line."""
    shutil.copytree(ROOT / "topologies", tmp_path / "topologies")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_runs_as_written(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(commands()) >= 4
    for command in commands():
        code = run(command.split()[1:])
        assert code == 0, (command, capsys.readouterr())


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_example_file_plans(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = checkout / "example.yaml"
    example.write_text(next(block for block in blocks("yaml") if "dcplan: 1" in block), encoding="utf-8")
    assert run(["plan", str(example)]) == 0, capsys.readouterr()


def test_the_python_example_runs(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile("\n".join(blocks("python")), "README.md", "exec"), {})  # noqa: S102
    assert "optimal" in capsys.readouterr().out


def test_the_table_lists_every_command() -> None:
    table = README[README.index("<!-- commands -->") : README.index("<!-- end of commands -->")]
    assert set(re.findall(r"`([a-z]+) [A-Z\[]", table)) | {"schema"} == set(COMMANDS)


def test_no_line_is_too_wide_for_the_reader() -> None:
    assert max(len(line) for line in README.splitlines() if not line.startswith("|")) <= 120


@pytest.mark.parametrize("name", BLOCKS)
def test_what_is_quoted_is_what_comes_out(name: str) -> None:
    assert block(README, name) == f"<!-- {name} -->\n{BLOCKS[name]()}", "make readme"
