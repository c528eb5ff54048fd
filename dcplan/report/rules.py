"""Rules for people and programs: what `dcplan explain` shows."""

from __future__ import annotations

import json as jsonlib
import textwrap
from difflib import ndiff
from typing import TYPE_CHECKING

from dcplan.report.constants import data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dcplan.diagnostics import Rule
    from dcplan.optics.constants import Explained

FORMAT = 1
"""Version of the json."""
WIDTH = 80
PHASES = {
    "0": "reading the file",
    "1": "the schema of the file",
    "2": "names",
    "3": "the network",
    "4": "training jobs",
    "5": "optics",
}
"""First digit of a code -> what the rules check, in the order in which they do."""


def listing(rules: Sequence[Rule]) -> str:
    """All rules, a line each, under the phase they belong to."""
    lines: list[str] = []
    phase = ""
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        if rule.code[3] != phase:
            phase = rule.code[3]
            lines += ["", f"{rule.code[:4]}xx {PHASES[phase]}"]
        lines.append(f"  {rule.code}  {rule.name:<{width}}  {rule.severity}")
    return "\n".join(lines[1:]) + "\n"


def text(rule: Rule) -> str:
    """One rule: why it is one, a file that breaks it and one that does not, with the lines that differ marked."""
    bad, good = _marked(rule)
    parts = [
        f"{rule.code} {rule.name} ({rule.severity})",
        textwrap.fill(rule.why, WIDTH),
        f"Bad:\n{bad}",
        f"Good:\n{good}",
    ]
    return "\n\n".join(parts) + "\n"


def _marked(rule: Rule) -> tuple[str, str]:
    """Both examples; `-` marks what is only in the bad one, `+` what is only in the good one."""
    lines = [line for line in ndiff(rule.bad.splitlines(), rule.good.splitlines()) if not line.startswith("?")]
    bad = "\n".join(line.rstrip() for line in lines if line[0] != "+")
    good = "\n".join(line.rstrip() for line in lines if line[0] != "-")
    return bad, good


def json(rules: Iterable[Rule], constants: Sequence[Explained] = ()) -> str:
    """Rules and constants as JSON: format, rules, constants."""
    rows = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": str(rule.severity),
            "why": rule.why,
            "bad": rule.bad,
            "good": rule.good,
        }
        for rule in rules
    ]
    shown = {"format": FORMAT, "rules": rows, "constants": [data(constant) for constant in constants]}
    return jsonlib.dumps(shown, indent=1, ensure_ascii=False) + "\n"
