"""Looking ahead: the subscriptions that a Parquet file's clients make, before anything is replayed.

In such a file one broker stands after the other, so that each broker's own subscriptions come up long after the
publications that they match came up at another. Who matches a publication is found out once if all subscriptions are
known by then, and at every broker again if they are not. Nothing else depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from routeproof.checker.validate.replica import Universe
from routeproof.model.messages import Subscription
from routeproof.traces.parquet_reader import FAULTS, ROWS

COLUMNS = ("event", "kind", "id", "filter")

MOST = 1 << 17
"""Subscriptions. Where there are more, nobody looks ahead."""

Announced = tuple[str, bytes]
"""An id and its filter, as it was written."""


class Expected:
    """Who will come up keeps its slot in the universe, though no broker knows it yet."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe
        self._slots = 0
        universe.join(self)

    def expect(self, subscription: Subscription) -> None:
        self._slots |= 1 << self._universe.slot(subscription)

    def slots_held(self) -> int:
        return self._slots

    def promises_held(self) -> int:
        return 0


def subscriptions(path: Path, groups: Iterable[int] | None = None) -> Iterator[Announced]:
    """As far as they can be read; those of clients under packing, too, come one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        if not set(COLUMNS) <= set(file.schema_arrow.names):
            return
        every = range(file.metadata.num_row_groups) if groups is None else groups
        for group in every:
            for batch in file.iter_batches(ROWS, row_groups=[group], columns=list(COLUMNS), use_threads=False):
                chosen = batch.filter(pc.and_(pc.equal(batch["event"], "client"), pc.equal(batch["kind"], "subscribe")))
                for id, text in zip(chosen["id"].to_pylist(), chosen["filter"].to_pylist(), strict=True):
                    if id is not None and text is not None:
                        yield id, text.encode()
            pa.default_memory_pool().release_unused()
    except (pa.ArrowException, UnicodeDecodeError, *FAULTS):
        return  # whoever reads the events says what is wrong
