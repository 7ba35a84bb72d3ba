"""Ghosts: the history that properties speak of.

`Ledger` keeps the books of one instance: what clients have done, what was delivered, who is ready, what is owed.
`History` is the page of one state. Brokers never see it. The definitions are those of `spec/routing.md`, section
"Ghosts"; pairs are numbered, and a set of pairs is an integer mask, because an explorer meets millions of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

from attrs import evolve, field, frozen

from routeproof.model.instance import Faults, Instance
from routeproof.model.messages import (
    Advertise,
    Congest,
    Deliver,
    Publish,
    Relieve,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
    is_control,
)
from routeproof.model.overlay import Node
from routeproof.model.pruning_parameters import PruningParameters

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
    astray: bool = False
    """Something was delivered to a client that has no subscription of this name any more."""
    fair: int = 0
    """Of pruning: publications since which no client has changed anything, published while all was quiet."""
    cut: int = 0
    """Of pruning: 1 + the rank of the subscription whose withdrawal was the last change, on fair statistics; or 0."""


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
class Ledger:
    """The books of one instance."""

    instance: Instance
    policy: str
    operations: tuple[Operation, ...] = field(init=False)
    _subscribe: tuple[int, ...] = field(init=False)
    _unsubscribe: tuple[int, ...] = field(init=False)
    _resubscribe: tuple[int, ...] = field(init=False)
    _advertise: tuple[int, ...] = field(init=False)
    _unadvertise: tuple[int, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        operations = _operations(self.instance)
        object.__setattr__(self, "operations", operations)
        bits = {o.label: o.bit for o in operations}
        for name, items in (
            ("subscribe", self.instance.subscriptions),
            ("unsubscribe", self.instance.subscriptions),
            ("resubscribe", self.instance.subscriptions),
            ("advertise", self.instance.advertisements),
            ("unadvertise", self.instance.advertisements),
        ):
            object.__setattr__(self, f"_{name}", tuple(bits.get(f"{name}({item.id})", 0) for item in items))

    @cached_property
    def parameters(self) -> PruningParameters:
        """Of pruning: what the instance says of its readings."""
        return self.instance.parameters(self.policy)

    def initial(self) -> History:
        return History(faults=self.instance.faults)

    def enabled(self, history: History, operation: Operation) -> bool:
        done = history.done
        return not done & (operation.bit | operation.until) and done & operation.after == operation.after

    def after(
        self, history: History, operation: Operation | None, deliveries: Iterable[Deliver], quiet: bool
    ) -> History:
        """The page after a step. `quiet`: no queue holds a control message once the step is done."""
        done, owed, delivered = history.done, history.owed, history.delivered
        duplicate, astray = history.duplicate, history.astray
        if operation is not None:
            done |= operation.bit
            if isinstance(operation.message, Publish):
                owed |= self._owed_by(operation.message, history.ready)
            elif isinstance(operation.message, Unsubscribe):
                owed &= ~self._all_of(operation.message.subscription)
            elif isinstance(operation.message, Subscribe):  # PRN-15: to the new one nothing was delivered yet
                delivered &= ~self._all_of(operation.message.subscription)
        for delivery in deliveries:
            s, pair = delivery.subscription, self.pair(delivery.publication.rank, delivery.subscription.rank)
            if self.issue(s.rank, done) != s:
                astray = True
                continue
            duplicate = duplicate or bool(delivered & pair)
            delivered |= pair
        active = self._active_pairs(done)
        ready = active if quiet else history.ready & active
        fair, cut = self._statistics(history, operation, quiet)
        return History(done, delivered, duplicate, ready, owed, history.faults, astray, fair, cut)

    def _statistics(self, history: History, operation: Operation | None, quiet: bool) -> tuple[int, int]:
        """What `fair` and `cut` become. A publication leaves it as quiet as it was."""
        if operation is None or self.instance.protocol != "pruning":
            return history.fair, history.cut
        match operation.message:
            case Publish(p):
                return history.fair | (1 << p.rank if quiet else 0), history.cut
            case Unsubscribe(s):
                mine = {p for p, t in self.pairs(history.delivered) if t == s.rank}
                return 0, s.rank + 1 if mine and all(history.fair >> p & 1 for p in mine) else 0
        return 0, 0

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
        """What a queue holding this message is known to hold."""
        if isinstance(message, Publish):
            return 2 << message.publication.rank
        return CONTROL if is_control(message) else 0

    def active_subscriptions(self, done: int) -> list[bool]:
        """Per subscription: subscribed and not unsubscribed, or subscribed again."""
        rows = zip(self._subscribe, self._unsubscribe, self._resubscribe, strict=True)
        return [bool(done & again) or (bool(done & on) and not done & off) for on, off, again in rows]

    def issue(self, rank: int, done: int) -> Subscription | None:
        """The subscription of this rank as its client has it now; None where it is not active."""
        subscriber = self.instance.subscribers[rank]
        if done & self._resubscribe[rank]:
            return self.instance.issued_again(subscriber)
        active = done & self._subscribe[rank] and not done & self._unsubscribe[rank]
        return subscriber.subscription if active else None

    def withdrawn(self, done: int) -> list[Subscription]:
        """What was subscribed and then unsubscribed, whether it was issued again or not."""
        rows = zip(self.instance.subscriptions, self._unsubscribe, strict=True)
        return [s for s, off in rows if done & off]

    def home(self, rank: int, done: int) -> Node:
        """Where that client is."""
        subscriber = self.instance.subscribers[rank]
        return subscriber.again if subscriber.again is not None and done & self._resubscribe[rank] else subscriber.at

    def active_advertisements(self, done: int) -> list[bool]:
        """Per advertisement: advertised and not unadvertised."""
        return [bool(done & on) and not done & off for on, off in zip(self._advertise, self._unadvertise, strict=True)]

    def _active_pairs(self, done: int) -> int:
        """All overlapping pairs of an active subscription and an active advertisement."""
        subs, advs = self.active_subscriptions(done), self.active_advertisements(done)
        mask = 0
        for s in self.instance.subscriptions:
            for a in self.instance.advertisements:
                if subs[s.rank] and advs[a.rank] and s.filter.overlaps(a.filter):
                    mask |= 1 << (s.rank * len(advs) + a.rank)
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


def _operations(instance: Instance) -> tuple[Operation, ...]:
    """In the order in which engines number them: as listed, withdrawals after everything that comes first."""
    rows: list[tuple[str, Node, Hashable, str, str]] = []
    for a in instance.advertisers:
        rows.append((f"advertise({a.advertisement.id})", a.at, Advertise(a.advertisement), "", ""))
    for s in instance.subscribers:
        rows.append((f"subscribe({s.subscription.id})", s.at, Subscribe(s.subscription), "", ""))
    for p in instance.publications:
        home = instance.advertiser_of(p).at
        until = f"unadvertise({p.of})"
        rows.append((f"publish({p.id})", home, Publish(p), f"advertise({p.of})", until))
    for s in instance.subscribers:
        if s.unsubscribes:
            name = s.subscription.id
            rows.append((f"unsubscribe({name})", s.at, Unsubscribe(s.subscription), f"subscribe({name})", ""))
    for a in instance.advertisers:
        if a.unadvertises:
            name = a.advertisement.id
            rows.append((f"unadvertise({name})", a.at, Unadvertise(a.advertisement), f"advertise({name})", ""))
    for s in instance.subscribers:
        if s.again is not None:
            name = s.subscription.id
            message = Subscribe(instance.issued_again(s))
            rows.append((f"resubscribe({name})", s.again, message, f"unsubscribe({name})", ""))
    for b in instance.congestion:
        rows.append((f"congest({b})", b, Congest(), "", ""))
        rows.append((f"relieve({b})", b, Relieve(), f"congest({b})", ""))
    bit = {label: 1 << i for i, (label, *_) in enumerate(rows)}
    return tuple(
        Operation(i, label, node, message, bit.get(after, 0), bit.get(until, 0))
        for i, (label, node, message, after, until) in enumerate(rows)
    )
