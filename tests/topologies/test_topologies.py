"""The shipped topologies: valid, sourced, true to the map, and as well connected as they promise."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from math import acos, cos, radians, sin
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dcplan.catalog.load import shipped
from dcplan.model import source
from dcplan.model.job import ParallelismPlan
from dcplan.model.schema import Topology

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dcplan.model.job import Job

FOLDER = Path(__file__).parents[2] / "topologies"
NAMES = (
    "china-hubs",
    "china-telecom-500km",
    "hollow-core",
    "nvidia-1000km",
    "two-campus",
    "us-midwest",
    "us-stargate",
)
FIBER_LINE = re.compile(r"  ([\w-]+): \{ends:")
ROUTE = re.compile(r"great circle ([\d.]+) km x ([\d.]+)")
WGS84_A_KM, WGS84_B_KM = 6378.137, 6356.752

every = pytest.mark.parametrize("name", NAMES)


@cache
def text(name: str) -> str:
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


@cache
def topology(name: str) -> Topology:
    document = source.parse(text(name), name)
    assert document.problems == []
    return Topology.model_validate_json(json.dumps(document.data), strict=True)


def comments(name: str) -> dict[str, str]:
    """Fiber -> the comment in the line above it."""
    lines = pairwise(text(name).splitlines())
    return {match[1]: above.strip() for above, line in lines if (match := FIBER_LINE.match(line))}


def on_the_map_km(network: Topology, fiber: str) -> float:
    """Distance of a fiber's ends, not by the product's formula: the angle between two vectors."""
    vectors = []
    for site in network.fibers[fiber].ends:
        lat, lon = radians(network.sites[site].lat), radians(network.sites[site].lon)
        vectors.append((cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)))
    dot = sum(a * b for a, b in zip(*vectors, strict=True))
    return acos(min(1.0, dot)) * (2 * WGS84_A_KM + WGS84_B_KM) / 3


def parts(sites: Iterable[str], edges: Iterable[tuple[str, str]]) -> int:
    """Number of connected parts, by union-find."""
    leader = {site: site for site in sites}

    def find(site: str) -> str:
        while leader[site] != site:
            site = leader[site]
        return site

    for a, b in edges:
        leader[find(a)] = find(b)
    return sum(find(site) == site for site in leader)


def per_site(job: Job) -> list[int]:
    return [n if isinstance(n, int) else sum(n.values()) for n in job.accelerators.values()]


def named_plans(job: Job) -> dict[str, ParallelismPlan]:
    return {} if job.plans == "auto" else job.plans


def test_these_are_shipped_and_no_others() -> None:
    assert tuple(sorted(path.stem for path in FOLDER.glob("*.yaml"))) == NAMES


@every
def test_valid(name: str) -> None:
    assert topology(name).dcplan == 1


@every
def test_header_says_what_it_shows_and_where_figures_come_from(name: str) -> None:
    lines = text(name).splitlines()
    assert lines[0] == "# yaml-language-server: $schema=../dcplan.schema.json"
    header = " ".join(line.lstrip("# ") for line in lines[: lines.index("dcplan: 1")])
    for phrase in ("It shows: ", "Sources", "not publi", "lease"):
        assert phrase in header
    assert "assumption" in text(name)
    assert max(map(len, lines)) <= 120


@every
def test_every_datacenter_says_where_it_comes_from(name: str) -> None:
    lines = text(name).splitlines()
    for site, given in topology(name).sites.items():
        here = next(i for i, line in enumerate(lines) if line.startswith(f"  {site}: {{lat:"))
        if given.is_datacenter:
            while lines[here].startswith("  ") and "{lat:" in lines[here]:
                here -= 1
            assert lines[here].startswith("  #"), site
        else:
            assert "city centres to 0.01 degree" in text(name).lower(), site


@every
def test_lengths_follow_from_the_map_as_their_comments_say(name: str) -> None:
    network = topology(name)
    said = comments(name)
    assert said.keys() == network.fibers.keys()
    for fiber, comment in said.items():
        assert comment.startswith("#"), fiber
        distance = on_the_map_km(network, fiber)
        if match := ROUTE.search(comment):
            assert float(match[1]) == pytest.approx(distance, rel=0.02), fiber
            assert float(match[1]) * float(match[2]) == pytest.approx(network.fibers[fiber].total_km, rel=0.02), fiber
        else:
            assert "published" in comment or "assumption" in comment, fiber


@every
def test_no_fiber_is_shorter_than_the_map(name: str) -> None:
    network = topology(name)
    for fiber in network.fibers:
        assert network.fibers[fiber].total_km >= on_the_map_km(network, fiber), fiber


@every
def test_every_promised_failure_leaves_the_sites_joined(name: str) -> None:
    network = topology(name)
    losses: list[set[str]] = [set()]
    if "any-fiber" in network.policy.survive:
        losses += [{fiber} for fiber in network.fibers]
    if "any-shared-risk" in network.policy.survive:
        groups = {group for fiber in network.fibers.values() for group in fiber.shared_risk}
        losses += [{name for name, fiber in network.fibers.items() if group in fiber.shared_risk} for group in groups]
    for lost in losses:
        left = [(f.ends[0], f.ends[1]) for fiber, f in network.fibers.items() if fiber not in lost]
        assert parts(network.sites, left) == 1, lost


def test_union_find_sees_a_cut() -> None:
    ring = [("a", "b"), ("b", "c"), ("c", "a")]
    assert parts("abc", ring) == parts("abc", ring[1:]) == 1
    assert parts("abc", ring[2:]) == 2


@every
def test_groups_have_members_and_are_promised(name: str) -> None:
    network = topology(name)
    members = [group for fiber in network.fibers.values() for group in fiber.shared_risk]
    assert all(members.count(group) >= 2 for group in members)
    assert not members or "any-shared-risk" in network.policy.survive


def test_parallel_fibers_and_shared_risks_are_shown() -> None:
    parallel, groups = set(), set()
    for name in NAMES:
        ends = [tuple(sorted(fiber.ends)) for fiber in topology(name).fibers.values()]
        parallel |= {name} if len(set(ends)) < len(ends) else set()
        groups |= {name} if any(fiber.shared_risk for fiber in topology(name).fibers.values()) else set()
    assert len(parallel) >= 4
    assert len(groups) >= 3


@every
def test_every_part_is_in_the_catalog(name: str) -> None:
    network = topology(name)
    own = network.gear
    assert {fiber.type for fiber in network.fibers.values()} <= {*shipped("fibers"), *own.fibers}
    assert set(own.allow.transponders or ()) <= {*shipped("transponders"), *own.transponders}
    known = {*shipped("accelerators"), *own.accelerators}
    assert {kind for site in network.sites.values() for kind in site.accelerators} <= known
    assert {job.model for job in network.jobs.values()} <= {*shipped("models"), *own.models}


@every
def test_some_allowed_mode_bears_the_dispersion_of_each_fiber(name: str) -> None:
    network = topology(name)
    modes = [
        mode for kind in network.gear.allow.transponders or () for mode in shipped("transponders")[kind].modes.values()
    ]
    for fiber in network.fibers.values():
        dispersion = fiber.total_km * shipped("fibers")[fiber.type].dispersion_ps_nm_km
        assert any(mode.cd_penalty and mode.cd_penalty[-1][0] >= dispersion for mode in modes), fiber


@every
def test_accelerators_fit_the_power_and_the_site(name: str) -> None:
    network = topology(name)
    kinds = {**shipped("accelerators"), **network.gear.accelerators}
    for site in network.sites.values():
        watts = sum(n * (kinds[kind].all_in_w or 0) for kind, n in site.accelerators.items())
        assert site.power_mw is None or watts / 1e6 <= site.power_mw
    for site, given in network.sites.items():
        asked = sum(n for job in network.jobs.values() for s, n in job.accelerators.items() if s == site)
        assert asked <= sum(given.accelerators.values()), site


@every
def test_named_plans_divide(name: str) -> None:
    for job in topology(name).jobs.values():
        assert job.global_batch_tokens % job.sequence_length == 0
        sequences = job.global_batch_tokens // job.sequence_length
        models = {**shipped("models"), **topology(name).gear.models}
        for plan in named_plans(job).values():
            block = plan.tp * plan.cp * plan.pp
            sizes = per_site(job)
            assert sum(sizes) % block == 0
            if plan.across == "dp":
                assert all(n % block == 0 for n in sizes)
            ranks = sum(sizes) // block
            assert sequences % (ranks * plan.microbatch) == 0
            assert models[job.model].layers % (plan.pp * plan.virtual_stages) == 0
            assert plan.virtual_stages == 1 or (sequences // ranks // plan.microbatch) % plan.pp == 0


def test_own_177b_model_has_177_billion_parameters() -> None:
    shape = topology("china-telecom-500km").gear.models["dense-177b"]
    blocks = shape.layers * (4 * shape.hidden**2 + 2 * shape.hidden * shape.ffn)
    assert (blocks + 2 * shape.vocab * shape.hidden) / 1e9 == pytest.approx(177, rel=0.005)


def test_northern_route_has_the_round_trip_of_the_trial() -> None:
    fibers = topology("nvidia-1000km").fibers
    length = sum(fibers[name].total_km for name in ("chicago-cleveland", "cleveland-pittsburgh", "pittsburgh-ashburn"))
    assert 2 * length * 1.468 / 299.792458 == pytest.approx(21, rel=0.02)


def test_only_hollow_glass_meets_the_latency_of_the_service() -> None:
    network = topology("hollow-core")
    limit = network.demands["fast"].max_latency_ms
    assert limit is not None
    solid, hollow = (
        network.fibers[name].total_km * shipped("fibers")[network.fibers[name].type].group_index / 299.792458
        for name in ("solid", "hollow")
    )
    assert hollow < 0.95 * limit < limit < 0.95 * solid
