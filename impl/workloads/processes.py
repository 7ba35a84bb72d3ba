"""Business processes as 000 V-C deploys them: activities on engines, and what triggers what while an instance runs.

A process is a sequence of stages. The activities of a stage run in parallel and each triggers every activity of the
stage after it, which begins once all of them have; a loop sends an instance back to an earlier stage once in a while.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from attrs import frozen

from routeproof.model.overlay import Node


@frozen
class Activity:
    number: int
    engine: Node


@frozen
class Trigger:
    """`engine` publishes it, `activity` waits for it. `delay`: milliseconds since the instance began."""

    delay: int
    engine: Node
    activity: int


@frozen
class Flow:
    """How activities hang together, and how long each takes."""

    abreast: int
    """The most activities in a stage."""
    loops: float
    """The share of processes that have a loop."""
    again: float
    """How likely a loop is taken, each time."""
    least_ms: int
    most_ms: int


@frozen
class Process:
    name: str
    stages: tuple[tuple[Activity, ...], ...]
    loop: tuple[int, int] | None
    """From this stage back to that one."""
    starter: Node
    """Where the client is that starts instances."""

    @classmethod
    def draw(cls, name: str, many: int, engines: Sequence[Node], flow: Flow, random: Random) -> Process:
        activities = [Activity(n, random.choice(engines)) for n in range(1, many + 1)]
        stages = [tuple(activities[:1])]
        left = activities[1:]
        while left:
            width = random.randint(1, min(flow.abreast, len(left)))
            stages.append(tuple(left[:width]))
            left = left[width:]
        loop = None
        if len(stages) > 2 and random.random() < flow.loops:
            back, from_ = sorted(random.sample(range(1, len(stages)), 2))
            loop = from_, back
        return cls(name, tuple(stages), loop, random.choice(engines))

    @property
    def activities(self) -> list[Activity]:
        return [activity for stage in self.stages for activity in stage]

    @property
    def engines(self) -> list[Node]:
        """Those that publish triggers, each once. Nothing comes after the last stage but a loop."""
        last = len(self.stages) - 1
        ends = self.loop is not None and self.loop[0] == last
        publishing = [a.engine for n, stage in enumerate(self.stages) for a in stage if n < last or ends]
        return list(dict.fromkeys([self.starter, *publishing]))

    def instance(self, flow: Flow, random: Random) -> Iterator[Trigger]:
        """In order of time. Nobody waits for a message here: each is published when it would be without any delay."""
        (first,) = self.stages[0]
        yield Trigger(0, self.starter, first.number)
        order = self._order(flow, random)
        time = 0
        for here, there in pairwise(order):
            ends = sorted(
                (time + random.randint(flow.least_ms, flow.most_ms), activity.engine) for activity in self.stages[here]
            )
            for end, engine in ends:
                for activity in self.stages[there]:
                    yield Trigger(end, engine, activity.number)
            time = ends[-1][0]

    def _order(self, flow: Flow, random: Random) -> list[int]:
        """The stages that an instance goes through."""
        order = list(range(len(self.stages)))
        if self.loop is not None:
            from_, back = self.loop
            at = order.index(from_) + 1
            while random.random() < flow.again:
                order[at:at] = range(back, from_ + 1)
        return order
