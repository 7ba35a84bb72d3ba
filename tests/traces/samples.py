"""Traces that the tests write: a header, some rows, and any form to keep them in."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

from routeproof.traces import BadLine, Event, TraceWriter, event_row, header_row, open_trace, to_parquet

HEADER: dict[str, Any] = header_row("r1", "routing", "active", [(1, 2), (2, 3)], "strict", ["receive"])
STOCK = [["class", "=", "STOCK"], ["volume", ">", 1000]]
QUOTE = {"class": "STOCK", "volume": 2000, "price": 18.25, "halted": False}
PUBLISH = {"kind": "publish", "id": "p", "event": 1}
SUBSCRIBE = {"kind": "subscribe", "id": "s", "filter": STOCK}
ROW: dict[str, Any] = event_row("b2", 7, "receive", "b1", message=PUBLISH)

EVERY_KIND: list[dict[str, Any]] = [
    event_row("b2", 1, "client", "c1", message={"kind": "advertise", "id": "a", "filter": []}),
    event_row("b2", 2, "send", "b1", message={"kind": "advertise", "id": "a", "filter": []}),
    event_row("b1", 1, "receive", "b2", message={"kind": "advertise", "id": "a", "filter": []}, time=17),
    event_row("b1", 2, "client", message=SUBSCRIBE, time=20, issued=19),
    event_row("b1", 3, "send", "b2", message=SUBSCRIBE),
    event_row("b2", 3, "receive", "b1", message=SUBSCRIBE, time=21, done=22),
    event_row("b2", 4, "snapshot", tables={"advs": [{"id": "a"}], "subs": [{"id": "s", "from": "b1"}], "sent": {}}),
    event_row("b2", 5, "client", message={"kind": "publish", "id": "p", "of": "a", "attributes": QUOTE}),
    event_row("b2", 6, "send", "b1", message={"kind": "publish", "id": "p", "attributes": QUOTE}),
    event_row("b1", 4, "receive", "b2", message={"kind": "publish", "id": "p", "attributes": QUOTE}, run="r2"),
    event_row("b1", 5, "deliver", "c2", message={"kind": "publish", "id": "p", "to": "s"}),
    event_row("b1", 6, "drop", "b2", message={"kind": "publish", "id": "q", "event": 0}),
    event_row("b1", 9, "send", "b2", message={"kind": "subscribe-many", "items": [{"id": "t", "filter": [1, 2]}]}),
    event_row("b1", 10, "send", "b2", message={"kind": "unsubscribe-many", "items": [{"id": "t", "of": "s"}]}),
    event_row("b1", 11, "send", "b2", message={"kind": "unsubscribe", "id": "s"}),
    event_row("b1", 12, "send", "b2", message={"kind": "unadvertise", "id": "a", "of": "é ☃"}),
    event_row("b1", 13, "receive", "b2", message={"kind": "hello"}),
    event_row("b3", 0, "crash"),
    event_row("b3", 1, "restart"),
    event_row("b3", 2, "note", text="for people"),
]
"""Something of everything that a line may be."""


STRANGE: list[object] = [None, True, -1, 0, 7.0, 1 << 63, "", "x", "note", [], [1], {}, {"id": "s"}, "x" * 300]


def changes(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The row with every value replaced by something strange, or left out."""
    paths = [(key,) for key in row] + [("message", key) for key in row.get("message") or ()]
    also = [(key,) for key in ("text", "time", "issued", "done", "run", "tables", "message")]
    for path in [*paths, *also, ("message", "items")]:
        for strange in [*STRANGE, STRANGE]:  # the list itself stands for: left out
            changed = copy.deepcopy(row)
            place = changed if len(path) == 1 else changed.get("message")
            if isinstance(place, dict):
                place[path[-1]] = strange
                if strange is STRANGE:
                    del place[path[-1]]
                yield changed


def write_every_kind(writer: TraceWriter) -> None:
    for row in EVERY_KIND:
        about = {key: row[key] for key in ("text", "tables", "run", "time", "issued", "done") if key in row}
        writer.event(row["broker"], row["event"], row.get("peer", ""), row.get("message"), seq=row["seq"], **about)


def to_bytes(*lines: object) -> bytes:
    """One line each; bytes as they are, anything else as JSON."""
    return b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + b"\n" for x in lines)


def write(path: Path, *lines: object) -> Path:
    path.write_bytes(to_bytes(*lines))
    return path


def keep(path: Path, form: str, data: bytes) -> Path:
    """The lines of `data` in a file of this form."""
    match form:
        case "jsonl":
            path.write_bytes(data)
        case "gz":
            path.write_bytes(gzip.compress(data))
        case "zst":
            path.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(data))
        case "parquet":
            plain = path.with_name(f"{path.name}.plain")
            plain.write_bytes(data)
            to_parquet(plain, path)
    return path


FORMS = ("jsonl", "gz", "zst", "parquet")


def lines_of(path: Path, *, checked: bool = False) -> list[Event | BadLine]:
    with open_trace(path, checked=checked) as (_, lines):
        return list(lines)
