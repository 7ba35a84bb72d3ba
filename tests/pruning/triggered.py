"""The search for a history in which pruning triggers more than active covering, operation by operation at rest."""

from __future__ import annotations

from collections import deque

from routeproof.checker.pruning import SettledState, side_by_side
from routeproof.model.instance import Instance
from routeproof.model.messages import Unsubscribe
from routeproof.model.world import Action, State, World


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


def _key(mine: SettledState, other: SettledState) -> tuple[State, State, int]:
    return mine.state, other.state, mine.triggered - other.triggered
