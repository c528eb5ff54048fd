"""Shared by all tests: golden files, rewritten by `pytest --update`; drawn examples, the same in every run.

`HYPOTHESIS_PROFILE=wide` draws others each time.
"""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

gc.set_threshold(100_000)  # as in the program: else a twentieth of the time goes into looking for garbage

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("wide", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write golden files anew in place of comparing with them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: the text is that of `golden/<name>` beside the test file."""

    def check(name: str, text: str) -> None:
        file = Path(request.path).parent / "golden" / name
        if request.config.getoption("--update"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        assert file.is_file(), f"{file.name} is not there: pytest --update writes it"
        assert text == file.read_text(encoding="utf-8"), f"{file.name} differs: look, then pytest --update"

    return check


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where tests run in the background and it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
