"""Indexes find what asking every filter finds, and ask few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.impl.index.filter_index import CoveredIndex, FilterIndex
from routeproof.impl.index.predicate_index import Nests
from routeproof.impl.index.profile import NUMBER_HI, NUMBER_LO, FilterProfile, Span, profile_of, spans_of
from routeproof.impl.index.texts import Ladder, Texts, WordSet, traits_of
from routeproof.impl.routing import Broker
from routeproof.model.filters import STRICT, Event, EventSet, Filter, string_set
from routeproof.model.filters.string_set import StringRange, StringSet
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL
from tests.impl.filters import event_sets, predicate_filters, single_conditions, tables

quick = settings(derandomize=True, max_examples=300, deadline=None)

either_algebra = st.one_of(
    st.tuples(st.lists(predicate_filters(), min_size=1, max_size=25), tables()),
    st.tuples(st.lists(event_sets(), min_size=1, max_size=25), st.integers(0, 6)),
)


@quick
@given(either_algebra, st.randoms(use_true_random=False))
def test_an_index_finds_what_asking_everyone_finds(drawn: tuple[list[Filter], Event], random: Random) -> None:
    filters, event = drawn
    profiles = list(dict.fromkeys(profile_of(each) for each in filters))
    index, covered = FilterIndex(), CoveredIndex()
    present: list[FilterProfile] = []
    for _ in range(3):
        for profile in random.sample(profiles, len(profiles)):
            if profile not in present:
                index.add(profile)
                covered.add(profile)
                present.append(profile)
        for asked in profiles:
            assert same(index.covering(asked), [p for p in present if p.filter.covers(asked.filter)])
            assert same(index.overlapping(asked), [p for p in present if p.filter.overlaps(asked.filter)])
            assert same(covered.covered(asked), [p for p in present if asked.filter.covers(p.filter)])
        assert same(index.matching(event, spans_of(event)), [p for p in present if p.filter.matches(event)])
        for profile in random.sample(present, random.randint(0, len(present))):
            index.remove(profile)
            covered.remove(profile)
            present.remove(profile)


def test_every_condition_finds_every_other() -> None:
    profiles = [profile_of(each) for each in single_conditions()]
    index, covered = FilterIndex(), CoveredIndex()
    for profile in profiles:
        index.add(profile)
        covered.add(profile)
    for asked in profiles:
        assert same(index.covering(asked), [p for p in profiles if p.filter.covers(asked.filter)])
        assert same(index.overlapping(asked), [p for p in profiles if p.filter.overlaps(asked.filter)])
        assert same(covered.covered(asked), [p for p in profiles if asked.filter.covers(p.filter)])


def same(found: Iterable[FilterProfile], expected: Sequence[FilterProfile]) -> bool:
    """The same profiles, each once."""
    listed = list(found)
    return len(listed) == len(expected) and set(listed) == set(expected)


def test_filters_of_two_algebras_have_nothing_to_do_with_each_other() -> None:
    index, covered = FilterIndex(), CoveredIndex()
    everything, numbers = profile_of(STRICT.parse([])), profile_of(EventSet.of([0, 1]))
    for profile in (everything, numbers):
        index.add(profile)
        covered.add(profile)
    assert list(index.overlapping(everything)) == list(index.covering(everything)) == [everything]
    assert list(index.overlapping(numbers)) == list(covered.covered(numbers)) == [numbers]
    assert list(index.matching(1, spans_of(1))) == [numbers]


PROFILES = [profile_of(EventSet(mask)) for mask in range(1, 41)]


@quick
@given(st.lists(st.integers(0, 9), min_size=1, max_size=len(PROFILES)), st.integers(0, 9), st.integers(0, 9))
def test_a_ladder_is_in_order(numbers: list[int], low: int, high: int) -> None:
    ladder = Ladder()
    at = dict(zip(PROFILES, numbers, strict=False))
    for profile, number in at.items():
        ladder.add(number, profile)
    assert len(ladder) == len(numbers)
    assert [at[p] for p in ladder] == sorted(numbers)
    assert [at[p] for p in ladder.upto(low)] == sorted(n for n in numbers if n <= low)
    assert [at[p] for p in ladder.onward(low)] == sorted((n for n in numbers if n >= low), reverse=True)
    assert [at[p] for p in ladder.between(low, high)] == sorted(n for n in numbers if low <= n <= high)
    assert (ladder.about(low, high) > 0) == any(low <= n <= high for n in numbers)
    for profile, number in at.items():
        ladder.remove(number, profile)
    assert list(ladder) == []
    assert not ladder


bounds = st.one_of(st.integers(-40, 40), st.sampled_from((NUMBER_LO, NUMBER_HI, 1 << 40, -(1 << 40))))
spans = st.tuples(bounds, bounds).map(lambda ends: Span(min(ends), max(ends), 0, 0))


@quick
@given(st.lists(spans, min_size=1, max_size=len(PROFILES)), spans)
def test_nests_miss_nothing(kept: list[Span], asked: Span) -> None:
    nests = Nests()
    span_of = dict(zip(PROFILES, kept, strict=False))
    for profile, span in span_of.items():
        nests.add(span, profile)
    found = list(nests.enclosing(asked))
    assert len(found) == len(set(found))
    assert set(found) >= {p for p, span in span_of.items() if span.lo <= asked.lo and asked.hi <= span.hi}
    for profile, span in span_of.items():
        nests.remove(span, profile)
    assert not nests
    assert not list(nests.enclosing(asked))


letters = st.text("ab\0", max_size=12)
limits = st.tuples(letters, letters).map(sorted).filter(lambda ends: ends[0] < ends[1])
conditions = st.lists(
    st.one_of(
        limits.map(lambda ends: StringSet(StringRange(*ends))),
        letters.map(string_set.prefixed),
        letters.map(string_set.suffixed),
        letters.map(string_set.containing),
        letters.map(string_set.all_but),
    ),
    min_size=1,
    max_size=3,
)


def all_of(drawn: list[StringSet]) -> StringSet | None:
    met: StringSet | None = string_set.ALL_STRINGS
    for each in drawn:
        met = met.intersect(each) if met is not None else None
    return met


string_sets = conditions.map(all_of).filter(lambda met: met is not None).map(lambda met: met or string_set.ALL_STRINGS)


@quick
@given(st.lists(string_sets, min_size=1, max_size=len(PROFILES)), letters, st.randoms(use_true_random=False))
def test_texts_miss_nothing(kept: list[StringSet], word: str, random: Random) -> None:
    texts = Texts()
    filed = {}
    for profile, strings in zip(PROFILES, kept, strict=False):
        if traits := list(traits_of(strings)):
            filed[profile] = strings, random.choice(traits)
            texts.add(filed[profile][1], profile)
    found = list(texts.allowing(word))
    assert len(found) == len(set(found))
    assert set(found) >= {profile for profile, (strings, _) in filed.items() if word in strings}
    for profile, (_, trait) in filed.items():
        assert texts.filed_under(trait)
        texts.remove(trait, profile)
    assert not texts


@quick
@given(st.lists(letters, min_size=1, max_size=len(PROFILES)), st.lists(string_sets, min_size=2, max_size=2))
def test_words_miss_nothing(kept: list[str], asked: list[StringSet]) -> None:
    words, word_of = WordSet(), dict(zip(PROFILES, kept, strict=False))
    for profile, word in word_of.items():
        if profile is PROFILES[len(word_of) // 2]:  # parts are learnt of with the first question
            list(words.within(asked[0]))
        words.add(word, profile)
    for strings in asked:
        expected = {profile for profile, word in word_of.items() if word in strings}
        for about, listed in words.within(strings):
            found = list(listed())
            assert len(found) == len(set(found))
            assert set(found) >= expected
            assert (about > 0) == bool(found)
    for profile, word in word_of.items():
        words.remove(word, profile)
    assert not len(words)
    assert not any(list(listed()) for strings in asked for _, listed in words.within(strings))


# -- cost: not by the clock, but by how many filters are asked ---------------------------------------------------------

MANY = 2000


class Asked:
    """Counts the questions to profiles."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        for question in ("matches", "covers", "overlaps"):
            monkeypatch.setattr(FilterProfile, question, self._counting(getattr(FilterProfile, question)))

    def _counting(self, question: Callable[..., bool]) -> Callable[..., bool]:
        def counted(*arguments: object) -> bool:
            self.times += 1
            return question(*arguments)

        return counted

    def on_average(self, broker: Broker, messages: Sequence[Message]) -> float:
        before = self.times
        for message in messages:
            broker.receive(LOCAL, message)
        return (self.times - before) / len(messages)


def stocks(random: Random, first: int) -> list[Subscription]:
    """Each wants one of 100 symbols, and a tenth of the prices."""
    drawn = []
    for number in range(first, first + MANY):
        symbol, low = f"S{random.randrange(100)}", random.randrange(900)
        raw = [["class", "=", "STOCK"], ["symbol", "=", symbol], ["price", ">=", low], ["price", "<", low + 99.5]]
        drawn.append(Subscription(number, f"s{number}", STRICT.parse(raw)))
    return drawn


PATH = "https://www.example.com/with/a/path/that/is/long/"

NAMED: dict[str, tuple[Callable[[str], list[list[object]]], Callable[[str], str]]] = {
    "=": (lambda n: [["name", "=", PATH + n]], lambda n: PATH + n),
    "prefix": (lambda n: [["name", "prefix", n]], lambda n: n + "/x"),
    "long prefix": (lambda n: [["name", "prefix", PATH + n]], lambda n: PATH + n + "/x"),
    "suffix": (lambda n: [["name", "suffix", n + "ab"]], lambda n: "xyz" + n + "ab"),
    "contains": (lambda n: [["name", "contains", f"q{n}q"]], lambda n: f"xyzq{n}qab"),
    "long part": (lambda n: [["name", "contains", PATH + n]], lambda n: f"see {PATH}{n}/x"),
    "prefix and suffix": (lambda n: [["name", "prefix", PATH], ["name", "suffix", n]], lambda n: PATH + n),
    "popular suffix": (
        lambda n: [["name", "suffix", ".com"], ["price", ">", int(n)], ["price", "<", int(n) + 9]],
        lambda n: "example.com",
    ),
}


@pytest.mark.parametrize("policy", ["none", "active", "lazy"])
@pytest.mark.parametrize("operator", NAMED)
def test_few_filters_are_asked_about_strings(operator: str, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random, asked = Random(1), Asked(monkeypatch)
    wants, named = NAMED[operator]
    broker = Broker(1, (2,), policy)
    broker.receive(2, Advertise(Advertisement(0, "a", STRICT.parse([]))))
    known = [Subscription(n, f"s{n}", STRICT.parse(wants(f"{random.randrange(90_000):05}"))) for n in range(MANY)]
    assert asked.on_average(broker, [Subscribe(each) for each in known]) < MANY / 50
    numbers = [random.randrange(90_000) for _ in range(200)]
    events = [STRICT.event({"name": named(f"{n:05}"), "price": n}) for n in numbers]
    assert asked.on_average(broker, [Publish(Publication(0, "p", "a", each)) for each in events]) < MANY / 50
    assert asked.on_average(broker, [Unsubscribe(each) for each in random.sample(known, 200)]) < MANY / 50


@pytest.mark.parametrize("wide", [["prefix", PATH + "12"], ["suffix", "12z"], ["contains", "q11"]])
def test_what_a_filter_covers_is_found_without_asking_others(
    wide: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that takes in a part of those that are there: about those it asks, and about few others."""
    asked, broker = Asked(monkeypatch), Broker(1, (2,), "active")
    broker.receive(2, Advertise(Advertisement(0, "a", STRICT.parse([]))))
    for n in range(MANY):
        raw = [["name", "prefix", f"{PATH}{n:04}q{n:04}"], ["name", "suffix", f"{n:04}z"]]
        broker.receive(LOCAL, Subscribe(Subscription(n, f"s{n}", STRICT.parse(raw))))
    newcomer = Subscription(MANY, "wide", STRICT.parse([["name", *wide]]))
    before = asked.times
    sends = broker.receive(LOCAL, Subscribe(newcomer))
    taken_in = len(sends) - 1
    assert taken_in > 0
    assert asked.times - before < 3 * taken_in + 5


@pytest.mark.parametrize("policy", ["none", "active", "lazy"])
def test_few_filters_are_asked(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random, asked = Random(1), Asked(monkeypatch)
    broker = Broker(1, (2,), policy)
    broker.receive(2, Advertise(Advertisement(0, "a", STRICT.parse([["class", "=", "STOCK"]]))))
    known, more = stocks(random, 0), stocks(random, MANY)
    asked.on_average(broker, [Subscribe(each) for each in known])
    assert asked.on_average(broker, [Subscribe(each) for each in more[:200]]) < MANY / 50
    assert asked.on_average(broker, [Unsubscribe(each) for each in random.sample(known, 200)]) < MANY / 50

    events = [
        STRICT.event({"class": "STOCK", "symbol": f"S{random.randrange(100)}", "price": random.randrange(1000)})
        for _ in range(200)
    ]
    published = [Publish(Publication(n, f"p{n}", "a", event)) for n, event in enumerate(events)]
    nearly_matching = asked.on_average(broker, published)
    matching = broker.counters.sent["deliver"] / len(events)
    assert matching < nearly_matching < 3 * matching


def test_what_many_covers_quench_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A withdrawn coverer costs what it alone held: here nothing, however much it covers."""
    asked, broker = Asked(monkeypatch), Broker(1, (2,), "active")
    broker.receive(2, Advertise(Advertisement(0, "a", STRICT.parse([]))))
    wide, also_wide = (
        Subscription(n, f"w{n}", STRICT.parse(raw)) for n, raw in enumerate(([["x", ">", -2]], [["y", "present"]]))
    )
    broker.receive(LOCAL, Subscribe(wide))
    for n in range(2, 500):
        broker.receive(LOCAL, Subscribe(Subscription(n, f"s{n}", STRICT.parse([["x", ">", n], ["y", "=", n]]))))
    broker.receive(LOCAL, Subscribe(also_wide))
    assert asked.on_average(broker, [Unsubscribe(also_wide), Subscribe(also_wide)] * 20) < 5
