"""Metrics of a trace that lacks something: what it does not tell is null, or refused in one line."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.cli import main
from routeproof.checker.validate import metrics
from routeproof.checker.validate.metrics import UNTIMED
from routeproof.impl.observers import DELAYS
from routeproof.impl.simulator import MILLISECOND, SECOND
from routeproof.traces import event_row
from tests.checker.validate.metered import columns, recomputed, rewritten, simulated, written


@pytest.fixture(scope="module")
def simulated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated")
    simulated(folder, "controlled")
    return folder


@pytest.fixture
def trace(simulated_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(simulated_once, tmp_path, dirs_exist_ok=True)) / "trace.jsonl"


def test_without_latency_what_is_on_the_wire_counts_as_waiting(trace: Path) -> None:
    """And nothing else: at most what was sent to a broker within the last latency is added."""
    exact, _ = recomputed(rewritten(trace, looks=20 * MILLISECOND))
    ours, _ = recomputed(rewritten(trace, looks=20 * MILLISECOND, latency=None))
    sent: dict[str, list[int]] = {}
    for line in trace.read_text().splitlines()[1:]:
        row = json.loads(line)
        if row["event"] == "send":
            sent.setdefault(row["peer"], []).append(row["time"])
    more = 0
    for at, (mine, its) in enumerate(zip(ours["queue"], exact["queue"], strict=True)):
        time, broker = ours["time"][at], ours["broker"][at]
        on_the_wire = sum(time - MILLISECOND < t <= time for t in sent[broker]) if mine != its else 0
        assert mine == its + on_the_wire
        more += mine > its
    assert more, "nothing was ever on the wire"


def test_without_done_nobody_knows_how_long_brokers_were_busy(trace: Path) -> None:
    theirs, _ = columns(trace.parent)
    ours, delays = recomputed(rewritten(trace, without=("done", "issued")))
    assert None in ours["busy"], "some step came to nothing"
    for mine, its in zip(ours["busy"], theirs["busy"], strict=False):
        assert mine in (None, its), "where something came of every step, that tells"
    assert sum(delays["count"]) == sum(theirs["delays"])
    last = len(set(ours["broker"]))
    for column in ("table", "publish", "subscribe", "triggered", "uncovered", "false_positives", "delivered"):
        assert ours[column][-last:] == theirs[column][-last:], column
        for mine, its in zip(ours[column][:-last], theirs[column], strict=False):
            assert mine >= its, "a step counts when it began, and not when it was done"


def test_clocks_that_are_not_shared(trace: Path) -> None:
    theirs, _ = columns(trace.parent)
    ours, delays = recomputed(rewritten(trace, clock=None))
    for column in ("queue", *DELAYS):
        assert set(ours[column]) == {None}
    assert not delays["count"]
    assert ours["busy"] == theirs["busy"]


def test_what_is_not_observed_is_null(trace: Path) -> None:
    ours, _ = recomputed(rewritten(trace, observes=["client", "receive", "send"]), code=3)
    for column in ("delivered", "false_positives", "busy", *DELAYS):
        assert set(ours[column]) == {None}
    theirs, _ = columns(trace.parent)
    ours, _ = recomputed(trace, "--level", "observable")
    assert set(ours["table"]) == {None}, "nothing is replayed"
    assert ours["publish"] == theirs["publish"]


def test_runs_stand_apart(trace: Path) -> None:
    header, *lines = trace.read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    both = [json.loads(header), *({**row, "run": run} for run in ("r2", "r1") for row in rows)]
    theirs, their_delays = columns(trace.parent)
    ours, delays = recomputed(written(trace.with_name("both.jsonl"), both))
    assert ours["run"] == ["r1"] * len(theirs["time"]) + ["r2"] * len(theirs["time"])
    assert ours["queue"] == theirs["queue"] * 2
    assert delays["count"] == their_delays["count"] * 2


def test_lines_that_mean_nothing_count_nowhere(trace: Path) -> None:
    ours, _ = recomputed(trace)
    message = {"kind": "subscribe", "id": "odd", "filter": [["x", "sounds like", "y"]]}
    odd = event_row("b1", 1 << 40, "receive", "b2", message=message, time=3 * SECOND)
    trace.write_text(trace.read_text() + json.dumps(odd) + "\n{ nothing\n")
    assert recomputed(trace, code=3)[0] == ours


def test_names_that_no_file_can_hold(trace: Path) -> None:
    """JSON can write half a character: such a broker's lines are kept apart, and the others are measured."""
    theirs, _ = columns(trace.parent)
    trace.write_text(trace.read_text().replace('"b4"', '"\\ud800"'))
    ours, _ = recomputed(trace, code=3)
    assert set(ours["broker"]) - {"\\ud800"} == set(theirs["broker"]) - {"b4"}
    handled = zip(ours["broker"], ours["publish"], strict=True)
    assert {count for broker, count in handled if broker == "\\ud800"} == {0}


# -- what is refused ---------------------------------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], trace: Path, *words: str) -> str:
    capsys.readouterr()
    assert main(["validate", str(trace), "--metrics", str(trace.parent / "none"), *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert not (trace.parent / "none" / "metrics.parquet").exists()
    return error


def test_a_trace_without_times(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert UNTIMED in refused(capsys, rewritten(trace, without=["time"]))
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    last = next(row for row in reversed(rows) if row["event"] == "receive")
    del last["time"]
    assert UNTIMED in refused(capsys, written(trace.with_name("nearly.jsonl"), rows))


@pytest.mark.parametrize(
    ("key", "value"),
    [("looks", 0), ("looks", 999), ("looks", True), ("looks", "1 s"), ("looks", 1 << 61), ("latency", -1)],
)
def test_headers_that_say_nonsense(key: str, value: Any, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f'the header has "{key}"' in refused(capsys, rewritten(trace, **{key: value}))


def test_more_rows_than_anybody_wants(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether it has few steps that are far apart, or many."""
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    rows[-1] = {**rows[-1], "time": 1 << 62}
    assert "more than 4,194,304 rows" in refused(capsys, written(trace.with_name("apart.jsonl"), rows))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(metrics, "MOST_ROWS", 490)
        assert "rows" in refused(capsys, rewritten(trace, looks=MILLISECOND))


def test_a_directory_that_is_none(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["validate", str(trace), "--metrics", str(trace)]) == 2
    assert "is no directory; expected one for the metrics" in capsys.readouterr().err


def test_several_traces_have_a_directory_each(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = trace.parent / "each"
    other = rewritten(trace, clock=None)
    assert main(["validate", str(other), str(trace), "--metrics", str(target)]) == 0
    assert f"metrics: {target}" in capsys.readouterr().out
    assert {path.name for path in target.iterdir()} == {"1", "2"}
    assert set(columns(target / "1")[0]["queue"]) == {None}
    assert columns(target / "2")[0]["queue"] == columns(trace.parent)[0]["queue"]


def test_mutated_files_give_a_verdict_or_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = simulated(tmp_path, "zipf", scale=0.0001, snapshots=5)
    rng, whole, codes = random.Random(3), trace.read_bytes(), set()
    strange = [b"9" * 18, b"9223372036854775807", b"-1", b"0", b"null", b'"', b"\n", b'"done":', b'"issued":', b"}"]
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.choice([rng.randrange(len(data)), data.index(b'"time":', rng.randrange(len(data) - 500)) + 7])
            data[at : at + rng.randint(0, 3)] = rng.choice(strange)
        trace.write_bytes(bytes(data))
        codes.add(main(["validate", str(trace), "--metrics", str(tmp_path / "again")]))
        error = capsys.readouterr().err
        assert error.count("\n") <= 1, error
    assert codes >= {1, 2, 3}
