"""What is handed to another program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exported:
    """Files for another program, and what they cannot say."""

    files: Mapping[str, str]
    """Text by file name."""
    notes: tuple[str, ...]
    """What crosses over in part or not at all, an item each."""
