"""The state machine that Hypothesis drives: the ways to push a world on.

`Machine` is one example. Hypothesis draws its world and what happens next and, once something is wrong, finds out what
can be left out. The rules are total: where one has nothing to do, it does the next best thing. Hypothesis switches
rules off at random for a whole example, and so every subset of them is a way to schedule: without `drain` everything
overtakes everything, with `drain` alone each operation meets a network at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from routeproof.checker.fuzz.walk import ORDERS, Walk
from routeproof.model.messages import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from routeproof.model.world import Action, World

# A number stands for a choice, modulo what there is to choose from; 0, the first of it, is the simplest. It stays below
# 100: beyond, Hypothesis also draws constants that it finds in loaded modules, and a seed would mean something else in
# another process.
NUMBER = st.integers(0, 99)
_TIMES = st.integers(1, 60)
_ORDER = st.sampled_from(list(ORDERS))

LEANINGS = (0.1, 0.3, 0.6)
"""How likely it is in a scramble that a client acts where a message could be delivered."""

MISHAPS = 0.1
"""How likely it is in a scramble that a link or broker fails, where the instance lets them."""


class Machine(RuleBasedStateMachine):
    """One example: a world, drawn from `worlds`, and runs in it that `set_out` begins."""

    walk: Walk

    def __init__(self, worlds: st.SearchStrategy[World], set_out: Callable[[World], Walk]) -> None:
        super().__init__()
        self.worlds = worlds
        self.set_out = set_out

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.walk = self.set_out(data.draw(self.worlds))

    @rule(number=NUMBER)
    def join(self, number: int) -> None:
        """A client advertises or subscribes."""
        self._operate(number, Advertise, Subscribe)

    @rule(number=NUMBER)
    def leave(self, number: int) -> None:
        """A client withdraws what it advertised or subscribed."""
        self._operate(number, Unadvertise, Unsubscribe)

    @rule(number=NUMBER)
    def publish(self, number: int) -> None:
        """A client publishes."""
        self._operate(number, Publish)

    @rule(number=NUMBER)
    def deliver(self, number: int) -> None:
        """A broker handles one message."""
        self._take(number, self.walk.waiting() or self.walk.possible_operations())

    @rule(number=NUMBER)
    def burst(self, number: int) -> None:
        """A broker handles everything that is waiting on one link."""
        if waiting := self.walk.waiting():
            link = waiting[number % len(waiting)]
            for _ in self.walk.state.queues[link.link]:
                if self.walk.world.enabled(self.walk.state, link):
                    self.walk.take(link)
        else:
            self._take(number, self.walk.possible_operations())

    @rule(number=NUMBER, times=_TIMES)
    def scramble(self, number: int, times: int) -> None:
        """Many things happen, in an order that one number stands for: long disorder for two draws."""
        chance = Random(number)
        lean = chance.choice(LEANINGS)
        for _ in range(times):
            mishaps = self.walk.possible_mishaps() if self.walk.mishaps and chance.random() < MISHAPS else []
            if chance.random() < lean:
                actions = mishaps or self.walk.possible_operations() or self.walk.waiting()
            else:
                actions = mishaps or self.walk.waiting() or self.walk.possible_operations()
            self._take(chance.randrange(100), actions)

    @rule(order=_ORDER, number=NUMBER)
    def drain(self, order: str, number: int) -> None:
        """Everybody is silent until the network is at rest, which is where most properties speak."""
        if not self.walk.waiting():
            self._take(number, self.walk.possible_operations())
        self.walk.drain(order)

    def teardown(self) -> None:
        """Every run ends at rest: what was lost shows when nothing is on its way any more."""
        if hasattr(self, "walk") and not self.walk.over:
            self.walk.drain("first")

    def _operate(self, number: int, *kinds: type) -> None:
        """An operation of these kinds, or else any, or else a delivery."""
        possible = self.walk.possible_operations()
        wanted = [a for a in possible if a.operation and isinstance(a.operation.message, kinds)]
        self._take(number, wanted or possible or self.walk.waiting())

    def _take(self, number: int, actions: Sequence[Action]) -> None:
        if actions:
            self.walk.take(actions[number % len(actions)])
        else:  # all is done: the same world once more, in another order
            self.walk.conclude()
            self.walk = self.set_out(self.walk.world)


class FaultyMachine(Machine):
    """Machine for instances that let links and brokers fail."""

    @rule(number=NUMBER)
    def fail(self, number: int) -> None:
        """A link loses, doubles or swaps messages, or a broker forgets everything."""
        self._take(number, self.walk.possible_mishaps() or self.walk.waiting() or self.walk.possible_operations())
