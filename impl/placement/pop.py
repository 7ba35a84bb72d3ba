"""POP: a publisher goes, hop by hop, to where more subscribers lie than everywhere else together (004 III)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from routeproof.model.overlay import LOCAL, Node

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
