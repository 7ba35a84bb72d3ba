"""Speed of the mesh's maps and tables, as a ratio to a plain recomputation in the same process.

Numbers of the paper's configuration C2: 250 brokers of degree 3, radius 4, fan-out 35, and 6,500 subscriptions.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from random import Random
from time import process_time

import pytest

from routeproof.impl.index import Matching
from routeproof.impl.index.profile import ProfiledSubscription, profile_of, spans_of
from routeproof.impl.mesh.forwarding import MasterMap, WorkingMap
from routeproof.impl.mesh.tables import SubscriptionTables
from routeproof.model.filters import STRICT
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node, Overlay
from routeproof.spec.mesh.specification import anchor_of, end_for

BROKERS, RADIUS, FANOUT, SUBSCRIPTIONS = 250, 4, 35, 6_500


HERE = 8
"""A broker with a full neighbourhood: 45 others within the radius."""


def regular(brokers: int = BROKERS) -> Overlay:
    """A tree in which every inner broker has three neighbours."""
    return Overlay.of((max(1, b // 2), b) for b in range(2, brokers + 1))


def master(overlay: Overlay, radius: int) -> MasterMap:
    return MasterMap(HERE, overlay.edges, radius)


def ends(known: MasterMap, many: int) -> list[Node]:
    """Ends of soft links."""
    far = [b for b in known.parent if b not in known.neighbours]
    return Random(1).sample(far, min(many, len(far)))


def plain_map(overlay: Overlay, known: MasterMap, soft: list[Node]) -> list[object]:
    """The working map by its definitions: paths of the primary network, and sets."""
    linked = {*known.neighbours, *soft}
    stands = {b: end_for(overlay, HERE, soft, b) for b in known.parent}
    path = {end: set(overlay.path(HERE, end)) for end in linked}
    between = {end: linked & path[end] for end in linked}
    beyond = {end: {each for each in linked if end in path[each]} for end in linked}
    behind = {end: {each for each in linked if len(path[each] & path[end]) == 1} for end in linked}
    return [stands, between, beyond, behind]


def subscriptions(many: int = SUBSCRIPTIONS) -> list[Subscription]:
    draw = Random(2)
    return [
        Subscription(n, f"s{n}", STRICT.parse([["class", "=", f"c{n % 50}"], ["price", ">", draw.randrange(1_000)]]))
        for n in range(many)
    ]


def anchors(overlay: Overlay, many: list[Subscription], places: int) -> dict[Subscription, Node]:
    """An anchor per subscription: `places` of them in all, within the radius."""
    near = [b for b in overlay.brokers if b != HERE and anchor_of(overlay, HERE, b, RADIUS) == b]
    chosen = Random(3).sample(near, places)
    return {s: chosen[n % places] for n, s in enumerate(many)}


def seconds(work: Callable[[], object], times: int) -> float:
    """Least CPU time of one call."""
    gc.collect()
    found = []
    for _ in range(times):
        began = process_time()
        work()
        found.append(process_time() - began)
    return min(found)


def measure_map(radius: int) -> tuple[float, float]:
    overlay = regular()
    known = master(overlay, radius)
    soft = ends(known, FANOUT)
    plain = seconds(lambda: plain_map(overlay, known, soft), 5)
    fast = seconds(lambda: WorkingMap(known, soft), 50)
    return fast, plain


def filled(held: dict[Subscription, Node]) -> SubscriptionTables:
    tables = SubscriptionTables(HERE)
    for s, anchor in held.items():
        tables.put(s, anchor)
    return tables


def plain_table(held: dict[Subscription, Node], view: WorkingMap) -> dict[Node, Matching]:
    """The working table as the paper has it: every subscription anew, with the end that stands for its anchor."""
    table: dict[Node, Matching] = {}
    for s, anchor in held.items():
        end = view.array[view.stands[anchor]]
        if end not in table:
            table[end] = Matching((end,))
        table[end].add(ProfiledSubscription(s, profile_of(s.filter), end))
    return table


def measure_table(places: int) -> tuple[float, float, float]:
    """Rebuilding the working table, plainly and not; and matching one publication."""
    overlay = regular()
    known = master(overlay, RADIUS)
    held = anchors(overlay, subscriptions(), places)
    view = WorkingMap(known, ends(known, FANOUT))
    tables = filled(held)
    events = [STRICT.event({"class": f"c{n}", "price": 20}) for n in range(50)]
    plain = seconds(lambda: plain_table(held, view), 1)
    fast = seconds(lambda: tables.rebuild(view), 50)
    match = seconds(lambda: [tables.matching(each, spans_of(each), view.everything) for each in events], 5) / 50
    return fast, plain, match


@pytest.mark.parametrize("radius", [RADIUS, 16], ids=["neighbourhood", "all-brokers"])
def test_the_working_map_is_rebuilt_faster_than_from_its_definitions(radius: int) -> None:
    fast, plain = measure_map(radius)
    assert plain > 4 * fast  # measured: 13 and 16


@pytest.mark.parametrize("radius", [RADIUS, 16], ids=["neighbourhood", "all-brokers"])
def test_the_working_map_is_what_its_definitions_make_it(radius: int) -> None:
    overlay = regular()
    known = master(overlay, radius)
    soft = ends(known, FANOUT)
    view = WorkingMap(known, soft)
    place = view.place
    found = [
        {b: view.array[at] for b, at in view.stands.items()},
        *(
            {end: set(view.ends(of(place[end]))) for end in view.array}
            for of in (view.between, view.beyond, view.behind)
        ),
    ]
    assert found == plain_map(overlay, known, soft)


def test_the_working_table_is_rebuilt_faster_than_from_all_subscriptions() -> None:
    fast, plain, _ = measure_table(16)
    assert plain > 100 * fast  # measured: 16,000


def test_matching_costs_more_with_more_anchors_but_less_than_in_proportion() -> None:
    [_, _, few], [_, _, many] = measure_table(1), measure_table(32)
    assert few < many < 16 * few  # measured: 4.5 times
