"""Overlays that run: nodes of this process on real sockets, a proxy that cuts connections, and what to say to them."""

from __future__ import annotations

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from attrs import define, field, frozen

from routeproof.checker.cli import main
from routeproof.impl.observers import OBSERVES
from routeproof.impl.simulator import TimedOperation
from routeproof.impl.tcp.codec import Body, Greeting, frame, hello, read_frame
from routeproof.impl.tcp.connection import Address
from routeproof.impl.tcp.node import BrokerNode, one_line
from routeproof.impl.tcp.processes import Route, counts, directly
from routeproof.impl.tcp.setting import LOOPBACK, Limits, NodeSetting
from routeproof.impl.workloads.workload import Ids
from routeproof.model.messages import Advertise, Message, Publish, Subscribe, Unadvertise, Unsubscribe
from routeproof.model.overlay import Node, Overlay
from routeproof.traces import Event, TraceWriter, broker_name, read_trace

T = TypeVar("T")

TOKEN = "the token of the run"

LONGEST_SIGN = 30
"""Bytes of the longest kind of a message, with its quotation marks."""

TOO_EARLY = "closed before its greeting"

TREE = Overlay.of([(1, 2), (2, 3), (2, 4), (4, 5)])


# -- workloads ---------------------------------------------------------------------------------------------------------


def mixed(overlay: Overlay, many: int, seed: int = 0) -> list[TimedOperation]:
    """A few advertisements, subscriptions that cover each other, publications, and withdrawals of all kinds."""
    random, ids = Random(seed), Ids()
    said: list[tuple[Node, Message]] = []
    advertised = [(random.choice(overlay.brokers), ids.advertisement([["x", ">=", 0]])) for _ in range(3)]
    said += [(broker, Advertise(advertisement)) for broker, advertisement in advertised]
    subscribed = []
    for _ in range(many):
        match random.choice(("subscribe", "subscribe", "publish", "publish", "publish", "unsubscribe")):
            case "subscribe":
                low = random.randrange(10)
                wanted = ids.subscription([["x", ">=", low], ["x", "<=", low + random.randrange(10)]])
                subscribed.append((random.choice(overlay.brokers), wanted))
                said.append((subscribed[-1][0], Subscribe(wanted)))
            case "publish":
                broker, advertisement = random.choice(advertised)
                said.append((broker, Publish(ids.publication(advertisement, {"x": random.randrange(20)}))))
            case _ if subscribed:
                broker, wanted = subscribed.pop(random.randrange(len(subscribed)))
                said.append((broker, Unsubscribe(wanted)))
    broker, advertisement = advertised[0]
    said.append((broker, Unadvertise(advertisement)))
    return [TimedOperation(time, broker, message) for time, (broker, message) in enumerate(said)]


def flood(overlay: Overlay, many: int) -> list[TimedOperation]:
    """Everybody wants everything, and the brokers publish in turn. All subscriptions are in place before."""
    ids = Ids()
    advertised = [(broker, ids.advertisement([])) for broker in overlay.brokers]
    said: list[tuple[Node, Message]] = [(broker, Advertise(advertisement)) for broker, advertisement in advertised]
    said += [(broker, Subscribe(ids.subscription([]))) for broker in overlay.brokers]
    operations = [TimedOperation(time, broker, message) for time, (broker, message) in enumerate(said)]
    for n in range(many):
        broker, advertisement = advertised[n % len(advertised)]
        operations.append(TimedOperation(10**10 + n, broker, Publish(ids.publication(advertisement, {"n": n}))))
    return operations


# -- nodes of this process ---------------------------------------------------------------------------------------------


@define(eq=False)
class Local:
    """What `Processes` is to a driver, without processes."""

    overlay: Overlay
    directory: Path
    settings: dict[Node, NodeSetting] = field(factory=dict)
    addresses: dict[Node, Address] = field(factory=dict)
    nodes: dict[Node, BrokerNode] = field(factory=dict)
    logs: dict[Node, list[str]] = field(factory=dict)
    failures: list[Exception] = field(factory=list)

    async def ask(self, question: Body) -> dict[Node, Body]:
        assert question == {"counts": True}
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures[0]
        return {node: counts(broker) for node, broker in self.nodes.items()}

    @property
    def lines(self) -> list[str]:
        """Of all logs."""
        return [line for log in self.logs.values() for line in log]

    @property
    def complaints(self) -> list[str]:
        """But for those of connections that were cut so early that nobody knows whose they were."""
        return [line for line in self.lines if not line.endswith(TOO_EARLY)]


@asynccontextmanager
async def running(
    overlay: Overlay,
    directory: Path,
    policy: str = "active",
    *,
    limits: Limits | None = None,
    snapshots: int = 0,
    route: Route = directly,
) -> AsyncIterator[Local]:
    local = Local(overlay, directory)
    traces = []
    settings = settings_for(overlay, directory, policy, limits=limits, snapshots=snapshots)
    try:
        for node, setting in settings.items():
            local.settings[node] = setting
            log = local.logs.setdefault(node, [])
            traces.append(TraceWriter(setting.trace, "part"))
            local.nodes[node] = BrokerNode(setting, traces[-1], broker_name, _to(log), local.failures.append)
            local.addresses[node] = (LOOPBACK, await local.nodes[node].listen())
        for node, broker in local.nodes.items():
            lower = [other for other in overlay.neighbours(node) if other < node]
            broker.dial({other: route(node, other, local.addresses[other]) for other in lower})
        yield local
    finally:
        for broker in local.nodes.values():
            broker.finish()
        for broker in local.nodes.values():
            await broker.close()
        for trace in traces:
            trace.close()


def _to(log: list[str]) -> Callable[[str], None]:
    return lambda text: log.append(one_line(text))


def settings_for(
    overlay: Overlay, directory: Path, policy: str, *, limits: Limits | None = None, snapshots: int = 0
) -> dict[Node, NodeSetting]:
    return {
        node: NodeSetting(
            node=node,
            neighbours=overlay.neighbours(node),
            policy=policy,
            token=TOKEN,
            trace=str(directory / f"{broker_name(node)}.jsonl"),
            snapshots=snapshots,
            limits=limits or Limits(),
        )
        for node in overlay.brokers
    }


def accepted(overlay: Overlay, directory: Path, policy: str = "active") -> bool:
    """Are the traces of all brokers, put together, a run that the protocol allows?"""
    joined = directory / "trace.jsonl"
    with TraceWriter(joined, "run", policy=policy, overlay=overlay.edges, observes=(*OBSERVES, "snapshot")):
        pass
    with joined.open("ab") as whole:
        for node in overlay.brokers:
            with (directory / f"{broker_name(node)}.jsonl").open("rb") as part:
                part.readline()
                shutil.copyfileobj(part, whole)
    return main(["validate", str(joined)]) == 0


def within(work: Coroutine[Any, Any, T], seconds: float = 30.0) -> T:
    """What comes of it. What hangs fails."""

    async def timed() -> T:
        async with asyncio.timeout(seconds):
            return await work

    return asyncio.run(timed())


async def eventually(true: Callable[[], object], seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.005)


# -- others ------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(*address)
    try:
        yield reader, writer
    finally:
        with closing(writer):
            writer.transport.abort()


async def ended(reader: asyncio.StreamReader) -> None:
    async with asyncio.timeout(5):
        try:
            while await reader.read(1000):
                pass
        except ConnectionError:
            pass


@asynccontextmanager
async def client(
    address: Address, node: Node, name: str = "me"
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection after its greeting and its welcome."""
    async with connected(address) as (reader, writer):
        writer.write(frame(hello(TOKEN, Greeting(to=node, client=name))))
        assert await read_frame(reader) == {"welcome": 1, "node": node}
        yield reader, writer


Ends = frozenset[Node]
"""The two nodes of a connection."""


@frozen
class Outage:
    """A connection breaks when a message of this kind first passes over it, and stays broken for some time. The
    receiver gets a part of the frame, or none of it."""

    kind: str
    ends: Ends
    seconds: float

    @property
    def sign(self) -> bytes:
        return b'"%s"' % self.kind.encode()


@define(eq=False)
class Proxy:
    """Between brokers, and between clients and brokers: it passes bytes on in pieces of any size, and can `cut` all
    connections, in the middle of a frame or not; or some, when a message passes."""

    random: Random
    awaited: list[Outage] = field(factory=list)
    """The outages that have not begun."""
    cuts: int = 0
    _broken: list[Ends] = field(factory=list)
    _tasks: set[asyncio.Task[None]] = field(factory=set)
    _servers: list[asyncio.Server] = field(factory=list)
    _writers: dict[asyncio.StreamWriter, Ends] = field(factory=dict)

    def route(self, near: Node, far: Node, address: Address) -> Address:
        listening = socket.create_server((LOOPBACK, 0))
        self._do(self._serve(listening, address, frozenset({near, far})))
        here: Address = listening.getsockname()
        return here

    async def _serve(self, listening: socket.socket, address: Address, ends: Ends) -> None:
        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if ends in self._broken:
                writer.transport.abort()
                return
            far_reader, far_writer = await asyncio.open_connection(*address)
            self._writers |= dict.fromkeys((writer, far_writer), ends)
            try:
                await asyncio.gather(self._copy(reader, far_writer, ends), self._copy(far_reader, writer, ends))
            except (ConnectionError, asyncio.CancelledError):
                pass
            finally:
                for each in (writer, far_writer):
                    del self._writers[each]
                    each.transport.abort()

        self._servers.append(await asyncio.start_server(pass_on, sock=listening))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ends: Ends) -> None:
        passed = b""
        while data := await reader.read(self.random.randint(1, 2000)):
            passed = passed[-LONGEST_SIGN:] + data
            for outage in [each for each in self.awaited if each.ends == ends and each.sign in passed]:
                self.awaited.remove(outage)
                self._do(self._break(outage))
                await asyncio.sleep(0)
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError

    async def _break(self, outage: Outage) -> None:
        self._broken.append(outage.ends)
        self.cut(outage.ends)
        await asyncio.sleep(outage.seconds)
        self._broken.remove(outage.ends)

    def cut(self, only: Ends | None = None) -> None:
        """Cuts all connections, or those between two nodes."""
        cut = [writer for writer, ends in self._writers.items() if only in (None, ends)]
        self.cuts += len(cut) // 2
        for writer in cut:
            writer.transport.abort()

    def _do(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        self.cut()
        await asyncio.gather(*self._tasks)
        for server in self._servers:
            server.close()
            await server.wait_closed()
        await asyncio.sleep(0.01)


def events(directory: Path) -> list[Event]:
    """Of the trace that `accepted` has put together."""
    trace = read_trace(directory / "trace.jsonl")
    assert not trace.bad
    return list(trace.events)
