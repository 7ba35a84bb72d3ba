"""Metrics recomputed from a trace are the simulator's own, however it is cut."""

import json
import random
from pathlib import Path

import pytest

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import setting_of
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.findings import PartResult
from routeproof.checker.validate.metrics import COUNTS, Measured, Meter, measured, part_of
from routeproof.checker.validate.metrics.files import NEEDS
from routeproof.checker.validate.metrics.series import Moments as Samples
from routeproof.checker.validate.metrics.series import Series, buckets, gathered, windows_of
from routeproof.impl.observers import COUNTED, DELAYS, MOMENTARY, OBSERVES, Metrics, Recorder, histogram, quantile
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import MILLISECOND, SECOND, Costs, Network, Simulator
from routeproof.impl.workloads import workload
from routeproof.model.filters import STRICT
from routeproof.traces import Event, TraceWriter, broker_name, event_row, open_trace
from routeproof.traces.format import read_event
from tests.checker.validate.metered import WORKLOADS, Row, columns, recomputed, simulated, written

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


def parts_of(setting: Measured, trace: Path, *, cut: bool) -> list[list[PartResult]]:
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
