"""Costs of handling a message at a broker, in virtual nanoseconds.

`Costs` is one price a kind of message; `Costs.measured` has those of Table II of paper 000, an average per message at
brokers that hold some ten thousand subscriptions. They do not grow with the tables; a caller may give others.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from routeproof.model.messages import (
    Advertise,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)

MILLISECOND = 1_000_000
SECOND = 1_000 * MILLISECOND


@frozen
class Costs:
    """Nanoseconds of service. A packed message costs as much as its subscriptions would one by one."""

    advertise: int
    subscribe: int
    unsubscribe: int
    publish: int

    @classmethod
    def measured(cls, policy: str) -> Costs:
        """The costs of Table II of 000, in microseconds; docs/reference/workloads.md has what it leaves open."""
        matching, covering, unsubscribe, publish = TABLE_II[policy]
        thousandth = MILLISECOND // 1_000
        return cls(
            advertise=matching * thousandth,
            subscribe=(matching + covering) * thousandth,
            unsubscribe=unsubscribe * thousandth,
            publish=publish * thousandth,
        )

    @classmethod
    def free(cls) -> Costs:
        """Brokers that take no time: what is left is the latency of the links."""
        return cls(0, 0, 0, 0)

    def of(self, message: Message) -> int:
        """Nanoseconds of service. A message that only one protocol has takes no time here."""
        match message:
            case Publish():
                return self.publish
            case Subscribe():
                return self.subscribe
            case Unsubscribe():
                return self.unsubscribe
            case PackedSubscribe(many):
                return self.subscribe * len(many)
            case PackedUnsubscribe(many):
                return self.unsubscribe * len(many)
            case Advertise() | Unadvertise():
                return self.advertise
        return 0


TABLE_II: Mapping[str, tuple[int, int, int, int]] = {
    "none": (1_600, 0, 1_400, 7_900),
    "active": (810, 12_000, 1_400, 3_000),
    "lazy": (1_600, 27_000, 1_400, 6_200),
    "packing": (810, 12_000, 1_400, 3_000),
}
"""Matching and covering of a subscription, an unsubscription, a publication: microseconds each."""
