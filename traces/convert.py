"""From one form of a trace to another: `to_parquet` and `to_json_lines`, event by event.

An unreadable line stays in its place as an unreadable line, with the same reason. Unknown keys are not carried over.
"""

from __future__ import annotations

from pathlib import Path

from routeproof.traces.parquet_writer import write_parquet
from routeproof.traces.reader import open_trace
from routeproof.traces.rows import header_of, row_of, to_json
from routeproof.traces.saving import beside
from routeproof.traces.sinks import sink

BURST = 4096
"""Lines that are written at once."""


def to_parquet(source: Path, target: Path, *, cut_at_snapshots: bool = False) -> None:
    """A trace of any form as Parquet, each broker's events together; `parquet_writer` says how."""
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
