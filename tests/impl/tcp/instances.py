"""Instances that run on processes, one a node: of protocols with other nodes or channels than those of brokers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from attrs import frozen

from routeproof.checker.cli import main
from routeproof.checker.cli.run_tcp import BROKER, closes_circle
from routeproof.impl import implementation_of
from routeproof.impl.observers import OBSERVES
from routeproof.impl.simulator import TimedOperation
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.processes import started
from routeproof.impl.tcp.setting import NodeSetting
from routeproof.model.instance import Instance
from routeproof.model.instance_file import to_table
from routeproof.model.protocols import DEFINITIONS
from routeproof.traces import TraceWriter
from tests.impl.tcp.running import TOKEN, Outage, Proxy


@frozen
class Cuts:
    """So many times all connections are cut: first after some seconds of the run, then every few."""

    many: int
    first: float
    every: float


def settings_of(asked: Instance, policy: str, directory: Path) -> dict[int, NodeSetting]:
    layout = DEFINITIONS[asked.protocol].topology(asked)
    own, on_circle = implementation_of(policy, asked.protocol).own_of(asked), closes_circle(layout)
    return {
        node: NodeSetting(
            node=node,
            neighbours=layout.neighbours(node),
            policy=policy,
            token=TOKEN,
            dialect="events",
            trace=str(directory / f"{layout.name(node)}.part"),
            role=layout.role[node],
            protocol=asked.protocol,
            own=own,
            on_circle=on_circle,
            names={str(each): layout.name(each) for each in (node, *layout.neighbours(node))},
        )
        for node in layout.nodes
    }


async def run(
    asked: Instance,
    policy: str,
    played: Sequence[TimedOperation],
    directory: Path,
    cuts: Cuts,
    outages: Sequence[Outage] = (),
) -> Driver:
    """Plays operations on processes."""
    layout, proxy = DEFINITIONS[asked.protocol].topology(asked), Proxy(Random(1), list(outages))
    with (directory / "log").open("ab") as log:
        async with started(BROKER, settings_of(asked, policy, directory), log, layout.name, proxy.route) as brokers:
            driver = Driver(brokers)

            async def cut() -> None:
                await asyncio.sleep(cuts.first)
                for _ in range(cuts.many):
                    proxy.cut()
                    await asyncio.sleep(cuts.every)

            cutting = asyncio.create_task(cut())
            await brokers.watched(driver.play(played, pace=1.0))
            await cutting
            done = proxy.cuts
            await brokers.finish()
    await proxy.close()
    assert done >= cuts.many, "connections were there to be cut"
    assert not proxy.awaited, "every outage has begun"
    return driver


def events(directory: Path) -> list[dict[str, Any]]:
    """Of all nodes, one node after the other."""
    parts = sorted(directory.glob("*.part"))
    return [json.loads(line) for part in parts for line in part.read_text(encoding="utf-8").splitlines()[1:]]


def is_accepted(asked: Instance, policy: str, directory: Path) -> bool:
    """True if the traces together are a run that the protocol allows."""
    layout, joined = DEFINITIONS[asked.protocol].topology(asked), directory / "trace.jsonl"
    roles = {layout.name(node): role for node, role in layout.roles if role != "broker"}
    edges = [(f"b{u}", f"b{v}") for u, v in asked.overlay.edges]
    more: dict[str, Any] = {
        "roles": roles,
        "protocol": asked.protocol,
        "dialect": "events",
        "instance": to_table(asked),
    }
    with TraceWriter(joined, "run", policy=policy, overlay=edges, observes=OBSERVES, **more):
        pass
    with joined.open("ab") as whole:
        for part in sorted(directory.glob("*.part")):
            whole.write(part.read_bytes().partition(b"\n")[2])
    return main(["validate", str(joined)]) == 0


def runs_as_it_is(protocol: str, name: str, directory: Path) -> bool:
    """True if a shipped instance runs over TCP by the command, and its trace is accepted."""
    file = Path(__file__).parents[3] / "model" / protocol / "instances" / f"{name}.toml"
    if main(["run", str(file), "--tcp", "--out", str(directory / "out")]) != 0:
        return False
    return main(["validate", str(directory / "out" / "trace.jsonl")]) == 0
