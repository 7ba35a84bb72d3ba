"""The index over predicate filters the other way round: which of them does a filter cover?

What a filter covers has, on each attribute, a span within the filter's own. So profiles are filed under all their
spans, by value, by lower and by upper bound, those of strings by a word (`words`), and a question goes through the
shortest of the lists that it may use.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain

from attrs import Factory, define

from routeproof.impl.ladder import Ladder
from routeproof.impl.profile import Profile
from routeproof.impl.sketch import NO_HI, NO_LO, Key, Span
from routeproof.impl.words import Listed, Words
from routeproof.model.filters import PredicateFilter
from routeproof.model.filters.value_set import ValueSet


class CoveredPredicates:
    """Holds each profile at most once."""

    def __init__(self) -> None:
        self._profiles: dict[Profile, None] = {}
        self._by_name: dict[str, _Column] = {}

    def add(self, profile: Profile) -> None:
        self._profiles[profile] = None
        for name, span in profile.sketch.spans.items():
            column = self._by_name.get(name)
            if column is None:
                column = self._by_name[name] = _Column()
            column.add(span, profile)

    def remove(self, profile: Profile) -> None:
        del self._profiles[profile]
        for name, span in profile.sketch.spans.items():
            column = self._by_name[name]
            column.remove(span, profile)
            if not len(column):
                del self._by_name[name]

    def covered(self, wide: Profile) -> Iterator[Profile]:
        for profile in self._within(wide):
            if wide.covers(profile):
                yield profile

    def _within(self, wide: Profile) -> Iterator[Profile]:
        """All whose spans are within those of `wide`, and others for which that is true of one."""
        asked = wide.filter
        assert isinstance(asked, PredicateFilter)
        shortest, listed = len(self._profiles), self._profiles.__iter__
        for name, span in wide.sketch.spans.items():
            column = self._by_name.get(name)
            if column is None:
                return iter(())
            for length, profiles in column.within(span, asked.by_name[name]):
                if length < shortest:
                    shortest, listed = length, profiles
        return listed()


@define
class _Column:
    """All profiles that have a span on one attribute."""

    by_key: dict[Key, dict[Profile, None]] = Factory(dict)
    by_lo: Ladder[int] = Factory(Ladder)
    by_hi: Ladder[int] = Factory(Ladder)
    words: Words = Factory(Words)
    """Those of strings only, which are nowhere else."""

    def __len__(self) -> int:
        return len(self.by_lo) + len(self.words)

    def add(self, span: Span, profile: Profile) -> None:
        if span.word is not None:
            self.words.add(span.word, profile)
            return
        if span.key is not None:
            self.by_key.setdefault(span.key, {})[profile] = None
        self.by_lo.add(span.lo, profile)
        self.by_hi.add(span.hi, profile)

    def remove(self, span: Span, profile: Profile) -> None:
        if span.word is not None:
            self.words.remove(span.word, profile)
            return
        if span.key is not None:
            del self.by_key[span.key][profile]
            if not self.by_key[span.key]:
                del self.by_key[span.key]
        self.by_lo.remove(span.lo, profile)
        self.by_hi.remove(span.hi, profile)

    def within(self, span: Span, allowed: ValueSet) -> Iterator[Listed]:
        """Lists that hold all profiles whose values are among these, which have this span."""
        if span.word is not None and allowed.strings is not None:
            yield from self.words.within(allowed.strings)
        elif span.key is not None:
            same = self.by_key.get(span.key, {})
            yield len(same), same.__iter__
        elif allowed.strings is not None:
            yield len(self), lambda: chain(self.by_lo, self.words)
        else:
            if span.lo not in NO_LO:
                yield self.by_lo.about(span.lo, span.hi), partial(self.by_lo.between, span.lo, span.hi)
            if span.hi not in NO_HI:
                yield self.by_hi.about(span.lo, span.hi), partial(self.by_hi.between, span.lo, span.hi)
            yield len(self.by_lo), self.by_lo.__iter__
