"""What parts set aside, brought together in the workers: both ends of a link, publications and their deliveries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
from attrs import frozen

from routeproof.checker.validate.clients import Operation, operations_of
from routeproof.checker.validate.links import Comparison, compare
from routeproof.checker.validate.packing import name_of
from routeproof.checker.validate.quiet import Busy, union
from routeproof.checker.validate.seen import CLIENTS, judge_clients
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark.columns import (
    CONTROL,
    ON_THE_WAY,
    PUBLICATIONS,
    REJECTION,
    RESULTS,
    Batch,
    batches,
    rows_of,
    unsqueezed,
)
from routeproof.checker.validate.store import Store
from routeproof.checker.validate.traffic import Traffic
from routeproof.checker.validate.wire import encode_rejection

Row = tuple[Any, ...]


def join_links(widths: dict[bytes, int], found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: the `LINK` rows of `RESULTS`, each link's together, what was sent before what was taken.

    `widths`: of a slot of time, by run. What was sent waits in a file until what was taken comes.
    """
    yield from batches(RESULTS, _of_links(widths, rows_of(found)))


def _of_links(widths: dict[bytes, int], rows: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for (run, near, far), mine in groupby(rows, lambda row: (row["run"], row["near"], row["far"])):
        busy = {CONTROL: Busy(widths[run]), PUBLICATIONS: Busy(widths[run])}
        with Store() as store:
            for row in mine:
                store.put((row["end"],), row["data"])
            ends = store.blocks(("sent",)), store.blocks(("taken",))
            for each in compare(name_of(run), (name_of(near), name_of(far)), *ends):
                if isinstance(each, Comparison):
                    yield from _compared(run, each)
                else:
                    begins, until, is_control = each
                    busy[CONTROL].add(begins[is_control], until[is_control])
                    busy[PUBLICATIONS].add(begins[~is_control], until[~is_control])
        for kind, spans in busy.items():
            begins, until = spans.spans()
            yield kind, run, b"", b"", "", 0, 0, np.concatenate([begins, until]).tobytes()


def _compared(run: bytes, comparison: Comparison) -> Iterator[Row]:
    if comparison.rejection is not None:
        yield REJECTION, run, b"", b"", "", 0, 0, encode_rejection(comparison.rejection)
    if comparison.on_the_way:
        digests = np.array(sorted(comparison.on_the_way), np.int64).tobytes()
        yield ON_THE_WAY, run, b"", b"", "", 0, 0, digests


@frozen
class Context:
    """What obligations of one run rest on: what each broker's clients announced, as blocks that were squeezed; and what
    was on the way when, as bytes.

    `owes`: can be judged what is owed? `width` is that of a slot; spans and digests are as `join_links` gave them.
    """

    operations: tuple[tuple[bytes, ...], ...]
    owes: bool
    links: bool
    settles: int | None
    latest: int
    width: int
    control: tuple[bytes, ...] = ()
    publications: tuple[bytes, ...] = ()
    on_the_way: tuple[bytes, ...] = ()

    def said(self) -> list[Iterator[Operation]]:
        """Each broker's, in its order."""
        return [operations_of(map(unsqueezed, blocks)) for blocks in self.operations]

    def traffic(self) -> Traffic | None:
        if not self.owes:
            return None
        busy = [
            union(self.width, map(_spans, each)) if self.links else None for each in (self.control, self.publications)
        ]
        digests = frozenset(int(d) for block in self.on_the_way for d in np.frombuffer(block, np.int64))
        return Traffic(busy[0], busy[1], self.settles, self.latest, digests)


def _spans(block: bytes) -> tuple[Any, Any]:
    both = np.frombuffer(block, np.int64)
    return both[: len(both) // 2], both[len(both) // 2 :]


def join_clients(setting: Setting, contexts: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: the `CLIENT` rows of `RESULTS`, each bucket's together. `contexts`: broadcast, by run."""
    yield from batches(RESULTS, _of_clients(setting, contexts.value, rows_of(found)))


def _of_clients(setting: Setting, contexts: dict[bytes, Context], rows: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for run, buckets in groupby(rows, lambda row: row["run"]):
        name, context = name_of(run), contexts[run]
        with Store() as store:
            for row in buckets:
                store.put((name, CLIENTS, row["end"]), row["data"])
            for rejection in judge_clients(setting, name, context.said, context.traffic(), store):
                yield REJECTION, run, b"", b"", "", 0, 0, encode_rejection(rejection)
