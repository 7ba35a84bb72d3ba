"""The index over predicate filters: which of them can match an event, cover a filter, or overlap one?

A filter has one place, and it is never far from a question that concerns it. Where it fixes an attribute to one value,
it is filed under the value that fewest others fix, its access key: no event with another value there can match it, no
filter with another value is covered by it or overlaps it. Among those of one access key, and among those that fix
nothing, filters nest by their narrowest range. What is left over is asked one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

from routeproof.impl.nests import Nests
from routeproof.impl.profile import Profile
from routeproof.impl.sketch import NUMBER_BITS, STRING_BITS, STRING_LO, Key, Span, Spans
from routeproof.model.filters import Attributes


class PredicateIndex:
    """Holds each profile at most once."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[Key, _Place]] = {}
        self._keyless = _Place()
        self._place_of: dict[Profile, _Place] = {}

    def add(self, profile: Profile) -> None:
        place, rarest = self._keyless, 0
        for name, span in profile.sketch.spans.items():
            if span.key is None:
                continue
            by_key = self._by_key.setdefault(name, {})
            found = by_key.get(span.key)
            if found is None:
                found = by_key[span.key] = _Place(span)
            found.fixed_by += 1
            if place is self._keyless or found.fixed_by < rarest:
                place, rarest = found, found.fixed_by
        place.add(profile)
        self._place_of[profile] = place

    def remove(self, profile: Profile) -> None:
        self._place_of.pop(profile).remove(profile)
        for name, span in profile.sketch.spans.items():
            if span.key is None:
                continue
            by_key = self._by_key[name]
            by_key[span.key].fixed_by -= 1
            if not by_key[span.key].fixed_by:
                del by_key[span.key]
                if not by_key:
                    del self._by_key[name]

    def matching(self, event: Attributes, spans: Spans) -> Iterator[Profile]:
        for profile in self._near(spans):
            if profile.matches(event, spans):
                yield profile

    def covering(self, narrow: Profile) -> Iterator[Profile]:
        for profile in self._near(narrow.sketch.spans):
            if profile.covers(narrow):
                yield profile

    def overlapping(self, other: Profile) -> Iterator[Profile]:
        for profile in self._not_apart(other.sketch.spans):
            if profile.overlaps(other):
                yield profile

    def _near(self, spans: Spans) -> Iterator[Profile]:
        """All whose every span encloses the one in `spans`, and some for which that is true of one or two of them."""
        yield from self._keyless.enclosing(spans)
        for name, span in spans.items():
            by_key = self._by_key.get(name)
            if by_key is not None and span.key is not None and (place := by_key.get(span.key)) is not None:
                yield from place.enclosing(spans)

    def _not_apart(self, spans: Spans) -> Iterator[Profile]:
        """All of which no access key is apart from these spans."""
        yield from self._keyless.profiles
        for name, by_key in self._by_key.items():
            span = spans.get(name)
            if span is None:
                for place in by_key.values():
                    yield from place.profiles
            elif span.key is not None:
                if (place_of_key := by_key.get(span.key)) is not None:
                    yield from place_of_key.profiles
            else:
                for place in by_key.values():
                    if span.lo <= place.point <= span.hi:
                        yield from place.profiles


class _Place:
    """Profiles of one access key. `fixed_by` counts all that fix the attribute to that value, wherever they are."""

    __slots__ = ("_nests", "_rest", "fixed_by", "point", "profiles")

    def __init__(self, span: Span | None = None) -> None:
        self.fixed_by = 0
        self.point = span.lo if span is not None else 0
        self.profiles: dict[Profile, None] = {}
        self._nests: dict[str, Nests] = {}
        self._rest: dict[Profile, None] = {}

    def add(self, profile: Profile) -> None:
        self.profiles[profile] = None
        name = _narrowest(profile.sketch.spans)
        if name is None:
            self._rest[profile] = None
        else:
            if name not in self._nests:
                self._nests[name] = Nests()
            self._nests[name].add(profile.sketch.spans[name], profile)

    def remove(self, profile: Profile) -> None:
        del self.profiles[profile]
        name = _narrowest(profile.sketch.spans)
        if name is None:
            del self._rest[profile]
        else:
            nests = self._nests[name]
            nests.remove(profile.sketch.spans[name], profile)
            if not nests:
                del self._nests[name]

    def enclosing(self, spans: Spans) -> Iterator[Profile]:
        yield from self._rest
        if len(self._nests) < len(spans):
            for name, nests in self._nests.items():
                if (span := spans.get(name)) is not None:
                    yield from nests.enclosing(span)
        else:
            for name, span in spans.items():
                if (found := self._nests.get(name)) is not None:
                    yield from found.enclosing(span)


def _narrowest(spans: Spans) -> str | None:
    """The attribute with the smallest part of its line, among those that are not fixed to one value."""
    narrowest, least = None, 0
    for name, (lo, hi, _, _, key) in spans.items():
        if key is None:
            width = (hi - lo).bit_length() - (STRING_BITS if lo >= STRING_LO else NUMBER_BITS)
            if narrowest is None or width < least:
                narrowest, least = name, width
    return narrowest
