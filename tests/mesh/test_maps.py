"""What a working map says of brokers, also of those that have no link or are not on the map."""

from __future__ import annotations

from routeproof.impl.mesh.forwarding import STRATEGIES, MasterMap, WorkingMap, strategy_of

LINE = MasterMap(1, [(1, 2), (2, 3), (3, 4), (1, 5), (5, 6)], 3)


def test_places_of_brokers() -> None:
    view = WorkingMap(LINE, [3])
    assert list(view.array) == [2, 5, 3]
    assert [view.bits(brokers) for brokers in ((), (2,), (4,), (4, 6), (2, 3, 4))] == [
        0b000,
        0b001,
        0b100,
        0b110,
        0b101,
    ]
    assert [view.past(broker) for broker in (1, 2, 3, 5, 9)] == [0b111, 0b101, 0b100, 0b010, 0]


def test_distances_in_the_map_that_remains() -> None:
    """4 is three hops away, and the second end on its way; 6 is two hops away, and the second one as well."""
    assert list(WorkingMap(LINE, [4, 6]).array) == [2, 5, 6, 4]
    assert list(WorkingMap(LINE, [4, 6], contracted=True).array) == [2, 5, 4, 6]
    assert list(WorkingMap(LINE, [4, 3], contracted=True).array) == [2, 5, 3, 4]


def test_a_hybrid_is_s1_where_the_uplink_is_loaded() -> None:
    assert strategy_of("SH", is_loaded=True) is STRATEGIES["S1"]
    assert strategy_of("SH", is_loaded=False) is STRATEGIES["S2"]
    assert strategy_of("S0", is_loaded=True) is STRATEGIES["S0"]
