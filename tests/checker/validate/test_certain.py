"""A line that could not be read: what it may explain is doubtful, and nothing else is."""

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import Level, Report, validate
from routeproof.traces import columns, to_parquet
from tests.campaigns import drawn
from tests.checker.validate.corrupt import (
    CORRUPTIONS,
    Row,
    alter,
    double,
    forge_a_delivery,
    lose,
    place,
    rest_of_step,
    shift,
)
from tests.checker.validate.walks import rows_of

LEVELS: tuple[Level, ...] = ("exact", "equivalent", "observable")
NOT_JSON = "{ not json\n"

MISSING = {
    "exact": {"RTE-5", "TRC-7", "RTE-2", "RTE-3", "RTE-4", "RTE-6", "COV-4", "COV-6", "TRC-3"},
    "equivalent": {"RTE-5", "TRC-7", "RTE-2", "RTE-3", "RTE-4", "RTE-6", "COV-4", "COV-6", "TRC-3"},
    "observable": {"TRC-7"},
}
"""By level, the rules by which something may be missing at the end of a trace."""


def with_bad_lines(rows: list[Row], path: Path, *places: int, level: Level = "exact") -> Report:
    """Judged with lines that nobody can read in front of some rows."""
    lines = [json.dumps(row) + "\n" for row in rows]
    for at in sorted(places, reverse=True):
        lines.insert(at, NOT_JSON)
    path.write_text("".join(lines))
    return validate(path, level)


@pytest.mark.parametrize("level", LEVELS)
def test_a_line_at_the_end_explains_only_what_is_missing(level: Level, tmp_path: Path) -> None:
    """Of all corruptions: what was rejected for something that is there stays so."""
    met = 0
    for name, corruption in CORRUPTIONS.items():
        for instance in ("star4", "line4"):
            rows = rows_of(instance, "active", 1)
            if corruption.spoil(rows) is None:
                continue
            whole = with_bad_lines(rows, tmp_path / "t.jsonl", level=level)
            cut = with_bad_lines(rows, tmp_path / "t.jsonl", len(rows), level=level)
            sure, doubted = set(cut.rejections), set(cut.doubtful)
            assert sure <= set(whole.rejections), name
            left = set(whole.rejections) - sure
            assert left <= doubted, name
            assert {r.rule for r in left} <= MISSING[level], (name, left)
            for each in left:
                assert each.seen.startswith(("nothing", "no ")) or each.wanted.startswith(
                    ("no message", "a publication that")
                )
            met += bool(sure)
    assert met >= (50 if level != "observable" else 5)


def test_what_is_missing_at_the_end_is_doubtful(tmp_path: Path) -> None:
    """The line may be the delivery; so may an event after the end."""
    rows = rows_of("star4", "active", seed=1)
    at = max(i for i, row in enumerate(rows) if row.get("event") == "deliver")
    lost, rest = rows[at]["broker"], rows[:at]
    report = with_bad_lines(rest, tmp_path / "t.jsonl", len(rest))
    assert (report.verdict, report.rejections) == ("unknown", ())
    assert any(f"last step of broker {lost}," in line for line in report.unjudged)


def test_what_showed_before_a_bad_line_stands(tmp_path: Path) -> None:
    """A rejection before it is certain; one after it may be the bad line's doing."""
    rows = rows_of("star4", "active", seed=1)
    where = lose("send", "publish")(rows)
    assert where is not None
    at_end = with_bad_lines(rows, tmp_path / "t.jsonl", len(rows))
    assert (at_end.rejections[0].rule, at_end.rejections[0].seq) == ("RTE-5", where.seq)
    assert at_end.verdict == "rejected"
    begins = next(i for i, row in enumerate(rows) if i and (row["broker"], row["seq"]) == (where.broker, where.seq))
    for at in (1, begins + 1):
        early = with_bad_lines(rows, tmp_path / "t.jsonl", at)
        assert (early.verdict, early.rejections) == ("unknown", ()), at
        assert early.doubtful[0].rule == "RTE-5"


def spoilt(spoil: Callable[[list[Row]], object], seed: int = 1) -> list[Row]:
    rows = rows_of("star4", "active", seed)
    assert spoil(rows) is not None
    return rows


def line_of(rows: list[Row], broker: str, seq: int) -> int:
    return next(i for i, row in enumerate(rows) if i and (row["broker"], row["seq"]) == (broker, seq))


def test_twice_is_twice(tmp_path: Path) -> None:
    """No line can make it right, wherever it stands."""
    rows = spoilt(double("deliver", "publish"))
    for at in range(1, len(rows) + 1):
        report = with_bad_lines(rows, tmp_path / "t.jsonl", at, level="observable")
        assert [r.rule for r in report.rejections] == ["TRC-8"], at


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_what_nobody_asked_for(form: str, tmp_path: Path) -> None:
    """A line before it may be the subscription; one after it is not."""
    rows = spoilt(forge_a_delivery)
    forged = next(i for i, row in enumerate(rows) if row.get("message", {}).get("to") == "nobody")
    for at in range(1, len(rows) + 1):
        report = with_bad_lines(rows, tmp_path / "t.jsonl", at, level="observable")
        if form == "parquet":
            to_parquet(tmp_path / "t.jsonl", tmp_path / "t.parquet")
            report = validate(tmp_path / "t.parquet", "observable")
        assert ("TRC-9" in {r.rule for r in report.rejections}) == (at > forged), at


def test_what_nobody_published_may_be_the_line(tmp_path: Path) -> None:
    """Files are not ordered across brokers: it may stand anywhere."""
    rows = rows_of("star4", "active", seed=1)
    at = next(i for i, row in enumerate(rows) if row.get("event") == "client" and row["message"]["kind"] == "publish")
    gone = [row for i, row in enumerate(rows) if i != at]
    assert "TRC-9" in {r.rule for r in with_bad_lines(gone, tmp_path / "t.jsonl", level="observable").rejections}
    report = with_bad_lines(gone, tmp_path / "t.jsonl", len(gone), level="observable")
    assert report.verdict == "unknown"
    assert "TRC-9" in {r.rule for r in report.doubtful}


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_link_is_certain_once_both_ends_are_before_the_line(form: str, tmp_path: Path) -> None:
    """One line may stand between what was sent and what was received, or be one of them: only behind both it is
    neither."""
    rows = spoilt(alter("receive", "publish", lambda row: row["message"].update(event=7)))
    [wrong] = [r for r in with_bad_lines(rows, tmp_path / "t.jsonl").rejections if r.rule == "TRC-3"]
    shown = max(line_of(rows, broker, seq) for broker, seq in wrong.shown_by)
    assert shown == line_of(rows, wrong.broker, wrong.seq)
    late = [*rows[:shown], *rows[shown + 1 :]]
    late.insert(line_of(rows, *wrong.shown_by[0]), rows[shown])  # the brokers' files, one after the other
    for each in (rows, late):
        shown = max(line_of(each, broker, seq) for broker, seq in wrong.shown_by)
        for at in range(1, len(each) + 1):
            report = with_bad_lines(each, tmp_path / "t.jsonl", at)
            if form == "parquet":
                to_parquet(tmp_path / "t.jsonl", tmp_path / "t.parquet")
                report = validate(tmp_path / "t.parquet")
            assert ("TRC-3" in {r.rule for r in report.rejections}) == (at > shown), at


def test_one_more_than_was_sent_may_have_been_sent(tmp_path: Path) -> None:
    """The last message of a link twice: the line may be the second sending, wherever it stands."""
    rows = rows_of("star4", "active", seed=1)
    at = max(i for i, row in enumerate(rows) if row.get("event") == "receive" and row["message"]["kind"] == "publish")
    after = (rest_of_step(rows, at) or [at])[-1]
    again = copy.deepcopy(rows[at]) | {"seq": rows[after]["seq"] + 1}
    shift(rows, again["broker"], after + 1)
    rows.insert(after + 1, again)
    where = place(again, "TRC-3")
    whole = with_bad_lines(rows, tmp_path / "t.jsonl")
    assert where.at("exact") in {(r.broker, r.seq, r.rule) for r in whole.rejections}
    report = with_bad_lines(rows, tmp_path / "t.jsonl", len(rows))
    assert "TRC-3" in {r.rule for r in report.doubtful}
    assert "TRC-3" not in {r.rule for r in report.rejections}


def test_what_is_wrong_in_a_step_that_is_cut_off(tmp_path: Path) -> None:
    """The end of the trace, and with it half of a step: what is missing may be in the line, what is there is wrong."""
    rows = rows_of("star4", "active", seed=1)
    at = next(
        i
        for i, row in enumerate(rows)
        if row.get("event") == "send" and row["message"]["kind"] == "advertise" and row["broker"] == "b1"
    )
    cut = copy.deepcopy(rows[: at + 1])
    cut[at]["message"]["id"] = "other"
    report = with_bad_lines(cut, tmp_path / "t.jsonl", len(cut))
    assert [(r.broker, r.seq, r.rule) for r in report.rejections] == [("b1", cut[at]["seq"], "RTE-2")]
    good = with_bad_lines(rows[: at + 1], tmp_path / "t.jsonl", at + 1)
    assert (good.verdict, good.rejections) == ("unknown", ())


@drawn(1 / 3)
def test_rows_that_nobody_knows_may_explain_anything_missing(
    share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a row group that is broken nobody knows which lines it had: no number says that it comes after something."""
    monkeypatch.setattr(columns, "GROUP_ROWS", 8)
    rows = spoilt(lose("send", "publish"))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "t.parquet"
    to_parquet(tmp_path / "t.jsonl", path)
    assert validate(path).verdict == "rejected"
    whole = path.read_bytes()
    broken = 0
    for at in range(4, len(whole), max(1, len(whole) // round(300 * share))):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with suppress(UsageError):  # its end is broken, and nothing can be read
            report = validate(path)
            if any("row group" in bad.reason for bad in report.bad):
                broken += 1
                assert {r.rule for r in report.rejections} <= {"TRC-1", "TRC-2", "TRC-8"}, (at, report)
    assert broken > 50 * share


@drawn(0.3)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("policy", ["active", "packing"])
def test_lines_of_a_good_trace_that_cannot_be_read_reject_nothing(
    level: Level, policy: str, share: float, tmp_path: Path
) -> None:
    """Each line might be what is missing, for it was: whatever is found then is doubtful."""
    rng, doubtful = random.Random(policy), 0
    for instance, seed in (("star4", 1), ("line4", 2), ("quotes3", 0), ("two4", 3)):
        rows = rows_of(instance, policy, seed)
        for at in range(round(60 * share)):
            if at % 2:
                rows = [rows[0], *sorted(rows[1:], key=lambda row: (row["broker"], row["seq"]))]
            lines = [json.dumps(row) + "\n" for row in rows]
            for gone in rng.sample(range(1, len(lines)), rng.randint(1, 3)):
                lines[gone] = NOT_JSON
            path = tmp_path / "t.jsonl"
            path.write_text("".join(lines))
            if at % 10 == 9:
                to_parquet(path, tmp_path / "t.parquet")
                path = tmp_path / "t.parquet"
            report = validate(path, level)
            assert (report.verdict, report.rejections) == ("unknown", ())
            doubtful += bool(report.doubtful)
    assert doubtful > share * (100 if level != "observable" else 20)
