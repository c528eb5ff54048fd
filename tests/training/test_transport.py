"""Transport between sites: figures of the research, packet-level simulation, and what a job has of its links."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from random import Random
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dcplan.model.load import load_document
from dcplan.model.rules.examples import adding
from dcplan.model.source import parse
from dcplan.model.transport import Transport
from dcplan.training.engine import needed_rates, one_site, step_time
from dcplan.training.plans.search import named
from dcplan.training.step import Layout, Links, Workload
from dcplan.training.transport.carried import Carried, carried
from dcplan.training.transport.flows import (
    block_loss,
    go_back_n_s,
    mathis_s,
    selective_repeat_s,
    slowest_excess,
)
from dcplan.training.transport.links import on_pairs, usable
from dcplan.training.transport.lossless import headroom_mb, reach_km
from dcplan.training.transport.packets import packet
from dcplan.training.transport.tail import Message, tail_s
from dcplan.training.workload import workload
from tests.training.packet_level import go_back_n, selective_repeat

PAIR = ("lincoln", "papillion")
PLAN = "    plans: {deep: {tp: 8, cp: 2, pp: 16, virtual_stages: 8}}\n"
PIPELINE = "    plans: {deep: {tp: 8, cp: 2, pp: 16, across: pp}}\n"


def job(transport: str | None = None, plan: str = PLAN) -> tuple[Workload, Layout]:
    text = adding(plan + (f"    transport: {transport}\n" if transport is not None else ""))
    found, findings = load_document(parse(text, "example.yaml"))
    assert found is not None, findings
    load = workload(found, "pretrain")
    return load, named(load, found.jobs["pretrain"])[0][0]


def links(gbps: float, one_way_ms: float) -> Links:
    return Links({PAIR: gbps}, {PAIR: one_way_ms})


def step_s(transport: str | None, gbps: float, one_way_ms: float, plan: str = PLAN) -> float:
    return step_time(*job(transport, plan), links(gbps, one_way_ms)).step_s


def one(transport: Transport, gbps: float = 400.0, one_way_ms: float = 4.9, gb: float = 100.0) -> Carried:
    return carried(transport, PAIR, gbps, one_way_ms, gb, transport.flows or 1, 400.0)


# Figures of the research (F15, F16)


@pytest.mark.parametrize(("km", "mb"), [(10, 4.9), (100, 49), (1000, 490)])
def test_bandwidth_delay_product_at_400_gbps(km: float, mb: float) -> None:
    assert one(Transport(), one_way_ms=km * 4.9e-3).bdp_mb == pytest.approx(mb, rel=1e-9)


def test_a_window_carries_itself_once_a_round_trip() -> None:
    """64 MB in 9.8 ms are 52.2 Gb/s; sixteen such flows 836 Gb/s."""
    found = one(Transport(window_mb=64), one_way_ms=4.9)
    assert found.usable_gbps == pytest.approx(64e6 * 8 / 9.8e-3 / 1e9)
    assert found.limit == "window"
    assert one(Transport(window_mb=64, flows=16), gbps=3200).usable_gbps == pytest.approx(16 * found.usable_gbps)


def test_the_window_that_is_needed_no_longer_limits() -> None:
    needed = one(Transport(window_mb=1, flows=4)).window_needed_mb
    assert one(Transport(window_mb=needed * 1.001, flows=4)).limit == "line"
    assert one(Transport(window_mb=needed * 0.999, flows=4)).limit == "window"


@pytest.mark.parametrize(("loss", "goodput"), [(1e-8, 0.999), (1e-6, 0.89), (1e-5, 0.46)])
def test_go_back_n_over_1000_km_at_400_gbps(loss: float, goodput: float) -> None:
    """(1−p)/(1−p+p W) with W = 490 MB / 4096 bytes."""
    tx_s = 4096 * 8 / 400e9
    assert tx_s / go_back_n_s(tx_s, 9.8e-3, math.inf, loss) == pytest.approx(goodput, abs=0.005)


def test_mathis_of_one_flow() -> None:
    """4 KB, 9.8 ms, one loss in a million: 4.1 Gb/s."""
    assert 4096 * 8 / mathis_s(9.8e-3, 1e-6) / 1e9 == pytest.approx(4.1, abs=0.05)
    found = one(Transport(protocol="tcp", mtu_bytes=4096 + 52, packet_loss=1e-6))
    assert found.usable_gbps == pytest.approx(4.1, abs=0.05)
    assert found.limit == "loss"


def test_parallel_tcp_flows_add_up_to_the_line() -> None:
    carried_gbps = [
        one(Transport(protocol="tcp", mtu_bytes=4148, packet_loss=1e-6, flows=n)).usable_gbps for n in (1, 2, 50, 400)
    ]
    assert carried_gbps[1] == pytest.approx(2 * carried_gbps[0])
    assert carried_gbps[2] == pytest.approx(50 * carried_gbps[0])
    assert carried_gbps[3] == pytest.approx(400 * 4096 / 4186 * (1 - 1e-6))


def test_headroom_of_a_lossless_port() -> None:
    """49 MB for 100 km at 400 Gb/s; a priority more needs as much again; a buffer of 49 MB reaches about 100 km."""
    port = Transport(lossless=True)
    assert headroom_mb(port, 0.98e-3) == pytest.approx(49, abs=0.1)
    assert headroom_mb(Transport(lossless=True, lossless_priorities=2), 0.98e-3) == pytest.approx(
        2 * headroom_mb(port, 0.98e-3)
    )
    exact = Transport(lossless=True, switch_buffer_mb=headroom_mb(port, 0.98e-3))
    assert reach_km(exact) == pytest.approx(100)
    assert one(exact, one_way_ms=0.49).limit == "line"
    assert one(exact, one_way_ms=0.98).goodput_percent == pytest.approx(50 * packet(exact).share, rel=0.002)


@pytest.mark.parametrize(
    ("transport", "wire"),
    [
        (Transport(), 4096 + 82),
        (Transport(encryption="macsec"), 4096 + 82 + 32),
        (Transport(encryption="otnsec"), 4096 + 82),
        (Transport(encryption="ipsec"), 4096 + 82 + 56),
        (Transport(protocol="tcp"), 1500 + 38),
        (Transport(protocol="tcp", encryption="macsec"), 1500 + 38 + 32),
        (Transport(protocol="ec"), 4096 + 86),
    ],
)
def test_bytes_of_a_packet_on_the_wire(transport: Transport, wire: int) -> None:
    assert packet(transport).wire_bytes == wire


def test_what_encryption_costs() -> None:
    """MACsec: 0.8 % of packets of 4 KB, 2.1 % of 1,500 bytes (F16); ESP in tunnel mode adds 50 to 73 bytes."""
    for mtu, protocol, percent in ((4096, "roce-sr", 0.8), (1500, "tcp", 2.1)):
        plain = Transport(protocol=protocol, mtu_bytes=mtu)
        coded = Transport(protocol=protocol, mtu_bytes=mtu, encryption="macsec")
        assert 100 * (1 - packet(coded).share / packet(plain).share) == pytest.approx(percent, abs=0.07)
    for mtu in range(576, 1500, 7):
        plain, coded = Transport(protocol="tcp", mtu_bytes=mtu), Transport(
            protocol="tcp", mtu_bytes=mtu, encryption="ipsec"
        )  # fmt: skip
        assert 50 <= packet(coded).wire_bytes - packet(plain).wire_bytes <= 73
    assert one(Transport(encryption="macsec")).rtt_ms == pytest.approx(9.8 + 2 * 0.002)


# Packet-level simulation


@pytest.mark.parametrize("loss", [1e-3, 3e-3, 1e-2])
@pytest.mark.parametrize("windows", [0.5, 1.0, 1.5, 2.0])
def test_flows_against_simulation(windows: float, loss: float) -> None:
    """Round trips of 60 packets: within 3 %, and 6 % where a window of packets loses one more often than not."""
    rtt, packets = 60, 30_000
    window = int(rtt * windows)
    bound = 0.03 if loss * window < 0.3 else 0.06
    for simulated, formula in ((go_back_n, go_back_n_s), (selective_repeat, selective_repeat_s)):
        slots = simulated(packets, rtt, window, loss, Random(3)) / packets
        assert formula(1.0, float(rtt), float(window), loss) == pytest.approx(slots, rel=bound)


@pytest.mark.parametrize(("packets", "rtt", "loss"), [(40, 400, 0.03), (400, 100, 0.01), (600, 300, 0.003)])
def test_the_tail_of_selective_repeat_against_simulation(packets: int, rtt: int, loss: float) -> None:
    """Messages shorter and longer than a round trip: mean time beyond packets/(1−p), which the rate accounts for."""
    dice, window = Random(5), packets + 1
    clean = selective_repeat(packets, rtt, window, 0.0, dice) + packets * loss / (1 - loss)
    late = [selective_repeat(packets, rtt, window, loss, dice) - clean for _ in range(700)]
    noise = 2 * pstdev(late) / len(late) ** 0.5
    assert tail_s(Message(packets, 1.0, 1), rtt, 0, loss) == pytest.approx(fmean(late), rel=0.03, abs=noise)
    assert noise < 0.1 * fmean(late)


def test_a_message_that_is_sent_at_once_waits_a_round_trip_if_it_is_hit() -> None:
    """RTT (1 − (1−p)^(k F)), lost repeats apart; a time-out where the loss of the last packet shows by nothing else."""
    for packets, flows, loss in ((1, 1, 1e-3), (100, 16, 1e-6), (5000, 64, 1e-6)):
        hit = 1 - (1 - loss) ** (packets * flows)
        assert tail_s(Message(packets, 0.0, flows), 9.8e-3, 0.0, loss) == pytest.approx(9.8e-3 * hit, rel=2e-3)
    assert tail_s(Message(1, 0.0, 1), 0.01, 0.2, 1e-3) == pytest.approx(0.2 * 1e-3, rel=2e-3)


def test_the_unluckiest_of_several_flows() -> None:
    """Losses of the unluckiest of 16 flows beyond the mean, against dice; for few losses 1 − (1−p)^(kF)."""
    dice = Random(1)

    def poisson(mean: float) -> int:
        left, events = math.exp(-mean), 0
        product = dice.random()
        while product > left:
            product *= dice.random()
            events += 1
        return events

    for mean in (0.5, 4.0):
        drawn = sum(max(poisson(mean) for _ in range(16)) for _ in range(3000)) / 3000
        assert slowest_excess(mean, 16) + mean == pytest.approx(drawn, rel=0.03)
    assert slowest_excess(0.5, 10**12) < 20  # of a million million draws hardly one has more than 17 losses
    packets, flows, loss = 100, 16, 1e-6
    hit = 1 - (1 - loss) ** (packets * flows)
    assert slowest_excess(packets * loss, flows) + packets * loss == pytest.approx(hit, rel=1e-3)


def test_a_coded_block_is_lost_with_more_than_its_parity() -> None:
    for loss, data, parity in ((0.1, 8, 2), (0.003, 32, 8), (0.02, 4, 1)):
        total = data + parity
        kept = sum(math.comb(total, i) * loss**i * (1 - loss) ** (total - i) for i in range(parity + 1))
        assert block_loss(loss, data, parity) == pytest.approx(1 - kept, rel=1e-6, abs=1e-15)
    assert block_loss(0.0, 8, 2) == 0.0


def test_erasure_coding_trades_bytes_for_round_trips() -> None:
    """(k+m)/k bytes, and no round trip where repeating waits for one (SDR-RDMA)."""
    repeating = one(Transport(packet_loss=1e-4), gb=0.2)
    coded = one(Transport(protocol="ec", packet_loss=1e-4), gb=0.2)
    assert 0.9 * 9.8 < repeating.tail_ms < 9.8
    assert coded.tail_ms < 1e-3
    assert coded.wire_gb == pytest.approx(0.2 * 40 / 32 * (4096 + 86) / 4096)
    assert coded.usable_gbps == pytest.approx(400 * 32 / 40 * 4096 / (4096 + 86), rel=1e-6)


def test_flows_without_a_packet_of_their_own_are_none() -> None:
    """More flows than packets are as many flows as packets: one lost packet in ten, of three."""
    for protocol in ("roce-gbn", "roce-sr"):
        few, many = (
            one(Transport(protocol=protocol, packet_loss=0.1, flows=n), gb=3 * 4096 / 1e9) for n in (3, 10**12)
        )
        assert many.tail_ms == pytest.approx(few.tail_ms, rel=1e-6)
    hit = 1 - 0.9**3
    assert one(Transport(packet_loss=1e-9, flows=10**12), gb=3 * 4096 / 1e9).tail_ms == pytest.approx(9.8 * 3e-9)
    assert few.tail_ms >= 9.8 * hit


def test_a_time_out_costs_more_than_a_round_trip() -> None:
    for protocol in ("roce-gbn", "roce-sr", "tcp", "ec"):
        quick = one(Transport(protocol=protocol, packet_loss=0.01, flows=16))
        slow = one(Transport(protocol=protocol, packet_loss=0.01, flows=16, rto_ms=200))
        assert slow.tail_ms >= quick.tail_ms
        assert slow.usable_gbps == quick.usable_gbps
        assert protocol == "ec" or slow.tail_ms > quick.tail_ms


# Properties

TRANSPORTS = st.builds(
    Transport,
    protocol=st.sampled_from(["roce-gbn", "roce-sr", "tcp", "ec"]),
    flows=st.sampled_from([1, 4, 16, 1024]),
    window_mb=st.sampled_from([None, 1.0, 64.0, 500.0]),
    encryption=st.sampled_from(["none", "macsec", "ipsec", "otnsec"]),
    rto_ms=st.sampled_from([None, 5.0, 200.0]),
    lossless=st.booleans(),
    switch_buffer_mb=st.sampled_from([None, 8.0, 100.0]),
)
LOSSES = st.floats(0, 0.05)
ONE_WAY = st.floats(0, 50)
GBPS = st.floats(1, 1e5)


@settings(max_examples=150, deadline=None)
@given(TRANSPORTS, LOSSES, ONE_WAY, GBPS)
def test_goodput_never_exceeds_the_line_and_falls_with_loss(
    transport: Transport, loss: float, one_way_ms: float, gbps: float
) -> None:
    losses = sorted({0.0, loss / 100, loss / 3, loss, min(0.1, 2 * loss)})
    found = [one(transport.model_copy(update={"packet_loss": each}), gbps, one_way_ms) for each in losses]
    assert all(0 <= each.usable_gbps <= gbps * packet(transport).share * (1 + 1e-12) for each in found)
    for clean, lossy in pairwise(found):
        assert lossy.usable_gbps <= clean.usable_gbps * (1 + 1e-9)
        assert lossy.tail_ms >= 0
        assert 8 * 100 / lossy.usable_gbps + lossy.latency_ms / 1e3 >= (
            8 * 100 / clean.usable_gbps + clean.latency_ms / 1e3
        ) * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(TRANSPORTS, LOSSES, ONE_WAY, st.sampled_from([PLAN, PIPELINE]))
def test_a_step_is_longer_with_loss_and_distance_and_never_with_rate(
    transport: Transport, loss: float, one_way_ms: float, plan: str
) -> None:
    load, layout = job("{flows: 16}", plan)

    def at(loss: float, one_way_ms: float, gbps: float) -> float:
        lossy = replace(load, transport=transport.model_copy(update={"packet_loss": loss}))
        return step_time(lossy, layout, links(gbps, one_way_ms)).step_s

    base = at(loss, one_way_ms, 2000.0)
    assert at(loss / 2, one_way_ms, 2000.0) <= base * (1 + 1e-9)
    assert at(loss, one_way_ms / 2, 2000.0) <= base * (1 + 1e-9)
    assert at(loss, one_way_ms, 4000.0) <= base * (1 + 1e-9)
    assert at(loss, one_way_ms, math.inf) <= base * (1 + 1e-9)


# What a job has of its links


@pytest.mark.parametrize("plan", [PLAN, PIPELINE])
def test_nothing_said_changes_nothing(plan: str) -> None:
    for gbps in (800.0, math.inf):
        assert step_s(None, gbps, 1.0, plan) == step_s("{}", gbps, 1.0, plan)
    load, layout = job("{}", plan)
    assert usable(load, layout, links(800, 1)) == links(800, 1)
    assert on_pairs(load, layout, links(800, 1)) == ()


def test_one_site_knows_no_transport() -> None:
    load, layout = job("{packet_loss: 0.01, window_mb: 1, flows: 1}")
    assert one_site(load, layout).step_s == one_site(*job()).step_s


def test_the_network_is_sized_for_bytes_on_the_wire() -> None:
    """Headers are on the wire: rates grow by just them, the bytes of the job stay."""
    plain, coded = job(), job("{encryption: otnsec}")
    near = {PAIR: 0.3}
    slightly_longer = {PAIR: 0.3 + 0.002}
    before, after = needed_rates(*plain, slightly_longer, 5), needed_rates(*coded, near, 5)
    assert before is not None
    assert after is not None
    assert after[PAIR] == pytest.approx(before[PAIR] * (4096 + 82) / 4096, rel=1e-6)
    rate = links(after[PAIR], near[PAIR])
    assert step_time(*coded, rate).step_s <= one_site(*coded).step_s * 1.05 * (1 + 1e-9)
    assert step_time(*coded, rate).cross_site_gb == step_time(*plain, rate).cross_site_gb


def test_a_window_too_small_holds_at_no_rate() -> None:
    near = {PAIR: 0.3}
    assert needed_rates(*job("{flows: 16, window_mb: 1}"), near, 5) is None
    assert needed_rates(*job("{flows: 4096, window_mb: 1}"), near, 5) is not None


def test_a_longer_path_lowers_the_rate_of_a_window() -> None:
    load, layout = job("{flows: 16, window_mb: 64}")
    (near,), (far,) = (on_pairs(load, layout, links(3200, ms)) for ms in (0.3, 4.9))
    assert (near.limit, far.limit) == ("line", "window")
    assert far.usable_gbps == pytest.approx(16 * 64e6 * 8 / 9.8e-3 / 1e9)


def test_flows_are_nics_unless_they_are_given() -> None:
    (every,) = on_pairs(*job("{packet_loss: 1.0e-6}"), links(3200, 1))
    assert every.flows == 8192
    (few,) = on_pairs(*job("{flows: 2}"), links(3200, 1))
    assert (few.flows, few.limit) == (2, "NIC")
    assert few.usable_gbps == pytest.approx(2 * 400 * 4096 / 4178)


def test_a_pipeline_waits_for_a_microbatch_at_a_time() -> None:
    load, layout = job("{packet_loss: 1.0e-6}", PIPELINE)
    (found,) = on_pairs(load, layout, links(3200, 1))
    sent = step_time(load, layout, links(3200, 1)).cross_site_gb[PAIR]
    assert found.message_gb == pytest.approx(sent / layout.microbatches)


@pytest.mark.parametrize(
    "fault",
    [
        {"mtu_bytes": 9000},
        {"mtu_bytes": 1500},
        {"protocol": "tcp", "mtu_bytes": 300},
        {"protocol": "udp"},
        {"packet_loss": 1},
        {"packet_loss": -0.1},
        {"flows": 0},
        {"window_mb": 0},
        {"lossless_priorities": 9},
        {"ec_parity": 0},
        {"protocol": "ec", "ec_data": 200, "ec_parity": 100},
    ],
)
def test_nonsense_is_refused(fault: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Transport.model_validate(fault)
