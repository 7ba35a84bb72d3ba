"""Hostile traces: rows damaged, moved, doubled and dropped, other times, hostile names, damage that hides a loss."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from random import Random
from typing import Any

from routeproof.checker.validate import Level
from tests.attack import damage, sources
from tests.attack.case import Case, joined
from tests.attack.command import Command
from tests.attack.sources import Source
from tests.attack.verdicts import is_consistent, is_rejected, too_good
from tests.checker.validate.walks import Row

LEVELS: tuple[Level, ...] = ("exact", "exact", "equivalent", "observable", "observable")


def case(rng: Random) -> Case:
    match rng.randrange(10):
        case 0:
            return shown(rng)
        case 1:
            return shrunk(rng)
        case 2:
            return renamed(rng)
        case 3 | 4 | 5:
            return hidden(rng)
        case _:
            return damaged(rng)


def damaged(rng: Random) -> Case:
    """A good trace, damaged anywhere: accepted only where what is left is a part of it, or with a remark."""
    source = sources.good(rng) if rng.random() < 0.8 else sources.sample(rng)
    about, data = spoil(rng, source.copied())
    return validated(rng, source, about, data)


def hidden(rng: Random) -> Case:
    """A trace from which something that is owed was taken, or where something was altered, damaged elsewhere as well.

    It is wrong as it is, and what is done to it does not excuse that; a clock that is well in another way may.
    """
    level: Level = rng.choice(LEVELS)
    while True:
        source = sources.spoilt(
            rng, ("a delivery missing",) if level == "observable" else (*sources.OWED, *sources.ALTERED)
        )
        if is_rejected(source.rows, level):
            break
    rows = source.copied()
    changes = [rng.choice(ELSEWHERE)(rng, rows) for _ in range(rng.choice((1, 1, 1, 2)))]
    wrong = level == "exact" or rows == source.rows or not _is_another_run(rows, source)
    return validated(rng, source, joined(changes), b"".join(map(damage.line, rows)), level, wrong=wrong)


def _is_another_run(rows: list[Row], source: Source) -> bool:
    """True if the times are well, but other ones than before: who knows what is owed then."""
    return is_consistent(rows[1:]) and any(
        old.get("time") != new.get("time") for old, new in zip(source.rows, rows, strict=False)
    )


def renamed(rng: Random) -> Case:
    """A good trace in which a name is hostile, everywhere alike."""
    source = sources.good(rng)
    rows = source.copied()
    old = rng.choice(sorted(names(rows)))
    new = old + damage.word(rng) if rng.random() < 0.5 else damage.word(rng)
    rows = replaced(rows, old, new)
    return validated(rng, Source(source.name, rows), f"{old!r} is {new!r:.60}", b"".join(map(damage.line, rows)))


def shown(rng: Random) -> Case:
    """Any trace, damaged or with hostile names, printed and drawn."""
    source = rng.choice((sources.counterexample, sources.sample, sources.good))(rng)
    rows = source.copied()
    if rng.random() < 0.5:
        old, new = rng.choice(sorted(names(rows))), damage.word(rng)
        rows = replaced(rows, old, new)
        about, data = f"{old!r} is {new!r:.60}", b"".join(map(damage.line, rows))
    else:
        about, data = spoil(rng, rows)
    how = rng.choice((("--format", "mermaid", "-o", "d.mmd"), ("-o", "s.txt"), ()))
    return Command(
        joined((f"show {source.name}", about)), ("show", "t.jsonl", *how), {"t.jsonl": data}, ("d.mmd", "s.txt")
    )


def shrunk(rng: Random) -> Case:
    source = sources.counterexample(rng) if rng.random() < 0.8 else sources.sample(rng)
    about, data = spoil(rng, source.copied())
    argv = ("shrink", "t.jsonl", "-o", "small.jsonl")
    return Command(joined((f"shrink {source.name}", about)), argv, {"t.jsonl": data}, ("small.jsonl",), seconds=100)


def validated(rng: Random, source: Source, about: str, data: bytes, level: str = "", *, wrong: bool = False) -> Command:
    level = level or rng.choice(LEVELS)
    argv = ["validate", "t.jsonl", "--level", level, "--json", "r.json"]
    leaves = ["r.json"]
    if rng.random() < 0.1:
        argv += ["--metrics", "metrics"]
        leaves.append("metrics/*.parquet")
    words = joined((source.name, about, level))
    judge = partial(too_good, good=source.good, wrong=wrong)
    return Command(words, tuple(argv), {"t.jsonl": data}, tuple(leaves), judge=judge)


# -- damage to a whole trace -------------------------------------------------------------------------------------------


def spoil(rng: Random, rows: list[Row]) -> tuple[str, bytes]:
    """Several rows damaged, out of place or away; sometimes the bytes too."""
    changes = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        if len(rows) < 2 or rng.random() < 0.15:
            changes.append("header: " + damage.tree(rng, rows[0]) if rows else "")
        elif rng.random() < 0.5:
            at = rng.randrange(len(rows))
            changes.append(f"row {at}: {damage.tree(rng, rows[at])}")
        else:
            changes.append(rng.choice((*ELSEWHERE, *ANYWHERE))(rng, rows))
    data = b"".join(map(damage.line, rows))
    if rng.random() < 0.2:
        data = damage.flip(data, rng)
        changes.append("bytes are damaged")
    elif rng.random() < 0.1:
        lines = data.splitlines(keepends=True)
        at = rng.randrange(len(lines))
        lines[at] = lines[at].replace(b"{", b'{"broker": "b1", "time": 0, ', 1)
        data = b"".join(lines)
        changes.append(f"row {at} has a key twice")
    return joined(changes), data


def no_time(rng: Random, rows: list[Row]) -> str:
    at = _event(rng, rows)
    rows[at].pop("time", None)
    return f"row {at} has no time"


def no_times(rng: Random, rows: list[Row]) -> str:
    brokers = sorted({row["broker"] for row in rows[1:] if isinstance(row.get("broker"), str)})
    broker = rng.choice([*brokers, ""])
    for row in rows[1:]:
        if not broker or row.get("broker") == broker:
            row.pop("time", None)
    return f"no event of {broker or 'any broker'} has a time"


def other_time(rng: Random, rows: list[Row]) -> str:
    at = _event(rng, rows)
    rows[at]["time"] = rng.choice((0, 1, -1, 10**6, 2**62, 2**63, 1.5, "1", None, rows[at].get("time", 0)))
    return f"row {at} has the time {rows[at]['time']}"


def times_scaled(rng: Random, rows: list[Row]) -> str:
    """One broker's clock goes wrong from some event on."""
    at, shift = _event(rng, rows), rng.choice((-(10**9), -3, 3, 10**12))
    broker = rows[at].get("broker")
    for row in rows[at:]:
        if row.get("broker") == broker and isinstance(row.get("time"), int):
            row["time"] += shift
    return f"the clock of {broker!r:.20} is off by {shift} from row {at} on"


def no_clock(_rng: Random, rows: list[Row]) -> str:
    rows[0].pop("clock", None)
    return "the header has no clock"


def observes_less(rng: Random, rows: list[Row]) -> str:
    observed = rows[0].get("observes")
    if isinstance(observed, list) and observed:
        gone = observed.pop(rng.randrange(len(observed)))
        return f"{gone!r:.20} is not observed"
    return no_clock(rng, rows)


def unknown_advertisement(rng: Random, rows: list[Row]) -> str:
    at = _event(rng, rows, "publish")
    rows[at].setdefault("message", {})["of"] = rng.choice(("nowhere", "a", "b", ""))
    return f"row {at} is of {rows[at]['message']['of']!r}"


def no_advertisement(_rng: Random, rows: list[Row]) -> str:
    """The clients' advertisements are missing."""
    rows[:] = [row for row in rows if not (row.get("event") == "client" and _kind(row) == "advertise")]
    return "no client advertises"


def no_client(rng: Random, rows: list[Row]) -> str:
    at = _event(rng, rows, event="client")
    del rows[at]
    return f"row {at}, of a client, is dropped"


def as_drop(rng: Random, rows: list[Row]) -> str:
    at = _event(rng, rows, event="receive")
    rows[at]["event"] = "drop"
    return f"row {at} is a drop"


def as_drop_elsewhere(rng: Random, rows: list[Row]) -> str:
    """A publication that nobody receives any more: it is lost, and with it whatever else was owed of it."""
    at = _event(rng, rows, "publish", "receive")
    if rows[at].get("event") == "receive":
        rows[at]["event"] = "drop"
    return f"row {at} is a drop"


def crash(rng: Random, rows: list[Row]) -> str:
    """A broker crashes at the end, or somewhere."""
    at = rng.choice((len(rows), _event(rng, rows)))
    before = rows[at - 1] if at > 1 else {}
    row = {"broker": before.get("broker", "b1"), "seq": 10**6, "event": rng.choice(("crash", "restart")), "time": 10**6}
    rows.insert(at, row)
    return f"{row['event']} of {row['broker']!r:.20} at row {at}"


def a_bad_line(rng: Random, rows: list[Row]) -> str:
    at = _event(rng, rows)
    rows.insert(at, {"broker": damage.value(rng), "seq": damage.value(rng)})
    return f"a row that is no event before row {at}"


ELSEWHERE = (
    *(no_time, no_times, other_time, times_scaled, no_clock, observes_less, unknown_advertisement, no_advertisement),
    *(as_drop_elsewhere, a_bad_line),
)
"""Changes that leave what is wrong wrong, and owed what is owed."""


def dropped(rng: Random, rows: list[Row]) -> str:
    at, many = _event(rng, rows), rng.choice((1, 1, 3, 20))
    del rows[at : at + many]
    return f"{many} rows from {at} on are dropped"


def doubled(rng: Random, rows: list[Row]) -> str:
    at, to = _event(rng, rows), _event(rng, rows)
    rows.insert(to, json.loads(json.dumps(rows[at])))
    return f"row {at} again at {to}"


def moved(rng: Random, rows: list[Row]) -> str:
    at, to = _event(rng, rows), _event(rng, rows)
    rows.insert(to, rows.pop(at))
    return f"row {at} is moved to {to}"


def reordered(rng: Random, rows: list[Row]) -> str:
    events = rows[1:]
    rng.shuffle(events)
    rows[1:] = events
    return "the rows are shuffled"


def other_run(rng: Random, rows: list[Row]) -> str:
    at, run = _event(rng, rows), damage.word(rng)
    rows[at]["run"] = run
    return f"row {at} is of the run {run!r:.40}"


def many(rng: Random, rows: list[Row]) -> str:
    at, copies = _event(rng, rows), rng.choice((100, 3000))
    row = rows[at]
    seq = row.get("seq")
    number = seq if type(seq) is int else 0
    key = rng.choice(("run", "broker", "seq"))
    rows[at:at] = [{**row, key: number + i if key == "seq" else f"x{i}"} for i in range(copies)]
    return f"row {at} {copies} times, with other {key}"


ANYWHERE = (no_client, as_drop, crash, dropped, doubled, moved, reordered, other_run, many)


def _event(rng: Random, rows: list[Row], kind: str = "", event: str = "") -> int:
    """The place of an event of that kind, or of any where there is none."""
    if len(rows) < 2:
        rows.append({"broker": "b1", "seq": 1, "event": "note", "text": "x"})
    fitting = [
        at
        for at, row in enumerate(rows)
        if at and (not kind or _kind(row) == kind) and (not event or row.get("event") == event)
    ]
    found = rng.choice(fitting or range(1, len(rows)))
    if kind and not isinstance(rows[found].get("message"), dict):
        rows[found]["message"] = {}
    return found


def _kind(row: Row) -> object:
    message = row.get("message")
    return message.get("kind") if isinstance(message, dict) else None


# -- names -------------------------------------------------------------------------------------------------------------


def names(tree: object) -> set[str]:
    """The strings of a trace that its writer chose."""
    fixed = {"kind", "event", "protocol", "policy", "dialect", "clock", "observes"}
    return {text for text in _strings(tree, fixed) if text} or {"b1"}


def _strings(tree: object, but: set[str]) -> Iterable[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, each in tree.items():
            if key not in but:
                yield from _strings(each, but)
    elif isinstance(tree, list):
        for each in tree:
            yield from _strings(each, but)


def replaced(tree: Any, old: str, new: str) -> Any:
    """The same with another string in the place of one, wherever it is a value."""
    if isinstance(tree, str):
        return new if tree == old else tree
    if isinstance(tree, dict):
        return {key: replaced(each, old, new) for key, each in tree.items()}
    if isinstance(tree, list):
        return [replaced(each, old, new) for each in tree]
    return tree
