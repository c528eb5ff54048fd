"""A section of GNPy elements as a booster and spans with what they lose and the amplifier behind each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.interop.gnpy.amplifiers import NOTHING
from dcplan.optics.spans import GNPY_LONGEST_KM, gnpy_count

if TYPE_CHECKING:
    from dcplan.interop.gnpy.entry import Entry
    from dcplan.interop.gnpy.oms import Oms

FUSED_DB = 1.0
"""Loss of a GNPy Fused without one (core/parameters.py)."""


@dataclass(frozen=True, slots=True)
class Glass:
    """A span in one direction."""

    length_km: float
    loss_db: float
    """All that lies between two amplifiers [dB]."""
    before_db: float
    """The part of it in front of the fiber: connector and pad [dB]."""
    coefficient: float
    """Attenuation of the fiber [dB/km]."""
    variety: str
    amplifier: str | None = None
    """Id of the one behind it; none: to be designed."""


@dataclass(frozen=True, slots=True)
class Section:
    """A line in one direction."""

    start: str
    end: str
    first: str
    last: str
    booster: str | None
    spans: tuple[Glass, ...]
    launch_dbm: float | None
    """Per channel into each span; none: to be designed [dBm]."""
    name: str = ""
    """The fiber's name where dcplan wrote it."""
    split: bool = False
    """A fiber of it was cut into several spans."""

    @property
    def length_km(self) -> float:
        """Of all spans [km]."""
        return sum(span.length_km for span in self.spans)

    @property
    def loss_db(self) -> float:
        """Of all spans [dB]."""
        return sum(span.loss_db for span in self.spans)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the Span block of a GNPy equipment file says of every fiber."""

    con_in_db: float
    con_out_db: float
    end_of_life_db: float
    max_km: float


class Walker:
    """Reads one section; notes what a line of dcplan cannot hold."""

    def __init__(self, section: Oms, defaults: Defaults, names: dict[str, str], *, from_roadm: bool, to_roadm: bool):
        self.section, self.defaults, self.names = section, defaults, names
        self.from_roadm, self.to_roadm = from_roadm, to_roadm
        self.notes: list[str] = []
        self.spans: list[Glass] = []
        self.booster: str | None = None
        self.open = False
        """The last span still waits for what stands behind it."""
        self.split = False
        """Some fiber is cut into several spans."""
        self.fused_db = 0.0
        """Loss before the first fiber, or since the last amplifier [dB]."""

    def read(self) -> Section | None:
        """The section as spans; none where it has no fiber."""
        elements = self.section.elements
        self.booster = None if self.from_roadm else NOTHING
        if self.from_roadm and elements[0].text("type") == "Fused":
            self.notes.append(f"{elements[0].text('uid')}: no booster behind the ROADM; here each line has one")
        for number, entry in enumerate(elements):
            kind = entry.text("type")
            if kind in ("Fiber", "RamanFiber"):
                joined = number > 0 and elements[number - 1].text("type") == "Fused" and self.open
                following = elements[number + 1].text("type") if number + 1 < len(elements) else ""
                self._fiber(entry, joined=joined, to_fused=following == "Fused")
            elif kind == "Fused":
                loss = entry.map("params").level("loss")
                self._fused(entry, FUSED_DB if loss is None else loss)
            else:
                self._amplifier(entry)
        if not self.spans:
            self.notes.append(f"the line from {self.section.start} to {self.section.end} is left out: it has no fiber")
            return None
        if self.open:
            self._close(None if self.to_roadm else NOTHING)
        if self.to_roadm and elements[-1].text("type") == "Fused":
            self.notes.append(f"{elements[-1].text('uid')}: no preamplifier before the ROADM; here each line has one")
        return Section(
            self.section.start,
            self.section.end,
            self.section.first,
            self.section.last,
            self.booster,
            tuple(self.spans),
            None,
            _named(self.section),
            self.split,
        )

    def _close(self, amplifier: str | None) -> None:
        self.spans[-1] = replace(self.spans[-1], amplifier=amplifier)
        self.open = False

    def _fused(self, entry: Entry, loss_db: float) -> None:
        if self.open:
            self.spans[-1] = replace(self.spans[-1], loss_db=self.spans[-1].loss_db + loss_db)
        else:
            self.fused_db += loss_db
        if not self.spans and loss_db:
            self.notes.append(f"{entry.text('uid')}: {loss_db:g} dB in front of the first fiber lower the launch")

    def _fiber(self, entry: Entry, *, joined: bool, to_fused: bool) -> None:
        uid, params = entry.text("uid"), entry.map("params")
        scale = 1e-3 if params.text("length_units") == "m" else 1.0
        length = params.need("length") * scale
        if length <= 0:
            self.notes.append(f"{uid}: a fiber without length counts as 1 m")
            length = 1e-3
        before = (_given(params, "con_in", self.defaults.con_in_db)) + (params.level("att_in") or 0.0)
        behind = _given(params, "con_out", self.defaults.con_out_db)
        behind += 0.0 if to_fused else self.defaults.end_of_life_db
        coefficient = self._coefficient(uid, params)
        lumped = sum(loss.need("loss", db=True) for loss in params.list("lumped_losses"))
        if lumped:
            self.notes.append(f"{uid}: lumped losses of {lumped:g} dB are counted behind the fiber")
        if entry.text("type") == "RamanFiber":
            self.notes.append(f"{uid}: its Raman pumps are left out; the amplifier behind makes up for the whole loss")
        for key in ("dispersion_per_frequency", "dispersion", "dispersion_slope", "gamma", "effective_area"):
            if params.get(key) is not None:
                self.notes.append(f"{uid}: its own {key} is left out, that of its variety counts")
        loss = coefficient * length + before + behind + lumped
        variety = entry.text("type_variety") or "default"
        if joined:
            self._splice(uid, Glass(length, loss, before, coefficient, variety))
            return
        count = gnpy_count(length) if length >= self.defaults.max_km else 1
        if count > 1:
            self.split = True
        each = coefficient * length / count + before + behind + lumped / count
        if self.open:
            self._close(None)
        first = Glass(length / count, each + self.fused_db, before + self.fused_db, coefficient, variety)
        if not self.spans and self.fused_db:
            first = replace(first, loss_db=each, before_db=before)
        self.spans += [first, *[Glass(length / count, each, before, coefficient, variety)] * (count - 1)]
        self.open, self.fused_db = True, 0.0

    def _splice(self, uid: str, glass: Glass) -> None:
        """Two fibers without an amplifier between them: one span."""
        before = self.spans[-1]
        if glass.variety != before.variety:
            self.notes.append(f"{uid}: {glass.variety} spliced to {before.variety} counts as {before.variety}")
        length = before.length_km + glass.length_km
        mean = (before.coefficient * before.length_km + glass.coefficient * glass.length_km) / length
        self.spans[-1] = replace(before, length_km=length, loss_db=before.loss_db + glass.loss_db, coefficient=mean)

    def _coefficient(self, uid: str, params: Entry) -> float:
        """dB/km; of a loss by frequency, the largest."""
        points = [point.need("loss_coef_value") for point in params.list("loss_coef_per_frequency")]
        if isinstance(params.get("loss_coef"), dict):
            points = params.map("loss_coef").numbers("value")
        if points:
            self.notes.append(f"{uid}: of its loss by frequency the largest counts, {max(points):g} dB/km")
            return max(points)
        return params.need("loss_coef", db=True)

    def _amplifier(self, entry: Entry) -> None:
        uid, variety = entry.text("uid"), entry.text("type_variety")
        name: str | None = None
        if entry.text("type") == "Multiband_amplifier":
            self.notes.append(f"{uid}: an amplifier for several bands is designed anew for one")
        elif variety and variety != "default":
            name = self.names.get(variety)
            if name is None:
                self.notes.append(f"{uid}: {variety} cannot be expressed, so that another is chosen in its place")
        if not self.spans:
            if self.booster not in (None, NOTHING):
                self.notes.append(f"{uid}: a second booster in a row is left out")
            else:
                self.booster = name
        elif self.open:
            self._close(name)
        else:
            self.notes.append(f"{uid}: a second amplifier in a row is left out")


def _given(params: Entry, key: str, otherwise: float) -> float:
    value = params.level(key)
    return otherwise if value is None else value


def _named(section: Oms) -> str:
    """The fiber's name in uids that dcplan wrote: `NAME span 1 from SITE`."""
    for entry in section.elements:
        name, found, rest = entry.text("uid").rpartition(" span ")
        if found and entry.text("type") == "Fiber" and rest.endswith(f" from {section.start}"):
            return name
    return ""


LONGEST_KM = GNPY_LONGEST_KM
"""Fibers from this length on are split where the equipment file does not say otherwise [km]."""
