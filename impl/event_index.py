"""The index over sets of event numbers: by each event that a set holds."""

from __future__ import annotations

from collections.abc import Iterator

from routeproof.impl.profile import Profile


class EventIndex:
    """Holds each profile at most once."""

    def __init__(self) -> None:
        self._by_event: dict[int, dict[Profile, None]] = {}
        self._by_first: dict[int, dict[Profile, None]] = {}

    def add(self, profile: Profile) -> None:
        for event in profile.events:
            self._by_event.setdefault(event, {})[profile] = None
        self._by_first.setdefault(profile.events[0], {})[profile] = None

    def remove(self, profile: Profile) -> None:
        for event in profile.events:
            _remove(self._by_event, event, profile)
        _remove(self._by_first, profile.events[0], profile)

    def matching(self, event: int) -> Iterator[Profile]:
        return iter(self._by_event.get(event, ()))

    def covering(self, narrow: Profile) -> Iterator[Profile]:
        """A set that covers has every event of the narrow one: the rarest of them has all that can."""
        rarest = min((self._by_event.get(event, {}) for event in narrow.events), key=len)
        for profile in rarest:
            if profile.covers(narrow):
                yield profile

    def covered(self, wide: Profile) -> Iterator[Profile]:
        for event in wide.events:
            for profile in self._by_first.get(event, ()):
                if wide.covers(profile):
                    yield profile

    def overlapping(self, other: Profile) -> Iterator[Profile]:
        seen: set[Profile] = set()
        for event in other.events:
            for profile in self._by_event.get(event, ()):
                if profile not in seen:
                    seen.add(profile)
                    yield profile


def _remove(table: dict[int, dict[Profile, None]], event: int, profile: Profile) -> None:
    del table[event][profile]
    if not table[event]:
        del table[event]
