"""A damaged trace: what cannot be judged is said, what contradicts itself is rejected, and the rest is judged."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from routeproof.checker.cli import main
from routeproof.checker.validate import Level, Report, validate
from routeproof.checker.validate.clock import Clock, ClockRecord, Doubts, doubts_of
from tests.campaigns import daily
from tests.checker.validate.damage import DAMAGES, MISHAPS, Damage, Row, cut_short, dropped, left_on_links, with_loss
from tests.checker.validate.walks import write

LEVELS: tuple[Level, ...] = ("exact", "observable")

WALL = 1_763_000_000_000_000_000
"""Nanoseconds of a wall clock, beside which 0 is far away."""


def accepted_run(out: Path, scale: str = "0.005") -> list[Row]:
    """The rows of an accepted run, with times of a wall clock."""
    assert main(["run", "stock", "--scale", scale, "--trace", "--snapshots", "100", "--out", str(out)]) == 0
    read: list[Row] = [json.loads(line) for line in (out / "trace.jsonl").read_text().splitlines()]
    return [read[0], *({**row, "time": row["time"] + WALL} for row in read[1:] if row["event"] != "snapshot")]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return accepted_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def undamaged(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Report]:
    """The reports on the whole run, by level."""
    folder = tmp_path_factory.mktemp("whole")
    return {level: judged(rows, folder, level) for level in LEVELS}


def judged(rows: list[Row], folder: Path, level: Level) -> Report:
    return validate(write(rows, folder / "trace.jsonl"), level)


def assert_told(report: Report, damage: Damage, level: Level) -> None:
    rules = damage.observable if level == "observable" else damage.exact
    found = {r.rule for r in report.rejections}
    assert rules[0] in found if rules else not found, report
    expected = "rejected" if rules else "unknown" if damage.unknown and level == "observable" else "accepted"
    assert report.verdict == expected, report
    assert not damage.remark or any(
        damage.remark in line for line in (*report.extent.faults(), *report.remarks, *report.unjudged)
    ), report


@pytest.mark.parametrize("events", daily((1, 3), (1).__eq__))
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", DAMAGES)
def test_one_damaged_event_ends_no_judgement(
    name: str, level: Level, events: int, rows: list[Row], undamaged: Mapping[str, Report], tmp_path: Path
) -> None:
    """It is rejected or told; and a delivery that is lost elsewhere is found, wherever the damage is."""
    damage, rng = DAMAGES[name], random.Random(name)
    whole = undamaged[level]
    assert whole.verdict == "accepted"
    assert whole.extent.owed > 500
    for _ in range(events):
        found = damage.damaged(rows, rng)
        report = judged(found, tmp_path, level)
        assert_told(report, damage, level)
        if "TRC-6" not in damage.exact:  # else there is a subscription less
            assert report.extent.owed > 0.9 * whole.extent.owed, "the damage is confined"
        hurt = frozenset(
            row["message"]["id"] for row, other in zip(rows, found, strict=True) if row is not other and row["message"]
        )
        lossy, lost = with_loss(found, rng, hurt)
        again = judged(lossy, tmp_path, level)
        assert again.extent.lost == report.extent.lost + 1, (name, lost)
        assert "TRC-7" in {r.rule for r in again.rejections}, name


ALL_LEVELS: tuple[Level, ...] = ("exact", "equivalent", "observable")


def has_line(report: Report, *words: str) -> bool:
    """True if one remark has all of these words."""
    return any(
        all(word in line for word in words) for line in (*report.extent.faults(), *report.remarks, *report.unjudged)
    )


@pytest.mark.parametrize("level", ALL_LEVELS)
@pytest.mark.parametrize("count", ["one", "three"])
def test_an_advertisement_altered_on_the_way(count: str, level: Level, rows: list[Row], tmp_path: Path) -> None:
    """What is owed is judged all the same."""
    whole = judged(rows, tmp_path, level)
    found = MISHAPS[f"{count} advertisement{'s' * (count != 'one')} altered"](rows)
    report = judged(found, tmp_path, level)
    assert [r.rule for r in report.rejections[:1]] == ([] if level == "observable" else ["TRC-3"])
    assert {r.rule for r in report.rejections} <= {"TRC-3", "RTE-5"}, "the broker sent on what it truly had"
    assert report.verdict == ("unknown" if level == "observable" else "rejected")
    assert has_line(report, {"one": "1", "three": "3"}[count], "altered between")
    assert report.extent.owed == whole.extent.owed
    lossy, _ = with_loss(found, random.Random(0))
    assert "TRC-7" in {r.rule for r in judged(lossy, tmp_path, level).rejections}


@pytest.mark.parametrize("level", ALL_LEVELS)
def test_a_link_of_which_much_is_altered_ends_the_judgement_of_its_run(
    level: Level, rows: list[Row], tmp_path: Path
) -> None:
    whole = judged(rows, tmp_path, level)
    report = judged(MISHAPS["five advertisements altered"](rows), tmp_path, level)
    assert report.verdict == ("unknown" if level == "observable" else "rejected")
    assert has_line(report, "more than 3 messages", "owed deliveries of this run are not judged")
    assert report.extent.owed == 0
    assert report.extent.obligations == whole.extent.obligations
    assert has_line(report, f"{whole.extent.obligations:,} obligations not judged", "over a link")


@pytest.mark.parametrize("level", ALL_LEVELS)
def test_what_is_owed_and_dropped_is_lost(level: Level, rows: list[Row], tmp_path: Path) -> None:
    found = dropped(rows)
    report = judged(found, tmp_path, level)
    assert {r.rule for r in report.rejections} == {"TRC-7"}
    assert report.extent.lost == len(rows) - len(found)
    assert has_line(report, "1 message was dropped at broker", "the first at seq")


@pytest.mark.parametrize("level", ALL_LEVELS)
@pytest.mark.parametrize("name", ["restarted", "crashed"])
def test_a_fault_leaves_open_what_the_brokers_own_clients_are_owed(
    name: str, level: Level, rows: list[Row], tmp_path: Path
) -> None:
    """What others are owed is judged all the same, and what they lost before the fault."""
    whole = judged(rows, tmp_path, level)
    report = judged(MISHAPS[name](rows), tmp_path, level)
    assert report.verdict == ("unknown" if level == "observable" else "accepted")
    assert has_line(report, "restarted once", "what its own clients are owed after that is not judged")
    assert has_line(report, "restarted without a crash") == (name == "restarted")
    assert 0 < report.extent.owed < whole.extent.owed
    assert report.extent.obligations == whole.extent.obligations
    assert has_line(report, f"{whole.extent.owed - report.extent.owed:,} obligation", "not judged", "crashed")
    at = next(at for at, row in enumerate(rows) if row.get("event") == "deliver")
    lossy = judged(MISHAPS[name](rows[:at] + rows[at + 1 :]), tmp_path, level)
    assert "TRC-7" in {r.rule for r in lossy.rejections}


@pytest.mark.parametrize("level", ALL_LEVELS)
def test_a_fault_at_the_beginning_ends_nothing_for_other_brokers(level: Level, rows: list[Row], tmp_path: Path) -> None:
    first = next(row for row in rows[1:] if row["broker"] == rows[-1]["broker"])
    fault = {"broker": first["broker"], "seq": 0, "event": "crash", "time": first["time"]}
    report = judged([rows[0], fault, *rows[1:]], tmp_path, level)
    whole = judged(rows, tmp_path, level)
    assert 0 < report.extent.owed < whole.extent.owed
    assert has_line(report, f"{whole.extent.owed - report.extent.owed:,} obligations not judged", "crashed")


def test_remarks_name_the_run_where_there_are_several(rows: list[Row], tmp_path: Path) -> None:
    mishaps = ("crashed", "dropped", "cut short", "one advertisement altered", "five advertisements altered")
    together = [rows[0], *({**row, "run": name} for name in mishaps for row in MISHAPS[name](rows)[1:])]
    report = judged(together, tmp_path, "exact")
    for name, words in zip(mishaps, ("crashed", "dropped", "in flight", "altered", "altered"), strict=True):
        assert has_line(report, words, f"run {name}"), (name, report.remarks)


@pytest.mark.parametrize("level", ALL_LEVELS)
def test_what_is_left_on_links_is_told(level: Level, rows: list[Row], tmp_path: Path) -> None:
    found = cut_short(rows)
    report = judged(found, tmp_path, level)
    assert report.verdict == "accepted"
    count = left_on_links(found)
    assert report.extent.in_flight == count
    assert report.extent.first_in_flight is not None
    _, near, far, seq = report.extent.first_in_flight
    assert has_line(
        report, f"{count} message", "in flight when the trace ended", f"from {near} to {far}, sent at seq {seq}"
    )
    [row] = [row for row in found[1:] if (row["broker"], row["seq"]) == (near, seq)]
    assert (row["event"], row["peer"]) == ("send", far)


def test_without_advertisements_nothing_is_owed_and_that_is_said(rows: list[Row], tmp_path: Path) -> None:
    left = [
        row for n, row in enumerate(rows) if not n or (row["event"], row["message"]["kind"]) != ("client", "advertise")
    ]
    report = judged(left, tmp_path, "observable")
    assert report.verdict == "unknown"
    assert report.extent.owed == 0
    assert any("under an advertisement that no client made" in line for line in report.unjudged)


def test_a_broker_without_any_time(rows: list[Row], tmp_path: Path) -> None:
    """That is said. What was owed is judged by what its links show."""
    silent = [{k: v for k, v in row.items() if k != "time" or row["broker"] != "b9"} for row in rows[1:]]
    report = judged([rows[0], *silent], tmp_path, "observable")
    assert report.verdict == "accepted"
    assert any("b9" in line and "no time" in line for line in report.remarks)
    assert report.extent.owed > 0.9 * judged(rows, tmp_path, "observable").extent.owed


# -- clocks ------------------------------------------------------------------------------------------------------------


def heard(times: list[int | None], cuts: frozenset[int] = frozenset()) -> Doubts:
    parts: list[ClockRecord] = []
    clock = Clock()
    for at, time in enumerate(times):
        if at in cuts:
            parts.append(clock.told())
            clock = Clock()
        if time is None:
            clock.miss(at, at)
        else:
            clock.tell(at, at, time)
    return doubts_of([*parts, clock.told()])


def bounds(doubts: Doubts) -> list[tuple[int, ...]]:
    columns = doubts.first, doubts.last, doubts.low, doubts.high
    return [tuple(int(each) for each in row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([1, 2, 3, 4], []),
        ([1, 2, 3, 100, 4, 5], [(3, 3, 3, 4)]),
        ([1, 2, 3, 0, 4, 5], [(3, 3, 3, 4)]),
        ([1, 2, None, 4], [(2, 2, 2, 4)]),
        ([None, 2, None], [(0, 0, -1, 2), (2, 2, 2, -1)]),
        ([100, 1, 2, 3], [(0, 0, -1, 1)]),
        ([1, None, 100, None, 2, 3], [(1, 1, 1, 2), (2, 3, 1, 2)]),
        ([1, 2, 100, 101, 3, 0, 4, 5, 6, 7], [(2, 5, 2, 4)]),
    ],
)
def test_the_fewest_events_are_disbelieved(times: list[int | None], expected: list[tuple[int, ...]]) -> None:
    assert bounds(heard(times)) == expected


def test_what_is_believed_does_not_fall_and_bounds_the_rest() -> None:
    """However a broker's events are cut into parts."""
    rng = random.Random(0)
    for _ in range(3000):
        length = rng.randint(1, 120)
        times: list[int | None] = [*sorted(rng.randint(0, 200) for _ in range(length))]
        for _ in range(rng.randint(0, 5)):
            times[rng.randrange(length)] = rng.choice([None, rng.randint(0, 300)])
        doubts = heard(times)
        stretches = bounds(doubts)
        assert bounds(heard(times, frozenset(rng.sample(range(length), min(length, 3))))) == stretches
        doubted = {at for first, last, _, _ in stretches for at in range(first, last + 1)}
        believed = [(at, time) for at, time in enumerate(times) if time is not None and at not in doubted]
        assert sorted(time for _, time in believed) == [time for _, time in believed]
        assert doubted >= {at for at, time in enumerate(times) if time is None}
        for first, last, low, high in stretches:
            assert low == max((time for at, time in believed if at < first), default=-1)
            assert high == min((time for at, time in believed if at > last), default=-1)
