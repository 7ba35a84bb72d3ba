"""Whatever arrives, the answer is a filter, an event, or one line that says what was found and what was expected."""

import datetime as dt
import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.filters import DIALECTS, EVENTS, STRICT, Dialect, FilterError, dialect
from routeproof.model.filters.interface import LONGEST, shown

ALL_OPERATORS = "= != < <= > >= prefix suffix contains present integer"

FILTERS: list[tuple[object, str]] = [
    (None, "a filter: found null; expected a list of predicates"),
    (5, "a filter: found 5; expected a list of predicates"),
    ("x > 1", 'a filter: found "x > 1"; expected a list of predicates'),
    ({"x": 1}, "a filter: found a table; expected a list of predicates"),
    ({1, 2}, "a filter: found a value of type set; expected a list of predicates"),
    ([["x", "=", 1]] * 65, "a filter: found 65 predicates; expected at most 64"),
    ([0, 1], "predicate 1: found 0; expected [attribute, operator, constant] or [attribute, operator]"),
    (["abc"], 'predicate 1: found "abc"; expected [attribute, operator, constant] or [attribute, operator]'),
    ([[]], "predicate 1: found a list of length 0; expected [attribute, operator, constant] or [attribute, operator]"),
    (
        [["x", "=", 1], ["x", "=", 1, 2]],
        "predicate 2: found a list of length 4; expected [attribute, operator, constant] or [attribute, operator]",
    ),
    (
        [["x", "=", 1], ["x", "~", 1]],
        f"predicate 2: operator '~' is unknown; expected one of {ALL_OPERATORS}",
    ),
    ([["x", "\n", 1]], f"predicate 1: operator '\\n' is unknown; expected one of {ALL_OPERATORS}"),
    ([["x", "="]], "predicate 1: operator = takes a string or a number or a boolean; found no constant"),
    ([["x", "prefix", 1]], "predicate 1: operator prefix takes a string; found 1"),
    ([["x", "<", True]], "predicate 1: operator < takes a string or a number; found true"),
    ([["x", "present", True]], "predicate 1: operator present takes no constant; found true"),
    ([["x", "integer", 1]], "predicate 1: operator integer takes no constant; found 1"),
    ([["x", 1, 2]], "predicate 1: found 1 as the operator; expected a string"),
    ([["x", None, 2]], "predicate 1: found null as the operator; expected a string"),
    ([["x", ["="], 2]], "predicate 1: found a list as the operator; expected a string"),
    ([[1, "=", 2]], "predicate 1: found 1 as an attribute; expected its name, a string"),
    ([[["x"], "=", 2]], "predicate 1: found a list as an attribute; expected its name, a string"),
    ([["", "=", 2]], "predicate 1: found a name of 0 characters as an attribute; expected 1 to 256"),
    ([["x" * 257, "=", 2]], "predicate 1: found a name of 257 characters as an attribute; expected 1 to 256"),
    ([["x", "=", None]], "predicate 1: constant: found null; expected a string, a boolean or a number"),
    ([["x", "present", None]], "predicate 1: constant: found null; expected a string, a boolean or a number"),
    ([["x", "=", [1]]], "predicate 1: constant: found a list; expected a string, a boolean or a number"),
    ([["x", "=", {}]], "predicate 1: constant: found a table; expected a string, a boolean or a number"),
    (
        [["x", "=", b"a"]],
        "predicate 1: constant: found a value of type bytes; expected a string, a boolean or a number",
    ),
    (
        [["x", "=", dt.date(2024, 1, 1)]],
        "predicate 1: constant: found a value of type date; expected a string, a boolean or a number",
    ),
    ([["x", "=", math.nan]], "predicate 1: constant: found nan; expected a finite number"),
    ([["x", "<", -math.inf]], "predicate 1: constant: found -inf; expected a finite number"),
    (json.loads('[["x", "=", 1e400]]'), "predicate 1: constant: found inf; expected a finite number"),
    ([["x", "=", 10**5000]], "predicate 1: constant: found an integer of 16610 bits; expected at most 8192 bits"),
    ([["x", "=", "a" * 1025]], "predicate 1: constant: found a string of 1025 characters; expected at most 1024"),
]

EVENT_TABLES: list[tuple[object, str]] = [
    (None, "an event: found null; expected a table of attributes"),
    (3, "an event: found 3; expected a table of attributes"),
    ([["x", 1]], "an event: found a list; expected a table of attributes"),
    ({1: 2}, "an event: found 1 as an attribute; expected its name, a string"),
    ({"": 2}, "an event: found a name of 0 characters as an attribute; expected 1 to 256"),
    ({"x": None}, "an event: attribute 'x': found null; expected a string, a boolean or a number"),
    ({"x": {}}, "an event: attribute 'x': found a table; expected a string, a boolean or a number"),
    ({"a\nb": []}, "an event: attribute 'a\\nb': found a list; expected a string, a boolean or a number"),
    ({"x": math.nan}, "an event: attribute 'x': found nan; expected a finite number"),
    ({"x": -(10**5000)}, "an event: attribute 'x': found an integer of 16610 bits; expected at most 8192 bits"),
    (
        {"x": "a" * (2**20 + 1)},
        "an event: attribute 'x': found a string of 1048577 characters; expected at most 1048576",
    ),
    (dict.fromkeys(map(str, range(1025)), 0), "an event: found 1025 attributes; expected at most 1024"),
]


@pytest.mark.parametrize(("raw", "message"), FILTERS)
def test_a_malformed_filter_is_refused(raw: object, message: str) -> None:
    with pytest.raises(FilterError) as refusal:
        STRICT.parse(raw)
    assert str(refusal.value) == message


@pytest.mark.parametrize(("raw", "message"), EVENT_TABLES)
def test_a_malformed_event_is_refused(raw: object, message: str) -> None:
    with pytest.raises(FilterError) as refusal:
        STRICT.event(raw)
    assert str(refusal.value) == message


def test_what_is_as_large_as_may_be_is_read() -> None:
    assert len(STRICT.parse([["x", "!=", n] for n in range(64)]).written) == 64
    assert len(STRICT.parse([["x", "=", "a" * 1024], ["y", "=", 2**8192 - 1], ["z" * 256, "present"]]).written) == 3
    assert len(STRICT.event({"x": "a" * 2**20, "y": -(2**8192) + 1}).pairs) == 2
    assert len(STRICT.event(dict.fromkeys(map(str, range(1024)), 0)).pairs) == 1024


def test_no_more_is_left_out_than_must_be() -> None:
    """Of conditions in a message, of the digits of a number, of the characters of a text."""
    raw: list[object] = [["x", "integer"], ["x", ">=", 1], ["x", "<=", 5], *(["x", "!=", n] for n in range(1, 6))]
    with pytest.raises(FilterError, match=r"cannot be integer and >= 1 and <= 5 and != 1 .* and != 5$"):
        STRICT.parse(raw)
    longest, longer = 2 ** (3 * LONGEST) - 1, 2 ** (3 * LONGEST)
    assert [shown(longest), shown(longer)] == [str(longest), f"an integer of {3 * LONGEST + 1} bits"]
    assert [shown("a" * LONGEST), shown("a" * (LONGEST + 1))] == [f'"{"a" * LONGEST}"', f'"{"a" * LONGEST}..."']


def nested(depth: int) -> object:
    raw: object = "x"
    for _ in range(depth):
        raw = [raw, "=", raw]
    return raw


def recursive() -> list[object]:
    raw: list[object] = []
    raw.append(raw)
    return raw


@pytest.mark.parametrize("raw", [nested(1), nested(2), nested(100), recursive(), [recursive()], [[recursive()] * 3]])
def test_depth_is_no_danger(raw: object) -> None:
    with pytest.raises(FilterError):
        STRICT.parse(raw)


def test_a_lone_surrogate_is_a_code_point_like_any_other() -> None:
    f = STRICT.parse([["\ud800", ">=", "\ud800"]])
    assert f.matches(STRICT.event({"\ud800": "\udfff"}))
    with pytest.raises(FilterError) as refusal:
        STRICT.parse([["\ud800", "prefix", "\ud800"], ["\ud800", "<", "\ud800"]])
    assert str(refusal.value).isascii()


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers().map(lambda number: number << 9000)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=2)
    | st.sampled_from([*ALL_OPERATORS.split(), "x", "y"])
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=3), max_leaves=20
)
nearly = st.lists(
    st.tuples(st.sampled_from(["x", "y"]) | scalars, st.sampled_from(ALL_OPERATORS.split()) | scalars)
    | st.tuples(st.sampled_from(["x", "y"]), st.sampled_from(ALL_OPERATORS.split()), scalars),
    max_size=4,
)
fuzzed = settings(derandomize=True, max_examples=400, deadline=None)


def answers(read: Callable[[object], object], raw: object) -> None:
    try:
        read(raw)
    except FilterError as refusal:
        message = str(refusal)
        assert 0 < len(message) < 400
        assert message.isprintable()


@fuzzed
@given(anything | nearly | nearly.map(list))
def test_anything_is_answered(raw: object) -> None:
    for known in DIALECTS.values():
        answers(known.parse, raw)
        answers(known.event, raw)


@fuzzed
@given(st.dictionaries(st.text(max_size=2) | scalars, scalars, max_size=4))
def test_any_table_is_answered(raw: object) -> None:
    answers(STRICT.event, raw)


def test_dialects_are_found_by_name() -> None:
    assert dialect("strict") is STRICT
    assert dialect("events") is EVENTS
    for name, known in DIALECTS.items():
        assert isinstance(known, Dialect)
        assert dialect(name) is known
        assert known.name == name


@pytest.mark.parametrize(
    ("name", "found"), [("loose", '"loose"'), ("", '""'), (None, "null"), (["strict"], "a list"), ("a\nb", '"a\\nb"')]
)
def test_an_unknown_dialect_names_the_known_ones(name: object, found: str) -> None:
    with pytest.raises(FilterError) as refusal:
        dialect(name)
    assert str(refusal.value) == f"dialect {found} is unknown; expected one of events, strict"
