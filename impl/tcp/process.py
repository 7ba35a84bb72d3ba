"""A node as a process of its own. Its standard input is a socket to its parent, and frames go both ways:

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
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from routeproof.impl.simulation.recording import Trace
from routeproof.impl.tcp.frames import Body, frame, read_frame
from routeproof.impl.tcp.log import Log, one_line, to_stderr
from routeproof.impl.tcp.node import BrokerNode
from routeproof.impl.tcp.setting import Setting

DIED = 3
"""The exit code of a process that reported its failure."""


class OpenTrace(Trace, Protocol):
    def close(self) -> None: ...


def serve(open_trace: Callable[[Setting], OpenTrace]) -> int:
    """All that a process does; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal it goes to everybody; the parent decides
    return asyncio.run(_serve(open_trace))


async def _serve(open_trace: Callable[[Setting], OpenTrace]) -> int:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=0))
    log = to_stderr("a broker")
    try:
        setting = Setting.of(await read_frame(reader))
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
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    setting: Setting,
    trace: OpenTrace,
    log: Log,
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
    """Summary of a broker's run."""
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
