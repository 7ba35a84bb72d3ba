"""The recording of a run: `Recorder` writes what it observes as a trace (`docs/reference/trace-format.md`).

A message that is handled becomes a `receive` (or, from a client, a `client`) at the time at which its broker took it,
and then a `send` or a `deliver` for each that came of it, at the time at which the broker was done. That time is with
the message itself where nothing came of it; and with a client's, when the client spoke, if it had to wait.

The caller provides the writer, a `routeproof.traces.TraceWriter`: this room imports the vocabulary only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from routeproof.impl.simulation.simulator import Observer, Operation, Sends, Simulator
from routeproof.model.messages import Message, client_of
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables

OBSERVES = ("client", "receive", "send", "deliver")

MOST_ENTRIES = 100_000
"""Subscriptions in a snapshot. It is one line, and readers take 32 MiB."""


class Trace(Protocol):
    """The part of a `TraceWriter` that is used here. It numbers the events of a broker by itself."""

    def event(
        self,
        broker: str,
        event: str,
        peer: str = "",
        message: Message | None = None,
        *,
        time: int | None = None,
        issued: int | None = None,
        done: int | None = None,
        text: str = "",
        tables: Tables | None = None,
    ) -> None: ...


class Recorder(Observer):
    """`snapshots`: after how many of its events a broker's tables are written, between two steps; 0 is never. Tables
    that are too long for a line are not; a `note` says so, and the trace is as good without."""

    def __init__(self, trace: Trace, name: Callable[[Node], str], snapshots: int = 0) -> None:
        self._trace = trace
        self._name = name
        self._snapshots = snapshots
        self._since_snapshot: dict[Node, int] = {}
        self._issued: dict[Node, deque[int]] = {}
        """When clients spoke whom their broker has not taken yet: it takes them in that order."""

    def issued(self, operation: Operation) -> None:
        self._issued.setdefault(operation.broker, deque()).append(operation.time)

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        record, here = self._trace.event, self._name(broker)
        done = None if sends else simulator.now
        if message.by:  # its driver says it: no client
            record(here, "client", "", message, time=began)
        elif sender == LOCAL:
            record(
                here, "client", client_of(message), message, time=began, issued=self._spoke(broker, began), done=done
            )
        else:
            record(here, "receive", self._name(sender), message, time=began, done=done)
        for to, sent in sends:
            if to == LOCAL:
                record(here, "deliver", client_of(sent), sent, time=simulator.now)
            else:
                record(here, "send", self._name(to), sent, time=simulator.now)
        if self._snapshots:
            self._count(simulator, broker, 1 + len(sends))

    def _spoke(self, broker: Node, began: int) -> int | None:
        """Time of the client's operation whose message the broker took at `began`; None if it is the same time, or
        unknown.
        """
        waiting = self._issued.get(broker)
        spoke = waiting.popleft() if waiting else began
        return spoke if spoke < began else None

    def _count(self, simulator: Simulator, broker: Node, events: int) -> None:
        since = self._since_snapshot.get(broker, 0) + events
        if since >= self._snapshots:
            since = 0
            tables = getattr(simulator.broker(broker), "tables", None)
            if tables is not None:  # only brokers have tables
                self._snapshot(broker, tables(), simulator.now)
        self._since_snapshot[broker] = since

    def _snapshot(self, broker: Node, tables: Tables, now: int) -> None:
        if len(tables.subs) <= MOST_ENTRIES:
            self._trace.event(self._name(broker), "snapshot", time=now, tables=tables)
        else:
            self._trace.event(
                self._name(broker), "note", time=now, text=f"no snapshot: {len(tables.subs)} subscriptions"
            )
