"""Who was subscribed when, and when nothing changed: what clients of one run did, as similarity asks for it.

`fair` publications are those of which a database can be exact (EQ-3 in `spec/pruning/claims.py`): made while it was
quiet, come before clients did anything else, and matched by nothing that was withdrawn before, since that may still be
in a table. To say so takes a clock that brokers share, and links; without, no publication is fair.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import inf

from attrs import define, frozen
from msgspec import Raw

from routeproof.checker.pruning.validate.notebook import OfSignals
from routeproof.checker.validate.clients.announced import EVERY
from routeproof.checker.validate.clients.rows import Operation
from routeproof.checker.validate.fast.register import Register
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.traffic import Traffic
from routeproof.model.filters import Event, Filter, dialect
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.pruning.handler import Pruning
from routeproof.traces.meanings import meanings_of


@define(eq=False)
class Stay:
    """A subscription from its announcement to its withdrawal, by seq at its broker and by time; -1 is no time."""

    id: str
    broker: str
    home: Node
    begin: int
    since: int
    end: float = inf
    until: float = inf

    def lives_at(self, time: float) -> bool:
        return self.since <= time and (self.until > time or self.until == inf)


@frozen
class Times:
    """When something was so: from `begin` to `end`, both included."""

    begin: float
    end: float

    def __contains__(self, time: float) -> bool:
        return self.begin <= time <= self.end


class Standing:
    """Subscribers of one run. `traffic` is None if the trace does not tell what was when, or if something hinders the
    judgement.
    """

    def __init__(
        self, setting: Setting, operations: Iterable[Operation], holds: Iterable[OfSignals], traffic: Traffic | None
    ) -> None:
        self.setting = setting
        self.overlay = setting.overlay
        assert isinstance(setting.protocol, Pruning), "asked before"
        self.parameters = setting.protocol.parameters
        self.traffic = None if traffic is None or traffic.hindrance is not None else traffic
        self._meanings = meanings_of(dialect(setting.dialect))
        self._register = Register[Subscription](lambda s: s.filter, lambda: EVERY)
        self._stays: dict[str, list[Stay]] = {}
        self._of_slot: dict[int, list[Stay]] = {}
        self._advertised: dict[tuple[str, Node], list[tuple[Filter, Times]]] = {}
        signalled = [each.at.time for block in holds for each in block.signalled]
        self.holds = bool(signalled)
        """Did any broker ever hold withdrawals?"""
        told = sorted(operations, key=lambda o: (o.at.broker, o.at.seq))
        for operation in told:
            self._announce(operation)
        self._times = sorted([o.at.time for o in told] + signalled)
        self._is_timed = self.traffic is not None and all(time >= 0 for time in self._times)

    def _announce(self, operation: Operation) -> None:
        node, at = self.setting.node[operation.at.broker], operation.at
        if operation.kind in ("advertise", "unadvertise"):
            periods = self._advertised.setdefault((operation.id, node), [])
            if operation.kind == "advertise":
                periods.append((self._meanings.filter(Raw(operation.filter)), Times(at.time, inf)))
            elif periods:
                wants, times = periods[-1]
                periods[-1] = wants, Times(times.begin, min(times.end, at.time))
            return
        mine = [stay for stay in self._stays.setdefault(operation.id, []) if stay.home == node]
        last = mine[-1] if mine and mine[-1].end == inf else None
        if operation.kind == "unsubscribe":
            if last is not None:
                last.end, last.until = at.seq, at.time
        elif last is None:
            stay = Stay(operation.id, at.broker, node, at.seq, at.time)
            self._stays[operation.id].append(stay)
            subscription = Subscription(0, operation.id, self._meanings.filter(Raw(operation.filter)))
            self._of_slot.setdefault(self._register.number(subscription), []).append(stay)

    # -- subscriptions -------------------------------------------------------------------------------------------------

    def matching(self, event: Event) -> list[Stay]:
        """All that match, whenever they were."""
        return [stay for slot in self._register.matching_once(event) for stay in self._of_slot[slot]]

    def stay(self, subscription: str, broker: str, seq: int) -> Stay | None:
        """The one that this broker's client had at a step; None where the trace does not tell of it."""
        known = self._stays.get(subscription, ())
        return next((stay for stay in known if stay.broker == broker and stay.begin < seq < stay.end), None)

    def withdrawn_before(self, subscription: str, broker: str, seq: int, time: int) -> Stay | None:
        """The one whose withdrawal a broker handles; None where it could be any of several."""
        ended = [stay for stay in self._stays.get(subscription, ()) if stay.end < inf]
        if len(ended) <= 1:
            return ended[0] if ended else None
        if self.holds or (self.traffic is None and {stay.broker for stay in ended} != {broker}):
            return None
        if self.traffic is None:
            past = [stay for stay in ended if stay.end <= seq]
        else:
            past = [stay for stay in ended if stay.until <= time]
        return max(past, key=lambda stay: (stay.until, stay.end), default=None)

    # -- publications --------------------------------------------------------------------------------------------------

    def event(self, written: bytes | int) -> Event | None:
        if isinstance(written, int):
            return written
        return self._meanings.attributes(Raw(written)) if written else None

    def fair_until(self, of: str, home: Node, event: Event, time: int, matching: Sequence[Stay]) -> float:
        """Until when a publication is fair; -inf where it never was."""
        readings = self.parameters
        if not self._is_timed or time < 0:
            return -inf
        if readings.counts != "elsewhere" or readings.sends != "all" or not readings.remembers:
            return -inf
        if not self._is_quiet(time) or any(stay.until <= time for stay in matching):
            return -inf
        advertised = self._advertised.get((of, home), ())
        if not any(time in times and wants.matches(event) for wants, times in advertised):
            return -inf
        at = bisect_left(self._times, time)
        return self._times[at] if at < len(self._times) else inf

    def _is_quiet(self, time: int) -> bool:
        """True if all operations of clients are known everywhere. A held subscription was withdrawn, and is checked
        separately.
        """
        assert self.traffic is not None, "asked before"
        control = self.traffic.control
        at = bisect_left(self._times, time)
        if at and self.traffic.ready_by(self._times[at - 1]) >= time:
            return False
        return control is None or control.over(time) == time
