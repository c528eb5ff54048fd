"""Maps of a GNPy file with the place they stand in, so that what is wrong in one is said with its name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcplan.errors import UsageError
from dcplan.interop.imported import MOST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


MOST_DB = 300.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A map of a GNPy file. An empty text stands for nothing, as in GNPy."""

    data: Mapping[str, Any]
    where: str

    def get(self, key: str) -> Any:
        """The value, none where there is none."""
        value = self.data.get(key)
        return None if isinstance(value, str) and not value else value

    def number(self, key: str) -> float | None:
        """A number, none where there is none; UsageError for anything else."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < MOST:
            raise UsageError(f"{self.where}: `{key}` must be a number, found {json.dumps(value)[:40]}")
        return float(value)

    def need(self, key: str, *, db: bool = False) -> float:
        """A number, with `db` a level; UsageError where there is none."""
        value = self.level(key) if db else self.number(key)
        if value is None:
            raise UsageError(f"{self.where}: `{key}` is missing")
        return value

    def level(self, key: str) -> float | None:
        """A number of dB or dBm, none where there is none; UsageError for anything else or beyond all levels."""
        value = self.number(key)
        if value is not None and abs(value) > MOST_DB:
            raise UsageError(f"{self.where}: `{key}` of {value:g} dB is beyond every level")
        return value

    def positive(self, key: str) -> float | None:
        """A number above zero, none where there is none; UsageError for anything else."""
        value = self.number(key)
        if value is not None and not 0 < value < MOST:
            raise UsageError(f"{self.where}: `{key}` must be above zero, found {value:g}")
        return value

    def numbers(self, key: str) -> list[float]:
        """A list of numbers, empty where there is none; UsageError for anything else."""
        value = self.get(key)
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [Entry({key: item}, self.where).need(key) for item in items]

    def texts(self, key: str) -> list[str]:
        """A list of texts, empty where there is none; UsageError for anything else."""
        value = self.get(key)
        if value is not None and (not isinstance(value, list) or not all(isinstance(item, str) for item in value)):
            raise UsageError(f"{self.where}: `{key}` must be a list of texts")
        return list(value or ())

    def text(self, key: str) -> str:
        """A text, empty where there is none; UsageError for anything else."""
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{self.where}: `{key}` must be text, found {json.dumps(value)[:40]}")
        return value or ""

    def map(self, key: str) -> Entry:
        """A map, empty where there is none; UsageError for anything else."""
        value = self.get(key)
        if value is not None and not isinstance(value, dict):
            raise UsageError(f"{self.where}: `{key}` must be a map, found {json.dumps(value)[:40]}")
        return Entry(value or {}, f"{self.where}: {key}")

    def list(self, key: str) -> Iterator[Entry]:
        """A list of maps, empty where there is none; UsageError for anything else."""
        value = self.get(key)
        if value is not None and (not isinstance(value, list) or not all(isinstance(item, dict) for item in value)):
            raise UsageError(f"{self.where}: `{key}` must be a list of maps")
        for number, item in enumerate(value or [], 1):
            name = next((item[one] for one in ("uid", "type_variety", "format") if isinstance(item.get(one), str)), "")
            yield Entry(item, f"{self.where}: {name or f'{key} {number}'}")


def read(path: Path, key: str) -> Entry:
    """A GNPy file in its plain JSON form, which must have `key` at its top. UsageError when it is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: is no JSON: {error}") from error
    if isinstance(data, dict) and any(isinstance(name, str) and name.startswith("gnpy-") for name in data):
        hint = f"gnpy-convert-yang --yang-to-legacy {path.name} writes the plain form"
        raise UsageError(f"{path}: is in GNPy's YANG form: {hint}")
    if not isinstance(data, dict) or key not in data:
        raise UsageError(f"{path}: is no GNPy file: it has no `{key}`")
    return Entry(data, path.name)
