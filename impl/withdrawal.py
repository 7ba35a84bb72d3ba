"""How far a withdrawal goes from here: which distance of a cut counts, and what of a list of cuts the next hop gets.

Which one counts depends on how many subscriptions would be triggered. To count these is most of what a withdrawal
costs, so it is done where it makes a difference, and once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field

from routeproof.impl.entry import Entry
from routeproof.impl.retained import Pool
from routeproof.model.messages import Cut
from routeproof.model.overlay import Node
from routeproof.model.pruning_parameters import PruningParameters

Cuts = tuple[Cut, ...]


@define
class Triggered:
    """SIM-8: M, for the withdrawal of an entry that was sent to the neighbours `told` and is still in their pools."""

    pools: Mapping[Node, Pool]
    told: Sequence[Node]
    entry: Entry
    parameters: PruningParameters
    _counted: dict[Node | None, int] = field(factory=dict)

    def seen_from(self, neighbour: Node) -> int:
        whose = None if self.parameters.triggered == "broker" else neighbour
        if whose not in self._counted:
            nodes = self.told if whose is None else (whose,)
            sent = {each.subscription for node in nodes for each in self.pools[node].uncovered(self.entry)}
            self._counted[whose] = len(sent)
        return self._counted[whose]


def goes_on(cut: Cut, policy: str, parameters: PruningParameters, triggered: Callable[[], int]) -> bool:
    """PRN-2: is the distance that counts more than 0? What has not the distances of this policy goes nowhere."""
    match policy, cut.distances:
        case "selective", (only,):
            return _is_left(only)
        case "incremental", (first, second):
            if _is_left(first) and _is_left(second):
                return True
            some, many = parameters.cuts  # PRN-3
            counted = triggered()
            return counted < some or _is_left(first if counted >= many else second)
    return False


def _is_left(distance: int | None) -> bool:
    return distance is None or distance > 0


def one_less(cut: Cut) -> Cut:
    """PRN-4: a hop further."""
    return Cut(cut.advertisement, tuple(None if d is None else d - 1 for d in cut.distances))
