"""Under pruning too, the reference implementation says what the model says: any broker, any readings, any order.

A lockstep that cannot fail proves nothing: `FAULTS` are mistakes that an implementation might make, and each is caught.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import Factory, define, evolve, fields
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from routeproof.checker.fuzz.strategies import Draw, Sizes, instances, pick
from routeproof.checker.instances import find
from routeproof.impl.index import Matching
from routeproof.impl.index import covering as covering_module
from routeproof.impl.index.covering import Covering, Due, Settlement
from routeproof.impl.index.profile import ProfiledSubscription
from routeproof.impl.pruning import broker as pruning_module
from routeproof.impl.pruning import broker as withdrawal_module
from routeproof.impl.pruning import retention as statistics_module
from routeproof.impl.pruning.broker import PruningBroker, Triggered
from routeproof.impl.pruning.retention import Pool, StatisticsDatabase
from routeproof.impl.routing import Outbox
from routeproof.model.instance import Instance
from routeproof.model.messages import Publish
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocols import world
from routeproof.model.pruning.definition import coming_back, with_congestion, with_readings
from routeproof.model.pruning.definition import parameters as parameters_of
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.vocabulary import PRUNING, Cut, PruningParameters, PruningTables, met, publish, withdraw
from routeproof.model.world import World
from tests.campaigns import drawn
from tests.impl.lockstep import rules_fired, said
from tests.impl.wild import WILD
from tests.pruning.talk import HUB, Talk, drawn_parameters, talks
from tests.shown import recorded, sampled

ROOT = Path(__file__).resolve().parents[2]
quiet = settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@define
class Lockstep:
    """One broker, twice. `rules` are those that the model applied so far."""

    overlay: Overlay
    node: Node
    policy: str
    parameters: PruningParameters
    tables: PruningTables = PruningTables()
    rules: set[str] = Factory(set)
    pruning: Pruning = Factory(lambda self: Pruning(self.overlay, self.policy, self.parameters), takes_self=True)
    broker: PruningBroker = Factory(lambda self: self.new_broker(), takes_self=True)

    def new_broker(self) -> PruningBroker:
        return PruningBroker(self.node, self.overlay.neighbours(self.node), self.policy, self.parameters)

    def tell(self, sender: Node, message: object) -> None:
        outcome = self.pruning.handle(self.node, self.tables, sender, message)
        assert isinstance(outcome.local, PruningTables)
        self.tables = outcome.local
        self.rules |= outcome.rules
        assert said(self.broker.receive(sender, message)) == said(outcome.sends)  # type: ignore[arg-type]  # hashable
        assert self.broker.tables() == self.tables
        assert self.broker.rows == sum(len(rows) for _, _, rows in self.tables.rows)

    def restart(self) -> None:
        """Another broker goes on from the tables of this one."""
        self.broker = self.new_broker()
        self.broker.restore(self.tables)
        assert self.broker.tables() == self.tables


def follow(talk: Talk) -> Lockstep:
    pair = Lockstep(talk.overlay, HUB, talk.policy, talk.parameters)
    for each in talk.said:
        if each is None:
            pair.restart()
        else:
            pair.tell(*each)
    return pair


@drawn(0.3)
@pytest.mark.parametrize("policy", PRUNING)
def test_one_broker_told_anything(policy: str, share: float) -> None:
    @settings(quiet, max_examples=round(600 * share))
    @given(talks((policy,)))
    def run(talk: Talk) -> None:
        follow(talk)

    run()


@drawn(0.3)
@pytest.mark.parametrize("policy", PRUNING)
def test_one_broker_told_of_any_filters(policy: str, share: float) -> None:
    """Every operator, with the constants at which indexes could go wrong."""
    wanted = {"COV-2", "COV-4", "PRN-5"}
    assert rules_fired(follow, talks((policy,), (WILD,)), wanted, round(250 * share)) >= wanted


@drawn(0.3)
@pytest.mark.parametrize(
    "reading",
    [
        {"base": "lazy"},
        {"sends": "listed"},
        {"sends": "listed", "base": "lazy"},
        {"remembers": False},
        {"remembers": False, "base": "lazy", "sends": "listed"},
        {"collects": True},
        {"collects": True, "base": "lazy"},
        {"newcomers": "withdraw"},
        {"newcomers": "withdraw", "collects": True, "base": "lazy"},
        {"overtakes": True},
        {"triggered": "neighbour"},
        {"counts": "all", "inclusive": False},
        {"rows": "arrived"},
    ],
    ids=lambda reading: ", ".join(f"{key}={value}" for key, value in reading.items()),
)
def test_every_reading(reading: dict[str, Any], share: float) -> None:
    """Each is drawn above, but among the others; here it is what all examples have."""

    @settings(quiet, max_examples=round(150 * share))
    @given(talks(PRUNING, **reading))
    def run(talk: Talk) -> None:
        follow(talk)

    run()


def test_that_exercises_every_rule() -> None:
    wanted = {rule for rule in RULES if rule not in COV_OF_OTHERS}
    assert rules_fired(follow, talks(PRUNING), wanted, 1000) >= wanted


RULES = tuple(re.findall(r"\*\*((?:PRN|STA|CRD|SIM)-\d+)\*\*", (ROOT / "spec" / "pruning.md").read_text("utf-8")))
COV_OF_OTHERS = {
    *("SIM-3", "SIM-4", "SIM-5", "SIM-6"),  # what similarity is: no handler fires it
    *("CRD-1", "CRD-3", "CRD-4", "PRN-3", "PRN-15"),  # said with CRD-2 and PRN-2; of clients
}


def test_the_implementation_cites_every_rule() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "impl").rglob("*.py")))
    cited = set(re.findall(r"\b[A-Z]{3}-\d+\b", text))
    assert {rule for rule in RULES if rule not in COV_OF_OTHERS} <= cited


# -- whole overlays ----------------------------------------------------------------------------------------------------


@st.composite
def pruning_worlds(draw: Draw, policy: str) -> World:
    """Any tree and clients, some of which subscribe again; brokers that become congested; any readings."""
    instance: Instance = draw(instances(Sizes(brokers=6)))
    parameters, usual = drawn_parameters(draw, policy), PruningParameters.of(policy)
    readings = tuple(
        (each.name, getattr(parameters, each.name))
        for each in fields(PruningParameters)
        if getattr(parameters, each.name) != getattr(usual, each.name)
    )
    brokers = instance.overlay.brokers
    subscribers = tuple(
        coming_back(s, pick(draw, (None, *brokers)) if s.unsubscribes else None) for s in instance.subscribers
    )
    congested = tuple(b for b in brokers if pick(draw, (False, False, True)))
    pruned = evolve(instance, subscribers=subscribers, protocol="pruning", policies=(policy,))
    return world(with_congestion(with_readings(pruned, readings), congested), policy)


@pytest.mark.parametrize("policy", PRUNING)
def test_whole_overlays(policy: str) -> None:
    """Each broker of a world has an implementation at its side, which hears what it hears and goes on by itself."""

    @settings(quiet, max_examples=100)
    @given(pruning_worlds(policy), st.randoms(use_true_random=False))
    def run(asked: World, random: Any) -> None:
        parameters = parameters_of(asked.instance, policy)
        pairs = {node: Lockstep(asked.instance.overlay, node, policy, parameters) for node in asked.nodes}
        state = asked.initial()
        for _ in range(120):
            possible = [action for action in asked.actions if asked.enabled(state, action)]
            if not possible:
                break
            step = asked.step(state, random.choice(possible))
            pairs[step.action.node].tell(step.sender, step.message)
            state = step.state
            assert pairs[step.action.node].tables == state.locals[asked.nodes.index(step.action.node)]

    run()


@pytest.mark.parametrize("policy", PRUNING)
@pytest.mark.parametrize("name", ["tiny", "line3"])
def test_every_question_of_a_small_instance(name: str, policy: str) -> None:
    """All reachable states, with a hub that may become congested; every answer from the tables alone."""
    readings = (("cuts", (1, 2)),) if policy == "incremental" else ()
    plain = find(name)
    pruned = evolve(plain, protocol="pruning", policies=(policy,))
    asked = world(with_congestion(with_readings(pruned, readings), (1,)), policy)
    frontier = {asked.initial()}
    seen = set(frontier)
    while frontier:
        frontier = {step.state for state in frontier for step in asked.steps(state)} - seen
        seen |= frontier
    told = {
        (step.action.node, state.locals[asked.nodes.index(step.action.node)], step.sender, step.message)
        for state in seen
        for step in asked.steps(state)
    }
    assert len(told) > 100
    parameters = parameters_of(asked.instance, policy)
    for node, tables, sender, message in told:
        assert isinstance(tables, PruningTables)
        pair = Lockstep(asked.instance.overlay, node, policy, parameters, tables)
        pair.restart()
        pair.tell(sender, message)


# -- faults ------------------------------------------------------------------------------------------------------------


def removals_first(
    self: PruningBroker, neighbour: Node, entry: ProfiledSubscription, onward: tuple[Cut, ...], out: Outbox
) -> None:
    settlement = self._candidates[neighbour].settle(self._due(onward))
    for removed in settlement.removals:
        out.send(neighbour, withdraw(removed.subscription, onward if removed is entry else None))
    out.settle(neighbour, Settlement(settlement.additions, ()))


def counted_for_each_neighbour(self: Triggered, neighbour: Node) -> int:
    return sum(len(self.pools[node].uncovered(self.entry)) for node in self.told)


def stays_where_it_was_replaced(self: Pool, due: Due | None = None) -> Settlement:
    return self._covering.settle(due)


def retained_though_nothing_draws_it(self: Pool, advertised: Any) -> None:
    kept = dict(self._retained)
    UNADVERTISE(self, advertised)
    self._retained = kept


def still_retained(self: Pool, entry: ProfiledSubscription) -> None:
    former = self._retained.get(entry.subscription)
    SUBSCRIBE(self, entry)
    if former is not None:
        self._retained[entry.subscription] = entry


def kept_header(sender: Node, message: Publish, *, several: bool) -> Publish:
    told = HEADER(sender, message, several=several)
    return message if sender == LOCAL else told


def distance_not_reset(sender: Node, message: Publish, *, several: bool) -> Publish:
    told = HEADER(sender, message, several=several)
    return publish(told.publication, met(message).distance, met(told).count) if several else told


def one_hop_less(seen: Sequence[int], percent: int, inclusive: bool) -> int | None:
    found = CRITICAL(seen, percent, inclusive)
    return None if found is None else max(found - 1, 0)


def the_other_comparison(seen: Sequence[int], percent: int, inclusive: bool) -> int | None:
    return CRITICAL(seen, percent, not inclusive)


def all_the_way_for_clients(self: PruningBroker, subscription: Any) -> None:
    return None


UNADVERTISE, SUBSCRIBE = Pool.unadvertise, Pool.subscribe
SOME_FROM, LATEST = Matching.some_from, StatisticsDatabase._latest
HEADER, CRITICAL, ONE_LESS = pruning_module._header, statistics_module.critical, withdrawal_module.one_less

FAULTS: dict[str, tuple[object, str, object, dict[str, Any]]] = {
    "COV-8 removals first": (PruningBroker, "_pass_on", removals_first, {}),
    "STA-1 a client's header": (pruning_module, "_header", kept_header, {}),
    "STA-2 distance not reset": (pruning_module, "_header", distance_not_reset, {}),
    "STA-2 one is several": (Matching, "some_from", lambda self, *rest: min(2, 2 * SOME_FROM(self, *rest)), {}),
    "STA-6 latest row first": (StatisticsDatabase, "_latest", lambda self, s, a: _Reversed(LATEST(self, s, a)), {}),
    "STA-7 not purged": (StatisticsDatabase, "purge", lambda self, subscription: None, {}),
    "STA-8 the least count": (StatisticsDatabase, "greatest_count", lambda self, s: 0, {"fewest": 1}),
    "CRD-2 one hop early": (statistics_module, "critical", one_hop_less, {}),
    "CRD-3 the other comparison": (statistics_module, "critical", the_other_comparison, {}),
    "SIM-8 counted for each neighbour": (Triggered, "seen_from", counted_for_each_neighbour, {"cuts": (2, 3)}),
    "SIM-8 what is quenched counts": (covering_module, "_widest", lambda groups: groups, {"cuts": (2, 3)}),
    "SIM-8 what others cover counts": (Covering, "_has_coverer", lambda *_, besides: False, {"cuts": (1, 2)}),
    "PRN-1 no list": (PruningBroker, "_written", all_the_way_for_clients, {}),
    "PRN-2 one hop late": (withdrawal_module, "_is_left", lambda d: d is None or d >= 0, {"cuts": (0, 1)}),
    "PRN-2 without end is nothing": (withdrawal_module, "_is_left", lambda d: (d or 0) > 0, {"cuts": (0, 1)}),
    "PRN-4 decrement forgotten": (pruning_module, "one_less", lambda cut: cut, {}),
    "PRN-5 whatever the list says": (PruningBroker, "_due", lambda self, onward: None, {"sends": "listed"}),
    "PRN-6 not held": (PruningBroker, "_congested", property(lambda self: False, lambda self, value: None), {}),
    "PRN-6 delivered though it is gone": (PruningBroker, "_gone", property(lambda _: set(), lambda *_: None), {}),
    "PRN-7, PRN-9 not remembered, and quenches nothing": (Pool, "retain", Pool.forget, {"cuts": (0, 1)}),
    "PRN-10 stays where it was replaced": (Pool, "settle", stays_where_it_was_replaced, {"cuts": (0, 1)}),
    "PRN-11 retained for no advertisement": (Pool, "unadvertise", retained_though_nothing_draws_it, {"cuts": (0, 1)}),
    "PRN-12 nothing is collected": (Pool, "_collect", lambda self, below: None, {"collects": True}),
    "PRN-13 still retained": (Pool, "subscribe", still_retained, {"cuts": (0, 1)}),
    "PRN-14 overtaken": (PruningBroker, "_end_hold", lambda self, subscription, out: None, {"overtakes": False}),
    "PRN-16 draws the newcomer": (Pool, "make_way", lambda self, newcomer: None, {"newcomers": "withdraw"}),
}


class _Reversed:
    """A database that notes the latest first."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def append(self, row: object) -> None:
        self.rows.appendleft(row)

    def extend(self, rows: Sequence[object]) -> None:
        self.rows.extend(rows)

    def __len__(self) -> int:
        return len(self.rows)


@recorded
@pytest.mark.parametrize("fault", sampled(FAULTS, lambda fault: not fault.startswith("SIM-8")))
def test_a_fault_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, instead, reading = FAULTS[fault]
    policies = ("selective",) if "STA-8" in fault else ("incremental",) if "cuts" in reading else PRUNING
    monkeypatch.setattr(place, name, instead, raising=False)

    @settings(quiet, max_examples=6000, phases=[Phase.generate])
    @given(talks(policies, **reading))
    def run(talk: Talk) -> None:
        follow(talk)

    with pytest.raises(AssertionError):
        run()
