"""What a broker has handled and said, counted as it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import Factory, define

from routeproof.model.messages import (
    Advertise,
    Congest,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Relieve,
    Signal,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)

KINDS: dict[type, str] = {
    Advertise: "advertise",
    Unadvertise: "unadvertise",
    Subscribe: "subscribe",
    Unsubscribe: "unsubscribe",
    PackedSubscribe: "subscribe-many",
    PackedUnsubscribe: "unsubscribe-many",
    Publish: "publish",
    Deliver: "deliver",
    Congest: "congest",
    Relieve: "relieve",
}
"""The words of the trace format."""


TRIGGERING = (Unsubscribe, Unadvertise, PackedUnsubscribe, Relieve)
"""What a broker is told that subscriptions may be sent for because something else goes."""


def _no_messages() -> dict[str, int]:
    return dict.fromkeys(KINDS.values(), 0)


@define
class Counters:
    """Messages by kind. `triggered`: subscriptions sent because something else was withdrawn (000, 001: NRS)."""

    received: dict[str, int] = Factory(_no_messages)
    sent: dict[str, int] = Factory(_no_messages)
    triggered: int = 0

    def step(self, message: Message | Signal, sends: Sequence[tuple[int, Message]]) -> None:
        self.received[KINDS[type(message)]] += 1
        for kind, many in Counter([type(sent) for _, sent in sends]).items():
            self.sent[KINDS[kind]] += many
        if isinstance(message, TRIGGERING):
            self.triggered += sum(_subscriptions(sent) for _, sent in sends)


def _subscriptions(sent: Message) -> int:
    match sent:
        case Subscribe():
            return 1
        case PackedSubscribe(subscriptions):
            return len(subscriptions)
    return 0
