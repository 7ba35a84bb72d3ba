"""`routeproof run --tcp`: a workload on brokers that are processes, and what they recorded put together."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, cast

from attrs import frozen

from routeproof import traces
from routeproof.checker.cli.run import TRACE, RunRequest, by_kind, delays, quantiles
from routeproof.checker.system.errors import Undetermined, UsageError
from routeproof.checker.system.files import PART, write_text
from routeproof.checker.system.interrupts import noted
from routeproof.checker.system.terminal import count, json_text, say
from routeproof.impl.tcp.codec import FRAME
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.processes import BrokerDied, Route, directly, started
from routeproof.impl.tcp.setting import LOOPBACK, Limits, NodeSetting
from routeproof.model.overlay import Node, Topology

LOG = "brokers.log"
SUMMARY = "summary.json"

SECONDS = 600.0
"""Until a run is given up."""

# Not the user's current directory: a `json.py` there must not be imported.
BROKER = (sys.executable, "-P", "-m", "routeproof.checker.cli.run_tcp_broker")


@frozen
class Ran:
    """`brokers`: the last answer of each."""

    driver: Driver
    brokers: Mapping[Node, Mapping[str, Any]]
    seconds: float
    """From the first operation until everything had drained."""
    starting: float
    """Before that, until all brokers were there."""


def run_tcp(request: RunRequest, route: Route = directly) -> int:
    arguments = request.arguments
    out: Path = arguments.out
    log = out / LOG
    # The brokers' traces. Where this process is killed, the next run into `out` removes them.
    directory = TemporaryDirectory(f".{os.getpid()}{PART}", ".tcp.", out, ignore_cleanup_errors=True)
    with directory as name, _log(log):
        parts = Path(name)
        try:
            ran = _until_done(_play(request, parts, log, route))
        except BrokerDied as error:
            more = f"; see {log}" if log.stat().st_size else ""
            raise UsageError(f"{error}{more}") from None
        except TimeoutError:
            limit = arguments.seconds or SECONDS
            raise Undetermined(f"not everything has drained within {limit:g} s; --seconds gives more") from None
        _join(request, parts)
        summary = _summary(request, ran)
        write_text(out / SUMMARY, json_text(summary))
        say("\n".join(_report(request, summary, log)))
    return 0


@contextmanager
def _log(path: Path) -> Iterator[None]:
    """It stays where there is something in it."""
    path.write_bytes(b"")
    try:
        yield
    finally:
        if not path.stat().st_size:
            path.unlink()


# -- running -----------------------------------------------------------------------------------------------------------


def _until_done(work: Coroutine[Any, Any, Ran]) -> Ran:
    """The result of the work. A signal cancels it, and nothing else: the brokers are stopped first."""

    async def stoppable() -> Ran:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        with noted(lambda: loop.call_soon_threadsafe(task.cancel)):
            return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _play(request: RunRequest, parts: Path, log: Path, route: Route) -> Ran:
    arguments, drawn = request.arguments, request.drawn
    settings = _settings(request, parts)
    began = time.monotonic()
    with log.open("ab") as lines:
        async with (
            asyncio.timeout(arguments.seconds or SECONDS),
            started(BROKER, settings, lines, request.names.__getitem__, route) as brokers,
        ):
            there = time.monotonic()
            driver = Driver(brokers, route)
            await brokers.watched(driver.play(drawn.operations(), arguments.pace or 0.0))
            drained = time.monotonic()
            answers = await brokers.finish()
    return Ran(driver, answers, drained - there, there - began)


def _settings(request: RunRequest, parts: Path) -> dict[Node, NodeSetting]:
    arguments, topology, token = request.arguments, request.drawn.topology, token_hex(16)
    on_circle = closes_circle(topology)
    return {
        node: NodeSetting(
            node=node,
            neighbours=neighbours,
            policy=arguments.policy,
            token=token,
            dialect=request.drawn.dialect,
            host=arguments.host or LOOPBACK,
            trace=str(_part(parts, request.names[node])),
            snapshots=arguments.snapshots,
            role=topology.role[node],
            protocol=request.implementation.protocol,
            own=request.own,
            on_circle=on_circle,
            names={str(each): request.names[each] for each in (node, *neighbours)},
            limits=Limits(frame=arguments.max_frame or FRAME),
        )
        for node in topology.nodes
        for neighbours in [topology.neighbours(node)]
    }


def closes_circle(topology: Topology) -> bool:
    """True where nodes could wait for each other in a circle, each for room at the next one. A client never waits for
    room when a broker has sent it something, so that no such circle leads through it.
    """
    from networkx import Graph, cycle_basis

    among = [(u, v) for u, v in topology.channels if u < v and "client" not in (topology.role[u], topology.role[v])]
    return bool(cycle_basis(Graph(among)))


# -- results -----------------------------------------------------------------------------------------------------------


def _part(parts: Path, name: str) -> Path:
    return parts / f"{name}.jsonl"


def _join(request: RunRequest, parts: Path) -> None:
    """One header, and the brokers one after the other."""
    whole = parts / TRACE
    with traces.TraceWriter(whole, **request.header()):
        pass
    with whole.open("ab") as joined:
        for name in request.names.values():
            with _part(parts, name).open("rb") as part:
                part.readline()
                shutil.copyfileobj(part, joined, 1 << 20)
    whole.replace(request.arguments.out / TRACE)


def _summary(request: RunRequest, ran: Ran) -> dict[str, Any]:
    messages: Counter[str] = Counter()
    for answer in ran.brokers.values():
        messages.update(cast(Mapping[str, int], answer["messages"]))
    kinds = request.implementation.kinds
    handled = sum(messages.values())
    return {
        **request.about,
        "driver": "tcp",
        **request.options.summary(request.arguments),
        "parameters": dict(request.drawn.parameters),
        "operations": {kind: n for cls, kind in kinds.items() if (n := ran.driver.operations[cls])},
        "messages": {kind: n for cls, kind in kinds.items() if (n := messages[cls.kind])},
        "triggered": sum(answer["triggered"] for answer in ran.brokers.values()),
        "delivered": ran.driver.delivered,
        "delay": quantiles(ran.driver.delays),
        "brokers": {
            request.names[node]: {key: answer[key] for key in BROKER_KEYS} for node, answer in ran.brokers.items()
        },
        "measured": {
            "starting_seconds": round(ran.starting, 3),
            "seconds": round(ran.seconds, 3),
            "messages_per_second": round(handled / max(ran.seconds, 1e-9)),
        },
    }


BROKER_KEYS = ("table", "triggered", "waiting_most", "reconnections", "resent", "refused", "undelivered")


def _report(request: RunRequest, summary: Mapping[str, Any], log: Path) -> list[str]:
    measured, brokers = summary["measured"], summary["brokers"].values()
    files = [TRACE, SUMMARY, *([LOG] if log.stat().st_size else [])]
    links = {key: sum(broker[key] for broker in brokers) for key in ("reconnections", "resent", "refused")}
    took = f"started in {measured['starting_seconds']:.1f} s, done in {measured['seconds']:.1f} s"
    waited = max(broker["waiting_most"] for broker in brokers)
    return [
        f"{request.title}: {request.nodes} on TCP, {took}",
        "",
        f"clients     {by_kind(summary['operations'])}",
        f"handled     {by_kind(summary['messages'])}",
        f"speed       {measured['messages_per_second']:,} messages a second",
        f"triggered   {summary['triggered']:,}",
        f"delivered   {summary['delivered']:,}",
        "delay       " + delays(summary["delay"]),
        f"links       {by_kind(links)}; at most {count(waited, 'message')} waited for one",
        "",
        f"{request.arguments.out}: {', '.join(files)}",
    ]
