"""Snapshots: the model's tables out and back in, and what others may leave out."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from msgspec import Raw

from routeproof.model.filters import STRICT, EventSet
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import LOCAL
from routeproof.model.tables import Tables
from routeproof.traces import (
    Entry,
    Event,
    TraceError,
    TraceTables,
    TraceWriter,
    broker_name,
    encode_tables,
    read_trace,
)
from routeproof.traces.fields import json_text
from routeproof.traces.messages import meanings_of
from routeproof.traces.tables import read_tables

ALL = EventSet.of([0, 1])
A = Advertisement(0, "a", ALL)
S, T = Subscription(1, "S", ALL), Subscription(0, "T", EventSet.of([1]))
TABLES = Tables().with_adv(A, 3).with_sub(S, 1).with_sub(T, LOCAL).with_sent(3, [S, T])


def read(raw: object) -> TraceTables:
    return read_tables(json_text(raw), meanings_of(STRICT))


def test_there_and_back() -> None:
    raw = encode_tables(TABLES, broker_name)
    assert raw == {
        "advs": [{"id": "a", "from": "b3", "filter": [0, 1]}],
        "subs": [{"id": "T", "filter": [1]}, {"id": "S", "from": "b1", "filter": [0, 1]}],
        "sent": {"b3": ["T", "S"]},
    }
    assert read(raw) == TraceTables.of(TABLES, broker_name)
    assert read(raw).sent == (("b3", ("S", "T")),)


def test_filters_may_be_left_out() -> None:
    raw = encode_tables(TABLES, broker_name, filters=False)
    assert raw["subs"] == [{"id": "T"}, {"id": "S", "from": "b1"}]
    assert read(raw) == TraceTables.of(TABLES, broker_name).without_filters()
    assert read(raw) != TraceTables.of(TABLES, broker_name)


def test_what_is_not_told_is_not_empty() -> None:
    assert read({}) == TraceTables(None, None, None)
    assert read({}).without_filters() == TraceTables(None, None, None)
    assert read({"subs": [], "sent": {"b1": []}}) == TraceTables(None, (), ())


def test_order_is_no_difference() -> None:
    one = {"subs": [{"id": "s"}, {"id": "t", "from": "b1"}], "sent": {"b1": ["s", "t"], "b2": ["t"]}}
    two = {"sent": {"b2": ["t"], "b1": ["t", "s"], "b3": []}, "subs": [{"id": "t", "from": "b1"}, {"id": "s"}]}
    assert read(one) == read(two)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (7, "Expected `object`, got `int`"),
        ({"subs": {}}, "Expected `array`, got `object` - at `$.subs`"),
        ({"subs": [{"from": "b1"}]}, "missing required field `id` - at `$.subs[0]`"),
        ({"subs": [{"id": ""}]}, "Expected `str` of length >= 1 - at `$.subs[0].id`"),
        ({"advs": [{"id": "a", "filter": [["x", "~", 1]]}]}, "operator '~' is unknown"),
        ({"advs": [{"id": "a"}, {"id": "b"}, {"id": "a", "from": "b1"}]}, '"a" is twice in "advs"'),
        ({"sent": {"b1": [1]}}, "Expected `str`, got `int`"),
        ({"sent": [["b1", "s"]]}, "Expected `object`, got `array` - at `$.sent`"),
    ],
)
def test_what_cannot_be_read(raw: object, said: str) -> None:
    with pytest.raises(TraceError) as caught:
        read(raw)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_that_is_no_json() -> None:
    with pytest.raises(TraceError, match="not JSON: "):
        read_tables(Raw(b"{"), meanings_of(STRICT))
    with pytest.raises(TraceError, match="nested too deeply"):
        read_tables(Raw(b'{"x":' * 100_000), meanings_of(STRICT))


def test_in_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with TraceWriter(path, "r", overlay=[(1, 2), (2, 3)]) as writer:
        writer.event("b2", "snapshot", tables=TABLES)
        writer.event("b2", "snapshot", tables={"subs": [{"id": "S", "from": "b1"}]})
        writer.event("b2", "snapshot", tables={"subs": [{"id": "S"}, {"id": "S"}]})
        writer.event("b2", "crash")
    one, two, three = read_trace(path).events
    assert one.tables == TraceTables.of(TABLES, broker_name)
    assert two.tables == TraceTables(subs=(Entry("S", "b1"),))
    assert three.tables is None
    assert [bad.number for bad in read_trace(path).bad] == [4]


def test_equal_snapshots() -> None:
    def event(raw: object) -> Event:
        return Event("b1", 1, "snapshot", tables_text=json_text(raw), meanings=meanings_of(STRICT))

    assert event({"subs": [{"id": "s"}, {"id": "t"}]}) == event({"subs": [{"id": "t"}, {"id": "s"}]})
    assert event({"subs": [{"id": "s"}]}) != event({"subs": []})
    assert event({"subs": 7}) == event({"subs": 7})
    assert event({"subs": 7}) != event({"subs": 8})
    assert evolve(Entry("s"), hop="b1") != Entry("s")
