"""The model's code, held to the conditions that are proved: constants that stand for all others, every pair of them.

What the code answers depends on how the constants compare, on whether they are whole, and, for strings, on how they
are built and on the ends of the alphabet. The constants here are chosen so that all of this comes up; they are not all
constants, so what is found here holds up to a bound. Expected answers come from `routeproof.spec.theory` alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product

from attrs import evolve, frozen

from routeproof.checker.prove.solve import Case, CodeTheorem, Examination
from routeproof.model.filters import EVENTS, STRICT, FilterError, PredicateFilter
from routeproof.model.overlay import Overlay
from routeproof.spec.theory import BROKER, Grounded, Truth
from routeproof.spec.theory.filters.conditions import covers_when, overlaps_when
from routeproof.spec.theory.filters.predicates import FORMS, PRESENT, Constant, Form, exists, holds, literal
from routeproof.spec.theory.filters.strings import ShortWords
from routeproof.spec.theory.relation import Tree, of_overlay, tree_holds

NUMBERS: Sequence[tuple[int | float, int | Fraction]] = (
    (-1, -1),
    (0.0, 0),
    (0.1, Fraction(1, 10)),
    (0.5, Fraction(1, 2)),
    (1, 1),
    (1.5, Fraction(3, 2)),
    (2.0, 2),
    (9007199254740992.0, 2**53),
    (2**53 + 1, 2**53 + 1),
    (1e23, 10**23),
    (10**23, 10**23),
)
"""Numbers: as they are written, and as they are read (FLT-2)."""

FIRST, SECOND, LAST_BUT_ONE, LAST = "\0", "\1", chr(sys.maxunicode - 1), chr(sys.maxunicode)
STRINGS = (
    *("", FIRST, SECOND, "a", "b", LAST_BUT_ONE, LAST),
    *(FIRST * 2, FIRST + "a", "a" + FIRST, "a" + SECOND, "aa", "ab", "ba", "a" + LAST),
    *(LAST + FIRST, LAST + LAST_BUT_ONE, LAST_BUT_ONE + LAST, LAST * 2),
    *(FIRST * 3, "aba", LAST * 2 + LAST_BUT_ONE),
)
BOUND = f"every pair of {len(NUMBERS)} numbers, {len(STRINGS)} strings of up to 3 characters, both booleans"
WORDS = ShortWords(3)


@frozen
class CheckedPredicate:
    """One predicate: as it is written, and with its constant as it is meant."""

    form: Form
    written: tuple[object, ...]
    constant: Constant

    def __str__(self) -> str:
        return " ".join([str(self.written[0]), *(repr(each) for each in self.written[1:])])

    def of(self, attribute: str) -> list[object]:
        return [attribute, *self.written]

    def covers(self, other: CheckedPredicate) -> bool:
        return _plain(covers_when(WORDS, self.form, self.constant, other.form, other.constant))

    def overlaps(self, other: CheckedPredicate) -> bool:
        return _plain(overlaps_when(WORDS, self.form, self.constant, other.form, other.constant))


@frozen
class ReadPredicate:
    """A predicate that the model reads, and the filter that it makes of it."""

    predicate: CheckedPredicate
    filter: PredicateFilter


def predicates() -> list[CheckedPredicate]:
    found = []
    for form in FORMS:
        constants: Sequence[tuple[object, Constant]] = {
            "number": NUMBERS,
            "string": [(text, WORDS.word(text)) for text in STRINGS],
            "boolean": [(False, False), (True, True)],
            "": [],
        }[form.kind]
        found += [CheckedPredicate(form, (form.operator, written), constant) for written, constant in constants]
        if not form.kind:
            found.append(CheckedPredicate(form, (form.operator,), None))
    return found


def existing() -> list[CheckedPredicate]:
    return [each for each in predicates() if exists(WORDS, each.form, each.constant)]


def read(each: CheckedPredicate) -> ReadPredicate:
    return ReadPredicate(each, STRICT.parse([each.of("x")]))


# -- the questions -----------------------------------------------------------------------------------------------------


def reading() -> list[Examination]:
    """FLT-5: one predicate, or two on one attribute, are refused exactly where nothing meets them."""

    def single() -> Iterator[Case]:
        for each in predicates():
            expected = _plain(exists(WORDS, each.form, each.constant))
            yield Case(expected, not _refused(each), partial(_said, filter=each))

    def double(form: Form) -> Iterator[Case]:
        for each, other in product(existing(), repeat=2):
            if each.form == form and FORMS.index(form) <= FORMS.index(other.form):
                found = not _refused(each, other)
                yield Case(each.overlaps(other), found, partial(_said, first=each, second=other))

    return [
        Examination("one predicate is read", single),
        *(Examination(f"{form} with another is read", partial(double, form), form != PRESENT) for form in FORMS),
    ]


def matching() -> list[Examination]:
    values = [None, False, True, *(exact for _, exact in NUMBERS), *STRINGS]
    events = [
        (literal(WORDS, value), STRICT.event({} if raw is None else {"x": raw})) for value, raw in _as_read(values)
    ]

    def cases(form: Form) -> Iterator[Case]:
        for each in map(read, existing()):
            if each.predicate.form == form:
                for value, event in events:
                    expected = _plain(holds(WORDS, form, each.predicate.constant, value))
                    about = partial(_said, filter=each.predicate, event=event)
                    yield Case(expected, each.filter.matches(event), about)

    return [Examination(f"matches: {form}", partial(cases, form)) for form in FORMS]


def _of_pairs(
    name: str,
    expected: Callable[[CheckedPredicate, CheckedPredicate], bool],
    found: Callable[[PredicateFilter, PredicateFilter], bool],
    both: Callable[[Form], bool] = lambda form: form != PRESENT,
) -> list[Examination]:
    """One for each form: of every pair whose first one has that form, what is proved right and what the filters say."""

    def cases(form: Form) -> Iterator[Case]:
        every = [read(each) for each in existing()]
        for one, other in product(every, repeat=2):
            if one.predicate.form == form:
                about = partial(_said, f=one.predicate, g=other.predicate)
                yield Case(expected(one.predicate, other.predicate), found(one.filter, other.filter), about)

    return [Examination(f"{name}: {form}", partial(cases, form), both(form)) for form in FORMS]


def covering() -> list[Examination]:
    return _of_pairs("covers", CheckedPredicate.covers, lambda f, g: f.covers(g))


def overlapping() -> list[Examination]:
    return _of_pairs("overlaps", CheckedPredicate.overlaps, lambda f, g: f.overlaps(g))


def equality() -> list[Examination]:
    """FLT-6: equal, and of one hash, exactly where each covers the other."""
    return _of_pairs(
        "equal",
        lambda one, other: one.covers(other) and other.covers(one),
        lambda f, g: f == g and hash(f) == hash(g),
        both=lambda form: True,
    )


FEW: Sequence[Sequence[object]] = (
    *((">", 1), (">=", 1), ("=", 2.0), ("!=", 2), ("integer",), ("present",), ("=", True)),
    *(("<", "b"), ("prefix", "a"), ("=", "ab"), ("suffix", "b")),
)
"""Predicates for filters of two attributes; each is one of `predicates`."""


def attributes() -> list[Examination]:
    """FLT-13: filters that constrain no attribute, one of two, or both."""
    few = [None, *(each for each in existing() if list(each.written) in [list(row) for row in FEW])]
    sides = list(product(few, repeat=2))

    def filters() -> list[PredicateFilter]:
        named = [zip("xy", side, strict=True) for side in sides]
        return [STRICT.parse([each.of(name) for name, each in side if each is not None]) for side in named]

    def cases(covers: bool) -> Iterator[Case]:
        read = filters()
        for (f, one), (g, other) in product(zip(sides, read, strict=True), repeat=2):
            if covers:
                expected = all(a is None or (b is not None and a.covers(b)) for a, b in zip(f, g, strict=True))
                found = one.covers(other)
            else:
                expected = all(a is None or b is None or a.overlaps(b) for a, b in zip(f, g, strict=True))
                found = one.overlaps(other)
            yield Case(expected, found, partial(_said, f=one, g=other))

    return [Examination("covers", partial(cases, True)), Examination("overlaps", partial(cases, False))]


MEMBERS = (0, 1, 63, 64, 4095)


def event_sets() -> list[Examination]:
    """The dialect `events`, on every set of a few numbers."""
    sets = [picked for size in range(1, len(MEMBERS) + 1) for picked in combinations(MEMBERS, size)]

    def matches() -> Iterator[Case]:
        for members, event in product(sets, (*MEMBERS, 2, 4094)):
            yield Case(event in members, EVENTS.parse(members).matches(event), partial(_said, f=members, event=event))

    def pairs(covers: bool) -> Iterator[Case]:
        for f, g in product(sets, repeat=2):
            one, other = EVENTS.parse(f), EVENTS.parse(g)
            expected = set(f) >= set(g) if covers else bool(set(f) & set(g))
            yield Case(expected, one.covers(other) if covers else one.overlaps(other), partial(_said, f=f, g=g))

    return [
        Examination("matches", matches),
        Examination("covers", partial(pairs, True)),
        Examination("overlaps", partial(pairs, False)),
    ]


# -- overlays ----------------------------------------------------------------------------------------------------------

BROKERS = 4


def overlays() -> list[Examination]:
    """Each axiom of trees, of each of the model's overlays; and all of them together, of links that are another's."""
    rows = [
        Examination(clause.name, partial(_axiom, place), both=False)
        for place, clause in enumerate(tree_holds(Grounded({}), of_overlay(Overlay.line(1))))
    ]
    return [*rows, Examination("links of another overlay", _mixtures)]


def _axiom(place: int) -> Iterator[Case]:
    for overlay in _labelled(BROKERS):
        yield Case(True, _axioms(overlay, of_overlay(overlay))[place], partial(_said, overlay=overlay))


def _mixtures() -> Iterator[Case]:
    of_one_size = (pair for pair in product(_labelled(BROKERS), repeat=2) if pair[0].brokers == pair[1].brokers)
    for one, other in of_one_size:
        mixed = evolve(of_overlay(one), link=of_overlay(other).link)
        yield Case(one == other, all(_axioms(one, mixed)), partial(_said, overlay=one, links=other))


def _axioms(overlay: Overlay, tree: Tree) -> list[bool]:
    logic = Grounded({BROKER: overlay.brokers})
    return [clause.closed(logic) is True for clause in tree_holds(logic, tree)]


@cache
def _labelled(most: int) -> tuple[Overlay, ...]:
    """Every tree of up to so many brokers: of all sets of links, those that the model takes for an overlay."""
    found = []
    for brokers in range(1, most + 1):
        links = list(combinations(range(1, brokers + 1), 2))
        for chosen in combinations(links, brokers - 1):
            try:
                overlay = Overlay.of(chosen)
            except ValueError:
                continue
            found += [overlay] if len(overlay.brokers) == brokers else []
    return tuple(found)


def _refused(*each: CheckedPredicate) -> bool:
    try:
        STRICT.parse([one.of("x") for one in each])
    except FilterError:
        return True
    return False


def _as_read(values: Sequence[object]) -> list[tuple[object, object]]:
    """Each value, and what a file would have in its place."""
    written = {exact: raw for raw, exact in NUMBERS}
    return [(v, written[v] if isinstance(v, int | Fraction) and not isinstance(v, bool) else v) for v in values]


def _plain(truth: Truth) -> bool:
    assert isinstance(truth, bool), "a condition over constants is true or false"
    return truth


def _said(**what: object) -> dict[str, str]:
    return {name: str(each) for name, each in what.items()}


# -- the theorems ------------------------------------------------------------------------------------------------------

_ROWS = (
    CodeTheorem(
        "ModelReads",
        ("FLT-5", "FLT-7"),
        "The model refuses a filter of one or two predicates exactly where nothing meets it.",
        reading,
        BOUND,
    ),
    CodeTheorem(
        "ModelMatches",
        ("FLT-2", "FLT-3", "FLT-4", "FLT-8", "FLT-9", "FLT-10", "FLT-11"),
        "The model's `matches` is what each predicate means.",
        matching,
        BOUND,
    ),
    CodeTheorem(
        "ModelOverlaps",
        ("FLT-8", "FLT-9", "FLT-10", "FLT-11", "FLT-13"),
        "The model's `overlaps` computes the condition that NumbersOverlap, ... prove exact.",
        overlapping,
        BOUND,
    ),
    CodeTheorem(
        "ModelCovers",
        ("FLT-8", "FLT-9", "FLT-10", "FLT-11", "FLT-13"),
        "The model's `covers` computes the condition that NumbersCover, ... prove exact.",
        covering,
        BOUND,
    ),
    CodeTheorem(
        "ModelEquals",
        ("FLT-6",),
        "Two filters of the model are equal, and hash alike, exactly where each covers the other.",
        equality,
        BOUND,
    ),
    CodeTheorem(
        "ModelAttributes",
        ("FLT-13",),
        "The model compares filters of several attributes as AttributesCover and AttributesOverlap say.",
        attributes,
        f"filters of {len(FEW)} predicates on two attributes",
    ),
    CodeTheorem(
        "ModelEventSets",
        ("COV-1",),
        "The model's sets of event numbers are sets.",
        event_sets,
        f"every set of {', '.join(map(str, MEMBERS))}",
    ),
    CodeTheorem(
        "OverlaysAreTrees",
        ("RTE-1",),
        "The axioms of trees are true of each of the model's overlays, and of no two of them mixed.",
        overlays,
        f"all overlays of up to {BROKERS} brokers",
    ),
)

THEOREMS: dict[str, CodeTheorem] = {theorem.id: theorem for theorem in _ROWS}
