"""Breadth-first search over frozen values: every reachable state once, for any protocol that is written as a `System`.

Nothing here is clever: the visited states sit in a dict and the queue of the search is a deque. A state is any hashable
value. Two states are one exactly if they are equal.
"""

from array import array
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

State = Any


class System(Protocol):
    """A protocol on an instance: where it starts, what may happen next, and which properties a state violates."""

    def initial(self) -> State: ...

    def successors(self, state: State) -> list[State]:
        """Returns one state for each step that is enabled; two steps may lead to one state."""

    def violations(self, state: State) -> Iterable[str]: ...

    def drained(self, state: State) -> bool:
        """True if a run may end here."""


class Result(NamedTuple):
    """What a complete search found."""

    states: int
    transitions: int
    """Pairs of a state and a step that is enabled in it."""
    depth: int
    """The greatest distance of a state from the initial one."""
    violated: dict[str, int]
    """Property -> the number of states that violate it; properties without such a state are left out."""

    @property
    def numbers(self) -> list[int]:
        return [self.states, self.transitions, self.depth]


def search(system: System) -> Result:
    first = system.initial()
    seen = {first: 0}
    todo = deque([(first, 0)])
    violated: Counter[str] = Counter()
    ends, starts, depth = array("I"), array("Q", [0]), 0  # the targets of state i: ends[starts[i]:starts[i + 1]]
    shared: dict[Any, Any] = {}
    while todo:
        state, depth = todo.popleft()
        violated.update(system.violations(state))
        following = system.successors(state)
        if not following and not system.drained(state):
            violated["Drains"] += 1
        for successor in following:
            number = seen.get(successor)
            if number is None:
                new = _shared(successor, shared)
                number = seen[new] = len(seen)
                todo.append((new, depth + 1))
            ends.append(number)
        starts.append(len(ends))
    cyclic = _on_or_behind_a_cycle(len(seen), starts, ends)
    if cyclic:
        violated["Drains"] += cyclic
    return Result(len(seen), len(ends), depth, dict(violated))


def _shared(state: State, shared: dict[Any, Any]) -> State:
    """Returns an equal state whose parts are one object each, wherever they occur. It only saves memory."""

    def of(part: Any) -> Any:
        known = shared.get(part)
        if known is None:
            known = shared[part] = tuple(of(p) for p in part) if type(part) is tuple else part
        return known

    return type(state)(*(of(part) for part in state)) if isinstance(state, tuple) else state


def _on_or_behind_a_cycle(states: int, starts: "array[int]", ends: "array[int]") -> int:
    """Returns how many states are left after Kahn's algorithm has taken away those that nothing leads to."""
    indegree = array("I", bytes(4 * states))
    for end in ends:
        indegree[end] += 1
    free = [i for i, into in enumerate(indegree) if not into]
    left = states
    while free:
        left -= 1
        i = free.pop()
        for end in ends[starts[i] : starts[i + 1]]:
            indegree[end] -= 1
            if not indegree[end]:
                free.append(end)
    return left
