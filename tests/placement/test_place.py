"""`place` against the definitions, on drawn traces: costs at every broker, and each algorithm's choice."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.placement import joining, reading
from routeproof.checker.placement.choosing import MeanDelays, Wish
from routeproof.checker.placement.engines import PlacementAnswer, place
from routeproof.checker.placement.report import as_json
from routeproof.checker.validate.spark import lines
from routeproof.impl.placement.decisions import Metric, choose
from routeproof.model.overlay import LOCAL, Node
from routeproof.spec.placement import Delays, hops, mean_delay, message_rate
from routeproof.traces import to_parquet
from tests.campaigns import drawn as drawn_share
from tests.placement.traces import Drawn, drawn, name, pop_by_messages

METRICS: tuple[Metric, ...] = ("load", "delay")


def modest(share: float, examples: int = 60) -> settings:
    return settings(derandomize=True, deadline=None, max_examples=round(examples * share))


def placed(trace: Drawn, wish: Wish, form: str = ".jsonl") -> PlacementAnswer:
    with tempfile.TemporaryDirectory() as folder:
        path = trace.write(Path(folder) / "trace.jsonl")
        if form == ".parquet":
            to_parquet(path, path.with_suffix(form))
        return place(path.with_suffix(form), wish)


def by_definition(trace: Drawn, of: str, at: Node) -> dict[Node, tuple[int, float, float]]:
    """For each broker the message rate, the delay and the hops in sum, if the publisher were there."""
    mine = trace.of_publisher(of, at)
    deliveries = {b: {i: p.delivered[b] for i, p in enumerate(mine) if b in p.delivered} for b in trace.overlay.brokers}
    weights = {b: float(sum(counts.values())) for b, counts in deliveries.items()}
    ways = {(b, n) for b in trace.overlay.brokers for n in (LOCAL, *trace.overlay.neighbours(b))}
    delays = Delays({way: float(_delay(trace, way)) for way in ways})
    many = sum(weights.values())
    return {
        b: (
            message_rate(trace.overlay, deliveries, b),
            many * mean_delay(trace.overlay, deliveries, delays, b),
            hops(trace.overlay, weights, b),
        )
        for b in trace.overlay.brokers
    }


def _delay(trace: Drawn, way: tuple[Node, Node]) -> int:
    """What the trace shows of a delay: measured in this direction, in the other, or the mean of all edges."""
    used = {(trace.rows[i]["peer"], trace.rows[i]["broker"]) for i in _receipts(trace)}
    near, far = way
    if far == LOCAL:
        shown = any(near in p.delivered for p in trace.publications)
        return trace.delays[way] if used and trace.delays and shown else 0
    if not used or not trace.delays:
        return 1
    if (name(near), name(far)) in used:
        return trace.delays[way]
    if (name(far), name(near)) in used:
        return trace.delays[far, near]
    crossed = [trace.delays[int(a[1:]), int(b[1:])] for a, b in _crossings(trace)]
    return sum(crossed) // len(crossed)


def _receipts(trace: Drawn) -> Iterator[int]:
    return (i for i, row in enumerate(trace.rows) if row["event"] == "receive")


def _crossings(trace: Drawn) -> list[tuple[str, str]]:
    return [(trace.rows[i]["peer"], trace.rows[i]["broker"]) for i in _receipts(trace)]


@drawn_share(0.4)
def test_costs_and_choices_are_those_of_the_definitions(share: float) -> None:
    weights = st.sampled_from([0.0, 30.0, 50.0, 75.0, 100.0])
    modest(share)(given(drawn(), st.sampled_from(METRICS), weights)(_compare_costs_and_choices))()


def _compare_costs_and_choices(trace: Drawn, metric: Metric, weight: float) -> None:
    found = placed(trace, Wish(metric, weight))
    expected = {(p.of, p.at) for p in trace.publications}
    assert {(p.key[1], p.key[2] + 1) for p in found.publishers} == {(b"a" + of.encode(), at) for of, at in expected}
    for publisher in found.publishers:
        of, at = publisher.key[1][1:].decode(), publisher.key[2] + 1
        costs = by_definition(trace, of, at)
        for choice in publisher.choices:
            rate, delay, in_hops = costs[choice.target + 1]
            assert (choice.messages, choice.hops) == (rate, in_hops)
            assert choice.delay == pytest.approx(delay)
        now, pop, grape, best = (choice.target + 1 for choice in publisher.choices)
        mine = trace.of_publisher(of, at)
        assert now == at
        assert pop == pop_by_messages(trace.overlay, mine, at)
        reached = {b for p in mine for d in p.delivered for b in trace.overlay.path(at, d)} | {at}
        rates, delays = ({b: costs[b][which] for b in sorted(reached)} for which in (0, 1))
        assert grape == choose(rates, {b: float(round(d)) for b, d in delays.items()}, metric, weight)
        which = 0 if metric == "load" else 1
        assert costs[best][which] == pytest.approx(min(cost[which] for cost in costs.values()))


@drawn_share(0.4)
def test_loads_are_the_messages_that_brokers_take(share: float) -> None:
    modest(share)(given(drawn())(_compare_loads))()


def _compare_loads(trace: Drawn) -> None:
    found = placed(trace, Wish())
    loads = found.loads[b"r"].by_algorithm["now"]
    for broker in trace.overlay.brokers:
        receipts = sum(row["event"] == "receive" and row["broker"] == name(broker) for row in trace.rows)
        made = sum(p.at == broker and bool(p.delivered) for p in trace.publications)
        assert loads[broker - 1] == receipts + made
    for number, algorithm in enumerate(("now", "pop", "grape", "brute force")):
        assert sum(found.loads[b"r"].by_algorithm[algorithm]) == sum(
            p.choices[number].messages for p in found.publishers
        )


@pytest.mark.parametrize("form", [".jsonl", ".parquet"])
@drawn_share(0.5)
def test_the_answer_does_not_depend_on_how_the_trace_is_cut(form: str, share: float) -> None:
    modest(share, 16)(given(st.just(form), drawn(), st.sampled_from(METRICS))(_compare_when_cut))()


def _compare_when_cut(form: str, trace: Drawn, metric: Metric) -> None:
    wish = Wish(metric, 60.0)
    whole = as_json(placed(trace, wish))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "PER_BUCKET", 4)
        patch.setattr(reading, "FLUSH", 3)
        patch.setattr(joining, "CELLS", 8)
        patch.setattr(lines, "LEAST", 400)
        cut = as_json(placed(trace, wish, form))
    assert {**cut, "trace": ""} == {**whole, "trace": ""}


def test_more_publications_than_pop_traces(tmp_path: Path) -> None:
    """The last hundred count: a publisher whose subscribers moved is where they are now."""
    rows = []
    for number in range(400):
        at = "b1" if number < 250 else "b3"
        message = {"kind": "publish", "id": f"p{number}", "of": "a"}
        rows += [
            {"broker": "b2", "seq": number, "event": "client", "message": message},
            {"broker": at, "seq": number, "event": "deliver", "peer": "c", "message": message},
        ]
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "overlay": [["b1", "b2"], ["b2", "b3"]]}
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [header, *reversed(rows)]))
    (publisher,) = place(path, Wish()).publishers
    assert [each.target for each in publisher.choices] == [1, 2, 0, 0]  # GRAPE and brute force: most messages ever


def test_two_that_publish_at_two_brokers_are_two_publishers(tmp_path: Path) -> None:
    rows = [
        {"broker": b, "seq": 1, "event": "client", "peer": "P", "message": {"kind": "publish", "id": f"p{b}"}}
        for b in ("b1", "b2")
    ]
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "overlay": [["b1", "b2"]]}
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [header, *rows]))
    found = place(path, Wish()).publishers
    assert [(p.key[1], p.key[2], p.publications, p.deliveries) for p in found] == [(b"cP", 0, 1, 0), (b"cP", 1, 1, 0)]
    assert [c.target for p in found for c in p.choices] == [0] * 4 + [1] * 4  # nothing is delivered: nobody moves


def test_large_delays_are_added_up_exactly() -> None:
    """A sum of delays beyond 64 bits, and an edge that nothing crossed."""
    one = joining.LONGEST - 1
    many = 1 << 20
    entry, high, low, count = ([2], [(one >> joining.HALF) * many], [(one & ((1 << joining.HALF) - 1)) * many], [many])
    columns = (joining.bytes_of(np.array(each)) for each in (entry, high, low, count))
    found = MeanDelays.of(2, [joining.DelaySums(b"r", *columns)] * 8)
    assert found.unit == "ns"
    assert (found.down.tolist(), found.up.tolist(), found.local.tolist()) == ([one, one], [one, one], [0, 0])
