"""What an assessment answers: for each state, what each job still gets and how long its step takes."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.training.goodput.chain import Goodput


@dataclass(frozen=True, slots=True)
class JobInState:
    """One job in one state."""

    job: str
    running: bool
    """False where the state takes a site that the job cannot do without."""
    why: str
    """For a job that stopped, runs reduced or is promised nothing; empty otherwise."""
    rate_fraction: float | None
    """Rate over what it asks in this state, the least of its pairs of sites; none where it asks for none."""
    latency_ms: float | None
    """Longest one-way latency between two of its sites on the routes used [ms]."""
    step_s: float | None
    overhead_percent: float | None
    """Over the same job with all its (surviving) accelerators in one site [%]."""
    target_percent: float | None
    """What was promised in this state; none where nothing was."""
    promised: bool = True
    """This state is one that the job survives by promise; else it has what others leave."""

    @property
    def met(self) -> bool:
        """The promise is kept, or there is none."""
        return self.target_percent is None or (
            self.running and self.overhead_percent is not None and self.overhead_percent <= self.target_percent + 1e-6
        )


@dataclass(frozen=True, slots=True)
class StateResult:
    """One state: capacity, what reroutes, and the jobs."""

    state: str
    lost_gbps: float
    """Capacity of the wavelengths that are gone [Gb/s]."""
    left_gbps: float
    """Capacity of the surviving wavelengths [Gb/s]."""
    served_percent: float
    """Worst fixed or job demand: rate it gets over rate it is promised in this state, at most 100 [%]."""
    worst_demand: str
    rerouted: tuple[str, ...]
    """Demands whose routes differ from the healthy ones."""
    jobs: tuple[JobInState, ...]


@dataclass(frozen=True, slots=True)
class Excused:
    """A job or demand and the promised failures that leave no fiber route between its sites."""

    who: str
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateShare:
    """How long a state lasts in a year, and what a job does in it."""

    state: str
    hours_per_year: float
    speed_percent: float
    """Tokens per second over those of the healthy network; 0 where the job stops [%]."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is left of a job's speed over the years, on this network."""

    job: str
    goodput: Goodput
    states: tuple[StateShare, ...]
    """The likeliest first; none where nothing in the file says how often it fails."""
    unseen_hours_per_year: float
    """Time in states that were not looked at; it counts as stopped [h]."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """One job in one failure. Times follow each other."""

    state: str
    job: str
    running: bool
    """It goes on before the repair."""
    detection_s: float
    """Until the job knows; 0 where it only sees a slow step [s]."""
    switch_s: float
    """Until traffic is on its other routes, as far as nothing else takes that long meanwhile [s]."""
    restart_s: float
    """From its last checkpoint, or without the lost site [s]."""
    rework_s: float
    """Work done since the checkpoint, on average [s]."""
    speed_percent: float
    """Tokens per second until the repair, over those of the healthy network [%]."""
    repair_h: float | None
    """Until the repair, or the first of several [h]; none where the file does not say."""
    back_s: float
    """Restart that takes the lost site back [s]."""
    lost_once_steps: float
    """Healthy steps that all but the degraded time costs."""
    lost_per_hour_steps: float
    """Healthy steps that an hour until the repair costs."""
    lost_steps: float | None
    """All of them; none where the time until the repair is not known."""


@dataclass(frozen=True, slots=True)
class Available:
    """How much of a year a demand has its healthy rate."""

    demand: str
    whole_percent: float
    """Of the time, with all of its rate [%]."""
    some_percent: float
    """Of the time, with any of it [%]."""
    mean_percent: float
    """Of its rate, on average [%]."""
    short_hours_per_year: float
    """Without all of its rate [h]."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is to be expected over the years, where the file says how often things fail."""

    expected: tuple[Expected, ...] = ()
    """Of jobs that have `reliability`."""
    timelines: tuple[Timeline, ...] = ()
    """Of the same jobs, in each promised failure."""
    available: tuple[Available, ...] = ()
    """Each demand, where anything in the file says how often it fails."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """All states, healthy first."""

    states: tuple[StateResult, ...]
    weakest: str
    """Name of the failure with the largest overhead, then the least capacity left; `healthy` if nothing is promised."""
    excused: tuple[Excused, ...] = ()
    """Where `policy.parted` excuses: whom promised failures part, so that nothing is promised to it in them."""
    outlook: Outlook = Outlook()
    """What is to be expected over the years."""

    @property
    def kept(self) -> bool:
        """Every promise to every job is kept in every state, and every demand has its rate."""
        return all(state.served_percent >= 100 - 1e-6 and all(job.met for job in state.jobs) for state in self.states)
