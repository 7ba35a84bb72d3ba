"""Metrics recomputed from a trace are the simulator's own, however it is cut; what it lacks is null or refused."""

import json
import random
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from routeproof.checker.cli import main
from routeproof.checker.errors import UsageError
from routeproof.checker.validate import setting_of
from routeproof.checker.validate.metrics import asked
from routeproof.checker.validate.metrics.asked import UNTIMED, Measured, measured
from routeproof.checker.validate.metrics.delays import Moments as Samples
from routeproof.checker.validate.metrics.delays import buckets, windows_of
from routeproof.checker.validate.metrics.files import NEEDS
from routeproof.checker.validate.metrics.meter import COUNTS, Meter
from routeproof.checker.validate.metrics.metered import part_of
from routeproof.checker.validate.metrics.series import Series, gathered
from routeproof.checker.validate.part import Found, Judge, Part
from routeproof.impl.broker import Broker
from routeproof.impl.costs import MILLISECOND, SECOND, Costs
from routeproof.impl.metrics import COUNTED, DELAYS, MOMENTARY, Metrics, histogram, quantile
from routeproof.impl.recording import OBSERVES, Recorder
from routeproof.impl.simulator import Network, Simulator
from routeproof.impl.workloads import workload
from routeproof.model.filters import STRICT
from routeproof.traces import Event, TraceWriter, broker_name, event_row, open_trace
from routeproof.traces.format import read_event

WORKLOADS = {"controlled": 0.001, "controlled-001": 0.002, "stock": 0.002, "stock-enterprise": 0.002, "zipf": 0.001}
"""And scales at which they take less than a second."""

Columns = dict[str, list[Any]]
Row = dict[str, Any]


def simulated(folder: Path, name: str, policy: str = "active", snapshots: int = 0, scale: float | None = None) -> Path:
    """The trace; the simulator's metrics are beside it."""
    more = ("--snapshots", str(snapshots)) if snapshots else ()
    scaled = str(WORKLOADS[name] if scale is None else scale)
    assert main(["run", name, "--policy", policy, "--scale", scaled, "--out", str(folder), "--trace", *more]) == 0
    return folder / "trace.jsonl"


def recomputed(trace: Path, *words: str, code: int = 0) -> tuple[Columns, Columns]:
    target = trace.parent / "again"
    assert main(["validate", str(trace), "--metrics", str(target), *words]) == code
    return columns(target)


def columns(folder: Path) -> tuple[Columns, Columns]:
    """Of the samples and of the delays."""
    return pq.read_table(folder / "metrics.parquet").to_pydict(), pq.read_table(folder / "delays.parquet").to_pydict()


def rewritten(trace: Path, *, without: Iterable[str] = (), **header: object) -> Path:
    """The same without some keys, and with others in the header; None takes one away."""
    first, *lines = trace.read_text().splitlines()
    head = {key: value for key, value in {**json.loads(first), **header}.items() if value is not None}
    rows = [{key: value for key, value in json.loads(line).items() if key not in without} for line in lines]
    return written(trace.with_name("rewritten.jsonl"), [head, *rows])


def written(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# -- the simulator's ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "snapshots"), [("active", 0), ("lazy", 60), ("packing", 90)])
@pytest.mark.parametrize("name", WORKLOADS)
def test_every_column_is_the_simulators(name: str, policy: str, snapshots: int, tmp_path: Path) -> None:
    trace = simulated(tmp_path, name, policy, snapshots)
    theirs, their_delays = columns(tmp_path)
    ours, our_delays = recomputed(trace)
    assert list(ours) == ["run", *theirs]
    assert list(our_delays) == ["run", *their_delays]
    assert set(ours["held"]) == {None}, "a trace does not show it"
    for column in theirs.keys() - {"held"}:
        assert ours[column] == theirs[column], column
    for column in their_delays:
        assert our_delays[column] == their_delays[column], column
    run = json.loads(trace.read_text().partition("\n")[0])["run"]
    assert set(ours["run"]) == set(our_delays["run"]) == {run}
    busy = {"controlled": ("queue", "triggered", "uncovered", "false_positives"), "zipf": ("unsubscribe",)}
    for column in ("table", "delivered", "busy", "delays", "delay_p50", *busy.get(name, ())):
        assert any(ours[column]), f"nothing to compare in {column}"


def test_columns_have_the_simulators_names() -> None:
    assert tuple(name.replace("-", "_") for name in NEEDS) == (*MOMENTARY, *COUNTED, *DELAYS)


@pytest.mark.parametrize("capacity", [1, 3])
def test_what_full_queues_keep_out_counts_as_waiting(capacity: int, tmp_path: Path) -> None:
    """`held` is null because it is in `queue`: the two of the simulator are together what is recomputed."""
    drawn = workload("controlled", 0.0005, 1)
    metrics = Metrics(drawn.overlay.brokers, drawn.look_every)
    header: Row = {"policy": "active", "overlay": drawn.overlay.edges, "observes": OBSERVES, "clock": "shared"}
    network = Network(latency=3 * MILLISECOND, capacity=capacity)
    header |= {"latency": network.latency, "looks": drawn.look_every}
    with TraceWriter(tmp_path / "trace.jsonl", "full", **header) as trace:
        Simulator(
            drawn.overlay,
            lambda b: Broker(b, drawn.overlay.neighbours(b), "active"),
            Costs.measured("active"),
            network,
            [metrics, Recorder(trace, broker_name)],
        ).play(drawn.operations())
    ours, _ = recomputed(tmp_path / "trace.jsonl")
    waiting = [a + b for a, b in zip(metrics.columns["queue"], metrics.columns["held"], strict=True)]
    assert ours["queue"] == waiting
    assert any(metrics.columns["held"]), "nothing was kept out"
    assert ours["delay_max"] == metrics.windows["delay_max"]


# -- cuts --------------------------------------------------------------------------------------------------------------


def parts_of(setting: Measured, trace: Path, *, cut: bool) -> list[list[Found]]:
    """By broker. With `cut`, a part ends at every snapshot."""
    judge = Judge(setting)
    events: dict[str, list[Event]] = {}
    with open_trace(trace) as (_, lines):
        for line in lines:
            assert isinstance(line, Event)
            events.setdefault(line.broker, []).append(line)
    found = []
    for broker, mine in events.items():
        part = part_of(judge, setting.run, broker)
        parts = []
        for event in mine:
            if cut and event.event == "snapshot":
                part.end_with(event)
                parts.append(part.finish())
                part = part_of(judge, setting.run, broker, event)
            else:
                part.look(event)
        found.append([*parts, part.finish()])
    return found


def series_of(setting: Measured, trace: Path, *, cut: bool) -> Series:
    [series] = gathered(setting, parts_of(setting, trace, cut=cut)).values()
    return series


@pytest.mark.parametrize("spoil", [False, True])
def test_parts_add_up_to_the_whole(spoil: bool, tmp_path: Path) -> None:
    """Also where a broker is rejected in the middle: nobody knows its table from there on, in later parts neither."""
    trace = simulated(tmp_path, "controlled", "active", snapshots=40)
    if spoil:
        rows = [json.loads(line) for line in trace.read_text().splitlines()]
        mine = [at for at, row in enumerate(rows) if row.get("broker") == "b4" and row["event"] == "send"]
        del rows[mine[len(mine) // 2]]
        trace = written(tmp_path / "spoiled.jsonl", rows)
    setting = measured(trace, setting_of(trace, "exact"), tmp_path)
    whole, cut = (series_of(setting, trace, cut=cut) for cut in (False, True))
    assert max(map(len, parts_of(setting, trace, cut=True))) > 10
    assert whole.moments == cut.moments
    for broker in setting.brokers:
        one, many = whole.columns(broker), cut.columns(broker)
        assert one.keys() == many.keys()
        for column in one:
            assert one[column].tolist() == many[column].tolist(), (broker, column)
    assert (whole.columns("b4")["table"][-1] == -1) == spoil
    if spoil:
        ours, _ = recomputed(trace, code=1)
        theirs, _ = columns(tmp_path)
        for mine_, their, broker in zip(ours["table"], theirs["table"], ours["broker"], strict=True):
            assert mine_ == their or (mine_ is None and broker == "b4")


def test_nobody_pays_who_does_not_ask(tmp_path: Path) -> None:
    trace = simulated(tmp_path, "stock", scale=0.0005)
    part = part_of(Judge(setting_of(trace, "exact")), "r", "b1")
    assert type(part) is Part
    assert part.finish().metered == b""


# -- what a trace lacks ------------------------------------------------------------------------------------------------


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
        patched.setattr(asked, "MOST_ROWS", 490)
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


# -- what happens in no run of the simulator ---------------------------------------------------------------------------


def event(kind: str, message: str = "publish", peer: str = "b2", **told: int) -> Event:
    row = event_row("b1", 1, kind, peer, message={"kind": message, "id": "x"}, **told)
    return read_event(row, STRICT)


def test_events_by_hand() -> None:
    """Samples are 10 apart. What tells no time has its step's; what was lost was taken; a broker may begin again."""
    meter = Meter(10, 0, {"b2": 2}, most=4)
    for each, table in [
        (event("receive", time=3), 5),
        (event("send"), 5),
        (event("deliver", peer="c"), 5),
        (event("send", peer="b9", time=4), 5),  # to no neighbour
        (event("drop", time=12), 5),
        (event("client", "unsubscribe", time=15, issued=8, done=14), 4),
        (event("note", time=99), 4),
        (event("restart", time=25), 0),
    ]:
        meter.look(each, table)
    with pytest.raises(UsageError, match='no "time"'):
        meter.look(event("send"), 0)  # of no step
    counted = meter.finish()
    told = {
        stretch: {name: n for name, n in zip(COUNTS, row, strict=True) if n} for stretch, row in counted.counts.items()
    }
    assert told == {
        1: {"publish": 1, "busy": 1, "delivered": 1, "taken": 1, "arrived": 1},
        2: {"unsubscribe": 1, "taken": 2},
        3: {},
    }
    assert counted.arrived == {2: {1: 1}}
    assert counted.tables == {1: (4, 5), 2: (15, 4), 3: (25, 0)}
    assert (counted.earliest, counted.latest, counted.endless) == (3, 25, 0)


def test_a_step_that_nobody_saw_end() -> None:
    for told in ([event("receive", time=3)], [event("receive", time=3), event("send")]):
        meter = Meter(10, 0, {"b2": 2}, most=4)
        for each in told:
            meter.look(each, 0)
        assert meter.finish().endless == 1


# -- delays ------------------------------------------------------------------------------------------------------------


def test_quantiles_and_buckets_are_the_simulators() -> None:
    rng = random.Random(1)
    pairs = [(rng.randrange(5 * SECOND), rng.choice([0, 1, 1_000, 1_001, rng.randrange(10**12)])) for _ in range(500)]
    samples = Samples.of(SECOND, min(pairs)[0], max(pairs)[0])
    told = windows_of([b"".join(n.to_bytes(8, "little") for n in pair) for pair in pairs], samples)
    for row, (count, *quantiles) in told.rows.items():
        before = -1 if row == 0 else samples.time(row - 1)
        mine = sorted(delay for time, delay in pairs if before < time <= samples.time(row))
        assert [count, *quantiles] == [len(mine), *(quantile(mine, share) for share in (0.5, 0.9, 0.99, 1.0))]
    expected = [(b.above, b.most, b.count) for b in histogram([delay for _, delay in pairs])]
    assert list(buckets([told.histogram])) == expected
    assert list(buckets([{}, {}])) == []


@pytest.mark.parametrize(
    ("earliest", "latest", "times"),
    [(0, 0, [0]), (0, 10, [10]), (3, 25, [10, 20, 25]), (10, 30, [20, 30]), (10, 31, [20, 30, 31]), (7, 7, [7])],
)
def test_samples_are_where_the_simulators_are(earliest: int, latest: int, times: list[int]) -> None:
    samples = Samples.of(10, earliest, latest)
    assert [samples.time(row) for row in range(samples.count)] == times
