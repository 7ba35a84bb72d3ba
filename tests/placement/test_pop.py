"""POP's choice against the definition, the example of the paper, and the traffic on which it never rests."""

from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.impl.placement.decisions import Profile, Request, closest, passed_on, target
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.spec.placement import best_by_hops


@st.composite
def trees(draw: st.DrawFn, most: int = 8) -> Overlay:
    size = draw(st.integers(1, most))
    return Overlay.of((draw(st.integers(1, b - 1)), b) for b in range(2, size + 1))


def exact(overlay: Overlay, weights: Mapping[Node, int]) -> dict[Node, dict[Node, float]]:
    """The averages of a network in which every publication matches every subscriber."""
    found: dict[Node, dict[Node, float]] = {}
    for node in overlay.brokers:
        found[node] = {n: sum(weights[b] for b in overlay.side((n, node))) for n in overlay.neighbours(node)}
        found[node][LOCAL] = weights[node]
    return found


@settings(derandomize=True, deadline=None, max_examples=200)
@given(trees(), st.data())
def test_the_target_has_the_least_hops_and_is_where_pop_stays(overlay: Overlay, data: st.DataObject) -> None:
    weights = {b: data.draw(st.integers(0, 4)) for b in overlay.brokers}
    averages = exact(overlay, weights)
    best = best_by_hops(overlay, weights)
    if not sum(weights.values()):
        return
    for source in overlay.brokers:
        path = target(averages, source)
        assert path[0] in best
        assert tuple(path) == overlay.path(path[0], source)
        assert target(averages, path[0]) == (path[0],)
    is_half = any(2 * sum(weights[b] for b in overlay.side(link)) == sum(weights.values()) for link in overlay.links)
    assert len(best) == 1 or is_half


def test_figure_1() -> None:
    """B1 has 1 subscriber, 6 behind B2, 3 behind B4 and 15 behind B5, which are at B6, B7 and B8."""
    averages: dict[Node, dict[Node, float]] = {
        1: {LOCAL: 1, 2: 6, 4: 3, 5: 15},
        5: {LOCAL: 0, 6: 15},
        6: {LOCAL: 5, 7: 5, 8: 5},
    }
    first = Request()
    assert closest(averages[1], first) == 5
    second = passed_on(1, averages[1], first, 5)
    assert second == Request(10, (1,))
    assert closest(averages[5], second) == 6
    third = passed_on(5, averages[5], second, 6)
    assert third == Request(10, (5, 1))
    assert closest(averages[6], third) is None
    assert target(averages, 1) == (6, 5, 1)


def test_a_tie_moves_nobody() -> None:
    assert closest({LOCAL: 2, 2: 2}, Request()) is None
    assert closest({LOCAL: 2, 2: 2.5}, Request()) == 2


def test_the_running_average() -> None:
    profile = Profile()
    profile.trace({2: 8})
    assert profile.average == {2: 8}
    profile.trace({2: 4})
    assert profile.average == {2: 7}
    profile.trace({3: 4})
    assert profile.average == {2: 5.25, 3: 4}
    reached = Profile(counts_absent=False)
    reached.trace({2: 8})
    reached.trace({3: 4})
    assert reached.average == {2: 8, 3: 4}


@pytest.mark.parametrize(("threshold", "moves"), [(1, 20), (2, 0), (3, 20), (4, 0)])
def test_on_traffic_that_takes_turns_pop_moves_to_and_fro(threshold: int, moves: int) -> None:
    """Two brokers with a subscriber each; publications match one of them by turns, that of the other end first."""
    at, turn, moved = 1, 2, 0
    for _ in range(20):
        profile = Profile()  # MIG-3: a move clears the entry; a request that stays begins anew as well
        for _ in range(threshold):
            profile.trace({LOCAL if turn == at else turn: 1})
            turn = 3 - turn
        onward = closest(profile.average, Request())
        if onward is not None:
            at, moved = onward, moved + 1
    assert moved == moves


def moves_of(traffic: Sequence[Sequence[int]]) -> list[Node]:
    """Where POP sends a publisher at broker 1 of two, if each publication is traced and each trace begins a request."""
    at, places = 1, list[Node]()
    for here, there in traffic:
        averages = {1: {LOCAL: here, 2: there}, 2: {LOCAL: there, 1: here}}
        reached = {n: float(many) for n, many in averages[at].items() if many}
        onward = closest(reached, Request())
        if onward is not None:
            at = onward
            places.append(at)
    return places


def test_the_smallest_run_to_and_fro() -> None:
    """Two brokers, a subscriber at each, two publications that match one of them each. With less of anything a
    publisher does not come back: with one publication it moves once at most, and with one subscriber it stays there.
    """
    assert moves_of([(0, 1), (1, 0)]) == [2, 1]
    for one in product((0, 1), repeat=2):
        assert len(moves_of([one])) <= 1
    for traffic in product([(0, 0), (0, 1)], repeat=4):
        assert moves_of(traffic) in ([], [2])
    for traffic in product([(0, 0), (1, 0)], repeat=4):
        assert moves_of(traffic) == []
