"""One broker's events against the model, step by step.

`BrokerReplay` is fed a broker's events in the order in which they stand and keeps nothing but the model's tables and
the step that is under way: what was handled, and what was seen of the broker's answer so far. A step ends where the
next begins; then the answer is held against the model's. The first event that the model would not have is a
`Rejection`, and the replay of that broker ends with it: there is no saying what the broker's tables are from there on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence

import numpy as np
from attrs import evolve

from routeproof.checker.validate.broker.canonical import ADDS, distinguished
from routeproof.checker.validate.broker.columns import Stretch
from routeproof.checker.validate.broker.comparison import Difference, Divergence, divergence, matches
from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable
from routeproof.checker.validate.broker.model import BrokerModel, CoreModel, Sends, Step
from routeproof.checker.validate.broker.passing import Steps, near_of, passes
from routeproof.checker.validate.broker.recorder import Signs
from routeproof.checker.validate.broker.safe import SafeModel
from routeproof.checker.validate.fast import Knowledge
from routeproof.checker.validate.fast.publications import Unpacked
from routeproof.checker.validate.rejection import ALWAYS, Rejection, few
from routeproof.checker.validate.setting import Setting
from routeproof.model.filters import FilterError
from routeproof.model.messages import Deliver, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.traces import Event, TraceTables

Sent = tuple[Node, MessageMeaning, int, int]
"""A message that a broker sent: to whom, the message, its seq and its line."""


FEWEST = 1024
"""Number of subscriptions below which withdrawn ones are not looked for."""

LONGEST = 240
"""Characters of the description of a handled message."""

LAST = (1 << 63) - 1
"""The greatest seq that there is."""


class BrokerReplay:
    """The model of one broker, in step with its trace. `start`: an event that was judged already, with whose tables the
    model begins. `accepted` is called after each step that was accepted."""

    def __init__(
        self,
        setting: Setting,
        model: BrokerModel,
        run: str,
        broker: str,
        start: Event | None = None,
        accepted: Callable[[Step], None] | None = None,
    ) -> None:
        self.setting, self.model, self._on_accepted = setting, model, accepted
        self.run, self.broker = run, broker
        self.accepted = self._fed = 0 if start is None else 1
        self.rejection: Rejection | None = None
        self.unfinished: Rejection | None = None
        """The rejection of the last step if it is over: what is missing of it may have come after the last event."""
        self.last_publication = ""
        """The publication of that step."""
        self.signs = Signs()
        self.deviations, self.deviated, self._deviates = 0, "", 0
        """At the level `safe`: the number of steps that differ from the model without harm; and the first."""
        self._neighbours = setting.neighbours(broker)
        self._replays = setting.replays
        self._sends_observed = "send" in setting.observes
        self._deliveries_observed = "deliver" in setting.observes
        self._seq = -1 if start is None else start.seq
        if broker not in setting.node:
            self._seq = LAST  # no event of it can be right
        self._line = 0
        self.clock = -1 if start is None or start.time is None else start.time
        """The time of the event that comes next."""
        self._client_of: dict[str, str] = {}
        """Clients of the subscriptions that were made here, and of some that were withdrawn."""
        self._look_at = FEWEST
        self._told: MessageMeaning | None = None
        """The message being handled, or None between steps. The following six fields belong to that step."""
        self._sender = LOCAL
        self._begun = self._begun_line = 0
        self._peer = ""
        self._before = 0
        self._time = -1
        self._sends: list[Sent] = []
        """With the event's seq and line."""
        self._deliveries: list[tuple[MessageMeaning, str, int, int]] = []
        """With the subscription that it is for or, behind an @, the client; and the event's seq and line."""

    @property
    def table_size(self) -> int | None:
        """How many subscriptions the broker knows of; None once it was rejected."""
        return None if self.rejection is not None else self.model.size

    # -- events: a rejected broker is not replayed further -----------------------------------------------------------

    def send(self, seq: int, line: int, peer: str, meant: MessageMeaning) -> None:
        if self._next(seq, line):
            neighbour = self._neighbours.get(peer)
            if neighbour is None:
                self._reject_peer(seq, peer)
            elif self._told is None:
                self._reject(seq, "TRC-5", "nothing, since no message is being handled", str(meant.said))
                self.signs.stray(meant)
            else:
                self._sends.append((neighbour, meant, seq, line))

    def deliver(self, seq: int, line: int, to: str, meant: MessageMeaning) -> None:
        if self._next(seq, line):
            if self._told is None:
                seen = f"{meant.id} delivered to {to.removeprefix('@')}"
                self._reject(seq, "TRC-5", "nothing, since no message is being handled", seen)
            else:
                self._deliveries.append((meant, to, seq, line))

    def refuse(self, seq: int, line: int, event: str, said: str) -> None:
        """A message that no client can be given, or can give."""
        self._next(seq, line)
        wanted = "a publication" if event == "deliver" else "a message of a kind that the protocol has"
        self._reject(seq, "TRC-6", wanted, f"{said} in a {event} event", ALWAYS)

    def receive(self, seq: int, line: int, peer: str, meant: MessageMeaning) -> None:
        is_next = self._next(seq, line) and self._close()
        self.rejection = self.signs.explained(self.rejection, "receive", seq, meant)
        if is_next:
            sender = self._neighbours.get(peer)
            if sender is None:
                self._reject_peer(seq, peer)
            else:
                self._handle(seq, sender, peer, meant)

    def client(self, seq: int, line: int, peer: str, meant: MessageMeaning) -> None:
        if self.rejection is None and self._replays:
            self.signs.look_at_withdrawal(self.model, seq, meant)
        is_next = self._next(seq, line) and self._close()
        self.rejection = self.signs.explained(self.rejection, "client", seq, meant)
        if is_next:
            if meant.kind in ADDS:
                self._client_of.update((item.of or item.id, peer) for item in meant.items)
            self._handle(seq, LOCAL, peer, meant)
            if len(self._client_of) >= self._look_at:
                known = self.model.known_ids()
                self._client_of = {id: peer for id, peer in self._client_of.items() if id in known}
                self._look_at = max(FEWEST, 2 * len(self._client_of))

    @property
    def knowledge(self) -> Knowledge:
        """Content of the broker's tables, where the model is the core's."""
        assert isinstance(self.model, CoreModel), "asked before"
        return self.model.knowledge

    def begins_many(self, seq: int, line: int) -> bool:
        """Ends the step before steps that another judge takes over. Returns True if it ended well and they can
        begin.
        """
        if self.rejection is not None or seq <= self._seq:
            return False
        if not self._replays:
            return True
        if not (self._sends_observed and self._deliveries_observed):
            return False
        self._line, self._fed = line, self._fed + 1  # which ends the step before
        is_well = self._close()
        self._fed -= 1
        return is_well

    def passed_many(self, count: int, seq: int) -> None:
        """Accepts this many events, the last of which has this seq."""
        self._seq = seq
        self._fed += count
        self.accepted = self._fed

    def pass_on(self, stretch: Stretch, steps: Steps, known: Unpacked) -> bool:
        """Many steps at once, if each is what the model does; if not, they are to be fed event by event."""
        seqs = stretch.seq  # with that of the next step: one out of order would end no step
        if (np.diff(seqs) <= 0).any() or not self.begins_many(int(seqs[0]), int(stretch.line[0])):
            return False
        near = near_of(self._neighbours, stretch)
        if near is None or (self._replays and not passes(self.knowledge, near, stretch, steps, known)):
            return False
        self.passed_many(len(stretch), int(seqs[-2]))
        return True

    def drop(self, seq: int, line: int, peer: str) -> None:
        """A message that was lost on its link: no broker handles it."""
        if self._next(seq, line) and self._close() and peer not in self._neighbours:
            self._reject_peer(seq, peer)
        self._between(line)

    def restart(self, seq: int, line: int) -> None:
        """After a crash, or before the beginning: with empty tables. A crash may cut a step short."""
        if self._next(seq, line) and self._close(may_be_cut=True):
            self.unfinished = None
            self.model.restart()
        self._between(line)

    def snapshot(self, seq: int, line: int, tables: TraceTables | None) -> None:
        if self._next(seq, line) and self._close():
            if tables is None:
                self._reject(seq, "TRC-6", "a snapshot that tells tables", "none")
                return
            difference = self.model.difference(tables)
            if difference is not None:
                self._reject(seq, "TRC-4", *difference)
        self._between(line)

    def note(self, seq: int, line: int) -> None:
        """For people; but it has its place."""
        self._next(seq, line)
        self._between(line)

    def finish(self) -> Rejection | None:
        """Judge the last step: nothing comes after it, so that it may be unfinished."""
        self._line = 0
        told = self._told
        if told is not None and self.rejection is None:
            self._close(may_be_cut=True)
            if self.unfinished is not None and not told.is_control:
                self.last_publication = told.id
        return self.rejection

    def _next(self, seq: int, line: int) -> bool:
        """Is there a step to be replayed? Its place in the broker's events is judged here."""
        if self.rejection is not None:
            return False
        self._line = line
        self._fed += 1
        if seq <= self._seq:
            if self.broker not in self.setting.node:
                wanted = f"a broker of the overlay ({few(self.setting.names)})"
                self._reject(seq, "TRC-2", wanted, self.broker, ALWAYS)
            else:
                self._reject(seq, "TRC-1", f"a seq above {self._seq}", str(seq), ALWAYS)
            return False
        self._seq = seq
        if not self._replays:
            self.accepted = self._fed
        return self._replays

    def _between(self, line: int) -> None:
        """An event that is no part of a step was accepted."""
        if self.rejection is None and self._told is None:
            self.accepted = self._fed

    def _handle(self, seq: int, sender: Node, peer: str, meant: MessageMeaning) -> None:
        self._before = self.accepted
        try:
            self.model.handle(sender, meant)
        except (Unreadable, FilterError) as error:
            self._reject(seq, "TRC-6", "a message that can be handled", str(error))
            return
        self._told, self._sender, self._begun, self._time = meant, sender, seq, self.clock
        self._begun_line, self._peer = self._line, peer

    # -- a step's end --------------------------------------------------------------------------------------------------

    def _close(self, *, may_be_cut: bool = False) -> bool:
        """Judge the step that is under way, if one is. Can the broker be replayed further? `may_be_cut`: something may
        be missing of the step because the broker or the recording ended.
        """
        told = self._told
        if told is None:
            return self.rejection is None
        route = self.model.route()
        if route is None or not self._is_passed_on(told, *route):
            found = list(self._differences(told, self.model.answer()))
            if found:
                # What is there and wrong counts before what is missing, which may come yet.
                first = min((each for each in found if each.line), key=lambda d: d.seq, default=found[0])
                wrong = self._of_step(told, first)
                if not may_be_cut or first.line:
                    self.rejection = self.rejection or wrong
                    stray = next((meant for _, meant, seq, _ in self._sends if seq == first.seq), None)
                    self.signs.stray(stray)
                    return False
                self.unfinished = wrong
        if self._deviates:
            self.deviations += 1
            self.deviated = self.deviated or f"seq {self._begun}, handling {told.said}"
            self._deviates = 0
        if self._on_accepted is not None and self.unfinished is None:
            sender = "" if self._sender == LOCAL else self.setting.name_of(self._sender)
            sends = self._sends if self._sends_observed else None
            self._on_accepted(Step(told, sender, self._begun, self._before, self._time, sends))
        self._told = None
        if self._sends:
            self._sends = []
        if self._deliveries:
            self._deliveries = []
        self.accepted = self._fed - (self._line > 0)  # all before the event that ends the step
        return True

    def _differences(self, told: MessageMeaning, wanted: Sends) -> Iterator[Difference]:
        """The first difference for each neighbour, and for the deliveries."""
        if self._sends_observed:
            answers: dict[Node, list[Hashable]] = {}
            for to, message in wanted:
                answers.setdefault(to, []).append(message)
            sends: dict[Node, list[Sent]] = {}
            for sent in self._sends:
                sends.setdefault(sent[0], []).append(sent)
            concerned = answers.keys() | sends.keys()  # mostly few, also where there are thousands of neighbours
            for neighbour in [n for n in self._neighbours.values() if n in concerned] if concerned else ():
                found = self._compare_sends(told, answers.get(neighbour, []), sends.get(neighbour, []), neighbour)
                if found is not None:
                    yield found
        if self._deliveries_observed and (found := self._compare_deliveries(told, wanted)) is not None:
            yield found

    def _is_passed_on(self, told: MessageMeaning, hops: Collection[Node], local: Sequence[Subscription]) -> bool:
        """Did a publication go where RTE-5 wants it, seen at a glance? If not, the long way says what is wrong."""
        sends, deliveries = self._sends, self._deliveries
        if self._sends_observed:
            if len(sends) != len(hops):
                return False
            for to, meant, _, _ in sends:
                if to not in hops or (meant is not told and not meant.is_same(told)):
                    return False
            if len(sends) > 1 and len({to for to, _, _, _ in sends}) < len(hops):
                return False
        if self._deliveries_observed:
            if len(local) != len(deliveries):
                return False
            for meant, _, _, _ in deliveries:
                if meant is not told and (meant.id != told.id or not (meant.written == b"" or meant.is_same(told))):
                    return False
            if len(local) == 1:
                return local[0].id == deliveries[0][1]
            return sorted(s.id for s in local) == sorted(to for _, to, _, _ in deliveries)
        return True

    def _compare_sends(
        self, told: MessageMeaning, answer: Iterable[Hashable], sends: Iterable[Sent], neighbour: Node
    ) -> Difference | None:
        wanted = [self.model.canonical(message) for message in answer]
        seen = [(meant.said, (seq, line)) for _, meant, seq, line in sends]
        if self.setting.level == "safe" and [said for said, _ in seen] != wanted:
            assert isinstance(self.model, SafeModel), "other protocols have no such level"
            found = self.model.fault(neighbour, wanted, seen)
            self._deviates += found is None
        elif [said for said, _ in seen] == wanted:
            is_passed_on = isinstance(self.model, CoreModel) and not told.is_control
            return self._compare_advertisements(told, neighbour) if is_passed_on else None
        else:
            found = divergence(self.setting.level, wanted, seen)
        if found is None:
            return None
        missing, extra = found.missing, found.extra
        if missing is None and extra is not None:
            missing = self.model.counterpart(extra, wanted)
        elif extra is None and missing is not None:
            extra = self.model.counterpart(missing, [said for said, _ in seen])
        found = evolve(found, missing=missing, extra=extra)
        if found.is_order:
            return self._difference(found, "COV-8", neighbour)
        reason = self.model.reason(missing, extra, neighbour)
        return evolve(self._difference(found, self.model.blame(missing, extra), neighbour), reason=reason)

    def _compare_advertisements(self, told: MessageMeaning, neighbour: Node) -> Difference | None:
        """A publication is passed on under the advertisement under which it came."""
        for to, meant, seq, line in self._sends:
            if to == neighbour and not meant.is_same(told):
                wanted, seen = distinguished(told.said.words, meant.said.words)
                there = self.setting.name_of(neighbour)
                return Difference(seq, line, "RTE-5", f"{wanted} to {there}", f"{seen} to {there}")
        return None

    def _difference(self, found: Divergence, rule: str, neighbour: Node) -> Difference:
        there = self.setting.name_of(neighbour)
        at, line = found.at or (self._begun, 0)
        if found.early:
            return Difference(at, line, rule, f"additions to {there} before withdrawals", f"{found.extra} to {there}")
        if found.only_order:
            words = "before the others: only the order of these messages differs, which the level equivalent allows"
            return Difference(at, line, rule, f"{found.missing} to {there} {words}", f"{found.extra} to {there} first")
        wanted, seen = f"no further message to {there}", "no message"
        if found.missing is not None and found.extra is not None:
            wanted, seen = (f"{words} to {there}" for words in distinguished(found.missing.words, found.extra.words))
        elif found.missing is not None:
            wanted = f"{found.missing} to {there}"
        else:
            seen = f"{found.extra} to {there}"
        return Difference(at, line, rule, wanted, seen)

    def _compare_deliveries(self, told: MessageMeaning, answer: Sends) -> Difference | None:
        pairs = [(m.publication.id, m.subscription.id) for _, m in answer if isinstance(m, Deliver)]
        by_subscription, by_client = Counter(pairs), Counter({(p, f"@{self._client_of.get(s, '')}") for p, s in pairs})
        told_client = bool(self._deliveries) and all(to.startswith("@") for _, to, _, _ in self._deliveries)
        left, met = (by_client if told_client else by_subscription), set[tuple[str, str]]()
        for meant, to, at, line in self._deliveries:
            p = meant.id
            if not left[p, to]:
                again = " again" if (p, to) in met else ""
                seen = f"{p} delivered to {to.lstrip('@')}{again}"
                return Difference(at, line, "RTE-5", "no such delivery", seen, self.model.unwanted(meant, to))
            original = told if meant.written == b"" else self.model.original(told, p)
            if meant.written != b"" and not meant.is_same(original):
                wanted, seen = distinguished(original.said.words, meant.said.words)
                there = f"delivered to {to.lstrip('@')}"
                return Difference(at, line, "RTE-5", f"{wanted} {there}, as it was received", f"{seen} {there}")
            left[p, to] -= 1
            met.add((p, to))
        for (p, to), count in left.items():
            if count > 0:
                subscriptions = (m.subscription for _, m in answer if isinstance(m, Deliver) and m.publication.id == p)
                s = next((s for s in subscriptions if to in (s.id, f"@{self._client_of.get(s.id, '')}")), None)
                reason = "" if s is None or told.kind != "publish" else matches(told.said, s)
                return Difference(self._begun, 0, "RTE-5", f"{p} delivered to {to.lstrip('@')}", "nothing", reason)
        return None

    def _reject_peer(self, seq: int, peer: str) -> None:
        near = few(tuple(self._neighbours))
        self._reject(seq, "TRC-2", f"a neighbour of {self.broker} ({near})", peer, ALWAYS)

    def _reject(
        self, seq: int, rule: str, wanted: str, seen: str, line: int | None = None, time: int | None = None
    ) -> None:
        """`line` and `time`: those of the event that comes next, where they are left out."""
        if self.rejection is None:
            line, time = self._line if line is None else line, self.clock if time is None else time
            self.rejection = self._rejected(seq, rule, wanted, seen, line, time)

    def _of_step(self, told: MessageMeaning, found: Difference) -> Rejection:
        """The rejection of a step that differs from the model's."""
        line = found.line or self._line
        made = self._rejected(found.seq, found.rule, found.wanted, found.seen, line, self._time)
        details = "" if told.kind in ("unsubscribe", "unadvertise") else f" ({told.said.details()})"
        whence = f"client {self._peer}".strip() if self._sender == LOCAL else self.setting.name_of(self._sender)
        handling = f"{told.said}{details} from {whence}"
        return evolve(made, at=self._begun_line, handling=handling[:LONGEST], reason=found.reason)

    def _rejected(self, seq: int, rule: str, wanted: str, seen: str, line: int, time: int) -> Rejection:
        at = max(0, self._line)
        return Rejection(self.run, self.broker, seq, rule, wanted, seen, self.accepted, line, time, at=at)
