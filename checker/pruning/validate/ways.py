"""Publications on their ways: for each that came to a subscription, at which brokers something else counted (SIM-6).

t counts at B for p where p's own way to t passed B: the way that its copies took, as far as the trace has them. A
subscription to which p never came, since it was made later, counts where its way to the publisher would pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import inf
from typing import NamedTuple, TypeAlias

import msgspec
from attrs import define, field

from routeproof.checker.pruning.validate.notebook import At, Made, Noted, OfPublications
from routeproof.checker.pruning.validate.standing import Standing, Stay
from routeproof.checker.validate.clients.rows import bucket_of
from routeproof.checker.validate.names import packed
from routeproof.checker.validate.rejection import Rejection
from routeproof.model.overlay import Node

Mask: TypeAlias = int
"""Mask of a way: bit mu is the broker mu hops from where it begins."""


class Row(NamedTuple):
    """A row of a database, and where something else counted; `is_exact`: the row must say so (EQ-3)."""

    at: At
    distance: int
    joins: int
    where: str
    """A `Mask`, in hexadecimal: ways may be long."""
    is_exact: bool


class Rows(NamedTuple):
    """Rows of one subscription's stay, with one advertisement, from one publisher's broker."""

    subscription: str
    broker: str
    begin: int
    advertisement: str
    publisher: Node
    rows: tuple[Row, ...]


def rows_of(block: bytes) -> list[Rows]:
    return msgspec.msgpack.decode(block, type=list[Rows])


Place: TypeAlias = tuple[Node, bool]
"""Where others are, and whether the publication came to them."""


@define
class _Publication:
    """Rows of one publication in a bucket."""

    made: Made | None = None
    home: Node = 0
    came_from: dict[Node, Node] = field(factory=dict)
    noted: list[tuple[str, Noted]] = field(factory=list)


class Ways:
    """The caller calls `judge` for one bucket after the other."""

    def __init__(self, run: str, standing: Standing) -> None:
        self._run = run
        self._standing = standing
        self._paths: dict[tuple[Node, Node], tuple[Node, ...]] = {}

    def judge(self, bucket: Iterable[OfPublications]) -> Iterator[Rejection | tuple[int, bytes]]:
        """Rows that are exact and wrong; and rows as blocks (`rows_of`), by bucket of subscriptions."""
        found: dict[tuple[str, str, int, str, Node], list[Row]] = {}
        for publication in self._publications(bucket).values():
            for each in self._rows(publication):
                if isinstance(each, Rejection):
                    yield each
                else:
                    stay, made, row = each
                    key = stay.id, stay.broker, stay.begin, made.of, publication.home
                    found.setdefault(key, []).append(row)
        buckets: dict[int, list[Rows]] = {}
        for key, rows in found.items():
            buckets.setdefault(bucket_of(key[0]), []).append(Rows(*key, tuple(rows)))
        for number, those in buckets.items():
            yield number, packed(those)

    def _publications(self, bucket: Iterable[OfPublications]) -> dict[str, _Publication]:
        found: dict[str, _Publication] = {}
        for block in bucket:
            node = self._standing.setting.node
            here = node[block.broker]
            for made in block.made:
                mine = found.setdefault(made.id, _Publication())
                mine.made, mine.home = made, here
            for copied in block.copied:
                found.setdefault(copied.id, _Publication()).came_from.setdefault(here, node[copied.peer])
            for noted in block.noted:
                found.setdefault(noted.id, _Publication()).noted.append((block.broker, noted))
        return found

    def _rows(self, publication: _Publication) -> Iterator[Rejection | tuple[Stay, Made, Row]]:
        made, standing = publication.made, self._standing
        event = None if made is None else standing.event(made.event)
        if made is None or event is None:
            return
        came = [
            (stay, noted)
            for broker, noted in publication.noted
            if (stay := standing.stay(noted.subscription, broker, noted.at.seq)) is not None
        ]
        matching = standing.matching(event)
        fair = standing.fair_until(made.of, publication.home, event, made.at.time, matching)
        company = _Company(self, publication, [stay for stay, _ in came], matching)
        for stay, noted in came:
            is_exact = 0 <= noted.at.time < fair
            if is_exact and (wrong := self._wrong(publication, stay, noted, company)) is not None:
                yield wrong
            where = company.counts(stay, stay.until)
            yield stay, made, Row(noted.at, noted.distance, noted.joins, f"{where:x}", is_exact)

    def _wrong(self, publication: _Publication, stay: Stay, noted: Noted, company: _Company) -> Rejection | None:
        """EQ-3, row by row: the distance is that to where something else comes in first, up to the publisher's broker,
        where a distance is never reset (STA-1)."""
        assert publication.made is not None, "asked before"
        last = len(self.path(stay.home, publication.home)) - 1
        where = company.counts_by_tables(stay, publication.made.at.time)
        wanted = min(last, (where & -where).bit_length() - 1) if where else last
        if noted.distance == wanted and (noted.joins > 0) == (wanted < last):
            return None
        counted = "above 0" if wanted < last else "of 0"
        return Rejection(
            self._run,
            stay.broker,
            noted.at.seq,
            "CRD-1",
            f"{noted.id} noted for {noted.subscription} with {wanted} hops of {last} and a count {counted}",
            f"{noted.distance} hops and a count of {noted.joins}",
            noted.at.before,
            time=noted.at.time,
        )

    def path(self, begin: Node, end: Node) -> tuple[Node, ...]:
        known = self._paths.get((begin, end))
        if known is None:
            known = self._paths[begin, end] = self._standing.overlay.path(begin, end)
        return known


class _Company:
    """Other subscriptions that one publication is for."""

    def __init__(self, ways: Ways, publication: _Publication, came: list[Stay], matching: list[Stay]) -> None:
        self._ways = ways
        self._publication = publication
        self._came = {id(stay) for stay in came}
        self._is_told = ways._standing.traffic is not None
        self._others = matching if self._is_told else came
        """Without a clock the other active subscriptions are unknown: those that it reached are taken."""
        self._places: dict[float, Counter[Place]] = {}
        self._known: dict[tuple[Node, float, bool, bool], Mask] = {}

    def counts(self, stay: Stay, time: float) -> Mask:
        """Where on the way of this one others count that were there at a time; `inf`: at the end."""
        return self._counted(stay, time, by_tables=False)

    def counts_by_tables(self, stay: Stay, time: float) -> Mask:
        """Counts by the overlay alone, whatever way copies took."""
        return self._counted(stay, time, by_tables=True)

    def _counted(self, stay: Stay, time: float, *, by_tables: bool) -> Mask:
        places = self._places.get(time)
        if places is None:
            some = (t for t in self._others if not self._is_told or t.lives_at(time))
            places = self._places[time] = Counter((t.home, id(t) in self._came) for t in some)
        is_one = not self._is_told or stay.lives_at(time)
        key = stay.home, time, is_one, by_tables
        mask = self._known.get(key)
        if mask is None:
            mask, mine = 0, (stay.home, True)
            for place, count in places.items():
                if count > (is_one and place == mine):
                    mask |= self._mask(stay.home, place, by_tables)
            self._known[key] = mask
        return mask

    def _mask(self, home: Node, place: Place, by_tables: bool) -> Mask:
        there, came = place
        publisher = self._publication.home
        way = set(self._ways.path(there, publisher) if by_tables or not came else self._chain(there))
        path = self._ways.path(home, publisher)
        return sum(1 << mu for mu, broker in enumerate(path) if broker in way)

    def _chain(self, there: Node) -> list[Node]:
        """The way that a copy took, from its end: as far back as the trace has it."""
        chain, came_from = [there], self._publication.came_from
        while chain[-1] in came_from and len(chain) <= len(came_from) + 1:
            chain.append(came_from[chain[-1]])
        return chain


__all__ = ["Mask", "Row", "Rows", "Ways", "inf", "rows_of"]
