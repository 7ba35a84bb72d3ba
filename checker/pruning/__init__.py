"""The wing of pruning: how what brokers retain, note and hold is shown, and comparisons with active covering.

A comparison is of histories in which everything settles after each operation, under two policies side by side.
`triggered_more` looks for the shortest one after which pruning has sent more subscriptions in the place of withdrawn
ones than active covering would have: what the papers count as triggered.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from routeproof.checker.counterexamples.shown import difference
from routeproof.checker.wings import RunJudge, RunOptions, Wing
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
from routeproof.model.world import Action, Queue, State, Step, World

if TYPE_CHECKING:
    from routeproof.checker.fuzz.strategies import Fuzzing
    from routeproof.checker.prove.refine.sample import Refinement


Row = tuple[str, str]


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


def options() -> RunOptions:
    """The options of `run`, with the implementation that they are for."""
    from routeproof.checker.pruning.run_options import PruningOptions

    return PruningOptions()


def judging() -> object:
    """How validation judges brokers."""
    from routeproof.checker.pruning.validate import JUDGING

    return JUDGING


def about(world: World) -> Iterator[Row]:
    """The brokers that may become congested, and the readings that do not have their default."""
    if brokers := congested(world.instance):
        yield "congestion", ", ".join(map(world.name, brokers))
    if given := readings_to_table(readings(world.instance)):
        yield "readings", ", ".join(f"{key} = {json.dumps(value)}" for key, value in given.items())


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


def _fuzzing() -> Fuzzing:
    """The parts that the fuzzer draws, and a run in which statistics are exact."""
    from routeproof.checker.pruning.fuzzing import FUZZING

    return FUZZING


def settled(world: World) -> RunJudge:
    """The comparison with active covering along a run."""

    return PolicyComparison(world)


def _refinement() -> Refinement:
    """How brokers that prune are held to their relation."""
    from routeproof.checker.pruning.refinement_theorems import REFINEMENT

    return REFINEMENT


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


def triggered_more(instance: Instance, policy: str, nested: bool = True) -> tuple[int, tuple[str, ...] | None]:
    """How many pairs of settled states there are, and the shortest run to one in which more were triggered.

    Without `nested` nothing is withdrawn that covers what was withdrawn before it: that may be retained somewhere, and
    is then sent again in its place.
    """
    here, there = side_by_side(instance, policy)
    waiting = deque([(SettledState(here.initial()), SettledState(there.initial()))])
    seen = {_key(*waiting[0])}
    while waiting:
        mine, other = waiting.popleft()
        if mine.triggered > other.triggered:
            return len(seen), mine.run
        for action in here.actions:
            if action.operation is None or not here.enabled(mine.state, action):
                continue
            if nested or not _covers_withdrawn(here, mine.state, action):
                twin = there.action_named.get(action.label)
                pair = mine.after(here, action), other if twin is None else other.after(there, twin)
                if _key(*pair) not in seen:
                    seen.add(_key(*pair))
                    waiting.append(pair)
    return len(seen), None


def _covers_withdrawn(at: World, state: State, action: Action) -> bool:
    operation = action.operation
    if operation is None or not isinstance(operation.message, Unsubscribe):
        return False
    mine = operation.message.subscription.filter
    return any(mine.covers(s.filter) for s in at.ledger.withdrawn(state.history.done))


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
            queues = zip(self.state.queues, state.queues, strict=True)
            sent = [message for before, after in queues for message in _appended(before, after)]
            self.triggered += sum(isinstance(message, Subscribe) for message in sent)
        self.state = state
        if not self.comparable or any(state.queues) or self.triggered <= self.other.triggered:
            return ""
        return (
            f"withdrawals have triggered {self.triggered} subscriptions, under active covering {self.other.triggered}"
        )


def _appended(old: Queue, new: Queue) -> Queue:
    left = old if new[: len(old)] == old else old[1:]
    return new[len(left) :]


def _key(mine: SettledState, other: SettledState) -> tuple[State, State, int]:
    return mine.state, other.state, mine.triggered - other.triggered


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
    fuzzing=_fuzzing,
    settled=settled,
    judging=judging,
    options=options,
    experiments=_experiments,
    refinement=_refinement,
)
