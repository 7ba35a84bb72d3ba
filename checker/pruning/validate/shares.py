"""Similarity by subscription, advertisement and broker (SIM-5), and every decision compared with it.

Two similarities. What a broker of PRN-4 goes by is that of the rows which the database held when the list was written:
of so many rows the distance is at most mu (CRD-1). Decisions are held against that one, exactly and always. The true
one is of all publications that came, with the subscriptions of now (`ways`). It must not decrease toward the publisher,
and the report gives the difference between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attrs import define, field

from routeproof.checker.pruning.validate.model import ALWAYS
from routeproof.checker.pruning.validate.replay import At, Decided, Distances, OfSubscriptions, Toward
from routeproof.checker.pruning.validate.ways import JudgedRow, Mask, Standing, StayRows, SubscriptionStay
from routeproof.checker.validate.findings import Rejection
from routeproof.model.overlay import Node

WHOLE = 10_000
"""A deviation is in parts of this."""


class Share(NamedTuple):
    """SIM-5, a row of the artefact. `came`: publications; `similar`: of these, where something else counted there.

    `held`: rows in the database when the list was written or, of one that was not withdrawn, at the end; `near`: of
    these, with a distance of at most `hops`; `true_near`: where something else counted. `decision`: `on`, `end`, or
    empty where none was taken here.
    """

    run: str
    subscription: str
    home: str
    advertisement: str
    broker: str
    hops: int
    came: int
    similar: int
    held: int
    near: int
    true_near: int
    exact: int
    decision: str


@define
class ShareTally:
    """Tally of what was judged. `deviation`: the greatest of a share that decided something, in parts of `WHOLE`."""

    pairs: int = 0
    rows: int = 0
    exact: int = 0
    decisions: int = 0
    unjudged: int = 0
    deviation: int = 0

    def add(self, other: ShareTally) -> None:
        for name in ("pairs", "rows", "exact", "decisions", "unjudged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.deviation = max(self.deviation, other.deviation)


class HeldRow(NamedTuple):
    """A row of the database that was there in the end."""

    seq: int
    distance: int
    joins: int
    where: Mask


@define
class _Pair:
    """A stay with an advertisement, from one publisher's broker."""

    publisher: Node
    length: int
    came: int = 0
    exact: int = 0
    similar: list[int] = field(factory=list)
    latest: list[HeldRow] = field(factory=list)
    uneven: At | None = None
    """The first step at which something counted at a broker, and not at the next one."""

    def add(self, row: JudgedRow, window: int) -> None:
        where = int(row.where, 16)
        self.came += 1
        self.exact += row.is_exact
        for mu in range(self.length):
            self.similar[mu] += where >> mu & 1
        goes_on = where == 0 or where == (1 << self.length) - (where & -where)  # to the end, once it has begun
        if not goes_on and (self.uneven is None or row.at < self.uneven):
            self.uneven = row.at
        self.latest.append(HeldRow(row.at.seq, row.distance, row.joins, where))
        if len(self.latest) >= 2 * window:
            self.held(window)

    def held(self, window: int) -> list[HeldRow]:
        """STA-7: the latest are kept."""
        self.latest = sorted(self.latest)[-window:]
        return self.latest


Key = tuple[str, str, int]
"""A stay: its subscription, its broker, and the seq with which it begins."""


class Shares:
    """The caller calls `judge` for one bucket of subscriptions after the other."""

    def __init__(self, run: str, standing: Standing) -> None:
        self._run = run
        self._standing = standing
        self._overlay = standing.overlay
        self._readings = standing.parameters

    def judge(
        self, rows: Iterable[StayRows], decided: Iterable[OfSubscriptions]
    ) -> Iterator[Rejection | ShareTally | Share]:
        """Rejections, tallies and all similarities, in order of subscriptions."""
        pairs: dict[Key, dict[tuple[str, Node], _Pair]] = {}
        for some in rows:
            key = some.subscription, some.broker, some.begin
            length = len(self._overlay.path(self._standing.setting.node[some.broker], some.publisher))
            pair = _Pair(some.publisher, length, similar=[0] * length)
            mine = pairs.setdefault(key, {}).setdefault((some.advertisement, some.publisher), pair)
            for row in some.rows:
                mine.add(row, self._readings.window)
        decisions: dict[tuple[Key, str, Node], dict[Node, str]] = {}
        tally = ShareTally()
        taken = [(block.broker, each) for block in decided for each in block.decided]
        for broker, each in sorted(taken, key=lambda one: (one[0], one[1].at.seq)):
            yield from self._decision(broker, each, pairs, decisions, tally)
        for key in sorted(pairs):
            for (advertisement, publisher), pair in sorted(pairs[key].items()):
                tally.pairs += 1
                tally.rows += pair.came
                tally.exact += pair.exact
                if pair.uneven is not None:
                    yield self._uneven(key, advertisement, pair, pair.uneven)
                here = decisions.get((key, advertisement, publisher), {})
                yield from self._shares(key, advertisement, pair, here)
        yield tally

    # -- Property 3 ----------------------------------------------------------------------------------------------------

    def _uneven(self, key: Key, advertisement: str, pair: _Pair, at: At) -> Rejection:
        subscription, broker, _ = key
        wanted = f"what counts for {subscription} at a broker counts at the next one toward {advertisement}"
        shown = ", ".join(map(str, pair.similar))
        seen = f"of {pair.came} publications others match {shown} on the way"
        return self._rejection(broker, at, "SIM-6", wanted, seen)

    # -- decisions -----------------------------------------------------------------------------------------------------

    def _decision(
        self,
        broker: str,
        each: Decided,
        pairs: dict[Key, dict[tuple[str, Node], _Pair]],
        decisions: dict[tuple[Key, str, Node], dict[Node, str]],
        tally: ShareTally,
    ) -> Iterator[Rejection]:
        stay = self._standing.withdrawn_before(each.subscription, broker, each.at.seq, each.at.time)
        if stay is None or not each.is_seen:
            tally.unjudged += 1
            return
        tally.decisions += 1
        key, node = (stay.id, stay.broker, stay.begin), self._standing.setting.node[broker]
        mine = pairs.get(key, {})
        if node == stay.home and self._standing.setting.policy == "selective":
            yield from self._worth(broker, each, stay, mine)
        mu = len(self._overlay.path(stay.home, node)) - 1
        for toward in each.toward:
            those = [pair for (a, _), pair in mine.items() if a == toward.advertisement]
            window = self._readings.window
            rows = sorted(row for pair in those for row in pair.held(window))[-window:]
            yield from self._toward(broker, each, toward, mu, rows)
            for pair in those:
                way = decisions.setdefault((key, toward.advertisement, pair.publisher), {})
                way[node] = "on" if toward.onward else "end"
                if rows and toward.which != ALWAYS:
                    off = abs(_near(rows, mu) - _similar(rows, mu)) * WHOLE // len(rows)
                    tally.deviation = max(tally.deviation, off)

    def _worth(
        self, broker: str, each: Decided, stay: SubscriptionStay, mine: dict[tuple[str, Node], _Pair]
    ) -> Iterator[Rejection]:
        most = max((row.joins for pair in mine.values() for row in pair.held(self._readings.window)), default=0)
        full = most < self._readings.fewest
        if full != each.full:
            words = "a full withdrawal", "a withdrawal with a list"
            wanted = f"{words[not full]} of {stay.id}, whose rows have counts up to {most}"
            yield self._rejection(broker, each.at, "STA-8", wanted, words[not each.full])

    def _toward(
        self, broker: str, each: Decided, toward: Toward, mu: int, rows: Sequence[HeldRow]
    ) -> Iterator[Rejection]:
        s, a = each.subscription, toward.advertisement
        distances = self._critical(rows)
        if distances is None:
            yield self._rejection(broker, each.at, "CRD-6", f"no entry for {a}, of which {s} has no row", "one")
            return
        counting = None if toward.which == ALWAYS else distances[toward.which]
        goes_on = counting is None or counting > mu
        if goes_on != bool(toward.onward):
            words = f"the withdrawal of {s} toward {a}"
            wanted = f"{words} goes on" if goes_on else f"{words} ends"
            seen = "it ends" if goes_on else "it goes on"
            yield self._rejection(broker, each.at, "PRN-4", f"{wanted}: {self._why(rows, mu, toward)}", seen)
        elif goes_on:
            left = tuple(None if d is None else d - mu - 1 for d in distances)
            if left != toward.onward:
                wanted = f"{s} withdrawn from {a} with {_shown(left)}"
                yield self._rejection(broker, each.at, "CRD-2", wanted, _shown(toward.onward))

    def _why(self, rows: Sequence[HeldRow], mu: int, toward: Toward) -> str:
        if toward.which == ALWAYS:
            return "too little is triggered"
        if not rows:
            return "there are no rows"
        least = self._readings.thresholds[toward.which]
        return f"{_near(rows, mu)} of {len(rows)} rows within {mu} hops, where {least} percent count"

    def _critical(self, rows: Sequence[HeldRow]) -> Distances | None:
        """CRD-2, CRD-6; None where there is to be no entry."""
        count = len(self._readings.thresholds)
        if not rows:
            unknown: dict[str, Distances | None] = {"remove": (None,) * count, "zero": (0,) * count, "absent": None}
            return unknown[self._readings.without_history]
        last = max(row.distance for row in rows) + 1
        return tuple(
            next((mu for mu in range(last + 1) if self._reaches(rows, mu, least)), None)
            for least in self._readings.thresholds
        )

    def _reaches(self, rows: Sequence[HeldRow], mu: int, least: int) -> bool:
        """CRD-1, CRD-3"""
        if self._readings.inclusive:
            return 100 * _near(rows, mu) >= least * len(rows)
        return 100 * _near(rows, mu - 1) > least * len(rows)

    def _rejection(self, broker: str, at: At, rule: str, wanted: str, seen: str) -> Rejection:
        return Rejection(self._run, broker, at.seq, rule, wanted, seen, at.before, time=at.time)

    # -- the artefact --------------------------------------------------------------------------------------------------

    def _shares(self, key: Key, advertisement: str, pair: _Pair, taken: dict[Node, str]) -> Iterator[Share]:
        subscription, home, _ = key
        setting = self._standing.setting
        rows = pair.held(self._readings.window)
        for mu, node in enumerate(self._overlay.path(setting.node[home], pair.publisher)):
            numbers = pair.came, pair.similar[mu], len(rows), _near(rows, mu), _similar(rows, mu), pair.exact
            broker, decision = setting.name_of(node), taken.get(node, "")
            yield Share(self._run, subscription, home, advertisement, broker, mu, *numbers, decision)


def _near(rows: Sequence[HeldRow], mu: int) -> int:
    return sum(row.distance <= mu for row in rows)


def _similar(rows: Sequence[HeldRow], mu: int) -> int:
    return sum(row.where >> mu & 1 for row in rows)


def _shown(distances: Distances) -> str:
    return " ".join("no end" if d is None else str(d) for d in distances)
