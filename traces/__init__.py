"""The trace format: what brokers were told, said and delivered, one JSON object a line, or the same in Parquet.

A trace is a header and then events, in the format of `docs/traces.md`. Any implementation in any language writes one;
here `TraceWriter` does. `open_trace` reads one event by event, `read_trace` whole, and `save` puts one that is complete
in place. Nothing that a file holds is evaluated, and nothing it holds raises anything but a `TraceError` of one line.
"""

from routeproof.traces.convert import to_json_lines, to_parquet
from routeproof.traces.fields import TraceError
from routeproof.traces.format import EVENTS, BadLine, Event, Header, broker_name
from routeproof.traces.messages import Item, TraceMessage, decode, describe, encode
from routeproof.traces.reader import Trace, open_trace, read_trace
from routeproof.traces.rows import event_row, header_row, to_text
from routeproof.traces.saving import save
from routeproof.traces.tables import Entry, TraceTables, encode_tables
from routeproof.traces.writer import TraceWriter

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
