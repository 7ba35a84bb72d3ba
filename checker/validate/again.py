"""A second look at a trace: what a few of its events say, and where they stand.

Of a message on a link, and of a delivery, little is set aside: not its line, and of what it says a digest. That is
enough to see that something is wrong. To say what it is, and whether a line that could not be read may explain it, the
events that show it are looked up again: in traces that are rejected, and in no others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from attrs import evolve

from routeproof.checker.validate.links import ON_LINKS
from routeproof.checker.validate.pruning.meant import told_in_trace
from routeproof.checker.validate.rejection import LAST_SHOWN, WHOLE, Rejection
from routeproof.checker.validate.said import Words, apart, said_in_trace
from routeproof.checker.validate.setting import Setting
from routeproof.traces import BadLine, Event, TraceError, open_trace
from routeproof.traces.parquet_reader import FAULTS, Rows, is_parquet
from routeproof.traces.reader import open_rows

Where = tuple[str, str, int]
"""A run, a broker and a seq."""

SENT, TAKEN = ("send",), ("receive", "drop")


class Met(NamedTuple):
    """An event that was looked for."""

    where: Where
    line: int
    event: str
    words: Words


Look: TypeAlias = Callable[[Collection[Where]], Iterable[Met]]
"""What looks these events up. Where two have one seq, it finds both."""


def look(path: Path, setting: Setting, wanted: Collection[Where]) -> Iterator[Met]:
    """In a file, from its beginning to its end."""
    if is_parquet(path):
        with open_rows(path) as (_, found):
            for rows in found:
                if isinstance(rows, Rows):
                    yield from met(likely(rows, wanted), setting, wanted)
    else:
        with open_trace(path) as (_, lines):
            yield from met(lines, setting, wanted)


def met(lines: Iterable[Event | BadLine], setting: Setting, wanted: Collection[Where]) -> Iterator[Met]:
    """Of some lines."""
    for line in lines:
        if type(line) is Event and line.message is not None:
            where = line.run or setting.run, line.broker, line.seq
            if where in wanted:
                with suppress(TraceError):  # then it is a line that could not be read
                    said = (told_in_trace if setting.prunes else said_in_trace)(line.message)
                    yield Met(where, line.line, line.event, said.words)


def likely(rows: Rows, wanted: Collection[Where]) -> list[Event | BadLine]:
    """Those of some rows that have one of the seqs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        seqs = pa.array({seq for _, _, seq in wanted}, pa.int64())
        chosen = pc.indices_nonzero(pc.is_in(rows.batch["seq"].cast(pa.int64()), seqs)).to_pylist()
    except (pa.ArrowException, *FAULTS):
        return rows.events()
    return [line for at in chosen for line in rows.part(at, at + 1).events()]


def looked_up(rejections: list[Rejection], look: Look, *, are_lines_missing: bool) -> list[Rejection]:
    """The same, with what a second look says of them."""
    wanted = {
        (each.run, *place)
        for each in rejections
        if each.rule == ON_LINKS or (are_lines_missing and each.line == LAST_SHOWN)
        for place in each.shown_by
    }
    if not wanted:
        return rejections
    known: dict[Where, list[Met]] = {}
    for each in look(wanted):
        known.setdefault(each.where, []).append(each)
    return [_with_words(_with_line(each, known), known) for each in rejections]


def _with_line(rejection: Rejection, known: Mapping[Where, list[Met]]) -> Rejection:
    if rejection.line != LAST_SHOWN:
        return rejection
    those = [known.get((rejection.run, *place), []) for place in rejection.shown_by]
    return evolve(rejection, line=max(each.line for some in those for each in some) if all(those) else WHOLE)


def _with_words(rejection: Rejection, known: Mapping[Where, list[Met]]) -> Rejection:
    """What was sent, where something was, and what was received."""
    if rejection.rule != ON_LINKS:
        return rejection
    *sent, taken = rejection.shown_by
    seen = _words(known.get((rejection.run, *taken), []), TAKEN)
    if not sent:
        return rejection if seen is None else evolve(rejection, seen=seen.said)
    [(near, seq)] = sent
    wanted = _words(known.get((rejection.run, near, seq), []), SENT)
    if wanted is None or seen is None:
        return rejection
    one, other = apart(wanted, seen)
    return evolve(rejection, wanted=f"{one}, sent by {near} at its seq {seq}", seen=other)


def _words(those: list[Met], events: tuple[str, ...]) -> Words | None:
    return next((each.words for each in sorted(those, key=lambda m: m.line) if each.event in events), None)
