"""How much was judged is told with every verdict, and what follows from what."""

import random
from itertools import combinations
from pathlib import Path

import pytest

from routeproof.checker.cli.validate import as_json, render
from routeproof.checker.validate import LEVELS
from tests.checker.validate.churned import Churn
from tests.checker.validate.corrupt import lose
from tests.checker.validate.test_ends import without_clock
from tests.checker.validate.test_readiness import rows_in
from tests.checker.validate.walks import Row, judged, rows_of

KINDS = ("client", "receive", "send", "deliver")
OBSERVED = [some for count in range(1, 5) for some in combinations(KINDS, count)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("clock", [True, False])
def test_every_verdict_tells_how_much_was_judged(level: str, clock: bool, tmp_path: Path) -> None:
    """Whatever is observed: what was judged, what was not and why; and in the first line that nothing was owed."""
    whole = rows_of("line4", "active", 1) if clock else without_clock(rows_of("line4", "active", 1))
    verdicts = set()
    for observes in OBSERVED:
        rows = [{**whole[0], "observes": list(observes)}, *(row for row in whole[1:] if row["event"] in observes)]
        report = judged(rows, tmp_path, level)  # type: ignore[arg-type]  # one of LEVELS
        first, *lines = render(report).splitlines()
        extent, told = report.extent, as_json(report)
        verdicts.add(report.verdict)
        assert report.verdict in ("accepted", "unknown"), (observes, report.rejections)
        assert (report.verdict == "unknown") == any(line.startswith("  not judged: ") for line in lines)
        [judged_line] = [line for line in lines if line.startswith("  judged: ")]
        assert ("no delivery was judged as owed" in first) == (extent.owed == 0)
        for count, word in (
            (extent.steps, "step"),
            (extent.messages, "message"),
            (extent.links, "link"),
            (extent.deliveries, "deliver"),
            (extent.obligations, "obligation"),
        ):
            assert word in judged_line or not count, (observes, word)
        assert told["judged"]["owed"] == extent.owed
        assert told["caveats"] == extent.caveats
        missing = sum(each.count for each in extent.open.values())
        assert extent.obligations == extent.owed + missing, "each obligation was judged, or there is a reason"
        for each in extent.open.values():
            assert any(f"{each.count} obligation" in line for line in lines)
    assert "unknown" in verdicts
    assert "accepted" in verdicts


@pytest.mark.parametrize("level", ["equivalent", "observable"])
@pytest.mark.parametrize("clock", [True, False])
def test_all_lost_and_doubled_deliveries_are_counted(clock: bool, level: str, tmp_path: Path) -> None:
    """Also those of one broker, of one publication, and after the first of them was rejected."""
    rows = rows_in(Churn("none", 5, newcomers=15, gap=20_000).record(tmp_path / "trace.jsonl", clock=clock))
    whole = judged(rows, tmp_path, "observable").extent
    assert (whole.lost, whole.doubled, whole.repeated) == (0, 0, 0)
    draw = random.Random(2)
    came = [n for n, row in enumerate(rows) if n and row["event"] == "deliver"]
    again = set(draw.sample(came, 6))
    thrice = set(draw.sample(sorted(again), 2))
    made = set(draw.sample([n for n, row in enumerate(rows) if n and _publishes(row)], 3))
    told = [rows[0]]
    for n, row in enumerate(rows[1:], 1):
        told += [row] * (1 + (n in again) + (n in thrice) + (n in made))
    told = numbered(told)
    extent = judged(told, tmp_path, level).extent  # type: ignore[arg-type]  # a level
    assert (extent.doubled, extent.repeated) == (8, 3)
    assert any("8 deliveries doubled in all" in line for line in extent.remarks())
    assert any("3 publications under an id that was used before" in line for line in extent.remarks())
    ends = [{"broker": broker, "event": "snapshot", "tables": {}} for broker in {row["broker"] for row in rows[1:]}]
    ends = [{**row, "time": rows[-1]["time"]} for row in ends] if clock else ends
    none = numbered([*(row for row in rows if row.get("event") != "deliver"), *ends])
    lost = judged(none, tmp_path, level).extent  # type: ignore[arg-type]  # a level
    assert lost.lost + sum(each.count for each in lost.open.values()) == lost.obligations
    assert lost.lost == lost.owed == whole.owed


def _publishes(row: Row) -> bool:
    return bool(row["event"] == "client" and row["message"]["kind"] == "publish")


def numbered(rows: list[Row]) -> list[Row]:
    """The rows with ascending numbers at each broker."""
    counts: dict[str, int] = {}
    found = [rows[0]]
    for row in rows[1:]:
        counts[row["broker"]] = counts.get(row["broker"], 0) + 1
        found.append({**row, "seq": counts[row["broker"]]})
    return found


# -- consequences ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clock", [True, False])
def test_what_a_wrong_step_does_to_a_link_is_a_consequence(clock: bool, tmp_path: Path) -> None:
    """The recorder of a broker leaves out a send: the step is first, and the link stands under it."""
    found = 0
    for name, seed in (("line4", 0), ("star4", 2), ("unadv3", 4)):
        rows = rows_of(name, "active", seed) if clock else without_clock(rows_of(name, "active", seed))
        at = next(n for n, row in enumerate(rows) if n and row["event"] == "send")
        report = judged([*rows[:at], *rows[at + 1 :]], tmp_path)
        first, *others = report.rejections
        on_links = [r for r in others if r.rule == "TRC-3"]
        assert (first.broker, first.rule == "TRC-3") == (rows[at]["broker"], False)
        assert all(r.is_consequence for r in on_links)
        assert render(report).count("consequence: ") >= len({r.rule for r in on_links})
        found += len(on_links)
    assert found


def test_a_link_that_no_step_explains_comes_first(tmp_path: Path) -> None:
    rows = rows_of("line4", "active", 0)
    at = next(n for n, row in enumerate(rows) if n and row["event"] == "receive")
    message = {**rows[at]["message"], "id": "other"}
    report = judged([*rows[:at], {**rows[at], "message": message}, *rows[at + 1 :]], tmp_path)
    assert (report.rejections[0].rule, report.rejections[0].is_consequence) == ("TRC-3", False)


def test_a_step_without_a_send_is_no_wrong_link(tmp_path: Path) -> None:
    """The message was never sent: nothing is wrong on the link."""
    rows = rows_of("line4", "active", 0)
    assert lose("send", "subscribe")(rows) is not None
    assert "TRC-3" not in {r.rule for r in judged(rows, tmp_path).rejections if not r.is_consequence}
