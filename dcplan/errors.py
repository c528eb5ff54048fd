"""What can go wrong, as types. The command line turns each into an exit code; nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class DcplanError(Exception):
    """The base of every error that dcplan raises on purpose; its text is fit for a person."""


class UsageError(DcplanError):
    """The question could not be understood: a missing file, an unknown name on the command line."""


class InputError(DcplanError):
    """A topology file has findings that forbid planning; all of them are in `findings`."""

    def __init__(self, findings: Sequence[object]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class SolverError(DcplanError):
    """The solver is not installed, or gave no answer that can be trusted."""


class NothingYetError(SolverError):
    """A limit ended the search before it had any answer."""


class StoppedError(DcplanError):
    """Someone stopped the work before there was any answer."""
