"""A publisher that moves: it speaks to one broker at a time, and holds back what it is given while it moves."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.impl.routing import Sends
from routeproof.model.messages import Advertise, Advertisement, Message, Publish, Unadvertise
from routeproof.model.migration.messages import Arrive, Flushed, Leave, Path, Pause, Refuse, Resume, Stay
from routeproof.model.migration.state import Publisher
from routeproof.model.overlay import Node


class MovingPublisher:
    """Begins at `home`. `places`: the brokers to which it has a channel. `marks`: it marks its last publication before
    it moves (MIG-12).
    """

    def __init__(self, node: Node, home: Node, places: Sequence[Node], *, marks: bool) -> None:
        self.node = node
        self.at = home
        self.places = frozenset(places)
        self.marks = marks
        self.advertised = False
        self.paused = False
        self.held: list[Message] = []

    def receive(self, sender: Node, message: Message) -> Sends:
        """One step: an operation, or a message from a broker."""
        match message:
            case Publish() | Unadvertise() if self.paused:  # MIG-1
                self.held.append(message)
                return []
            case Advertise() | Publish() | Unadvertise():
                self._notes(message)
                return [(self.at, message)]
            case Pause(a, path):
                can_go = self.advertised and path[:1] and path[0] in self.places
                return self._pause(a, path) if can_go else [(self.at, Stay(a))]  # MIG-16
            case Resume(a):  # MIG-8
                former, self.at = self.at, sender
                return [*self._released(), (former, Leave(a))]
            case Refuse(a):  # MIG-16
                return [*self._released(), (self.at, Stay(a))]
        return []  # a peer that is mistaken: there is nothing to do here

    def _pause(self, a: Advertisement, path: Path) -> Sends:
        self.paused = True
        mark: Sends = [(self.at, Flushed(a))] if self.marks else []
        return [*mark, (path[0], Arrive(a, path))]

    def _released(self) -> Sends:
        held, self.held, self.paused = self.held, [], False
        for message in held:
            self._notes(message)
        return [(self.at, message) for message in held]

    def _notes(self, message: Message) -> None:
        if isinstance(message, Advertise | Unadvertise):
            self.advertised = isinstance(message, Advertise)

    def tables(self) -> Publisher:
        """Its state as the model has it."""
        return Publisher(self.at, self.advertised, self.paused, tuple(self.held))
