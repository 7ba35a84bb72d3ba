"""The world: node handlers on links, clients that act at any moment, and ghosts, as one transition system.

`World` is generic over the protocol. `State` is a frozen value; `World.step` is one transition. Engines that need speed
use the parts (a handler's answer, an edit of one queue, a page of the ledger) and never build a `State`; everything
else, the fuzzer, replay and the plain search, goes through `step`, and tests hold the two together.

Assumptions about links and brokers are switches of the instance (`Faults`): with all of them at zero, links are FIFO
and reliable and brokers never fail.
"""

from __future__ import annotations

import traceback
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from attrs import field, frozen

from routeproof.model.definition import CORE_DEFINITION, Definition
from routeproof.model.history import CONTROL, Ghost, History, Ledger, Operation, Reading, WorldEvent, checked
from routeproof.model.instance import Instance
from routeproof.model.messages import Deliver, describe, is_control
from routeproof.model.overlay import LOCAL, Link, Node, Topology
from routeproof.model.protocol import NOTHING_KEPT, Local, Outcome, Protocol, ProtocolError, Sends

Queue = tuple[Hashable, ...]

FAULTS = ("loss", "duplicate", "reorder", "crash")


@frozen(cache_hash=True)
class State:
    """Everything that can matter: every node's local state, every queue, the history, and the protocol's ghosts."""

    locals: tuple[Local, ...]
    queues: tuple[Queue, ...]
    history: History
    ghosts: tuple[Hashable, ...] = ()


@frozen
class Action:
    """A kind of step that may be possible: a client's operation, a delivery on a link, or a fault.

    `label` is its name in replay tokens and traces, equal on every machine. `node` is where a handler runs or a crash
    happens; `link` is the position of the queue whose head is taken or that a fault edits.
    """

    index: int
    kind: str
    label: str
    node: Node = LOCAL
    link: int = -1
    operation: Operation | None = None


@frozen
class Step:
    """A transition with what happened in it."""

    action: Action
    sender: Node
    message: Hashable
    outcome: Outcome
    state: State


@frozen
class World:
    """One instance under one protocol."""

    instance: Instance
    protocol: Protocol
    policy: str
    mutant: str | None = None
    definition: Definition = CORE_DEFINITION
    ledger: Ledger = field(init=False)

    @ledger.default
    def _books(self) -> Ledger:
        rows = tuple(self.definition.operations(self.instance))
        base = self.definition.base(self.policy)
        return Ledger(self.instance, base, rows, self.definition.parameters, self.topology)

    @cached_property
    def topology(self) -> Topology:
        return self.definition.topology(self.instance).with_brokers(self.instance.broker_names)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return self.topology.nodes

    @cached_property
    def brokers(self) -> tuple[Node, ...]:
        """The nodes of which properties over brokers speak."""
        return self.topology.having("broker")

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The channels, in ascending order."""
        return self.topology.channels

    @cached_property
    def overlay_links(self) -> tuple[Link, ...]:
        """The channels that are links of the overlay: those of which properties over links speak."""
        return self.instance.overlay.links

    @cached_property
    def ghosts(self) -> tuple[Ghost, ...]:
        """The protocol's own, in the order of their columns."""
        return checked([each for ghost in self.definition.ghosts for each in ghost.each(self.instance)])

    @cached_property
    def ghosts_read(self) -> tuple[Reading, ...]:
        """For each ghost, what it reads of the state before a step."""
        return tuple(self.reading(ghost.reads, f"ghost {ghost.name}") for ghost in self.ghosts)

    def reading(self, reads: Sequence[str], reader: str) -> Reading:
        """The parts of the history and the ghosts of these names."""
        names = [ghost.name for ghost in self.definition.ghosts]
        return Reading.of(reads, names, self.ghosts, f"{self._where()}: {reader}")

    def name(self, node: Node) -> str:
        """Name of a node, for people."""
        return self.topology.name(node)

    @cached_property
    def link_index(self) -> dict[Link, int]:
        return {link: i for i, link in enumerate(self.links)}

    @cached_property
    def _node_index(self) -> dict[Node, int]:
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """Every action there is, in the fixed order that makes every result reproducible."""
        rows: list[tuple[str, str, Node, int, Operation | None]] = [
            ("operation", o.label, o.node, -1, o) for o in self.ledger.operations
        ]
        rows += [("deliver", f"deliver {u}>{v}", v, i, None) for i, (u, v) in enumerate(self.links)]
        for fault in FAULTS[:3]:
            if getattr(self.instance.faults, fault):
                rows += [(fault, f"{fault} {u}>{v}", LOCAL, i, None) for i, (u, v) in enumerate(self.links)]
        if self.instance.faults.crash:
            rows += [("crash", f"crash {b}", b, -1, None) for b in self.nodes]
        return tuple(Action(i, *row) for i, row in enumerate(rows))

    @cached_property
    def action_named(self) -> dict[str, Action]:
        return {a.label: a for a in self.actions}

    def initial(self) -> State:
        return State(
            tuple(self.protocol.initial(n) for n in self.nodes),
            ((),) * len(self.links),
            self.ledger.initial(),
            tuple(ghost.initial(self.ledger) for ghost in self.ghosts),
        )

    def enabled(self, state: State, action: Action) -> bool:
        if action.operation is not None:
            return self.ledger.enabled(state.history, action.operation) and self._accepted(state, action)
        if action.kind == "crash":
            return state.history.faults.crash > 0 and self._has_tables(state, action.node)
        possible = edit_queue(action.kind, state.queues[action.link]) is not None
        if action.kind == "deliver":
            return possible and self._accepted(state, action)
        return possible and getattr(state.history.faults, action.kind) > 0

    def _accepted(self, state: State, action: Action) -> bool:
        """Does the node take what comes next? What it does not take stays in its queue."""
        if not self.protocol.may_refuse:
            return True
        operation = action.operation
        sender = LOCAL if operation is not None else self.links[action.link][0]
        message = operation.message if operation is not None else state.queues[action.link][0]
        return self.protocol.accepts(action.node, state.locals[self._node_index[action.node]], sender, message)

    def steps(self, state: State) -> Iterator[Step]:
        """Every transition from here, in action order."""
        return (self.step(state, a) for a in self.actions if self.enabled(state, a))

    def step(self, state: State, action: Action) -> Step:
        """Take an enabled action."""
        queues = list(state.queues)
        sender, message = LOCAL, None
        if action.operation is not None:
            message = action.operation.message
        elif action.link >= 0:
            edited = edit_queue(action.kind, queues[action.link])
            assert edited is not None, f"{action.label} is not enabled here"
            sender, message = self.links[action.link][0], queues[action.link][0]
            queues[action.link] = edited
        outcome = self._outcome(state, action, sender, message)
        locals_ = state.locals
        if action.node != LOCAL:
            at = self._node_index[action.node]
            locals_ = (*locals_[:at], outcome.local, *locals_[at + 1 :])
        self.refuse_stray(action.node, outcome.sends)
        for receiver, sent in outcome.sends:
            if receiver != LOCAL:
                queues[self.link_index[action.node, receiver]] += (sent,)
        quiet = not any(map(is_control, chain(*queues))) and not self.kept(locals_) & CONTROL
        fault = action.kind if action.kind in FAULTS else ""
        facts: tuple[Hashable, ...] = ()
        if action.kind in ("operation", "deliver"):
            before = state.locals[self._node_index[action.node]]
            facts = self.definition.facts(action.node, before, sender, message, outcome)
        event = WorldEvent(action.operation, fault, deliveries(outcome), quiet, facts)
        page = self.page(state.history, event.operation, fault, event.deliveries, quiet)
        return Step(action, sender, message, outcome, State(locals_, tuple(queues), page, self._ghosts(state, event)))

    def _outcome(self, state: State, action: Action, sender: Node, message: Hashable) -> Outcome:
        if action.kind in ("operation", "deliver"):
            return self.handle(action.node, state.locals[self._node_index[action.node]], sender, message)
        if action.kind == "crash":
            return Outcome(self.protocol.initial(action.node))
        return Outcome(None)

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        """Returns the handler's answer; `ProtocolError`, with the place in its code, where the handler fails."""
        try:
            return self.protocol.handle(node, local, sender, message)
        except (ProtocolError, MemoryError):
            raise
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise ProtocolError(
                f"{self._where()}: the handler fails at {self.name(node)}, on {describe(message)} from"
                f" {self.name(sender)}: {type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
            ) from error

    def page(
        self, history: History, operation: Operation | None, fault: str, delivered: tuple[Deliver, ...], quiet: bool
    ) -> History:
        """The page of the ledger after a step."""
        page = self.ledger.after(history, operation, delivered, quiet)
        return self.ledger.spend(page, fault) if fault else page

    def _ghosts(self, state: State, event: WorldEvent) -> tuple[Hashable, ...]:
        """The ghosts after an event; each sees the others as they were before it."""
        if not self.ghosts:
            return state.ghosts
        found = list(state.ghosts)
        for i, (ghost, reading) in enumerate(zip(self.ghosts, self.ghosts_read, strict=True)):
            seen = ghost.sees(self.ledger, event)
            if seen is not None:
                others = reading.shown(reading.page_of(state.history), reading.values_of(state.ghosts))
                found[i] = ghost.after(self.ledger, state.ghosts[i], seen, others)
        return tuple(found) if found != list(state.ghosts) else state.ghosts

    def _has_tables(self, state: State, node: Node) -> bool:
        """A crash of a broker that knows nothing is no step."""
        return state.locals[self._node_index[node]] != self.protocol.initial(node)

    def tags(self, queue: Queue) -> int:
        """Tags of a queue: whether it holds control messages, and which publications."""
        mask = 0
        for message in queue:
            mask |= self.ledger.tag(message)
        return mask

    def kept(self, locals_: Iterable[Local]) -> int:
        """The tags of what nodes hold back: that is as good as on its way."""
        mask = 0
        if self.protocol.may_hold:
            for local in locals_:
                held_back = self.protocol.kept(local)
                if held_back is not NOTHING_KEPT:
                    mask |= self.ledger.tags_of(held_back)
        return mask

    def refuse_stray(self, node: Node, sends: Sends) -> None:
        """`ProtocolError` where something is sent to a node to which there is no channel, or that no codec knows."""
        for receiver, sent in sends:
            known = Deliver if receiver == LOCAL else self.definition.messages
            if not isinstance(sent, known):
                what = f"hands {describe(sent)} to its clients" if receiver == LOCAL else f"sends {describe(sent)}"
                kinds = ", ".join(each.kind for each in self.definition.messages)
                raise ProtocolError(
                    f"{self._where()}: {self.name(node)} {what}, a {type(sent).__name__}, which is no message of the"
                    f" protocol; expected {'deliver' if receiver == LOCAL else f'one of {kinds}'} (Definition.messages)"
                )
            if receiver != LOCAL and (node, receiver) not in self.link_index:
                raise ProtocolError(
                    f"{self._where()}: {self.name(node)} sends {describe(sent)} to {self.name(receiver)}, to which it"
                    " has no channel; add the channel to the topology (Definition.topology)"
                )

    def _where(self) -> str:
        return f"protocol {self.definition.name}, policy {self.policy}, instance {self.instance.name}"

    def in_flight(self, state: State) -> int:
        """The tags of all queues together, and of what nodes hold back."""
        mask = self.kept(state.locals)
        for queue in state.queues:
            mask |= self.tags(queue)
        return mask


def deliveries(outcome: Outcome) -> tuple[Deliver, ...]:
    """Deliveries of an outcome to local clients."""
    return tuple(m for n, m in outcome.sends if n == LOCAL and isinstance(m, Deliver))


def edit_queue(kind: str, queue: Queue) -> Queue | None:
    """Returns the rest of the queue that an action takes from, or None if the action cannot happen.

    A lost message is lost at the head: losing it earlier leads to the same states. A copy goes to the tail, since a
    copy that arrives late is the harmful one, and one that arrives at once is a copy of a lone message.
    """
    if kind in ("deliver", "loss"):
        return queue[1:] if queue else None
    if kind == "duplicate":
        return (*queue, queue[0]) if queue else None
    if kind == "reorder":
        return (queue[1], queue[0], *queue[2:]) if len(queue) > 1 and queue[0] != queue[1] else None
    raise ValueError(f"{kind} does not edit a queue")
