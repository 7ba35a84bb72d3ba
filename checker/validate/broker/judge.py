"""The judge of the parts of one process (`Judge`), and subscriptions that it knows ahead.

`Judge` has what the parts that are judged in one process share: the setting, the meanings of messages, and what matches
and covers what.

A Parquet file's clients say what they subscribe to and publish before anything is replayed. In such a file one broker
stands after the other, so that each broker's own subscriptions come up long after the publications that they match came
up at another. Who matches a publication is found out once if all subscriptions are known by then, and at every broker
again if they are not; and it need be found out in one process only. Nothing else depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Raw as JsonText

from routeproof.checker.validate.broker.messages import Dictionary
from routeproof.checker.validate.broker.publications import Written
from routeproof.checker.validate.clients import BUCKETS, ClientRows
from routeproof.checker.validate.fast import Replica, Universe
from routeproof.checker.validate.setting import Setting
from routeproof.model.filters import FilterError, dialect
from routeproof.model.messages import Subscription
from routeproof.model.tables import Tables
from routeproof.traces import Event, TraceError
from routeproof.traces.fields import INTEGER
from routeproof.traces.messages import meanings_of
from routeproof.traces.parquet_file import FAULTS, ParquetFile, words_array

MOST = 1 << 17
"""Subscriptions. Of more, these are known ahead."""

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


class Judge:
    """Shared state of parts: the setting, the meanings of messages, and what matches and covers what. What clients saw
    is set aside in so many `buckets`."""

    def __init__(self, setting: Setting, buckets: int = BUCKETS) -> None:
        self.setting, self.judging, self._buckets = setting, setting.judging, buckets
        self.replica = Replica(setting.overlay, setting.policy)
        self.dictionary = Dictionary(self.replica.universe, matched=setting.matches)
        self.meanings = meanings_of(dialect(setting.dialect))
        self._expected = Expected(self.replica.universe)
        self._clients: dict[str, ClientRows] = {}

    def clients(self, run: str) -> ClientRows:
        """Where what clients of this run got, and what they published, waits to be set aside."""
        return self._clients.setdefault(run, ClientRows(self._buckets))

    def look_ahead(self, announced: Iterable[Announced]) -> None:
        """These subscriptions will come up: better to know them before publications are matched. Brokers stand one
        after the other."""
        self.dictionary.publications.come_round = True
        if not self.setting.matches:
            return
        for id, text in islice(dict.fromkeys(announced), MOST):
            with suppress(TraceError, FilterError):
                wants = self.meanings.filter(JsonText(text))
                self._expected.expect(Subscription(self.setting.ranks.get(id, 0), id, wants))

    def start_at(self, snapshot: Event) -> Tables | None:
        """Tables of a part that begins with this snapshot; None if no part can begin with it."""
        try:
            told = snapshot.tables
        except TraceError:
            return None
        neighbours = self.setting.neighbours(snapshot.broker)
        return None if told is None else self.judging.tables(told, neighbours, self.setting.ranks)


# -- looking ahead ----------------------------------------------------------------------------------------------------


def subscriptions(path: Path, groups: Iterable[int] | None = None) -> Iterator[Announced]:
    """Subscriptions that can be read and are not withdrawn; those of clients under packing come one by one too."""
    standing: dict[str, bytes] = {}
    for kind, id, text in _said(path, ("subscribe", "unsubscribe"), ("kind", "id", "filter"), groups):
        if kind == "unsubscribe":
            standing.pop(id, None)
        elif isinstance(id, str) and isinstance(text, str):
            standing[id] = text.encode()
    yield from standing.items()


def publications(path: Path, groups: Iterable[int] | None = None) -> Iterator[Written]:
    for id, of, text, number in _said(path, ("publish",), ("id", "of", "attributes", "number"), groups):
        if not isinstance(id, str) or not isinstance(of, str | None):
            continue
        if isinstance(text, str) and number is None:
            yield id, of or "", text.encode()
        elif text is None and isinstance(number, int) and 0 <= number <= INTEGER:
            yield id, of or "", number


def _said(
    path: Path, kinds: tuple[str, ...], columns: tuple[str, ...], groups: Iterable[int] | None
) -> Iterator[tuple[Any, ...]]:
    """Some columns of the clients' operations of these kinds; None for a column that the file has not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        with path.open("rb") as source:
            file = ParquetFile(source)
            there = set(file.names)
            if not {"event", "kind"} <= there:
                return
            names = ["event", *{"kind", *(name for name in columns if name in there)}]
            for group in range(len(file.sizes)) if groups is None else groups:
                said = file.told(group).get("kind")
                if said is not None and said.has_min_max and not any(said.min <= kind <= said.max for kind in kinds):
                    continue
                for part in file.parts(group, names):
                    of_kind = _is_among(part.batch["kind"], kinds)
                    if part.is_too_long or not pc.any(of_kind).as_py():
                        continue
                    chosen = part.batch.filter(pc.and_(_is_among(part.batch["event"], ("client",)), of_kind))
                    nothing = [None] * len(chosen)
                    yield from zip(*(chosen[c].to_pylist() if c in there else nothing for c in columns), strict=True)
            pa.default_memory_pool().release_unused()
    except (pa.ArrowException, *FAULTS):
        return  # the reader of the events says what is wrong


def _is_among(column: Any, words: tuple[str, ...]) -> Any:
    """Row by row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    among = words_array(words)
    if pa.types.is_dictionary(column.type):
        return pc.is_in(column.dictionary.cast(pa.string()), value_set=among).take(column.indices)
    return pc.is_in(column.cast(pa.string()), value_set=among)
