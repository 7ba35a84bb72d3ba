"""The strict dialect by hand-picked cases, each one a trap that some implementation fell into or could."""

import sys

import pytest

from routeproof.model.filters import STRICT, Filter, FilterError, PredicateFilter

LAST = chr(sys.maxunicode)

Raw = list[list[object]]


def on_x(*conditions: object) -> Raw:
    """`on_x(">", 1, "integer")`: conditions on one attribute, without its name."""
    predicates: Raw = []
    rest = list(conditions)
    while rest:
        operator = rest.pop(0)
        predicates.append(["x", operator] if operator in ("present", "integer") else ["x", operator, rest.pop(0)])
    return predicates


# (wider, narrower): the first covers the second and not the other way round.
STRICTLY_COVERS = [
    # numbers
    (on_x(">", 1), on_x(">=", 2, "integer")),
    (on_x(">=", 1), on_x(">", 1)),
    (on_x("!=", 3), on_x(">", 3)),
    (on_x(">", 1), on_x(">", 1, "!=", 5)),
    (on_x("integer"), on_x("=", 7)),
    (on_x("!=", 1.5), on_x("integer")),
    (on_x(">", 0, "<", 3), on_x(">=", 1, "<=", 2)),
    (on_x(">", 2**53), on_x(">", 2**53, "integer")),
    # strings
    (on_x(">=", "ab"), on_x("prefix", "ab")),
    (on_x("prefix", "a"), on_x("prefix", "ab")),
    (on_x("contains", "b"), on_x("prefix", "abc")),
    (on_x("contains", "ab"), on_x("contains", "xaby")),
    (on_x("contains", "a"), on_x("suffix", "ca")),
    (on_x("suffix", "a"), on_x("suffix", "ba")),
    (on_x("contains", "a"), on_x(">=", "ab", "<", "ad")),
    (on_x("!=", "ab"), on_x("prefix", "abc")),
    (on_x("!=", ""), on_x("suffix", "z")),
    (on_x("<", "b"), on_x("prefix", "a" + LAST)),
    (on_x(">=", ""), on_x("prefix", "a")),
    (on_x("prefix", "ab", "suffix", "ba"), on_x("=", "aba")),
    (on_x("contains", "\0"), on_x(">=", "\0" + LAST, "<", "\1\1", "!=", "\1")),
    (on_x(">=", "a", "<=", "a\0\0"), on_x(">=", "a", "<=", "a\0\0", "!=", "a\0")),
    (on_x("!=", "a\0"), on_x(">=", "a", "<=", "a\0\0", "!=", "a\0")),
    # types, presence, further attributes
    (on_x("present"), on_x("!=", 0)),
    (on_x("present"), on_x("!=", "")),
    (on_x("present"), on_x("=", True)),
    (on_x("present"), on_x("integer")),
    (on_x("present"), [*on_x("present"), ["y", "present"]]),
    ([], on_x("present")),
    (on_x("=", 1), [*on_x("=", 1), ["y", "=", 2]]),
]

EQUAL = [
    # numbers
    (on_x(">", 1, "integer"), on_x(">=", 2, "integer")),
    (on_x(">", 1.5, "integer"), on_x(">=", 2, "integer")),
    (on_x(">=", 1, "!=", 1), on_x(">", 1)),
    (on_x(">=", 1, "<=", 3, "integer", "!=", 1, "!=", 2), on_x("=", 3)),
    (on_x("integer", "!=", 1.5), on_x("integer")),
    (on_x(">=", 2, "<=", 2), on_x("=", 2.0)),
    (on_x("=", 2, "integer"), on_x("=", 2)),
    (on_x("<", 5, "!=", 7), on_x("<", 5)),
    (on_x("integer", ">", 0, "<", 5, "!=", 1, "!=", 4), on_x("integer", ">=", 2, "<=", 3)),
    # strings
    (on_x("prefix", "ab"), on_x(">=", "ab", "<", "ac")),
    (on_x("prefix", "a" + LAST), on_x(">=", "a" + LAST, "<", "b")),
    (on_x("prefix", LAST), on_x(">=", LAST)),
    (on_x("prefix", ""), on_x(">=", "")),
    (on_x("prefix", ""), on_x("contains", "")),
    (on_x("prefix", ""), on_x("suffix", "")),
    (on_x(">", "a"), on_x(">=", "a\0")),
    (on_x("<=", "a"), on_x("<", "a\0")),
    (on_x(">=", "a", "<=", "a"), on_x("=", "a")),
    (on_x(">=", "a", "<=", "a\0\0", "!=", "a", "!=", "a\0\0"), on_x("=", "a\0")),
    (on_x("<=", "b", "!=", "b"), on_x("<", "b")),
    (on_x("<=", "b\0", "!=", "b\0", "!=", "b"), on_x("<", "b")),
    (on_x(">=", "a", "<=", "a\0\0", "!=", "a\0"), on_x(">=", "a", "<=", "a\0\0", "!=", "a\0", "!=", "c")),
    (on_x(">=", "a", "<", "a\1", "contains", "\0"), on_x("prefix", "a\0")),
    (on_x("<=", ""), on_x("=", "")),
    (on_x("!=", ""), on_x(">", "")),
    (on_x("prefix", "ab", "contains", "b"), on_x("prefix", "ab")),
    (on_x("suffix", "b", ">=", "\0"), on_x("suffix", "b")),
    (on_x("suffix", "b", "!=", "a"), on_x("suffix", "b")),
    (on_x("contains", "ab", "contains", "a"), on_x("contains", "ab")),
    (on_x("suffix", "ba", "suffix", "a"), on_x("suffix", "ba")),
    (on_x(">=", "a", "<=", "a\0\0", "suffix", "\0"), on_x(">=", "a\0", "<=", "a\0\0")),
    (on_x(">=", "\0" + LAST, "<", "\1\0\1", "contains", "\0"), on_x(">=", "\0" + LAST, "<", "\1\0\1", "!=", "\1")),
    # booleans, presence, order, repetition
    (on_x("!=", True), on_x("=", False)),
    (on_x("present", "=", 1), on_x("=", 1)),
    ([["a", "=", 1], ["b", "=", 2]], [["b", "=", 2], ["a", "=", 1], ["a", "=", 1.0]]),
]

OVERLAP_ONLY = [
    (on_x(">", 1), on_x("<", 2)),
    (on_x("integer"), on_x(">", 1)),
    (on_x("=", 1), [["y", "=", 1]]),
    (on_x("prefix", "a"), on_x("suffix", "a")),
    # All but finitely many words of the second contain U+0000; then one stretch more, and infinitely many do not.
    (on_x("contains", "\0"), on_x(">=", "\0" + LAST, "<", "\1\1")),
    (on_x("contains", "\0"), on_x(">=", "\0" + LAST, "<", "\1\2", "!=", "\1")),
    (on_x("contains", "\0"), on_x(">=", "\0" + LAST, "<", "\2\0\1", "!=", "\2")),
]

APART = [
    (on_x("=", 1), on_x("=", True)),
    (on_x("=", 0), on_x("=", False)),
    (on_x("=", 1), on_x("=", "1")),
    (on_x("!=", 1), on_x("!=", "1")),
    (on_x("!=", 1), on_x("!=", True)),
    (on_x(">", 1), on_x("<=", 1)),
    (on_x(">", 1, "<", 2), on_x("integer")),
    (on_x("=", 1.5), on_x("integer")),
    (on_x("prefix", "ab"), on_x("prefix", "ac")),
    (on_x("prefix", "ab"), on_x("<", "ab")),
    (on_x("=", "ab"), on_x("contains", "abc")),
    (on_x("suffix", "ab"), on_x("suffix", "bb")),
    (on_x(">=", "a", "<=", "a\0"), on_x("contains", "b")),
    (on_x("=", "STOCK"), on_x("=", "stock")),
    ([*on_x("=", 1), ["y", "=", 1]], [["y", "=", 2]]),
]

TOGETHER = [
    (on_x(">", 1), on_x("<", 2)),
    (on_x(">=", 1), on_x("<=", 1)),
    (on_x("!=", 1), on_x("!=", 2)),
    (on_x("prefix", "ab"), on_x("suffix", "ba")),
    (on_x(">=", "a", "<=", "a\0\0", "!=", "a\0"), on_x("!=", "a")),
    (on_x("prefix", "aba"), on_x("suffix", "ba", "<=", "aba")),
    (on_x("contains", "ab"), on_x("contains", "ba", "<", "abb")),
    (on_x("prefix", "a"), on_x("!=", "a")),
    (on_x("present"), on_x("=", True)),
    (on_x("=", 1), [["y", "=", "a"]]),
    ([], on_x("=", 1)),
]

MATCHES_NOTHING = [
    (on_x(">", 10, "<", 5), "the filter matches nothing: 'x' cannot be > 10 and < 5"),
    (on_x(">", 1, "present", "<", 2, "integer"), "the filter matches nothing: 'x' cannot be > 1 and < 2 and integer"),
    (on_x(">", 1, "<=", 1), "the filter matches nothing: 'x' cannot be > 1 and <= 1"),
    (on_x("=", 1, "!=", 1.0), "the filter matches nothing: 'x' cannot be = 1 and != 1.0"),
    (
        on_x("integer", ">=", 1, "<=", 2, "!=", 1, "!=", 2),
        "the filter matches nothing: 'x' cannot be integer and >= 1 and <= 2 and != 1 and != 2",
    ),
    (on_x("=", 1.5, "integer"), "the filter matches nothing: 'x' cannot be = 1.5 and integer"),
    (on_x("=", 1, "=", True), "the filter matches nothing: 'x' cannot be = 1 and = true"),
    (on_x("!=", 1, "!=", "a"), "the filter matches nothing: 'x' cannot be != 1 and != \"a\""),
    (on_x("!=", True, "!=", False), "the filter matches nothing: 'x' cannot be != true and != false"),
    (on_x("<", ""), "the filter matches nothing: 'x' cannot be < \"\""),
    (on_x(">", "a", "<", "a\0"), 'the filter matches nothing: \'x\' cannot be > "a" and < "a\\u0000"'),
    (on_x("prefix", "ab", "prefix", "b"), 'the filter matches nothing: \'x\' cannot be prefix "ab" and prefix "b"'),
    (
        on_x("<=", "\0", "!=", "", "!=", "\0"),
        'the filter matches nothing: \'x\' cannot be <= "\\u0000" and != "" and != "\\u0000"',
    ),
    (on_x("suffix", "a", "suffix", "b"), 'the filter matches nothing: \'x\' cannot be suffix "a" and suffix "b"'),
    (
        on_x(">=", "a", "<=", "a" + "\0" * 9, *(word for size in range(10) for word in ("!=", "a" + "\0" * size))),
        'the filter matches nothing: \'x\' cannot be >= "a" and <= "a'
        + "\\u0000" * 9
        + '" and != "a" and != "a'
        + '" and != "a'.join("\\u0000" * size for size in range(1, 6))
        + '" and 4 more',
    ),
    (on_x("=", "ab", "contains", "ba"), 'the filter matches nothing: \'x\' cannot be = "ab" and contains "ba"'),
]


def parse(raw: Raw) -> PredicateFilter:
    return STRICT.parse(raw)


@pytest.mark.parametrize(("wider", "narrower"), STRICTLY_COVERS)
def test_covers_and_is_not_covered(wider: Raw, narrower: Raw) -> None:
    f, g = parse(wider), parse(narrower)
    assert f.covers(g)
    assert not g.covers(f)
    assert f.overlaps(g)
    assert f != g


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal(one: Raw, other: Raw) -> None:
    f, g = parse(one), parse(other)
    assert f == g
    assert hash(f) == hash(g)
    assert f.covers(g)
    assert g.covers(f)


@pytest.mark.parametrize(("one", "other"), OVERLAP_ONLY)
def test_overlaps_without_covering(one: Raw, other: Raw) -> None:
    f, g = parse(one), parse(other)
    assert f.overlaps(g)
    assert not f.covers(g)
    assert not g.covers(f)


@pytest.mark.parametrize(("one", "other"), APART)
def test_apart(one: Raw, other: Raw) -> None:
    f, g = parse(one), parse(other)
    assert not f.overlaps(g)
    assert not g.overlaps(f)
    assert not f.covers(g)
    assert not g.covers(f)


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_together(one: Raw, other: Raw) -> None:
    f, g = parse(one), parse(other)
    assert f.overlaps(g)
    assert g.overlaps(f)


@pytest.mark.parametrize(("raw", "message"), MATCHES_NOTHING)
def test_a_filter_that_matches_nothing_is_refused(raw: Raw, message: str) -> None:
    with pytest.raises(FilterError) as refusal:
        parse(raw)
    assert str(refusal.value) == message


EVENT = {"class": "STOCK", "volume": 1000, "price": 10.5, "open": True}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([], True),
        ([["class", "=", "STOCK"], ["volume", ">=", 1000]], True),
        ([["class", "=", "STOCK"], ["volume", ">", 1000]], False),
        ([["volume", "integer"]], True),
        ([["price", "integer"]], False),
        ([["class", "integer"]], False),
        ([["open", "=", True]], True),
        ([["open", "=", 1]], False),
        ([["open", "!=", False]], True),
        ([["class", "!=", 5]], False),
        ([["volume", "!=", "STOCK"]], False),
        ([["open", "!=", 0]], False),
        ([["high", "!=", 5]], False),
        ([["high", "present"]], False),
        ([["open", "present"], ["class", "present"], ["volume", "present"]], True),
        ([["class", "prefix", "ST"], ["class", "suffix", "CK"], ["class", "contains", "TOC"]], True),
        ([["class", ">", "STOC"], ["class", "<", "STOCKS"]], True),
        ([["class", "<", "stock"]], True),
        ([["price", "=", 10.50]], True),
    ],
)
def test_matches(raw: Raw, expected: bool) -> None:
    assert parse(raw).matches(STRICT.event(EVENT)) is expected


def test_an_empty_conjunction_matches_every_event() -> None:
    anything = parse([])
    assert anything.matches(STRICT.event({}))
    assert anything.covers(anything)
    assert str(anything) == "any event"
    assert isinstance(anything, Filter)


def test_what_a_filter_looks_like() -> None:
    f = parse([["volume", ">", 1000], ["class", "=", "STOCK"], ["volume", "integer"], ["volume", ">", 1000.0]])
    assert str(f) == 'class = "STOCK" and volume > 1000 and volume integer'
    assert f.to_json() == [["class", "=", "STOCK"], ["volume", ">", 1000], ["volume", "integer"]]


def test_events_of_different_types_are_different_events() -> None:
    yes, one = STRICT.event({"x": True}), STRICT.event({"x": 1})
    assert yes != one
    assert len({yes, one, STRICT.event({"x": 1.0}), STRICT.event({"x": "1"})}) == 3
    assert STRICT.event({"a": 1, "b": 2}) == STRICT.event({"b": 2, "a": 1})


def test_what_an_event_looks_like() -> None:
    event = STRICT.event({"price": 0.1, "class": "STOCK", "volume": 2.0, "open": True})
    assert event.to_json() == {"class": "STOCK", "open": True, "price": 0.1, "volume": 2}
    assert STRICT.event(event.to_json()) == event
    assert str(event) == "class = 'STOCK', open = True, price = 0.1, volume = 2"
