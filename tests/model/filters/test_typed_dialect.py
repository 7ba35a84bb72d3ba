"""A dialect from outside that keeps the types of numbers, and whose advertisements list all attributes that there are.

Every question is decided a second time on the events that there can be of two attributes with few values, in the model,
in the judge's index and in the reference implementation's.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.validate.broker.canonical import canonical_in_trace, digest
from routeproof.checker.validate.fast.buckets import Group
from routeproof.checker.validate.fast.index import BothKinds, covers, overlaps
from routeproof.impl.index.filter_index import CoveredIndex, FilterIndex
from routeproof.impl.index.profile import profile_of, spans_of
from routeproof.impl.tcp.codec import Codec
from routeproof.model.filters import STRICT, Dialect, Event, FilterError, PredicateDialect, PredicateFilter, dialect
from routeproof.model.filters.sets import ABSENT, PRESENT, ValueSet, only
from routeproof.model.messages import Advertise
from routeproof.model.plugins import VARIABLE
from routeproof.traces import decode
from tests.checker.command import Here
from tests.kit.own import TYPED as PLUGIN

[TYPED] = PLUGIN.dialects
VALUES = (None, 3, 4, 5, 6, 3.5, 4.0, 5.0, 6.5, "5")
CONDITIONS: tuple[Sequence[object], ...] = (
    ["=", 5],
    ["=", 5.0],
    ["=", "5"],
    *([operator, constant] for operator, constant in product(("<", ">=", "!="), (5, 5.0))),
)
RAW: list[list[list[object]]] = [
    [],
    *([["x", *one]] for one in CONDITIONS),
    *([["y", *one]] for one in CONDITIONS[:3]),
    *([["x", *one], ["y", *other]] for one, other in product(CONDITIONS[:5], CONDITIONS[:2])),
    [["x", ">=", 4], ["x", "<", 6]],
    [["x", ">=", 4.0], ["x", "<", 6.0]],
]


def events() -> list[Event]:
    found = [{"x": x, "y": y, "z": z} for x in VALUES for y in VALUES for z in (None, 1)]
    return [TYPED.event({name: value for name, value in each.items() if value is not None}) for each in found]


def filters() -> Iterator[PredicateFilter]:
    for raw in RAW:
        yield TYPED.parse(raw)
        yield TYPED.advertisement(raw)


def matched(f: PredicateFilter) -> frozenset[Event]:
    """The events that it lets through; only an open filter does with the attribute z, which none mentions."""
    return frozenset(event for event in events() if f.matches(event))


def test_five_and_five_point_zero_are_two_constants() -> None:
    five, float_five = TYPED.parse([["x", "=", 5]]), TYPED.parse([["x", "=", 5.0]])
    assert five != float_five
    assert five.matches(TYPED.event({"x": 5}))
    assert not five.matches(TYPED.event({"x": 5.0}))
    assert TYPED.event({"x": 5}) != TYPED.event({"x": 5.0})
    assert not five.overlaps(float_five)
    assert STRICT.parse([["x", "=", 5]]) == STRICT.parse([["x", "=", 5.0]])
    with pytest.raises(FilterError, match=r"cannot be = 5 and = 5\.0"):
        TYPED.parse([["x", "=", 5], ["x", "=", 5.0]])


def test_what_is_written_is_read_again() -> None:
    for raw in RAW:
        assert TYPED.parse(json.loads(json.dumps(TYPED.parse(raw).to_json()))) == TYPED.parse(raw)
    event = TYPED.event({"x": 5.0, "y": 5})
    assert json.dumps(event.to_json() if not isinstance(event, int) else None) == '{"x": 5.0, "y": 5}'


def test_an_advertisement_lists_all_attributes() -> None:
    promised, asked = TYPED.advertisement([["x", ">=", 4]]), TYPED.parse([["y", "=", 5]])
    assert not promised.overlaps(asked)
    assert not asked.overlaps(promised)
    assert TYPED.parse([["x", ">=", 4]]).overlaps(asked)
    assert not promised.matches(TYPED.event({"x": 5, "y": 5}))
    assert TYPED.parse([["x", ">=", 4]]).covers(promised)
    assert not promised.covers(TYPED.parse([["x", ">=", 4]]))
    assert STRICT.advertisement([["x", ">=", 4]]) == STRICT.parse([["x", ">=", 4]])


def test_every_answer_is_exact() -> None:
    """An event decides: all that concern these filters are among the events here."""
    for one, other in product(filters(), repeat=2):
        mine, theirs = matched(one), matched(other)
        assert one.covers(other) == (theirs <= mine), (str(one), one.rest, str(other), other.rest)
        assert one.overlaps(other) == bool(mine & theirs), (str(one), one.rest, str(other), other.rest)
        assert (one == other) == (mine == theirs)
        assert covers(one, other) == one.covers(other)
        assert overlaps(one, other) == one.overlaps(other)


def test_advertisements_that_promise_one_value_of_what_they_do_not_mention() -> None:
    """Decided by all events of three attributes, one of which no filter mentions."""
    odd = PredicateDialect("odd", STRICT.meaning, unmentioned=ValueSet(numbers=only(5)).or_missing())
    conditions = (["=", 5], ["=", 6], ["!=", 6], ["present"])
    raws = [[], *([["x", *one]] for one in conditions), *([["y", *one]] for one in conditions[1:3])]
    raws += [[["x", *one], ["y", *other]] for one, other in product(conditions[::2], conditions[1:3])]
    held = [read(raw) for raw in raws for read in (odd.parse, odd.advertisement)]
    tables = [dict(zip("xyz", each, strict=True)) for each in product((None, 5, 6, 7, "w"), repeat=3)]
    asked = [odd.event({name: value for name, value in each.items() if value is not None}) for each in tables]
    found = {f: frozenset(event for event in asked if f.matches(event)) for f in held}
    for one, other in product(held, repeat=2):
        assert one.covers(other) == (found[other] <= found[one]), (str(one), one.rest, str(other), other.rest)
        assert one.overlaps(other) == bool(found[one] & found[other]), (str(one), one.rest, str(other), other.rest)


def test_indexes_answer_as_the_filters_do() -> None:
    held = list(dict.fromkeys(filters()))
    judges, by_profile, covered = BothKinds(), FilterIndex(), CoveredIndex()
    groups = {f: Group(f) for f in held}
    for f in held:
        judges.add(groups[f])
        by_profile.add(profile_of(f))
        covered.add(profile_of(f))
    for asked in held:
        profile = profile_of(asked)
        expected = [{f for f in held if f.covers(asked)}, {f for f in held if f.overlaps(asked)}]
        assert [{g.filter for g in found} for found in (judges.covering(asked), judges.overlapping(asked))] == expected
        found = by_profile.covering(profile), by_profile.overlapping(profile)
        assert [{p.filter for p in some} for some in found] == expected
        below = {f for f in held if asked.covers(f)}
        assert {g.filter for g in judges.covered(asked)} == below
        assert {p.filter for p in covered.covered(profile)} == below
    for event in events():
        matching = {f for f in held if f.matches(event)}
        assert {g.filter for g in judges.matching(event)} == matching
        assert {p.filter for p in by_profile.matching(event, spans_of(event))} == matching
    for f in held[::2]:
        judges.remove(groups[f])
        by_profile.remove(profile_of(f))
        covered.remove(profile_of(f))
    assert {g.filter for g in judges.covering(held[-1])} == {f for f in held[1::2] if f.covers(held[-1])}


def test_what_is_not_mentioned_may_be_missing() -> None:
    with pytest.raises(FilterError, match="may be missing"):
        PredicateDialect("odd", lambda *_: PRESENT, unmentioned=PRESENT)
    assert isinstance(PredicateDialect("even", lambda *_: PRESENT, unmentioned=ABSENT), Dialect)


# -- by name -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "tests.kit.own:TYPED")


@pytest.mark.usefixtures("named")
def test_it_is_known_by_its_name() -> None:
    assert dialect("typed") is TYPED
    advertise = {"kind": "advertise", "id": "a", "filter": [["x", "=", 5]]}
    one, other = decode(advertise, TYPED), decode({**advertise, "filter": [["x", "=", 5.0]]}, TYPED)
    assert one != other
    assert digest(canonical_in_trace(one)) != digest(canonical_in_trace(other))
    subscribe = decode({**advertise, "kind": "subscribe"}, TYPED)
    assert one.items[0].filter == TYPED.advertisement([["x", "=", 5]])
    assert subscribe.items[0].filter == TYPED.parse([["x", "=", 5]])
    read = Codec(TYPED).from_client(advertise)
    assert isinstance(read, Advertise)
    assert read.advertisement.filter == TYPED.advertisement([["x", "=", 5]])


def _rows(attributes: dict[str, Any], *, forwards: bool) -> list[dict[str, Any]]:
    """Two brokers: an advertisement of x, and a subscription to it with a float, under a whole number."""
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "overlay": [["n", "s"]]}
    advertise = {"kind": "advertise", "id": "a", "filter": [["x", ">=", 4]]}
    subscribe = {"kind": "subscribe", "id": "s1", "filter": [["x", "=", 5.0]]}
    publish = {"kind": "publish", "id": "p", "of": "a", "attributes": attributes}
    told = [
        ("n", "client", "feed", advertise),
        ("n", "send", "s", advertise),
        ("s", "receive", "n", advertise),
        ("s", "client", "desk", subscribe),
        *([("s", "send", "n", subscribe), ("n", "receive", "s", subscribe)] if forwards else []),
        ("n", "client", "feed", publish),
        *([("n", "send", "s", publish), ("s", "receive", "n", publish)] if forwards else []),
        *([("s", "deliver", "desk", {**publish, "to": "s1"})] if forwards else []),
        ("s", "client", "desk", {"kind": "unsubscribe", "id": "s1"}),
        *([("s", "send", "n", {"kind": "unsubscribe", "id": "s1"})] if forwards else []),
        ("n", "client", "feed", {"kind": "unadvertise", "id": "a"}),
    ]
    seqs = {"n": 0, "s": 0}
    rows: list[dict[str, Any]] = [header]
    for broker, event, peer, message in told:
        seqs[broker] += 1
        rows.append({"broker": broker, "seq": seqs[broker], "event": event, "peer": peer, "message": message})
    return rows


def test_a_trace_is_judged_by_a_dialect_from_outside(here: Here) -> None:
    """In `strict`, 5.0 is 5, so the subscription has to be forwarded; in `typed` it overlaps no advertisement."""

    def judged(name: str, *, forwards: bool) -> int:
        rows = _rows({"x": 5}, forwards=forwards)
        rows[0]["dialect"] = name
        here.write("t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        return here("validate", "t.jsonl", "--protocol", "tests.kit.own:TYPED").code

    assert judged("typed", forwards=False) == 3  # the last step may be unfinished
    assert judged("typed", forwards=True) == 1
    assert judged("strict", forwards=False) == 1


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    monkeypatch.setenv(VARIABLE, "")
    return Here(tmp_path, monkeypatch, capsys)


def test_a_dialect_that_nobody_brings_is_refused(here: Here) -> None:
    rows = _rows({"x": 5}, forwards=False)
    rows[0]["dialect"] = "typed"
    path = here.write("t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    ran = here("validate", path)
    assert (ran.code, "typed" in ran.err, ran.err.count("\n")) == (2, True, 1)
