"""Local states of the mesh: a broker's map of its neighbourhood, links and subscriptions, and the coordinator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Annotated

from attrs import evolve, field, frozen

from routeproof.model.fields import ORDERED, SubscriptionId
from routeproof.model.messages import Publication, Subscription
from routeproof.model.overlay import LOCAL, Link, Node, Overlay
from routeproof.model.tables import by_id

Ends = frozenset[Node]
"""Ends of a broker's links."""


@frozen(cache_hash=True)
class MasterMap:
    """The primary links within a radius of a broker, each once, the lower number first."""

    centre: Node
    edges: tuple[Link, ...] = field()

    @classmethod
    def of(cls, overlay: Overlay, centre: Node, radius: int) -> MasterMap:
        """MESH-1: the sub-graph of the primary network that the brokers within the radius induce."""
        near = {b for b in overlay.brokers if len(overlay.path(centre, b)) <= radius + 1}
        return cls(centre, tuple(e for e in overlay.edges if near.issuperset(e)))

    @classmethod
    def within(cls, centre: Node, links: Iterable[Link], radius: int) -> MasterMap:
        """The part of these links that is within the radius of a broker."""
        whole = cls(centre, tuple(sorted(links)))
        near = {b for b in whole.brokers if whole.distance(b) <= radius}
        return cls(centre, tuple(e for e in whole.edges if near.issuperset(e)))

    @cached_property
    def _toward_centre(self) -> Mapping[Node, Node]:
        """Per broker its neighbour on the way to the centre, in ascending order of distance."""
        parent, frontier = {self.centre: LOCAL}, [self.centre]
        while frontier:
            steps = [(near, far) for near in frontier for far in self.neighbours(near) if far not in parent]
            parent.update({far: near for near, far in steps})
            frontier = [far for _, far in steps]
        return parent

    @property
    def brokers(self) -> tuple[Node, ...]:
        """The brokers of the map in ascending order of distance, the centre first."""
        return tuple(self._toward_centre)

    def neighbours(self, broker: Node) -> tuple[Node, ...]:
        """The brokers at the other end of the broker's primary links, in ascending order."""
        return tuple(sorted(v if u == broker else u for u, v in self.edges if broker in (u, v)))

    def path(self, broker: Node) -> tuple[Node, ...]:
        """The primary path from the centre to a broker, both included."""
        return tuple(self._back(broker))[::-1]

    def _back(self, broker: Node) -> Iterator[Node]:
        while broker != LOCAL:
            yield broker
            broker = self._toward_centre[broker]

    def distance(self, broker: Node) -> int:
        """Hops of the primary path from the centre to a broker."""
        return len(self.path(broker)) - 1

    def branch(self, broker: Node) -> Node:
        """The centre's primary neighbour on the way to a broker; `LOCAL` for the centre itself."""
        return LOCAL if broker == self.centre else self.path(broker)[1]


Nodes = Annotated[tuple[Node, ...], ORDERED]


@frozen(cache_hash=True)
class MeshTables:
    """A broker's master structures and its links. Working structures are derived from these (MESH-2, SUB-5)."""

    master: MasterMap
    soft: Nodes = ()
    candidates: Nodes = ()
    subs: Annotated[tuple[tuple[Subscription, Node], ...], ORDERED] = ()
    """SUB-1: each subscription with its anchor, in the order of ids."""
    incoming: Nodes = ()
    """The brokers whose soft link to this one stands."""
    is_loaded: bool = False
    """FWD-7: the uplink is above the threshold."""

    sent: tuple[tuple[Node, int], ...] = ()
    """LINK-2: per end the number of publications meant for it since the last round."""
    loads: tuple[tuple[Node, int], ...] = ()
    """LINK-4: the loads that are known, in percent."""

    target: Node = LOCAL
    """MOVE-1: the broker to which this one asks to move."""
    ring: tuple[Node, ...] = ()
    """The ring of the move that is under way here (`move`)."""
    phase: str = ""
    """The wave that the mover awaits; `finish` at other brokers that the last wave has reached."""
    parent: Node = LOCAL
    """Where the wave came from that is not confirmed yet."""
    waiting: Nodes = ()
    """The brokers whose confirmation is awaited."""
    draining: Nodes = ()
    """The ends of closed links that may have something on their way, once for each `Down` that is not answered."""
    left: bool = False
    """The last message on the old link has come."""
    seen: Annotated[tuple[Publication, ...], ORDERED] = ()
    """MOVE-4: the publications that the mover has handled during the move."""
    withheld: tuple[tuple[Subscription, Node], ...] = ()
    """MOVE-7: the subscriptions of the mover's side that its old neighbour does not have yet, in the order of their
    coming, each with its anchor there; `LOCAL` for a withdrawal."""
    is_off: bool = False
    """MOVE-9: the move is called off, and ends with the first wave."""

    @property
    def gone(self) -> tuple[SubscriptionId, ...]:
        """The subscriptions that were withdrawn meanwhile."""
        return tuple(s.id for s, anchor in self.withheld if anchor == LOCAL)

    @property
    def connected(self) -> Ends:
        """The ends of real connections."""
        return frozenset((*self.master.neighbours(self.master.centre), *self._known(self.soft)))

    @property
    def links(self) -> Ends:
        """The ends of all links but the primary ones."""
        return frozenset(self._known((*self.soft, *self.candidates)))

    def _known(self, ends: Nodes) -> Nodes:
        """The ends that are in the map: a link that a move should have closed may lead out of it."""
        return tuple(end for end in ends if end in self.master.brokers)

    def with_sub(self, s: Subscription, anchor: Node) -> MeshTables:
        others = (each for each in self.subs if each[0] != s)
        return evolve(self, subs=tuple(sorted((*others, (s, anchor)), key=lambda each: by_id(each[0]))))

    def without_sub(self, s: Subscription) -> MeshTables:
        return evolve(self, subs=tuple(each for each in self.subs if each[0] != s))


@frozen(cache_hash=True)
class Coordinator:
    """The coordinator: one move at a time (MOVE-1)."""

    asked: tuple[Node, ...] = ()
    """The brokers that asked, in this order. The first one moves."""
