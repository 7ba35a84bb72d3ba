"""Lines that nobody can read: counted, the first of them kept, and the same in whatever pieces they were found."""

import random
from pathlib import Path

import pytest

from routeproof.checker.validate import validate
from routeproof.checker.validate.findings import KEPT, BadLines, decode_bad, encode_bad
from routeproof.traces import BadLine
from tests.checker.validate.walks import rows_of, write

MANY = [BadLine(3 * n + 2, f"reason {n}") for n in range(100)]


def added(lines: list[BadLine]) -> BadLines:
    bad = BadLines()
    for line in lines:
        bad.add(line)
    return bad


@pytest.mark.parametrize("seed", range(5))
def test_the_first_by_number_are_kept_in_whatever_order_they_come(seed: int) -> None:
    shuffled = random.Random(seed).sample(MANY, len(MANY))
    assert added(shuffled) == BadLines(len(MANY), MANY[:KEPT])
    whole = BadLines()
    for begin in range(0, len(MANY), 7):
        whole.merge(decode_bad(encode_bad(added(shuffled[begin : begin + 7]))))
    assert whole == BadLines(len(MANY), MANY[:KEPT])
    assert whole.first_number == 2


def test_none() -> None:
    assert decode_bad(encode_bad(BadLines())) == BadLines(0, [])
    assert BadLines().first_number == 0


def test_a_report_counts_all_and_shows_the_first(tmp_path: Path) -> None:
    path = write(rows_of("star4", "active"), tmp_path / "trace.jsonl")
    count = len(path.read_bytes().splitlines())
    with path.open("a") as file:
        file.write("{ not json\n" * 1000)
        file.write('{"broker":"b1","seq":9999,"event":"snapshot","tables":7}\n' * 1000)
    report = validate(path)
    assert (report.verdict, report.bad_lines) == ("unknown", 2000)
    assert [line.number for line in report.bad] == [count + n for n in range(1, KEPT + 1)]
