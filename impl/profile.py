"""A profile: a filter, made ready for the questions that indexes ask about it again and again.

Equal filters (FLT-6) have one profile, however often they are read: tables are keyed by its identity, and brokers that
share a process share it. It goes when nobody has it any more.
"""

from __future__ import annotations

from threading import Lock
from weakref import WeakValueDictionary

from attrs import define, field

from routeproof.impl.sketch import Sketch, Spans, encloses, meets, sketch_of, spans_of_event
from routeproof.model.filters import Attributes, Event, EventSet, Filter, PredicateFilter

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
    """Made once an event, however many profiles are asked about it."""
    return spans_of_event(event) if isinstance(event, Attributes) else NOTHING.spans
