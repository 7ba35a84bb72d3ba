"""Parts of runs, a disproved promise, a lost message, late beginnings: Spark's report is that of one core."""

from pathlib import Path
from typing import TYPE_CHECKING

from routeproof.checker.validate import setting_of, validate
from routeproof.checker.validate.spark.job import judge
from tests.checker.validate.churned import Churn
from tests.checker.validate.foreign import SCRIPT, Lost, Row, network
from tests.checker.validate.test_beginnings import cut, recorded
from tests.checker.validate.test_names import merged
from tests.checker.validate.test_observed import bare, seen
from tests.checker.validate.test_partial import ALL, brokers_of, observed
from tests.checker.validate.test_readiness import rows_in
from tests.checker.validate.test_unsent import without_reception
from tests.checker.validate.walks import write
from tests.kit.runs import run_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_report_is_that_of_one_core(tmp_path: Path, spark: "SparkSession") -> None:
    rows = rows_in(Churn("none", 5, newcomers=15, gap=20_000).record(tmp_path / "correct.jsonl"))
    rows[0]["settles"] = 1_000_000
    some = brokers_of(rows)[:4]
    seen = dict.fromkeys(some, ALL) | {some[1]: ["client", "receive", "deliver"], some[2]: ["client", "deliver"]}
    told = observed(rows, seen)
    lost = next(n for n, row in enumerate(told) if n > 100 and row["event"] == "receive" and row["peer"] == some[0])
    path = write(without_reception(told, lost), tmp_path / "part.jsonl")
    expected = validate(path)
    assert {"TRC-3", "TRC-11"} <= {r.rule for r in expected.rejections}
    assert any("lost on the way" in r.reason for r in expected.rejections)
    assert expected.extent.links
    assert judge(spark, path, setting_of(path, "equivalent")) == expected


def test_recordings_that_begin_amid_a_run(tmp_path: Path, spark: "SparkSession") -> None:
    path = write(cut(recorded("active", 1, tmp_path)), tmp_path / "late.jsonl")
    expected = validate(path)
    assert expected.verdict == "accepted"
    assert any("judged from the snapshots" in line for line in expected.remarks)
    assert judge(spark, path, setting_of(path, "equivalent")) == expected


def test_entries_that_stand_for_several(tmp_path: Path, spark: "SparkSession") -> None:
    runs = merged(of=["s", "t"]), merged(of=["s", "u"]), merged(of=["s", "t"], leaves=True)
    rows = [{**row, "run": str(number)} for number, run in enumerate(runs) for row in run[1:]]
    path = write([runs[0][0], *rows], tmp_path / "entries.jsonl")
    expected = validate(path, "safe")
    assert [(r.run, r.broker) for r in expected.rejections] == [("1", "y"), ("2", "y")]
    assert judge(spark, path, setting_of(path, "safe")) == expected


def skewed(rows: list[Row]) -> list[Row]:
    """The clock of r4 is slow."""
    times = ({**row, "time": 1000 * row["time"] + (4_000 if row["broker"] == "r4" else 9_000)} for row in rows[1:])
    return [rows[0], *times]


def test_reports_of_brokers_that_others_wrote(tmp_path: Path, spark: "SparkSession") -> None:
    """Without sends and clocks, with a clock that is wrong, a part of the tables lost, and an end amid everything."""
    forgetful = network(SCRIPT, lost=Lost("r3", 12, "r2", advertisements=False, sent=True))
    runs: dict[str, tuple[list[Row], str]] = {
        "sends": (bare(seen(network(SCRIPT, "forgets to re-forward"), ("client", "receive", "deliver")), "time"), "r3"),
        "clock": (skewed(network(SCRIPT)), "r4"),
        "tables": (forgetful, "r3"),
        "end": (run_of("return3", "selective", 1)[:15], ""),
    }
    for name, (rows, broker) in runs.items():
        path = write(rows, tmp_path / f"{name}.jsonl")
        expected = validate(path)
        assert [r.broker for r in expected.rejections[:1]] == [broker] * bool(broker), name
        assert judge(spark, path, setting_of(path, "equivalent")) == expected, name
    assert validate(tmp_path / "tables.jsonl").rejections[0].cause
