"""What the model alone says of a map and of equal subscriptions: no message shows it.

Which end comes first in the array changes no forwarding, and whatever stands for equal subscriptions matches alike.
"""

from __future__ import annotations

from routeproof.model.filters import EventSet
from routeproof.model.mesh.forwarding import WorkingMap, covering_set
from routeproof.model.mesh.state import MasterMap
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Overlay

ALL, ONE, SAME, ANOTHER = (
    Subscription(rank, id, EventSet.of(events))
    for rank, (id, events) in enumerate(zip("stuv", ((0, 1), (0,), (0,), (2,)), strict=True))
)


def test_the_first_of_equal_subscriptions_stands_for_the_others() -> None:
    assert covering_set((SAME, ONE)) == (SAME,)
    assert covering_set((ONE, SAME, ANOTHER)) == (ONE, ANOTHER)
    assert covering_set((ONE, SAME, ALL, ANOTHER)) == (ALL, ANOTHER)


def test_ends_are_sorted_by_the_distance_that_is_read() -> None:
    """4 is three hops away, and the second end on its way; 6 is two hops away, and the second one as well."""
    known = MasterMap.of(Overlay.of([(1, 2), (2, 3), (3, 4), (1, 5), (5, 6)]), 1, 3)
    assert WorkingMap.of(known, [4, 6]).array == (2, 5, 6, 4)
    assert WorkingMap.of(known, [4, 6], "contracted").array == (2, 5, 4, 6)
    assert WorkingMap.of(known, [4, 3], "contracted").array == (2, 5, 3, 4)
