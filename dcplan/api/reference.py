"""What dcplan brings along: its rules, its constants, the catalog of parts, the schemas of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcplan.errors import UsageError

if TYPE_CHECKING:
    from dcplan.catalog.parts import Part
    from dcplan.diagnostics import Rule
    from dcplan.optics.constants import Explained


def all_rules() -> tuple[Rule, ...]:
    """Every rule that `check` applies, by code."""
    from dcplan.model.rules.registry import RULES
    from dcplan.optics.rules import RULES as OPTICS
    from dcplan.training.rules import RULES as TRAINING

    return tuple(sorted((*RULES, *TRAINING, *OPTICS), key=lambda rule: rule.code))


def all_constants() -> tuple[Explained, ...]:
    """Every named constant and formula, in the order of their list."""
    from dcplan.optics.constants import CONSTANTS, explained

    return tuple(explained(constant) for constant in CONSTANTS)


def parts_called(name: str) -> dict[str, dict[str, Part]]:
    """Shipped parts with an id, by kind; nothing where no kind has it."""
    from dcplan.catalog.load import KINDS, shipped

    found = {kind: {part: about for part, about in shipped(kind).items() if part == name.casefold()} for kind in KINDS}
    return {kind: parts for kind, parts in found.items() if parts}


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
