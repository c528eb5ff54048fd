"""What the types refuse, in our own sentences: one finding per fault, with subject, value, expectation and hint."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dcplan.diagnostics import Finding, nearest
from dcplan.model import jsonschema
from dcplan.model.rules import schema as rules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pydantic_core import ErrorDetails

    from dcplan.diagnostics import Rule
    from dcplan.model.source import Document, Loc

LARGEST = 10**18
"""No quantity of a topology comes near it, and sums of larger ones lose their meaning."""
_TYPES = {
    "float": "a number", "int": "a whole number", "string": "text", "bool": "true or false", "list": "a list",
    "tuple": "a list", "dict": "a map", "model": "a map",
}  # fmt: skip
_SECTIONS = {
    "sites": "site", "fibers": "fiber", "jobs": "job", "demands": "demand", "plans": "plan", "modes": "mode",
    "transponders": "transponder", "amplifiers": "amplifier", "accelerators": "accelerators", "models": "model",
    "equipment": "equipment", "appliances": "appliance",
}  # fmt: skip
_SURE = 0.8
"""Likeness of two keys above which the one is taken for a misspelling of the other."""


def not_finite(document: Document) -> tuple[dict[Loc, Finding], Any]:
    """Findings for numbers that are infinite, not numbers or absurdly large, and the data with 0 in their place."""
    found: dict[Loc, Finding] = {}

    def clean(value: Any, path: Loc) -> Any:
        if isinstance(value, dict):
            return {key: clean(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [clean(item, (*path, i)) for i, item in enumerate(value)]
        if isinstance(value, (int, float)) and not abs(value) <= LARGEST:  # not a number fails each comparison
            what = "must be a number below 10^18" if isinstance(value, int) else "must be a finite number below 10^18"
            message = f"{subject(path)} {what}, found {shown(value)}"
            found[path] = Finding(rules.NOT_FINITE, document.locate(path), message)
            return 0
        return value

    return found, clean(document.data, ())


def findings(document: Document, errors: Iterable[ErrorDetails], told: Collection[Loc]) -> list[Finding]:
    """One finding per error of pydantic; several that come from one value of a union are one. `told` is left out."""
    plain: list[tuple[Loc, ErrorDetails]] = []
    unions: dict[Loc, list[tuple[Loc, str, ErrorDetails]]] = {}
    for error in errors:
        path, tag = _resolve(document.data, error)
        if tag is None:
            plain.append((path, error))
        else:
            unions.setdefault(path[: error["loc"].index(tag)], []).append((path, tag, error))
    found: list[Finding] = []
    for base, branch_errors in unions.items():
        kept = [(path, error) for path, tag, error in branch_errors if _meant(_value(document.data, base), tag, error)]
        plain += kept
        if not kept and base not in told:
            found.append(_no_alternative(document, base))
    missed = _misspelt(document, plain)
    found += [
        _finding(document, path, error)
        for path, error in plain
        if path not in told and not (error["type"] == "missing" and path in missed)
    ]
    return found


def _resolve(data: Any, error: ErrorDetails) -> tuple[Loc, str | None]:
    """The path in the file that an error is about, and the tag of the union's alternative if it came from one."""
    path: Loc = ()
    tag: str | None = None
    value = data
    for i, part in enumerate(error["loc"]):
        last = i == len(error["loc"]) - 1
        if part in _parts(value):
            value = value[part]
        elif part == "[key]":
            continue
        elif not (last and error["type"] == "missing"):
            tag = tag or str(part)
            continue
        path = (*path, part)
    return path, tag


def _parts(value: Any) -> Collection[str | int]:
    """The keys or numbers under which a value has members."""
    return value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()


def _meant(value: Any, tag: str, error: ErrorDetails) -> bool:
    """Whether an error belongs to the alternative of a union that the value was meant for."""
    if isinstance(value, dict):
        return tag.startswith("dict[")
    return not tag.startswith("dict[") and not error["type"].endswith(("_type", "literal_error"))


def _no_alternative(document: Document, path: Loc) -> Finding:
    value = _value(document.data, path)
    expected = " or ".join(_expected(node) for node in jsonschema.nodes(path))
    words = [word for node in jsonschema.nodes(path) for word in _choices(node)]
    near = nearest(value, words) if isinstance(value, str) else None
    hint = f"did you mean `{near}`?" if near else _about(path)
    message = f"{subject(path)} must be {expected}, found {shown(value)}"
    rule = rules.WRONG_CHOICE if words and isinstance(value, str) else rules.WRONG_TYPE
    return Finding(rule, document.locate(path), message, hint)


def _choices(node: dict[str, Any]) -> list[str]:
    """The words that an alternative of a union allows; none where it allows more than words."""
    return [node["const"]] if "const" in node else list(node.get("enum", ()))


def _expected(node: dict[str, Any]) -> str:
    if words := _choices(node):
        return ", ".join(f"`{word}`" for word in words)
    return {"integer": "a whole number", "object": "a map", "number": "a number"}.get(node.get("type", ""), "text")


def _misspelt(document: Document, plain: list[tuple[Loc, ErrorDetails]]) -> frozenset[Loc]:
    """Missing keys that stand there misspelt: the unknown key is the fault, and one finding is enough."""
    missing = {path for path, error in plain if error["type"] == "missing"}
    found = set()
    for path, error in plain:
        if error["type"] == "extra_forbidden":
            near = nearest(str(path[-1]), jsonschema.keys(path[:-1]))
            if near is not None and (*path[:-1], near) in missing:
                found.add((*path[:-1], near))
    return frozenset(found)


def _finding(document: Document, path: Loc, error: ErrorDetails) -> Finding:
    kind, value = error["type"], _value(document.data, path)
    context = error.get("ctx", {})
    if path == ("dcplan",):
        return _version(document, kind, value)
    if kind == "missing":
        return Finding(
            rules.MISSING_KEY,
            document.locate(path[:-1], of_key=True),
            f"{_prefix(path[:-1])}`{path[-1]}` is missing",
            _about(path),
        )
    if kind == "extra_forbidden":
        return _unknown(document, path)
    if kind == "value_error":
        return _contradiction(document, path, str(context["error"]))
    if error["loc"][-1] == "[key]":
        message = f"{_prefix(path[:-1])}a name must have 1 to 80 characters, found {shown(path[-1])}"
        return Finding(rules.WRONG_SIZE, document.locate(path, of_key=True), message)
    rule, expected, hint = _refusal(path, kind, context, value)
    message = f"{subject(path)} {expected}, found {shown(value)}"
    return Finding(rule, document.locate(path), message, hint or _about(path))


def _version(document: Document, kind: str, value: Any) -> Finding:
    if kind == "missing":
        span = document.locate(("dcplan",), of_key=True)
        hint = "put `dcplan: 1`, the version of the file format, at the top"
        return Finding(rules.MISSING_KEY, span, "`dcplan` is missing", hint)
    message = f"`dcplan` must be 1, the version of the file format, found {shown(value)}"
    hint = "write 1 without quotes" if value == "1" else "this dcplan reads version 1"
    return Finding(rules.VERSION, document.locate(("dcplan",)), message, hint)


def _refusal(path: Loc, kind: str, context: dict[str, Any], value: Any) -> tuple[Rule, str, str | None]:
    """Rule, what was expected, and a hint where the fault is a common one."""
    if kind.endswith("_type") or kind == "int_from_float":
        expected = _TYPES.get(kind.removesuffix("_type"), "a whole number")
        return rules.WRONG_TYPE, f"must be {expected}", _habit(expected, value, path)
    if kind == "literal_error":
        words = [str(word) for node in jsonschema.nodes(path) for word in node.get("enum", [node.get("const")])]
        near = nearest(str(value), words)
        return rules.WRONG_CHOICE, f"must be {_either(words)}", f"did you mean `{near}`?" if near else None
    if kind.startswith(("greater", "less")):
        return rules.OUT_OF_RANGE, f"must be {_range(path)}", None
    if kind.startswith("string_too"):
        return rules.WRONG_SIZE, "must have 1 to 80 characters", None
    if kind in {"too_short", "too_long"}:
        least, most = context.get("min_length"), context.get("max_length")
        expected = f"needs at least {least}" if kind == "too_short" else f"takes at most {most}"
        return rules.WRONG_SIZE, f"{expected} {'entry' if 1 in (least, most) else 'entries'}", None
    return rules.WRONG_TYPE, "cannot be read", None


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _range(path: Loc) -> str:
    """The allowed range of a number, from the schema."""
    bounds: dict[str, Any] = {}
    for node in jsonschema.nodes(path):
        bounds |= node
    least, most = bounds.get("minimum"), bounds.get("maximum")
    over, under = bounds.get("exclusiveMinimum"), bounds.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f"from {least:g} to {most:g}"
    low = f"at least {least:g}" if least is not None else f"greater than {over:g}" if over is not None else ""
    high = f"at most {most:g}" if most is not None else f"less than {under:g}" if under is not None else ""
    return " and ".join(part for part in (low, high) if part)


def _habit(expected: str, value: Any, path: Loc) -> str | None:
    """A hint for what people write out of habit from other tools."""
    if isinstance(value, str) and "number" in expected:
        if _is_number(value):
            return "write the number without quotes"
        if _is_number(value.split()[0] if value.split() else ""):
            return "write the number alone: the unit is in the name of the key"
    if expected == "true or false" and isinstance(value, str) and value.lower() in {"yes", "no", "on", "off"}:
        return f"write {'true' if value.lower() in {'yes', 'on'} else 'false'}"
    if expected == "text" and isinstance(value, (int, float, bool)):
        return "put it in quotes"
    if expected == "a list" and isinstance(value, str):
        return f"write [{value}]"
    if value is None:
        return f"give it a value or leave `{path[-1]}` out" if path else None
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unknown(document: Document, path: Loc) -> Finding:
    key, around = str(path[-1]), path[:-1]
    known = jsonschema.keys(around)
    near = nearest(key, known)
    home = _home(key, around)
    span = document.locate(path, of_key=True)
    sure = near is not None and SequenceMatcher(None, key.casefold(), near.casefold()).ratio() >= _SURE
    if home is not None and not sure:
        message = f"{_prefix(around)}`{key}` does not belong here"
        return Finding(rules.MISPLACED_KEY, span, message, f"it belongs in {home}")
    hint = f"did you mean `{near}`?" if near else _far(key) or f"known here: {', '.join(known)}"
    return Finding(rules.UNKNOWN_KEY, span, f"{_prefix(around)}there is no key `{key}`", hint)


def _home(key: str, around: Loc) -> str | None:
    """The section that a key belongs in, the one nearest to where it stands."""
    places = jsonschema.homes().get(key)
    if not places:
        return None
    here = [str(part) for part in around]

    def distance(place: str) -> tuple[int, int]:
        there = place.split(".") if place else []
        same = 0
        for mine, other in zip(here, there, strict=False):
            if other not in (mine, "NAME"):
                break
            same += 1
        return (-same, len(there))

    best = min(places, key=distance)
    return f"`{best}`" if best else "the top level of the file"


def _far(key: str) -> str | None:
    near = nearest(key, jsonschema.homes())
    if near is None:
        return None
    place = jsonschema.homes()[near][0]
    return f"did you mean `{place}.{near}`?" if place else f"did you mean `{near}`, at the top level?"


def _contradiction(document: Document, path: Loc, reason: str) -> Finding:
    value = _value(document.data, path)
    hint = None
    if reason.endswith("give either length_km or spans") and isinstance(value, dict):
        both = value.get("length_km") is not None
        hint = "it has both: remove the one that is not measured" if both else "it has neither"
    return Finding(rules.CONTRADICTION, document.locate(path, of_key=True), f"{_prefix(path)}{reason}", hint)


def _about(path: Loc) -> str | None:
    """What the schema says about the key at a path, for a reader who does not know it."""
    if not path or path[-1] not in jsonschema.keys(path[:-1]):
        return None
    texts = [node["description"] for node in jsonschema.nodes(path) if "description" in node]
    return f"`{path[-1]}`: {' '.join(texts[0].split())}" if texts else None


def subject(path: Loc) -> str:
    """A path of the file in words: fiber `a-b`: span 1: `length_km`."""
    return ": ".join(_words(path)) or "the file"


def _prefix(path: Loc) -> str:
    words = list(_words(path))
    return ": ".join(words) + ": " if words else ""


def _words(path: Loc) -> Iterator[str]:
    parts = [part for i, part in enumerate(path) if not (i == 0 and part == "gear" and len(path) > 1)]
    named = False
    for part, after in pairwise([*parts, None]):
        if named:
            named = False
        elif part in _SECTIONS and isinstance(after, str):
            place = " at" if part == "accelerators" and parts[0] == "jobs" else ""
            yield f"{_SECTIONS[str(part)]}{place} `{after}`"
            named = True
        elif isinstance(part, int):
            yield f"number {part + 1}"
        else:
            yield f"`{part}`"


def shown(value: Any) -> str:
    """A value of the file in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text `{value}`" if len(value) <= 60 else f"the text `{value[:57]}…`"
    if isinstance(value, (list, dict)):
        kind = "list" if isinstance(value, list) else "map"
        return f"a {kind} of {len(value)}" if value else f"an empty {kind}"
    return str(value) if abs(value) <= LARGEST or isinstance(value, float) else "a larger one"


def _value(data: Any, path: Loc) -> Any:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data
