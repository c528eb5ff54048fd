"""Files of other programs, read and written: what crosses over, and, item by item, what cannot."""

from __future__ import annotations

from dcplan.diagnostics import did_you_mean
from dcplan.errors import UsageError

FORMS = ("gnpy",)
"""Formats of other programs that dcplan reads and writes."""


def check_form(form: str) -> None:
    """UsageError for a format that is not there."""
    if form not in FORMS:
        raise UsageError(f"there is no format `{form}`: {did_you_mean(form, FORMS, f'there is {FORMS[0]}')}")
