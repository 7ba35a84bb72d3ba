"""The index over predicate filters the other way round: which of them does a filter cover?

What a filter covers has, on each attribute, a span within the filter's own. So profiles are filed under all their
spans, by value, by lower and by upper bound, and a question goes through the shortest of the lists that it may use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from attrs import Factory, define

from routeproof.impl.ladder import Ladder
from routeproof.impl.profile import Profile
from routeproof.impl.sketch import NO_HI, NO_LO, Key, Span


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
            if not column.size:
                del self._by_name[name]

    def covered(self, wide: Profile) -> Iterator[Profile]:
        for profile in self._within(wide):
            if wide.covers(profile):
                yield profile

    def _within(self, wide: Profile) -> Iterator[Profile]:
        """All whose spans are within those of `wide`, and others for which that is true of one."""
        shortest, listed = len(self._profiles), self._profiles.__iter__
        for name, span in wide.sketch.spans.items():
            column = self._by_name.get(name)
            if column is None:
                return iter(())
            for length, profiles in column.within(span):
                if length < shortest:
                    shortest, listed = length, profiles
        return listed()


@define
class _Column:
    """All profiles that have a span on one attribute."""

    size: int = 0
    by_key: dict[Key, dict[Profile, None]] = Factory(dict)
    by_lo: Ladder = Factory(Ladder)
    by_hi: Ladder = Factory(Ladder)

    def add(self, span: Span, profile: Profile) -> None:
        self.size += 1
        if span.key is not None:
            self.by_key.setdefault(span.key, {})[profile] = None
        self.by_lo.add(span.lo, profile)
        self.by_hi.add(span.hi, profile)

    def remove(self, span: Span, profile: Profile) -> None:
        self.size -= 1
        if span.key is not None:
            del self.by_key[span.key][profile]
            if not self.by_key[span.key]:
                del self.by_key[span.key]
        self.by_lo.remove(span.lo, profile)
        self.by_hi.remove(span.hi, profile)

    def within(self, span: Span) -> Iterator[tuple[int, Callable[[], Iterator[Profile]]]]:
        """Lists that hold all profiles whose span is within this one, each with about its length."""
        if span.key is not None:
            same = self.by_key.get(span.key, {})
            yield len(same), same.__iter__
            return
        if span.lo not in NO_LO:
            yield self.by_lo.about(span.lo, span.hi), partial(self.by_lo.between, span.lo, span.hi)
        if span.hi not in NO_HI:
            yield self.by_hi.about(span.lo, span.hi), partial(self.by_hi.between, span.lo, span.hi)
        yield self.size, self.by_lo.__iter__
