"""One line of progress on a terminal, rewritten in place, with the time that has passed; nothing in a pipe."""

from __future__ import annotations

import shutil
import sys
import threading
import time
import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dcplan.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

TICK_S = 1.0
"""How often the time is rewritten while nothing new is said [s]."""
CLEAR = "\r\033[K"


@contextmanager
def progress() -> Iterator[Callable[[str], None] | None]:
    """Something to say what is being done with, on stderr where that is a terminal; else nothing."""
    if not terminal.is_terminal(sys.stderr):
        yield None
        return
    line = _Line(sys.stderr)
    try:
        yield line.say
    finally:
        line.end()


class _Line:
    """The line: what was said last, and since when all goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun_s = time.monotonic()
        self._said = ""
        self._lock = threading.RLock()  # a signal handler may say something while something is being said
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def say(self, words: str) -> None:
        """Show a line in place of the last."""
        with self._lock:
            self._said = words
            self._draw()

    def end(self) -> None:
        """Leave the terminal as if nothing had been said."""
        self._ended.set()
        self._ticker.join()
        with self._lock:
            self._write(CLEAR)

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            with self._lock:
                if not self._ended.is_set():
                    self._draw()

    def _draw(self) -> None:
        columns = shutil.get_terminal_size((terminal.WIDTH_IN_A_PIPE, 24)).columns
        seconds = int(time.monotonic() - self._begun_s)
        self._write(CLEAR + fitting(f"{seconds // 60}:{seconds % 60:02}  {self._said}", columns - 1))

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._ended.set()  # nobody looks any more


def fitting(text: str, columns: int) -> str:
    """The text on one line of so many columns, cut with `…`; what cannot be printed becomes `?`."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in text)
    widths = [_columns(letter) for letter in clean]
    if sum(widths) <= columns:
        return clean
    taken, used = 0, 1
    while taken < len(clean) and used + widths[taken] <= columns:
        used += widths[taken]
        taken += 1
    return clean[:taken] + "…" if columns > 0 else ""


def _columns(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
