"""One broker's events against the model, step by step.

`BrokerReplay` is fed a broker's events in the order in which they stand and keeps nothing but the model's tables and
the step that is under way: what was handled, and what was seen of the broker's answer so far. A step ends where the
next begins; then the answer is held against the model's. The first event that the model would not have is a
`Rejection`, and the replay of that broker ends with it: there is no saying what the broker's tables are from there on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from routeproof.checker.validate.blame import blame
from routeproof.checker.validate.meant import Meant, Unreadable, model_message, publication
from routeproof.checker.validate.parting import Difference, Parting, part
from routeproof.checker.validate.passing import Steps, passes
from routeproof.checker.validate.publications import Unpacked
from routeproof.checker.validate.rejection import ALWAYS, Rejection, few
from routeproof.checker.validate.replica import Knowledge, Replica
from routeproof.checker.validate.replica.publishing import publish
from routeproof.checker.validate.said import ADDS, apart, said_by_model
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.snapshots import differ
from routeproof.checker.validate.stretches import Stretch
from routeproof.model.filters import FilterError
from routeproof.model.messages import Deliver, Publish, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.traces import Event, TraceTables

Sends = Sequence[tuple[Node, Hashable]]

FEWEST = 1024
"""Of so few subscriptions nobody looks which were withdrawn."""

LAST = (1 << 63) - 1
"""The greatest seq that there is."""


class BrokerReplay:
    """The model of one broker, in step with its trace. `start`: an event that was judged already, and the tables that
    the broker had after it."""

    def __init__(
        self,
        setting: Setting,
        replica: Replica,
        run: str,
        broker: str,
        tables: Tables | None = None,
        start: Event | None = None,
    ) -> None:
        self.setting = setting
        self.run, self.broker = run, broker
        self.accepted = self._fed = 0 if start is None else 1
        self.rejection: Rejection | None = None
        self._replica = replica
        self._knowledge: Knowledge = replica.knowledge(setting.node.get(broker, LOCAL), tables or Tables())
        self._neighbours = setting.neighbours(broker)
        self._ranks = setting.ranks
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
        """Of the subscriptions that clients made here, and of some that they withdrew."""
        self._look_at = FEWEST
        self._told: Meant | None = None
        """What is being handled; None between two steps. The next six are of the same step."""
        self._sender = LOCAL
        self._begun = 0
        self._time = -1
        self._wanted: Sends = ()
        """The model's answer to a control message; that to a publication is found when the step ends."""
        self._sends: list[tuple[Node, Meant, int, int]] = []
        """With the event's seq and line."""
        self._deliveries: list[tuple[Meant, str, int, int]] = []
        """With the subscription that it is for or, behind an @, the client; and the event's seq and line."""

    @property
    def table_size(self) -> int | None:
        """How many subscriptions the broker knows of; None once it was rejected."""
        return None if self.rejection is not None else len(self._knowledge.subs)

    # -- events: nothing more is asked of a broker once it was rejected ------------------------------------------------

    def send(self, seq: int, line: int, peer: str, meant: Meant) -> None:
        if self._next(seq, line):
            neighbour = self._neighbours.get(peer)
            if neighbour is None:
                self._reject_peer(seq, peer)
            elif self._told is None:
                self._reject(seq, "TRC-5", "nothing, since no message is being handled", str(meant.said))
            else:
                self._sends.append((neighbour, meant, seq, line))

    def deliver(self, seq: int, line: int, to: str, meant: Meant) -> None:
        if self._next(seq, line):
            if self._told is None:
                seen = f"{meant.id} delivered to {to.removeprefix('@')}"
                self._reject(seq, "TRC-5", "nothing, since no message is being handled", seen)
            else:
                self._deliveries.append((meant, to, seq, line))

    def receive(self, seq: int, line: int, peer: str, meant: Meant) -> None:
        if self._next(seq, line) and self._close():
            sender = self._neighbours.get(peer)
            if sender is None:
                self._reject_peer(seq, peer)
            else:
                self._handle(seq, sender, meant)

    def client(self, seq: int, line: int, peer: str, meant: Meant) -> None:
        if self._next(seq, line) and self._close():
            if meant.kind in ADDS:
                self._client_of.update((item.id, peer) for item in meant.items)
            self._handle(seq, LOCAL, meant)
            if len(self._client_of) >= self._look_at:
                known = self._known_ids()
                self._client_of = {id: peer for id, peer in self._client_of.items() if id in known}
                self._look_at = max(FEWEST, 2 * len(self._client_of))

    @property
    def knowledge(self) -> Knowledge:
        """What the broker has in its tables."""
        return self._knowledge

    def begins_many(self, seq: int, line: int) -> bool:
        """With this event begin steps that somebody else judges. Did the step before end well, and can they?"""
        if self.rejection is not None or not (self._replays and self._sends_observed and self._deliveries_observed):
            return False
        if seq <= self._seq:
            return False
        self._line, self._fed = line, self._fed + 1  # which ends the step before
        is_well = self._close()
        self._fed -= 1
        return is_well

    def passed_many(self, count: int, seq: int) -> None:
        """They were as they should be: so many events, the last of which has this seq."""
        self._seq = seq
        self._fed += count
        self.accepted = self._fed

    def pass_on(self, stretch: Stretch, steps: Steps, known: Unpacked) -> bool:
        """Many steps at once, if each is what the model does; if not, they are to be fed event by event."""
        seqs = stretch.seq  # with that of the next step: one out of order would end no step
        if (np.diff(seqs) <= 0).any() or not self.begins_many(int(seqs[0]), int(stretch.line[0])):
            return False
        if not passes(self._knowledge, self._neighbours, stretch, steps, known):
            return False
        self.passed_many(len(stretch), int(seqs[-2]))
        return True

    def drop(self, seq: int, line: int, peer: str) -> None:
        """Lost on the way: nobody handles it."""
        if self._next(seq, line) and self._close() and peer not in self._neighbours:
            self._reject_peer(seq, peer)
        self._between(line)

    def restart(self, seq: int, line: int) -> None:
        """After a crash, or before the beginning: with empty tables."""
        if self._next(seq, line) and self._close():
            self._knowledge = self._replica.knowledge(self._knowledge.node, Tables())
        self._between(line)

    def snapshot(self, seq: int, line: int, tables: TraceTables | None) -> None:
        if self._next(seq, line) and self._close():
            if tables is None:
                self._reject(seq, "TRC-6", "a snapshot that tells tables", "none")
                return
            difference = differ(self._knowledge.tables(), tables, self.setting.name_of)
            if difference is not None:
                self._reject(seq, "TRC-4", *difference)
        self._between(line)

    def note(self, seq: int, line: int) -> None:
        """For people; but it has its place."""
        self._next(seq, line)
        self._between(line)

    def finish(self) -> Rejection | None:
        """Judge the last step: nothing comes after it."""
        self._line = 0
        self._close()
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

    def _handle(self, seq: int, sender: Node, meant: Meant) -> None:
        try:
            if meant.is_control:
                known = self._knowledge
                message = model_message(meant, self._ranks, known.sub_named, known.adv_named)
                self._wanted = () if message is None else self._replica.handle(known, sender, message)
            elif meant.written == b"":
                raise Unreadable(f"publication {meant.id} without its event")
        except (Unreadable, FilterError) as error:
            self._reject(seq, "TRC-6", "a message that can be handled", str(error))
            return
        self._told, self._sender, self._begun, self._time = meant, sender, seq, self.clock

    # -- a step's end --------------------------------------------------------------------------------------------------

    def _close(self) -> bool:
        """Judge the step that is under way, if one is. Can the broker be replayed further?"""
        told = self._told
        if told is None:
            return self.rejection is None
        if told.is_control or not self._is_passed_on(told):
            wanted = self._wanted if told.is_control else self._publication_sends(told)
            found = list(self._differences(told, wanted))
            if found:
                # What is there and wrong counts before what is missing, which may come yet.
                first = min((each for each in found if each.line), key=lambda d: d.seq, default=found[0])
                line = first.line or self._line
                self._reject(first.seq, first.rule, first.wanted, first.seen, line, self._time)
                return False
        self._told = None
        if self._sends:
            self._sends = []
        if self._deliveries:
            self._deliveries = []
        self.accepted = self._fed - (self._line > 0)  # all before the event that ends the step
        return True

    def _differences(self, told: Meant, wanted: Sends) -> Iterator[Difference]:
        """Of each neighbour and of the deliveries, the first."""
        if self._sends_observed:
            for neighbour in self._neighbours.values():
                if (found := self._compare_sends(told, wanted, neighbour)) is not None:
                    yield found
        if self._deliveries_observed and (found := self._compare_deliveries(told, wanted)) is not None:
            yield found

    def _is_passed_on(self, told: Meant) -> bool:
        """Did a publication go where RTE-5 wants it, seen at a glance? If not, the long way says what is wrong."""
        hops, local = self._published(told)
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

    def _published(self, told: Meant) -> tuple[tuple[Node, ...], list[Subscription]]:
        """RTE-5: the neighbours to which a publication goes, and the local subscriptions for which it is delivered."""
        universe = self._replica.universe
        if told.matching is None or told.matching.moment != universe.subscriptions.moment:
            event = told.event
            assert event is not None, "asked when it was handled"
            told.matching = universe.matching(event)
        return publish(self._knowledge, self._sender, told.matching)

    def _known_ids(self) -> set[str]:
        """Of subscriptions."""
        return {self._knowledge.universe.subscription(slot).id for slot in self._knowledge.subs}

    def _publication_sends(self, told: Meant) -> Sends:
        p = publication(told)
        hops, local = self._published(told)
        return [*((hop, Publish(p)) for hop in hops), *((LOCAL, Deliver(p, s)) for s in local)]

    def _compare_sends(self, told: Meant, answer: Sends, neighbour: Node) -> Difference | None:
        wanted = [said_by_model(m) for n, m in answer if n == neighbour]
        seen = [(meant.said, (seq, line)) for n, meant, seq, line in self._sends if n == neighbour]
        if [said for said, _ in seen] == wanted:
            return None
        found = part(self.setting.level, wanted, seen)
        if found is None:
            return None
        rule = blame(told.kind, self._knowledge.tables(), self.setting.policy, found.missing, found.extra)
        return self._difference(found, "COV-8" if found.early else rule, neighbour)

    def _difference(self, found: Parting, rule: str, neighbour: Node) -> Difference:
        there = self.setting.name_of(neighbour)
        at, line = found.at or (self._begun, 0)
        if found.early:
            return Difference(at, line, rule, f"additions to {there} before withdrawals", f"{found.extra} to {there}")
        wanted, seen = f"nothing more to {there}", "nothing"
        if found.missing is not None and found.extra is not None:
            wanted, seen = (f"{words} to {there}" for words in apart(found.missing.words, found.extra.words))
        elif found.missing is not None:
            wanted = f"{found.missing} to {there}"
        else:
            seen = f"{found.extra} to {there}"
        return Difference(at, line, rule, wanted, seen)

    def _compare_deliveries(self, told: Meant, answer: Sends) -> Difference | None:
        pairs = [(m.publication.id, m.subscription.id) for _, m in answer if isinstance(m, Deliver)]
        by_subscription, by_client = Counter(pairs), Counter({(p, f"@{self._client_of.get(s, '')}") for p, s in pairs})
        told_client = bool(self._deliveries) and all(to.startswith("@") for _, to, _, _ in self._deliveries)
        left, met = (by_client if told_client else by_subscription), set[tuple[str, str]]()
        for meant, to, at, line in self._deliveries:
            p = meant.id
            if not left[p, to]:
                again = " again" if (p, to) in met else ""
                return Difference(at, line, "RTE-5", "no such delivery", f"{p} delivered to {to.lstrip('@')}{again}")
            if meant.written != b"" and not meant.is_same(told):
                wanted, seen = apart(told.said.words, meant.said.words)
                there = f"delivered to {to.lstrip('@')}"
                return Difference(at, line, "RTE-5", f"{wanted} {there}, as it was received", f"{seen} {there}")
            left[p, to] -= 1
            met.add((p, to))
        for (p, to), count in left.items():
            if count > 0:
                return Difference(self._begun, 0, "RTE-5", f"{p} delivered to {to.lstrip('@')}", "nothing")
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
            self.rejection = Rejection(self.run, self.broker, seq, rule, wanted, seen, self.accepted, line, time)
