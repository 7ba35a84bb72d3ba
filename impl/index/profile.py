"""Profiles: filters prepared for the questions that indexes ask repeatedly, and their sketches.

A `Sketch` is what a filter lets through, rounded outwards to one interval of integers an attribute. All values stand on
one line of integers, floats (if they are a kind) before booleans before numbers before strings, and in the order of
each kind: where v is less than w, the point of v is not greater than that of w. A set of values then lies within a
`Span` of the line, and larger sets have larger spans. Comparing spans costs a few integer comparisons and answers most
questions about filters: "no" where a span says so, "yes" where it lies so far inside that rounding cannot matter, and
otherwise `None`: the caller has to compare the filters themselves (COV-1 is exact). Indexes sort and hash by spans.

Equal filters (FLT-6) have one `FilterProfile`, however often they are read: tables are keyed by its identity, and
brokers that share a process share it. It is freed when its last user releases it. A `ProfiledSubscription` is a row of
the subscription table; a `Roster` has those of one filter, in the order of ids.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, insort
from collections.abc import Mapping
from functools import lru_cache
from itertools import count
from operator import attrgetter
from threading import Lock
from typing import NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from attrs import define, field, frozen

from routeproof.model.filters import Attributes, Event, EventSet, Filter, Float, Number, PredicateFilter, Value
from routeproof.model.filters.sets import BOOLEANS, PRESENT, NumberSet, ValueSet
from routeproof.model.filters.string_set import FIRST, StringSet, after
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.tables import by_id

Key: TypeAlias = str | Number | Float | tuple[bool]
"""One value, hashable. A boolean is wrapped: to Python, True is 1."""


class Span(NamedTuple):
    """Where a set of values lies: in lo..hi; whatever lies within sure_lo..sure_hi is in the set for certain.

    `key` is given where the set is a single value, `word` where it has strings only: one of them. Whatever covers the
    set lets its word through.
    """

    lo: int
    hi: int
    sure_lo: int
    sure_hi: int
    key: Key | None = None
    word: str | None = None


Spans: TypeAlias = Mapping[str, Span]


@frozen
class Sketch:
    """The span of every attribute that has one. `vague`: some attribute may be missing, and has none; or those that are
    not mentioned may not have any value.
    """

    spans: Spans = field(factory=dict)
    vague: bool = False


def sketch_of(predicates: PredicateFilter) -> Sketch:
    spans = {name: _span_of(allowed) for name, allowed in predicates.constraints if not allowed.missing}
    return Sketch(spans, vague=len(spans) < len(predicates.constraints) or not predicates.is_open)


def spans_of_event(event: Attributes) -> Spans:
    return {name: _only(_point(value), _key(value)) for name, value in event.pairs}


def encloses(outer: Sketch, inner: Spans) -> bool | None:
    """Whether everything within `inner` is within `outer`: of filters, whether one covers; of an event, a match."""
    certain = not outer.vague
    for name, (lo, hi, sure_lo, sure_hi, key, _) in outer.spans.items():
        span = inner.get(name)
        if span is None:
            return False
        if key is not None:
            if span[4] != key:
                return False
        elif span[0] < lo or span[1] > hi:
            return False
        elif certain and (span[0] < sure_lo or span[1] > sure_hi):
            certain = False
    return True if certain else None


def meets(one: Sketch, other: Sketch) -> bool | None:
    """Whether some event is within both."""
    certain = not one.vague and not other.vague
    if len(one.spans) > len(other.spans):
        one, other = other, one
    for name, mine in one.spans.items():
        theirs = other.spans.get(name)
        if theirs is None:
            continue
        if mine.lo > theirs.hi or mine.hi < theirs.lo:
            return False
        if mine.key is not None and theirs.key is not None:
            if mine.key != theirs.key:
                return False
        else:
            certain = certain and _surely_meet(mine, theirs)
    return True if certain else None


def _surely_meet(mine: Span, theirs: Span) -> bool:
    if mine.key is not None:
        return theirs.sure_lo <= mine.lo <= theirs.sure_hi
    if theirs.key is not None:
        return mine.sure_lo <= theirs.lo <= mine.sure_hi
    # Two intervals without holes, each of more than one value: where their ends cross, there is something in between.
    solid = mine.sure_lo <= mine.sure_hi and theirs.sure_lo <= theirs.sure_hi
    return solid and mine.lo < theirs.hi and theirs.lo < mine.hi


# -- the line ----------------------------------------------------------------------------------------------------------

CHARACTERS = 32
"""Number of characters of a string that have a part in its point."""

STRING_BITS = 32 * CHARACTERS
NUMBER_BITS = 64
BOOLEAN_LO = -(1 << 66)
BOOLEAN_HI = BOOLEAN_LO + 3
FLOATS = -(1 << 68)
"""The place of the float 0.0, in a dialect to which it is another value than the number 0."""
NUMBER_LO, NUMBER_HI = -(1 << NUMBER_BITS), 1 << NUMBER_BITS
FLOAT_LO, FLOAT_HI = FLOATS + NUMBER_LO, FLOATS + NUMBER_HI
BOTTOM = FLOAT_LO
STRING_LO = 1 << 65
STRING_HI = TOP = STRING_LO + (1 << STRING_BITS)

NO_LO = frozenset((FLOAT_LO, BOOLEAN_LO, NUMBER_LO, STRING_LO))
NO_HI = frozenset((FLOAT_HI, BOOLEAN_HI, NUMBER_HI, STRING_HI))
"""An end of a span that is one of these is no bound at all."""

_DOUBLE, _QUAD = struct.Struct("<d"), struct.Struct("<q")
_MAGNITUDE = (1 << 63) - 1


def _point(value: Value) -> int:
    if isinstance(value, str):
        return _string_point(value[:CHARACTERS])
    if isinstance(value, Float):
        return FLOATS + _number_point(value.number)
    return _boolean_point(value) if isinstance(value, bool) else _number_point(value)


def _key(value: Value) -> Key:
    return (value,) if isinstance(value, bool) else value


def _boolean_point(truth: bool) -> int:
    return BOOLEAN_LO + 1 + truth


def _number_point(number: Number) -> int:
    """The bits of the nearest float, which are in the order of the floats; rounding never swaps two numbers."""
    try:
        nearest = float(number)
    except OverflowError:
        nearest = float("inf") if number > 0 else float("-inf")
    bits: int = _QUAD.unpack(_DOUBLE.pack(nearest))[0]
    return bits if bits >= 0 else -(bits & _MAGNITUDE)


@lru_cache(maxsize=1 << 14)
def _string_point(beginning: str) -> int:
    """Its characters as the digits of a number. U+0000 at the end makes no difference, as it makes none in ranges:
    the normal form of a set of strings moves its ends over such."""
    digits = beginning.encode("utf-32-be", "surrogatepass").ljust(4 * CHARACTERS, b"\0")
    return STRING_LO + int.from_bytes(digits, "big")


# -- spans -------------------------------------------------------------------------------------------------------------


def _span_of(allowed: ValueSet) -> Span:
    parts = []
    if allowed.floats is not None:
        parts.append(_of_floats(allowed.floats))
    if allowed.booleans:
        parts.append(_of_booleans(allowed.booleans))
    if allowed.numbers is not None:
        parts.append(_of_numbers(allowed.numbers))
    if allowed.strings is not None:
        parts.append(_of_strings(allowed.strings))
    if len(parts) == 1:
        return parts[0]
    lo, hi = parts[0].lo, parts[-1].hi
    return Span(lo, hi, lo, hi) if allowed == PRESENT else _unsure(lo, hi)


def _of_booleans(truths: frozenset[bool]) -> Span:
    if truths == BOOLEANS:
        return Span(BOOLEAN_LO, BOOLEAN_HI, BOOLEAN_LO, BOOLEAN_HI)
    (truth,) = truths
    return _only(_boolean_point(truth), (truth,))


def _of_numbers(numbers: NumberSet) -> Span:
    low, high = numbers.low, numbers.high
    lo = NUMBER_LO if low is None else _number_point(low)
    hi = NUMBER_HI if high is None else _number_point(high)
    if lo == hi and low is not None and low == high:
        return _only(lo, low)
    if numbers.whole or numbers.holes:
        return _unsure(lo, hi)
    # At a bound other numbers share its point, so that only what is farther inside is certain.
    return Span(lo, hi, lo if low is None else lo + 1, hi if high is None else hi - 1)


def _of_floats(floats: NumberSet) -> Span:
    lo, hi, sure_lo, sure_hi, key, _ = _of_numbers(floats)
    if key is not None and not isinstance(key, str | tuple | Float):
        return _only(FLOATS + lo, Float(key))
    if sure_lo > sure_hi:
        return _unsure(FLOATS + lo, FLOATS + hi)
    return Span(FLOATS + lo, FLOATS + hi, FLOATS + sure_lo, FLOATS + sure_hi)


def _of_strings(strings: StringSet) -> Span:
    low, high = strings.range.low, strings.range.high
    if high == after(low):
        return _only(_point(low), low)
    lo = _point(low)
    hi = STRING_HI if high is None else _point(high)
    word = _word_of(strings)
    if strings.suffix or strings.parts or strings.holes:
        return _unsure(lo, hi, word)
    return Span(lo, hi, lo + 1 if low else lo, hi if high is None else hi - 1, word=word)


def _word_of(strings: StringSet) -> str:
    """The low end, what must be contained, the ending; and between them as many U+0000 as it takes to be no hole and to
    stay below a high end that begins with the low one. Some number does: a set of strings is finite, and its low end
    one of them, or there is something other than U+0000 in what the high end has more."""
    rest = "".join(sorted(strings.parts)) + strings.suffix
    words = (strings.range.low + FIRST * many + rest for many in count())
    return next(word for word in words if word in strings)


def _only(point: int, key: Key) -> Span:
    return Span(point, point, point, point, key, key if isinstance(key, str) else None)


def _unsure(lo: int, hi: int, word: str | None = None) -> Span:
    return Span(lo, hi, TOP + 1, BOTTOM - 1, word=word)


# -- Profiles and the entries of tables --------------------------------------------------------------------------------

NOTHING = Sketch(vague=True)


@define(eq=False)
class FilterProfile:
    """Made by `profile_of`. `sketch` is of predicates, `events` of sets of event numbers; the other one is empty."""

    filter: Filter
    sketch: Sketch = field(init=False, repr=False)
    events: tuple[int, ...] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.sketch = sketch_of(self.filter) if isinstance(self.filter, PredicateFilter) else NOTHING
        self.events = self.filter.events if isinstance(self.filter, EventSet) else ()

    def covers(self, other: FilterProfile) -> bool:
        """COV-1, of two filters of one algebra."""
        answer = encloses(self.sketch, other.sketch.spans)
        return self.filter.covers(other.filter) if answer is None else answer

    def overlaps(self, other: FilterProfile) -> bool:
        answer = meets(self.sketch, other.sketch)
        return self.filter.overlaps(other.filter) if answer is None else answer

    def matches(self, event: Attributes, spans: Spans) -> bool:
        """`spans` are those of the event."""
        answer = encloses(self.sketch, spans)
        return self.filter.matches(event) if answer is None else answer


_PROFILES: WeakValueDictionary[Filter, FilterProfile] = WeakValueDictionary()
_MAKING = Lock()


def profile_of(wanted: Filter) -> FilterProfile:
    profile = _PROFILES.get(wanted)
    if profile is None:
        with _MAKING:  # two threads must not make two
            profile = _PROFILES.get(wanted)
            if profile is None:
                profile = _PROFILES[wanted] = FilterProfile(wanted)
    return profile


def spans_of(event: Event) -> Spans:
    """Made once for each event, however many profiles are compared with it."""
    return spans_of_event(event) if isinstance(event, Attributes) else NOTHING.spans


IN_ORDER = attrgetter("key")


@define(eq=False, weakref_slot=False)
class ProfiledSubscription:
    """A subscription in the table; `source` is where it came from, `key` its place in the order of ids."""

    subscription: Subscription
    profile: FilterProfile
    source: Node
    key: tuple[int, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.key = by_id(self.subscription)


class Roster(list[ProfiledSubscription]):
    """Entries with one filter. Most have one entry; where many share a filter, none is looked for one by one."""

    __slots__ = ()

    def add(self, entry: ProfiledSubscription) -> None:
        insort(self, entry, key=IN_ORDER)

    def drop(self, entry: ProfiledSubscription) -> None:
        del self[bisect_left(self, entry.key, key=IN_ORDER)]

    def has(self, entry: ProfiledSubscription) -> bool:
        at = bisect_left(self, entry.key, key=IN_ORDER)
        return at < len(self) and self[at] is entry
