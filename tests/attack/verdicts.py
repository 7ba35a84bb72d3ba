"""Complaints about verdicts that are better than what is left of a trace deserves.

A verdict of `accepted` without a remark claims that everything was judged. It is too good where a broker had the inputs
that it has in the good trace and gave other outputs, and where a delivery is missing that is owed whatever the damage
elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen

from routeproof.checker.validate import Level, validate
from routeproof.traces import Event, open_trace
from tests.attack import damage
from tests.attack.command import Ran
from tests.checker.validate.walks import Row

CODES = {"accepted": 0, "rejected": 1, "unknown": 3}

ANSWERS = ("send", "deliver")

ANY = "any content"
"""What a delivery that leaves out its content is a delivery of."""

Deed = tuple[object, ...]


def too_good(ran: Ran, good: list[Row] | None, *, wrong: bool = False, name: str = "t.jsonl") -> Iterator[str]:
    """Complaints about a report. `good` is the trace before any damage; `wrong`: it must not be accepted silently."""
    text = ran.written("r.json")
    if text is None:
        if ran.code in (0, 1):
            yield f"exit code {ran.code} without a report"
        return
    [report] = json.loads(text)["reports"]
    if ran.code not in (2, CODES[report["verdict"]]):
        yield f"exit code {ran.code} for {report['verdict']}"
    if report["verdict"] != "accepted":
        return
    if report["bad_lines"]:
        yield "accepted with lines that could not be read"
    if report["unjudged"] or report["remarks"] or report.get("faults"):
        return
    if not _tells_sends(ran.here / name):
        return  # what a broker sent is then what its neighbours received
    if wrong:
        yield f"accepted at level {report['level']} without a remark, and something that is owed is missing or altered"
    if good is not None and report["level"] == "exact":
        yield from other_answers(deeds(ran.here / name), deeds_of(good))


def _tells_sends(path: Path) -> bool:
    with open_trace(path) as (header, _):
        return not header.observes or "send" in header.observes


def other_answers(
    mine: Mapping[tuple[str, str], list[Deed]], good: Mapping[tuple[str, str], list[Deed]]
) -> Iterator[str]:
    """Complaints where a broker that was given the same answered something else."""
    for (run, broker), events in mine.items():
        for ours, theirs in zip_longest(events, good.get((run, broker), [])):
            if _is_same(ours, theirs):
                continue
            if (theirs is not None and theirs[0] in ANSWERS) or (
                ours is not None and theirs is None and ours[0] in ANSWERS
            ):
                yield f"accepted without a remark, and {broker!r} did {ours!r:.150} instead of {theirs!r:.150}"
            break


def _is_same(ours: Deed | None, theirs: Deed | None) -> bool:
    """True if both did the same. A delivery need not say for which subscription it is."""
    if ours is None or theirs is None or not ours[0] == theirs[0] == "deliver":
        return ours == theirs
    return ours == theirs or (_without_to(ours) == _without_to(theirs) and not (_to(ours) and _to(theirs)))


def _to(delivery: Deed) -> object:
    said = delivery[2]
    return said[-1] if isinstance(said, tuple) else ""


def _without_to(delivery: Deed) -> Deed:
    said = delivery[2]
    return (*delivery[:2], said[:-1] if isinstance(said, tuple) else said)


def deeds(path: Path) -> dict[tuple[str, str], list[Deed]]:
    """The events of each broker of each run, in order, without what does not matter at level exact: numbers, times,
    names of clients, and the advertisement of a publication, which a broker need not tell."""
    found: dict[tuple[str, str], list[Deed]] = {}
    with open_trace(path) as (header, lines):
        for event in lines:
            assert isinstance(event, Event)
            if event.event != "note":
                found.setdefault((event.run or header.run, event.broker), []).append(_deed(event))
    return found


def _deed(event: Event) -> Deed:
    peer = event.peer if event.event in ("send", "receive") else ""
    said = event.message
    if said is None:
        return event.event, peer, None
    withdraws = said.kind.startswith("un")  # elsewhere `of` means nothing, or need not be told
    items = tuple((i.of or i.id if withdraws else i.id, i.filter) for i in said.items)
    if said.kind != "publish":  # a key that the kind does not have is ignored
        return event.event, peer, (said.kind, items)
    return event.event, peer, (said.kind, items, ANY if event.event == "deliver" else said.event, said.to)


def deeds_of(rows: list[Row]) -> dict[tuple[str, str], list[Deed]]:
    return _deeds_of(_Rows(tuple(map(damage.line, rows))))


@frozen
class _Rows:
    lines: tuple[bytes, ...]


@cache
def _deeds_of(rows: _Rows) -> dict[tuple[str, str], list[Deed]]:
    with TemporaryDirectory() as folder:
        return deeds(_written(rows, Path(folder)))


def _written(rows: _Rows, folder: Path) -> Path:
    path = folder / "t.jsonl"
    path.write_bytes(b"".join(rows.lines))
    return path


def is_rejected(rows: list[Row], level: Level) -> bool:
    """True if the trace is rejected as it is."""
    return _is_rejected(_Rows(tuple(map(damage.line, rows))), level)


@cache
def _is_rejected(rows: _Rows, level: Level) -> bool:
    with TemporaryDirectory() as folder:
        return validate(_written(rows, Path(folder)), level).verdict == "rejected"


def is_consistent(rows: Iterable[Row]) -> bool:
    """True if every event has a time, no broker's clock goes back, and nothing is received before it is sent."""
    latest: dict[object, int] = {}
    sent: dict[object, list[int]] = {}
    received: dict[object, list[int]] = {}
    for row in rows:
        time = row.get("time")
        if type(time) is not int or time < max(1, latest.get(row.get("broker"), 0)) or time >= 1 << 62:
            return False
        latest[row.get("broker")] = time
        if row.get("event") == "send":
            sent.setdefault((row["broker"], row["peer"]), []).append(time)
        elif row.get("event") in ("receive", "drop"):
            received.setdefault((row["peer"], row["broker"]), []).append(time)
    return all(
        before <= after
        for link, times in received.items()
        for before, after in zip(sent.get(link, [1 << 62] * len(times)), times, strict=False)
    )
