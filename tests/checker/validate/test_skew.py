"""Clocks that differ: found, told with the shift that mends them, and allowed as far as the header says."""

from pathlib import Path

from tests.checker.validate.walks import Row, judged, rows_of

STEP = 1000


def skewed(broker: str, by: int, clock: object = "shared") -> list[Row]:
    """A run in which the clock of one broker is wrong."""
    rows = rows_of("line4", "active", 0)
    late = [{**row, "time": 10 * STEP + row["time"] * STEP + by * (row["broker"] == broker)} for row in rows[1:]]
    return [{**rows[0], "clock": clock}, *late]


def test_a_clock_that_is_wrong_is_told_with_the_shift_that_mends_it(tmp_path: Path) -> None:
    rows = skewed("b2", -5 * STEP)
    report = judged(rows, tmp_path)
    assert "TRC-10" in {r.rule for r in report.rejections}
    [said] = [line for line in report.remarks if "the clock of broker" in line]
    assert said.startswith("the clock of broker b2 is wrong: +")
    assert report.rejections[0].cause == said
    by = int(said.split(": ")[1].split()[0])
    assert 0 < by <= 5 * STEP
    mended = [rows[0], *({**row, "time": row["time"] + by * (row["broker"] == "b2")} for row in rows[1:])]
    assert judged(mended, tmp_path).verdict == "accepted"


def test_the_header_may_allow_a_skew(tmp_path: Path) -> None:
    rows = skewed("b2", -5 * STEP, {"shared": True, "skew": 5 * STEP})
    report = judged(rows, tmp_path)
    assert report.verdict == "accepted", report.rejections
    assert judged(skewed("b2", -5 * STEP, {"shared": True, "skew": STEP}), tmp_path).verdict == "rejected"
    exact = judged(skewed("b2", 0), tmp_path)
    assert report.extent.obligations == exact.extent.obligations
    assert report.extent.owed <= exact.extent.owed


def test_a_skew_of_nothing_changes_nothing(tmp_path: Path) -> None:
    shared, spelt = (judged(skewed("b2", 0, clock), tmp_path) for clock in ("shared", {"shared": True}))
    assert (spelt.verdict, spelt.extent) == (shared.verdict, shared.extent)
    assert spelt.extent.owed > 0
