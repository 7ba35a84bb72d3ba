"""One broker's events against the model, step by step.

`BrokerReplay` is fed a broker's events in the order in which they stand and keeps nothing but the model's tables and
the step that is under way: what was handled, and what was seen of the broker's answer so far. A step ends where the
next begins; then the answer is held against the model's. The first event that the model would not have is a
`Rejection`, and the replay of that broker ends with it: there is no saying what the broker's tables are from there on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from attrs import evolve

from routeproof.checker.validate.broker.amnesia import NO_TABLES, RECENT, Amnesia, Handled
from routeproof.checker.validate.broker.canonical import ADDS
from routeproof.checker.validate.broker.columns import Steps, Stretch, near_of, passes
from routeproof.checker.validate.broker.comparison import Difference
from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable
from routeproof.checker.validate.broker.model import GONE, AcceptedStep, BrokerModel, CoreModel
from routeproof.checker.validate.broker.publications import Unpacked
from routeproof.checker.validate.broker.step import Delivery, LocalNames, Sent, Signs, StepComparison, stranger
from routeproof.checker.validate.fast import Knowledge
from routeproof.checker.validate.findings import ALWAYS, Rejection, few
from routeproof.checker.validate.setting import Setting
from routeproof.model.filters import FilterError
from routeproof.model.overlay import LOCAL, Node
from routeproof.traces import Event, TraceTables

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
        accepted: Callable[[AcceptedStep], None] | None = None,
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
        self.deviations, self.deviated = 0, ""
        """At the level `safe`: the number of steps that differ from the model without harm; and the first."""
        self._names = LocalNames()
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
        self._comparison = StepComparison(setting, model, self._neighbours)
        self._look_at = FEWEST
        self._told: MessageMeaning | None = None
        """The message being handled, or None between steps. The following six fields belong to that step."""
        self._sender = LOCAL
        self._begun = self._begun_line = 0
        self._peer = ""
        self._before = 0
        self._time = -1
        self._sends: list[Sent] = []
        self._deliveries: list[Delivery] = []
        self._recent: deque[Handled] = deque(maxlen=RECENT)
        """The latest control messages."""
        self._amnesia: Amnesia | None = None

    @property
    def table_size(self) -> int | None:
        """How many subscriptions the broker knows of; None once it was rejected."""
        return None if self.rejection is not None else self.model.size

    # -- events: a rejected broker is not replayed further -----------------------------------------------------------

    def send(self, seq: int, line: int, peer: str, meant: MessageMeaning) -> None:
        if self._next(seq, line):
            meant = self._names.named(meant)
            neighbour = self._neighbours.get(peer)
            if neighbour is None:
                self._reject_peer(seq, peer)
            elif self._told is None:
                self._reject(seq, "TRC-5", "nothing, since no message is being handled", str(meant.said))
                self.signs.stray(meant)
            else:
                self._sends.append((neighbour, meant, seq, line))
            return
        self.signs.sent(meant)
        if self._amnesia is not None and peer in self._neighbours:
            self._amnesia.sent((self._neighbours[peer], self._names.named(meant), seq, line))

    def deliver(self, seq: int, line: int, to: str, meant: MessageMeaning) -> None:
        if self._next(seq, line):
            if self._told is None:
                seen = f"{meant.id} delivered to {to.removeprefix('@')}"
                self._reject(seq, "TRC-5", "nothing, since no message is being handled", seen)
                self.signs.stray(meant)
            else:
                self._deliveries.append((meant, to, seq, line))
            return
        self.signs.sent(meant)
        if self._amnesia is not None:
            self._amnesia.delivered((meant, to, seq, line))

    def refuse(self, seq: int, line: int, event: str, said: str) -> None:
        """A message that no client can be given, or can give."""
        self._next(seq, line)
        wanted = "a publication" if event == "deliver" else "a message of a kind that the protocol has"
        self._reject(seq, "TRC-6", wanted, f"{said} in a {event} event", ALWAYS)

    def receive(self, seq: int, line: int, peer: str, meant: MessageMeaning) -> None:
        is_next = self._next(seq, line) and self._close()
        self.rejection = self.signs.explained(self.rejection, "receive", seq, meant)
        if is_next:
            meant = self._names.named(meant)
            self._names.forget_some(self.model)
            sender = self._neighbours.get(peer)
            if sender is None:
                self._reject_peer(seq, peer)
            else:
                if meant.kind in GONE:
                    self.signs.look_at_withdrawal(self.model, seq, meant, by_client=False)
                self._handle(seq, sender, peer, meant)
        elif self._amnesia is not None:
            self._amnesia.begin((self._neighbours.get(peer, LOCAL), self._names.named(meant), seq))

    def client(self, seq: int, line: int, peer: str, meant: MessageMeaning) -> None:
        if self.rejection is None and self._replays:
            self.signs.look_at_withdrawal(self.model, seq, meant, by_client=True)
        is_next = self._next(seq, line) and self._close()
        self.rejection = self.signs.explained(self.rejection, "client", seq, meant)
        if is_next:
            if meant.kind in ADDS:
                self._comparison.client_of.update((item.of or item.id, peer) for item in meant.items)
            self._handle(seq, LOCAL, peer, meant)
            if len(self._comparison.client_of) >= self._look_at:
                known = self.model.known_ids()
                self._comparison.client_of = {
                    id: peer for id, peer in self._comparison.client_of.items() if id in known
                }
                self._look_at = max(FEWEST, 2 * len(self._comparison.client_of))
        elif self._amnesia is not None:
            self._comparison.client_of.update((i.of or i.id, peer) for i in meant.items if meant.kind in ADDS)
            self._amnesia.begin((LOCAL, meant, seq))

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
            self._recent.clear()
        elif self._amnesia is not None:
            self._amnesia.end()
        self._between(line)

    def snapshot(self, seq: int, line: int, tables: TraceTables | None) -> None:
        if self._next(seq, line) and self._close():
            if tables is None:
                self._reject(seq, "TRC-6", "a snapshot that tells tables", "none")
                return
            difference = self.model.difference(self._names.named_tables(tables))
            if difference is not None:
                self._reject(seq, "TRC-4", *difference)
                if self.rejection is not None and tables.advs == tables.subs == ():
                    self.rejection = evolve(self.rejection, cause=NO_TABLES)
        elif self._amnesia is not None:
            self._amnesia.end()
        self._between(line)

    def give_up(self) -> None:
        """Accepts all further events: the tables of the broker are unknown."""
        self._replays = False

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
        if self.rejection is not None and self._amnesia is not None:
            self.rejection = evolve(self.rejection, cause=self.rejection.cause or self._amnesia.cause)
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
                self._reject(seq, "TRC-2", wanted, self.broker, ALWAYS, stranger(self.broker, self.setting))
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
        if route is None or not self._comparison.is_passed_on(told, self._sends, self._deliveries, *route):
            comparison, answer = self._comparison, self.model.answer()
            found = list(comparison.differences(told, self._begun, self._sends, self._deliveries, answer))
            if found:
                # What is there and wrong counts before what is missing, which may come yet.
                first = min((each for each in found if each.line), key=lambda d: d.seq, default=found[0])
                wrong = self._of_step(told, _with_address(first, found))
                if not may_be_cut or first.line:
                    self.rejection = self.rejection or wrong
                    seen_there = [
                        *((m, seq) for _, m, seq, _ in self._sends),
                        *((m, seq) for m, _, seq, _ in self._deliveries),
                    ]
                    stray = next((meant for meant, seq in seen_there if seq == first.seq), None)
                    self.signs.stray(stray)
                    step = self._sender, told, self._begun
                    seen = self._sends, self._deliveries
                    self._amnesia = Amnesia.suspected(self._comparison, self.model, self._recent, step, seen)
                    return False
                self.unfinished = wrong
        if self._comparison.deviates:
            self.deviations += 1
            self.deviated = self.deviated or f"seq {self._begun}, handling {told.said}"
            self._comparison.deviates = False
        if self._on_accepted is not None and self.unfinished is None:
            sender = "" if self._sender == LOCAL else self.setting.name_of(self._sender)
            sends = self._sends if self._sends_observed else None
            self._on_accepted(AcceptedStep(told, sender, self._begun, self._before, self._time, sends))
        if told.is_control:
            self._recent.append((self._sender, told, self._begun))
        self._told = None
        if self._sends:
            self._sends = []
        if self._deliveries:
            self._deliveries = []
        self.accepted = self._fed - (self._line > 0)  # all before the event that ends the step
        return True

    def _reject_peer(self, seq: int, peer: str) -> None:
        near = few(tuple(self._neighbours))
        reason = "" if peer in self.setting.node else stranger(peer, self.setting)
        self._reject(seq, "TRC-2", f"a neighbour of {self.broker} ({near})", peer, ALWAYS, reason)

    def _reject(self, seq: int, rule: str, wanted: str, seen: str, line: int | None = None, reason: str = "") -> None:
        """`line`: that of the event that comes next, where it is left out."""
        if self.rejection is None:
            made = self._rejected(seq, rule, wanted, seen, self._line if line is None else line, self.clock)
            self.rejection = evolve(made, reason=reason)

    def _of_step(self, told: MessageMeaning, found: Difference) -> Rejection:
        """The rejection of a step that differs from the model's."""
        line = found.line or self._line
        made = self._rejected(found.seq, found.rule, found.wanted, found.seen, line, self._time)
        said = "" if told.kind in ("unsubscribe", "unadvertise") else told.said.details()
        details = f" ({said})" if said else ""
        whence = f"client {self._peer}".strip() if self._sender == LOCAL else self.setting.name_of(self._sender)
        handling = f"{told.said}{details} from {whence}"
        cause = ""
        if self.signs.unknown_at == self._begun:
            cause = f"{told.said} has an id that {self.broker} does not know; if withdrawals have ids of their own, the"
            cause += " original belongs under `of`"
        return evolve(made, at=self._begun_line, handling=handling[:LONGEST], reason=found.reason, cause=cause)

    def _rejected(self, seq: int, rule: str, wanted: str, seen: str, line: int, time: int) -> Rejection:
        at = max(0, self._line)
        return Rejection(self.run, self.broker, seq, rule, wanted, seen, self.accepted, line, time, at=at)


def _with_address(first: Difference, found: Sequence[Difference]) -> Difference:
    """Adds where a message that went to a wrong neighbour is missing."""
    said = first.seen.rpartition(" to ")[0]
    missing = [each.wanted for each in found if each is not first and each.seen == "no message"]
    there = [wanted.rpartition(" to ")[2] for wanted in missing if said and wanted.rpartition(" to ")[0] == said]
    if not there:
        return first
    return evolve(first, reason="; ".join(filter(None, (f"it is missing to {', '.join(there)}", first.reason))))
