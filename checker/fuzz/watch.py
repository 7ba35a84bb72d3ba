"""Judging the states of one run, each part of a state once.

The catalogue says which part of a state a property reads (`spec.properties.Scope`). A step changes one node and a few
queues, so most parts were judged a step ago; `Watch` puts a property only to what changed since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from routeproof.model.history import CONTROL
from routeproof.model.world import State, World
from routeproof.spec.properties import Answer, Property


class Watch:
    """Judges one run of one world, state after state."""

    def __init__(self, world: World, properties: Sequence[Property], exercised: Counter[str]) -> None:
        self.world = world
        self.exercised = exercised
        self.by_scope = {
            scope: [p for p in properties if p.scope == scope]
            for scope in ("history", "flight", "queue", "node", "record", "link")
        }
        self.ends = [
            (link, world.nodes.index(link[0]), world.nodes.index(link[1])) for link in world.instance.overlay.links
        ]
        self.history: object = None
        self.flight: object = None
        self.seen_nodes: list[object] = [None] * len(world.nodes)
        self.seen_records: list[object] = [None] * len(world.nodes)
        self.seen_queues: list[object] = [()] * len(world.links)
        self.seen_links: list[object] = [None] * len(self.ends)

    def violated(self, state: State, tags: int) -> list[tuple[Property, str]]:
        """What is wrong in this state, in the order of the catalogue within a scope."""
        wrong: list[tuple[Property, str]] = []
        ledger, history = self.world.ledger, state.history
        if history != self.history:
            self.history = history
            for p in self.by_scope["history"]:
                self._note(p, p.evaluate(ledger, history), wrong)
        if (history, tags) != self.flight:
            self.flight = (history, tags)
            for p in self.by_scope["flight"]:
                self._note(p, p.evaluate(ledger, history, tags), wrong)
        if self.by_scope["queue"]:
            self._judge_queues(state, wrong)
        if not tags & CONTROL:
            self._judge_tables(state, wrong)
        return wrong

    def _judge_queues(self, state: State, wrong: list[tuple[Property, str]]) -> None:
        for i, (link, queue) in enumerate(zip(self.world.links, state.queues, strict=True)):
            if queue is not self.seen_queues[i]:
                self.seen_queues[i] = queue
                for p in self.by_scope["queue"]:
                    self._note(p, p.evaluate(self.world.ledger, link, queue), wrong)

    def _judge_tables(self, state: State, wrong: list[tuple[Property, str]]) -> None:
        ledger, done, tables = self.world.ledger, state.history.done, state.locals
        for i, node in enumerate(self.world.nodes):
            part = (tables[i], done)
            if self.by_scope["node"] and part != self.seen_nodes[i]:
                self.seen_nodes[i] = part
                for p in self.by_scope["node"]:
                    self._note(p, p.evaluate(ledger, node, tables[i], done), wrong)
            record = (tables[i], state.history)
            if self.by_scope["record"] and record != self.seen_records[i]:
                self.seen_records[i] = record
                for p in self.by_scope["record"]:
                    self._note(p, p.evaluate(ledger, node, tables[i], state.history), wrong)
        for i, (link, near, far) in enumerate(self.ends):
            both = (tables[near], tables[far])
            if self.by_scope["link"] and both != self.seen_links[i]:
                self.seen_links[i] = both
                for p in self.by_scope["link"]:
                    self._note(p, p.evaluate(ledger, link, *both), wrong)

    def _note(self, p: Property, answer: Answer, wrong: list[tuple[Property, str]]) -> None:
        if answer is None:
            return
        self.exercised[p.id] += 1
        if answer and p.kind == "always":
            wrong.append((p, answer))
