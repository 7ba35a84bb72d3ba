"""The explorer: every reachable state of an instance, breadth first, exactly; and partial-order reduction.

    >>> from routeproof.checker.explore import explore
    >>> from routeproof.checker.instances import find
    >>> from routeproof.model.protocols import world
    >>> explore(world(find("tiny"), "active")).states
    149

Reading order: `interned` and `questions` (components and memoised answers), `columns` (a state as one 64-bit key; the
graph with runs and cycles), `expand` (a chunk of states to its successors), `judge` (properties on columns), `search`
(the loop), and the reductions `symmetry` and, here, `PartialOrderSearch`.

Partial-order reduction: where one broker's deliveries are all that matters next, explore only those.

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

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from attrs import evolve

from routeproof.checker.evaluation import Finding, Result, Verdict, violations
from routeproof.checker.explore.checkpoint import load, save
from routeproof.checker.explore.columns import Ints
from routeproof.checker.explore.expand import Mask
from routeproof.checker.explore.interned import IMPOSSIBLE, Column
from routeproof.checker.explore.search import LimitReached, Search, refuse_unargued
from routeproof.checker.explore.symmetry import SymmetricSearch
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.memory import most
from routeproof.checker.system.terminal import Progress, count
from routeproof.model.history import CONTROL
from routeproof.model.messages import Publish
from routeproof.model.overlay import Link
from routeproof.model.world import State, Step, World
from routeproof.spec.properties import Property, properties_for

__all__ = ["REDUCTIONS", "Progress", "explore"]


def explore(
    world: World,
    *,
    properties: Sequence[Property] | None = None,
    max_states: int | None = None,
    seconds: float | None = None,
    reduction: Sequence[str] = (),
    checkpoint: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop_at_first: bool = False,
    max_memory: int | None = None,
) -> Result:
    """Explore an instance and judge every property; one that a limit cut short is `unknown`, never `holds`.

    `checkpoint` is read when it exists and written when the search ends before it is complete; where it cannot be
    written, the result's `unsaved` says why. `stop_at_first` ends the search at the depth of the first violation, for
    callers that only want that one. `max_memory` is in bytes, of the whole process; by default most of what there is.
    """
    if len(reduction) > 1:
        raise UsageError("symmetry and por cannot be combined; give one --reduction")
    search = (REDUCTIONS[reduction[0]] if reduction else Search)(
        world, properties_for(world.definition.name, world.policy) if properties is None else properties
    )
    if checkpoint is not None and checkpoint.exists():
        load(search, checkpoint)
    until = _has_failed if stop_at_first else lambda _: False
    limit = search.run(max_states, seconds, progress, until, most() if max_memory is None else max_memory)
    unsaved = _unsaved(search, checkpoint) if limit else ""
    with search.closing(seconds):
        result = _result(search, tuple(reduction), limit)
    if result.limit and not limit:  # all was found, and what it means was not
        unsaved = _unsaved(search, checkpoint)
    return evolve(result, unsaved=unsaved)


def _unsaved(search: Search, checkpoint: Path | None) -> str:
    """Saves the search, if there is to be a checkpoint; returns why that failed, if it did."""
    try:
        if checkpoint is not None:
            with interrupts.noted():
                save(search, checkpoint)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _has_failed(search: Search) -> bool:
    always = (t for t in search.judge.tallies.values() if t.property.kind == "always")
    return search.stuck is not None or any(t.violation is not None for t in always)


def _result(search: Search, reduction: tuple[str, ...], limit: str) -> Result:
    world = search.world
    cycle, cut = None, ""
    if "por" in reduction or any(p.over == "graph" for p in search.properties):
        try:
            cycle = search.graph.find_cycle(search.pause)
        except LimitReached as reached:
            cut = str(reached)
    is_open = bool(cut)  # it is not known whether there is a cycle
    findings = {}
    for p in search.properties:
        try:
            findings[p.id] = _finding(search, p, cycle, is_open=is_open)
        except LimitReached as reached:
            cut = str(reached)
            findings[p.id] = _without_run(search, p, cut)
    if (cycle is not None or is_open) and "por" in reduction:  # a step may have been put off for ever: claim nothing
        findings = {id: f if f.run is not None or f.why else evolve(f, verdict="unknown") for id, f in findings.items()}
    return Result(
        instance=world.instance.name,
        protocol=world.instance.protocol,
        policy=world.policy,
        mutant=world.mutant,
        engine="explore",
        states=search.full_states,
        transitions=search.transitions,
        depth=search.depth,
        complete=search.complete,
        seconds=search.spent,
        findings=findings,
        rules=search.expander.rules(),
        stored=search.states,
        reduction=reduction,
        limit=limit or cut,
    )


def _finding(search: Search, p: Property, cycle: list[int] | None, *, is_open: bool) -> Finding:
    if p.over == "graph":
        return _drains(search, p, cycle, is_open=is_open)
    tally = search.judge.tallies[p.id]
    end = tally.violation if p.kind == "always" else tally.witness
    if end is None:
        missed: Verdict = "holds" if p.kind == "always" else "fails"
        return Finding(p.id, p.kind, missed if search.complete else "unknown", tally.exercised)
    run, state = concrete_run(search, search.graph.path_to(end))
    wrong = violations(search.world, state, [p])
    found: Verdict = "fails" if p.kind == "always" else "holds"
    return Finding(p.id, p.kind, found, tally.exercised, run, wrong[0][1] if wrong else "")


def _without_run(search: Search, p: Property, cut: str) -> Finding:
    """The verdict that stands already, for which a limit left no time to make the run that shows it."""
    exercised = search.terminals if p.over == "graph" else search.judge.tallies[p.id].exercised
    found: Verdict = "fails" if p.kind == "always" else "holds"
    return Finding(p.id, p.kind, found, exercised, None, f"the run that shows it was not made: {cut} came first")


def _drains(search: Search, p: Property, cycle: list[int] | None, *, is_open: bool) -> Finding:
    """No cycle, and nothing left in a queue at the end of a maximal run."""
    if search.stuck is not None:
        run, _ = concrete_run(search, search.graph.path_to(search.stuck))
        return Finding(p.id, p.kind, "fails", search.terminals, run, "nothing can happen, but a queue is not empty")
    if cycle is not None:
        run, _ = concrete_run(search, [*search.graph.path_to(cycle[0]), *cycle[1:]])
        back = count(len(cycle) - 1, "step leads back to where it", "steps lead back to where they")
        why = f"the last {back} began: this run never ends"
        return Finding(p.id, p.kind, "fails", search.terminals, run, why)
    return Finding(p.id, p.kind, "holds" if search.complete and not is_open else "unknown", search.terminals)


def concrete_run(search: Search, path: Sequence[int]) -> tuple[tuple[str, ...], State]:
    """Labels of a run through these states, and its last state; under a symmetry, of one they stand for."""
    world, labels = search.world, []
    state = world.initial()
    for target in path[1:]:
        step = next(s for s in _steps(search, state) if search.is_stored_as(s.state, target))
        labels.append(step.action.label)
        state = step.state
    return tuple(labels), state


def _steps(search: Search, state: State) -> Iterator[Step]:
    """The steps of a state; the search may stop before each."""
    search.pause()
    for step in search.world.steps(state):
        yield step
        search.pause()


class PartialOrderSearch(Search):
    """A search that explores a persistent set of deliveries where it finds one."""

    def __init__(self, world: World, properties: Sequence[Property]) -> None:
        super().__init__(world, properties)
        if world.instance.faults.any:
            raise UsageError("--reduction por needs an instance without faults: a fault may touch any queue")
        if world.protocol.may_refuse:
            raise UsageError("--reduction por needs brokers that refuse nothing: here a waiting message may be stuck")
        refuse_unargued("por", world)
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


REDUCTIONS: dict[str, type[Search]] = {"symmetry": SymmetricSearch, "por": PartialOrderSearch}
