"""Recording a run as a trace: `Recorder` turns what it observes into lines in the format of `docs/traces.md`.

A message that is handled becomes a `receive` (or, from a client, a `client`) at the time at which its broker took it,
and then a `send` or a `deliver` for each that came of it, at the time at which the broker was done. A broker's events
are numbered from 1.

The format itself is not ours: `routeproof.traces` is handed in as `form`, since this room imports the vocabulary only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Protocol, TextIO, cast

from routeproof.impl.simulator import Observer, Sends, Simulator
from routeproof.model.messages import (
    Advertise,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.tables import Tables

OBSERVES = ("client", "receive", "send", "deliver")

LONGEST_LINE = 4 << 20
"""Bytes that readers of traces take in one line."""

REMEMBERED = 1 << 16
"""Messages whose JSON is kept: most are met again at the next broker, soon after."""


class Form(Protocol):
    """What is used of `routeproof.traces`."""

    def encode(self, message: Message) -> dict[str, object]: ...
    def broker_name(self, node: int) -> str: ...
    def header_row(
        self,
        run: str,
        protocol: str,
        policy: str,
        overlay: Iterable[tuple[int, int]],
        dialect: str,
        observes: Iterable[str],
        **more: object,
    ) -> dict[str, object]: ...


class HasTables(Protocol):
    def tables(self) -> Tables: ...


class Recorder(Observer):
    """Writes the header at once and the events as they happen.

    `snapshots`: after how many of its events a broker's tables are written; 0 is never. Tables too long for a line are
    not written; a `note` says so, and the trace is as good without.
    """

    def __init__(
        self,
        file: TextIO,
        form: Form,
        overlay: Overlay,
        policy: str,
        *,
        run: str,
        snapshots: int = 0,
        more: Mapping[str, object] | None = None,
    ) -> None:
        self.events = 0
        self._file = file
        self._form = form
        self._snapshots = snapshots
        self._names = {b: form.broker_name(b) for b in overlay.brokers}
        self._quoted = {b: json.dumps(name) for b, name in self._names.items()}
        self._seq = dict.fromkeys(overlay.brokers, 0)
        self._due = dict.fromkeys(overlay.brokers, snapshots)
        self._json: dict[Message, str] = {}
        observes = (*OBSERVES, "snapshot") if snapshots else OBSERVES
        header = form.header_row(run, "routing", policy, overlay.edges, "strict", observes, **(more or {}))
        file.write(json.dumps(header, allow_nan=False) + "\n")

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        if sender == LOCAL:
            self._write(broker, "client", json.dumps(client(message)), message, began)
        else:
            self._write(broker, "receive", self._quoted[sender], message, began)
        for to, sent in sends:
            if to == LOCAL:
                self._write(broker, "deliver", json.dumps(client(sent)), sent, simulator.now)
            else:
                self._write(broker, "send", self._quoted[to], sent, simulator.now)
        if self._snapshots and self._seq[broker] >= self._due[broker]:
            self._due[broker] = self._seq[broker] + self._snapshots
            # Whoever asks for snapshots simulates brokers that have tables.
            self._snapshot(broker, cast(HasTables, simulator.broker(broker)).tables(), simulator.now)

    def _write(self, broker: Node, event: str, peer: str, message: Message, time: int) -> None:
        # Put together here, of pieces that `json` wrote: writing whole rows would take most of a run's time.
        self._line(broker, f'"event": "{event}", "peer": {peer}, "message": {self._encoded(message)}', time)

    def _line(self, broker: Node, rest: str, time: int) -> None:
        self.events += 1
        self._seq[broker] += 1
        self._file.write(f'{{"broker": "{self._names[broker]}", "seq": {self._seq[broker]}, {rest}, "time": {time}}}\n')

    def _encoded(self, message: Message) -> str:
        if isinstance(message, Deliver):  # once in a run
            return json.dumps(self._form.encode(message), allow_nan=False)
        text = self._json.get(message)
        if text is None:
            if len(self._json) >= REMEMBERED:
                self._json.clear()
            text = self._json[message] = json.dumps(self._form.encode(message), allow_nan=False)
        return text

    def _snapshot(self, broker: Node, tables: Tables, time: int) -> None:
        text = json.dumps(self.tables(tables), allow_nan=False)
        if len(text) + 200 > LONGEST_LINE:
            self._line(broker, f'"event": "note", "text": "no snapshot: tables of {len(text)} bytes"', time)
        else:
            self._line(broker, f'"event": "snapshot", "tables": {text}', time)

    def tables(self, tables: Tables) -> dict[str, object]:
        """A broker's tables as JSON: entries with where they came from, and what each neighbour was told."""
        return {
            "advs": [{"id": a.id, "filter": a.filter.to_json(), "from": self._source(x)} for a, x in tables.advs],
            "subs": [{"id": s.id, "filter": s.filter.to_json(), "from": self._source(x)} for s, x in tables.subs],
            "sent": {self._names[to]: [s.id for s in told] for to, told in tables.sent},
        }

    def _source(self, node: Node) -> str | None:
        return None if node == LOCAL else self._names[node]


def client(message: Message) -> str:
    """The client that a message is from or for: one for each advertisement and each subscription."""
    match message:
        case Advertise(item) | Unadvertise(item) | Subscribe(item) | Unsubscribe(item) | Deliver(_, item):
            return f"client-{item.id}"
        case Publish(item):
            return f"client-{item.of}"
        case PackedSubscribe() | PackedUnsubscribe():
            raise ValueError("a client sends its subscriptions one by one")
