"""From findings in parts, on links and about clients to one report, the same in every engine.

Little is stored of a message on a link or of a delivery: not its line, and only a digest of its content. That suffices
to see that something is wrong. To say what it is, and whether an unreadable line may explain it, `look_up` searches the
trace again for the events concerned. Only traces that are rejected are searched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import eq
from pathlib import Path
from typing import NamedTuple, TypeAlias

from attrs import evolve

from routeproof.checker.validate.broker.canonical import MessageWords, are_same, digest, distinguished
from routeproof.checker.validate.clock import Doubts, doubts_of
from routeproof.checker.validate.diagnosis import attributed, last_copy, loses
from routeproof.checker.validate.findings import (
    ALWAYS,
    LAST_SHOWN,
    ON_CLOCKS,
    ON_LINKS,
    ON_PROMISES,
    WHOLE,
    BadLines,
    PartResult,
    Rejection,
    explained,
    foremost,
    in_order,
)
from routeproof.checker.validate.report import Extent, Report
from routeproof.checker.validate.scope import (
    beginnings,
    caveats,
    damages,
    deviations,
    kinds_never_seen,
    kinds_undeclared,
    mishaps,
    unjudged,
    unknown_withdrawals,
)
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import natural
from routeproof.model.filters.interface import shown
from routeproof.traces import BadLine, Event, TraceError, open_trace
from routeproof.traces.parquet_file import FAULTS
from routeproof.traces.reader import RowBatch, is_parquet, open_rows

Where = tuple[str, str, int]
"""A run, a broker and a seq."""

Wanted = Collection[Where | tuple[str, str] | tuple[str, int]]
"""Events to look for: by their place, all about one id of a run, or control messages by their digest."""

SENT, TAKEN, HANDLED = ("send",), ("receive", "drop"), ("client", "receive")


class FoundEvent(NamedTuple):
    """An event that was looked for."""

    where: Where
    line: int
    event: str
    words: MessageWords
    peer: str = ""
    about: str = ""
    """The id of its message."""
    digest: int = 0
    """The digest of its message, if messages are looked for by digests."""


Look: TypeAlias = Callable[[Wanted], Iterable[FoundEvent]]
"""A function that looks these events up. If two events have one seq, it finds both."""


def look_up(path: Path, setting: Setting, wanted: Wanted) -> Iterator[FoundEvent]:
    """In a file, from its beginning to its end."""
    if is_parquet(path):
        with open_rows(path) as (_, found):
            for rows in found:
                if isinstance(rows, RowBatch):
                    yield from found_among(likely(rows, wanted), setting, wanted)
    else:
        with open_trace(path) as (_, lines):
            yield from found_among(lines, setting, wanted)


def found_among(lines: Iterable[Event | BadLine], setting: Setting, wanted: Wanted) -> Iterator[FoundEvent]:
    """The wanted events among some lines."""
    by_digest = any(len(each) == 2 and isinstance(each[1], int) for each in wanted)
    for line in lines:
        if type(line) is Event and line.message is not None:
            where = line.run or setting.run, line.broker, line.seq
            is_wanted = where in wanted or (where[0], line.message.id) in wanted
            if not is_wanted and (not by_digest or line.event not in HANDLED or line.message.kind == "publish"):
                continue
            with suppress(TraceError):  # then it is a line that could not be read
                said = setting.judging.canonical(line.message)
                found = digest(said) if by_digest else 0
                if is_wanted or (where[0], found) in wanted:
                    yield FoundEvent(where, line.line, line.event, said.words, line.peer, line.message.id, found)


def likely(rows: RowBatch, wanted: Wanted) -> list[Event | BadLine]:
    """The rows that have one of the wanted seqs or ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        seqs = pa.array({each[2] for each in wanted if len(each) == 3}, pa.int64())
        is_likely = pc.is_in(rows.batch["seq"].cast(pa.int64()), seqs)
        ids = {each[1] for each in wanted if len(each) == 2 and isinstance(each[1], str)}
        if ids and "id" in rows.batch.schema.names:
            column = rows.batch["id"]
            texts = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            is_likely = pc.or_(is_likely, pc.is_in(texts.cast(pa.string()), pa.array(ids, pa.string())))
        if any(len(each) == 2 and isinstance(each[1], int) for each in wanted):
            kinds = rows.batch["kind"]
            kinds = kinds.dictionary_decode() if pa.types.is_dictionary(kinds.type) else kinds
            is_likely = pc.or_(is_likely, pc.not_equal(kinds.cast(pa.string()), "publish").fill_null(False))
        chosen = pc.indices_nonzero(is_likely).to_pylist()
    except (pa.ArrowException, *FAULTS):
        return rows.events()
    return [line for at in chosen for line in rows.part(at, at + 1).events()]


def looked_up(
    rejections: list[Rejection], look_up: Look, setting: Setting, extent: Extent, *, are_lines_missing: bool
) -> list[Rejection]:
    """Adds to rejections what a second look at the trace shows. `extent`: it has the lost deliveries."""
    wanted: set[Where | tuple[str, str] | tuple[str, int]] = {
        (each.run, *place)
        for each in rejections
        if each.rule == ON_LINKS or (are_lines_missing and each.line == LAST_SHOWN)
        for place in each.shown_by
    }
    wanted |= {(each.run, each.lost[0]) for each in rejections if each.lost}
    wanted |= {(each.run, each.expected) for each in rejections if each.expected}
    if any(loses(each) for each in rejections):
        wanted |= {(each.run, each.id) for each in extent.first_lost}
    if not wanted:
        return rejections
    known: dict[Where, list[FoundEvent]] = {}
    about: dict[tuple[str, str], list[FoundEvent]] = {}
    for event in look_up(wanted):
        known.setdefault(event.where, []).append(event)
        about.setdefault((event.where[0], event.about), []).append(event)
    found = [_with_way(_with_words(_with_line(each, known), known, setting), about, setting) for each in rejections]
    return attributed(found, extent.first_lost, extent.lost, about, setting)


def _with_way(rejection: Rejection, about: Mapping[tuple[str, str], list[FoundEvent]], setting: Setting) -> Rejection:
    """Adds to a lost delivery where its publication was last."""
    if len(rejection.lost) < 3:
        return rejection
    id, _, home, *_ = rejection.lost
    events = about.get((rejection.run, id), [])
    line = next((e.line for e in events if e.where[1:] == (rejection.broker, rejection.seq)), 0)
    copy = last_copy(rejection.broker, home, events, setting)
    words = "" if copy is None else copy.words
    return evolve(rejection, at=line, reason="; ".join(filter(None, (rejection.reason, words))))


def _with_line(rejection: Rejection, known: Mapping[Where, list[FoundEvent]]) -> Rejection:
    if rejection.line != LAST_SHOWN:
        return rejection
    those = [known.get((rejection.run, *place), []) for place in rejection.shown_by]
    return evolve(rejection, line=max(each.line for some in those for each in some) if all(those) else WHOLE)


def _with_words(rejection: Rejection, known: Mapping[Where, list[FoundEvent]], setting: Setting) -> Rejection:
    """Words for what was sent, if anything was, and what was received."""
    if rejection.rule != ON_LINKS:
        return rejection
    *sent, taken = rejection.shown_by
    seen = _words(known.get((rejection.run, *taken), []), TAKEN)
    if not sent:
        return rejection if seen is None else evolve(rejection, seen=seen.said)
    [(near, seq)] = sent
    if setting.at(near).models_sends:
        step = _words(known.get((rejection.run, near, seq), []), HANDLED)
        handling = "" if step is None else f"{step.said} ({step.details})"
        due, model, heard = _expected(rejection, known), rejection.wanted, "" if seen is None else seen.said
        if due is not None and seen is not None:
            one, heard = distinguished(due, seen)
            model = f"{one} to {taken[0]}, which the model of {near} sends in this step"
        more = rejection.seen.replace("another message", heard or "another message", 1)
        return evolve(rejection, handling=handling, wanted=model, seen=more)
    wanted = _words(known.get((rejection.run, near, seq), []), SENT)
    if wanted is None or seen is None:
        return rejection
    one, other = distinguished(wanted, seen)
    line = next((e.line for e in known.get((rejection.run, *taken), []) if e.event in TAKEN), 0)
    return evolve(rejection, wanted=f"{one}, sent by {near} at its seq {seq}", seen=other, at=line)


def _expected(rejection: Rejection, known: Mapping[Where, list[FoundEvent]]) -> MessageWords | None:
    """The message that the model sends, in words; None if no event has it."""
    for each in chain.from_iterable(known.values()):
        is_same = are_same if each.words.said.startswith("publish") else eq
        if each.where[0] == rejection.run and each.digest and is_same(each.digest, rejection.expected):
            return each.words
    return None


def _words(those: list[FoundEvent], events: tuple[str, ...]) -> MessageWords | None:
    return next((each.words for each in sorted(those, key=lambda m: m.line) if each.event in events), None)


# -- conclusion --------------------------------------------------------------------------------------------------------


def first_of_broker(parts: Sequence[PartResult]) -> Rejection | None:
    """The first rejection of one broker's parts, in their order; what parts before it had was accepted."""
    before = 0
    for part in parts:
        if part.rejection is not None:
            return evolve(part.rejection, accepted=before + part.rejection.accepted)
        before += part.events
    return None


def _first_of_each(rejections: Iterable[Rejection]) -> list[Rejection]:
    """The first rejection of each rule at each broker."""
    return list({(each.run, each.broker, each.rule): each for each in sorted(rejections, reverse=True)}.values())


def doubts_about(parts: Sequence[PartResult]) -> Doubts:
    """Returns which times of a broker cannot be believed. `parts`: the broker's, in order."""
    return doubts_of(part.clock for part in parts)


def judge_clock(run: str, broker: str, doubts: Doubts, extent: Extent) -> Rejection | None:
    """Rejects a time that contradicts the broker's own order. What is wrong with its times is added to `extent`."""
    if doubts.untimed:
        verb = "has" if doubts.untimed == 1 else "have"
        said = f"{doubts.untimed:,} events of broker {broker} that begin a step {verb} no time, the first at seq"
        extent.damages.append((run, f"{said} {doubts.untimed_seq}: when they were is known only within bounds"))
    if doubts.disorder is None:
        return None
    (place, seq, time), low, high = doubts.disorder
    bounds = [f"not before {low}"] if low >= 0 else []
    bounds += [f"not after {high}"] if high >= 0 else []
    wanted = f"a time {' and '.join(bounds)}, as the events before and after it have it"
    more = "" if doubts.disordered == 1 else f"; so have {doubts.disordered - 1:,} more events of this broker"
    return Rejection(run, broker, seq, ON_CLOCKS, wanted, f"time {time}{more}", place, ALWAYS, max(low, -1))


def report(
    setting: Setting,
    parts: Iterable[PartResult],
    rejections: Iterable[Rejection],
    bad: BadLines,
    look: Look,
    extent: Extent,
) -> Report:
    """`rejections`: of brokers, of links, about clients. `bad`: lines that could not be read. `look`: looks again.
    `extent`: what was judged of links and clients."""
    rejections, parts = list(rejections), sorted(parts, key=lambda p: (natural(p.run), natural(p.broker)))
    links_are_wrong = any(r.rule == ON_LINKS for r in rejections)
    if setting.level == "observable":
        rejections = [r for r in rejections if r.rule != ON_LINKS]
    found = looked_up(foremost(rejections), look, setting, extent, are_lines_missing=bad.count > 0)
    certain = _first_of_each(r for r in found if not bad.count or r.line == ALWAYS or WHOLE < r.line < bad.first_number)
    certain = explained(_doubting_promises(certain, setting), parts)
    certain = [evolve(r, cause=_wrong_clocks(r.run, extent)) if r.rule == ON_CLOCKS and r.peer else r for r in certain]
    named = {(r.run, r.broker, r.rule) for r in certain}
    doubtful = _first_of_each(r for r in found if (r.run, r.broker, r.rule) not in named)
    extent.damages = sorted(extent.damages, key=lambda each: (natural(each[0]), natural(each[1])))
    extent.mishaps = mishaps(parts)
    extent.damages += [*beginnings(parts), *deviations(parts), *unknown_withdrawals(parts)]
    odd = setting.odd_keys
    extent.unread = [key for key, near in odd if not near]
    extent.notes = [
        *(f"the header has the key {shown(key)}, which is not read: is {near} meant?" for key, near in odd if near),
        *kinds_undeclared(setting, parts),
        *kinds_never_seen(setting, parts, {r.seen for r in rejections}),
    ]
    extent.caveats = list(caveats(setting, extent))
    extent.runs = len({part.run for part in parts if part.events})
    if setting.replays:
        extent.steps = sum(part.steps for part in parts)
    return Report(
        level=setting.level,
        events=sum(part.events for part in parts),
        brokers=len({part.broker for part in parts if part.events}),
        rejections=in_order(certain, shared_clock=setting.shared_clock),
        bad_lines=bad.count,
        bad=tuple(bad.first),
        doubtful=in_order(doubtful, shared_clock=setting.shared_clock),
        unjudged=(*unjudged(setting, parts, links_are_wrong), *extent.open_steps(), *damages(setting, extent)),
        extent=extent,
    )


def _wrong_clocks(run: str, extent: Extent) -> str:
    """The clocks of a run that are wrong, in words."""
    return "; ".join(words for each, words in sorted(extent.clocks) if each == run)


def _doubting_promises(rejections: list[Rejection], setting: Setting) -> list[Rejection]:
    """Adds to lost deliveries that they may only be late, in runs that disprove the promise by which they are owed."""
    disproved = {r.run for r in rejections if r.rule == ON_PROMISES} if not setting.pairs else set()
    late = "it is owed by the promise of the header, which events disprove: it may only be late"
    return [
        evolve(r, reason=f"{late}; {r.reason}") if r.rule == "TRC-7" and r.run in disproved else r for r in rejections
    ]
