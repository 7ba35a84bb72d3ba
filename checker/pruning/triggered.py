"""Histories in which everything settles after each operation, under two policies side by side.

`triggered_more` looks for the shortest one after which pruning has sent more subscriptions in the place of withdrawn
ones than active covering would have: what the papers count as triggered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from attrs import frozen

from routeproof.model.instance import Instance
from routeproof.model.messages import Subscribe, Unsubscribe
from routeproof.model.protocols import world
from routeproof.model.pruning.definition import DEFINITION
from routeproof.model.pruning.messages import Relieve
from routeproof.model.pruning.sections import with_congestion
from routeproof.model.routing import Routing
from routeproof.model.world import Action, Queue, State, Step, World


@frozen
class Settled:
    """A state at rest, how it was come by, and how many subscriptions withdrawals have triggered so far."""

    state: State
    run: tuple[str, ...] = ()
    triggered: int = 0

    def after(self, at: World, operation: Action) -> Settled:
        steps = _settle(at, self.state, operation)
        run = (*self.run, *(step.action.label for step in steps))
        return Settled(steps[-1].state, run, self.triggered + _triggered(operation, steps))


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
    waiting = deque([(Settled(here.initial()), Settled(there.initial()))])
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


class Comparison:
    """Judges one run: `look` at its states one after another, the initial one first.

    It speaks where the run is at rest, and not again once a client has acted before it was: such a run compares what
    cannot be compared.
    """

    def __init__(self, here: World) -> None:
        self.here, self.there = side_by_side(here.instance, here.policy)
        self.state = self.here.initial()
        self.other = Settled(self.there.initial())
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


def _key(mine: Settled, other: Settled) -> tuple[State, State, int]:
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
