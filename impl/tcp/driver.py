"""The driver: what a workload's clients do, over real sockets, to brokers that run as processes.

It is one client of each broker, and represents all clients of that broker. Operations are issued in the order of their
virtual times, over all brokers, and as fast as the brokers take them: no more than `AHEAD` are under way. Where the
workload itself waits for the brokers to settle (`SETTLES` of virtual time without an operation), the driver waits until
no message is in flight. With a pace, operations are issued at their times, divided by it.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from secrets import token_hex
from time import monotonic_ns
from typing import Protocol, cast

from attrs import define, field

from routeproof.impl.simulator import SECOND, TimedOperation
from routeproof.impl.tcp.codec import Body, Delivery, Greeting, delivery, encode, fits
from routeproof.impl.tcp.connection import IN_PARTS, Address, Dialer, Link, Peer
from routeproof.impl.tcp.processes import Route, directly
from routeproof.impl.tcp.setting import NodeSetting
from routeproof.model.messages import Publish
from routeproof.model.overlay import LOCAL, Node

AHEAD = 64
"""Operations that are issued and that their brokers have not handled yet."""

SETTLES = 5 * SECOND

LONGEST_PAUSE = 0.1
"""Seconds between two looks at whether anything is under way."""


class Brokers(Protocol):
    """The part of the brokers that a driver needs: `Processes`, or nodes that a test has in its own process."""

    @property
    def settings(self) -> Mapping[Node, NodeSetting]: ...
    @property
    def addresses(self) -> Mapping[Node, Address]: ...
    async def ask(self, question: Body) -> dict[Node, Body]: ...


@define(eq=False)
class Driver:
    """`play` once, within the brokers' `watched`."""

    brokers: Brokers
    route: Route = directly
    operations: Counter[type] = field(factory=Counter, init=False)
    """Issued, by kind of message."""
    delays: array[int] = field(factory=lambda: array("q"), init=False)
    """Nanoseconds from issuing a publication to its delivery, for each delivery."""
    delivered: int = field(default=0, init=False)
    _session: str = field(factory=lambda: f"driver-{token_hex(8)}", init=False)
    _peers: dict[Node, Peer[Delivery]] = field(factory=dict, init=False)
    _published: dict[str, int] = field(factory=dict, init=False)
    _issued: int = field(default=0, init=False)
    _stirred: asyncio.Event = field(factory=asyncio.Event, init=False)

    async def play(self, operations: Iterable[TimedOperation], pace: float = 0.0) -> None:
        """It returns when everything has drained."""
        dialers = [asyncio.create_task(self._dialer(node).run()) for node in self.brokers.addresses]
        try:
            await self._issue(operations, pace)
            await self.quiet()
        finally:
            for dialer in dialers:
                dialer.cancel()
            await asyncio.gather(*dialers, return_exceptions=True)

    def _dialer(self, node: Node) -> Dialer:
        setting = self.brokers.settings[node]
        limits = setting.limits
        peer = self._peers[node] = Peer(str(node), Link(limits.window, limits.frame), delivery, IN_PARTS)
        return Dialer(
            peer,
            self.route(LOCAL, node, self.brokers.addresses[node]),
            setting.token,
            Greeting(to=node, client=self._session),
            limits.patience,
            lambda: self._hear(peer),
            lambda _reason: None,
        )

    # -- what clients do -----------------------------------------------------------------------------------------------

    async def _issue(self, operations: Iterable[TimedOperation], pace: float) -> None:
        began, first, former = monotonic_ns(), 0, None
        for operation in operations:
            if former is None:
                first = operation.time
            elif pace:
                moment = began + int((operation.time - first) / pace)
                while (left := moment - monotonic_ns()) > 0:
                    await asyncio.sleep(left / SECOND)
            elif operation.time - former >= SETTLES:
                await self.quiet()
            former = operation.time
            while self._under_way() >= AHEAD:
                self._stirred.clear()
                await self._stirred.wait()
            self._speak(operation)

    def _under_way(self) -> int:
        return self._issued - sum(peer.link.acknowledged for peer in self._peers.values())

    def _speak(self, operation: TimedOperation) -> None:
        message, peer = operation.message, self._peers[operation.broker]
        text = encode(message)
        if not fits(text, peer.link.most):
            raise ValueError(f"an operation of {len(text):,} bytes; a client's message is a frame: {peer.link.most:,}")
        self._issued += 1
        self.operations[type(message)] += 1
        if isinstance(message, Publish):
            self._published[message.publication.id] = monotonic_ns()
        peer.link.send(text)
        peer.flush()

    def _hear(self, peer: Peer[Delivery]) -> None:
        """Takes deliveries and acknowledgements."""
        now = monotonic_ns()
        while peer.link.queue:
            began = self._published.get(peer.link.queue.popleft().publication)
            if began is not None:  # published by us, and not by another client that has the token
                self.delays.append(now - began)
            self.delivered += 1
            peer.link.handled += 1
        peer.flush()
        self._stirred.set()

    # -- has everything arrived? ---------------------------------------------------------------------------------------

    async def quiet(self) -> None:
        """Wait until nothing is under way. One look at brokers that work is a look at many moments, so two looks, one
        after the other, must find the same: all that was sent was handled, and it has not become more since."""
        before: dict[Node, Body] | None = None
        pause = 0.001
        while True:
            counts = await self.brokers.ask({"counts": True})
            balanced = self._balanced(counts)
            if balanced and counts == before:
                return
            before = counts if balanced else None
            if not balanced:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _balanced(self, counts: Mapping[Node, Body]) -> bool:
        for node, mine in counts.items():
            link = self._peers[node].link
            if cast(dict[str, list[int]], mine["clients"]).get(self._session, [0, 0]) != [link.sent, link.handled]:
                return False
            for to, sent in cast(dict[str, int], mine["sent"]).items():
                if sent != cast(dict[str, int], counts[int(to)]["handled"])[str(node)]:
                    return False
        return True
