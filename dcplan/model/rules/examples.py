"""The small valid file that the examples of the rules are made from."""

from __future__ import annotations

GOOD = """\
dcplan: 1
name: example
sites:
  papillion: {lat: 41.07, lon: -96.11, power_mw: 100, accelerators: {h100-sxm: 16384}}
  lincoln: {lat: 40.89, lon: -96.60, power_mw: 100, accelerators: {h100-sxm: 16384}}
fibers:
  north: {ends: [papillion, lincoln], length_km: 58, type: g652d, pairs: 4, lease_usd_per_km_year: 400}
  south: {ends: [papillion, lincoln], length_km: 64, type: g652d, pairs: 4, lease_usd_per_km_year: 400}
demands:
  checkpoints: {between: [papillion, lincoln], gbps: 400}
"""

JOB = """\
jobs:
  pretrain:
    model: llama3-405b
    accelerators: {papillion: 8192, lincoln: 8192}
    sequence_length: 8192
    global_batch_tokens: 16777216
"""

WITH_JOB = GOOD + JOB


def with_change(old: str, new: str, file: str = WITH_JOB) -> str:
    """The file with one passage changed. ValueError when there is no such passage: the example would show nothing."""
    if old not in file:
        raise ValueError(f"the example has no passage {old!r}")
    return file.replace(old, new, 1)


def adding(lines: str, file: str = WITH_JOB) -> str:
    """The file with more lines at its end."""
    return file + lines
