"""A trace as a Mermaid sequence diagram, whose first line is a comment that says what the trace is.

A message is drawn where it is received (or where it is sent, in a trace that observes no receiving). Names and labels
come from files that anybody may have written: each becomes plain text, since every character that Mermaid or a browser
could take for its own is written as an entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from routeproof.checker.counterexamples.shown import Shown, ending, fate, shortened
from routeproof.checker.system.terminal import count, printable
from routeproof.traces import Event, Trace, TraceMessage, describe

SHOWN = 500
"""Events that are drawn; a diagram of more cannot be read, and Mermaid refuses to draw it."""

LABEL = 120
"""Characters in a label."""

PLAIN = re.compile(r"[^A-Za-z0-9 ().,_+=-]")


def mermaid(shown: Shown) -> str:
    trace = shown.trace
    events = [e for e in trace.events if e.event not in ("snapshot", "restart")][:SHOWN]
    who = _Participants(trace, events)
    observed = trace.header.observes or [e.event for e in events]
    received = "receive" in observed
    lines = ["sequenceDiagram", *who.lines]
    if shown.is_false:
        lines.append(f"Note over {who.everyone}: {label(shown.title)}")
    for event in events:
        lines += _line(event, who, received)
    if len(events) == SHOWN:
        lines.append(f"Note over {who.everyone}: only the first {SHOWN} events are drawn")
    if trace.bad:
        lines.append(f"Note over {who.everyone}: {count(len(trace.bad), 'line')} could not be read")
    if shown.replay is not None and not shown.is_false and shown.replay.counterexample.property is not None:
        end = f"{fate(shown.replay.counterexample)}: {ending(shown.replay)}"
        lines.append(f"Note over {who.everyone}: {label(end)}")
    return f"%% {plain(shown.title)}\n" + "\n    ".join(lines) + "\n"


def plain(text: str) -> str:
    """The text with every character as an entity that Mermaid or a browser may act on."""
    return PLAIN.sub(lambda found: f"#{ord(found[0])};", printable(text))


def label(text: str) -> str:
    """The beginning of a text, as plain text."""
    return plain(shortened(printable(text), LABEL)) or "-"


class _Participants:
    """Short safe names for brokers and clients, in the order of the overlay, each broker followed by its clients."""

    def __init__(self, trace: Trace, events: list[Event]) -> None:
        homes = {e.peer: e.broker for e in reversed(events) if _with_client(e) and e.peer}
        self.brokers: dict[str, str] = {}
        self.clients: dict[str, str] = {}
        self.lines: list[str] = []
        for i, broker in enumerate(_brokers(trace, events), start=1):
            # What is called b1 in the trace is called b1 in the diagram; any other name is only shown.
            id = self.brokers[broker] = broker if re.fullmatch(r"b[0-9]{1,9}", broker) else f"n{i}"
            self.lines.append(f"participant {id}" if id == broker else f"participant {id} as {label(broker)}")
            for client in sorted(c for c, home in homes.items() if home == broker):
                self.clients[client] = f"c{len(self.clients) + 1}"
                self.lines.append(f"actor {self.clients[client]} as {label(client)}")

    @property
    def everyone(self) -> str:
        """From the first to the last."""
        ends = (self.lines[0].split()[1], self.lines[-1].split()[1])
        return ",".join(dict.fromkeys(ends))


def _brokers(trace: Trace, events: list[Event]) -> list[str]:
    seen = {name for e in events for name in (e.broker, "" if _with_client(e) else e.peer) if name}
    linked = [name for link in trace.header.overlay for name in link]
    if len(linked) > SHOWN:
        linked = [name for name in linked if name in seen]
    return list(dict.fromkeys([*linked, *sorted(seen)])) or ["b1"]


def _with_client(event: Event) -> bool:
    return event.event in ("client", "deliver")


def _line(event: Event, who: _Participants, received: bool) -> Iterator[str]:
    me = who.brokers[event.broker]
    about = label(describe(event.message)) if event.message is not None else ""
    match event.event:
        case "client":
            over = f"{who.clients[event.peer]},{me}" if event.peer else me
            yield f"Note over {over}: {label(_operation(event.message))}"
        case "deliver":
            yield f"{me}-->>{who.clients[event.peer]}: {about}"
        case "receive":
            yield f"{who.brokers[event.peer]}->>{me}: {about}"
        case "send" if not received:
            yield f"{me}->>{who.brokers[event.peer]}: {about}"
        case "drop":
            yield f"{who.brokers[event.peer]}-x{me}: {about} is lost"
        case "crash":
            yield f"Note over {me}: crashes, and begins again with empty tables"
        case "note":
            over = f"{who.brokers[event.peer]},{me}" if event.peer in who.brokers else me
            yield f"Note over {over}: {label(event.text)}"


def _operation(message: TraceMessage | None) -> str:
    return "" if message is None else f"{message.kind}({', '.join(item.id for item in message.items)})"
