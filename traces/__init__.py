"""The trace format: the messages that brokers received, sent and delivered, as JSON Lines or Parquet.

A trace is a header followed by events (`docs/reference/trace-format.md`). A broker in any language can write one;
`TraceWriter` is the writer for Python. `open_trace` reads event by event, `read_trace` reads a whole trace into memory,
and `save` writes a complete one. The content of a file is never evaluated, and no content raises anything but a
`TraceError` of one line.
"""

from routeproof.traces.extensions import Entry
from routeproof.traces.fields import TraceError
from routeproof.traces.files import save
from routeproof.traces.format import EVENTS, BadLine, Event, Header, broker_name
from routeproof.traces.lines import event_row, header_row, to_text
from routeproof.traces.messages import Item, TraceMessage, decode, describe, encode
from routeproof.traces.reader import Trace, open_trace, read_trace
from routeproof.traces.tables import TraceTables, encode_tables
from routeproof.traces.writer import TraceWriter, to_json_lines, to_parquet

__all__ = [
    "EVENTS",
    "BadLine",
    "Entry",
    "Event",
    "Header",
    "Item",
    "Trace",
    "TraceError",
    "TraceMessage",
    "TraceTables",
    "TraceWriter",
    "broker_name",
    "decode",
    "describe",
    "encode",
    "encode_tables",
    "event_row",
    "header_row",
    "open_trace",
    "read_trace",
    "save",
    "to_json_lines",
    "to_parquet",
    "to_text",
]
