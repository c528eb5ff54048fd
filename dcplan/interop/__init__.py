"""Files of other programs, read and written: what crosses over, and, item by item, what cannot."""

from __future__ import annotations

from dcplan.diagnostics import did_you_mean
from dcplan.errors import UsageError

IMPORTS = ("gnpy", "sndlib", "topohub")
"""Formats of other programs that dcplan reads."""
EXPORTS = ("gnpy", "mps", "lp")
"""Formats of other programs that dcplan writes: GNPy's files, and programs for solvers."""


def check_form(form: str, forms: tuple[str, ...]) -> None:
    """UsageError for a format that is not among those that there are."""
    if form not in forms:
        raise UsageError(f"there is no format `{form}`: {did_you_mean(form, forms, f'there is {", ".join(forms)}')}")
