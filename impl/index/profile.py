"""Profiles: filters prepared for the questions that indexes ask repeatedly.

Equal filters (FLT-6) have one profile, however often they are read: tables are keyed by its identity, and brokers that
share a process share it. It is freed when its last user releases it.

An `Entry` is a row of the subscription table; a `Roster` has those of one filter, in the order of ids.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import attrgetter
from threading import Lock
from weakref import WeakValueDictionary

from attrs import define, field

from routeproof.impl.index.sketch import Sketch, Spans, encloses, meets, sketch_of, spans_of_event
from routeproof.model.filters import Attributes, Event, EventSet, Filter, PredicateFilter
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.tables import by_id

NOTHING = Sketch(vague=True)


@define(eq=False)
class Profile:
    """Made by `profile_of`. `sketch` is of predicates, `events` of sets of event numbers; the other one is empty."""

    filter: Filter
    sketch: Sketch = field(init=False, repr=False)
    events: tuple[int, ...] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.sketch = sketch_of(self.filter) if isinstance(self.filter, PredicateFilter) else NOTHING
        self.events = self.filter.events if isinstance(self.filter, EventSet) else ()

    def covers(self, other: Profile) -> bool:
        """COV-1, of two filters of one algebra."""
        answer = encloses(self.sketch, other.sketch.spans)
        return self.filter.covers(other.filter) if answer is None else answer

    def overlaps(self, other: Profile) -> bool:
        answer = meets(self.sketch, other.sketch)
        return self.filter.overlaps(other.filter) if answer is None else answer

    def matches(self, event: Attributes, spans: Spans) -> bool:
        """`spans` are those of the event."""
        answer = encloses(self.sketch, spans)
        return self.filter.matches(event) if answer is None else answer


_PROFILES: WeakValueDictionary[Filter, Profile] = WeakValueDictionary()
_MAKING = Lock()


def profile_of(wanted: Filter) -> Profile:
    profile = _PROFILES.get(wanted)
    if profile is None:
        with _MAKING:  # two threads must not make two
            profile = _PROFILES.get(wanted)
            if profile is None:
                profile = _PROFILES[wanted] = Profile(wanted)
    return profile


def spans_of(event: Event) -> Spans:
    """Made once for each event, however many profiles are compared with it."""
    return spans_of_event(event) if isinstance(event, Attributes) else NOTHING.spans


IN_ORDER = attrgetter("key")


@define(eq=False, weakref_slot=False)
class Entry:
    """A subscription in the table; `source` is where it came from, `key` its place in the order of ids."""

    subscription: Subscription
    profile: Profile
    source: Node
    key: tuple[int, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.key = by_id(self.subscription)


class Roster(list[Entry]):
    """Entries with one filter. Most have one entry; where many share a filter, none is looked for one by one."""

    __slots__ = ()

    def add(self, entry: Entry) -> None:
        insort(self, entry, key=IN_ORDER)

    def drop(self, entry: Entry) -> None:
        del self[bisect_left(self, entry.key, key=IN_ORDER)]

    def has(self, entry: Entry) -> bool:
        at = bisect_left(self, entry.key, key=IN_ORDER)
        return at < len(self) and self[at] is entry
