"""Pruning, handler by handler: the golden tests of the catalogue, and what each rule and reading prescribes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import pytest
from attrs import define, evolve, field

from routeproof.model.filters import EventSet
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.statistics import critical_distance, share
from routeproof.model.pruning.vocabulary import (
    NOTHING_MET,
    Congest,
    Cut,
    PruningParameters,
    PruningTables,
    Relieve,
    Row,
    cuts_of,
    met,
    withdraw,
)
from routeproof.model.routing import StepEffects

INCREMENTAL = PruningParameters.of("incremental")
SELECTIVE = PruningParameters.of("selective")


def adv(id: str, *events: int, rank: int = 0) -> Advertisement:
    return Advertisement(rank, id, EventSet.of(events))


def sub(rank: int, *events: int, id: str = "") -> Subscription:
    return Subscription(rank, id or f"s{rank}", EventSet.of(events))


@define
class Net:
    """Brokers on a tree that handle everything before anybody speaks again."""

    overlay: Overlay
    policy: str = "incremental"
    parameters: PruningParameters | None = None
    tables: dict[Node, PruningTables] = field(factory=dict)
    said: list[tuple[Node, Node, Hashable]] = field(factory=list)
    rules: set[str] = field(factory=set)

    def tell(self, node: Node, *messages: Hashable) -> Net:
        """A client's operations, each settled; `said` has what brokers said since."""
        protocol = Pruning(self.overlay, self.policy, self.parameters)
        self.said = []
        for message in messages:
            queue: list[tuple[Node, Node, Hashable]] = [(LOCAL, node, message)]
            while queue:
                sender, at, what = queue.pop(0)
                outcome = protocol.handle(at, self.tables.setdefault(at, protocol.initial(at)), sender, what)
                assert isinstance(outcome.local, PruningTables)
                self.tables[at] = outcome.local
                self.rules |= outcome.rules
                new = [(at, receiver, m) for receiver, m in outcome.sends]
                self.said += new
                queue += [step for step in new if step[1] != LOCAL]
        return self

    def has(self, s: Subscription) -> set[Node]:
        return {n for n, tables in self.tables.items() if tables.sub_from(s) is not None}

    def retained(self) -> set[tuple[Node, Node, str]]:
        return {(n, u, s.id) for n, tables in self.tables.items() for u, kept in tables.retained for s in kept}

    def headers(self) -> dict[tuple[Node, Node], tuple[int, int]]:
        return {(u, v): (met(m).distance, met(m).count) for u, v, m in self.said if isinstance(m, Publish)}

    def withdrawals(self) -> list[tuple[Node, Node, Unsubscribe]]:
        return [(u, v, m) for u, v, m in self.said if isinstance(m, Unsubscribe)]


# -- critical distances ------------------------------------------------------------------------------------------------


def test_gt1_the_examples_of_000() -> None:
    """Table I. For 90 percent the paper prints 10, which its own table cannot give (CRD-5)."""
    rows = (1, 5, 1, 1, 7)
    assert [share(rows, mu) for mu in range(8)] == [0, 3, 3, 3, 3, 4, 4, 5]
    assert [critical_distance(rows, t) for t in (60, 80, 85, 90, 100)] == [1, 5, 7, 7, 7]


def test_gt2_the_example_of_001() -> None:
    """Table I. The paper says "less than 7" and concludes 7, which only "at most" gives; "less than" gives 8."""
    rows = (6, 2, 2, 6, 7)
    assert [share(rows, mu) for mu in (1, 2, 5, 6, 7)] == [0, 2, 2, 4, 5]
    assert critical_distance(rows, 85) == 7
    assert critical_distance(rows, 85, inclusive=False) == 8
    assert critical_distance(rows, 100, inclusive=False) is None


def test_a_share_just_below_the_threshold_does_not_reach_it() -> None:
    """41 of 46 are 89.1 percent."""
    assert critical_distance([0] * 41 + [1] * 5, 90) == 1
    assert critical_distance([0] * 42 + [1] * 4, 90) == 0


# -- statistics --------------------------------------------------------------------------------------------------------


def test_gt3_distances_along_a_path() -> None:
    """000 Fig. 4: B1 (publisher) to B8 (S); S1 joins at B3 via B11 (here 9), S2 at B7. S covers both."""
    line = [(b, b + 1) for b in range(1, 8)]
    net = Net(Overlay.of([*line, (3, 9)]))
    net.tell(1, Advertise(adv("a", 0, 1)))
    wide, one, two = sub(0, 0, 1, id="S"), sub(1, 0), sub(2, 0)
    net.tell(8, Subscribe(wide)).tell(9, Subscribe(one)).tell(7, Subscribe(two))
    net.tell(1, Publish(Publication(0, "p", "a", 0)))
    after = {u: header[0] for (u, v), header in net.headers().items()}
    assert after == {1: 0, 2: 1, 3: 0, 4: 1, 5: 2, 6: 3, 7: 0}
    assert net.headers()[3, 9] == (0, 1)
    assert net.tables[8].rows_of(wide, "a") == (Row("p", 1, 2),)
    assert net.rules >= {"STA-1", "STA-2", "STA-3", "STA-6"}


def test_gt4_distances_and_counts_along_a_path() -> None:
    """001 Fig. 4: A (publisher) to I as 1 to 9, with the branch C-J-K as 3-10-11: one matches at K, one at G."""
    line = [(b, b + 1) for b in range(1, 9)]
    net = Net(Overlay.of([*line, (3, 10), (10, 11)]), "selective")
    net.tell(1, Advertise(adv("a", 0, 1)))
    wide, at_k, at_g = sub(0, 0, 1, id="S"), sub(1, 0), sub(2, 0)
    net.tell(9, Subscribe(wide)).tell(11, Subscribe(at_k)).tell(7, Subscribe(at_g))
    net.tell(1, Publish(Publication(0, "p", "a", 0)))
    headers = net.headers()
    assert [headers[b, b + 1] for b in range(1, 9)] == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 1), (0, 2), (1, 2)]
    assert (headers[3, 10], headers[10, 11]) == ((0, 1), (1, 1))
    assert net.tables[9].rows_of(wide, "a") == (Row("p", 2, 2),)
    assert net.tables[11].rows_of(at_k, "a") == (Row("p", 2, 1),)


def test_rows_follow_the_brokers_own_table() -> None:
    """STA-9: a subscription that comes to the broker after a publication changes how its row is read, until it goes."""
    net = Net(Overlay.line(3), "selective", evolve(PruningParameters.of("selective"), rows="arrived"))
    s, t = sub(0, 0, id="s"), sub(1, 0, id="t")
    net.tell(1, Advertise(adv("a", 0))).tell(3, Subscribe(s)).tell(1, Publish(Publication(0, "p", "a", 0)))
    (row,) = net.tables[3].rows_of(s, "a")
    assert row == Row("p", 1, 0, (0, 2))
    protocol = Pruning(net.overlay, net.policy, net.parameters)
    read = [protocol.read(net.tables[3], row)]
    net.tell(3, Subscribe(t))
    read.append(protocol.read(net.tables[3], row))
    net.tell(3, Unsubscribe(t))
    read.append(protocol.read(net.tables[3], row))
    assert read == [Row("p", 2, 0), Row("p", 0, 1), Row("p", 2, 0)]
    net.tell(3, Subscribe(t)).tell(3, Unsubscribe(s))
    assert "STA-9" in net.rules


@pytest.mark.parametrize(("counts", "row"), [("elsewhere", Row("p", 2, 0)), ("all", Row("p", 0, 2))])
def test_entries_that_travel_the_other_way(counts: Literal["elsewhere", "all"], row: Row) -> None:
    """STA-5: at broker 2 there is one that came from where p comes from: it is behind p, not ahead."""
    net = Net(Overlay.line(3), parameters=evolve(INCREMENTAL, counts=counts))
    net.tell(1, Advertise(adv("a", 0))).tell(3, Advertise(adv("b", 0, rank=1)))
    here, behind = sub(0, 0), sub(1, 0)
    net.tell(3, Subscribe(here)).tell(1, Subscribe(behind))
    assert net.tables[2].sub_from(behind) == 1
    net.tell(1, Publish(Publication(0, "p", "a", 0)))
    assert net.tables[3].rows_of(here, "a") == (row,)
    assert ("STA-5" in net.rules) == (counts == "elsewhere")


def test_a_publication_without_a_header_has_met_nothing() -> None:
    assert met(Publish(Publication(0, "p", "a", 0))) == NOTHING_MET


def test_the_database_slides_and_is_purged() -> None:
    net = Net(Overlay.line(2), parameters=evolve(INCREMENTAL, window=2)).tell(2, Advertise(adv("a", 0)))
    s = sub(0, 0)
    net.tell(1, Subscribe(s))
    for i, name in enumerate("pqr"):
        net.tell(2, Publish(Publication(i, name, "a", 0)))
    assert [row.publication for row in net.tables[1].rows_of(s, "a")] == ["q", "r"]
    net.tell(1, Unsubscribe(s))
    assert net.tables[1].rows == ()
    assert "STA-7" in net.rules


# -- withdrawals -------------------------------------------------------------------------------------------------------

CHAIN = Overlay.line(4)
WIDE, NARROW = sub(0, 0, 1, id="S"), sub(1, 0)


def chain(*brokers: Node, parameters: PruningParameters = INCREMENTAL, policy: str = "incremental") -> Net:
    """Publishers at these brokers of a chain of four, S and what it covers at broker 1."""
    net = Net(CHAIN, policy, evolve(parameters, cuts=(1, 100)))
    for i, b in enumerate(brokers):
        net.tell(b, Advertise(adv(f"a{i}", 0, 1, rank=i)))
    return net.tell(1, Subscribe(WIDE), Subscribe(NARROW))


@pytest.mark.parametrize(("distance", "left"), [(0, {2, 3, 4}), (1, {3, 4}), (2, {4}), (3, set()), (9, set())])
def test_gt6_removed_up_to_the_critical_broker(distance: int, left: set[Node]) -> None:
    """A list with distance d drops S at the first d + 1 brokers."""
    net = chain(4).tell(1, withdraw(WIDE, (Cut("a0", (distance, distance)),)))
    assert net.has(WIDE) == left
    boundary = min(left) - 1 if left else 0
    assert net.retained() == ({(boundary, boundary + 1, "S")} if left else set())
    assert net.has(NARROW) == set(range(1, boundary + 1 if left else 5))


def test_gt6_two_publishers_behind_one_neighbour() -> None:
    """With 0 for one and 2 for the other the neighbour still hears, of the second only."""
    net = chain(4, 3).tell(1, withdraw(WIDE, (Cut("a0", (0, 0)), Cut("a1", (2, 2)))))
    assert net.withdrawals()[0] == (1, 2, withdraw(WIDE, (Cut("a1", (1, 1)),)))
    assert net.has(WIDE) == {4}
    assert net.retained() == {(3, 4, "S")}


@pytest.mark.parametrize(
    ("cuts", "triggered", "counts"),
    [
        ((10, 5012), 0, None),
        ((10, 5012), 9, None),
        ((10, 5012), 10, 2),
        ((10, 5012), 5011, 2),
        ((10, 5012), 5012, 1),
        ((100, 5001), 99, None),
        ((100, 5001), 100, 2),
        ((100, 5001), 5000, 2),
        ((100, 5001), 5001, 1),
    ],
)
def test_gt7_which_distance_counts(cuts: tuple[int, int], triggered: int, counts: int | None) -> None:
    """000's formula and its prose: no end, the second distance, the first."""
    protocol = Pruning(CHAIN, "incremental", evolve(INCREMENTAL, cuts=cuts))
    assert protocol.counting(Cut("a", (1, 2)), triggered) == counts
    assert Pruning(CHAIN, "selective").counting(Cut("a", (7,)), triggered) == 7


# -- readings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reading", "cuts"),
    [("remove", (Cut("a0", (None, None)),)), ("zero", (Cut("a0", (0, 0)),)), ("absent", ())],
)
def test_an_advertisement_without_history(reading: Literal["remove", "zero", "absent"], cuts: tuple[Cut, ...]) -> None:
    """CRD-6. An empty list goes nowhere, as one of zeros does; what has no end goes all the way."""
    net = chain(4, parameters=evolve(INCREMENTAL, without_history=reading)).tell(1, Unsubscribe(WIDE))
    assert net.has(WIDE) == (set() if reading == "remove" else {2, 3, 4})
    assert [cuts_of(m) for _, _, m in net.withdrawals()] == ([cuts] * 3 if reading == "remove" else [])


def test_a_smaller_threshold_ends_a_withdrawal_sooner() -> None:
    """CRD-4: half of what S matched is matched beside it; that is enough for 50 percent and not for 90."""
    for thresholds, left in (((50,), {2, 3, 4}), ((90,), set())):
        net = chain(4, policy="selective", parameters=evolve(SELECTIVE, thresholds=thresholds))
        net.tell(4, Publish(Publication(0, "p", "a0", 0)), Publish(Publication(1, "q", "a0", 1)))
        assert net.tell(1, Unsubscribe(WIDE)).has(WIDE) == left


def test_what_came_back_is_withdrawn_like_any_other() -> None:
    """PRN-13, and again PRN-4: it is retained once more, or goes as far as its list says."""
    for distance, left in ((0, {2, 3, 4}), (1, {3, 4}), (9, set())):
        net = chain(4).tell(1, withdraw(WIDE, (Cut("a0", (0, 0)),))).tell(1, Subscribe(WIDE))
        net.tell(1, withdraw(WIDE, (Cut("a0", (distance, distance)),)))
        assert net.has(WIDE) == left
        boundary = min(left) - 1 if left else 0
        assert net.retained() == ({(boundary, boundary + 1, "S")} if left else set())


def test_selective_prunes_only_what_is_worth_it() -> None:
    """STA-8: with the counts that were seen below `fewest` the withdrawal is full, without a list."""
    for fewest, left in ((1, {2, 3, 4}), (4, set())):
        net = chain(4, policy="selective", parameters=evolve(SELECTIVE, fewest=fewest))
        net.tell(4, Publish(Publication(0, "p", "a0", 0))).tell(1, Unsubscribe(WIDE))
        assert net.has(WIDE) == left
        assert ("STA-8" in net.rules) == (not left)


def test_what_is_triggered_counts_once_and_not_what_another_covers() -> None:
    """SIM-8: of two nested ones the wider, and what two neighbours would be sent is one."""
    overlay = Overlay.of([(1, 2), (1, 3)])
    net = Net(overlay).tell(2, Advertise(adv("a", 0, 1))).tell(3, Advertise(adv("b", 1, 2, rank=1)))
    widest = sub(0, 0, 1, 2)
    net.tell(1, *(Subscribe(s) for s in (widest, sub(1, 0), sub(2, 0, 1), sub(3, 2))))
    step = StepEffects(1, net.tables[1].without_sub(widest))
    protocol = Pruning(overlay, "incremental")
    assert [protocol.triggered(step, to) for to in ((2, 3), (2,), (3,))] == [2, 1, 2]


def test_only_what_is_listed_is_sent_and_the_rest_follows_when_the_neighbour_is_settled() -> None:
    """PRN-5 with sends = "listed"."""
    net = Net(CHAIN, parameters=evolve(INCREMENTAL, sends="listed", cuts=(0, 100)))
    net.tell(4, Advertise(adv("a", 0)), Advertise(adv("b", 1, rank=1)))
    near, far = sub(1, 0), sub(2, 1)
    net.tell(1, Subscribe(WIDE), Subscribe(near), Subscribe(far))
    net.tell(1, withdraw(WIDE, (Cut("a", (1, 1)), Cut("b", (0, 0)))))
    assert (net.has(near), net.has(far)) == ({1, 2}, {1})
    net.tell(1, Subscribe(sub(3, 0)))
    assert net.has(far) == {1, 2}


def test_a_boundary_that_forgets_has_sent_nothing_any_more() -> None:
    """PRN-7"""
    net = chain(4, parameters=evolve(INCREMENTAL, remembers=False)).tell(1, withdraw(WIDE, (Cut("a0", (1, 1)),)))
    assert net.retained() == set()
    assert net.has(WIDE) == {3, 4}
    assert WIDE not in net.tables[2].sent_to(3)


# -- what is retained --------------------------------------------------------------------------------------------------


def test_what_is_retained_holds_back_its_equal_and_goes_when_something_larger_comes() -> None:
    """PRN-9, PRN-10: the withdrawal of a retained one is full."""
    net = chain(4).tell(1, withdraw(WIDE, (Cut("a0", (0, 0)),)))
    twin = sub(4, 0, 1)
    net.tell(1, Subscribe(twin))
    assert net.has(twin) == {1}
    larger = sub(5, 0, 1, 2)
    net.tell(1, Subscribe(larger))
    assert net.has(larger) == {1, 2, 3, 4}
    assert net.has(WIDE) == set()
    assert net.withdrawals() == [(u, u + 1, Unsubscribe(WIDE)) for u in (1, 2, 3)]
    assert net.retained() == set()


def test_what_is_retained_goes_with_what_draws_it() -> None:
    """PRN-11"""
    net = chain(4).tell(1, withdraw(WIDE, (Cut("a0", (0, 0)),))).tell(4, Unadvertise(adv("a0", 0, 1)))
    assert net.retained() == set()
    assert net.has(WIDE) == set()


def test_what_is_retained_goes_with_what_it_covers_where_that_is_asked() -> None:
    """PRN-12, also at once where nothing is below to begin with."""
    for collects, left in ((False, {2, 3, 4}), (True, set())):
        net = chain(4, parameters=evolve(INCREMENTAL, collects=collects))
        net.tell(1, withdraw(WIDE, (Cut("a0", (0, 0)),)))
        assert net.has(WIDE) == {2, 3, 4}
        assert net.tell(1, Unsubscribe(NARROW)).has(WIDE) == left
    net = Net(CHAIN, parameters=evolve(INCREMENTAL, collects=True, cuts=(0, 0))).tell(4, Advertise(adv("a0", 0, 1)))
    assert net.tell(1, Subscribe(WIDE)).tell(1, withdraw(WIDE, (Cut("a0", (0, 0)),))).has(WIDE) == set()


def test_what_comes_back_is_not_retained_any_more() -> None:
    """PRN-13: nothing is sent, since it is there."""
    net = chain(4).tell(1, withdraw(WIDE, (Cut("a0", (0, 0)),))).tell(1, Subscribe(WIDE))
    assert net.retained() == set()
    assert net.said == []
    assert net.has(WIDE) == {1, 2, 3, 4}


# -- congestion --------------------------------------------------------------------------------------------------------


def test_a_congested_broker_holds_withdrawals_in_order_and_delivers_to_nobody_who_is_gone() -> None:
    """PRN-6: the list is written when the client leaves, and what it knew is purged then."""
    net = chain(4).tell(4, Publish(Publication(0, "p", "a0", 0))).tell(1, Congest())
    net.tell(1, Unsubscribe(WIDE), Unsubscribe(NARROW))
    held = net.tables[1].held
    assert [(x, m.subscription) for x, m in held] == [(LOCAL, WIDE), (LOCAL, NARROW)]
    assert cuts_of(held[0][1]) == (Cut("a0", (0, 0)),)
    assert net.tables[1].rows == ()
    net.tell(4, Publish(Publication(1, "q", "a0", 0)))
    assert not any(isinstance(m, Deliver) for _, _, m in net.said)
    net.tell(1, Relieve())
    assert net.tables[1].held == ()
    assert not net.tables[1].congested
    assert net.has(NARROW) == set()


@pytest.mark.parametrize("overtakes", [False, True])
def test_who_comes_back_ends_the_hold_of_its_own_withdrawal(overtakes: bool) -> None:
    """PRN-14"""
    net = chain(4, parameters=evolve(INCREMENTAL, overtakes=overtakes)).tell(1, Congest(), Unsubscribe(WIDE))
    net.tell(1, Subscribe(WIDE)).tell(1, Relieve())
    assert (1 in net.has(WIDE)) == (not overtakes)
    assert ("PRN-14" in net.rules) == (not overtakes)
