"""Which part of a trace is judged where.

A broker's events must be judged in order, so they are one part; but where the trace has its tables, a part may end and
the next begin, so that a broker with nearly all events is not one long task. A broker that delivers to clients without
saying for which subscription is not cut: nothing in a snapshot says which client a subscription is of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace

from attrs import frozen

from routeproof.checker.validate.spark.groups import Stretch

PART_EVENTS = 20_000
"""A part that may end goes on until it has so many."""


@frozen
class Block:
    """A row of `columns.BLOCKS`, without its lines."""

    run: bytes
    broker: bytes
    place: int
    events: int
    starts: bool
    bare: bool


WITHIN, BEGINS, CLOSES = range(3)


@frozen
class Assigned:
    """A block belongs to a part: as one of its blocks, as the one with whose first line, a snapshot, it begins, or with
    that line only, at which it ends."""

    place: int
    part: int
    role: int
    task: int


def of_blocks(blocks: Iterable[Block], tasks: int) -> list[Assigned]:
    """Parts are numbered in the order in which a broker's follow each other."""
    brokers: dict[tuple[bytes, bytes], list[Block]] = {}
    for block in sorted(blocks, key=lambda b: b.place):
        brokers.setdefault((block.run, block.broker), []).append(block)
    found: list[tuple[int, int, int]] = []
    sizes: list[int] = []
    for mine in brokers.values():
        whole = any(block.bare for block in mine)
        sizes.append(0)
        for block in mine:
            role = WITHIN
            if block.starts and not whole and sizes[-1] >= PART_EVENTS:
                found.append((block.place, len(sizes) - 1, CLOSES))
                sizes.append(0)
                role = BEGINS
            found.append((block.place, len(sizes) - 1, role))
            sizes[-1] += block.events
    task = spread(sizes, tasks)
    return [Assigned(place, part, role, task[part]) for place, part, role in found]


@frozen
class Unit:
    """Row groups that one task reads in order.

    `starts`: those that begin with a snapshot and a new part. `closes`: row groups of other units, each of which begins
    with the snapshot at which a part of this one ends.
    """

    groups: tuple[int, ...]
    starts: tuple[int, ...] = ()
    closes: tuple[int, ...] = ()


def of_groups(groups: Sequence[list[Stretch] | None]) -> list[Unit]:
    """Row groups that share a broker are one unit, unless the broker's tables stand where the second begins.

    If the broker of a row group is unknown, all row groups are one unit.
    """
    if any(group is None for group in groups):
        return [Unit(tuple(range(len(groups))))]
    known = [group or [] for group in groups]
    whole = {(s.run, s.broker) for group in known for s in group if s.bare}
    joined = _Joined(len(known))
    last: dict[tuple[str, str], int] = {}
    cuts: dict[int, int] = {}
    for number, group in enumerate(known):
        for stretch in group:
            key = stretch.run, stretch.broker
            if key in last and stretch.starts and key not in whole:
                cuts[number] = last[key]
            elif key in last:
                joined.join(last[key], number)
            last[key] = number
    members: dict[int, list[int]] = {}
    for number in range(len(known)):
        members.setdefault(joined.find(number), []).append(number)
    cuts = {number: before for number, before in cuts.items() if joined.find(number) != joined.find(before)}
    return [
        Unit(
            tuple(those),
            tuple(number for number in those if number in cuts),
            tuple(number for number, before in cuts.items() if before in those),
        )
        for those in sorted(members.values())
    ]


class _Joined:
    """Sets of row groups that only grow."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, each: int) -> int:
        while self._parent[each] != each:
            self._parent[each] = each = self._parent[self._parent[each]]
        return each

    def join(self, one: int, other: int) -> None:
        one, other = sorted((self.find(one), self.find(other)))
        self._parent[other] = one


def spread(sizes: Sequence[int], tasks: int) -> list[int]:
    """A task for each, so that no task has much more than another: the largest first, each to the least busy."""
    busy = [(0, task) for task in range(max(1, tasks))]
    heapify(busy)
    found = [0] * len(sizes)
    for each in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        load, task = busy[0]
        found[each] = task
        heapreplace(busy, (load + sizes[each] + 1, task))
    return found
