"""What the job on Spark makes of JSON Lines before anything is judged: ranges, blocks and batches. No Spark here."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from routeproof.checker.spark.rows import AT_ONCE, batches, rows_of
from routeproof.checker.validate import setting_of, spark
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.spark import lines, squeezed, unsqueezed
from routeproof.checker.validate.spark.lines import Range, ranges
from tests.checker.validate.walks import rows_of as walk
from tests.checker.validate.walks import write


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Brokers in turn, lines of many lengths, one that is empty, and no end of line at the end."""
    path = write(walk("star4", "active", 1), tmp_path / "trace.jsonl")
    found = path.read_bytes().splitlines(keepends=True)
    found.insert(5, b"\n")
    path.write_bytes(b"".join(found).removesuffix(b"\n"))
    return path


def blocks_of(path: Path, those: list[Range]) -> list[lines.Row]:
    judge = Judge(setting_of(path, "exact"))
    return [row for each in those for row in lines._Reading(judge, path, each).rows()]


# -- ranges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cores", [1, 2, 7])
@pytest.mark.parametrize("total", [1, 999, 1000, 1001, 7000, 12_345])
def test_ranges_are_the_file_and_as_many_for_each_core(
    total: int, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LEAST", 10)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"header\n" + b"x" * total)
    found = ranges(path, 1000, cores)
    assert (found[0].begin, found[-1].end) == (7, 7 + total)
    assert all(one.end == other.begin for one, other in pairwise(found))
    sizes = [each.end - each.begin for each in found]
    assert max(sizes) <= 1000
    assert len(found) <= cores * -(-total // (1000 * cores))
    if total >= 999:
        assert len(found) % cores == 0
        assert max(sizes) - min(sizes) < len(found)


def test_little_is_not_divided(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"header\n" + b"x" * 1000)
    assert ranges(path, lines.RANGE, 8) == [Range(0, 7, 1007)]
    path.write_bytes(b"header\n")
    assert ranges(path, lines.RANGE, 8) == [Range(0, 7, 7)]


# -- blocks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", [1, 7, 100, 1 << 18])
@pytest.mark.parametrize("size", [50, 1000, 1 << 20])
def test_every_line_is_in_one_block_of_its_broker(
    size: int, piece: int, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "PIECE", piece)
    monkeypatch.setattr(lines, "LEAST", 1)
    expected = dict(enumerate(trace.read_bytes().split(b"\n")[1:], 1))
    rows = blocks_of(trace, ranges(trace, size, 2))
    before = np.cumsum([0] + [row[4] for row in rows if row[3] == spark.BAD]).tolist()
    found = {}
    last: dict[bytes, int] = {}
    for _, broker, _, kind, events, *_, numbers, data in rows:
        if kind != spark.LINES:
            continue
        every = unsqueezed(data).split(b"\n")
        assert len(every) == events
        for number, line in zip(np.frombuffer(numbers, np.int64).tolist(), every, strict=True):
            at = lines.line_number(number, before.__getitem__)
            assert b'"broker":"%b"' % broker in line.replace(b" ", b"")
            assert at > last.get(broker, 0)
            last[broker] = at
            assert at not in found
            found[at] = line
    assert found == {at: line for at, line in expected.items() if line}
    assert before[-1] == len(expected)


def test_a_block_is_closed_when_it_is_long_enough(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [everything] = ranges(trace, lines.RANGE, 1)
    longest = max(map(len, trace.read_bytes().split(b"\n")[1:]))
    monkeypatch.setattr(lines, "BLOCK", 300)
    sizes = [len(unsqueezed(row[-1])) for row in blocks_of(trace, [everything]) if row[3] == spark.LINES]
    assert max(sizes) < 300 + longest + 300 // 10
    assert sum(size >= 300 for size in sizes) > 3


def test_subscriptions_that_clients_make_are_announced(trace: Path) -> None:
    rows = blocks_of(trace, ranges(trace, lines.RANGE, 1))
    assert sum(row[3] == spark.AHEAD for row in rows) == 1


# -- batches -----------------------------------------------------------------------------------------------------------


def test_batches_hold_so_many_bytes() -> None:
    """Few rows that are large, or many that are small."""
    large = list(batches("n int, data binary", ((n, bytes(AT_ONCE // 2)) for n in range(5))))
    assert [batch.num_rows for batch in large] == [2, 2, 1]
    small = [(n, b"x" * (n % 3)) for n in range(30_000)]
    found = list(batches("n int, data binary", small))
    assert 1 < len(found) < 10
    assert [(row["n"], row["data"]) for row in rows_of(found)] == small


@pytest.mark.parametrize("data", [b"", b"x", b"x" * 1_000_000, bytes(range(256)) * 3])
def test_what_was_squeezed(data: bytes) -> None:
    assert unsqueezed(squeezed(data)) == data


def test_lines_shrink() -> None:
    """Shrink they do: else they would go through Spark in full, and nobody would notice."""
    data = b"\n".join(b'{"broker":"b1","seq":%d,"event":"receive"}' % n for n in range(1000))
    assert len(squeezed(data)) < len(data) / 3
