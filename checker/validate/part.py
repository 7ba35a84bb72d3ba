"""A part of a trace: one broker's events, all of them or from one snapshot to the next.

Whatever engine reads a trace hands each event to its part. A part replays it, and sets aside what can only be judged
beside other brokers' events: what went over links, and what clients did and got. `Judge` is what the parts that are
judged in one process share.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

import numpy as np
from attrs import frozen
from msgspec import UNSET
from msgspec import Raw as JsonText

from routeproof.checker.validate.ahead import MOST, Announced, Expected
from routeproof.checker.validate.bad import BadLines
from routeproof.checker.validate.clients import ClientRows, Deliveries, OperationRows, Place, Published
from routeproof.checker.validate.links import COLUMNS, LATEST
from routeproof.checker.validate.meant import Dictionary, Meant
from routeproof.checker.validate.passing import Steps
from routeproof.checker.validate.pruning.tables import tables_of as pruning_tables_of
from routeproof.checker.validate.publications import Unpacked
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.replica import Knowledge, Replica
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.snapshots import tables_of
from routeproof.checker.validate.steps import BrokerReplay
from routeproof.checker.validate.stretches import CLIENT, DELIVER, RECEIVE, SEND, Column, Stretch
from routeproof.model.filters import FilterError, dialect
from routeproof.model.messages import Subscription
from routeproof.model.tables import Tables
from routeproof.traces import BadLine, Event, TraceError, TraceMessage
from routeproof.traces.meanings import meanings_of

HELD = 512
"""Rows of a link that wait before they become a block."""

RARE = frozenset({"snapshot", "note", "drop", "crash", "restart"})

LinkKey = tuple[str, str, str]
"""From whom, to whom, and which end saw it: `sent` or `taken`."""


class Judge:
    """What parts share: the setting, what messages mean, and what matches and covers what."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.replica = Replica(setting.overlay, setting.policy)
        self.dictionary = Dictionary(self.replica.universe, matched=setting.matches)
        self.meanings = meanings_of(dialect(setting.dialect))
        self._expected = Expected(self.replica.universe)
        self._clients: dict[str, ClientRows] = {}

    def clients(self, run: str) -> ClientRows:
        """Where what clients of this run got, and what they published, waits to be set aside."""
        return self._clients.setdefault(run, ClientRows())

    def look_ahead(self, announced: Iterable[Announced]) -> None:
        """These subscriptions will come up: better to know them before publications are matched. Brokers stand one
        after the other."""
        self.dictionary.publications.come_round = True
        for id, text in islice(dict.fromkeys(announced), MOST):
            with suppress(TraceError, FilterError):
                wants = self.meanings.filter(JsonText(text))
                self._expected.expect(Subscription(self.setting.ranks.get(id, 0), id, wants))

    def start_at(self, snapshot: Event) -> Tables | None:
        """What a part that begins with this snapshot knows; None where no part can begin with it."""
        try:
            told = snapshot.tables
        except TraceError:
            return None
        neighbours = self.setting.neighbours(snapshot.broker)
        of = pruning_tables_of if self.setting.prunes else tables_of
        return None if told is None else of(told, neighbours, self.setting.ranks)


@frozen
class Found:
    """What a part came to. `earliest` and `latest`: of the times that its events tell; -1 where none does."""

    run: str
    broker: str
    events: int
    rejection: Rejection | None
    bad: BadLines
    faults: bool
    earliest: int
    latest: int
    metered: bytes = b""
    """What `metrics.meter` counted, where that was asked for."""


class Part:
    """`start`: the snapshot that it begins with, which was judged at the end of the part before. `before`: what is
    added to the number of events that came before one, where that is set aside."""

    def __init__(self, judge: Judge, run: str, broker: str, start: Event | None = None, before: int = 0) -> None:
        self.run, self.broker = run, broker
        self.events = 0 if start is None else 1
        self.bad = BadLines()
        """Lines that nobody could read, or that mean nothing."""
        self._before = before
        self._judge = judge
        self._pairs = judge.setting.pairs
        tables = None if start is None else judge.start_at(start)
        self._is_lost = start is not None and tables is None
        """It begins with a snapshot that no broker can have: the part before ends with a rejection."""
        self._replay = self._replay_from(tables, start)
        self._neighbours = judge.setting.neighbours(broker)
        self._links: dict[tuple[str, bool], array[int]] = {}
        self._full: list[tuple[str, bool]] = []
        self._clients = judge.clients(run)
        self._operations = OperationRows(broker)
        self._faults = False
        self._earliest = self._latest = -1 if start is None or start.time is None else start.time
        self._began = -1
        self._last: TraceMessage | None = None
        self._last_meant: Meant

    def _replay_from(self, tables: Tables | None, start: Event | None) -> BrokerReplay:
        return BrokerReplay(self._judge.setting, self._judge.replica, self.run, self.broker, tables, start)

    def look(self, event: Event) -> bool:
        """The next event. True when it is time to ask for `blocks`."""
        kind, seq, line, peer, message = event.event, event.seq, event.line, event.peer, event.message
        time = -1 if event.time_ns is UNSET else event.time_ns
        replay = self._replay
        replay.clock = time
        if kind in RARE or message is None:
            return self._rarely(event, time)
        try:
            meant = self._meant(message)
        except TraceError as error:
            self.bad.add(BadLine(line, str(error)))
            return False
        before = self._before + self.events
        self.events += 1
        if time >= 0:
            self._at(time)
        if kind == "send":
            replay.send(seq, line, peer, meant)
            return self._pairs and self._on_link((peer, True), meant, seq, before, self._began)
        if kind == "deliver":
            to = message.to or f"@{peer}"
            replay.deliver(seq, line, to, meant)
            return self._clients.delivered(meant.id, to, self.broker, seq, before, time)
        self._began = time
        if kind == "receive":
            replay.receive(seq, line, peer, meant)
            return self._pairs and self._on_link((peer, False), meant, seq, before, time)
        replay.client(seq, line, peer, meant)
        if meant.is_control:
            return self._operations.did(meant, peer, seq, before, time)
        spoke = time if event.issued_ns is UNSET else min(event.issued_ns, time)
        place = Place(self.broker, seq, before, time)
        return self._clients.published(Published(meant.id, meant.of, meant.written, meant.digest, spoke, place))

    def pass_on(self, stretch: Stretch) -> bool:
        """Many events at once: all of a stretch, if there is nothing wrong with them. If not, or if that cannot be told
        so fast, nothing has happened, and they are to be looked at."""
        assert type(self) is Part, "one that looks for more is shown every event"
        steps = Steps(stretch)
        if not steps.are_about_one or self._is_lost:
            return False
        entries = self._judge.dictionary.entries(steps.publications, self._judge.meanings)
        read = [entry for entry in entries if entry is not None]
        if len(read) < len(entries):
            return False
        known = self._judge.dictionary.publications.unpacked(read)
        if not self._replay.pass_on(stretch, steps, known):
            return False
        self._set_aside(stretch, steps, known)
        self._count(len(stretch), stretch.time[:-1][stretch.time[:-1] >= 0])
        return True

    def begins_many(self, first: Event) -> bool:
        """With this event begin steps that somebody else judges. Did the step before end well, and can they?"""
        return type(self) is Part and not self._is_lost and self._replay.begins_many(first.seq, first.line)

    def passed_many(self, count: int, seq: int, times: Column) -> None:
        """They were as they should be: so many events, the last of which has this seq, at these times."""
        self._replay.passed_many(count, seq)
        self._count(count, times)

    def _count(self, count: int, times: Column) -> None:
        self.events += count
        if len(times):
            self._at(int(times.min()))
            self._at(int(times.max()))

    @property
    def knowledge(self) -> Knowledge:
        """What the broker has in its tables."""
        return self._replay.knowledge

    @property
    def before(self) -> int:
        """How many events the broker had before the next one."""
        return self._before + self.events

    @property
    def has_much(self) -> bool:
        """Is it time to ask for `blocks`?"""
        return bool(self._full) or self._clients.is_much

    def _set_aside(self, stretch: Stretch, steps: Steps, known: Unpacked) -> None:
        kind, seq, time = stretch.kind[:-1], stretch.seq[:-1], stretch.time[:-1]
        before = self._before + self.events + np.arange(len(stretch))
        publication = steps.publication[steps.of_row]
        if self._pairs:
            moment = 2 * np.minimum(np.where(kind == SEND, time[steps.begins][steps.of_row], time), LATEST)
            rows = np.stack([known.digests[publication], seq, before, moment], axis=1)
            peers = stretch.peer.all_of_them()
            for end, sent in ((SEND, True), (RECEIVE, False)):
                for number in np.unique(stretch.peer.numbers[:-1][kind == end]).tolist():
                    chosen = rows[(kind == end) & (stretch.peer.numbers[:-1] == number)]
                    self.on_link_many((peers[number], sent), chosen.tobytes())
        (came,) = np.nonzero(kind == DELIVER)
        ids = [id for id, _, _ in steps.publications]
        here = np.zeros(len(came), np.int64)
        columns = np.stack(
            [publication[came], stretch.to.numbers[:-1][came], here, seq[came], before[came], time[came]]
        )
        self._clients.came(Deliveries(ids, stretch.to.all_of_them(), [self.broker], columns))
        for row in np.nonzero(kind == CLIENT)[0].tolist():
            id, of, event = steps.publications[publication[row]]
            spoke = int(time[row] if stretch.issued[row] < 0 else min(stretch.issued[row], time[row]))
            digest = int(known.digests[publication[row]])
            place = Place(self.broker, int(seq[row]), int(before[row]), int(time[row]))
            self._clients.published(Published(id, of, event, digest, spoke, place))

    def _meant(self, message: TraceMessage) -> Meant:
        """The next event of a step is mostly about the same publication."""
        last, text = self._last, message.attributes_text
        if (
            last is not None
            and message.id == last.id
            and text is not UNSET
            and text == last.attributes_text
            and (message.of, message.kind, message.number) == (last.of, last.kind, last.number)
        ):
            return self._last_meant
        self._last_meant = self._judge.dictionary.of(message)
        self._last = message
        return self._last_meant

    def _at(self, time: int) -> None:
        if time > self._latest:
            self._latest = time
        if time < self._earliest or self._earliest < 0:
            self._earliest = time

    def _rarely(self, event: Event, time: int) -> bool:
        """Events that are few: they change no table, or all of them."""
        kind, seq, line, peer = event.event, event.seq, event.line, event.peer
        try:
            meant = None if event.message is None or kind == "note" else self._meant(event.message)
            tables = event.tables
        except TraceError as error:
            self.bad.add(BadLine(line, str(error)))
            return False
        before = self._before + self.events
        self.events += 1
        if time >= 0:
            self._at(time)
        if kind == "note":
            self._replay.note(seq, line)
            return False
        if kind == "snapshot":
            self._replay.snapshot(seq, line, tables)
        else:
            self._faults = True
            if kind != "drop":
                self._replay.restart(seq, line)
            else:
                assert meant is not None, "the reader wants one"
                self._replay.drop(seq, line, peer)
                return self._pairs and self._on_link((peer, False), meant, seq, before, time)
        return False

    def end_with(self, snapshot: Event) -> None:
        """The snapshot that the next part begins with: it ends this one, and counts as an event of that one."""
        self._replay.clock = -1 if snapshot.time is None else snapshot.time
        self._replay.snapshot(snapshot.seq, snapshot.line, snapshot.tables)

    def finish(self) -> Found:
        """After the last event, or the snapshot of `end_with`."""
        return Found(
            self.run,
            self.broker,
            self.events,
            None if self._is_lost else self._replay.finish(),
            self.bad,
            self._faults,
            self._earliest,
            self._latest,
        )

    def link_blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[LinkKey, bytes]]:
        """What went over links since this was last asked: those with much, or all."""
        for key in sorted(self._links) if all_of_them else self._full:
            peer, sent = key
            link = (self.broker, peer, "sent") if sent else (peer, self.broker, "taken")
            yield link, self._links.pop(key).tobytes()
        self._full = []

    def client_blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[int, bytes]]:
        """What clients did since this was last asked, by bucket: if it was much, or all. What they published and got
        is that of all parts of the run."""
        yield from self._operations.blocks(all_of_them=all_of_them)
        yield from self._clients.blocks(all_of_them=all_of_them)

    def noted_blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[str, bytes]]:
        """What a protocol sets aside beside: each with where it belongs."""
        return iter(())

    def _on_link(self, key: tuple[str, bool], meant: Meant, seq: int, before: int, time: int) -> bool:
        rows = self._links.get(key)
        if rows is None:
            if key[0] not in self._neighbours:
                return False  # TRC-2
            rows = self._links[key] = array("q")
        when = min(LATEST, time)
        rows.extend((meant.digest, seq, before, when * 2 + meant.is_control))
        if len(rows) < COLUMNS * HELD:
            return False
        self._full.append(key)
        return True

    def on_link_many(self, key: tuple[str, bool], rows: bytes) -> None:
        """To or from a neighbour: rows of a link."""
        known = self._links.setdefault(key, array("q"))
        known.frombytes(rows)
        if len(known) >= COLUMNS * HELD:
            self._full.append(key)
