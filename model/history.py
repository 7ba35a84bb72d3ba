"""Ghosts: what properties remember of a run. Nodes never see them.

The history is kept for every protocol (`spec/routing.md`, section "Ghosts"). `Ledger` keeps the books of one instance:
what clients have done, what was delivered, who is ready, what is owed; `History` is the page of one state. Pairs are
numbered, and a set of pairs is an integer mask, because an explorer meets millions of them.

A `Ghost` is one thing more, declared by a protocol's definition, as a value that changes with the steps of the world.
In the explorer it is a column of its own, so a ghost that few steps change costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from attrs import evolve, field, fields, frozen

from routeproof.model.instance import Faults, Instance, OperationRow
from routeproof.model.messages import Deliver, Message, Publication, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node, Topology
from routeproof.model.protocol import Kept, ProtocolError

CONTROL = 1
"""The tag of a queue that holds a control message; publication number i has the tag 2 << i."""

RESERVED = ("local", "locals", "queue", "queues", "flight")
"""Names of the parts that properties read in addition to ghosts (`spec.property`)."""


@frozen(cache_hash=True)
class History:
    """Masks. `done`: of operations; `delivered`, `owed`: of pairs (p, s); `ready`: of pairs (s, a)."""

    done: int = 0
    delivered: int = 0
    duplicate: bool = False
    ready: int = 0
    owed: int = 0
    faults: Faults = Faults()


@frozen
class Operation:
    """Something that a client does once: a message to its home broker, possible after `after` and not after `until`."""

    index: int
    label: str
    node: Node
    message: Hashable
    after: int = 0
    until: int = 0

    @property
    def bit(self) -> int:
        return 1 << self.index


@frozen
class _Issue:
    """One time that a client subscribes, and the operations that begin and end it. `off` 0: nothing ends it."""

    subscription: Subscription
    node: Node
    on: int
    off: int


@frozen(cache_hash=True)
class Ledger:
    """The books of one instance."""

    instance: Instance
    policy: str
    rows: tuple[OperationRow, ...]
    parameters_of: Callable[[Instance, str], Any] = field(eq=False, repr=False)
    topology: Topology
    operations: tuple[Operation, ...] = field(init=False)
    _issues: tuple[tuple[_Issue, ...], ...] = field(init=False)
    """Per subscription, the times that its client may subscribe, the first one first."""
    _advertise: tuple[int, ...] = field(init=False)
    _unadvertise: tuple[int, ...] = field(init=False)
    _active: dict[int, int] = field(init=False, factory=dict, eq=False, repr=False)
    """Active pairs by `done`, as far as they were looked up."""
    _subscribed: dict[int, tuple[bool, ...]] = field(init=False, factory=dict, eq=False, repr=False)
    """Active subscriptions by `done`, as far as they were looked up."""
    _matching: dict[int, tuple[int, ...]] = field(init=False, factory=dict, eq=False, repr=False)
    """Subscriptions that match, by publication, as far as they were looked up."""
    _may: dict[int, int] = field(init=False, factory=dict, eq=False, repr=False)
    """Enabled operations by `done`, as far as they were looked up."""

    def __attrs_post_init__(self) -> None:
        bit = {row.label: 1 << i for i, row in enumerate(self.rows)}
        operations = tuple(
            Operation(i, row.label, row.node, row.message, bit.get(row.after, 0), bit.get(row.until, 0))
            for i, row in enumerate(self.rows)
        )
        object.__setattr__(self, "operations", operations)
        issues: list[list[_Issue]] = [[] for _ in self.instance.subscriptions]
        for o in operations:
            if isinstance(o.message, Subscribe):
                ends = (off.bit for off in operations if isinstance(off.message, Unsubscribe) and off.after == o.bit)
                s = o.message.subscription
                issues[s.rank].append(_Issue(s, o.node, o.bit, next(ends, 0)))
        object.__setattr__(self, "_issues", tuple(map(tuple, issues)))
        for name in ("advertise", "unadvertise"):
            bits = tuple(bit.get(f"{name}({item.id})", 0) for item in self.instance.advertisements)
            object.__setattr__(self, f"_{name}", bits)

    def name(self, node: Node) -> str:
        """Name of a node, for the reasons that properties give."""
        return self.topology.name(node)

    @cached_property
    def parameters(self) -> Any:
        """Parameters of the protocol: what the readings of the instance come to under the policy."""
        return self.parameters_of(self.instance, self.policy)

    def initial(self) -> History:
        return History(faults=self.instance.faults)

    def enabled(self, history: History, operation: Operation) -> bool:
        done = history.done
        return not done & (operation.bit | operation.until) and done & operation.after == operation.after

    def may(self, history: History) -> int:
        """The mask of the operations that are enabled."""
        done = history.done
        if done not in self._may:
            self._may[done] = sum(o.bit for o in self.operations if self.enabled(history, o))
        return self._may[done]

    def after(
        self, history: History, operation: Operation | None, deliveries: Sequence[Deliver], quiet: bool
    ) -> History:
        """The page after a step. `quiet`: no queue holds a control message once the step is done."""
        if operation is None and not deliveries and (not quiet or self._active_pairs(history.done) == history.ready):
            return history
        done, owed, delivered, duplicate = history.done, history.owed, history.delivered, history.duplicate
        if operation is not None:
            done |= operation.bit
            if isinstance(operation.message, Publish):
                owed |= self._owed_by(operation.message, history.ready)
            elif isinstance(operation.message, Unsubscribe):
                owed &= ~self._all_of(operation.message.subscription)
            elif isinstance(operation.message, Subscribe):  # again: to the new one nothing was delivered yet
                delivered &= ~self._all_of(operation.message.subscription)
        for delivery in deliveries:
            s, pair = delivery.subscription, self.pair(delivery.publication.rank, delivery.subscription.rank)
            if self.issue(s.rank, done) != s:  # to a client that does not have the subscription any more
                continue
            duplicate = duplicate or bool(delivered & pair)
            delivered |= pair
        active = self._active_pairs(done)
        ready = active if quiet else history.ready & active
        return History(done, delivered, duplicate, ready, owed, history.faults)

    def spend(self, history: History, fault: str) -> History:
        """One fault of this kind fewer may happen from now on."""
        left = {fault: getattr(history.faults, fault) - 1}
        return evolve(history, faults=evolve(history.faults, **left))

    def pair(self, publication: int, subscription: int) -> int:
        """The mask of one (publication, subscription)."""
        return 1 << (publication * len(self.instance.subscriptions) + subscription)

    def pairs(self, mask: int) -> list[tuple[int, int]]:
        """The (publication, subscription) ranks in a mask."""
        width = len(self.instance.subscriptions)
        return [divmod(i, width) for i in range(mask.bit_length()) if mask >> i & 1]

    def tag(self, message: Hashable) -> int:
        """Tag of a queue that holds this message."""
        if not isinstance(message, Message):
            return 0
        mask = CONTROL if message.control else 0
        for copy in message.copies:
            mask |= 2 << copy.rank
        return mask

    def tags_of(self, kept: Kept) -> int:
        """Tag of a node that keeps this."""
        mask = CONTROL if kept.control else 0
        for p in self.instance.publications:
            if p.id in kept.publications:
                mask |= 2 << p.rank
        return mask

    def active_subscriptions(self, done: int) -> Sequence[bool]:
        """Per subscription: its client has it now."""
        known = self._subscribed.get(done)
        if known is None:
            known = tuple(self.issue(rank, done) is not None for rank in range(len(self._issues)))
            self._subscribed[done] = known
        return known

    def matching(self, p: Publication) -> tuple[int, ...]:
        """The ranks of the subscriptions that match a publication, whether they are active or not."""
        if p.rank not in self._matching:
            found = tuple(s.rank for s in self.instance.subscriptions if s.filter.matches(p.event))
            self._matching[p.rank] = found
        return self._matching[p.rank]

    def issue(self, rank: int, done: int) -> Subscription | None:
        """The subscription of this rank as its client has it now; None where it is not active."""
        issue = self._latest(rank, done)
        return None if issue is None or done & issue.off else issue.subscription

    def _latest(self, rank: int, done: int) -> _Issue | None:
        """The last time that the client of this rank subscribed."""
        for issue in reversed(self._issues[rank]):
            if done & issue.on:
                return issue
        return None

    def withdrawn(self, done: int) -> list[Subscription]:
        """The subscriptions that were withdrawn, whether they were issued again or not."""
        rows = zip(self.instance.subscriptions, self._issues, strict=True)
        return [s for s, issues in rows if any(done & issue.off for issue in issues)]

    def home(self, rank: int, done: int) -> Node:
        """Where that client is."""
        issue = self._latest(rank, done)
        return self.instance.subscribers[rank].at if issue is None else issue.node

    def active_advertisements(self, done: int) -> list[bool]:
        """Per advertisement: advertised and not unadvertised."""
        return [bool(done & on) and not done & off for on, off in zip(self._advertise, self._unadvertise, strict=True)]

    def _active_pairs(self, done: int) -> int:
        """All overlapping pairs of an active subscription and an active advertisement."""
        if done in self._active:
            return self._active[done]
        subs, advs = self.active_subscriptions(done), self.active_advertisements(done)
        mask = 0
        for s in self.instance.subscriptions:
            for a in self.instance.advertisements:
                if subs[s.rank] and advs[a.rank] and s.filter.overlaps(a.filter):
                    mask |= 1 << (s.rank * len(advs) + a.rank)
        self._active[done] = mask
        return mask

    def _owed_by(self, publish: Publish, ready: int) -> int:
        p, advs = publish.publication, self.instance.advertisements
        a = next(a for a in advs if a.id == p.of)
        owed = 0
        for s in self.instance.subscriptions:
            if ready >> (s.rank * len(advs) + a.rank) & 1 and s.filter.matches(p.event):
                owed |= self.pair(p.rank, s.rank)
        return owed

    def _all_of(self, s: Subscription) -> int:
        return sum(self.pair(p.rank, s.rank) for p in self.instance.publications)


PARTS = tuple(part.name for part in fields(History))
"""Parts of the history, by name: they are read as ghosts are."""


@frozen
class WorldEvent:
    """A step of the world as ghosts see it."""

    operation: Operation | None
    """The operation of a client, if the step is one."""
    fault: str
    """Kind of the fault, if the step is one."""
    deliveries: tuple[Deliver, ...]
    """Deliveries to local clients, in order."""
    quiet: bool
    """True if no control message is queued or held back once the step is done."""
    facts: tuple[Hashable, ...] = ()
    """Facts that the definition notes of the step for its ghosts (`Definition.facts`)."""


class Ghost:
    """One thing that properties remember. `reads` names the parts of the history and the ghosts that it needs.

    A ghost that there is once for each client, or node, answers `each` with one ghost for each, `of` that client. Who
    reads its name sees all of them, as a mapping from `of` to the value.
    """

    name: str
    of: str = ""
    reads: tuple[str, ...] = ()

    def each(self, instance: Instance) -> Sequence[Ghost]:
        """The ghosts of this name in an instance."""
        return (self,)

    def initial(self, ledger: Ledger) -> Hashable:
        """Its value before anything happened."""
        raise NotImplementedError

    def sees(self, ledger: Ledger, event: WorldEvent) -> Hashable | None:
        """The part of an event that it needs; None where the event leaves it as it is."""
        raise NotImplementedError

    def after(self, ledger: Ledger, value: Any, seen: Any, others: Any) -> Hashable:
        """Its value after an event of which it sees this. `others`: what it reads, as it was before the step."""
        raise NotImplementedError


@frozen
class Reading:
    """Names that a property or a ghost reads, as found among the parts of the history and the ghosts of a world."""

    parts: tuple[str, ...]
    ghosts: tuple[tuple[str, str, int], ...]
    """Name, `of`, and position among the world's ghosts."""
    empty: tuple[str, ...]
    """Ghosts that the definition declares, and of which the instance has none."""

    @classmethod
    def of(cls, reads: Sequence[str], names: Sequence[str], ghosts: Sequence[Ghost], reader: str) -> Reading:
        """The reading of these names; `names` are those of all ghosts. `ProtocolError` for a name that is none."""
        for name in reads:
            if name not in PARTS and name not in names:
                known = ", ".join((*PARTS, *names))
                raise ProtocolError(
                    f"{reader} reads {name}, which is no ghost of the protocol; expected one of {known}"
                )
        return cls(
            tuple(name for name in reads if name in PARTS),
            tuple((ghost.name, ghost.of, i) for i, ghost in enumerate(ghosts) if ghost.name in reads),
            tuple(name for name in names if name in reads and not any(ghost.name == name for ghost in ghosts)),
        )

    def __bool__(self) -> bool:
        return bool(self.parts or self.ghosts or self.empty)

    def page_of(self, history: History) -> tuple[object, ...]:
        """Values of the parts of the history."""
        return tuple([getattr(history, name) for name in self.parts])

    def values_of(self, values: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """Values of the ghosts, among those of the world."""
        return tuple([values[i] for _, _, i in self.ghosts]) if self.ghosts else ()

    def shown(self, page: Sequence[object], values: Sequence[Hashable]) -> Any:
        """The parts that a reader is shown, by name. Reading any other part is an error."""
        shown: dict[str, Any] = {**{name: {} for name in self.empty}, **dict(zip(self.parts, page, strict=True))}
        for (name, of, _), value in zip(self.ghosts, values, strict=True):
            if of:
                shown.setdefault(name, {})[of] = value
            else:
                shown[name] = value
        return SimpleNamespace(**shown)


def checked(ghosts: Sequence[Ghost]) -> tuple[Ghost, ...]:
    """The ghosts, if no two of them are the same and none has a name that means something else."""
    taken: set[tuple[str, str]] = set()
    for ghost in ghosts:
        key = (ghost.name, ghost.of)
        if ghost.name in (*PARTS, *RESERVED) or key in taken or (ghost.name, "") in taken:
            raise ProtocolError(f"ghost {ghost.name}: the name is taken; give each ghost of a protocol its own")
        taken.add(key)
    return tuple(ghosts)
