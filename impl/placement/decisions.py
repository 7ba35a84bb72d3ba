"""Decisions of placement (004): POP's, which are local to each broker, and GRAPE's, which one broker makes.

Under POP a publisher goes, hop by hop, to where more subscribers lie than everywhere else together (004 III). Under
GRAPE one broker estimates for every candidate what it would cost, from bit vectors and delays (004 IV).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from attrs import define, field, frozen

from routeproof.model.overlay import LOCAL, Node

# -- POP ---------------------------------------------------------------------------------------------------------------

NEWEST = 0.25
"""POP-5: weight of the newest trace in the running average."""


@define
class Profile:
    """POP-5: one broker's table for one publisher: the average subscribers behind each neighbour, and here (`LOCAL`).

    `counts_absent`: a neighbour that a traced publication did not go to counts as 0 in it. The paper does not say.
    """

    counts_absent: bool = True
    average: dict[Node, float] = field(factory=dict)

    def trace(self, reported: Mapping[Node, float]) -> None:
        """Take in what one traced publication reported. The first value of a neighbour is taken as it is."""
        known = {**self.average, **reported} if self.counts_absent else reported
        for behind in known:
            newest = reported.get(behind, 0.0)
            old = self.average.get(behind)
            self.average[behind] = newest if old is None else NEWEST * newest + (1 - NEWEST) * old


@frozen
class Request:
    """POP-7: a relocation request: subscribers behind the link that it came over, and brokers passed, last first."""

    total: float = 0.0
    path: tuple[Node, ...] = ()


def closest(average: Mapping[Node, float], request: Request) -> Node | None:
    """POP-8: the neighbour with more subscribers behind it than everywhere else together; None: it is here."""
    behind = {**average}
    if request.path:
        behind[request.path[0]] = request.total
    everywhere = sum(behind.values())
    return next((n for n, many in sorted(behind.items()) if n != LOCAL and many > everywhere - many), None)


def passed_on(node: Node, average: Mapping[Node, float], request: Request, onward: Node) -> Request:
    """POP-9: the request as it goes on: with this broker in front, and all subscribers that it leaves behind."""
    came = request.path[0] if request.path else None
    more = sum(many for n, many in average.items() if n not in (onward, came))
    return Request(request.total + more, (node, *request.path))


def target(averages: Mapping[Node, Mapping[Node, float]], source: Node) -> Sequence[Node]:
    """POP-10: the path of the move, the target first. It is the source alone where the publisher stays."""
    node, request = source, Request()
    while (onward := closest(averages[node], request)) is not None:
        request = passed_on(node, averages[node], request, onward)
        node = onward
    return (node, *request.path)


# -- GRAPE -------------------------------------------------------------------------------------------------------------

Metric = Literal["load", "delay"]


@frozen
class BrokerTrace:
    """GRP-5: what a broker answers of one trace session. Bit D of `bits`: publication D was delivered here (GRP-3)."""

    broker: Node
    neighbours: tuple[Node, ...]
    bits: int
    deliveries: int
    delays: Mapping[Node, float]
    """Queueing and matching, by where a message goes: a neighbour, or a client (`LOCAL`)."""


def bits_of(first: int, delivered: Iterable[int]) -> int:
    """GRP-3: the bit vector of the publications delivered in a session that began with the publication `first`."""
    return sum(1 << (number - first) for number in set(delivered))


@define
class Estimate:
    """GRP-7 to GRP-9, for one session. A neighbour that did not answer delivered nothing, and is left out."""

    traces: Mapping[Node, BrokerTrace]
    pings: Mapping[Node, float] = field(factory=dict)
    _downstream: dict[tuple[Node, Node], int] = field(factory=dict)
    """GRP-9: the vector behind each directed link. It does not depend on where the publisher is."""

    def delay(self, root: Node) -> float:
        """GRP-7: the mean delay of a delivery, if the publisher were at the root."""
        total, many = 0.0, 0
        waiting: list[tuple[float, Node, Node]] = [(self.pings.get(root, 0.0), root, LOCAL)]
        while waiting:
            so_far, node, came = waiting.pop()
            trace = self.traces[node]
            total += trace.deliveries * (so_far + trace.delays[LOCAL]) if trace.deliveries else 0.0
            many += trace.deliveries
            waiting += [(so_far + trace.delays[n], n, node) for n in self._onward(node, came)]
        return total / many if many else 0.0

    def rate(self, root: Node) -> int:
        """GRP-8: the input messages of all brokers, if the publisher were at the root."""
        total, waiting = 0, [(root, LOCAL)]
        while waiting:
            node, came = waiting.pop()
            total += self._vector(node, came).bit_count()
            waiting += [(n, node) for n in self._onward(node, came)]
        return total

    def _vector(self, node: Node, came: Node) -> int:
        """GRP-9: what is delivered here or behind any neighbour but one."""
        vector = self.traces[node].bits
        for neighbour in self._onward(node, came):
            vector |= self._behind(node, neighbour)
        return vector

    def _behind(self, node: Node, neighbour: Node) -> int:
        """The vector behind a link, from its far end backwards: deep overlays are no reason to recurse."""
        order, waiting = [], [(node, neighbour)]
        while waiting:
            link = waiting.pop()
            if link not in self._downstream:
                order.append(link)
                waiting += [(link[1], n) for n in self._onward(link[1], link[0])]
        for near, far in reversed(order):
            vector = self.traces[far].bits
            for n in self._onward(far, near):
                vector |= self._downstream[far, n]
            self._downstream[near, far] = vector
        return self._downstream[node, neighbour]

    def _onward(self, node: Node, came: Node) -> Sequence[Node]:
        return [n for n in self.traces[node].neighbours if n != came and n in self.traces]

    def choose(self, candidates: Iterable[Node], metric: Metric, weight: float) -> Node:
        """GRP-10: of the candidates whose metric, as a share of the range, is at most 100 - weight, the least by the
        other metric. Ties go to the metric itself (GRP-11), then to the lower number.
        """
        nodes = list(candidates)
        return choose({n: self.rate(n) for n in nodes}, {n: self.delay(n) for n in nodes}, metric, weight)


def choose(rates: Mapping[Node, float], delays: Mapping[Node, float], metric: Metric, weight: float) -> Node:
    """GRP-10: the choice among candidates of which the message rate and the delay are known."""
    if not 0 <= weight <= 100:
        raise ValueError(f"the weight is {weight}; expected a number from 0 to 100")
    first, second = (rates, delays) if metric == "load" else (delays, rates)
    share = normalised(first)
    left = [n for n in sorted(first) if share[n] <= 100 - weight]
    return min(left, key=lambda n: (second[n], first[n], n))


def normalised(values: Mapping[Node, float]) -> dict[Node, float]:
    """From 0 for the least to 100 for the greatest (the paper does not define it; GRP-11 must come out)."""
    least, greatest = min(values.values()), max(values.values())
    width = greatest - least
    return {n: 100 * (value - least) / width if width else 0.0 for n, value in values.items()}
