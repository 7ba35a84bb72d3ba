"""What comes after the first withdrawal: the figures of the papers are of that, not of the hours before it."""

from __future__ import annotations

from array import array
from collections import Counter

from attrs import define, field

from routeproof.impl.metrics import subscriptions
from routeproof.impl.simulator import Observer, Operation, Sends, Simulator
from routeproof.impl.workloads.controlled import PROBE
from routeproof.model.filters import Attributes
from routeproof.model.messages import (
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Relieve,
    Signal,
    Subscribe,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node

ONE_IN = 16
"""Of what is published before, one in so many is looked at."""


@define(eq=False)
class Aftermath(Observer):
    """Delays are of what was published from then on, in nanoseconds; the rest is by broker."""

    since: int | None = None
    """When the first withdrawal was issued."""
    until: int = 0
    """When the last publication was made."""
    delays: array[int] = field(factory=lambda: array("q"))
    delivered_at: array[int] = field(factory=lambda: array("q"))
    at_rest: array[int] = field(factory=lambda: array("q"))
    """Delays of some of what was published and delivered before."""
    probes: array[int] = field(factory=lambda: array("q"))
    """Delays, of publications that are probes."""
    queues: Counter[Node] = field(factory=Counter)
    """The longest that each has been, messages that were kept out of it included."""
    uncovered: Counter[Node] = field(factory=Counter)
    """Subscriptions that were sent because of a withdrawal, each once a withdrawal however many neighbours got it."""
    messages: Counter[Node] = field(factory=Counter)
    """The messages in which they were sent."""
    publications: Counter[Node] = field(factory=Counter)
    """Received from neighbours."""
    _published: dict[str, int] = field(factory=dict)

    def issued(self, operation: Operation) -> None:
        if self.since is None and isinstance(operation.message, Unsubscribe):
            self.since = operation.time
            self._published.clear()
        if isinstance(operation.message, Publish):
            publication = operation.message.publication
            if self.since is not None:
                self.until = operation.time
            if self.since is not None or publication.rank % ONE_IN == 0:
                self._published[publication.id] = operation.time

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message | Signal, began: int, sends: Sends
    ) -> None:
        if self.since is None:
            if isinstance(message, Publish) and (published := self._published.get(message.publication.id)) is not None:
                self.at_rest.extend(simulator.now - published for to, _ in sends if to == LOCAL)
            return
        self.queues[broker] = max(self.queues[broker], simulator.queue(broker) + simulator.held(broker))
        if isinstance(message, Publish):
            self.publications[broker] += sender != LOCAL
            published = self._published.get(message.publication.id)
            if published is not None:
                self._delivered(simulator.now, published, message.publication, sends)
        elif isinstance(message, Unsubscribe | PackedUnsubscribe | Relieve):
            self.uncovered[broker] += len({s for _, sent in sends for s in subscriptions(sent)})
            self.messages[broker] += sum(isinstance(sent, Subscribe | PackedSubscribe) for _, sent in sends)

    def _delivered(self, now: int, published: int, publication: Publication, sends: Sends) -> None:
        for to, _ in sends:
            if to == LOCAL:
                self.delays.append(now - published)
                self.delivered_at.append(now)
                if _is_probe(publication):
                    self.probes.append(now - published)


def _is_probe(publication: Publication) -> bool:
    event = publication.event
    return isinstance(event, Attributes) and ("class", PROBE) in event.pairs
