"""Readiness: was a subscription known on the whole way of a publication? Judged link by link, without a clock.

A *place* is the number of events that a broker had before an event. Places order the events of one broker, and the
messages of a link connect the places of its two ends: what was sent up to one place of the sender was received up to
one place of the receiver. `Passage` keeps that of one link, `Ways` follows it along a path.

Let a be an advertisement made at broker P and s a subscription made at broker H, and let an event match both. The
advertisement is known at each broker from some place on: at the next broker, when all that was sent to it up to that
place was received. At H both are known from some place on. From the step of that place on, what H has forwarded to the
next broker toward P includes an entry that matches the event: by COV-8 (additions before removals) that holds after
each message, as long as s and a stand. When the next broker has received everything that was sent up to that place, it
has such an entry too, and so on up to P. If each broker on the way has the entry before the publication comes, and s is
not withdrawn before the publication has come to H, the publication is owed.

Messages on other links do not matter, nor do later ones on the same links: control traffic need never rest.
docs/explanation/validation.md has the argument, and says which runs are left to the clock.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from routeproof.checker.validate.broker.canonical import OF
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import packed

ENDLESS = (1 << 63) - 1
"""A place after all others."""

KEPT = 1 << 18
"""Number of messages of a run that are kept, of each of the two kinds of passages."""

FEWEST = 1 << 10
"""Number of messages of one link that are kept at least, of each kind."""

REMEMBERED = 1 << 16
"""Number of pairs of a subscription and an advertisement whose readiness is kept."""

PATHS = 1 << 12
"""Number of paths that are kept."""

Column: TypeAlias = Any
"""A numpy array of int64."""

Link: TypeAlias = tuple[str, str]


def kept_of_link(setting: Setting) -> int:
    """Returns the number of messages of one link that are kept; 0 where readiness is not judged."""
    return max(FEWEST, KEPT // max(1, 2 * len(setting.names) - 2)) if setting.sees_ways else 0


class Passage:
    """Messages of a link in order, each with the place of the step that sent it and the place of its reception. Where
    there are more than `most`, one in 2, 4, 8, ... is kept, and the last."""

    def __init__(self, most: int) -> None:
        self._most, self._count, self._stride = most, 0, 1
        self._sent, self._taken = array("q"), array("q")
        self._last: tuple[int, int] | None = None

    def add(self, sent: Column, taken: Column) -> None:
        """Takes the next messages. `taken`: `ENDLESS` for those that were never received."""
        if not len(sent):
            return
        chosen = slice(-(self._count + 1) % self._stride, None, self._stride)
        self._sent.frombytes(np.ascontiguousarray(sent[chosen]).tobytes())
        self._taken.frombytes(np.ascontiguousarray(taken[chosen]).tobytes())
        self._count += len(sent)
        self._last = int(sent[-1]), int(taken[-1])
        while len(self._sent) > self._most:
            self._sent, self._taken = self._sent[1::2], self._taken[1::2]
            self._stride *= 2

    def cleared_by(self, place: int) -> int:
        """The place at which everything was received that had been sent up to this place of the sender; -1 if nothing
        had been."""
        at = bisect_right(self._sent, place)
        if self._last is None or place >= self._last[0]:
            return -1 if self._last is None else self._last[1]
        if self._stride == 1:
            return self._taken[at - 1] if at else -1
        return self._taken[at] if at < len(self._taken) else self._last[1]

    def passed_by(self, first: int, last: int) -> tuple[int, int]:
        """Bounds for the place at which a message was received that was sent in a step between two places. If none was
        sent there, the bounds are those of a later message."""
        sent, taken = self._sent, self._taken
        at = bisect_left(sent, first)
        low = min(ENDLESS, taken[at - 1] + 1) if at else 0
        if self._stride == 1:
            low = taken[at] if at < len(sent) else ENDLESS
        at = at if first == last else bisect_left(sent, last)
        if at < len(sent):
            return low, taken[at]
        return low, self._last[1] if self._last is not None and self._last[0] >= last else ENDLESS

    @property
    def is_kept(self) -> bool:
        """True if there is a message, and it is kept when messages passed."""
        return self._most > 0 and self._count > 0

    def told(self) -> tuple[object, ...]:
        """Returns what `believe` takes."""
        return self._most, self._count, self._stride, self._sent.tobytes(), self._taken.tobytes(), self._last

    @classmethod
    def believe(cls, found: Iterable[Any]) -> Passage:
        most, count, stride, sent, taken, last = found
        made = cls(most)
        made._count, made._stride, made._last = count, stride, None if last is None else (last[0], last[1])
        made._sent.frombytes(sent)
        made._taken.frombytes(taken)
        return made


class Passages:
    """The messages of a link: those that change tables, and all."""

    def __init__(self, most: int) -> None:
        self.control, self.every = Passage(most), Passage(most)

    def add(self, sent: Column, taken: Column | None, is_control: Column) -> None:
        """Takes the next messages, in the order in which they were sent; `taken` is None if none was received."""
        if taken is None:
            taken = np.full(len(sent), ENDLESS)
        self.every.add(sent, taken)
        self.control.add(sent[is_control], taken[is_control])

    def encode(self) -> bytes:
        return packed((self.control.told(), self.every.told()))

    @classmethod
    def decode(cls, data: bytes) -> Passages:
        made = cls(0)
        made.control, made.every = map(Passage.believe, msgspec.msgpack.decode(data))
        return made


class Lifetime(NamedTuple):
    """A subscription or an advertisement at the broker where it was made: the places of its announcement and of its
    withdrawal, which may be `ENDLESS`."""

    broker: str
    since: int
    until: int


NOTHING = Passages(0)


class Ways:
    """The ways of a run's publications. `links`: what passed each link. `on_the_way`: the digests of publications that
    were sent and never received."""

    def __init__(self, setting: Setting, links: Mapping[Link, Passages], on_the_way: Collection[int]) -> None:
        self._setting, self._links, self._on_the_way = setting, links, frozenset(on_the_way)
        self._paths: dict[Link, tuple[Passages, ...]] = {}
        self._back: dict[Link, tuple[str, ...]] = {}
        self._reached: dict[tuple[str, int], dict[str, int]] = {}
        self._ready: dict[tuple[str, int, str, int], tuple[int, ...]] = {}
        self._course: tuple[tuple[str, int], dict[str, tuple[int, int]]] = ("", 0), {}
        """Where and when something was published, and the places at which brokers had it."""

    def is_on_the_way(self, digest: int) -> bool:
        """True if a copy of a publication was on a link when the trace ended."""
        return digest & ~OF in self._on_the_way

    def is_owed(self, subscription: Lifetime, advertisement: Lifetime, place: int) -> bool:
        """True if what was published at this place of the advertisement's broker must come to the subscription."""
        near, far = advertisement.broker, subscription.broker
        if not self.is_seen(near, far):
            return False
        if not advertisement.since < place < advertisement.until:
            return False
        known = self._course_from(near, place)
        for broker, ready in zip(self._names(far, near), self.ready(subscription, advertisement), strict=True):
            if ready >= (known.get(broker) or self._bounds(known, near, broker))[0]:
                return False
        return subscription.until == ENDLESS or self._bounds(known, near, far)[1] < subscription.until

    def is_seen(self, near: str, far: str) -> bool:
        """True if the links between two brokers are observed, in both directions."""
        setting = self._setting
        if not setting.observed:
            return True
        links = list(pairwise(self._names(near, far)))
        return all(setting.compares(u, v) and setting.compares(v, u) for u, v in links)

    def ready(self, subscription: Lifetime, advertisement: Lifetime) -> tuple[int, ...]:
        """The places from which on the brokers of the way have an entry for the subscription, from its own broker to
        that of the advertisement."""
        key = subscription.broker, subscription.since, advertisement.broker, advertisement.since
        found = self._ready.get(key)
        if found is None:
            if len(self._ready) >= REMEMBERED:
                self._ready.clear()
            found = self._ready[key] = tuple(self._ready_along(subscription, advertisement))
        return found

    def arrived_by(self, near: str, place: int, far: str) -> int:
        """A place of the broker `far` by which it had what was published at this place of the broker `near`."""
        return self._bounds(self._course_from(near, place), near, far)[1]

    def _course_from(self, near: str, place: int) -> dict[str, tuple[int, int]]:
        """Bounds for the places at which brokers had a publication, as far as they were asked for."""
        if self._course[0] != (near, place):
            self._course = (near, place), {near: (place, place)}
        return self._course[1]

    def _bounds(self, known: dict[str, tuple[int, int]], near: str, far: str) -> tuple[int, int]:
        found = known.get(far)
        if found is None:
            low, high = known[near]
            for before, broker in pairwise(self._names(near, far)):
                found = known.get(broker)
                if found is None:
                    found = known[broker] = self._links.get((before, broker), NOTHING).every.passed_by(low, high)
                low, high = found
            found = low, high
        return found

    def cleared_by(self, near: str, place: int, far: str) -> int:
        """The place of the broker `far` by which it had all changes of tables that follow from this place of `near`."""
        for link in self._passages(near, far):
            if place == ENDLESS:
                break
            place = link.control.cleared_by(place)
        return place

    def _ready_along(self, subscription: Lifetime, advertisement: Lifetime) -> Iterator[int]:
        near, far = subscription.broker, advertisement.broker
        place = subscription.since
        yield place
        for broker, link in zip(self._names(near, far), self._passages(near, far), strict=False):
            place = max(place, self._known_by(advertisement, broker))
            place = ENDLESS if place == ENDLESS else link.control.cleared_by(place)
            yield place

    def _known_by(self, advertisement: Lifetime, broker: str) -> int:
        """The place at which a broker knew of an advertisement."""
        if len(self._reached) >= REMEMBERED:
            self._reached.clear()
        known = self._reached.setdefault((advertisement.broker, advertisement.since), {})
        found = known.get(broker)
        if found is None:
            found = known[broker] = self.cleared_by(advertisement.broker, advertisement.since, broker)
        return found

    def _names(self, near: str, far: str) -> tuple[str, ...]:
        found = self._back.get((near, far))
        if found is None:
            if len(self._back) >= PATHS:
                self._back.clear()
                self._paths.clear()
            setting = self._setting
            path = setting.overlay.path(setting.node[near], setting.node[far])
            found = self._back[near, far] = tuple(map(setting.name_of, path))
        return found

    def _passages(self, near: str, far: str) -> tuple[Passages, ...]:
        found = self._paths.get((near, far))
        if found is None:
            names = self._names(near, far)
            links = pairwise(names)
            found = self._paths[near, far] = tuple(self._links.get(link, NOTHING) for link in links)
        return found
