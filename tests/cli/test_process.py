"""What only a process of its own can show: what is loaded, what goes to which descriptor, a reader that leaves."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dcplan.cli import terminal
from dcplan.errors import UsageError

HEAVY = {"numpy", "pydantic", "networkx", "pulp", "highspy", "yaml", "rich", "xlsxwriter"}


def python(code: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60, **more
    )


@pytest.mark.parametrize("args", [["--help"], ["--version"], []])
def test_help_and_version_load_nothing_heavy(args: list[str]) -> None:
    code = f"import sys; from dcplan.cli.app import run; run({args}); print('LOADED', *sys.modules)"
    loaded = set(python(code).stdout.rpartition("LOADED")[2].split())
    assert "dcplan.cli.app" in loaded
    assert not loaded & HEAVY


def test_writing_to_descriptor_1_never_reaches_stdout() -> None:
    code = (
        "import os, sys; from dcplan.cli import terminal; terminal.keep_stdout();"
        "os.write(1, b'banner\\n'); terminal.emit('data é'); os.write(1, b'banner\\n')"
    )
    done = python(code, encoding="utf-8")
    assert done.stdout == "data é\n"
    assert done.stderr == ""


def test_python_m_dcplan() -> None:
    done = subprocess.run([sys.executable, "-m", "dcplan", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("dcplan ")


@pytest.mark.parametrize("args", [["catalog", "--format", "json"], ["--help"]])
def test_a_reader_that_leaves_is_no_error(args: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "dcplan", *args], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_stdout_is_said() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dcplan", "schema", "topology"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"dcplan: stdout: cannot be written: No space left on device\n"


def test_closed_stdout_is_no_traceback() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"'{sys.executable}' -m dcplan --version >&-"], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_emit_writes_whole_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.txt"
    terminal.emit("one", target)
    assert target.read_text() == "one\n"
    with pytest.raises(UsageError, match="--force"):
        terminal.emit("two", target)
    target.chmod(0o640)
    terminal.emit("two\n", target, force=True)
    assert target.read_text() == "two\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UsageError, match="No space left"):
        terminal.emit("three", target, force=True)
    assert target.read_text() == "two\n"
    assert [file.name for file in tmp_path.iterdir()] == ["out.txt"]


def test_emit_follows_links_and_writes_to_devices(tmp_path: Path) -> None:
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    terminal.emit("new", link, force=True)
    assert link.is_symlink()
    assert target.read_text() == "new\n"
    terminal.emit("gone", Path(os.devnull))


def test_emit_to_a_missing_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        terminal.emit("x", tmp_path / "missing" / "out.txt")


def test_what_cannot_be_written_is_said_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dcplan.cli.app import run

    there = tmp_path / "there.lp"
    there.write_text("old")
    for command, output, said in (
        (["plan"], tmp_path, "Is a directory"),
        (["plan"], tmp_path / "missing" / "plan.json", "No such file or directory"),
        (["plan"], there / "plan.json", "Not a directory"),
        (["export", "lp"], there, "--force overwrites it"),
    ):
        assert run([*command, str(tmp_path / "no-topology.yaml"), "-o", str(output)]) == 2
        told = capsys.readouterr().err
        assert str(output) in told
        assert said in told
    assert [file.name for file in tmp_path.iterdir()] == ["there.lp"]
