"""What the model alone says of a map, of equal subscriptions and of instances: no message shows it.

Which end comes first in the array changes no forwarding, and whatever stands for equal subscriptions matches alike.
"""

from __future__ import annotations

from typing import Any

from routeproof.model.filters import EventSet
from routeproof.model.instance_file import parse_instance, to_table
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


def test_what_is_written_of_an_instance_says_no_default() -> None:
    table: dict[str, Any] = {"name": "x", "protocol": "mesh", "policy": "none", "overlay": [[1, 2], [2, 3]]}
    table |= {"advertisement": [{"id": "a", "at": 1, "events": [0]}], "subscription": [], "publication": []}
    mesh: dict[str, Any] = {"radius": 2, "soft": [[1, 3]], "factor": "max"}
    assert to_table(parse_instance({**table, "mesh": {**mesh, "weak": 0}}, "x"))["mesh"] == mesh
