"""The brokers of an overlay as processes of this machine: started, connected, queried, and always stopped.

    async with started(command, settings, log) as brokers:
        ...

`command` is what runs one broker (`serve`). Where one of them dies, what is awaited through `watched` ends with
`BrokerDied`. None is left when the block is left; where this process is killed, they notice and go.

The standard input of such a process is a socket to its parent, and frames go both ways:

    request                               answer
    a setting (`setting.py`)              {"port": 40123}
    {"neighbours": {"1": [host, port]}}   none: it connects to them
    {"counts": true}                      the numbers of messages sent, handled and delivered so far
    {"finish": true}                      the same and more, when its trace is complete
    {"quit": true}                        {"quitting": true}: the run has failed, later faults are its consequences

The process ends when the socket closes: brokers do not outlive the run. It sends {"failed": "..."} before it ends
because of an error.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO, Protocol, TypeVar

from attrs import define, field

from routeproof.impl.observers import TraceSink
from routeproof.impl.tcp.codec import Body, frame, read_frame
from routeproof.impl.tcp.connection import Address
from routeproof.impl.tcp.node import BrokerNode, Log, one_line, to_stderr
from routeproof.impl.tcp.setting import LOOPBACK, NodeSetting
from routeproof.model.overlay import Node

T = TypeVar("T")

GRACE = 5.0
"""Seconds in which a process must end after a request to stop."""

LOOK_AWAY = 1.0
"""Seconds for which the end of a run that failed waits for brokers that do not answer."""

ANSWER_MOST = 1 << 23
"""Bytes: each of 1,024 clients is in it, with a name that may take 2,400."""

ANYWHERE = {"0.0.0.0": LOOPBACK, "::": "::1"}
"""The address at which a broker that listens on every address is reached."""

Route = Callable[[Node, Node, Address], Address]
"""The address that a broker gets for its neighbour; a test can put a proxy there."""


class BrokerDied(Exception):
    """One line: which one, and of what."""


def directly(_near: Node, _far: Node, address: Address) -> Address:
    return address


@define(eq=False)
class _Process:
    node: Node
    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    answers: asyncio.Queue[Body] = field(factory=asyncio.Queue)
    listening: asyncio.Task[None] | None = None

    async def listen(self) -> None:
        """Ends when the process does."""
        while True:
            answer = await read_frame(self.reader, ANSWER_MOST)
            if "failed" in answer:
                raise BrokerDied(str(answer["failed"]))
            self.answers.put_nowait(answer)

    async def ask(self, question: Body) -> Body:
        self.writer.write(frame(question))
        return await self.answers.get()

    async def quit(self) -> None:
        """The pending answers to earlier requests."""
        self.writer.write(frame({"quit": True}))
        while "quitting" not in await self.answers.get():
            pass


@define(eq=False)
class Processes:
    """The brokers' processes that run. Made by `started`."""

    settings: Mapping[Node, NodeSetting]
    addresses: dict[Node, Address] = field(factory=dict)
    _processes: dict[Node, _Process] = field(factory=dict)
    _name: Callable[[Node], str] = str
    _log: BinaryIO | None = None
    said: int | None = None
    """Where the run has failed: the length of the log then. What brokers say of each other's end is no news."""

    def note_failure(self) -> None:
        if self._log is not None and self.said is None:
            self.said = os.fstat(self._log.fileno()).st_size

    @property
    def pids(self) -> dict[Node, int]:
        return {node: process.process.pid for node, process in self._processes.items()}

    async def ask(self, question: Body) -> dict[Node, Body]:
        """All of them, at once."""
        answers = await asyncio.gather(*(process.ask(question) for process in self._processes.values()))
        return dict(zip(self._processes, answers, strict=True))

    async def watched(self, work: Awaitable[T]) -> T:
        """Returns the result of `work`, unless a broker dies meanwhile."""
        task = asyncio.ensure_future(work)
        listeners = {p.listening: p for p in self._processes.values() if p.listening is not None}
        try:
            await asyncio.wait([task, *listeners], return_when=asyncio.FIRST_COMPLETED)
            for listener, process in listeners.items():
                if listener.done():
                    raise BrokerDied(f"{self._name(process.node)} {self._fate(process, listener)}")
            return task.result()
        except BaseException:
            self.note_failure()
            raise
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    @staticmethod
    def _fate(process: _Process, listener: asyncio.Task[None]) -> str:
        error = listener.exception()
        if isinstance(error, BrokerDied):
            return f"failed: {error}"
        try:
            code = process.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return f"does not answer any more: {error}"
        return f"was killed by signal {-code}" if code < 0 else f"ended by itself, with exit code {code}"

    async def finish(self) -> dict[Node, Body]:
        """Completes all traces, ends all processes, and returns their last answers; raises if one of them failed."""
        answers = await self.watched(self.ask({"finish": True}))
        for process in self._processes.values():
            await _hang_up(process)
        for node, code in _reap(self._processes.values()).items():
            if code:
                raise BrokerDied(f"{self._name(node)} did not stop as it should: exit code {code}")
        return answers

    # -- beginning -----------------------------------------------------------------------------------------------------

    async def start(self, command: Sequence[str], log: BinaryIO) -> None:
        self._log = log
        for node, setting in self.settings.items():
            ours, theirs = socket.socketpair()
            with theirs:
                # A session of its own: what a terminal sends to this one's processes does not go to it.
                process = subprocess.Popen(
                    command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
                )
            try:
                reader, writer = await asyncio.open_connection(sock=ours)
            except BaseException:
                ours.close()
                process.kill()
                process.wait()
                raise
            self._processes[node] = started = _Process(node, process, reader, writer)
            started.listening = asyncio.create_task(started.listen())
            writer.write(frame(setting.to_json()))

    async def connect(self, route: Route) -> None:
        """Once all of them say where they are."""
        for node, process in self._processes.items():
            port = (await process.answers.get())["port"]
            assert isinstance(port, int)
            host = self.settings[node].host
            self.addresses[node] = (ANYWHERE.get(host, host), port)
        for node, process in self._processes.items():
            lower = [other for other in self.settings[node].neighbours if other < node]
            told = {str(other): list(route(node, other, self.addresses[other])) for other in lower}
            process.writer.write(frame({"neighbours": told}))

    async def stop(self) -> None:
        """Stops the processes that are left. Before that, each ignores the ends of the others, which it would log."""
        try:
            quits = [
                asyncio.create_task(process.quit())
                for process in self._processes.values()
                if process.listening is not None and not process.listening.done()
            ]
            if quits:
                _, late = await asyncio.wait(quits, timeout=LOOK_AWAY)
                for each in late:
                    each.cancel()
            for process in self._processes.values():
                await _hang_up(process)
        finally:
            _reap(self._processes.values())


@asynccontextmanager
async def started(
    command: Sequence[str],
    settings: Mapping[Node, NodeSetting],
    log: BinaryIO,
    name: Callable[[Node], str] = str,
    route: Route = directly,
    seconds: float = 120.0,
) -> AsyncIterator[Processes]:
    """`log`: a file that all of them append to. `seconds` until each must say that it is there."""
    brokers = Processes(settings, name=name)
    try:
        await brokers.start(command, log)
        try:
            async with asyncio.timeout(seconds):
                await brokers.watched(brokers.connect(route))
        except TimeoutError:
            raise BrokerDied(f"the brokers did not all start within {seconds:g} s") from None
        yield brokers
    except BaseException:
        brokers.note_failure()
        raise
    finally:
        await brokers.stop()
        if brokers.said is not None:
            os.ftruncate(log.fileno(), brokers.said)


async def _hang_up(process: _Process) -> None:
    """The process takes it as the end."""
    if process.listening is not None:
        process.listening.cancel()
        await asyncio.gather(process.listening, return_exceptions=True)
    process.writer.close()
    with suppress(OSError):
        await process.writer.wait_closed()


def _reap(processes: Iterable[_Process]) -> dict[Node, int]:
    """Wait for all, and kill what takes too long. It does not give way to anything else: this must happen."""
    end = time.monotonic() + GRACE
    codes = {}
    for process in processes:
        try:
            codes[process.node] = process.process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.process.kill()
            codes[process.node] = process.process.wait()
    return codes


# -- A node as a process of its own ------------------------------------------------------------------------------------

DIED = 3
"""The exit code of a process that reported its failure."""


class OpenTrace(TraceSink, Protocol):
    def close(self) -> None: ...


def serve(open_trace: Callable[[NodeSetting], OpenTrace]) -> int:
    """All that a process does; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal it goes to everybody; the parent decides
    return asyncio.run(_serve(open_trace))


async def _serve(open_trace: Callable[[NodeSetting], OpenTrace]) -> int:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=0))
    log = to_stderr("a broker")
    try:
        setting = NodeSetting.of(await read_frame(reader))
        log = to_stderr(setting.name(setting.node))
        trace = open_trace(setting)
        try:
            await _run(reader, writer, setting, trace, log)
        finally:
            trace.close()
    except (asyncio.IncompleteReadError, ConnectionError):
        return 0  # the parent is gone
    except Exception as error:  # noqa: BLE001 - one line instead of a traceback, and the parent gets it
        reason = one_line(f"{type(error).__name__}: {error}")
        log(reason)
        writer.write(frame({"failed": reason}))
        return DIED
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    return 0


async def _run(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, setting: NodeSetting, trace: OpenTrace, log: Log
) -> None:
    failure: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
    node = BrokerNode(setting, trace, setting.name, log, failure.set_exception)
    try:
        writer.write(frame({"port": await node.listen()}))
        while True:
            told = asyncio.ensure_future(read_frame(reader))
            await asyncio.wait([told, failure], return_when=asyncio.FIRST_COMPLETED)
            if failure.done():
                told.cancel()
                failure.result()
            _obey(node, told.result(), writer, trace)
    finally:
        await node.close()


def _obey(node: BrokerNode, told: Body, writer: asyncio.StreamWriter, trace: OpenTrace) -> None:
    match told:
        case {"neighbours": dict(addresses)}:
            node.dial({int(number): (host, port) for number, (host, port) in addresses.items()})
        case {"counts": True}:
            writer.write(frame(counts(node)))
        case {"finish": True}:
            node.finish()
            trace.close()
            writer.write(frame({**counts(node), **summary(node)}))
        case {"quit": True}:
            node.finish()
            writer.write(frame({"quitting": True}))
        case _:
            raise ValueError(f"unknown request: {told}")


def counts(node: BrokerNode) -> Body:
    """Numbers of messages sent and handled; those of all brokers together show what is in flight."""
    return {
        "sent": {str(to): peer.link.sent for to, peer in node.links.items()},
        "handled": {str(of): peer.link.handled for of, peer in node.links.items()},
        "clients": {name: [peer.link.handled, peer.link.sent] for name, peer in node.clients.items()},
    }


def summary(node: BrokerNode) -> Body:
    peers = [*node.links.values(), *node.clients.values()]
    return {
        "messages": {kind: n for kind, n in node.counters.received.items() if n},
        "triggered": node.counters.triggered,
        "table": getattr(node.core, "table_size", 0),
        "waiting_most": max((peer.link.waiting_most for peer in peers), default=0),
        "reconnections": sum(max(0, peer.connections - 1) for peer in peers),
        "resent": sum(peer.link.resent for peer in peers),
        "refused": node.refused,
        "undelivered": node.undelivered,
    }
