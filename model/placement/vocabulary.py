"""Vocabulary of placement: its messages, what a broker remembers of them in addition to its tables, and its readings.

Messages are traced publications, results, requests and answers of POP and of GRAPE. Places that paper 004 leaves open
are readings, keys of the table `[placement]` of instances (`spec/placement.md`).
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeVar

from attrs import evolve, frozen

from routeproof.model.fields import ORDERED, Node, choices_of
from routeproof.model.instance import Instance
from routeproof.model.messages import Advertisement, Message, MessageHeader
from routeproof.model.tables import Tables, by_id

Path = tuple[Node, ...]
"""Brokers that a relocation request has passed, the last first."""


@frozen(cache_hash=True)
class Amount:
    """A number of subscribers on average: `parts` of four to the power `power`. Sums and comparisons are exact."""

    parts: int = 0
    power: int = 0

    def at(self, power: int) -> int:
        """The parts of a finer scale."""
        return self.parts << 2 * (power - self.power)

    def __add__(self, other: Amount) -> Amount:
        power = max(self.power, other.power)
        return Amount(self.at(power) + other.at(power), power).shortest()

    def __gt__(self, other: Amount) -> bool:
        power = max(self.power, other.power)
        return self.at(power) > other.at(power)

    def __ge__(self, other: Amount) -> bool:
        return not other > self

    def averaged(self, newest: int) -> Amount:
        """POP-5: a quarter of the newest value and three quarters of this."""
        return Amount((newest << 2 * self.power) + 3 * self.parts, self.power + 1).shortest()

    def shortest(self) -> Amount:
        found = self
        while found.power and found.parts % 4 == 0:
            found = Amount(found.parts // 4, found.power - 1)
        return found


@frozen(cache_hash=True)
class Traced(MessageHeader):
    """POP-2, GRP-1, GRP-2: a traced publication's number, at its publisher, and that of the first of its session."""

    number: int
    session: int = 0


@frozen(cache_hash=True)
class Tag(Message, control=False, by="placement"):
    """The next publication of this advertisement is to be traced (POP-2): a choice, here of the model."""

    advertisement: Advertisement


@frozen(cache_hash=True)
class TraceResult(Message, control=False, rule="POP-3"):
    """To the upstream broker: the subscribers here and behind that a traced publication was delivered to (POP-3)."""

    advertisement: Advertisement
    subscribers: int
    number: int = 0
    """The publication's number at its publisher; 0 where results do not name it, as printed."""


@frozen(cache_hash=True)
class RelocationRequest(Message, control=False, rule="POP-7"):
    """Where should this publisher be? (POP-7)"""

    advertisement: Advertisement
    total: Amount
    path: Path


@frozen(cache_hash=True)
class RelocationAnswer(Message, control=False, rule="POP-10"):
    """To the broker that asked: the path of the move, the target first (POP-10)."""

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class BrokerTrace:
    """GRP-5: what one broker saw of a session. Bit D of `bits`: publication D was delivered there (GRP-3)."""

    broker: Node
    neighbours: tuple[Node, ...]
    bits: int
    deliveries: int


@frozen(cache_hash=True)
class TraceRequest(Message, control=False, rule="GRP-4"):
    """To a neighbour that got publications of the session: report what was delivered (GRP-4)."""

    advertisement: Advertisement
    session: int


@frozen(cache_hash=True)
class TraceAnswer(Message, control=False, rule="GRP-5"):
    """The traces of a broker and of all behind it (GRP-5)."""

    advertisement: Advertisement
    session: int
    traces: tuple[BrokerTrace, ...]


PLACEMENT = (Tag, TraceResult, RelocationRequest, RelocationAnswer, TraceRequest, TraceAnswer)
"""The kinds of messages that placement adds."""


# -- local states ------------------------------------------------------------------------------------------------------


Counts = tuple[tuple[Node, int], ...]
"""Subscribers by the neighbour behind which they are; `LOCAL` for the broker's own."""

T = TypeVar("T")


@frozen(cache_hash=True)
class PendingTrace:
    """POP-4: a traced publication, the neighbours whose results are still to come, and what is known of it."""

    advertisement: Advertisement
    number: int
    upstream: Node
    waits: tuple[Node, ...]
    counts: Counts


@frozen(cache_hash=True)
class Profile:
    """POP-5: the average number of subscribers of one publisher, by neighbour, and how many traces were taken in."""

    averages: tuple[tuple[Node, Amount], ...] = ()
    traces: int = 0


@frozen(cache_hash=True)
class Session:
    """GRP-3: what a broker keeps of a trace session, and (GRP-4) which neighbours got some of it."""

    advertisement: Advertisement
    number: int
    """The number of its first publication."""
    published: int = 0
    """At the first broker: its publications so far."""
    bits: int = 0
    deliveries: int = 0
    downstream: tuple[Node, ...] = ()


@frozen(cache_hash=True)
class Retrieval:
    """GRP-4, GRP-5: answers of a session that are gathered for the upstream broker."""

    advertisement: Advertisement
    number: int
    upstream: Node
    waits: tuple[Node, ...]
    traces: tuple[BrokerTrace, ...]


@frozen(cache_hash=True)
class Decision:
    """The end of a selection: the path of the move, the target first, and what it rests on."""

    path: Path
    traces: tuple[BrokerTrace, ...] = ()


PerAdvertisement = Annotated[tuple[tuple[Advertisement, T], ...], ORDERED]


@frozen(cache_hash=True)
class PlacementTables(Tables):
    """A broker's tables, and its part in the placement of publishers."""

    tagging: Annotated[tuple[Advertisement, ...], ORDERED] = ()
    """Publishers here whose next publication is to be traced."""
    numbers: PerAdvertisement[int] = ()
    """The number of publications of each publisher here (GRP-2)."""
    traces: tuple[PendingTrace, ...] = ()
    """Traces that wait for results, the oldest first."""
    profiles: PerAdvertisement[Profile] = ()
    gathered: PerAdvertisement[int] = ()
    """At the first broker: traces that have ended since the last selection (POP-6)."""
    asked: Annotated[tuple[Advertisement, ...], ORDERED] = ()
    """At the first broker: publishers whose selection is under way."""
    sessions: tuple[Session, ...] = ()
    retrievals: tuple[Retrieval, ...] = ()
    decisions: PerAdvertisement[Decision] = ()
    """At the first broker: the last decision for each publisher."""

    def of(self, name: str, advertisement: Advertisement, default: T) -> T:
        """The entry of an advertisement in the field of this name."""
        return next((value for a, value in getattr(self, name) if a == advertisement), default)

    def put(self, name: str, advertisement: Advertisement, value: object) -> Self:
        """With this entry of an advertisement in the field of this name; without one where the value is None."""
        entries = [e for e in getattr(self, name) if e[0] != advertisement]
        entries += [] if value is None else [(advertisement, value)]
        return evolve(self, **{name: tuple(sorted(entries, key=lambda e: by_id(e[0])))})

    def marked(self, name: str, advertisement: Advertisement, *, present: bool = True) -> Self:
        """With the advertisement in the field of this name, or without it."""
        others = [a for a in getattr(self, name) if a != advertisement]
        entries = sorted([*others, advertisement], key=by_id) if present else others
        return evolve(self, **{name: tuple(entries)})

    def without(self, name: str, entry: object) -> Self:
        """Without this value in the field of this name."""
        return evolve(self, **{name: tuple(each for each in getattr(self, name) if each != entry)})

    def with_last(self, name: str, entry: object) -> Self:
        return evolve(self, **{name: (*getattr(self, name), entry)})

    def session(self, advertisement: Advertisement, number: int) -> Session | None:
        return next((s for s in self.sessions if (s.advertisement, s.number) == (advertisement, number)), None)


# -- readings ----------------------------------------------------------------------------------------------------------


@frozen
class PlacementParameters:
    """A choice of readings, and the numbers of an instance."""

    algorithm: Literal["pop", "grape"] = "pop"
    results: Literal["named", "unnamed"] = "named"
    """Named, since results of two traces may overtake each other, where one publication goes less far."""
    absent: Literal["zero", "skipped"] = "zero"
    """A neighbour that got nothing counts as 0, or its average would stay high after its subscribers have left."""
    counter: Literal["publisher", "broker"] = "publisher"
    """A publisher's own counter, or the offsets in a bit vector might exceed the threshold."""
    metric: Literal["load", "delay"] = "load"
    threshold: int = 1
    """Traced publications before a selection (POP-6, GRP-1)."""
    tags: int = 1
    """POP: publications of each publisher that may be tagged."""
    weight: int = 100


READINGS = choices_of(PlacementParameters)
"""Per reading its values, the default first."""


DEFAULT = PlacementParameters()


def parameters_of(instance: Instance) -> PlacementParameters:
    """The readings that an instance chooses."""
    found: PlacementParameters = instance.section("placement", DEFAULT)
    return found
