"""Writing traces: `TraceWriter` while the run happens, `to_parquet` and `to_json_lines` from one format to another.

The writer is made to cost a broker little: lines are put together from pieces that are remembered, wait in memory, and
are compressed and written some thousand at a time. A converter goes event by event. An unreadable line stays in its
place as an unreadable line, with the same reason; unknown keys are not carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, TypeAlias

from routeproof.model.messages import Message
from routeproof.model.tables import Tables
from routeproof.traces.columns import write_parquet
from routeproof.traces.containers import sink
from routeproof.traces.fields import TraceError, parse
from routeproof.traces.files import beside
from routeproof.traces.format import EVENTS, broker_name, read_header
from routeproof.traces.lines import header_of, header_row, row_of, to_json
from routeproof.traces.messages import encode
from routeproof.traces.reader import open_trace
from routeproof.traces.tables import encode_tables

BURST = 4096
"""Lines that wait in memory. They are lost where the process dies; `flush` writes them."""

REMEMBERED = 1 << 14
"""Pieces of lines that are kept to be used again."""

Said: TypeAlias = Message | dict[str, object]
"""A message of the model, or the JSON object that stands in the line."""


class TraceWriter:
    """A trace that is being written: plain, `.gz` or `.zst` by the name, or `.parquet`; or to an open binary file.

        with TraceWriter("run.jsonl.zst", "r1", overlay=[("b1", "b2")], observes=["receive", "send"]) as trace:
            trace.event("b1", "receive", "b2", {"kind": "subscribe", "id": "s", "filter": [["x", ">", 1]]})

    `seq` counts by itself within each broker. A Parquet file appears when the writer is closed: until then there is a
    hidden `.jsonl.zst` next to it, which stays and can be read if the process dies. For use by one thread.
    """

    def __init__(
        self,
        target: Path | str | BinaryIO,
        run: str,
        *,
        protocol: str = "routing",
        policy: str = "",
        overlay: Iterable[tuple[int | str, int | str]] = (),
        dialect: str = "strict",
        observes: Iterable[str] | Mapping[str, Iterable[str]] = (),
        naming: Callable[[int], str] = broker_name,
        **more: object,
    ) -> None:
        """`naming` gives the names of brokers in snapshots. `more`: further keys of the header.

        `TraceError` where a reader would refuse the header.
        """
        header = to_json(header_row(run, protocol, policy, overlay, dialect, observes, **more))
        read_header(parse(header.encode("utf-8")))
        self._parquet: Path | None = None
        self._own_file = isinstance(target, Path | str)
        if isinstance(target, Path | str):
            path = Path(target)
            if path.suffix == ".parquet":
                self._parquet, path = path, beside(path).with_suffix(".jsonl.zst")
            self._path = path
            self._file: BinaryIO = path.open("wb")
        else:
            self._path, self._file = Path(), target
        self._sink = sink(self._file, self._path.name)
        self._closed = False
        self._naming = naming
        self._lines = [header + "\n"]
        self._seqs: dict[tuple[str, str], int] = {}
        self._beginnings: dict[tuple[str, str, str], tuple[str, str]] = {}
        self._said: dict[Message, str] = {}
        self.flush()

    def event(
        self,
        broker: str,
        event: str,
        peer: str = "",
        message: Said | None = None,
        *,
        seq: int | None = None,
        time: int | None = None,
        issued: int | None = None,
        done: int | None = None,
        text: str = "",
        tables: Tables | Mapping[str, object] | None = None,
        run: str = "",
    ) -> None:
        """One event of one broker. `seq` is the next one where it is left out, `run` that of the header."""
        key = (run, broker)
        if seq is None:
            seq = self._seqs.get(key, 0) + 1
        self._seqs[key] = seq
        about = (broker, event, peer)
        begin, middle = self._beginnings.get(about) or self._begin(about)
        line = f"{begin}{seq}{middle}"
        if message is not None:
            line = f'{line},"message":{self._say(message)}'
        if text or run or tables is not None or time is not None:
            line += _rest(text, tables, run, time, self._naming)
        if issued is not None:
            line += f',"issued":{to_json(issued)}'
        if done is not None:
            line += f',"done":{to_json(done)}'
        self._lines.append(line + "}\n")
        if len(self._lines) >= BURST:
            self.flush()

    def _begin(self, about: tuple[str, str, str]) -> tuple[str, str]:
        broker, event, peer = about
        if event not in EVENTS:
            raise TraceError(f"there is no event {event!r}; expected one of {', '.join(EVENTS)}")
        if len(self._beginnings) >= REMEMBERED:
            self._beginnings.clear()
        with_peer = f',"peer":{to_json(peer)}' if peer else ""
        pieces = f'{{"broker":{to_json(broker)},"seq":', f',"event":"{event}"{with_peer}'
        self._beginnings[about] = pieces
        return pieces

    def _say(self, message: Said) -> str:
        if isinstance(message, dict):  # it may be changed and used again, so it is not remembered
            return to_json(message)
        said = self._said.get(message)
        if said is None:
            if len(self._said) >= REMEMBERED:
                self._said.clear()
            said = self._said[message] = to_json(encode(message))
        return said

    def flush(self) -> None:
        """Everything so far is in the file when this returns."""
        if self._lines:
            self._sink.write("".join(self._lines).encode("utf-8"))
            self._lines.clear()

    def close(self) -> None:
        """Complete the file. To call it again does nothing."""
        if self._closed:
            return
        self._closed = True
        self.flush()
        self._sink.close()
        if self._own_file:
            self._file.close()
        if self._parquet is not None:
            to_parquet(self._path, self._parquet)
            self._path.unlink()

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()  # also where something went wrong: then the trace is wanted most


def _rest(
    text: str, tables: Tables | Mapping[str, object] | None, run: str, time: int | None, naming: Callable[[int], str]
) -> str:
    row: dict[str, object] = {}
    if text:
        row["text"] = text
    if tables is not None:
        row["tables"] = encode_tables(tables, naming) if isinstance(tables, Tables) else tables
    if run:
        row["run"] = run
    if time is not None:
        row["time"] = time
    return f",{to_json(row)[1:-1]}"


# -- from one format to another ----------------------------------------------------------------------------------------


def to_parquet(source: Path, target: Path, *, cut_at_snapshots: bool = False) -> None:
    """A trace of any form as Parquet, each broker's events together; `columns` says how."""
    with open_trace(source) as (header, lines):
        write_parquet(target, header_of(header), lines, cut_at_snapshots=cut_at_snapshots)


def to_json_lines(source: Path, target: Path) -> None:
    """A trace of any form as JSON Lines; in gzip or zstd where the target ends in `.gz` or `.zst`."""
    temporary = beside(target)
    try:
        with open_trace(source) as (header, lines), temporary.open("wb") as file:
            out = sink(file, target.name)
            texts = [to_json(header_of(header))]
            for line in lines:
                texts.append(to_json(row_of(line)))
                if len(texts) >= BURST:
                    out.write(_joined(texts))
                    texts = []
            out.write(_joined(texts))
            out.close()
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _joined(texts: list[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("utf-8")
