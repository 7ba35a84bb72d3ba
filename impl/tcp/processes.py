"""The brokers of an overlay as processes of this machine: started, connected, queried, and always stopped.

    async with started(command, settings, log) as brokers:
        ...

`command` is what runs one broker (`process.serve`). Where one of them dies, what is awaited through `watched` ends with
`BrokerDied`. None is left when the block is left; where this process is killed, they notice and go.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO, TypeVar

from attrs import define, field

from routeproof.impl.tcp.dialer import Address
from routeproof.impl.tcp.frames import Body, frame, read_frame
from routeproof.impl.tcp.setting import LOOPBACK, Setting
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

    settings: Mapping[Node, Setting]
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
    settings: Mapping[Node, Setting],
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
