"""The functions behind the commands and the notebook: on immutable values, no printing, no exit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcplan.diagnostics import Severity
from dcplan.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dcplan.catalog.parts import Part
    from dcplan.diagnostics import Finding, Rule
    from dcplan.model.network import Network

SUFFIXES = (".yaml", ".yml")


def all_rules() -> tuple[Rule, ...]:
    """Every rule that `check` applies, by code."""
    from dcplan.model.rules.registry import RULES

    return tuple(sorted(RULES, key=lambda rule: rule.code))


def topology_files(paths: Iterable[Path]) -> list[Path]:
    """The files meant by paths: a directory means every .yaml and .yml file below it, sorted, none twice.

    UsageError for a path that is not there, or a directory without such files.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
            if not below:
                raise UsageError(f"{path} holds no topology file (*.yaml, *.yml)")
            files += below
        elif path.exists():
            files.append(path)
        else:
            raise UsageError(f"{path}: there is no such file")
    return list(dict.fromkeys(files))


def check(paths: Sequence[Path]) -> list[Finding]:
    """All findings of topology files, sorted; directories mean the files below them.

    UsageError when a file cannot be opened or is not UTF-8.
    """
    found = [finding for file in topology_files(paths) for finding in _checked(file)[1]]
    return sorted(dict.fromkeys(found), key=lambda finding: finding.order)


def load(path: Path) -> Network:
    """The network of a topology file. InputError with all findings when one is an error; UsageError as in `check`."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    network, found = _checked(path)
    if network is None or any(finding.severity is Severity.ERROR for finding in found):
        found.sort(key=lambda finding: finding.order)
        raise InputError(found)
    return network


def _checked(path: Path) -> tuple[Network | None, list[Finding]]:
    """The network of a file with every finding that no comment in it silences."""
    from dcplan.model.ignore import apply
    from dcplan.model.load import check_file, with_snippets

    network, found = check_file(path)
    if network is None:
        return None, found
    found = apply(network.document, found, all_rules())
    return network, with_snippets(network.document, found)


def schema(what: str) -> dict[str, Any]:
    """The JSON Schema of a `topology` or a `plan` file. UsageError for anything else."""
    if what == "topology":
        from dcplan.model.jsonschema import json_schema
    elif what == "plan":
        from dcplan.planfile import json_schema
    else:
        raise UsageError(f"there is no schema of `{what}`: ask for topology or plan")
    return json_schema()


def catalog(kind: str | None = None, name: str | None = None) -> dict[str, dict[str, Part]]:
    """Shipped parts by kind and id: all, those of one kind, or one. UsageError for a kind or id that is not there."""
    from dcplan.catalog.load import KINDS, shipped
    from dcplan.diagnostics import did_you_mean

    if kind is None:
        return {each: dict(shipped(each)) for each in KINDS}
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, f"kinds are {', '.join(KINDS)}")
        raise UsageError(f"the catalog has no kind `{kind}`: {hint}")
    parts = dict(shipped(kind))
    if name is None:
        return {kind: parts}
    if name not in parts:
        hint = did_you_mean(name, parts, f"`dcplan catalog {kind}` lists all")
        raise UsageError(f"there is no `{name}` among {kind}: {hint}")
    return {kind: {name: parts[name]}}
