"""Conjunctions of string predicates, decided a second time by products of automata.

The model decides with ranges and a few facts about long words. Here every predicate is a small deterministic automaton,
and a question is a breadth-first search of a product for a word that answers it. The alphabet is exact although it is
small: an automaton only compares a character with those of its constant, so one character stands for each gap between
the characters that occur.
"""

import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.model.filters import STRICT, FilterError, PredicateFilter

LAST = chr(sys.maxunicode)
ORDER = {
    "=": {"equal"},
    "!=": {"less", "greater", "longer"},
    "<": {"less"},
    "<=": {"less", "equal"},
    ">": {"greater", "longer"},
    ">=": {"greater", "longer", "equal"},
    "prefix": {"equal", "longer"},
}
OPERATORS = [*ORDER, "suffix", "contains"]

Conjunction = Sequence[tuple[str, str]]


def step(predicate: tuple[str, str], state: Hashable, char: str) -> Hashable:
    """For an order, how many characters agree with the constant, or how the word left it; otherwise the longest end of
    the word that begins the constant."""
    operator, constant = predicate
    if operator in ORDER:
        if not isinstance(state, int):
            return state
        if state == len(constant):
            return "longer"
        return state + 1 if char == constant[state] else "less" if char < constant[state] else "greater"
    assert isinstance(state, str)
    if operator == "contains" and state == constant:
        return state
    read = state + char
    return next(read[at:] for at in range(len(read) + 1) if constant.startswith(read[at:]))


def accepts(predicate: tuple[str, str], state: Hashable) -> bool:
    operator, constant = predicate
    if operator not in ORDER:
        return state == constant
    if isinstance(state, int):
        state = "equal" if state == len(constant) else "less"
    return state in ORDER[operator]


def alphabet(predicates: Iterable[tuple[str, str]]) -> list[str]:
    codes = sorted({ord(char) for _, constant in predicates for char in constant})
    gaps = [low + 1 for low, high in pairwise([-1, *codes, sys.maxunicode + 1]) if low + 1 < high]
    return [chr(code) for code in sorted(codes + gaps)]


def witness(meets: Conjunction, misses: Conjunction = ()) -> str | None:
    """A shortest word that meets every predicate of `meets` and, if there are any in `misses`, not all of those."""
    predicates = [*meets, *misses]
    start: tuple[Hashable, ...] = tuple(0 if operator in ORDER else "" for operator, _ in predicates)
    letters = alphabet(predicates)
    seen = {start}
    queue = deque([("", start)])
    while queue:
        word, states = queue.popleft()
        verdicts = [accepts(predicate, state) for predicate, state in zip(predicates, states, strict=True)]
        if all(verdicts[: len(meets)]) and (not misses or not all(verdicts[len(meets) :])):
            return word
        for letter in letters:
            after = tuple(step(predicate, state, letter) for predicate, state in zip(predicates, states, strict=True))
            if after not in seen:
                seen.add(after)
                queue.append((word + letter, after))
    return None


def meets(word: str, predicates: Conjunction) -> bool:
    """The meaning of the operators, as plainly as Python can say it."""
    verdict: dict[str, Callable[[str], bool]] = {
        "=": lambda c: word == c,
        "!=": lambda c: word != c,
        "<": lambda c: word < c,
        "<=": lambda c: word <= c,
        ">": lambda c: word > c,
        ">=": lambda c: word >= c,
        "prefix": word.startswith,
        "suffix": word.endswith,
        "contains": lambda c: c in word,
    }
    return all(verdict[operator](constant) for operator, constant in predicates)


def parse(predicates: Conjunction) -> PredicateFilter | None:
    try:
        return STRICT.parse([["x", operator, constant] for operator, constant in predicates])
    except FilterError:
        return None


def is_in(word: str, parsed: PredicateFilter) -> bool:
    return parsed.matches(STRICT.event({"x": word}))


# U+0000 makes ranges finite; the last characters make prefixes that have no successor of their own length; and the
# fewer characters there are, the more often two constants have something to do with each other.
ALPHABETS = ["\0\1", "\0\1" + LAST, "\0\1\2" + LAST, "ab", "\0ab", "a" + chr(sys.maxunicode - 1) + LAST]


def conjunctions_over(alphabet: str) -> st.SearchStrategy[Conjunction]:
    words = st.text(alphabet=alphabet, max_size=3)
    within_a_range = st.tuples(st.sampled_from(["<", "<=", ">", ">="]), words)
    return st.lists(st.tuples(st.sampled_from(OPERATORS), words) | within_a_range, min_size=1, max_size=4)


def and_one_alike(mine: Conjunction, alphabet: str) -> st.SearchStrategy[tuple[Conjunction, Conjunction]]:
    """With a conjunction that keeps some of the predicates: unrelated ones seldom include each other."""
    kept = st.lists(st.sampled_from(list(mine)), max_size=4, unique=True)
    return st.tuples(kept, conjunctions_over(alphabet)).map(lambda both: (mine, [*both[0], *both[1][:2]]))


alphabets = st.sampled_from(ALPHABETS)
conjunctions = alphabets.flatmap(conjunctions_over)
pairs = alphabets.flatmap(lambda letters: conjunctions_over(letters).flatmap(lambda mine: and_one_alike(mine, letters)))
checked = settings(derandomize=True, max_examples=400, deadline=None)


@checked
@given(conjunctions)
def test_a_conjunction_is_refused_exactly_where_no_word_meets_it(mine: Conjunction) -> None:
    word, parsed = witness(mine), parse(mine)
    assert (word is None) == (parsed is None)
    if word is not None and parsed is not None:
        assert meets(word, mine)
        assert is_in(word, parsed)


@checked
@given(pairs)
def test_covers_is_exact(pair: tuple[Conjunction, Conjunction]) -> None:
    one, other = pair
    f, g = parse(one), parse(other)
    if f is None or g is None:
        return
    separating = witness(other, misses=one)
    assert f.covers(g) == (separating is None)
    if separating is not None:
        assert is_in(separating, g)
        assert not is_in(separating, f)


@checked
@given(pairs)
def test_overlaps_is_exact(pair: tuple[Conjunction, Conjunction]) -> None:
    one, other = pair
    f, g = parse(one), parse(other)
    if f is None or g is None:
        return
    shared = witness([*one, *other])
    assert f.overlaps(g) == g.overlaps(f) == (shared is not None)
    if shared is not None:
        assert is_in(shared, f)
        assert is_in(shared, g)


@checked
@given(pairs)
def test_equal_filters_are_those_of_the_same_words(pair: tuple[Conjunction, Conjunction]) -> None:
    one, other = pair
    f, g = parse(one), parse(other)
    if f is None or g is None:
        return
    same = witness(one, misses=other) is None and witness(other, misses=one) is None
    assert (f == g) == same
    assert hash(f) == hash(g) or not same


SHORT_WORDS = ["".join(word) for size in range(4) for word in product("\0\1`ab" + LAST, repeat=size)]


@settings(checked, max_examples=100)
@given(conjunctions)
def test_matches_says_what_the_operators_say(mine: Conjunction) -> None:
    parsed = parse(mine)
    for word in SHORT_WORDS:
        assert meets(word, mine) == (parsed is not None and is_in(word, parsed))


@pytest.mark.parametrize(
    ("mine", "others", "expected"),
    [
        ([("prefix", "ab"), ("suffix", "ba")], [], "aba"),
        ([(">", "a"), ("<", "a\0")], [], None),
        ([("contains", "ab"), ("contains", "ba"), ("<", "b")], [], "aba"),
        ([("prefix", "a")], [("contains", "a")], None),
        ([("contains", "a")], [("prefix", "a")], "\0a"),
    ],
)
def test_the_automata_themselves(mine: Conjunction, others: Conjunction, expected: str | None) -> None:
    assert witness(mine, misses=others) == expected
