"""The model and the relation of the proof, step by step: every event may happen there, and leads to the same state.

A run of the model is seen once for each strategy. Subscriptions all come first, as the proof supposes.
"""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest
from attrs import evolve, fields

from routeproof.checker.prove.solve import settle
from routeproof.model.instance import Instance
from routeproof.model.messages import Publish, Subscribe
from routeproof.model.protocols import world
from routeproof.model.trees.vocabulary import (
    Acknowledge,
    Commit,
    EndMark,
    Insert,
    Install,
    Stamp,
    TreeBroker,
    TreeCoordinator,
    strategies_of,
)
from routeproof.model.world import State, World
from routeproof.spec.theory import BROKER, PUB, Grounded, holding
from routeproof.spec.theory.proof import proved_by
from routeproof.spec.trees import relation, theory
from routeproof.spec.trees.relation import EVENTS, TREE, SwitchState, TreeNetwork
from tests.shown import recorded
from tests.trees.protocol_drawn import network

EVENT = {event.name: event for event in EVENTS}
FIELDS = [(each.name, each.metadata["sorts"]) for each in fields(SwitchState)]
SEEN = ("installed", "stamping", "left", "has", "marked", "flying", "published")
"""Fields that the model has too."""

Values = dict[str, frozenset[tuple[Any, ...]]]
Event = tuple[str, tuple[Any, ...]]


class View:
    """One strategy in a world, as the relation speaks of it. Documents and trees are numbers."""

    def __init__(self, asked: World, epoch: int) -> None:
        self.asked, self.epoch, self.instance = asked, epoch, asked.instance
        self.trees = strategies_of(self.instance)[epoch]
        self.brokers = self.instance.overlay.brokers
        documents = range(len(self.instance.publications))
        self.logic = Grounded({BROKER: self.brokers, TREE: range(1, len(self.trees) + 1), PUB: documents})
        rows: dict[str, set[tuple[Any, ...]]] = {
            each.name: set() for each in fields(TreeNetwork) if each.name != "logic"
        }
        rows["first"] = {()} if epoch == 0 else set()
        for i, tree in enumerate(self.trees, 1):
            rows["link"] |= {(i, *way) for u, v in tree.edges for way in ((u, v), (v, u))}
        for p, each in enumerate(self.instance.publications):
            home = self.instance.advertiser_of(each).at
            rows["publisher"].add((p, home))
            for (i, tree), b in product(enumerate(self.trees, 1), self.brokers):
                if b != home:
                    rows["back"].add((p, i, b, tree.toward(b, home)))
                for s in self.instance.subscribers:
                    mine = i in asked.ledger.parameters.numbers(s.subscription, epoch)
                    if mine and s.subscription.filter.matches(each.event) and b != s.at:
                        rows["wants"].add((p, i, b, tree.toward(b, s.at)))
        self.network = TreeNetwork(self.logic, **{name: holding(known) for name, known in rows.items()})
        first = {(b,) for b in self.brokers} if epoch == 0 else set()
        self.values: Values = {name: frozenset() for name, _ in FIELDS}
        self.values |= {name: frozenset(first) for name in ("installed", "acknowledged", "stamping", "has")}
        self.values["committed"] = frozenset({()} if epoch == 0 else ())

    def state(self) -> SwitchState:
        return SwitchState(**{name: holding(self.values[name]) for name, _ in FIELDS})

    def happen(self, event: Event) -> None:
        name, elements = event
        before = self.state()
        assert EVENT[name].guard(self.network, before, *elements) is True, event
        after = EVENT[name].effect(self.network, before, *elements)
        for field, sorts in FIELDS:
            now = getattr(after, field)
            self.values[field] = frozenset(row for row in self.logic.each(sorts) if now(*row) is True)

    def shown(self, state: State) -> Values:
        """What the model has of it. What came before and went stays: the relation's word is taken for it."""
        found: dict[str, set[tuple[Any, ...]]] = {name: set() for name in SEEN}
        for b in self.brokers:
            broker = state.locals[self.asked.nodes.index(b)]
            assert isinstance(broker, TreeBroker)
            tables = broker.of_epoch(self.epoch)
            assert len(tables) in (0, len(self.trees)), "the tables of a strategy go together"
            if tables:
                found["has"].add((b,))
            if broker.epoch >= self.epoch:
                found["stamping"].add((b,))
            if broker.epoch > self.epoch:
                found["left"].add((b,))
            found["marked"] |= {(t.tree, a, b) for t in tables for a in t.marked}
        for channel, queue in zip(self.asked.links, state.queues, strict=True):
            for m in queue:
                if isinstance(m, Publish) and isinstance(m.header, Stamp) and m.header.epoch == self.epoch:
                    found["flying"].add((m.publication.rank, m.header.tree, *channel))
        return {name: frozenset(rows) for name, rows in found.items()}

    def check(self, state: State) -> None:
        shown = self.shown(state)
        assert self.values["has"] == shown["has"]
        assert self.values["stamping"] == shown["stamping"]
        assert self.values["left"] == shown["left"]
        assert self.values["flying"] == shown["flying"]
        assert {row for row in self.values["marked"] if (row[2],) in shown["has"]} == shown["marked"]
        waiting = {
            (m.tree, *channel)
            for channel, queue in zip(self.asked.links, state.queues, strict=True)
            for m in queue
            if isinstance(m, EndMark) and m.epoch == self.epoch
        }
        assert self.values["sent"] - self.values["marked"] == waiting
        sentences = (*theory.invariants(self.network, self.state()), theory.due_is_sent(self.network, self.state()))
        for clause in sentences:
            assert clause.closed(self.logic) is True, clause.name
        assert all(clause.closed(self.logic) is True for clause in theory.trees_hold(self.network))


def events(view: View, node: int, sender: int, message: object, before: State, after: State) -> Iterator[Event]:
    """What a step of the model is to one strategy."""
    epoch, at = view.epoch, view.asked.nodes.index(node)
    match message:
        case Install(e) if e == epoch:
            yield "install", (node,)
        case Acknowledge(e) if e == epoch:
            yield "acknowledge", (sender,)
            coordinator = after.locals[at]
            assert isinstance(coordinator, TreeCoordinator)
            if coordinator.committed == epoch:
                yield "commit", ()
        case Commit(e) if e == epoch:
            yield "stamp", (node,)
        case Commit(e) if e == epoch + 1:
            yield "leave", (node,)
        case EndMark(e, i) if e == epoch:
            yield "mark", (i, sender, node)
        case Publish(p, None):
            broker = before.locals[at]
            assert isinstance(broker, TreeBroker)
            if broker.epoch == epoch:
                yield "publish", (p.rank, node)
        case Publish(p, Stamp(e, i)) if e == epoch:
            yield "arrive", (p.rank, i, sender, node)
    had, has = (state.locals[at] for state in (before, after))
    if (
        isinstance(had, TreeBroker)
        and isinstance(has, TreeBroker)
        and set(had.of_epoch(epoch))
        and not has.of_epoch(epoch)
    ):
        yield "drop", (node,)


def walk(instance: Instance, seed: int, mutant: str | None = None) -> set[str]:
    """One random run, every step of which is looked at in each strategy; returns the events that happened."""
    draw, asked, happened = Random(seed), world(instance, "none", mutant), set[str]()
    views = [View(asked, epoch) for epoch in range(len(strategies_of(instance)))]
    state = asked.initial()
    while steps := list(asked.steps(state)):
        first = [s for s in steps if isinstance(s.message, Subscribe | Insert)]
        begun = [s for s in first if s.action.operation is not None]
        step = draw.choice(begun or first or steps)
        for view in views:
            for event in events(view, step.action.node, step.sender, step.message, state, step.state):
                view.happen(event)
                happened.add(event[0])
            view.check(step.state)
        state = step.state
    return happened


def without_withdrawals(instance: Instance) -> Instance:
    return evolve(instance, subscribers=tuple(evolve(s, unsubscribes=False) for s in instance.subscribers))


def walks(mutant: str | None = None) -> set[str]:
    happened = set[str]()
    for seed in range(6):
        happened |= walk(without_withdrawals(network(Random(seed), most=4, clients=2)), seed, mutant)
    return happened


def test_the_model_takes_the_steps_of_the_proof() -> None:
    assert walks() == set(EVENT)


@pytest.mark.parametrize("mutant", ["marks-early", "one-mark-short", "commits-at-the-first", "back-to-the-sender"])
def test_a_broken_model_takes_others(mutant: str) -> None:
    with pytest.raises(AssertionError):
        walks(mutant)


@pytest.mark.parametrize("event", ["commit", "drop", "mark", "publish"])
def test_without_a_guard_the_proof_fails(event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate, the markers, the order of channels, and the publisher that has left."""
    weak = tuple(evolve(each, guard=lambda *_: True) if each.name == event else each for each in EVENTS)
    monkeypatch.setattr(theory, "EVENTS", weak)
    asked = [each for each in theory.keeps_documents() if each.name.startswith(event)]
    assert "refuted" in {settle(each).verdict for each in asked}


@recorded
@pytest.mark.parametrize("source", [theory.FINITE, theory.ENDED, proved_by(theory.DRAINS)])
def test_the_end_needs_what_it_names(source: str) -> None:
    """A tree that ends, markers that have come, and brokers that hold none back."""
    (end,) = [each for each in theory.drains() if each.name.startswith("at the end")]
    assert settle(end).verdict == "proved"
    left = [each for each in end.given if source not in each.sources]
    assert len(left) < len(end.given)
    assert settle(evolve(end, given=left)).verdict != "proved"


def test_a_marker_that_waits_for_nobody_breaks_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation, "due", lambda n, marked, i, b, c: n.link(i, b, c))
    asked = [each for each in theory.keeps_documents() if each.name == "leave / markers behind those of all others"]
    assert [settle(each).verdict for each in asked] == ["refuted"]
