"""Laws that hold of all filters, on conjunctions over two attributes and values of every type."""

import json
import pickle
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.filters import STRICT, FilterError, PredicateFilter

NUMBERS = [-1, 0, 0.5, 1, 2, 2.5]
WORDS = ["", "a", "a\0", "ab", "ba", "aba", "b", "bb"]
NONE = object()
EVENTS = [
    STRICT.event({name: value for name, value in {"x": x, "y": y}.items() if value is not NONE})
    for x, y in product([NONE, True, False, *NUMBERS, *WORDS], [NONE, True, 1, "a"])
]

on_numbers = st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.sampled_from(NUMBERS))
on_words = st.tuples(
    st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "prefix", "suffix", "contains"]), st.sampled_from(WORDS)
)
on_booleans = st.tuples(st.sampled_from(["=", "!="]), st.booleans())
alone = st.sampled_from([("present",), ("integer",)])


def conjunction(conditions: st.SearchStrategy[tuple[object, ...]]) -> st.SearchStrategy[list[tuple[object, ...]]]:
    return st.lists(conditions, max_size=3)


conjunctions = st.tuples(
    conjunction(on_numbers | alone) | conjunction(on_words) | conjunction(on_booleans | on_words | on_numbers | alone),
    conjunction(on_numbers | alone),
).map(lambda both: [["x", *condition] for condition in both[0]] + [["y", *condition] for condition in both[1]])


def parse(raw: list[list[object]]) -> PredicateFilter | None:
    try:
        return STRICT.parse(raw)
    except FilterError:
        return None


filters = conjunctions.map(parse).filter(lambda parsed: parsed is not None)
laws = settings(derandomize=True, max_examples=300, deadline=None)


@laws
@given(filters, filters)
def test_questions_agree_with_every_event(f: PredicateFilter, g: PredicateFilter) -> None:
    matched = [(f.matches(event), g.matches(event)) for event in EVENTS]
    assert not f.covers(g) or all(mine or not theirs for mine, theirs in matched)
    assert f.overlaps(g) or not any(mine and theirs for mine, theirs in matched)


@laws
@given(filters, filters)
def test_covers_is_an_order_and_implies_overlaps(f: PredicateFilter, g: PredicateFilter) -> None:
    assert f.covers(f)
    assert f.overlaps(f)
    assert f.overlaps(g) == g.overlaps(f)
    assert not f.covers(g) or f.overlaps(g)
    assert (f.covers(g) and g.covers(f)) == (f == g)
    assert f != g or hash(f) == hash(g)


@laws
@given(filters, filters, filters)
def test_covers_is_transitive_and_overlaps_grows(f: PredicateFilter, g: PredicateFilter, h: PredicateFilter) -> None:
    assert not (f.covers(g) and g.covers(h)) or f.covers(h)
    assert not (f.covers(g) and g.overlaps(h)) or f.overlaps(h)


@laws
@given(conjunctions, conjunctions)
def test_a_conjunction_is_the_intersection(one: list[list[object]], other: list[list[object]]) -> None:
    f, g, both = parse(one), parse(other), parse(one + other)
    if both is None:
        assert f is None or g is None or not f.overlaps(g)
    else:
        assert f is not None
        assert g is not None
        assert f.overlaps(g)
        assert f.covers(both)
        assert g.covers(both)
        assert both == parse(other + one)
        assert f.covers(g) == (both == g)
        for event in EVENTS:
            assert both.matches(event) == (f.matches(event) and g.matches(event))


@laws
@given(conjunctions)
def test_a_refused_conjunction_matches_no_event_even_predicate_by_predicate(raw: list[list[object]]) -> None:
    singles = [parse([predicate]) for predicate in raw]
    if parse(raw) is None:
        assert not any(all(f is not None and f.matches(event) for f in singles) for event in EVENTS)


@laws
@given(filters)
def test_a_filter_survives_json_and_another_process(f: PredicateFilter) -> None:
    again = STRICT.parse(json.loads(json.dumps(f.to_json())))
    assert again == f
    assert again.to_json() == f.to_json()
    copied = pickle.loads(pickle.dumps(f))
    assert copied == f
    assert hash(copied) == hash(f)
    assert copied.to_json() == f.to_json()


def test_an_event_survives_json_and_another_process() -> None:
    for event in EVENTS:
        assert STRICT.event(json.loads(json.dumps(event.to_json()))) == event
        assert pickle.loads(pickle.dumps(event)) == event


@laws
@given(conjunctions, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(raw: list[list[object]], random: object) -> None:
    shuffled = raw + raw[:2]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert parse(shuffled) == parse(raw)
