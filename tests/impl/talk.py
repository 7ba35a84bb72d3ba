"""What one broker may be told: any messages in any order, about filters that have much to do with each other."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import Factory, define, frozen
from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter

from routeproof.checker.fuzz.strategies import EVENT_SETS, PREDICATES, Algebra, Draw, Shape, pick
from routeproof.model.filters import Filter
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
    describe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay

HUB: Node = 1
KINDS = (
    ("subscribe",) * 7 + ("unsubscribe",) * 5 + ("advertise",) * 4 + ("unadvertise",) * 2 + ("publish",) * 2 + ("many",)
)


@frozen
class Talk:
    """`said`: who says what; None is a restart from the broker's own tables."""

    overlay: Overlay
    policy: str
    said: tuple[tuple[Node, Message] | None, ...]

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        """For Hypothesis, which spells out every field otherwise."""
        printer.text(str(self))

    def __str__(self) -> str:
        filters = {a.id: str(a.filter) for _, message in filter(None, self.said) for a in _items(message)}
        said = (f"{each[0]}: {describe(each[1])}" if each else "restart" for each in self.said)
        return f"{self.policy}, {len(self.overlay.edges)} neighbours; {'; '.join(said)}; where {filters}"


@st.composite
def talks(draw: Draw, policies: Sequence[str], algebras: Sequence[Algebra] = (EVENT_SETS, PREDICATES)) -> Talk:
    algebra = pick(draw, algebras)
    overlay = Overlay.of((HUB, leaf) for leaf in range(2, 2 + pick(draw, (1, 2, 2, 3, 4))))
    speech = _Speech(draw, algebra, (LOCAL, *overlay.neighbours(HUB)))
    said = [speech.next() if pick(draw, range(20)) else None for _ in range(pick(draw, (5, 20, 40, 60)))]
    return Talk(overlay, pick(draw, policies), tuple(said))


def _items(message: Message) -> Sequence[Advertisement | Subscription]:
    match message:
        case Advertise(item) | Subscribe(item):
            return (item,)
        case PackedSubscribe(items):
            return items
    return ()


@define
class _Speech:
    """Knows who said what last, so that most withdrawals can come from where they must."""

    draw: Draw
    algebra: Algebra
    hops: tuple[Node, ...]
    shapes: list[Shape] = Factory(list)
    advertisements: list[Advertisement] = Factory(list)
    subscriptions: list[Subscription] = Factory(list)
    source: dict[Advertisement | Subscription, Node] = Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.advertisements = [Advertisement(n, f"a{n}", self._filter()) for n in range(4)]
        self.subscriptions = [Subscription(n, f"s{n}", self._filter()) for n in range(pick(self.draw, range(1, 11)))]

    def next(self) -> tuple[Node, Message]:
        kind, hop = pick(self.draw, KINDS), pick(self.draw, self.hops)
        match kind:
            case "subscribe":
                subscription = pick(self.draw, self.subscriptions)
                self.source[subscription] = hop
                return hop, Subscribe(subscription)
            case "unsubscribe":
                subscription = pick(self.draw, self.subscriptions)
                return self._its_source_or(hop, subscription), Unsubscribe(subscription)
            case "advertise":
                advertisement = pick(self.draw, self.advertisements)
                self.source.setdefault(advertisement, hop)
                return hop, Advertise(advertisement)
            case "unadvertise":
                advertisement = pick(self.draw, self.advertisements)
                source = self._its_source_or(hop, advertisement)
                if self.source.get(advertisement) == source:
                    del self.source[advertisement]
                return source, Unadvertise(advertisement)
            case "many":
                many = tuple(pick(self.draw, self.subscriptions) for _ in range(pick(self.draw, (1, 2, 3, 4))))
                return hop, PackedSubscribe(many) if pick(self.draw, (True, False)) else PackedUnsubscribe(many)
        event = self.algebra.event(self.draw, pick(self.draw, self.shapes), pick(self.draw, self.shapes))
        return hop, Publish(Publication(0, "p", "a0", event))

    def _its_source_or(self, hop: Node, item: Advertisement | Subscription) -> Node:
        return self.source.get(item, hop) if pick(self.draw, (True, True, True, False)) else hop

    def _filter(self) -> Filter:
        kin = (
            pick(self.draw, ("fresh", "narrower", "narrower", "wider", "wider", "equal", "equal"))
            if self.shapes
            else "fresh"
        )
        if kin == "fresh":
            shape = self.algebra.fresh(self.draw)
        else:
            derive = {"narrower": self.algebra.narrower, "wider": self.algebra.wider, "equal": self.algebra.equal}[kin]
            shape = derive(self.draw, pick(self.draw, self.shapes))
        self.shapes.append(shape)
        return self.algebra.filter(shape)
