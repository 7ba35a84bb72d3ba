"""Ten thousand files that nobody should have written: a verdict or one clear line, never anything else, and never
accepted where what is left of the trace is not a good trace."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from unittest import mock

import pytest
import zstandard

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import Level, validate
from routeproof.traces import Event, TraceError, open_trace, to_parquet
from tests.campaigns import drawn
from tests.checker.validate.corrupt import CORRUPTIONS
from tests.checker.validate.walks import rows_of, write

FILES = {"jsonl": 6000, "gzip": 1000, "zstd": 1000, "parquet": 2000}
ABSURD = (b"9" * 400, b"[" * 3000, b"null", b"-1", b'"', b"\n", b"\x00", b"1e999", b"{}", b"true", b'"\\ud800"')
VALUES: tuple[object, ...] = (
    None,
    -1,
    1 << 70,
    1.5,
    "",
    "x" * 5000,
    [],
    {},
    True,
    [[[]]],
    {"kind": "publish"},
    float("inf"),
    "\ud800",
)


ANY = mock.ANY
"""A delivery may leave out what is delivered."""


def flip(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, cut out, doubled, and absurd things in their place."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(found)), rng.randint(1, 60)
        match rng.randrange(4):
            case 0:
                found[at] = rng.randrange(256)
            case 1:
                del found[at : at + length]
            case 2:
                found[at:at] = found[at : at + length]
            case _:
                found[at : at + 1] = rng.choice(ABSURD)
        if not found:
            return b"\n"
    return bytes(found)


def retype(data: bytes, rng: random.Random) -> bytes:
    """Values of another type or size, keys left out, lines lost, doubled and out of place."""
    lines = data.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                lines.pop(at)
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[at])
            case 2:
                lines[at] = lines[at][: rng.randrange(len(lines[at]))]
            case _:
                try:
                    row = json.loads(lines[at])
                except ValueError:
                    continue
                inner = row.get("message") if isinstance(row, dict) else None
                table = inner if isinstance(inner, dict) and rng.random() < 0.6 else row
                if not isinstance(table, dict) or not table:
                    continue
                key = rng.choice(sorted(table))
                if rng.random() < 0.2:
                    table.pop(key)
                else:
                    table[key] = rng.choice(VALUES)
                lines[at] = json.dumps(row).encode() + b"\n"
        if not lines:
            return b"\n"
    return b"".join(lines)


def told(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What each broker says, without what does not matter: numbers, times, how clients are called, and (which a
    broker need not say) by which advertisement something is published."""
    found: dict[str, list[tuple[object, ...]]] = {}
    with open_trace(path) as (_, lines):
        for e in lines:
            assert isinstance(e, Event)
            if e.event != "note":
                said = e.message
                peer = e.peer if e.event in ("send", "receive") else ""
                about = None
                if said is not None:
                    items = [(i.id if said.kind == "publish" else i.of or i.id, i.filter) for i in said.items]
                    about = (
                        said.kind,
                        items,
                        ANY if e.event == "deliver" and said.event is None else said.event,
                        said.to,
                    )
                found.setdefault(e.broker, []).append((e.event, peer, about))
    return found


SPOILT = (
    "a delivery missing",
    "a delivery twice",
    "a delivery to somebody else",
    "a forwarded publication lost",
    "a publication received twice",
    "a filter altered when sent",
    "an event altered when received",
    "an id altered when sent",
)


@drawn(0.2)
@pytest.mark.parametrize("name", SPOILT)
def test_mutated_files_of_spoilt_traces(name: str, share: float, tmp_path: Path) -> None:
    """Accepted only where the mutation took away what was wrong."""
    rows = rows_of("star4", "active", seed=1)
    good = told(write(rows, tmp_path / "good.jsonl"))
    assert CORRUPTIONS[name].spoil(rows) is not None
    spoilt, rng, verdicts = write(rows, tmp_path / "spoilt.jsonl").read_bytes(), random.Random(name), Counter[str]()
    path = tmp_path / "mutated"
    for _ in range(round(250 * share)):
        path.write_bytes(rng.choice((flip, retype))(spoilt, rng))
        try:
            report = validate(path, "exact")
        except UsageError:
            continue
        verdicts[report.verdict] += 1
        if report.verdict == "accepted":
            assert_prefix(told(path), good)
    assert set(verdicts) >= {"unknown", "rejected"}, verdicts


@drawn(0.25)
@pytest.mark.parametrize("name", SPOILT)
@pytest.mark.parametrize("level", ["exact", "observable"])
def test_what_comes_later_does_not_excuse_it(name: str, level: Level, share: float, tmp_path: Path) -> None:
    """Once the beginning of a trace is rejected whatever a bad line after it may have been, nothing that is done to the
    rest changes that."""
    rows = rows_of("star4", "active", seed=1)
    assert CORRUPTIONS[name].spoil(rows) is not None
    lines = write(rows, tmp_path / "spoilt.jsonl").read_bytes().splitlines(keepends=True)
    path, rng = tmp_path / "mutated", random.Random(name)

    def verdict(data: bytes) -> str:
        path.write_bytes(data)
        return validate(path, level).verdict

    by_prefix = [verdict(b"".join(lines[:end]) + b"{ not json\n") for end in range(1, len(lines) + 1)]
    certain = by_prefix.index("rejected") if "rejected" in by_prefix else len(lines)
    assert set(by_prefix[:certain]) <= {"unknown"}
    assert set(by_prefix[certain:]) <= {"rejected"}
    head, tail = b"".join(lines[: certain + 1]), b"".join(lines[certain + 1 :])
    for _ in range(round(60 * share) if tail else 0):
        assert verdict(head + rng.choice((flip, retype))(tail, rng)) == "rejected"


@drawn(0.1)
@pytest.mark.parametrize("form", FILES)
def test_mutated_files(form: str, share: float, tmp_path: Path) -> None:
    source = write(rows_of("star4", "active", seed=1), tmp_path / "good.jsonl")
    good, plain = told(source), source.read_bytes()
    if form == "parquet":
        to_parquet(source, tmp_path / "good.parquet")
    packed: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}
    path, rng, verdicts = tmp_path / "mutated", random.Random(form), Counter[str]()
    refusals: set[str] = set()
    for _ in range(round(FILES[form] * share)):
        if form == "jsonl":
            data = rng.choice((flip, retype))(plain, rng)
        elif form == "parquet":
            data = flip((tmp_path / "good.parquet").read_bytes(), rng)
        elif rng.random() < 0.5:
            data = flip(packed[form](plain), rng)
        else:
            data = packed[form](retype(plain, rng))
        path.write_bytes(data)
        try:
            report = validate(path, "exact")
        except UsageError as error:
            refusals.add(str(error))
            verdicts["refused"] += 1
            continue
        verdicts[report.verdict] += 1
        if report.bad_lines:
            assert report.verdict != "accepted"
        if report.verdict == "accepted":
            assert_prefix(told(path), good)
    assert all(len(refusal.splitlines()) == 1 for refusal in refusals)
    expected = {"refused", "unknown"} if form != "jsonl" else {"refused", "unknown", "rejected", "accepted"}
    assert set(verdicts) >= expected, verdicts


def assert_prefix(mine: dict[str, list[tuple[object, ...]]], good: dict[str, list[tuple[object, ...]]]) -> None:
    """What was accepted is the trace, or a beginning of what each broker did."""
    for broker, events in mine.items():
        for ours, theirs in zip_longest(events, good.get(broker, [])):
            if ours is None:
                break
            assert ours == theirs, (broker, ours, theirs)


def test_the_judge_of_this_test_can_say_no(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", seed=1)
    good = told(write(rows, tmp_path / "good.jsonl"))
    rows[-1]["message"]["id"] = "other"
    with pytest.raises(AssertionError):
        assert_prefix(told(write(rows, tmp_path / "other.jsonl")), good)
    with pytest.raises(TraceError):
        told(tmp_path / "nowhere.jsonl")
