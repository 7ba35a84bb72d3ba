"""A recorded run as lines that may be left out, with all that comes of them.

What an event needs stays: a cut takes with it the whole step that a message begins, the messages that were sent in that
step, the steps that these began elsewhere, and the copies of a publication that lead to no delivery any more. So a cut
never makes a fault of its own: no broker lacks a message that was sent to it, or sends one without a reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from routeproof.checker.system.terminal import count
from routeproof.traces import Trace, to_text
from routeproof.traces.lines import header_of, row_of

Row: TypeAlias = Mapping[str, Any]
Unit: TypeAlias = tuple[str, object]
"""A part that is left out at once: the word `id`, `leaf` or `event`, and which."""

OPENING = ("receive", "client")
"""Kinds of events that begin a step, of which the sends and deliveries behind them are the rest."""

REST = ("send", "deliver")
WITHDRAWALS = ("unsubscribe", "unsubscribe-many", "unadvertise")


@frozen
class Line:
    """One event: its number in the recorded trace, its row, and the text of that."""

    number: int
    row: Row
    text: str

    @classmethod
    def of(cls, number: int, row: Row) -> Line:
        return cls(number, row, to_text([row]))

    @property
    def place(self) -> tuple[str, str]:
        return self.row["broker"], self.row["event"]

    @property
    def message(self) -> Row:
        found = self.row.get("message")
        return found if isinstance(found, dict) else {}

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that its message is about: one, or those of its items."""
        return tuple(each["id"] for each in self.entries if isinstance(each.get("id"), str))

    @property
    def entries(self) -> list[Row]:
        """Its message, and the items of that."""
        items = self.message.get("items")
        return [self.message, *items] if isinstance(items, list) else [self.message]


@frozen(eq=False)
class Recording:
    """A trace with the structure that cuts need: steps, and the receptions of what was sent."""

    header: Row
    lines: tuple[Line, ...]
    cause: tuple[str, int] | None = None
    """The broker and the seq of the fault: its step counts as one that leads to a delivery."""
    step: dict[int, int] = field(init=False)
    """By the number of an event, that of the event that begins its step."""
    steps: dict[int, list[int]] = field(init=False)
    """By the number of the event that begins a step, the events of the step."""
    came_from: dict[int, int] = field(init=False)
    """By the number of a reception, that of its sending."""
    went_to: dict[int, int] = field(init=False)
    """By the number of a sending, that of its reception."""

    def __attrs_post_init__(self) -> None:
        step: dict[int, int] = {}
        steps: dict[int, list[int]] = {}
        now: dict[str, int] = {}
        ends: tuple[dict[object, list[int]], ...] = (defaultdict(list), defaultdict(list))
        for line in self.lines:
            broker, event = line.place
            begins = line.number if event not in REST or broker not in now else now[broker]
            if event in OPENING or event == "crash":
                now[broker] = line.number
            step[line.number] = begins
            steps.setdefault(begins, []).append(line.number)
            if event in ("send", "receive", "drop"):
                link = (broker, line.row["peer"]) if event == "send" else (line.row["peer"], broker)
                ends[event != "send"][link, line.message.get("kind"), line.ids].append(line.number)
        sent, taken = ends
        pairs = [pair for key, some in sent.items() for pair in zip(some, taken.get(key, ()), strict=False)]
        came_from = {far: near for near, far in pairs}
        for name, value in (("step", step), ("steps", steps), ("came_from", came_from), ("went_to", dict(pairs))):
            object.__setattr__(self, name, value)

    @property
    def by_number(self) -> dict[int, Line]:
        return {line.number: line for line in self.lines}

    @property
    def text(self) -> str:
        return to_text([self.header]) + "".join(line.text for line in self.lines)

    @property
    def brokers(self) -> list[str]:
        found = {name for edge in self.header["overlay"] for name in edge}
        return sorted(found | {line.row["broker"] for line in self.lines})

    def described(self) -> str:
        return f"{count(len(self.lines), 'event')} of {count(len(self.brokers), 'broker')}"

    # -- cuts ----------------------------------------------------------------------------------------------------------

    def without(self, gone: Iterable[int], ids: Collection[str] = (), *, more: bool = False) -> Recording:
        """The recording without some events and some ids, and without all that came of them.

        `more`: also without the ids that other brokers know or do not know only because of these.
        """
        lines, ids = self.by_number, self._with_entries(ids)
        removed = self._closed({*gone, *self._about(ids)})
        while more and (fresh := self._forwarded_otherwise(removed) - set(ids)):
            ids = self._with_entries({*ids, *fresh})
            removed = self._closed(removed | set(self._about(ids)))
        needless = self._leading(set()) - self._leading(removed) - removed
        copies = {n for n in needless if lines[n].place[1] == "send" and lines[n].message.get("kind") == "publish"}
        removed |= self._closed(copies)
        kept = [line for line in self.lines if line.number not in removed]
        return evolve(self, lines=tuple(_without_items(line, ids) for line in kept) if ids else tuple(kept))

    def _with_entries(self, ids: Collection[str]) -> set[str]:
        """These ids, and those of entries that stand for nothing else."""
        stands: dict[str, set[str]] = defaultdict(set)
        for line in self.lines if ids else ():
            for each in line.entries:
                if isinstance(each.get("of"), list | tuple):
                    stands[each["id"]].update(each["of"])
        found = set(ids)
        while fresh := {entry for entry, some in stands.items() if some <= found} - found:
            found |= fresh
        return found

    def _forwarded_otherwise(self, removed: Collection[int]) -> set[str]:
        """The ids that a broker, by what is removed, has forwarded more often than withdrawn, or less often."""
        left: dict[tuple[str, str, str], int] = defaultdict(int)
        for line in self.lines:
            kind = line.message.get("kind")
            if line.number in removed and line.place[1] == "send" and kind != "publish":
                for id in line.ids:
                    left[line.row["broker"], line.row["peer"], id] += -1 if kind in WITHDRAWALS else 1
        return {id for (_, _, id), balance in left.items() if balance}

    def without_broker(self, leaf: str, *, more: bool) -> Recording:
        """The recording without a broker that has one neighbour, and without what its clients announced."""
        ids = {id for line in self.lines if line.place == (leaf, "client") for id in line.ids}
        gone = [line.number for line in self.lines if leaf in (line.row["broker"], line.row.get("peer"))]
        overlay = [edge for edge in self.header["overlay"] if leaf not in edge]
        return evolve(self.without(gone, ids, more=more), header={**self.header, "overlay": overlay})

    def after(self, broker: str, seq: int) -> list[Line]:
        """The events of a broker after one of its steps."""
        mine = [line for line in self.lines if line.row["broker"] == broker]
        last = max((max(self.steps[self.step[line.number]]) for line in mine if line.row["seq"] == seq), default=-1)
        return [line for line in mine if line.number > last >= 0]

    def ended_by(self, marker: Line) -> Recording:
        """The recording in which a broker does nothing from an event on, in whose place there is another one."""
        broker = marker.row["broker"]
        gone = [line.number for line in self.lines if line.row["broker"] == broker and line.number >= marker.number]
        lines = sorted((*self.without(gone).lines, marker), key=lambda line: line.number)
        return evolve(self, lines=tuple(lines))

    def _about(self, ids: Collection[str]) -> Iterator[int]:
        """The events that are about nothing but these ids, publications under them, and deliveries for them."""
        left, without = set[tuple[str, str]](), set[tuple[str, str]]()
        for line in self.lines if ids else ():
            if line.place[1] == "client" and str(line.message.get("kind")).startswith("subscribe"):
                client = line.row["broker"], line.row.get("peer", "")
                (without if set(line.ids) <= set(ids) else left).add(client)
        for line in self.lines if ids else ():
            about, client = line.ids, (line.row["broker"], line.row.get("peer", ""))
            is_for_nobody = line.place[1] == "deliver" and "to" not in line.message and client in without - left
            named = {line.message.get("to"), line.message.get("of")} if line.message.get("kind") == "publish" else set()
            if (about and set(about) <= set(ids)) or not named.isdisjoint(ids) or is_for_nobody:
                yield line.number

    def _closed(self, removed: set[int]) -> set[int]:
        """The events and all that needs them: the rest of a step, and the receptions of what was sent in it."""
        todo = list(removed)
        while todo:
            number = todo.pop()
            more = self.steps.get(number, [])
            if number in self.went_to:
                more = [*more, self.went_to[number]]
            fresh = [each for each in more if each not in removed]
            removed.update(fresh)
            todo += fresh
        return removed

    def _leading(self, removed: Collection[int]) -> set[int]:
        """The events on the way to a delivery that is not removed, or to the fault."""
        found: set[int] = set()
        for line in self.lines:
            number = line.number
            is_end = line.place[1] == "deliver" or (line.row["broker"], line.row["seq"]) == self.cause
            if not is_end or number in removed:
                continue
            while number not in found:
                found.add(number)
                begins = self.step[number]
                number = begins if number != begins else self.came_from.get(number, number)
        return found

    # -- order ---------------------------------------------------------------------------------------------------------

    def in_causal_order(self) -> list[int]:
        """The events, each behind those before it at its broker, and receptions behind their sendings."""
        from networkx import DiGraph, NetworkXUnfeasible, lexicographical_topological_sort

        before = DiGraph()
        last: dict[str, int] = {}
        for line in self.lines:
            number, broker = line.number, line.row["broker"]
            before.add_node(number)
            before.add_edges_from(
                (each, number) for each in (last.get(broker), self.came_from.get(number)) if each is not None
            )
            last[broker] = number
        order: list[int] = []
        with suppress(NetworkXUnfeasible):  # what a foreign trace has in a circle comes last
            for number in lexicographical_topological_sort(before):
                order.append(number)  # noqa: PERF402 - what came before the circle stays
        known = set(order)
        return order + [line.number for line in self.lines if line.number not in known]


def _without_items(line: Line, ids: Collection[str]) -> Line:
    """The line without the items of these ids, and without these ids in lists under `of`."""

    def left(entry: Row) -> Row:
        several = entry.get("of")
        is_list = isinstance(several, list | tuple)
        return {**entry, "of": [id for id in several if id not in ids]} if is_list else entry  # type: ignore[union-attr]

    message = left(line.message)
    if isinstance(items := message.get("items"), list):
        message = {**message, "items": [left(each) for each in items if each.get("id") not in ids]}
    return line if message == line.message else Line.of(line.number, {**line.row, "message": message})


def marker_of(line: Line) -> Line:
    """An empty snapshot in the place of an event: it says that the step before it had ended."""
    kept = {key: line.row[key] for key in ("run", "time") if key in line.row}
    row = {"broker": line.row["broker"], "seq": line.row["seq"], "event": "snapshot", "tables": {}, **kept}
    return Line.of(line.number, row)


def recording_of(trace: Trace, run: str) -> Recording:
    """One run of a trace, without the lines that cannot be read."""
    rows = [row_of(event) for event in trace.events if (event.run or trace.header.run) == run]
    return Recording(header_of(trace.header), tuple(Line.of(n, row) for n, row in enumerate(rows)))


# -- parts -------------------------------------------------------------------------------------------------------------


def without_units(recording: Recording, units: Sequence[Unit], *, more: bool) -> Recording:
    for leaf in [which for word, which in units if word == "leaf"]:
        if len(recording.header["overlay"]) > 1:
            recording = recording.without_broker(str(leaf), more=more)
    ids = {id for word, some in units if word == "id" and isinstance(some, frozenset) for id in some}
    numbers = {n for word, some in units if word == "event" and isinstance(some, frozenset) for n in some}
    return recording.without(numbers, ids, more=more) if ids or numbers else recording


def units_of(recording: Recording, kind: str) -> list[Unit]:
    """The parts of one kind that may be left out, in the order of the trace."""
    if kind == "leaf":
        ends = [name for edge in recording.header["overlay"] for name in edge]
        return [("leaf", name) for name in recording.brokers if ends.count(name) == 1]
    if kind == "other":
        return [
            ("event", frozenset([line.number]))
            for line in recording.lines
            if line.place[1] in ("snapshot", "note", "drop", "crash", "restart")
            or (line.place[1] == "client" and not line.ids)
        ]
    if kind == "withdrawal":
        by_id: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for line in recording.lines:
            if line.message.get("kind") in WITHDRAWALS and line.place[1] != "snapshot":
                by_id[line.ids].append(line.number)
        return [("event", frozenset(numbers)) for numbers in by_id.values()]
    names = _names(recording)
    first = {
        names.get(id, id): None
        for line in recording.lines
        if str(line.message.get("kind")).removesuffix("-many") == kind
        for id in line.ids
    }
    groups: dict[str, set[str]] = {id: {id} for id in first}
    for id, original in names.items():
        groups.get(original, set()).add(id)
    return [("id", frozenset(some)) for some in groups.values()]


def _names(recording: Recording) -> dict[str, str]:
    """By an id that a broker gave on the way, the id for which it stands."""
    of: dict[str, str] = {}
    for line in recording.lines:
        if line.message.get("kind") != "publish":
            for each in line.entries:
                if isinstance(each.get("of"), str) and isinstance(each.get("id"), str) and each["of"] != each["id"]:
                    of[each["id"]] = each["of"]
    return {id: _end_of(of, id) for id in of}


def _end_of(of: Mapping[str, str], id: str) -> str:
    seen = {id}
    while id in of and of[id] not in seen:
        id = of[id]
        seen.add(id)
    return id
