"""Networks for the tests of the rules, from texts and from random graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from dcplan.model.load import load_document
from dcplan.model.source import parse

if TYPE_CHECKING:
    from dcplan.diagnostics import Finding
    from dcplan.model.network import Network


def network(text: str) -> tuple[Network | None, list[Finding]]:
    """The network of a text, and its findings."""
    return load_document(parse(text, "x.yaml"))


def valid(text: str) -> Network:
    """The network of a text that has one."""
    found, findings = network(text)
    assert found is not None, findings
    return found


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """A number of sites and fibers between them; parallel fibers and separate parts are common."""
    sites = draw(st.integers(2, 7))
    ends = st.tuples(st.integers(0, sites - 1), st.integers(0, sites - 1)).filter(lambda pair: pair[0] != pair[1])
    return sites, draw(st.lists(ends, max_size=11))


def text_of(sites: int, fibers: list[tuple[int, int]], rest: str = "", lengths: list[float] | None = None) -> str:
    """A file with these sites and fibers, all at one place so that no length is too short."""
    lines = ["dcplan: 1", "name: random", "sites:"]
    lines += [f"  s{i}: {{lat: 40, lon: -96}}" for i in range(sites)]
    lines += ["fibers:"] if fibers else []
    for i, (a, b) in enumerate(fibers):
        km = lengths[i] if lengths else 10
        lines.append(
            f"  f{i}: {{ends: [s{a}, s{b}], length_km: {km}, type: g652d, pairs: 1, lease_usd_per_km_year: 1}}"
        )
    return "\n".join(lines) + "\n" + rest
