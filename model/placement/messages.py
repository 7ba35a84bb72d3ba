"""Messages of placement: traced publications, results, requests and answers of POP and of GRAPE."""

from __future__ import annotations

from attrs import frozen

from routeproof.model.fields import Node
from routeproof.model.messages import Advertisement, Header, Message, Publication

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
class Traced(Header):
    """POP-2: the publication is traced. GRP-1, GRP-2: it has this number at its publisher, in the session that began
    with the number `session`.
    """

    number: int = 0
    session: int = 0


@frozen(cache_hash=True)
class Tag(Message):
    """The next publication of this advertisement is to be traced (POP-2): a choice, here of the model."""

    kind = "tag"
    control = False
    by = "placement"

    advertisement: Advertisement


@frozen(cache_hash=True)
class TraceResult(Message):
    """To the upstream broker: the subscribers here and behind that a traced publication was delivered to (POP-3)."""

    kind = "trace-result"
    control = False

    advertisement: Advertisement
    count: int
    number: int = 0
    """The publication's number at its publisher; 0 where results do not name it, as printed."""


@frozen(cache_hash=True)
class RelocationRequest(Message):
    """Where should this publisher be? (POP-7)"""

    kind = "relocation-request"
    control = False

    advertisement: Advertisement
    total: Amount
    path: Path


@frozen(cache_hash=True)
class RelocationAnswer(Message):
    """To the broker that asked: the path of the move, the target first (POP-10)."""

    kind = "relocation-answer"
    control = False

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
class TraceRequest(Message):
    """To a neighbour that got publications of the session: report what was delivered (GRP-4)."""

    kind = "trace-request"
    control = False

    advertisement: Advertisement
    session: int


@frozen(cache_hash=True)
class TraceAnswer(Message):
    """The traces of a broker and of all behind it (GRP-5)."""

    kind = "trace-answer"
    control = False

    advertisement: Advertisement
    session: int
    traces: tuple[BrokerTrace, ...]


PLACEMENT = (Tag, TraceResult, RelocationRequest, RelocationAnswer, TraceRequest, TraceAnswer)
"""The kinds of messages that placement adds."""

__all__ = [
    "PLACEMENT",
    "Amount",
    "BrokerTrace",
    "Path",
    "Publication",
    "RelocationAnswer",
    "RelocationRequest",
    "Tag",
    "TraceAnswer",
    "TraceRequest",
    "TraceResult",
    "Traced",
]
