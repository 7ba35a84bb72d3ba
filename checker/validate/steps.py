"""One broker's events against the model, step by step.

`BrokerReplay` is fed a broker's events in the order in which they stand and keeps nothing but the model's tables and
the step that is under way: what the model sends and delivers when it handles the same message, and what was seen of it
so far. A step ends where the next begins. The first event that the model would not have is a `Rejection`, and the
replay of that broker ends with it: there is no saying what the broker's tables are from there on.
"""

from __future__ import annotations

from collections import Counter

from attrs import define, field, frozen

from routeproof.checker.validate.blame import blame
from routeproof.checker.validate.said import Said, said_by_model, said_in_trace
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.words import Unreadable, Words
from routeproof.model.messages import Deliver
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Outcome
from routeproof.model.tables import Tables
from routeproof.traces import Event, TraceError, TraceMessage


@frozen(order=True)
class Rejection:
    """Where a trace leaves the model. The order decides which of several is the first."""

    run: str
    broker: str
    seq: int
    rule: str
    wanted: str
    seen: str
    accepted: int = 0
    """How many events of this broker were accepted before it: the longest accepted prefix."""
    line: int = field(default=0, order=False, eq=False)
    """The line at which it showed; 0 at the end of the trace."""


@define
class _Step:
    """A message that is being handled: the model's answer, and what the trace shows of the broker's."""

    told: str
    seq: int
    outcome: Outcome
    events: int
    sends: dict[Node, list[tuple[Said, int]]] = field(factory=dict)
    deliveries: list[tuple[str, str, int]] = field(factory=list)


class BrokerReplay:
    """The model of one broker, in step with its trace."""

    def __init__(self, setting: Setting, run: str, broker: str) -> None:
        self.setting = setting
        self.run, self.broker = run, broker
        self.node = setting.node.get(broker, LOCAL)
        self.tables = Tables()
        self.accepted = 0
        self.rejection: Rejection | None = None
        self._words = Words(setting.ranks)
        self._seq = -1
        self._line = 0
        self._step: _Step | None = None
        self._client_of: dict[str, str] = {}

    def feed(self, event: Event) -> Rejection | None:
        """Judge the next event; the rejection, if it or what came before shows one."""
        self._line = event.line
        if self.rejection is None:
            try:
                self._judge(event)
            except (TraceError, Unreadable) as error:
                self._reject(event.seq, "TRC-6", "a message that can be handled", str(error))
        return self.rejection

    def finish(self) -> Rejection | None:
        """Judge the last step: nothing comes after it."""
        self._line = 0
        if self.rejection is None:
            self._close()
        return self.rejection

    # -- events --------------------------------------------------------------------------------------------------------

    def _judge(self, event: Event) -> None:
        if self.node == LOCAL:
            self._reject(event.seq, "TRC-2", f"a broker of the overlay ({_few(self.setting.names)})", self.broker)
        elif event.seq <= self._seq:
            self._reject(event.seq, "TRC-1", f"a seq above {self._seq}", str(event.seq))
        elif event.event == "send":
            self._on_send(event)
        elif event.event == "deliver":
            self._on_deliver(event)
        elif event.event != "note":
            self._close()
            if self.rejection is None:
                self._begin(event)
        self._seq = event.seq
        if self.rejection is None:
            if self._step is None:
                self.accepted += 1
            else:
                self._step.events += 1

    def _begin(self, event: Event) -> None:
        match event.event:
            case "receive":
                sender = self._neighbour(event)
                if sender is not None:
                    self._handle(event, sender)
            case "client":
                assert event.message is not None, "the reader wants one"
                for id in event.message.ids:
                    self._client_of[id] = event.peer
                self._handle(event, LOCAL)
            case "crash" | "restart":
                self.tables = Tables()
            case "drop":
                self._neighbour(event)  # lost on the way: nobody handles it
            case "snapshot":
                self._compare_tables(event)

    def _handle(self, event: Event, sender: Node) -> None:
        assert event.message is not None, "the reader wants one"
        outcome = self.setting.protocol.handle(self.node, self.tables, sender, self._words.model_message(event.message))
        self._step = _Step(event.message.kind, event.seq, outcome, 0)

    def _on_send(self, event: Event) -> None:
        neighbour = self._neighbour(event)
        if neighbour is not None and event.message is not None:
            said = said_in_trace(event.message)
            if self._step is None:
                self._reject(event.seq, "TRC-5", "nothing, since no message is being handled", str(said))
            else:
                self._step.sends.setdefault(neighbour, []).append((said, event.seq))

    def _on_deliver(self, event: Event) -> None:
        message = event.message
        assert message is not None, "the reader wants one"
        if self._step is None:
            self._reject(event.seq, "TRC-5", "nothing, since no message is being handled", _delivery(message, event))
        else:
            self._step.deliveries.append((message.id, message.to or f"@{event.peer}", event.seq))

    def _neighbour(self, event: Event) -> Node | None:
        node = self.setting.node.get(event.peer, LOCAL)
        near = self.setting.overlay.neighbours(self.node)
        if node in near:
            return node
        self._reject(event.seq, "TRC-2", f"a neighbour of {self.broker} ({self._names(near)})", event.peer)
        return None

    # -- a step's end --------------------------------------------------------------------------------------------------

    def _close(self) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        if "send" in self.setting.observes:
            for neighbour in self.setting.overlay.neighbours(self.node):
                if self.rejection is None:
                    self._compare_sends(step, neighbour)
        if "deliver" in self.setting.observes and self.rejection is None:
            self._compare_deliveries(step)
        if self.rejection is None:
            self.accepted += step.events
            assert isinstance(step.outcome.local, Tables)
            self.tables = step.outcome.local

    def _compare_sends(self, step: _Step, neighbour: Node) -> None:
        wanted = [said_by_model(m) for n, m in step.outcome.sends if n == neighbour]
        seen = step.sends.get(neighbour, [])
        if [said for said, _ in seen] == wanted:
            return
        found = self._first_difference(wanted, seen)
        if found is None:
            return
        at, missing, extra, early = found
        there = self.setting.name_of(neighbour)
        if early:
            self._reject(at, "COV-8", f"additions to {there} before withdrawals", f"{extra} to {there}")
            return
        assert isinstance(step.outcome.local, Tables)
        self._reject(
            at or step.seq,
            blame(step.told, step.outcome.local, self.setting.policy, missing, extra),
            f"{missing} to {there}" if missing is not None else f"nothing more to {there}",
            f"{extra} to {there}" if extra is not None else "nothing",
        )

    def _first_difference(
        self, wanted: list[Said], seen: list[tuple[Said, int]]
    ) -> tuple[int, Said | None, Said | None, bool] | None:
        """Where the two part: the event's seq (0: one is missing), what should be there, what is; is it too late?"""
        if self.setting.level == "exact":
            for i in range(max(len(wanted), len(seen))):
                missing = wanted[i] if i < len(wanted) else None
                extra, at = seen[i] if i < len(seen) else (None, 0)
                if missing != extra:
                    return at, missing, extra, False
        left, withdrawn = Counter(wanted), False
        for said, at in seen:
            if not left[said] or (withdrawn and said.adds):
                return at, None, said, left[said] > 0
            left[said] -= 1
            withdrawn = withdrawn or said.withdraws
        return next(((0, said, None, False) for said in wanted if left[said] > 0), None)

    def _compare_deliveries(self, step: _Step) -> None:
        pairs = [(m.publication.id, m.subscription.id) for _, m in step.outcome.sends if isinstance(m, Deliver)]
        by_subscription, by_client = Counter(pairs), Counter({(p, f"@{self._client_of.get(s, '')}") for p, s in pairs})
        told_client = bool(step.deliveries) and all(to.startswith("@") for _, to, _ in step.deliveries)
        left, met = (by_client if told_client else by_subscription), set[tuple[str, str]]()
        for p, to, at in step.deliveries:
            if not left[p, to]:
                again = " again" if (p, to) in met else ""
                self._reject(at, "RTE-5", "no such delivery", f"{p} delivered to {to.lstrip('@')}{again}")
                return
            left[p, to] -= 1
            met.add((p, to))
        for (p, to), count in left.items():
            if count > 0:
                self._reject(step.seq, "RTE-5", f"{p} delivered to {to.lstrip('@')}", "nothing")
                return

    def _compare_tables(self, event: Event) -> None:
        """A snapshot tells what the broker knows: it must be what the model knows."""
        difference = self._words.tables_differ(self.tables, event, self.setting.name_of)
        if difference is not None:
            self._reject(event.seq, "TRC-4", *difference)

    def _reject(self, seq: int, rule: str, wanted: str, seen: str) -> None:
        if self.rejection is None:
            self.rejection = Rejection(self.run, self.broker, seq, rule, wanted, seen, self.accepted, self._line)

    def _names(self, nodes: tuple[Node, ...]) -> str:
        return _few(tuple(self.setting.name_of(n) for n in nodes))


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _delivery(message: TraceMessage, event: Event) -> str:
    return f"{message.id} delivered to {message.to or event.peer}"
