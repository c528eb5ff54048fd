"""Codes 1xx: what the schema of the file says. `dcplan.model.faults` finds them; here is why they matter."""

from __future__ import annotations

from dcplan.diagnostics import Rule, Severity
from dcplan.model.rules.examples import GOOD, WITH_JOB, adding, with_change

NOT_A_MAP = Rule(
    "DCP101",
    "not-a-topology",
    Severity.ERROR,
    "A topology file is one map with the keys dcplan, name, sites, fibers, jobs, demands, gear, policy.",
    "- papillion\n- lincoln\n",
    GOOD,
)
UNKNOWN_KEY = Rule(
    "DCP102",
    "unknown-key",
    Severity.ERROR,
    "A key that dcplan does not know would have no effect, and most often it is a known one misspelt."
    " Keys at the top level that start with `x-` are free, for anchors.",
    with_change("length_km: 58", "lenght_km: 58"),
    GOOD,
)
MISSING_KEY = Rule(
    "DCP103",
    "missing-key",
    Severity.ERROR,
    "Something without which nothing can be said: dcplan has no default for it.",
    with_change("type: g652d, ", ""),
    GOOD,
)
WRONG_TYPE = Rule(
    "DCP104",
    "wrong-type",
    Severity.ERROR,
    "Text where a number belongs, a number where a map belongs. Nothing is converted in silence: numbers carry no"
    " quotes and no unit (the unit is in the key), and yes and no are text in YAML 1.2.",
    with_change("length_km: 58", "length_km: 58 km"),
    GOOD,
)
OUT_OF_RANGE = Rule(
    "DCP105",
    "out-of-range",
    Severity.ERROR,
    "The value is of the right kind and cannot be meant: a latitude of 1390, a fiber of negative length.",
    with_change("lat: 41.07", "lat: 4107"),
    GOOD,
)
WRONG_CHOICE = Rule(
    "DCP106",
    "wrong-choice",
    Severity.ERROR,
    "The key takes one of a few words, and this is none of them.",
    adding("policy: {scheme: re-route}\n"),
    adding("policy: {scheme: reroute}\n"),
)
CONTRADICTION = Rule(
    "DCP107",
    "contradiction",
    Severity.ERROR,
    "Keys that are each valid do not go together: a length beside spans, a band that ends before it starts,"
    " a channel narrower than its symbol rate.",
    with_change("length_km: 58", "length_km: 58, spans: [{length_km: 58}]"),
    GOOD,
)
NOT_FINITE = Rule(
    "DCP108",
    "not-finite",
    Severity.ERROR,
    "Infinity, not-a-number and quantities beyond 10^18 pass every comparison or none, and poison each sum they enter.",
    with_change("gbps: 400", "gbps: .inf"),
    GOOD,
)
WRONG_SIZE = Rule(
    "DCP109",
    "wrong-size",
    Severity.ERROR,
    "A list or text with too few or too many members: a fiber has two ends, a name has 1 to 80 characters.",
    with_change("ends: [papillion, lincoln]", "ends: [papillion]"),
    GOOD,
)
MISPLACED_KEY = Rule(
    "DCP110",
    "misplaced-key",
    Severity.ERROR,
    "The key exists, in another section. Where it stands it would have no effect.",
    adding("scheme: reroute\n"),
    adding("policy: {scheme: reroute}\n"),
)
VERSION = Rule(
    "DCP111",
    "format-version",
    Severity.ERROR,
    "`dcplan: 1` says which version of the file format this is, so that a later dcplan can still read it."
    " This dcplan reads version 1.",
    with_change("dcplan: 1", "dcplan: 2", WITH_JOB),
    GOOD,
)

RULES = (
    NOT_A_MAP,
    UNKNOWN_KEY,
    MISSING_KEY,
    WRONG_TYPE,
    OUT_OF_RANGE,
    WRONG_CHOICE,
    CONTRADICTION,
    NOT_FINITE,
    WRONG_SIZE,
    MISPLACED_KEY,
    VERSION,
)
