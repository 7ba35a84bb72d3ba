"""Publications that came to a broker in vain: nobody was served of them, there or beyond.

Under pruning a publication may travel several hops for a subscription that is retained only. Each broker but the last
passes it on, so that none of them can tell: this looks at the whole way, once nothing of the publication is left on it.
"""

from __future__ import annotations

from attrs import define, field

from routeproof.impl.simulator import Sends
from routeproof.model.messages import Deliver
from routeproof.model.overlay import LOCAL, Node


@define
class _Way:
    """`came_from`: by broker; `LOCAL` for the publisher's."""

    came_from: dict[Node, Node] = field(factory=dict)
    useful: set[Node] = field(factory=set)
    """Brokers at which or beyond which somebody was served."""
    copies: int = 0
    """On links."""


class InVain:
    """Told each publication that a broker handles, by id."""

    def __init__(self) -> None:
        self._ways: dict[str, _Way] = {}

    def handled(self, broker: Node, sender: Node, publication: str, sends: Sends) -> list[Node]:
        """The brokers that a publication came to in vain, when its last copy has been handled."""
        way = self._ways.get(publication)
        if way is None:
            way = self._ways[publication] = _Way()
        way.came_from[broker] = sender
        way.copies -= sender != LOCAL
        served = False
        for receiver, message in sends:
            if receiver != LOCAL:
                way.copies += 1
            else:
                served = served or isinstance(message, Deliver)
        while served and broker != LOCAL and broker not in way.useful:
            way.useful.add(broker)
            broker = way.came_from[broker]
        if way.copies:
            return []
        del self._ways[publication]
        return [broker for broker, x in way.came_from.items() if x != LOCAL and broker not in way.useful]
