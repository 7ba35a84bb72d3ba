"""The wing of pruning: how what brokers retain, note and hold is shown, and comparisons with active covering.

A comparison is of histories in which everything settles after each operation, under two policies side by side: has
pruning sent more subscriptions in the place of withdrawn ones than active covering would have? These are what the
papers count as triggered.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from routeproof.checker.counterexamples.shown import difference
from routeproof.checker.wings import Row, Wing, assigned, imported
from routeproof.model.instance import Instance, Subscriber
from routeproof.model.messages import Subscribe, Unsubscribe, describe
from routeproof.model.protocols import world
from routeproof.model.pruning.definition import (
    DEFINITION,
    again,
    congested,
    readings,
    readings_to_table,
    with_congestion,
)
from routeproof.model.pruning.vocabulary import PruningTables, Relieve
from routeproof.model.routing import Routing
from routeproof.model.world import Action, State, Step, World


def changes(world: World, me: str, old: Hashable, new: Hashable) -> Iterator[Row]:
    """Changes in what a broker retains, in its statistics and in what it holds."""
    assert isinstance(old, PruningTables)
    assert isinstance(new, PruningTables)
    for neighbour in world.nodes:
        kept, keeps = old.retained_for(neighbour), new.retained_for(neighbour)
        if kept != keeps:
            yield f"{me} retained[{world.name(neighbour)}]", difference(map(str, kept), map(str, keeps))
    if old.rows != new.rows:
        yield f"{me} rows", difference(_rows(old), _rows(new))
    if old.held != new.held:
        yield f"{me} held", difference(*([describe(m) for _, m in tables.held] for tables in (old, new)))
    if old.congested != new.congested:
        yield me, "is congested" if new.congested else "is relieved"


def _rows(tables: PruningTables) -> list[str]:
    """`S of a: p 2` is one that was 2 hops from what else it matches, with its count where it has one."""
    return [
        f"{s} of {a}: {row.publication} {row.distance}{f' ({row.count})' if row.count else ''}"
        for s, a, rows in tables.rows
        for row in rows
    ]


def _experiments() -> Mapping[str, Any]:
    """The experiments of papers 000 and 001, with the simulator that they run."""
    from routeproof.checker.pruning.experiments import controlled_000, controlled_001, costs_000, mobile

    return {
        "000-table2": costs_000.EXPERIMENT,
        "000-fig6": controlled_000.FIG_6,
        "000-fig7": controlled_000.FIG_7,
        "000-fig9": mobile.RUSH_HOUR,
        "000-fig10": mobile.AUDITORS,
        "001-fig7": controlled_001.FIG_7,
        "001-fig8": controlled_001.FIG_8,
        "001-fig9": controlled_001.FIG_9,
        "001-fig10": mobile.FAMILIES,
        "001-fig12": mobile.MONITORS,
    }


def about(world: World) -> Iterator[Row]:
    """The brokers that may become congested, and the readings that do not have their default."""
    if brokers := congested(world.instance):
        yield "congestion", ", ".join(map(world.name, brokers))
    if given := readings_to_table(readings(world.instance)):
        yield "readings", assigned(given)


def client(world: World, subscriber: Subscriber) -> str:
    """Where a client comes back."""
    at = again(subscriber)
    return "" if at is None else f", then subscribe again at {world.name(at)}"


def smaller(table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Who comes back, who may be congested, and readings: each with its default."""
    clients = table["subscription"]
    for i, each in enumerate(clients):
        if "again" in each:
            left = {key: value for key, value in each.items() if key != "again"}
            others = [*clients[:i], left, *clients[i + 1 :]]
            yield f"with {each['id']} never issued again", {**table, "subscription": others}
    for place in table.get("congestion", []):
        left_over = [other for other in table["congestion"] if other != place]
        yield f"with {place['at']} never congested", {**table, "congestion": left_over}
    for key in table.get("pruning", {}):
        rest = {other: value for other, value in table["pruning"].items() if other != key}
        yield f"with the default of {key}", {**table, "pruning": rest}


@frozen
class SettledState:
    """A state at rest, how it was come by, and how many subscriptions withdrawals have triggered so far."""

    state: State
    run: tuple[str, ...] = ()
    triggered: int = 0

    def after(self, at: World, operation: Action) -> SettledState:
        steps = _settle(at, self.state, operation)
        run = (*self.run, *(step.action.label for step in steps))
        return SettledState(steps[-1].state, run, self.triggered + _triggered(operation, steps))


def side_by_side(instance: Instance, policy: str) -> tuple[World, World]:
    """The instance under this policy, and the same clients under active covering."""
    here = world(instance, policy)
    return here, World(
        with_congestion(instance, ()), Routing(instance.overlay, "active"), "active", definition=DEFINITION
    )


class PolicyComparison:
    """Judges one run: `look` at its states one after another, the initial one first.

    It speaks where the run is at rest, and not again once a client has acted before it was: such a run compares what
    cannot be compared.
    """

    def __init__(self, here: World) -> None:
        self.here, self.there = side_by_side(here.instance, here.policy)
        self.state = self.here.initial()
        self.other = SettledState(self.there.initial())
        self.counts = False
        self.comparable = True
        self.triggered = 0

    def look(self, state: State) -> str:
        """The violation in this state, given what was sent on the way."""
        new = state.history.done & ~self.state.history.done
        operation = next((o for o in self.here.ledger.operations if o.bit & new), None)
        if operation is not None:
            self.comparable = self.comparable and not any(self.state.queues)
            self.counts = isinstance(operation.message, Unsubscribe | Relieve)
            twin = self.there.action_named.get(operation.label)
            self.other = self.other if twin is None else self.other.after(self.there, twin)
        if self.counts:
            for before, after in zip(self.state.queues, state.queues, strict=True):
                left = before if after[: len(before)] == before else before[1:]
                self.triggered += sum(isinstance(message, Subscribe) for message in after[len(left) :])
        self.state = state
        if not self.comparable or any(state.queues) or self.triggered <= self.other.triggered:
            return ""
        return (
            f"withdrawals have triggered {self.triggered} subscriptions, under active covering {self.other.triggered}"
        )


def _settle(at: World, state: State, operation: Action) -> list[Step]:
    """The operation, then whatever is on its way, link by link."""
    steps = [at.step(state, operation)]
    deliveries = [a for a in at.actions if a.kind == "deliver"]
    while any(steps[-1].state.queues):
        action = next(a for a in deliveries if steps[-1].state.queues[a.link])
        steps.append(at.step(steps[-1].state, action))
    return steps


def _triggered(operation: Action, steps: Iterable[Step]) -> int:
    """Subscriptions that were sent because of this withdrawal, or of those that were held until now."""
    if operation.operation is None or not isinstance(operation.operation.message, Unsubscribe | Relieve):
        return 0
    return sum(isinstance(message, Subscribe) for step in steps for _, message in step.outcome.sends)


WING = Wing(
    changes=changes,
    about=about,
    client=client,
    smaller=smaller,
    of_brokers=("congest", "relieve"),
    fuzzing=imported("pruning.fuzzing", "FUZZING"),
    settled=PolicyComparison,
    judging=imported("pruning.validate", "JUDGING"),
    options=imported("pruning.run_options", "OPTIONS"),
    experiments=_experiments,
    refinement=imported("pruning.refinement_theorems", "REFINEMENT"),
)
