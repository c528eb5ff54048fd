"""Streams: data goes to stdout or, whole or not at all, to a file; everything else goes to stderr."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from errno import EISDIR
from pathlib import Path
from typing import TYPE_CHECKING

from dcplan.cli.codes import READER_GONE
from dcplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

WIDTH_IN_A_PIPE = 80
WIDEST = 160


def keep_stdout() -> None:
    """Keep stdout for our own text and drop what else writes to descriptor 1.

    Solvers print a banner from C++ to descriptor 1 whatever they are told; it must never mix with data.
    """
    try:
        own = os.dup(1)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    except OSError:
        return  # stdout is closed: there is nothing to keep apart
    encoding = "utf-8" if not os.isatty(own) or sys.stdout is None else sys.stdout.encoding
    sys.stdout = os.fdopen(own, "w", encoding=encoding, errors="replace", newline="\n")


def emit(text: str, output: Path | None = None, *, force: bool = False) -> None:
    """Write a result: to `output` at once and whole, or to stdout for None and `-`.

    UsageError when the file exists and `force` is not given, or when it cannot be written.
    """
    text = text if text.endswith("\n") or not text else text + "\n"
    if output is None or str(output) == "-":
        if sys.stdout is None:
            raise UsageError("stdout is closed: -o writes to a file")
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            leave_quietly()  # what is left in the buffer would fail once more at exit
            raise UsageError(f"stdout: cannot be written: {error.strerror or error}") from error
        return
    try:
        _write(text, output, force=force)
    except OSError as error:
        raise UsageError(f"{output}: cannot be written: {error.strerror or error}") from error


def emit_all(files: Mapping[str, str], folder: Path, *, force: bool = False) -> None:
    """Write texts by name into a folder, which is made if it is not there: all, or none where one is in the way.

    UsageError when a file exists and `force` is not given, or when the folder cannot be written.
    """
    there = [name for name in files if (folder / name).exists()]
    if there and not force:
        raise UsageError(f"{folder / there[0]} exists: --force overwrites it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    for name, text in files.items():
        emit(text, folder / name, force=force)


def ready(output: Path | None, *, force: bool = False) -> None:
    """Before long work: UsageError where `emit` could not write its result there."""
    if output is None or str(output) == "-":
        return
    target = output.resolve()
    if target.is_file() and not force:
        raise UsageError(f"{output} exists: --force overwrites it")
    try:
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not target.exists() or target.is_file():
            tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise UsageError(f"{output}: cannot be written: {error.strerror or error}") from error


def _write(text: str, output: Path, *, force: bool) -> None:
    target = output.resolve()  # a symbolic link stays one
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8", newline="\n")  # a pipe or /dev/null cannot be replaced
        return
    if target.exists() and not force:
        raise UsageError(f"{output} exists: --force overwrites it")
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced; for a new one, what the user's mask leaves."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def say(message: str) -> None:
    """A line for the person at the terminal: to stderr."""
    if sys.stderr is not None:
        sys.stderr.write(message + "\n")
        sys.stderr.flush()


def colour(stream: TextIO | None = None) -> bool:
    """Whether to colour: NO_COLOR forbids, else FORCE_COLOR asks for it, else only on a terminal that can."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream, stdout if none is given, is a terminal."""
    stream = stream or sys.stdout
    return stream is not None and not stream.closed and stream.isatty()


def width() -> int:
    """Columns to draw in: those of the terminal, or COLUMNS where it is set, up to 160; else 80 in a pipe."""
    if not is_terminal() and "COLUMNS" not in os.environ:
        return WIDTH_IN_A_PIPE
    return min(WIDEST, shutil.get_terminal_size((WIDTH_IN_A_PIPE, 24)).columns)


def leave_quietly() -> int:
    """After the reader of stdout left: nothing more is written, not even at exit. Returns the exit code."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  must outlive this function
    finally:
        os.close(devnull)
    return READER_GONE
