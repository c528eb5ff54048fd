"""From a file to a network: read, schema, names, rules. Each phase gates the next, and tells all its faults at once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from dcplan.catalog.load import KINDS, Catalog
from dcplan.diagnostics import Finding, Severity
from dcplan.model import faults
from dcplan.model.network import Network
from dcplan.model.rules import names, reading, registry
from dcplan.model.rules.schema import NOT_A_MAP, WRONG_TYPE
from dcplan.model.schema import Topology
from dcplan.model.source import read

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dcplan.model.source import Document


def check_file(path: Path, shown: str | None = None) -> tuple[Network | None, list[Finding]]:
    """The network of a file, and what is wrong with it; no network if it cannot be read, parsed or resolved.

    shown: how messages name the file. UsageError when it cannot be opened or is not UTF-8.
    """
    document = read(path, shown)
    network, found = load_document(document)
    return network, with_snippets(document, found)


def load_document(document: Document) -> tuple[Network | None, list[Finding]]:
    """The same for a document that has been read."""
    found = reading.check(document)
    if found:
        return None, found
    topology, found = _typed(document)
    if topology is None:
        return None, found
    gear = topology.gear
    own = {kind: getattr(gear, kind) for kind in KINDS if hasattr(gear, kind)}
    network = Network(topology, Catalog.with_own(own), document)
    found = names.check(network)
    if any(finding.severity is Severity.ERROR for finding in found):
        return None, found
    return network, found + registry.check(network)


def _typed(document: Document) -> tuple[Topology | None, list[Finding]]:
    """The document as types; keys at its top that start with `x-` are free and left out."""
    if not isinstance(document.data, dict):
        message = f"a topology is a map, found {faults.shown(document.data)}"
        return None, [Finding(NOT_A_MAP, document.locate(()), message, "`dcplan init FILE` writes a first one")]
    document.data = {key: value for key, value in document.data.items() if not key.startswith("x-")}
    told, data = faults.not_finite(document)
    found = list(told.values())
    try:
        topology = Topology.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        if details[0]["type"] == "json_invalid":
            return None, [Finding(WRONG_TYPE, document.locate(()), "the file is nested too deeply")]
        return None, found + faults.findings(document, details, told)
    return (None, found) if found else (topology, [])


def with_snippets(document: Document, found: Iterable[Finding]) -> list[Finding]:
    """The findings with the line that each stands in, so that a report needs no file."""
    lines = {file: text.splitlines() for file, text in document.texts.items()}

    def line(finding: Finding) -> str:
        of_file = lines.get(finding.span.file, [])
        return of_file[finding.span.line - 1] if finding.span.line <= len(of_file) else ""

    return [replace(finding, snippet=line(finding)) for finding in found]
