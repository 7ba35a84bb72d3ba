"""Spanning forests of low average stretch, for graphs whose links have lengths and multiplicities.

The stretch of a link is the cost of the path between its ends in the forest, compared with its own. `star` is the
star decomposition of Elkin, Emek, Spielman and Teng in its basic version (LST-1), `akpw` the rounds of Alon, Karp,
Peleg and West (LST-2). Both are deterministic: of equal choices the smaller number counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import exp, log
from typing import TypeAlias

from attrs import field, frozen

Arc: TypeAlias = tuple[int, int, int, int]
"""Neighbour, length, multiplicity, number of the link."""


@frozen(eq=False)
class Multigraph:
    """The links that carry documents, with vertices by number; it need not be connected."""

    links: Sequence[tuple[int, int, int, int]]
    """Two ends, length, multiplicity."""
    vertices: int
    around: Sequence[Sequence[Arc]] = field(init=False)

    @around.default
    def _around(self) -> Sequence[Sequence[Arc]]:
        found: list[list[Arc]] = [[] for _ in range(self.vertices)]
        for number, (u, v, length, weight) in enumerate(self.links):
            found[u].append((v, length, weight, number))
            found[v].append((u, length, weight, number))
        for arcs in found:
            arcs.sort()
        return found

    def components(self) -> Iterator[tuple[int, set[int]]]:
        """Each component with its centre, the vertex on which links of the greatest multiplicity in sum end."""
        seen: set[int] = set()
        weight = [sum(arc[2] for arc in arcs) for arcs in self.around]
        for start in range(self.vertices):
            if start in seen:
                continue
            found, waiting = {start}, [start]
            while waiting:
                for other, *_ in self.around[waiting.pop()]:
                    if other not in found:
                        found.add(other)
                        waiting.append(other)
            seen |= found
            yield min(found, key=lambda v: (-weight[v], v)), found


Construction: TypeAlias = Callable[[Multigraph], list[int]]
"""From a graph to the numbers of the links of a spanning forest."""


# -- star decomposition ------------------------------------------------------------------------------------------------


def star(graph: Multigraph) -> list[int]:
    """A ball around the centre, cones around what lies next to it, a bridge to each cone, and so on within each."""
    found: list[int] = []
    width = 1 / (2 * log(graph.vertices + 6) / log(4 / 3))
    for centre, component in graph.components():
        waiting = [(component, centre)]
        while waiting:
            part, root = waiting.pop()
            inner = [arc for v in part for arc in graph.around[v] if arc[0] in part]
            if len(inner) == 2 * (len(part) - 1):  # a tree has one spanning tree
                found += {arc[3] for arc in inner}
            else:
                parts, bridges = _star_of(graph, part, root, width, sum(arc[2] for arc in inner))
                waiting += parts
                found += bridges
    return sorted(found)


def _star_of(
    graph: Multigraph, part: set[int], root: int, width: float, inner: int
) -> tuple[list[tuple[set[int], int]], list[int]]:
    """The ball and the cones of one part, each with its root, and the bridges; `inner`: its multiplicities, twice."""
    distance, above, order = _reach(graph, part, root)
    radius = distance[order[-1]]
    ball = set(_best_prefix(graph, part, order, distance, radius / 3, 2 * radius / 3, inner))
    rest = part - ball
    inner -= _ending_in(graph, ball, part)
    parts, bridges = [(ball, root)], []
    for anchor in order:
        if anchor in rest and (bridge := above[anchor])[0] in ball:
            reach, cone_order = _cone(graph, rest, anchor, distance, width * radius / 2)
            cone = set(_best_prefix(graph, rest, cone_order, reach, 0, width * radius / 2, inner))
            inner -= _ending_in(graph, cone, rest)
            rest -= cone
            parts.append((cone, anchor))
            bridges.append(bridge[1])
    assert not rest, "a vertex is in no cone"
    return parts, bridges


def _ending_in(graph: Multigraph, some: set[int], part: set[int]) -> int:
    """The multiplicities, twice, of the links of a part that end in some of it."""
    arcs = [arc for v in some for arc in graph.around[v] if arc[0] in part]
    return sum(arc[2] if arc[0] in some else 2 * arc[2] for arc in arcs)


def _reach(
    graph: Multigraph, part: set[int], root: int
) -> tuple[dict[int, int], dict[int, tuple[int, int]], list[int]]:
    """The distances from the root within the part, the vertex and link before each, and the order of visits."""
    distance: dict[int, int] = {}
    above: dict[int, tuple[int, int]] = {}
    order = []
    heap = [(0, root, -1, -1)]
    while heap:
        far, v, before, along = heappop(heap)
        if v in distance:
            continue
        distance[v], above[v] = far, (before, along)
        order.append(v)
        for other, length, _, number in graph.around[v]:
            if other in part and other not in distance:
                heappush(heap, (far + length, other, v, number))
    return distance, above, order


def _cone(
    graph: Multigraph, rest: set[int], anchor: int, distance: Mapping[int, int], limit: float
) -> tuple[dict[int, int], list[int]]:
    """The vertices to which the way through the anchor is longer than the shortest by `limit` at most, and by what."""
    longer: dict[int, int] = {}
    order = []
    heap = [(0, anchor)]
    while heap:
        more, v = heappop(heap)
        if v in longer:
            continue
        longer[v] = more
        order.append(v)
        for other, length, _, _ in graph.around[v]:
            if other in rest and other not in longer:
                detour = more + length + distance[v] - distance[other]
                if detour <= limit:
                    heappush(heap, (detour, other))
    return longer, order


def _best_prefix(
    graph: Multigraph,
    part: set[int],
    order: Sequence[int],
    value: Mapping[int, int],
    low: float,
    high: float,
    inner: int,
) -> Sequence[int]:
    """The vertices of value r at most, for the r between `low` and `high` that cuts least for what it holds."""
    if len(order) == 1:
        return order
    total = 1 + inner // 2
    inside: set[int] = set()
    cut = volume = 0
    best: tuple[float, int] | None = None
    for at, v in enumerate(order):
        if value[v] > high:
            break
        for other, _, weight, _ in graph.around[v]:
            if other in inside:
                cut -= weight
            elif other in part:
                cut += weight
                volume += weight
        inside.add(v)
        following = value[order[at + 1]] if at + 1 < len(order) else None
        is_whole = following != value[v]
        if is_whole and (following is None or following > low):
            ratio = cut / (max(1, volume) * log((total + 1) / max(1, min(volume, total))))
            if best is None or ratio < best[0]:
                best = (ratio, at + 1)
    assert best is not None, "no radius between the limits"
    return order[: best[1]]


# -- rounds of clusters ------------------------------------------------------------------------------------------------


def akpw(graph: Multigraph) -> list[int]:
    """Clusters of bounded radius with few links between them, a tree for each, contracted; and so on."""
    n = max(3, graph.vertices)
    spread = exp((log(n) * max(1.0, log(log(n)))) ** 0.5)
    home = list(range(graph.vertices))
    left = list(range(len(graph.links)))
    found: list[int] = []
    longest = float(min((link[2] for link in graph.links), default=1))
    while left:
        eligible = [number for number in left if graph.links[number][2] <= longest]
        tree, merged = _clusters(graph, home, eligible, spread)
        found += tree
        home = [merged.get(place, place) for place in home]
        left = [number for number in left if home[graph.links[number][0]] != home[graph.links[number][1]]]
        longest *= spread
    return sorted(found)


def _clusters(
    graph: Multigraph, home: Sequence[int], eligible: Sequence[int], spread: float
) -> tuple[list[int], dict[int, int]]:
    """The links of the clusters' trees, and for each contracted vertex the cluster that it is in now."""
    around: dict[int, list[tuple[int, int, int]]] = {}
    weight: dict[int, int] = {}
    for number in eligible:
        u, v, _, many = graph.links[number]
        u, v = home[u], home[v]
        for one, other in ((u, v), (v, u)):
            around.setdefault(one, []).append((other, number, many))
            weight[one] = weight.get(one, 0) + many
    merged: dict[int, int] = {}
    tree = []
    for start in sorted(around, key=lambda v: (-weight[v], v)):
        if start in merged:
            continue
        merged[start] = start
        level = [start]
        inside = 0
        while level:
            following: dict[int, int] = {}
            cut = 0
            for v in level:
                for other, number, many in around[v]:
                    if merged.get(other) == start:
                        inside += many
                    elif other not in merged:
                        cut += many
                        following.setdefault(other, number)
            if cut * spread <= inside:
                break
            for other, number in following.items():
                merged[other] = start
                tree.append(number)
            level = list(following)
    return tree, merged


CONSTRUCTIONS: Mapping[str, Construction] = {"star": star, "akpw": akpw}
