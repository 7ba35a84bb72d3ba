"""The node: one broker, its links to its neighbours and to its clients, on one event loop.

It handles one message at a time, and takes turns among the peers with messages. Reading never stops; that no queue
grows without bound is the windows' doing (`Link`), and that nothing is handled whose outcome has no room:

    a message from a neighbour is handled while fewer than `high_water` messages wait for each *other* peer,
    a client's operation while that is so of all peers,
    at a client's node a message from a broker always

so a slow broker slows down those before it, hop by hop, up to the clients. No brokers wait for each other in a circle:
a message over X -> B waits only for room on links B -> Y with Y other than X, those for Y -> Z with Z other than B, and
so on. That is a path which never turns back, and in a tree (RTE-1) it ends. Nor do they wait through a client's
node with channels to several brokers: such a node takes what brokers send it without waiting for a peer. Where channels
close a circle (`NodeSetting.on_circle`) no broker waits for room before it handles what a neighbour sends. Clients do,
as on a tree; but before a slow neighbour a broker that has no clients may come to hold any number of messages.

A log has one line a matter: short, and nothing in it that a terminal would act on.
"""

from __future__ import annotations

import asyncio
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic, monotonic_ns
from typing import TypeAlias, cast

from routeproof.impl.observers import Counters, Recorder, TraceSink
from routeproof.impl.simulator import Handler, Simulator
from routeproof.impl.tcp.codec import Body, Codec, Greeting, Refusal, encode, frame, read_hello, welcome
from routeproof.impl.tcp.connection import IN_PARTS, WHOLE, Address, Connection, Dialer, Link, Peer
from routeproof.impl.tcp.setting import NodeSetting
from routeproof.model.filters import dialect
from routeproof.model.messages import Deliver, Message, Subscribe, Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import ProtocolError

TURN = 64
"""Steps before sockets are looked at again."""

WATCH = 1.0
"""Seconds between two looks at clients that take nothing."""


class BrokerNode:
    """`failed` gets an error after which the node cannot continue; no message of a peer causes one."""

    def __init__(
        self,
        setting: NodeSetting,
        trace: TraceSink,
        name: Callable[[Node], str],
        log: Log,
        failed: Callable[[Exception], None],
    ) -> None:
        self.setting = setting
        self.core = setting.make()
        self.counters = Counters()
        self.now = 0
        self.steps = 0
        self.refused = 0
        """Connections that were closed for what came over them."""
        self.undelivered = 0
        """Deliveries whose client is not there any more."""
        self._codec = Codec(dialect(setting.dialect), setting.wire)
        self.links = {n: self._peer(name(n), n) for n in setting.neighbours}
        self.clients: dict[str, Peer[Message]] = {}
        self._recorder = Recorder(trace, name, setting.snapshots)
        self._log = log
        self._failed = failed
        self._turns: OrderedDict[Peer[Message], Node] = OrderedDict()
        """Peers with unhandled messages, in the order of turns."""
        self._full: set[Peer[Message]] = set()
        """Peers for which as many messages wait as may."""
        self._unflushed: set[Peer[Message]] = set()
        self._homes: dict[str, Peer[Message]] = {}
        """The client that brought each subscription."""
        self._strangers: set[Connection] = set()
        self._known: dict[Connection, tuple[Node, Peer[Message]]] = {}
        self._server: asyncio.Server | None = None
        self._dialers: list[asyncio.Task[None]] = []
        self._watch: asyncio.TimerHandle | None = None
        self._awake = False
        self._finished = False

    def _peer(self, name: str, node: Node) -> Peer[Message]:
        limits = self.setting.limits
        decode = self._codec.from_client if node == LOCAL else self._codec.from_neighbour
        return Peer(name, Link(limits.window, limits.frame), decode, WHOLE if node == LOCAL else IN_PARTS)

    # -- beginning and end ---------------------------------------------------------------------------------------------

    async def listen(self) -> int:
        """The port is the system's choice."""
        loop = asyncio.get_running_loop()
        patience = self.setting.limits.patience
        self._server = await loop.create_server(lambda: Connection(self, patience), self.setting.host, 0)
        self._watch = loop.call_later(WATCH, self._look_at_clients, {})
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def dial(self, addresses: Mapping[Node, Address]) -> None:
        """Connects to the neighbours with a lower number; those with a higher one connect to this broker."""
        here = self.setting.node
        for node, address in addresses.items():
            peer = self.links[node]
            dialer = Dialer(
                peer,
                address,
                self.setting.token,
                Greeting(to=node, node=here),
                self.setting.limits.patience,
                partial(self._stirred, node, peer),
                partial(self._note_lost, peer.name),
            )
            self._dialers.append(asyncio.create_task(dialer.run()))

    def finish(self) -> None:
        """Ignores from now on what is still to come, and that others go."""
        self._finished = True

    async def close(self) -> None:
        self.finish()
        if self._watch is not None:
            self._watch.cancel()
        for task in self._dialers:
            task.cancel()
        await asyncio.gather(*self._dialers, return_exceptions=True)
        open_ones = [*self._strangers, *self._known]
        for connection in open_ones:
            connection.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        await asyncio.gather(*(connection.over for connection in open_ones))

    # -- what connections tell (the other side connected) --------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        self._strangers.add(connection)
        if len(self._strangers) > self.setting.limits.strangers:
            connection.close(f"{self.setting.limits.strangers} other connections have not sent a greeting")

    def said(self, connection: Connection, body: Body) -> None:
        known = self._known.get(connection)
        if known is None:
            self._greet(connection, read_hello(body, self.setting.token))
        else:
            known[1].said(body)
            self._stirred(*known)

    def writable(self, connection: Connection) -> None:
        if connection in self._known:
            self._known[connection][1].flush()

    def lost(self, connection: Connection, reason: str) -> None:
        self._strangers.discard(connection)
        known = self._known.pop(connection, None)
        if known is None:
            self._note_lost(connection.other_end, reason or "closed before its greeting")
        else:
            _, peer = known
            peer.detach(connection)
            self._note_lost(f"{peer.name} at {connection.other_end}", reason)

    def _greet(self, connection: Connection, greeting: Greeting) -> None:
        if greeting.to != self.setting.node:
            raise Refusal(f"looks for {self.setting.name(greeting.to)}; this is {self.setting.name(self.setting.node)}")
        peer = self._client(greeting.client) if greeting.node == LOCAL else self._neighbour(greeting.node)
        self._strangers.discard(connection)
        self._known[connection] = greeting.node, peer
        peer.attach(connection)
        connection.write(frame(welcome(self.setting.node)))
        peer.flush()

    def _neighbour(self, node: Node) -> Peer[Message]:
        if node not in self.links:
            raise Refusal(f"says that it is {self.setting.name(node)}, which is no neighbour")
        if node < self.setting.node:
            raise Refusal(f"says that it is {self.setting.name(node)}, which does not connect: the higher number does")
        return self.links[node]

    def _client(self, name: str) -> Peer[Message]:
        client = self.clients.get(name)
        if client is None:
            if len(self.clients) >= self.setting.limits.clients:
                raise Refusal(f"one client more than {self.setting.limits.clients}")
            client = self.clients[name] = self._peer(f"client {name}", LOCAL)
        return client

    def _note_lost(self, who: str, reason: str) -> None:
        """Logs why a connection ended, if there is a reason: a peer that just went comes again, or its process died."""
        if reason and not self._finished:
            self.refused += 1
            self._log(f"closed the connection with {who}: {reason}")

    # -- steps ---------------------------------------------------------------------------------------------------------

    def broker(self, node: Node) -> Handler:
        """The node's handler, which a recorder asks for its tables."""
        return self.core

    def _stirred(self, node: Node, peer: Peer[Message]) -> None:
        """Handles a frame of the peer: a message or an acknowledgement."""
        if peer.link.queue:
            self._turns.setdefault(peer, node)
        if peer.link.waiting < self.setting.limits.high_water:
            self._full.discard(peer)
        self._unflushed.add(peer)
        self._wake()

    def _wake(self) -> None:
        if not self._awake:
            self._awake = True
            asyncio.get_running_loop().call_soon(self._work)

    def _work(self) -> None:
        self._awake = False
        if self._finished:
            return
        try:
            for _ in range(TURN):
                if not self._turn():
                    break
            else:
                self._wake()
        except Exception as error:  # noqa: BLE001 - a defect of ours; the loop would log it and go on
            self._finished = True
            self._failed(error)
            return
        for peer in self._unflushed:
            peer.flush()
        self._unflushed.clear()

    def _turn(self) -> bool:
        """Let the next one who may speak say one thing."""
        for _ in range(len(self._turns)):
            peer, node = next(iter(self._turns.items()))
            self._turns.move_to_end(peer)
            if not self._blocked(node, peer):
                self._step(node, peer)
                if not peer.link.queue:
                    del self._turns[peer]
                return True
        return False

    def _blocked(self, node: Node, peer: Peer[Message]) -> bool:
        if node != LOCAL and (self.setting.role == "client" or self.setting.on_circle):
            return False
        return len(self._full) > (node != LOCAL and peer in self._full)

    def _step(self, sender: Node, peer: Peer[Message]) -> None:
        message = peer.link.queue.popleft()
        began = monotonic_ns()
        sends = self.core.receive(sender, message)
        self.now = monotonic_ns()
        self.counters.step(message, sends)
        # A recorder asks who drives the brokers for the time and for a broker's tables, and for nothing else.
        self._recorder.handled(cast(Simulator, self), self.setting.node, sender, message, began, sends)
        if sender == LOCAL and isinstance(message, Subscribe):
            self._homes[message.subscription.id] = peer
        if sender == LOCAL and isinstance(message, Unsubscribe):
            self._homes.pop(message.subscription.id, None)
        last: Message | None = None
        text = b""
        for to, sent in sends:
            if sent is not last:  # a publication goes to several neighbours as it is
                last, text = sent, encode(sent)
            if isinstance(sent, Deliver):
                home = self._homes.get(sent.subscription.id)
                self.undelivered += home is None
                if home is not None:
                    self._send(home, text)
            elif to in self.links:
                self._send(self.links[to], text)
            else:
                me, other = map(self.setting.name, (self.setting.node, to))
                raise ProtocolError(f"{me} sends {sent.kind} to {other}, to which it has no channel")
        peer.link.handled += 1
        self._unflushed.add(peer)
        self.steps += 1

    def _send(self, peer: Peer[Message], text: bytes) -> None:
        peer.link.send(text)
        self._unflushed.add(peer)
        if peer.link.waiting >= self.setting.limits.high_water:
            self._full.add(peer)

    # -- clients that take nothing -------------------------------------------------------------------------------------

    def _look_at_clients(self, stuck: dict[str, tuple[int, float]]) -> None:
        """`stuck`: of those with a full link, what they had taken, and since when it is no more."""
        now = monotonic()
        still: dict[str, tuple[int, float]] = {}
        for name, client in list(self.clients.items()):
            if client.link.waiting >= self.setting.limits.high_water:
                taken = client.link.acknowledged
                before = stuck.get(name)
                since = before[1] if before is not None and before[0] == taken else now
                still[name] = (taken, since)
                if now - since >= self.setting.limits.stall:
                    self._drop(name, client)
        self._watch = asyncio.get_running_loop().call_later(WATCH, self._look_at_clients, still)

    def _drop(self, name: str, client: Peer[Message]) -> None:
        reason = f"took nothing for {self.setting.limits.stall:g} s"
        del self.clients[name]
        self._turns.pop(client, None)
        self._full.discard(client)
        self._unflushed.discard(client)
        self._homes = {id: home for id, home in self._homes.items() if home is not client}
        self.undelivered += client.link.waiting
        if client.connection is not None:
            client.connection.close(reason)
        else:
            self.refused += 1
            self._log(f"forgot {client.name}: {reason}")
        self._wake()


# -- The log -----------------------------------------------------------------------------------------------------------

Log: TypeAlias = Callable[[str], None]

LONGEST = 240


def one_line(text: str) -> str:
    """Whatever it holds: what is not printable, or not ASCII, is written as an escape."""
    plain = "".join(c if c.isascii() and c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= LONGEST else plain[:LONGEST] + "..."


def to_stderr(name: str) -> Log:
    """In one write: brokers share a file, and lines must not mix."""

    def log(text: str) -> None:
        sys.stderr.write(f"{name}: {one_line(text)}\n")
        sys.stderr.flush()

    return log
