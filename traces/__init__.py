"""The trace format: what brokers were told, said and delivered, one JSON object a line.

A trace is a header and then events, in the format of `docs/traces.md`. Any implementation in any language writes one;
`read_trace` reads it whole, `open_trace` line by line, and `save` writes one. Nothing that a file holds is evaluated,
and nothing it holds raises anything but a `TraceError` of one line.
"""

from routeproof.traces.fields import TraceError
from routeproof.traces.format import EVENTS, BadLine, Event, Header, broker_name
from routeproof.traces.messages import Item, TraceMessage, decode, describe, encode
from routeproof.traces.reader import Trace, open_trace, read_trace
from routeproof.traces.writer import event_row, header_row, save, to_text

__all__ = [
    "EVENTS",
    "BadLine",
    "Event",
    "Header",
    "Item",
    "Trace",
    "TraceError",
    "TraceMessage",
    "broker_name",
    "decode",
    "describe",
    "encode",
    "event_row",
    "header_row",
    "open_trace",
    "read_trace",
    "save",
    "to_text",
]
