"""What one broker that prunes may be told: anything, in any order, under any readings, with any cuts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from attrs import Factory, define, evolve, fields, frozen
from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter

from routeproof.checker.fuzz.strategies import EVENT_SETS, PREDICATES, Algebra, Draw, Shape, pick
from routeproof.model.filters import Event, EventSet, Filter
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
    describe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.pruning.vocabulary import (
    Congest,
    Cut,
    PruningParameters,
    Relieve,
    cuts_of,
    met,
    publish,
    withdraw,
)

HUB: Node = 1
FEW = None
"""Instead of an algebra: sets of few events, which meet in every way."""

SUBSETS = tuple(EventSet.of(events) for n in (1, 2, 3) for events in combinations(range(3), n))
KINDS = (
    *("subscribe",) * 8,
    *("unsubscribe",) * 6,
    *("advertise",) * 4,
    *("unadvertise",) * 2,
    *("publish",) * 5,
    *("congest", "relieve"),
)
BEFORE: dict[str, Sequence[int]] = {"advertise": (1, 2, 4, 6), "subscribe": (2, 4, 8, 12), "publish": (0, 2, 5)}

READINGS: dict[str, Sequence[object]] = {
    "triggered": ("broker", "neighbour"),
    "inclusive": (True, False),
    "without_history": ("remove", "zero", "absent"),
    "counts": ("elsewhere", "all"),
    "rows": ("updated", "arrived"),
    "window": (3, 1, 1000),
    "fewest": (1, 2, 0),
    "sends": ("all", "listed"),
    "base": ("active", "lazy"),
    "remembers": (True, False),
    "collects": (False, True),
    "overtakes": (False, True),
    "identity": ("issue", "id"),
    "cuts": ((0, 1), (1, 2), (1, 3), (2, 2), (10, 5012)),
    "newcomers": ("keep", "withdraw"),
}
"""Of every parameter but `thresholds`, which depend on the policy: what is drawn, small enough to matter."""

THRESHOLDS = {"incremental": ((60, 90), (0, 50), (50, 100), (30, 30)), "selective": ((90,), (0,), (50,), (100,))}


@frozen
class Talk:
    """`said`: who says what; None is a restart from the broker's own tables."""

    overlay: Overlay
    policy: str
    parameters: PruningParameters
    said: tuple[tuple[Node, Message] | None, ...]

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        """For Hypothesis, which spells out every field otherwise."""
        printer.text(str(self))

    def __str__(self) -> str:
        usual = PruningParameters.of(self.policy)
        changed = {
            each.name: getattr(self.parameters, each.name)
            for each in fields(PruningParameters)
            if getattr(self.parameters, each.name) != getattr(usual, each.name)
        }
        filters = {}
        for _, message in filter(None, self.said):
            if isinstance(message, Advertise | Subscribe):
                item = message.advertisement if isinstance(message, Advertise) else message.subscription
                filters[item.id] = str(item.filter)
        said = "; ".join(_spelt(each) for each in self.said)
        return f"{self.policy} {changed}, {len(self.overlay.edges)} neighbours; {said}; where {filters}"


def _spelt(each: tuple[Node, Message] | None) -> str:
    if each is None:
        return "restart"
    sender, message = each
    cuts = ""
    if isinstance(message, Unsubscribe) and message.header is not None:
        cuts = str([(cut.advertisement, cut.distances) for cut in cuts_of(message) or ()])
    if isinstance(message, Publish):
        cuts = f"{message.publication.event} ({met(message).distance}, {met(message).count})"
    return f"{sender}: {describe(message)}{cuts}"


def drawn_parameters(draw: Draw, policy: str) -> PruningParameters:
    """Mostly what is usual: a reading shows what it does best among those."""
    changed: dict[str, Any] = {name: pick(draw, (values[0], values[0], *values)) for name, values in READINGS.items()}
    if policy == "selective":
        changed["cuts"] = (10, 5012)
    return evolve(PruningParameters.of(policy), thresholds=pick(draw, THRESHOLDS[policy]), **changed)


@st.composite
def talks(
    draw: Draw,
    /,
    policies: Sequence[str],
    algebras: Sequence[Algebra | None] = (FEW, EVENT_SETS, PREDICATES),
    **fixed: Any,
) -> Talk:
    """`fixed`: parameters that are not drawn."""
    algebra, policy = pick(draw, algebras), pick(draw, policies)
    parameters = evolve(drawn_parameters(draw, policy), **fixed)
    overlay = Overlay.of((HUB, leaf) for leaf in range(2, 2 + pick(draw, (1, 2, 2, 3, 4))))
    speech = _Speech(draw, algebra, policy, (LOCAL, *overlay.neighbours(HUB)))
    said: list[tuple[Node, Message] | None] = []
    if pick(draw, (True, True, True, False)):  # first something that can be withdrawn
        said = [speech.next(kind) for kind, many in BEFORE.items() for _ in range(pick(draw, many))]
    said += [speech.next() if pick(draw, range(20)) else None for _ in range(pick(draw, (5, 20, 40)))]
    return Talk(overlay, policy, parameters, tuple(said))


@define
class _Speech:
    """Knows who said what last, so that most withdrawals can come from where they must."""

    draw: Draw
    algebra: Algebra | None
    policy: str
    hops: tuple[Node, ...]
    shapes: list[Shape] = Factory(list)
    advertisements: list[Advertisement] = Factory(list)
    subscriptions: list[Subscription] = Factory(list)
    source: dict[Advertisement | Subscription, Node] = Factory(dict)
    published: int = 0

    def __attrs_post_init__(self) -> None:
        self.advertisements = [Advertisement(n, f"a{n}", self._filter()) for n in range(4)]
        self.subscriptions = [Subscription(n, f"s{n}", self._filter()) for n in range(pick(self.draw, (1, 4, 8, 12)))]

    def next(self, kind: str = "") -> tuple[Node, Message]:
        kind, hop = kind or pick(self.draw, KINDS), pick(self.draw, self.hops)
        match kind:
            case "subscribe":
                subscription = pick(self.draw, self.subscriptions)
                hop = pick(self.draw, (hop, *self.hops[:-1]))
                self.source[subscription] = hop
                return hop, Subscribe(subscription)
            case "unsubscribe":
                known = [s for s in self.subscriptions if s in self.source]
                subscription = pick(self.draw, known or self.subscriptions)
                source = self._its_source_or(hop, subscription)
                if self.source.get(subscription) == source and pick(self.draw, (True, True, True, False)):
                    del self.source[subscription]  # otherwise it may be withdrawn once more
                return source, withdraw(subscription, self._cuts(source))
            case "advertise":
                advertisement = pick(self.draw, self.advertisements)
                hop = pick(self.draw, (hop, self.hops[-1], self.hops[-1]))  # several on one side: lists are shortened
                self.source.setdefault(advertisement, hop)
                return hop, Advertise(advertisement)
            case "unadvertise":
                advertisement = pick(self.draw, self.advertisements)
                source = self._its_source_or(hop, advertisement)
                if self.source.get(advertisement) == source:
                    del self.source[advertisement]
                return source, Unadvertise(advertisement)
            case "congest":
                return LOCAL, Congest()
            case "relieve":
                return LOCAL, Relieve()
        return hop, self._publication()

    def _publication(self) -> Publish:
        event: Event = pick(self.draw, range(3))
        if self.algebra is not FEW:
            event = self.algebra.event(self.draw, pick(self.draw, self.shapes), pick(self.draw, self.shapes))
        self.published += 1
        publication = Publication(self.published, f"p{self.published}", pick(self.draw, ("a0", "a0", "a1", "?")), event)
        return publish(publication, pick(self.draw, (0, 0, 1, 2, 5)), pick(self.draw, (0, 0, 1, 3)))

    def _cuts(self, source: Node) -> tuple[Cut, ...] | None:
        """A client writes none; a neighbour may write anything: what is unknown, what is long past."""
        if source == LOCAL or not pick(self.draw, range(5)):
            return None
        many = pick(self.draw, (0, 1, 1, 2, 4))
        return tuple(Cut(pick(self.draw, ("a0", "a1", "a2", "a3", "?")), self._distances()) for _ in range(many))

    def _distances(self) -> tuple[int | None, ...]:
        one = pick(self.draw, DISTANCES)
        if self.policy == "selective":
            return (one,)
        return one, pick(self.draw, DISTANCES)

    def _its_source_or(self, hop: Node, item: Advertisement | Subscription) -> Node:
        return self.source.get(item, hop) if pick(self.draw, range(6)) else hop

    def _filter(self) -> Filter:
        if self.algebra is FEW:
            return pick(self.draw, SUBSETS)
        kinds = ("fresh", "narrower", "narrower", "wider", "wider", "equal", "equal") if self.shapes else ("fresh",)
        kin = pick(self.draw, kinds)
        if kin == "fresh":
            shape = self.algebra.fresh(self.draw)
        else:
            derive = {"narrower": self.algebra.narrower, "wider": self.algebra.wider, "equal": self.algebra.equal}[kin]
            shape = derive(self.draw, pick(self.draw, self.shapes))
        self.shapes.append(shape)
        return self.algebra.filter(shape)


DISTANCES: Sequence[int | None] = (0, 0, 0, 1, 2, -1, None)
