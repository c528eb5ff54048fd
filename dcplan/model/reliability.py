"""What makes a job lose time, as `jobs.<job>.reliability` says it; and how often things fail."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dcplan.catalog.parts import Count, NotNegative, Positive, Strict
from dcplan.model.fields import Name

Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Hosts = Annotated[int, Field(ge=0)]
WIDEST_NORMAL_PERCENT = 33.0
"""Three standard deviations below the mean are still a positive time."""


class Failing(Strict):
    """How often something fails and how long its repair takes; none of the two: not counted in what is expected."""

    failures_per_year: NotNegative | None = None
    """How often it fails [1/year]; with `repair_h`, what is expected of jobs with `reliability` counts it."""
    repair_h: Positive | None = None
    """Mean time until it is repaired [h]."""

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.failures_per_year is None) != (self.repair_h is None):
            raise ValueError("give both failures_per_year and repair_h, or none of them")
        return self


class Checkpoints(Strict):
    """How a job saves its state."""

    interval_s: Literal["daly", "young"] | Positive = "daly"
    """Work between two checkpoints [s], rounded to whole steps; daly, young: the best one by their formulas."""
    bytes_per_parameter: Positive | None = None
    """What is saved; without it bf16 weight, fp32 master copy and two moments as the plan keeps them (`exp_avg_dtype`):
    14 where those are fp32, 10 in bf16, 8 in fp8."""
    gb_per_s: Positive | None = None
    """Rate at which the whole job writes to storage [GB/s]; without it 2,000 for 16,384 accelerators (Llama 3), in
    proportion. Give this or `over`."""
    over: Name | None = None
    """Demand between two sites over whose rate checkpoints go to storage elsewhere."""
    local_gb_per_s: Positive | None = None
    """Rate at which each accelerator copies its part beside it, where a failed host does not take it along (memory of
    a neighbour) [GB/s]. Work waits for this copy only, and all failures but the loss of a site it lives in go on from
    it; storage gets it meanwhile."""
    remote_interval_s: Positive | None = None
    """Least time between two local checkpoints that go to storage too [s]; without it, as often as it takes them."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.gb_per_s is not None and self.over is not None:
            raise ValueError("give either gb_per_s or over")
        return self


class StragglersOfJob(Strict):
    """Hosts that are slower than others. Times are of the work between two exchanges of gradients."""

    tail: Literal["normal", "lognormal", "exponential"] = "normal"
    """How the time of a host varies from step to step; exponential: a fixed part and an exponential tail."""
    sigma_percent: Percent = 0.0
    """Standard deviation of a host's time in one step, over its mean [%]."""
    slow_percent: NotNegative = 0.0
    """How much longer a host that stays slow takes [%]: every synchronous step waits for it."""
    slow_hosts: Count = 1
    """Hosts that stay slow, in as many data parallel ranks."""
    dropped_ranks: Hosts = 0
    """Slowest data parallel ranks that a step does not wait for; their share of the batch is lost."""

    @model_validator(mode="after")
    def _times_are_positive(self) -> Self:
        if self.tail == "normal" and self.sigma_percent > WIDEST_NORMAL_PERCENT:
            raise ValueError("a normal spread above 33 % has times below zero: choose tail lognormal or exponential")
        return self


class CorruptionOfJob(Strict):
    """State that is wrong before anybody sees it, and checks that find it."""

    accelerator_mtbf_h: Positive = 54 * 24 * 16_384 / 6
    """Hours that one accelerator runs between two silent corruptions [h]; the default is Llama 3's 6 in 54 days on
    16,384."""
    latency_h: Positive | None = None
    """Mean time until a corruption that no check finds is noticed [h]."""
    check_s: Positive | None = None
    """Time of one check of all accelerators: replay of a step, hash across replicas [s]."""
    check_interval_s: Literal["best"] | Positive = "best"
    """Work between two checks [s]; best: √(2 check_s / rate)."""
    caught_percent: Annotated[float, Field(gt=0, le=100)] = 100.0
    """Share of corruptions that a check finds [%]; the others are noticed after `latency_h`."""

    @model_validator(mode="after")
    def _noticed(self) -> Self:
        if self.latency_h is None and (self.check_s is None or self.caught_percent < 100):
            raise ValueError("give latency_h: not every corruption is found by a check")
        return self


class Reliability(Strict):
    """What makes a job lose time. An empty entry takes all defaults."""

    accelerator_mtbf_h: Literal["llama3", "meta-rsc-1", "meta-rsc-2"] | Positive = "llama3"
    """Hours that one accelerator runs, with its part of host, network and software, between failures that stop the job
    [h]; or of a published cluster: llama3 50,677, meta-rsc-1 29,538, meta-rsc-2 82,051."""
    infant_factor: Annotated[float, Field(ge=1, le=100)] = 1.0
    """How many times as often things fail while they are new."""
    detection_s: NotNegative = 60.0
    """From a failure of a host or site until the job knows [s]; an estimate."""
    restart_s: NotNegative = 600.0
    """From then until its first new step, reading the checkpoint included [s]; Meta's clusters took 5 to 20 minutes."""
    host_accelerators: Count = 8
    """Accelerators that fail, are slow and are repaired together."""
    hardware_percent: Percent = 78.0
    """Share of failures that take a host away for repair [%] (Llama 3)."""
    host_repair_h: Positive | None = None
    """Mean time until a failed host is back [h]; without it there is always another one."""
    spare_hosts: Hosts = 0
    """Hosts that stand by and take over at a restart; the job waits where none is left."""
    elastic: bool = False
    """Where no spare is left, the job goes on with the whole data parallel ranks that it has hosts for; where its sites
    cannot reach each other, with those of one site."""
    switch_s: NotNegative | None = None
    """From a failure in the network until traffic is on its other routes [s]; without it 0.05 with one-plus-one, 1
    with reroute, 8 with relight."""
    collective_timeout_s: Positive = 600.0
    """How long a collective waits before the job fails [s]; PyTorch's default for NCCL."""
    checkpoint: Checkpoints = Checkpoints()
    """How it saves its state."""
    stragglers: StragglersOfJob | None = None
    """Hosts that are slower than others."""
    corruption: CorruptionOfJob | None = None
    """Silent corruption; without it none is counted beside the failures above."""
