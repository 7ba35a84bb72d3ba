"""Partial-order reduction: where one broker's deliveries are all that matters next, explore only those.

In a state, the deliveries at a broker v are a persistent set when nothing that happens elsewhere can touch what v does
next. `PartialOrderSearch` picks the lowest such broker and leaves every other action for later. v qualifies where

1. a message waits at v, and no client operation is enabled at v (one can only become enabled by another at v);
2. every empty link into v stays empty until v acts: behind it no message is queued, on the way there neither, and no
   operation is enabled;
3. either nothing is left to publish, or every message at the head of a link into v is a publication.

1 and 2 make the set persistent for brokers and queues: steps at other brokers commute with it. 3 extends that to the
ghosts: `ready` looks at the control messages of all queues at once, so that handling one of them does not commute with
a client's operation elsewhere (whether it is quiet in between decides who is ready). That matters only to publications
still to come, which owe by it; handling a publication commutes with everything.

No verdict is lost. A step that is put off takes no violation back: `delivered` and `duplicate` only grow, a lost
publication stays lost, tables that disagree in a quiet state are not touched by publications, and with a control
message waiting no state is quiet. Nor is a step put off for ever, since a reduced graph without cycles has none; where
it has one, Drains fails and nothing is claimed to hold. Lengths of runs are not kept.

It needs reliable links and brokers that refuse nothing: with faults anything may touch any queue. And it needs the
routing core: elsewhere a publication may change tables (statistics), and a broker may hold a message back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from routeproof.checker.explore.columns import Ints
from routeproof.checker.explore.expand import Mask
from routeproof.checker.explore.interned import IMPOSSIBLE, Column
from routeproof.checker.explore.search import Search
from routeproof.checker.system.errors import UsageError
from routeproof.model.history import CONTROL
from routeproof.model.messages import Publish
from routeproof.model.overlay import Link
from routeproof.model.world import World
from routeproof.spec.properties import Property


class PartialOrderSearch(Search):
    """A search that explores a persistent set of deliveries where it finds one."""

    def __init__(self, world: World, properties: Sequence[Property]) -> None:
        super().__init__(world, properties)
        if world.instance.faults.any:
            raise UsageError("--reduction por needs an instance without faults: a fault may touch any queue")
        if world.protocol.may_refuse:
            raise UsageError("--reduction por needs brokers that refuse nothing: here a waiting message may be stuck")
        if "por" not in world.definition.reductions:
            raise UsageError(
                f"--reduction por has not been argued for the protocol {world.definition.name}"
                f" under {world.policy}; leave it out"
            )
        if world.ghosts:
            raise UsageError(
                f"--reduction por has not been argued for ghosts, and the protocol {world.definition.name} has some;"
                " leave it out"
            )
        self._operations_at = {n: sum(o.bit for o in world.ledger.operations if o.node == n) for n in world.nodes}
        self._publishing = [o for o in world.ledger.operations if isinstance(o.message, Publish)]
        self._over = Column()  # per history: 1 where nothing is left to publish, now or later
        self._into = {n: [i for i, (_, v) in enumerate(world.links) if v == n] for n in world.nodes}

    def explored(self, columns: Sequence[Ints]) -> Sequence[Mask | None]:
        world, q, nodes = self.world, self.questions, len(self.world.nodes)
        history = columns[nodes + len(world.links)]
        waiting = [columns[nodes + link] != 0 for link in range(len(world.links))]
        idle = {n: ~q.may.meet(self._operations_at[n], history) for n in world.nodes}
        over = self._published(history)
        control = [self._control_first(link, columns[nodes + link]) for link in range(len(world.links))]

        @cache
        def dead(link: Link) -> Mask:
            """Nothing will come over this link unless its far end acts."""
            near, far = link
            there, back = world.link_index[link], world.link_index[far, near]
            mask: Mask = idle[near] & ~waiting[there] & ~waiting[back]
            for other in world.instance.overlay.neighbours(near):
                if other != far:
                    mask = mask & dead((other, near))
            return mask

        chosen = np.zeros(len(history), np.bool_)
        only: list[Mask | None] = [None] * len(world.actions)
        picks: list[tuple[int, Mask]] = []
        for node in world.nodes:
            able = idle[node] & ~chosen & np.logical_or.reduce([waiting[i] for i in self._into[node]] or [~idle[node]])
            for link in self._into[node]:
                able &= waiting[link] | dead(world.links[link])
                able &= over | ~control[link]
            if able.any():
                picks.append((node, able))
                chosen |= able
        for action in world.actions:
            mask = ~chosen
            for node, able in picks:
                if action.kind == "deliver" and action.node == node:
                    mask = mask | able
            only[action.index] = mask
        return only

    def _published(self, history: Ints) -> Mask:
        """True for each row in which nothing is left to publish: all is published, or its time is over for good."""
        for page in self.questions.histories.values[self._over.size :]:
            self._over.append(1 if all(page.done & (o.bit | o.until) for o in self._publishing) else 0)
        over: Mask = self._over[history] != 0
        return over

    def _control_first(self, link: int, queue: Ints) -> Mask:
        """Where the message at the head of a link is a control message."""
        q = self.questions
        heads = q.messages[link].values
        control = np.array([bool(self.world.ledger.tag(m) & CONTROL) for m in heads] + [False])
        head = q.head[link][queue]
        first: Mask = control[np.where(head == IMPOSSIBLE, len(heads), head)]
        return first
