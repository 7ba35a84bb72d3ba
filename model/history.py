"""Ghosts: the history that properties speak of.

`Ledger` keeps the books of one instance: what clients have done, what was delivered, who is ready, what is owed.
`History` is the page of one state. Brokers never see it. The definitions are those of `spec/routing.md`, section
"Ghosts"; pairs are numbered, and a set of pairs is an integer mask, because an explorer meets millions of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

from attrs import evolve, field, frozen

from routeproof.model.instance import Faults, Instance
from routeproof.model.messages import Deliver, Message, Publish, Subscribe, Subscription, Unsubscribe, is_control
from routeproof.model.operations import OperationRow
from routeproof.model.overlay import Node
from routeproof.model.protocol import Kept
from routeproof.model.topology import Topology

CONTROL = 1
"""The tag of a queue that holds a control message; publication number i has the tag 2 << i."""


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
        mask = CONTROL if is_control(message) else 0
        for copy in message.copies if isinstance(message, Message) else ():
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

    def issue(self, rank: int, done: int) -> Subscription | None:
        """The subscription of this rank as its client has it now; None where it is not active."""
        issue = self._latest(rank, done)
        return None if issue is None or done & issue.off else issue.subscription

    def _latest(self, rank: int, done: int) -> _Issue | None:
        """The last time that the client of this rank subscribed."""
        return next((issue for issue in reversed(self._issues[rank]) if done & issue.on), None)

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
