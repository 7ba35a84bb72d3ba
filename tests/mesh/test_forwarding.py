"""Strategies against their definitions on the tree: in every small network, and in larger ones drawn at random.

A network sends each publication to each matching broker exactly once if every broker does its part of it: for any side
that a publication comes from, the ends chosen have beyond them each downstream broker that matches exactly once, and
lie downstream themselves. A broker's part hangs on nothing but the tree, its own links and who matches; so all parts of
all trees up to five brokers are all networks of that size, in any mix of strategies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routeproof.model.instance_file import parse_instance
from routeproof.model.mesh.forwarding import (
    STRATEGIES,
    Strategy,
    WorkingMap,
    carriers,
    covering_set,
    downstream,
    passed_on,
)
from routeproof.model.mesh.state import MasterMap
from routeproof.model.overlay import Node, Overlay
from routeproof.spec.mesh import specification
from tests.campaigns import daily


def meant(
    strategy: Strategy, overlay: Overlay, broker: Node, links: Sequence[Node], ends: frozenset[Node]
) -> frozenset[Node]:
    """The ends that a strategy is meant to choose."""
    if strategy == "S1":
        return specification.farthest_common(overlay, broker, links, ends)
    if strategy == "S2":
        return specification.first_on_path(overlay, broker, ends)
    return frozenset(overlay.toward(broker, end) for end in ends)


def trees(brokers: int) -> Iterator[Overlay]:
    """One tree of each shape."""
    for tree in nx.nonisomorphic_trees(brokers) if brokers > 1 else ():
        yield Overlay.of((u + 1, v + 1) for u, v in tree.edges)


def subsets(items: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def beyond(overlay: Overlay, broker: Node, end: Node) -> set[Node]:
    return {b for b in overlay.brokers if end in overlay.path(broker, b)}


def part(
    overlay: Overlay,
    broker: Node,
    links: Sequence[Node],
    homes: Sequence[Node],
    radius: int,
    came_from: Node | None,
    strategy: Strategy,
    distance: Any = "primary",
) -> None:
    """Asserts that a broker does its part of one publication."""
    view = WorkingMap.of(MasterMap.of(overlay, broker, radius), links, distance)
    places = (specification.anchor_of(overlay, broker, home, radius) for home in homes if home != broker)
    anchors = frozenset(view.representative[place] for place in places)
    # A publication has passed all brokers from its publisher's on; the last of them is enough to know the side.
    way = () if came_from is None else overlay.path(broker, came_from)[:0:-1][-radius:]
    kept = downstream(view, anchors, way)
    assert kept == specification.ends_of(overlay, broker, links, homes, radius, came_from)
    ends = STRATEGIES[strategy](view, kept)
    assert ends == meant(strategy, overlay, broker, links, kept)
    upstream = set() if came_from is None else beyond(overlay, broker, overlay.toward(broker, came_from))
    for home in set(homes) - {broker}:
        responsible = [end for end in ends if home in beyond(overlay, broker, end)]
        assert len(responsible) == (home not in upstream), (strategy, home, ends)
    assert not ends & upstream


def cases(brokers: int, radius: int) -> Iterator[tuple[Overlay, Node, tuple[Node, ...], Node | None]]:
    for overlay in trees(brokers):
        for broker in overlay.brokers:
            near = [b for b in overlay.brokers if 2 < len(overlay.path(broker, b)) <= radius + 1]
            for links in subsets(near):
                for came_from in (None, *(b for b in overlay.brokers if b != broker)):
                    yield overlay, broker, links, came_from


@pytest.mark.parametrize("radius", [1, 2, 3, 4])
@pytest.mark.parametrize("brokers", [2, 3, 4, 5])
def test_every_broker_of_every_small_network_does_its_part(brokers: int, radius: int) -> None:
    count = 0
    for overlay, broker, links, came_from in cases(brokers, radius):
        for homes in subsets(overlay.brokers):
            for strategy in STRATEGIES:
                part(overlay, broker, links, homes, radius, came_from, strategy)
                count += 1
    assert count >= 3 * 2**brokers * brokers


@st.composite
def networks(draw: Any) -> tuple[Overlay, Node, list[Node], list[Node], int, Node | None]:
    size = draw(st.integers(6, 16))
    overlay = Overlay.of((draw(st.integers(1, b - 1)), b) for b in range(2, size + 1))
    broker, radius = draw(st.sampled_from(overlay.brokers)), draw(st.integers(1, 6))
    near = [b for b in overlay.brokers if 2 < len(overlay.path(broker, b)) <= radius + 1]
    links = draw(st.lists(st.sampled_from(near), unique=True)) if near else []
    homes = draw(st.lists(st.sampled_from(overlay.brokers), unique=True))
    came_from = draw(st.sampled_from([None, *(b for b in overlay.brokers if b != broker)]))
    return overlay, broker, links, homes, radius, came_from


@given(networks(), st.sampled_from(["S0", "S1", "S2"]), st.sampled_from(["primary", "contracted"]))
def test_brokers_of_larger_networks_do_their_part(network: Any, strategy: Strategy, distance: str) -> None:
    overlay, broker, links, homes, radius, came_from = network
    part(overlay, broker, links, homes, radius, came_from, strategy, distance)


@given(networks())
def test_contraction_represents_a_broker_by_the_nearest_linked_one_on_its_path(network: Any) -> None:
    overlay, broker, links, _, radius, _ = network
    master = MasterMap.of(overlay, broker, radius)
    view = WorkingMap.of(master, links)
    assert set(view.representative) == set(master.brokers)
    for v in master.brokers:
        if v != broker:
            assert view.representative[v] == specification.end_for(overlay, broker, links, v)
    assert {*view.representative.values()} == {broker, *view.array}


@given(networks())
def test_anchors_that_are_passed_on_are_where_the_definition_has_them(network: Any) -> None:
    overlay, _, _, _, radius, _ = network
    home, end = overlay.brokers[0], overlay.brokers[-1]
    anchor = home
    for here, following in zip(overlay.path(home, end), overlay.path(home, end)[1:], strict=False):
        assert anchor == specification.anchor_of(overlay, here, home, radius)
        anchor = passed_on(MasterMap.of(overlay, here, radius), anchor, radius)
        assert anchor == specification.anchor_of(overlay, following, home, radius)


@given(networks(), st.data())
def test_what_carries_for_candidates_does_the_same_part(network: Any, data: Any) -> None:
    overlay, broker, links, homes, radius, _ = network
    connected = frozenset((*overlay.neighbours(broker), *data.draw(st.sets(st.sampled_from(links or [broker])))))
    view = WorkingMap.of(MasterMap.of(overlay, broker, radius), links)
    ends = STRATEGIES["S2"](view, specification.ends_of(overlay, broker, links, homes, radius, None))
    used = carriers(view, ends, connected)
    assert set(used) <= connected
    for home in set(homes) - {broker}:
        assert sum(home in beyond(overlay, broker, end) for end in used) == 1


def served(
    overlay: Overlay,
    radius: int,
    links: Mapping[Node, Sequence[Node]],
    strategies: Mapping[Node, Strategy],
    homes: Collection[Node],
    publisher: Node,
) -> list[Node]:
    """The brokers with a match that a publication reaches, once for each time that it does."""
    found, waiting = list[Node](), [(publisher, tuple[Node, ...]())]
    for here, way in waiting:
        assert len(waiting) <= 2 * len(overlay.brokers), "a loop"
        found += [here] * (here in homes)
        view = WorkingMap.of(MasterMap.of(overlay, here, radius), links[here])
        places = (specification.anchor_of(overlay, here, home, radius) for home in homes if home != here)
        kept = downstream(view, frozenset(view.representative[place] for place in places), way)
        ends = STRATEGIES[strategies[here]](view, kept)
        waiting += [(end, (*way, *view.master.path(end)[:-1])) for end in sorted(ends)]
    return sorted(found)


@pytest.mark.parametrize("brokers", daily([3, 4], lambda brokers: brokers == 3))
def test_whole_networks_serve_whom_s0_serves(brokers: int) -> None:
    """All trees, radii, sets of links and publishers, and all mixes of strategies; three and four brokers."""
    count = 0
    for overlay, radius in product(trees(brokers), range(1, brokers)):
        far = [(u, v) for u, v in product(overlay.brokers, repeat=2) if 2 < len(overlay.path(u, v)) <= radius + 1]
        mixes = [dict(zip(overlay.brokers, mix, strict=True)) for mix in product(STRATEGIES, repeat=brokers)]
        baseline: dict[Node, Strategy] = dict.fromkeys(overlay.brokers, "S0")
        for homes, publisher in product(subsets(overlay.brokers), overlay.brokers):
            s0 = served(overlay, radius, dict.fromkeys(overlay.brokers, ()), baseline, homes, publisher)
            assert s0 == list(homes)
            for chosen, mix in product(subsets(far), mixes):
                links = {b: [v for u, v in chosen if u == b] for b in overlay.brokers}
                assert served(overlay, radius, links, mix, homes, publisher) == s0
                count += 1
    assert count == {3: 5 * 24 * 27, 4: (1 + 16 + 64 + 1 + 64 + 64) * 64 * 81}[brokers]


@given(networks(), st.randoms(use_true_random=False))
def test_larger_networks_serve_whom_s0_serves(network: Any, draw: Random) -> None:
    overlay, publisher, _, homes, radius, _ = network
    near = {u: [v for v in overlay.brokers if 2 < len(overlay.path(u, v)) <= radius + 1] for u in overlay.brokers}
    links = {u: draw.sample(those, draw.randint(0, len(those))) for u, those in near.items()}
    mix = {u: draw.choice(list(STRATEGIES)) for u in overlay.brokers}
    assert served(overlay, radius, links, mix, homes, publisher) == sorted(homes)


class TestExamplesOfThePaper:
    """G2-1 to G2-3, and G2-6: A is 1; N1, N2, ... are 2, 3, ..."""

    @pytest.mark.parametrize(("links", "evaluated"), [((), [["s1"]]), ((3,), [["s1"], ["s2"]])])
    def test_covering(self, links: Sequence[Node], evaluated: list[list[str]]) -> None:
        """s1 covers s2, and s2 covers s3. With a link to their home, s2 and s3 have an end of their own."""
        home = {"s1": 2, "s2": 3, "s3": 3}
        events = {"s1": [0, 1, 2], "s2": [0, 1], "s3": [0]}
        subscriptions = [{"id": id, "at": at, "events": events[id]} for id, at in home.items()]
        line = {"overlay": [[1, 2], [2, 3]], "advertisement": [], "publication": [], "subscription": subscriptions}
        made = parse_instance({"name": "covering", "protocol": "mesh", "policy": ["none"], **line}, "covering")
        view = WorkingMap.of(MasterMap.of(made.overlay, 1, 2), links)
        held = {end: [s for s in made.subscriptions if view.representative[home[s.id]] == end] for end in view.array}
        assert [[s.id for s in covering_set(tuple(those))] for those in held.values()] == evaluated

    FIGURE_2 = Overlay.of([(1, 2), (2, 3), (3, 4), (3, 5), (5, 6), (5, 7)])

    @pytest.mark.parametrize(
        ("links", "anchors", "s1", "s2"),
        [
            ({2, 3, 4, 6, 7}, {4, 6, 7}, {3}, {4, 6, 7}),
            ({2, 3}, {3}, {3}, {3}),
            ({2, 4, 5}, {4, 5}, {2}, {4, 5}),
        ],
    )
    def test_figure_2(self, links: set[Node], anchors: set[Node], s1: set[Node], s2: set[Node]) -> None:
        view = WorkingMap.of(MasterMap.of(self.FIGURE_2, 1, 4), links)
        found = frozenset(view.representative[broker] for broker in (4, 6, 7))
        assert found == anchors
        assert STRATEGIES["S0"](view, found) == {2}
        assert STRATEGIES["S1"](view, found) == s1
        assert STRATEGIES["S2"](view, found) == s2

    def test_figures_3_and_4(self) -> None:
        # N1 and N2 are neighbours of A; N3 and N4 beyond N1, N4 behind the broker 6, with 7 beyond it.
        overlay = Overlay.of([(1, 2), (1, 3), (2, 4), (2, 6), (6, 5), (5, 7)])
        view = WorkingMap.of(MasterMap.of(overlay, 1, 4), {2, 3, 4, 5})
        assert view.array == (2, 3, 4, 5)
        assert view.between[5] == {2, 5}
        assert view.beyond[2] == {2, 4, 5}
        assert view.behind[2] == {3}
        assert (view.representative[6], view.representative[7]) == (2, 5)

    def test_anchors_at_radius_4(self) -> None:
        # The path X5, N4, w, z, N1, A, N2, u is 1 to 8.
        line, anchors = Overlay.line(8), [1]
        for here in range(1, 8):
            anchors.append(passed_on(MasterMap.of(line, here, 4), anchors[-1], 4))
        assert anchors == [1, 1, 1, 1, 1, 2, 3, 4]
