"""Workloads: what each must be whatever is drawn, exactly; what is drawn, within a tolerance and with a fixed seed; and
that the reference brokers, under every policy, deliver the same."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from pathlib import Path

import pytest

from routeproof.impl.broker import Broker
from routeproof.impl.costs import MILLISECOND, Costs
from routeproof.impl.simulator import Network, Observer, Operation, Sends, Simulator
from routeproof.impl.workloads import WORKLOADS, Workload, parameters, workload
from routeproof.impl.workloads.controlled import Controlled, Controlled001
from routeproof.impl.workloads.quotes import HIGH, LOW, MEDIUM, quotes, symbol, wanted
from routeproof.impl.workloads.stock import Stock, StockEnterprise
from routeproof.impl.workloads.topologies import balanced, core_chain, star
from routeproof.impl.workloads.workload import stream
from routeproof.impl.workloads.zipf import Words, Zipf
from routeproof.model.filters import STRICT, Filter, PredicateFilter
from routeproof.model.instance import POLICIES
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/workloads.md"


def subscribed(operations: Iterable[Operation]) -> list[tuple[Node, Subscription]]:
    return [(o.broker, o.message.subscription) for o in operations if isinstance(o.message, Subscribe)]


def published(operations: Iterable[Operation]) -> list[tuple[Node, Publication]]:
    return [(o.broker, o.message.publication) for o in operations if isinstance(o.message, Publish)]


def constraints(read: Filter) -> list[tuple[str, str, object]]:
    assert isinstance(read, PredicateFilter)
    return [(each.attribute, each.operator, each.constant) for each in read.written]


# -- every one of them -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 0.002])
@pytest.mark.parametrize("name", WORKLOADS)
def test_operations_make_sense(name: str, scale: float) -> None:
    drawn = workload(name, scale, 3)
    advertised: dict[str, tuple[Node, Advertisement]] = {}
    active: dict[str, Node] = {}
    ids: Counter[str] = Counter()
    last = 0
    for time, broker, message in drawn.operations():
        assert time >= last
        last = time
        assert broker in drawn.overlay.brokers
        match message:
            case Advertise(a):
                ids[a.id] += 1
                advertised[a.id] = broker, a
            case Subscribe(s):
                ids[s.id] += 1
                active[s.id] = broker
                assert any(a.filter.overlaps(s.filter) for _, a in advertised.values())
            case Unsubscribe(s):
                assert active.pop(s.id) == broker
            case Publish(p):
                ids[p.id] += 1
                home, a = advertised[p.of]
                assert home == broker
                assert a.filter.matches(p.event)
            case _:
                pytest.fail(f"a client cannot say {message}")
    assert set(ids.values()) == {1}
    assert advertised
    assert any(id_.startswith("p") for id_ in ids)


@pytest.mark.parametrize("name", WORKLOADS)
def test_ids_are_in_the_order_of_their_text(name: str) -> None:
    """A validator has no other order, and "in id order" is what brokers are held to."""
    operations = list(workload(name, 0.002, 0).operations())
    items: list[Sequence[Subscription | Publication]] = [
        [item for _, item in subscribed(operations)],
        [item for _, item in published(operations)],
    ]
    for each in items:
        assert [item.id for item in each] == sorted(item.id for item in each)
        assert [item.rank for item in each] == list(range(1, len(each) + 1))


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_seed_decides(name: str) -> None:
    one, other = workload(name, 0.002, 1), workload(name, 0.002, 2)
    assert list(one.operations()) == list(one.operations()) == list(workload(name, 0.002, 1).operations())
    assert list(one.operations()) != list(other.operations())
    assert one.overlay == other.overlay


@pytest.mark.parametrize("name", WORKLOADS)
def test_larger_scale_is_more_work(name: str) -> None:
    sizes = [sum(1 for _ in workload(name, scale, 0).operations()) for scale in (0.0005, 0.005, 0.02)]
    assert sizes == sorted(sizes)
    assert sizes[2] > 2 * sizes[0]


@pytest.mark.parametrize("name", WORKLOADS)
def test_full_size_is_that_of_the_paper(name: str) -> None:
    recipe = WORKLOADS[name]
    assert recipe.scaled(1.0) == recipe


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_document_has_every_parameter_with_its_source(name: str) -> None:
    section = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {name} (")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{p.name}` | {p.value} | {p.source} | {p.about} |" for p in parameters(WORKLOADS[name])]


@pytest.mark.parametrize("name", WORKLOADS)
def test_watched_brokers_exist(name: str) -> None:
    drawn = workload(name, 0.001, 0)
    assert drawn.watched
    assert set(drawn.watched) <= set(drawn.overlay.brokers)
    assert drawn.look_every > 0


# -- overlays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("recipe", "inner", "edges"), [(Controlled(), 20, 29), (Controlled001(), 23, 32)])
def test_the_core_chain(recipe: Controlled, inner: int, edges: int) -> None:
    chain = core_chain(recipe.brokers, recipe.inner, recipe.publishers)
    overlay = chain.overlay
    assert len(overlay.brokers) == recipe.brokers == inner + edges
    assert list(chain.core.values()) == ["A", "B", "C", "D", "E"]
    assert overlay.path(1, 5) == (1, 2, 3, 4, 5)
    leaves = {b for b in overlay.brokers if len(overlay.neighbours(b)) == 1}
    assert leaves == {*chain.publishers, *chain.subscribers}
    assert len(leaves) == edges
    assert [overlay.neighbours(b) for b in chain.publishers] == [(5,)] * 3
    below = Counter(overlay.path(b, 5)[2] if overlay.path(b, 5)[2:] else 5 for b in chain.subscribers)
    assert sum(below.values()) == edges - 3


def test_other_overlays() -> None:
    assert balanced(7, 2) == Overlay.of([(1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7)])
    assert len(balanced(63, 2).path(1, 63)) == 6
    assert len(balanced(85, 4).path(1, 85)) == 4
    assert star(17).neighbours(1) == tuple(range(2, 18))


# -- controlled --------------------------------------------------------------------------------------------------------


def by_class(operations: Sequence[Operation]) -> dict[str, list[Subscription]]:
    found = defaultdict(list)
    for _, subscription in subscribed(operations):
        found[str(constraints(subscription.filter)[0][2])].append(subscription)
    return found


def families(operations: Sequence[Operation]) -> dict[str, list[Subscription]]:
    """By class, roots first."""
    found = by_class(operations)
    return {family: sorted(members, key=lambda s: _covered(s, members)) for family, members in found.items()}


def _covered(one: Subscription, members: Sequence[Subscription]) -> int:
    return -sum(one.filter.covers(other.filter) for other in members)


def test_a_root_covers_its_family_and_nobody_else_covers_anybody() -> None:
    recipe = Controlled().scaled(0.004)
    found = families(list(recipe.workload(0).operations()))
    assert len(found) == recipe.families
    assert sum(len(members) for members in found.values()) == recipe.subscriptions
    for root, *covered in found.values():
        assert recipe.covered - 1 <= len(covered) <= 2 * recipe.covered
        assert all(root.filter.covers(each.filter) for each in covered)
        assert not any(a.filter.covers(b.filter) for a in covered for b in covered if a is not b)


def test_roots_are_withdrawn_and_only_they() -> None:
    recipe = Controlled().scaled(0.05)
    operations = list(recipe.workload(0).operations())
    withdrawn = [o for o in operations if isinstance(o.message, Unsubscribe)]
    roots = {members[0].id for members in families(operations).values()}
    ids = {o.message.subscription.id for o in withdrawn if isinstance(o.message, Unsubscribe)}
    assert len(withdrawn) == len(ids) == recipe.withdrawals > 3
    assert ids <= roots
    assert {b.time - a.time for a, b in pairwise(withdrawn)} == {500 * MILLISECOND}


def test_publications_come_at_their_interval_and_match_a_few() -> None:
    recipe = Controlled().scaled(0.01)
    operations = list(recipe.workload(0).operations())
    times = [o.time for o in operations if isinstance(o.message, Publish)]
    assert {b - a for a, b in pairwise(times)} == {10 * MILLISECOND}
    found = families(operations)
    events = [p.event for _, p in islice(published(operations), 600)]
    matched = [
        sum(s.filter.matches(event) for s in found[str(dict(event.pairs)["class"])])
        for event in events
        if not isinstance(event, int)
    ]
    assert sum(matched) / len(matched) == pytest.approx(1 + recipe.matching, rel=0.1)
    assert {b for b, _ in published(operations)} == set(core_chain(49, 15).publishers)


def test_homes_are_uniform_over_the_other_edges() -> None:
    homes = Counter(b for b, _ in subscribed(Controlled().scaled(0.1).workload(0).operations()))
    assert set(homes) == set(core_chain(49, 15).subscribers)
    mean = sum(homes.values()) / len(homes)
    assert all(abs(n - mean) < 5 * math.sqrt(mean) for n in homes.values())


def test_001_has_its_numbers_at_full_size() -> None:
    recipe = Controlled001()
    operations = list(recipe.workload(0).operations())
    kinds = Counter(type(o.message) for o in operations)
    assert 21_000 < kinds[Publish] < 21_100
    assert kinds[Unsubscribe] == 300
    assert kinds[Subscribe] == 30_000 + 29, "and a subscriber to the probes at each edge"
    sizes = [len(members) - 1 for family, members in by_class(operations).items() if family != "probe"]
    assert sum(sizes) / len(sizes) == pytest.approx(30, abs=0.1)
    probes = [p for _, p in published(operations) if dict(p.event.pairs)["class"] == "probe"]  # type: ignore[union-attr]  # attributes
    assert len(probes) == 300
    at = {b for b, s in subscribed(operations) if s.filter.matches(probes[0].event)}
    assert at == set(core_chain(55, 18).subscribers)


def test_001_sends_its_probes_some_time_after_the_withdrawals() -> None:
    recipe = Controlled001().scaled(0.01)
    operations = list(recipe.workload(0).operations())
    last = max(o.time for o in operations if isinstance(o.message, Unsubscribe))
    probes = [o.time for o in operations if isinstance(o.message, Publish) and "probe" in str(o.message)]
    assert probes
    assert 0 <= min(probes) - last - recipe.probe_after_ms * MILLISECOND < recipe.publication_interval_ms * MILLISECOND


# -- stock -------------------------------------------------------------------------------------------------------------

TEMPLATE = (
    *("class", "symbol", "open", "high", "low", "close", "volume", "date"),
    *("openClose%Diff", "highLow%Diff", "closeEqualsLow", "closeEqualsHigh"),
)


def test_a_quote_is_one_of_the_template() -> None:
    for quote in islice(quotes("YHOO", stream(0, "test")), 3_000):
        assert tuple(quote) == TEMPLATE
        opening, high, low, closing = (float(str(quote[key])) for key in ("open", "high", "low", "close"))
        assert 0 < low <= min(opening, closing) <= max(opening, closing) <= high
        assert float(str(quote["openClose%Diff"])) == pytest.approx(abs(closing - opening) / opening, abs=0.003)
        assert float(str(quote["highLow%Diff"])) == pytest.approx((high - low) / low, abs=0.006)
        assert quote["closeEqualsLow"] == ("true" if closing == low else "false")
        assert quote["closeEqualsHigh"] == ("true" if closing == high else "false")
    assert next(quotes("YHOO", stream(0, "test")))["date"] == "5-Sep-96"


def test_quotes_sink_as_the_paper_says() -> None:
    events = [STRICT.event(quote) for quote in islice(quotes("YHOO", stream(1, "test")), 5_000)]
    for rate, expected in ((LOW, 0.1), (MEDIUM, 0.5), (HIGH, 1.0)):
        read = STRICT.parse(wanted("YHOO", rate))
        share = sum(read.matches(event) for event in events) / len(events)
        assert share == pytest.approx(expected, abs=0.03 if rate != HIGH else 0), rate
        assert not STRICT.parse(wanted("MSFT", rate)).matches(events[0])


def test_some_closings_are_the_lowest_or_the_highest() -> None:
    drawn = list(islice(quotes("YHOO", stream(2, "test")), 1_000))
    for key in ("closeEqualsLow", "closeEqualsHigh"):
        assert 0.1 < sum(quote[key] == "true" for quote in drawn) / len(drawn) < 0.9


def test_symbols_differ() -> None:
    names = [symbol(n) for n in range(1_000)]
    assert names[:2] == ["AAAA", "AAAB"]
    assert len(set(names)) == 1_000


def rates(operations: Sequence[Operation]) -> dict[tuple[str, str], list[Node]]:
    """Homes of the subscribers of each symbol and rate."""
    sizes = {len(wanted("", rate)): rate for rate in (LOW, MEDIUM, HIGH)}
    found = defaultdict(list)
    for broker, subscription in subscribed(operations):
        written = {name: constant for name, _, constant in constraints(subscription.filter)}
        found[str(written["symbol"]), sizes[len(written)]].append(broker)
    return found


def test_random_distribution() -> None:
    recipe = Stock().scaled(1.0)
    found = rates(list(islice(recipe.workload(0).operations(), 40 + 4_000)))
    for n in range(recipe.publishers):
        homes = {rate: found[symbol(n), rate] for rate in (LOW, MEDIUM, HIGH)}
        assert [len(homes[rate]) for rate in (LOW, MEDIUM, HIGH)] == [70, 25, 5]
        assert len({broker for at in homes.values() for broker in at}) <= recipe.spread


def test_enterprise_distribution() -> None:
    recipe = StockEnterprise().scaled(1.0)
    found = rates(list(islice(recipe.workload(0).operations(), 40 + 4_000)))
    offices = {broker for (_, rate), homes in found.items() if rate == HIGH for broker in homes}
    assert len(offices) == 1
    for n in range(recipe.publishers):
        branches = set(found[symbol(n), LOW])
        assert (len(found[symbol(n), LOW]), len(found[symbol(n), HIGH])) == (95, 5)
        assert len(branches) <= recipe.spread - 1
        assert not branches & offices


# -- zipf --------------------------------------------------------------------------------------------------------------


def test_names_are_drawn_by_their_rank() -> None:
    words, random = Words(1_000, 1.0), stream(0, "test")
    drawn = Counter(words.draw(random, 1)[0] for _ in range(20_000))
    harmonic = sum(1 / rank for rank in range(1, 1_001))
    for rank in (1, 2, 3, 10):
        assert drawn[f"word-{rank}"] / 20_000 == pytest.approx(1 / rank / harmonic, rel=0.15)


def test_siena_subscriptions() -> None:
    recipe = Zipf().scaled(0.02)
    written = [constraints(s.filter) for _, s in subscribed(islice(recipe.workload(0).operations(), 4_000))]
    sizes = Counter(len(each) for each in written)
    assert set(sizes) == set(range(1, 11))
    assert all(n == pytest.approx(len(written) / 10, rel=0.25) for n in sizes.values())
    operators = Counter(operator for each in written for _, operator, _ in each)
    many = sum(operators.values())
    assert {op: round(n / many, 1) for op, n in operators.items()} == {"=": 0.6, "<": 0.2, ">": 0.2}
    values = {constant for each in written for _, _, constant in each}
    assert values == set(range(100))


def test_siena_publications() -> None:
    recipe = Zipf().scaled(0.005)
    events = [
        dict(p.event.pairs) for _, p in published(recipe.workload(0).operations()) if not isinstance(p.event, int)
    ]
    assert {len(event) for event in events} == set(range(1, 20))
    assert {value for event in events for value in event.values()} <= set(range(100))


def test_publishers_pause_between_one_and_fifteen_seconds() -> None:
    times = defaultdict(list)
    for operation in Zipf().scaled(0.005).workload(0).operations():
        if isinstance(operation.message, Publish):
            times[operation.message.publication.of].append(operation.time)
    pauses = [b - a for each in times.values() for a, b in pairwise(each)]
    assert len(times) == 10
    assert all(1_000 * MILLISECOND <= pause <= 15_000 * MILLISECOND for pause in pauses)
    assert sum(pauses) / len(pauses) / MILLISECOND == pytest.approx(8_000, rel=0.1)


def test_sixty_percent_commute_and_twenty_roam() -> None:
    recipe = Zipf().scaled(0.005)
    operations = list(recipe.workload(0).operations())
    left = [o for o in operations if isinstance(o.message, Unsubscribe)]
    assert len(left) == round(0.8 * recipe.subscriptions)
    came = {o.message.subscription.id: o for o in operations if isinstance(o.message, Subscribe)}
    for before, after in pairwise(operations):
        if isinstance(before.message, Unsubscribe):
            assert isinstance(after.message, Subscribe)
            assert after.message.subscription.filter == before.message.subscription.filter
            assert (after.time, after.broker != before.broker) == (before.time, True)
    window = recipe.window_ms * MILLISECOND
    begin = max(came[f"s{n:08}"].time for n in range(1, recipe.subscriptions + 1))
    middle = {True: Counter[bool](), False: Counter[bool]()}
    for o in left:
        assert isinstance(o.message, Unsubscribe)
        commutes = o.message.subscription.rank <= round(0.6 * recipe.subscriptions)
        share = (o.time - begin) / window
        middle[commutes][1 / 3 < share < 2 / 3] += 1
    assert middle[True][True] / middle[True].total() == pytest.approx(1 / 3, abs=0.1)
    assert middle[False][True] / middle[False].total() == pytest.approx(0.68, abs=0.1)


# -- run by the reference brokers --------------------------------------------------------------------------------------


class Deliveries(Observer):
    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        for to, sent in sends:
            if to == LOCAL:
                assert isinstance(sent, Deliver)
                assert sent.subscription.filter.matches(sent.publication.event)
                self.pairs[sent.publication.id, sent.subscription.id] += 1


def phases(operations: Sequence[Operation]) -> list[list[Operation]]:
    """Advertisements; subscriptions; withdrawals and what comes with them; publications."""
    first = next(o.time for o in operations if isinstance(o.message, Publish))
    control = [o for o in operations if not isinstance(o.message, Publish)]
    return [
        [o for o in control if isinstance(o.message, Advertise)],
        [o for o in control if not isinstance(o.message, Advertise) and o.time < first],
        [o for o in operations if isinstance(o.message, Publish)][::2],
        [o for o in control if not isinstance(o.message, Advertise) and o.time >= first],
        [o for o in operations if isinstance(o.message, Publish)][1::2],
    ]


def played(drawn: Workload, policy: str, network: Network) -> Deliveries:
    """Each phase begins when nothing of the one before is under way."""
    deliveries = Deliveries()
    simulator = Simulator(
        drawn.overlay,
        lambda broker: Broker(broker, drawn.overlay.neighbours(broker), policy),
        Costs.measured(policy),
        network,
        [deliveries],
    )
    for phase in phases(list(drawn.operations())):
        simulator.play(phase)
    return deliveries


def owed(drawn: Workload) -> set[tuple[str, str]]:
    """By definition: whoever is subscribed while it is published."""
    pairs: set[tuple[str, str]] = set()
    active: dict[str, Subscription] = {}
    for phase in phases(list(drawn.operations())):
        for _, _, message in phase:
            match message:
                case Subscribe(s):
                    active[s.id] = s
                case Unsubscribe(s):
                    del active[s.id]
                case Publish(p):
                    pairs |= {(p.id, s.id) for s in active.values() if s.filter.matches(p.event)}
    return pairs


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_policy_delivers_what_is_owed_and_nothing_twice(name: str) -> None:
    drawn = workload(name, 0.001, 5)
    expected = Counter(owed(drawn))
    assert expected
    for policy in POLICIES:
        network = Network(jitter=20 * MILLISECOND, capacity=5, seed=1) if policy == "packing" else Network()
        assert played(drawn, policy, network).pairs == expected, policy
