"""`routeproof run --tcp`: a workload on brokers that are processes, and what they recorded put together."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, cast

from attrs import frozen

from routeproof import traces
from routeproof.checker.commands.run_pruning import readings
from routeproof.checker.commands.run_words import TRACE, by_kind, delays, header, title
from routeproof.checker.errors import Undetermined, UsageError
from routeproof.checker.files import write_text
from routeproof.checker.terminal import say
from routeproof.impl.metrics import KINDS, quantile
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.frames import MOST
from routeproof.impl.tcp.processes import BrokerDied, Route, directly, started
from routeproof.impl.tcp.setting import LOOPBACK, Limits, Setting
from routeproof.impl.workloads import Workload
from routeproof.model.overlay import Node
from routeproof.model.pruning_parameters import PRUNING

LOG = "brokers.log"
SUMMARY = "summary.json"

SECONDS = 600.0
"""Until a run is given up."""

# Not the folder that the run was started from: nobody's `json.py` is to be imported there.
BROKER = (sys.executable, "-P", "-m", "routeproof.checker.commands.run_tcp_broker")


@frozen
class Ran:
    """`brokers`: the last answer of each."""

    driver: Driver
    brokers: Mapping[Node, Mapping[str, Any]]
    seconds: float
    """From the first operation until everything had drained."""
    starting: float
    """Before that, until all brokers were there."""


def run_tcp(arguments: argparse.Namespace, drawn: Workload, route: Route = directly) -> int:
    out: Path = arguments.out
    log = out / LOG
    with TemporaryDirectory(prefix=".tcp-", dir=out) as parts, _log(log):
        try:
            ran = _until_done(_play(arguments, drawn, Path(parts), log, route))
        except BrokerDied as error:
            raise UsageError(f"{error}{_said_more(log)}") from None
        except TimeoutError:
            limit = arguments.seconds or SECONDS
            raise Undetermined(f"not everything has drained within {limit:g} s; --seconds gives more") from None
        _join(arguments, drawn, Path(parts))
        summary = _summary(arguments, drawn, ran)
        write_text(out / SUMMARY, json.dumps(summary, indent=2) + "\n")
        say("\n".join(_report(arguments, summary, log)))
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


def _said_more(log: Path) -> str:
    return f"; see {log}" if log.stat().st_size else ""


# -- running -----------------------------------------------------------------------------------------------------------


def _until_done(work: Coroutine[Any, Any, Ran]) -> Ran:
    """SIGTERM ends it as Ctrl-C does: brokers are stopped first."""

    async def stoppable() -> Ran:
        task = asyncio.current_task()
        assert task is not None
        with suppress(ValueError, RuntimeError):  # only the main thread is asked for signals
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _play(arguments: argparse.Namespace, drawn: Workload, parts: Path, log: Path, route: Route) -> Ran:
    settings = _settings(arguments, drawn, parts)
    began = time.monotonic()
    with log.open("ab") as lines:
        async with (
            asyncio.timeout(arguments.seconds or SECONDS),
            started(BROKER, settings, lines, traces.broker_name, route) as brokers,
        ):
            there = time.monotonic()
            driver = Driver(brokers, route)
            await brokers.watched(driver.play(drawn.operations(), arguments.pace or 0.0))
            drained = time.monotonic()
            answers = await brokers.finish()
    return Ran(driver, answers, drained - there, there - began)


def _settings(arguments: argparse.Namespace, drawn: Workload, parts: Path) -> dict[Node, Setting]:
    token = token_hex(16)
    return {
        broker: Setting(
            node=broker,
            neighbours=drawn.overlay.neighbours(broker),
            policy=arguments.policy,
            token=token,
            host=arguments.host or LOOPBACK,
            trace=str(_part(parts, broker)),
            snapshots=arguments.snapshots,
            readings=readings(arguments),
            limits=Limits(frame=arguments.max_frame or MOST),
        )
        for broker in drawn.overlay.brokers
    }


# -- results -----------------------------------------------------------------------------------------------------------


def _part(parts: Path, broker: Node) -> Path:
    return parts / f"{traces.broker_name(broker)}.jsonl"


def _join(arguments: argparse.Namespace, drawn: Workload, parts: Path) -> None:
    """One header, and the brokers one after the other."""
    whole = parts / TRACE
    with traces.TraceWriter(whole, **header(arguments, drawn)):
        pass
    with whole.open("ab") as joined:
        for broker in drawn.overlay.brokers:
            with _part(parts, broker).open("rb") as part:
                part.readline()
                shutil.copyfileobj(part, joined, 1 << 20)
    whole.replace(arguments.out / TRACE)


def _summary(arguments: argparse.Namespace, drawn: Workload, ran: Ran) -> dict[str, Any]:
    messages: Counter[str] = Counter()
    for answer in ran.brokers.values():
        messages.update(cast(Mapping[str, int], answer["messages"]))
    named = {kind: kind.replace("_", "-") for kind in KINDS.values()}
    handled = sum(messages.values())
    return {
        **{key: getattr(arguments, key) for key in ("workload", "policy", "scale", "seed")},
        "driver": "tcp",
        **({"readings": readings(arguments)} if arguments.policy in PRUNING else {}),
        "parameters": dict(drawn.parameters),
        "operations": {kind: n for cls, kind in KINDS.items() if (n := ran.driver.operations[cls])},
        "messages": {kind: messages[word] for kind, word in named.items() if messages[word]},
        "triggered": sum(answer["triggered"] for answer in ran.brokers.values()),
        "delivered": ran.driver.delivered,
        "delay": _delay(ran.driver),
        "brokers": {
            traces.broker_name(node): {key: answer[key] for key in BROKER_KEYS} for node, answer in ran.brokers.items()
        },
        "measured": {
            "starting_seconds": round(ran.starting, 3),
            "seconds": round(ran.seconds, 3),
            "messages_per_second": round(handled / max(ran.seconds, 1e-9)),
        },
    }


BROKER_KEYS = ("table", "triggered", "waiting_most", "reconnections", "resent", "refused", "undelivered")


def _delay(driver: Driver) -> dict[str, int] | None:
    """Nanoseconds; nothing where nothing was delivered."""
    ordered = sorted(driver.delays)
    if not ordered:
        return None
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    return {
        "least": ordered[0],
        "mean": sum(ordered) // len(ordered),
        **{name: quantile(ordered, share) for name, share in shares.items()},
        "most": ordered[-1],
    }


def _report(arguments: argparse.Namespace, summary: Mapping[str, Any], log: Path) -> list[str]:
    measured, brokers = summary["measured"], summary["brokers"].values()
    files = [TRACE, SUMMARY, *([LOG] if log.stat().st_size else [])]
    links = {key: sum(broker[key] for broker in brokers) for key in ("reconnections", "resent", "refused")}
    took = f"started in {measured['starting_seconds']:.1f} s, done in {measured['seconds']:.1f} s"
    waited = max(broker["waiting_most"] for broker in brokers)
    return [
        f"{title(arguments)}: {len(brokers)} brokers on TCP, {took}",
        "",
        f"clients     {by_kind(summary['operations'])}",
        f"handled     {by_kind(summary['messages'])}",
        f"speed       {measured['messages_per_second']:,} messages a second",
        f"triggered   {summary['triggered']:,}",
        f"delivered   {summary['delivered']:,}",
        "delay       " + delays(summary["delay"]),
        f"links       {by_kind(links)}; at most {waited:,} messages waited for one",
        "",
        f"{arguments.out}: {', '.join(files)}",
    ]
