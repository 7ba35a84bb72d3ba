"""Brokers that do as little as a test of a driver needs."""

from collections.abc import Callable, Sequence

from routeproof.model.filters import STRICT, EventSet
from routeproof.model.messages import Advertisement, Deliver, Message, Publication, Publish, Subscription
from routeproof.model.overlay import LOCAL, Node, Overlay

EVERYTHING = Subscription(1, "everything", STRICT.parse([]))


def publication(number: int) -> Publication:
    return Publication(number, f"p{number}", "a", number)


def advertisement(number: int) -> Advertisement:
    return Advertisement(number, f"a{number}", EventSet.of([number]))


def subscription(number: int) -> Subscription:
    return Subscription(number, f"s{number}", EventSet.of([number]))


class Scripted:
    """Answers as it is told, and remembers what it was asked, in order."""

    def __init__(self, node: Node, answer: Callable[[Node, Message], Sequence[tuple[Node, Message]]]) -> None:
        self.node = node
        self.answer = answer
        self.received: list[tuple[Node, Message]] = []

    def receive(self, sender: Node, message: Message) -> Sequence[tuple[Node, Message]]:
        assert not message.by, "it was not asked to be congested"
        self.received.append((sender, message))
        return self.answer(sender, message)

    @property
    def table_size(self) -> int:
        return len(self.received)


def flooding(overlay: Overlay) -> Callable[[Node], Scripted]:
    """Every message goes to every broker; publications are delivered everywhere."""

    def make(node: Node) -> Scripted:
        def answer(sender: Node, message: Message) -> Sequence[tuple[Node, Message]]:
            onward: list[tuple[Node, Message]] = [(n, message) for n in overlay.neighbours(node) if n != sender]
            if isinstance(message, Publish):
                onward.append((LOCAL, Deliver(message.publication, EVERYTHING)))
            return onward

        return Scripted(node, answer)

    return make


def silent(node: Node) -> Scripted:
    return Scripted(node, lambda _sender, _message: [])
