"""A trace of any number of publications, written as fast as columns can be written.

    python -m tests.placement.publications 10000000 ten.parquet

64 publishers at 15 brokers, each with four subscribers. Which of them a publication is delivered to is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from routeproof.model.overlay import Node, Overlay

BROKERS, PUBLISHERS, SUBSCRIBERS = 15, 64, 4
GROUP = 40_000
"""Publications of a row group."""

HOP = 1_000_000
"""Nanoseconds from one broker to the next, and between publications."""

OVERLAY = Overlay.of((broker // 2, broker) for broker in range(2, BROKERS + 1))

Row = tuple[str, str, str, int]
"""Event, broker, peer, and hops from the publisher."""


def _rows(at: Node, homes: tuple[Node, ...]) -> Iterator[Row]:
    """The events of a publication that is delivered at these brokers."""
    yield "client", f"b{at}", "P", 0
    seen = {at}
    for number, home in enumerate(homes):
        way = OVERLAY.path(at, home)
        for hops, (near, far) in enumerate(pairwise(way), 1):
            if far not in seen:
                seen.add(far)
                yield "receive", f"b{far}", f"b{near}", hops
        yield "deliver", f"b{home}", f"c{number}", len(way)


def write(path: Path, publications: int) -> int:
    """Writes the trace, and returns the number of events."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    draw = Random(0)
    shapes: list[list[Row]] = []
    for _ in range(PUBLISHERS):
        at = draw.randint(1, BROKERS)
        homes = draw.sample(OVERLAY.brokers, SUBSCRIBERS)
        for wanted in range(1 << SUBSCRIBERS):
            shapes.append(list(_rows(at, tuple(home for n, home in enumerate(homes) if wanted >> n & 1))))
    sizes = np.array([len(shape) for shape in shapes])
    first = np.cumsum(sizes) - sizes
    columns = [pa.array(column).dictionary_encode() for column in zip(*(row for s in shapes for row in s), strict=True)]
    overlay = [[f"b{u}", f"b{v}"] for u, v in OVERLAY.edges]
    observes = ["client", "receive", "deliver"]
    header = {"routeproof": 1, "run": "many", "protocol": "routing", "overlay": overlay, "observes": observes}
    metadata = {"routeproof": json.dumps(header | {"policy": "active", "clock": "shared"})}
    random, done, writer = np.random.default_rng(0), 0, None
    for begin in range(0, publications, GROUP):
        number = np.arange(begin, min(begin + GROUP, publications))
        publisher = random.integers(0, PUBLISHERS, len(number))
        shape = publisher * (1 << SUBSCRIBERS) + random.integers(0, 1 << SUBSCRIBERS, len(number))
        size = sizes[shape]
        rows = np.repeat(first[shape] - (np.cumsum(size) - size), size) + np.arange(size.sum())
        event, broker, peer, hops = (column.take(pa.array(rows)).dictionary_decode() for column in columns)
        owner, id = np.repeat(publisher, size), np.repeat(number, size)
        time = id * HOP + hops.to_numpy() * HOP

        def named(letter: str, numbers: Any) -> Any:
            return pc.binary_join_element_wise(letter, pc.cast(pa.array(numbers), pa.string()), "")

        of_all = {
            "run": pa.repeat("many", len(rows)),
            "broker": broker,
            "seq": pa.array(done + np.arange(len(rows))),
            "event": event,
            "peer": peer,
            "time": pa.array(time),
            "kind": pa.repeat("publish", len(rows)),
            "id": named("p", id),
            "of": named("a", owner),
        }
        table = pa.table(of_all).replace_schema_metadata(metadata)
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
        done += len(rows)
    assert writer is not None
    writer.close()
    return done


if __name__ == "__main__":
    import sys

    print(f"{write(Path(sys.argv[2]), int(sys.argv[1])):,} events")
