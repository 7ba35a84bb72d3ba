"""Maps of a broker's neighbourhood, and the strategies that forward by them, with sets of ends as bit vectors.

A `MasterMap` is the part of the primary network around a broker, as distances and ways back to the centre. A
`WorkingMap` has the ends of the broker's links in one array, the nearest first; bit i of a vector is the end at place
i. Both are made anew when something changes, in one pass over the brokers of the neighbourhood.

A `Strategy` leads from the ends that stand for anchors to those that get a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from routeproof.model.overlay import Link, Node

Bits = int
"""A set of ends: bit i stands for the end at place i of the array."""


def places(bits: Bits) -> Iterator[int]:
    """The places of the bits that are set, in ascending order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class MasterMap:
    """MESH-1: of these primary links, those between brokers at most `radius` hops from the centre."""

    def __init__(self, centre: Node, links: Iterable[Link], radius: int) -> None:
        around: dict[Node, list[Node]] = {centre: []}
        for u, v in links:
            around.setdefault(u, []).append(v)
            around.setdefault(v, []).append(u)
        self.centre = centre
        self.parent: dict[Node, Node] = {}
        """Per broker its neighbour on the way to the centre, in ascending order of distance."""
        self.distance = {centre: 0}
        order = [centre]
        for near in order:  # grows meanwhile
            if self.distance[near] < radius:
                for far in around[near]:
                    if far not in self.distance:
                        self.parent[far] = near
                        self.distance[far] = self.distance[near] + 1
                        order.append(far)
        self.neighbours = tuple(sorted(far for far, near in self.parent.items() if near == centre))

    def __contains__(self, broker: Node) -> bool:
        return broker in self.distance

    @property
    def edges(self) -> tuple[Link, ...]:
        """The links, each once, the lower number first, in ascending order."""
        return tuple(sorted((min(link), max(link)) for link in self.parent.items()))

    def path(self, broker: Node) -> list[Node]:
        """The primary path from the centre to a broker, both included."""
        back = [broker]
        while back[-1] != self.centre:
            back.append(self.parent[back[-1]])
        return back[::-1]

    def branch(self, broker: Node) -> Node:
        """The neighbour of the centre on the way to a broker other than the centre."""
        while self.parent[broker] != self.centre:
            broker = self.parent[broker]
        return broker


class WorkingMap:
    """MESH-2: follows from a master map and the ends of the broker's links, those of primary links included anyway.

    `connected`: the ends of real connections. What has no link is merged into what is nearer (MESH-3): in one pass from
    near to far, each broker is represented by itself if it is an end, or else as its neighbour toward the centre is.
    """

    def __init__(
        self,
        master: MasterMap,
        connected: Iterable[Node],
        candidates: Collection[Node] = (),
        *,
        contracted: bool = False,
    ) -> None:
        real = {*master.neighbours, *connected}
        ends = {*real, *candidates}
        distance = self._hops(master, ends) if contracted else master.distance
        self.master = master
        self.array: Sequence[Node] = sorted(ends, key=lambda end: (distance[end], end))  # MESH-4
        self.place = {end: place for place, end in enumerate(self.array)}
        self.stands: dict[Node, int] = {}
        """MESH-3: per broker of the map but the centre, the place of the end that represents it."""
        self._between: list[Bits] = [0] * len(ends)
        self._beyond: list[Bits] = [0] * len(ends)
        self._branch: list[Bits] = [0] * len(ends)
        self._downstream: dict[Node, Bits] = dict.fromkeys(master.parent, 0)
        self._contract(ends)
        self.everything: Bits = (1 << len(ends)) - 1
        self.primary = sum(1 << self.place[each] for each in master.neighbours)
        self.real = sum(1 << self.place[each] for each in real)

    @staticmethod
    def _hops(master: MasterMap, ends: Collection[Node]) -> dict[Node, int]:
        """Distances in the map that remains when brokers without a link are merged into nearer ones."""
        hops = {master.centre: 0}
        for broker, near in master.parent.items():
            hops[broker] = hops[near] + (broker in ends)
        return hops

    def _contract(self, ends: Collection[Node]) -> None:
        """MESH-3 and MESH-5: `between` from near to far, `beyond` from far to near, `behind` by branches."""
        parent, centre, stands = self.master.parent, self.master.centre, self.stands
        for broker, near in parent.items():
            if broker not in ends:
                stands[broker] = stands[near]
                continue
            place = stands[broker] = self.place[broker]
            self._between[place] = 1 << place | (0 if near == centre else self._between[stands[near]])
        under = self._downstream
        for broker, near in reversed(parent.items()):
            if broker in ends:
                place = self.place[broker]
                under[broker] |= 1 << place
                self._beyond[place] = under[broker]
            if near != centre:
                under[near] |= under[broker]
        for neighbour in self.master.neighbours:
            for place in places(under[neighbour]):
                self._branch[place] = under[neighbour]

    # -- the sets of MESH-5 --------------------------------------------------------------------------------------------

    def between(self, place: int) -> Bits:
        """The end, and the ends on the primary path to it."""
        return self._between[place]

    def beyond(self, place: int) -> Bits:
        """The end, and the ends whose primary path passes it."""
        return self._beyond[place]

    def behind(self, place: int) -> Bits:
        """The ends in other branches."""
        return self.everything & ~self._branch[place]

    # -- what forwarding asks ------------------------------------------------------------------------------------------

    def past(self, broker: Node) -> Bits:
        """The ends whose primary path from the centre meets a broker; none where the map does not have the broker."""
        return self.everything if broker == self.master.centre else self._downstream.get(broker, 0)

    def ends(self, bits: Bits) -> list[Node]:
        """The brokers at these places."""
        return [self.array[place] for place in places(bits)]

    def bits(self, brokers: Iterable[Node]) -> Bits:
        """The places of the ends that represent these brokers."""
        found = 0
        for broker in brokers:
            found |= 1 << self.stands[broker]
        return found

    def carrier(self, place: int) -> int:
        """FWD-9: the place of the farthest end with a real connection on the path to an end, which may be itself."""
        return (self._between[place] & self.real).bit_length() - 1


# -- strategies --------------------------------------------------------------------------------------------------------

Strategy = Callable[[WorkingMap, Bits], Bits]


def downstream(view: WorkingMap, anchors: Bits, way: Iterable[Node]) -> Bits:
    """FWD-3: without the anchors whose primary path meets a broker that the publication has passed."""
    for broker in way:
        anchors &= ~view.past(broker)
    return anchors


def primary_neighbours(view: WorkingMap, anchors: Bits) -> Bits:
    """S0 (FWD-2)."""
    return sum(1 << place for place in places(view.primary) if view.beyond(place) & anchors)


def farthest_common(view: WorkingMap, anchors: Bits) -> Bits:
    """S1 (FWD-4, FWD-5), as the paper prints it."""
    common = 0
    for place in places(anchors):
        between = view.between(place)
        common = common & (between | view.behind(place)) if common & between else common | between
    chosen = 0
    for place in reversed(list(places(common))):
        if view.beyond(place) & anchors:
            chosen |= 1 << place
            anchors &= ~view.beyond(place)
    return chosen


def nearest_anchors(view: WorkingMap, anchors: Bits) -> Bits:
    """S2 (FWD-6), as the paper prints it."""
    chosen = 0
    while anchors:
        nearest = anchors & -anchors
        chosen |= nearest
        anchors &= ~view.beyond(nearest.bit_length() - 1)
    return chosen


STRATEGIES: Mapping[str, Strategy] = {"S0": primary_neighbours, "S1": farthest_common, "S2": nearest_anchors}


def strategy_of(name: str, *, is_loaded: bool) -> Strategy:
    """The strategy that a broker follows now. FWD-7: SH is S1 where the uplink is loaded, and S2 elsewhere."""
    if name == "SH":
        name = "S1" if is_loaded else "S2"
    return STRATEGIES[name]


def copies(view: WorkingMap, chosen: Bits, reading: str = "nearest") -> Sequence[Node]:
    """FWD-9: the ends that get a copy, with the carriers of what is meant for candidates."""
    carriers = [view.carrier(place) for place in places(chosen)]
    if reading == "each":
        return [view.array[place] for place in carriers]
    found = sum(1 << place for place in set(carriers))
    if reading == "nearest":
        for place in places(chosen & ~view.real):
            carrier = view.carrier(place)
            found &= ~view.beyond(carrier) | 1 << carrier
    return view.ends(found)
