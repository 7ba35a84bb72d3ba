"""A part of a trace: one broker's events, all of them or from one snapshot to the next.

Whatever engine reads a trace hands each event to its part. A part replays it, and sets aside the rows that can only be
judged together with events of other brokers: messages on links, and operations and deliveries of clients.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import UNSET

from routeproof.checker.validate.broker.canonical import digest
from routeproof.checker.validate.broker.columns import CLIENT, DELIVER, RECEIVE, SEND, Column, Steps, Stretch
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.broker.model import AcceptedStep
from routeproof.checker.validate.broker.publications import Unpacked
from routeproof.checker.validate.broker.replay import BrokerReplay
from routeproof.checker.validate.clients import Deliveries, EventPlace, OperationRows, Published
from routeproof.checker.validate.clock import Clock, ClockRecord
from routeproof.checker.validate.fast import Knowledge
from routeproof.checker.validate.findings import BadLines, Beginning, Keeping, KeptRecord, PartResult
from routeproof.checker.validate.link_rows import LATEST, LinkRows
from routeproof.checker.validate.setting import EVERYTHING
from routeproof.model.overlay import LOCAL
from routeproof.traces import BadLine, Event, TraceError, TraceMessage, TraceTables
from routeproof.traces.tables import local_entries

NO_LINK = -1

RARE = frozenset({"snapshot", "note", "drop", "crash", "restart"})


class Part:
    """`start`: the snapshot that it begins with, which was judged at the end of the part before. `before`: what is
    added to the number of events that came before one, where that is set aside."""

    def __init__(self, judge: Judge, run: str, broker: str, start: Event | None = None, before: int = 0) -> None:
        self.run, self.broker = run, broker
        self.events = 0 if start is None else 1
        self.bad = BadLines()
        """Lines that cannot be read, or have no meaning."""
        self._before = before
        self._judge = judge
        setting = judge.setting.at(broker)
        self._pairs = judge.setting.is_linked(broker)
        self._is_paired = self._pairs and not setting.models_sends
        tables = None if start is None else judge.start_at(start)
        self._start = start
        self._is_lost = start is not None and tables is None
        """It begins with a snapshot that no broker can have: the part before ends with a rejection."""
        judging = judge.judging
        self._emitter = None if judging.stages is None else judging.stages.emitter(broker, before)
        self._keeping = Keeping() if judging.keeps else None
        self._models_sends = setting.models_sends
        watches = self._emitter is not None or self._keeping is not None or self._models_sends
        model = judging.model(setting, judge.replica, broker, tables)
        self._watch = self._accepted if watches else None
        self._replay = BrokerReplay(setting, model, run, broker, start, self._watch)
        self._add_meaning = judging.meaning
        self._neighbours = judge.setting.neighbours(broker)
        self.links = LinkRows(broker, self._neighbours)
        self._clients = judge.clients(run)
        self._kinds = judge.judging.client_kinds
        self._operations = OperationRows(broker)
        self._crashes, self._restarts, self._faulted, self._unharmed_until = 0, 0, -1, -1
        self._drops, self._dropped = 0, -1
        self._earliest = self._latest = -1 if start is None or start.time is None else start.time
        self._steps = 0
        self._clock = Clock() if judge.setting.shared_clock else None
        if self._clock is not None and start is not None and start.time is not None:
            self._clock.tell(before, start.seq, start.time)
        self._began, self._began_at = -1, before
        """When the step that is under way began, and at which event."""
        self._snapshot_at = -1
        """The last snapshot. A part may begin there, and then nothing before it is known."""
        self._seen: set[str] = set()
        """Kinds of its events."""
        self._begins_with = Beginning.NOTHING
        self._handled = ""
        """The publication that is handled, where steps are not replayed."""
        self._last: TraceMessage | None = None
        self._last_meant: MessageMeaning

    def _accepted(self, step: AcceptedStep) -> None:
        """Takes a step that was accepted, where stages or what the model keeps ask for it."""
        if self._emitter is not None:
            self._emitter.emit(step, self._replay.model)
        if self._keeping is not None:
            self._keeping.take(self._replay.model.kept(), step.time)
        if self._models_sends:
            self._send_as_modelled(step)

    def _send_as_modelled(self, step: AcceptedStep) -> None:
        """Sets aside what the model sends in this step, as if it had been observed."""
        model, place = self._replay.model, self._before + step.before
        for to, message in model.answer():
            if to != LOCAL:
                peer = self._judge.setting.name_of(to)
                said = model.canonical(message)
                is_control = said.kind != "publish"
                self.links.add((peer, True), digest(said), is_control, step.seq, place, step.time, step.time)

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
            self._at(before, seq, time)
        if meant.is_control and self._is_unheard_of(kind, meant.kind):
            replay.refuse(seq, line, kind, str(meant.said))
            return False
        self._seen.add(kind)
        if kind == "send":
            replay.send(seq, line, peer, meant)
            return self._is_paired and self.links.add(
                (peer, True), meant.digest, meant.is_control, seq, self._began_at, self._began, time
            )
        if kind == "deliver":
            to = message.to or f"@{peer}"
            replay.deliver(seq, line, to, meant)
            return self._clients.delivered(meant, to, peer, self.broker, seq, before, time)
        self._begins(before, seq, time)
        self._handled = "" if meant.is_control else meant.id
        if kind == "receive":
            replay.receive(seq, line, peer, meant)
            full = self._pairs and self.links.add(
                (peer, False), meant.digest, meant.is_control, seq, before, time, time
            )
            return full or (self._emitter is not None and self._emitter.is_full)
        replay.client(seq, line, peer, meant)
        if meant.kind != "publish":
            return self._operations.did(meant, peer, seq, before, time)
        spoke = time if event.issued_ns is UNSET else min(event.issued_ns, time)
        place = EventPlace(self.broker, seq, before, time)
        return self._clients.published(Published(meant.id, meant.of, meant.written, meant.digest, spoke, place))

    def _is_unheard_of(self, kind: str, said: str) -> bool:
        """True if this is no message that a client can be given, or can give. `kind`: the event's."""
        return kind == "deliver" or (kind == "client" and said not in self._kinds)

    def pass_on(self, stretch: Stretch) -> bool:
        """Many events at once: all of a stretch, if there is nothing wrong with them. If not, or if that cannot be
        decided so fast, nothing has changed, and the caller has to judge them one by one.
        """
        assert type(self) is Part, "one that looks for more is shown every event"
        steps = Steps(stretch)
        if not steps.are_about_one or self._is_lost or not self._is_in_time(stretch):
            return False
        entries = self._judge.dictionary.entries_by_key(steps.keys, steps.written, self._judge.meanings)
        read = [entry for entry in entries if entry is not None]
        if len(read) < len(entries):
            return False
        known = self._judge.dictionary.publications.unpacked(read)
        if not self._replay.pass_on(stretch, steps, known):
            return False
        self._seen.update(EVERYTHING)
        self._set_aside(stretch, steps, known)
        begin = self._before + self.events
        self._count(stretch.seq[:-1], stretch.time[:-1], len(steps.begins))
        self._began, self._began_at = int(stretch.time[steps.begins[-1]]), begin + int(steps.begins[-1])
        return True

    def _is_in_time(self, stretch: Stretch) -> bool:
        """True if no time of a stretch is missing or out of order, or if times do not matter."""
        return self._clock is None or (
            bool(stretch.time[0] >= self._clock.last) and not (np.diff(stretch.time[:-1], prepend=0) < 0).any()
        )

    def begins_many(self, first: Event) -> bool:
        """Ends the step before steps that another judge takes over. Returns True if it ended well and they can
        begin.
        """
        return type(self) is Part and not self._is_lost and self._replay.begins_many(first.seq, first.line)

    def passed_many(self, seqs: Column, times: Column, begins: Column) -> None:
        """Accepts events with these seqs and times, and the places of those that begin steps."""
        self._seen.update(EVERYTHING)
        self._replay.passed_many(len(seqs), int(seqs[-1]))
        self._began, self._began_at = int(times[begins[-1]]), self.before + int(begins[-1])
        self._count(seqs, times, len(begins))

    def _count(self, seqs: Column, times: Column, steps: int) -> None:
        """`times`: where brokers share a clock, none is missing or falls."""
        if self._clock is not None:
            self._clock.tell_many(self.before + np.arange(len(seqs)), seqs, times)
        self.events += len(seqs)
        self._steps += steps
        told = times[times >= 0]
        if len(told):
            earliest, self._latest = int(told.min()), max(self._latest, int(told.max()))
            self._earliest = earliest if self._earliest < 0 else min(self._earliest, earliest)

    @property
    def last_time(self) -> int:
        """The time below which none may come; -1 where times do not matter."""
        return -1 if self._clock is None else self._clock.last

    @property
    def knowledge(self) -> Knowledge:
        """Content of the broker's tables."""
        return self._replay.knowledge

    @property
    def before(self) -> int:
        """How many events the broker had before the next one."""
        return self._before + self.events

    @property
    def has_much(self) -> bool:
        """Is it time to ask for `blocks`?"""
        return self.links.is_full or self._clients.is_much

    def _set_aside(self, stretch: Stretch, steps: Steps, known: Unpacked) -> None:
        kind, seq, time = stretch.kind[:-1], stretch.seq[:-1], stretch.time[:-1]
        begin = self._before + self.events
        publication, digests = steps.publication, known.digests[steps.publication]
        if self._pairs:
            self._set_links_aside(stretch, steps, digests)
        came = np.flatnonzero(kind == DELIVER)
        step = steps.of_row[came]
        here = np.zeros(len(came), np.int64)
        of_rows = [publication[step], stretch.to.numbers[came], here, stretch.peer.numbers[came]]
        columns = np.stack([*of_rows, seq[came], begin + came, time[came], digests[step]])
        names = steps.ids, stretch.to.all_of_them(), [self.broker], stretch.peer.all_of_them()
        self._clients.came(Deliveries(*names, columns))
        made = np.flatnonzero(kind == CLIENT)
        for row, written in zip(made.tolist(), stretch.written(made), strict=True):
            spoke = int(time[row] if stretch.issued[row] < 0 else min(stretch.issued[row], time[row]))
            place = EventPlace(self.broker, int(seq[row]), begin + row, int(time[row]))
            self._clients.published(Published(*written, int(digests[steps.of_row[row]]), spoke, place))

    def _set_links_aside(self, stretch: Stretch, steps: Steps, digests: Column) -> None:
        """`digests`: of each step's publication."""
        kind, peer, time = stretch.kind[:-1], stretch.peer.numbers[:-1], stretch.time
        link = np.where(kind == SEND, 2 * peer + 1, np.where(kind == RECEIVE, 2 * peer, NO_LINK))
        peers = stretch.peer.all_of_them()
        rows = np.argsort(link.astype(np.min_scalar_type(-2 * len(peers))), kind="stable")  # faster in few bits
        rows = rows[np.searchsorted(link[rows], 0) :]
        step = steps.of_row[rows]
        from_row = np.where(kind[rows] == SEND, steps.begins[step], rows)
        place, moment = self._before + self.events + from_row, 2 * np.minimum(time[from_row], LATEST)
        together = np.stack([digests[step], stretch.seq[rows], place, moment, time[rows]], axis=1)
        different, firsts = np.unique(link[rows], return_index=True)
        for key, first, end in zip(different.tolist(), firsts.tolist(), [*firsts[1:].tolist(), len(rows)], strict=True):
            self.links.add_many((peers[key // 2], key % 2 == 1), together[first:end].tobytes())

    def _meant(self, message: TraceMessage) -> MessageMeaning:
        """The next event of a step is mostly about the same publication."""
        last, text = self._last, message.attributes_text
        if (
            last is not None
            and message.id == last.id
            and text is not UNSET
            and text == last.attributes_text
            and (message.of, message.kind, message.number) == (last.of, last.kind, last.number)
            and self._add_meaning is None
        ):
            return self._last_meant
        self._last_meant = self._judge.dictionary.of(message)
        if self._add_meaning is not None:
            self._last_meant = self._add_meaning(self._last_meant, message)
        self._last = message
        return self._last_meant

    def _begins(self, before: int, seq: int, time: int) -> None:
        """A message is handled from here on."""
        self._began, self._began_at = time, before
        self._steps += 1
        if time < 0 and self._clock is not None:
            self._clock.miss(before, seq)

    def _at(self, before: int, seq: int, time: int) -> None:
        if self._clock is not None:
            self._clock.tell(before, seq, time)
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
            self._at(before, seq, time)
        elif kind == "drop" and self._clock is not None:
            self._clock.miss(before, seq)
        if kind == "note":
            self._replay.note(seq, line)
            return False
        if kind == "snapshot":
            self._snapshot_at, self._handled = before, ""
            is_first = self.events == 1 and self._start is None and tables is not None
            if is_first and tables is not None and self._replay.model.difference(tables) is not None:
                self._begin_with(event, before, time)
            else:
                self._replay.snapshot(seq, line, tables)
        else:
            if kind != "drop":
                if not self._crashes + self._restarts:
                    self._faulted, self._unharmed_until = seq, self._began if self._began_at > self._snapshot_at else -1
                self._crashes += kind == "crash"
                self._restarts += kind == "restart"
                self._replay.restart(seq, line)
            else:
                assert meant is not None, "the reader wants one"
                self._replay.drop(seq, line, peer)
                self._drops, self._dropped = self._drops + 1, seq if not self._drops else self._dropped
                return self._pairs and self.links.add(
                    (peer, False), meant.digest, meant.is_control, seq, before, time, time
                )
        return False

    def _begin_with(self, snapshot: Event, before: int, time: int) -> None:
        """The recording begins amid the run, with these tables."""
        judge, setting, written = self._judge, self._judge.setting.at(self.broker), snapshot.tables_text
        tables = judge.start_at(snapshot)
        entries = () if written is UNSET else tuple(local_entries(written))
        is_known = tables is not None and all(wants is not None for _, _, wants in entries)
        self._begins_with = Beginning.TABLES if is_known else Beginning.UNKNOWN
        if not is_known:
            self._replay.snapshot(snapshot.seq, snapshot.line, TraceTables())
            self._replay.give_up()
            return
        model = judge.judging.model(setting, judge.replica, self.broker, tables)
        self._replay = BrokerReplay(setting, model, self.run, self.broker, snapshot, self._watch)
        for kind, id, wants in entries:
            self._operations.stood(kind, id, wants or b"", EventPlace(self.broker, snapshot.seq, before, time))

    def end_with(self, snapshot: Event) -> None:
        """The snapshot that the next part begins with: it ends this one, and counts as an event of that one."""
        self._replay.clock = -1 if snapshot.time is None else snapshot.time
        self._replay.snapshot(snapshot.seq, snapshot.line, snapshot.tables)
        self._handled = ""

    def finish(self) -> PartResult:
        """After the last event, or the snapshot of `end_with`."""
        rejection = None if self._is_lost else self._replay.finish()
        replays = self._judge.setting.at(self.broker).replays
        return PartResult(
            self.run,
            self.broker,
            self.events,
            rejection,
            self.bad,
            self._earliest,
            self._latest,
            self._steps,
            ClockRecord() if self._clock is None else self._clock.told(),
            drops=self._drops,
            dropped=self._dropped,
            crashes=self._crashes,
            restarts=self._restarts,
            faulted=self._faulted,
            unharmed_until=self._unharmed_until,
            unfinished=self._replay.unfinished,
            unknown=self._replay.signs.unknown,
            first_unknown=self._replay.signs.first_unknown,
            kinds=tuple(sorted(self._seen)),
            begins_with=self._begins_with,
            deviations=self._replay.deviations,
            deviated=self._replay.deviated,
            last_publication=self._replay.last_publication if replays else self._handled,
            kept=KeptRecord() if self._keeping is None else self._keeping.result(),
        )

    def client_blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[int, bytes]]:
        """Blocks of the clients' rows since the last call, by bucket: if there are many, or all. Publications and
        deliveries are those of all parts of the run.
        """
        yield from self._operations.blocks(all_of_them=all_of_them)
        yield from self._clients.blocks(all_of_them=all_of_them)

    def emitted_blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[str, bytes]]:
        """Blocks of a protocol's stages since the last call, each with its key: if there are many, or all."""
        return iter(()) if self._emitter is None else self._emitter.blocks(all_of_them=all_of_them)
