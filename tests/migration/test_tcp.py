"""A publisher moves between brokers that are processes while it publishes a thousand messages a second."""

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from routeproof.checker.cli import main
from routeproof.checker.cli.run_tcp import BROKER
from routeproof.impl import implementation_of
from routeproof.impl.observers import OBSERVES
from routeproof.impl.simulator import SECOND, TimedOperation
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.processes import started
from routeproof.impl.tcp.setting import NodeSetting
from routeproof.model.filters import EventSet
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.messages import Advertise, Publication, Publish, Subscribe
from routeproof.model.protocols import DEFINITIONS
from routeproof.traces import TraceWriter
from tests.impl.tcp.running import Proxy, within

RATE = 1_000
"""Publications a second."""

MANY = 1_500
CUT_AGAIN = 0.03
"""Seconds between two cuts of all connections; the first is when the move is requested."""

BEFORE = SECOND
"""From the advertisement to the first publication, in nanoseconds."""


def instance(refuses: list[int], to: list[int]) -> Any:
    """Four brokers on a line, subscribers at three of them, and a publisher that moves to one broker after another."""
    moves = [{"publisher": "a", "to": broker} for broker in to]
    return parse_instance(
        {
            "name": "moving",
            "protocol": "migration",
            "policy": "active",
            "overlay": [[1, 2], [2, 3], [3, 4]],
            "migration": {"moves": moves, **({"refuses": refuses} if refuses else {})},
            "advertisement": [{"id": "a", "at": 1, "events": [0]}],
            "subscription": [{"id": f"s{at}", "at": at, "events": [0]} for at in (1, 2, 4)],
            "publication": [],
        },
        "moving",
    )


def operations(asked: Any) -> list[TimedOperation]:
    """The publisher publishes at the rate, and is asked to move after a third, and again after each sixth."""
    definition = DEFINITIONS["migration"]
    rows = {row.label: row for row in definition.operations(asked)}
    client = definition.topology(asked).numbered("client-a")
    found = [TimedOperation(0, client, rows["advertise(a)"].message)]
    found += [TimedOperation(n, row.node, row.message) for n, row in enumerate(rows.values()) if row.label[:3] == "sub"]
    moves = [row for label, row in rows.items() if label.startswith("move(")]
    requests = {MANY // 3 + number * MANY // 6: row for number, row in enumerate(moves)}
    for n in range(MANY):
        time = BEFORE + n * SECOND // RATE
        found.append(TimedOperation(time, client, Publish(Publication(n, f"p{n}", "a", 0))))
        if n in requests:
            found.append(TimedOperation(time, requests[n].node, requests[n].message))
    assert isinstance(asked.subscriptions[0].filter, EventSet)
    assert {type(each.message) for each in found} >= {Advertise, Subscribe, Publish}
    return found


async def run(asked: Any, played: list[TimedOperation], directory: Path, cuts: int = 0) -> Driver:
    """Plays operations on processes. `cuts`: so many times all connections are cut while it runs."""
    layout, implementation = DEFINITIONS[asked.protocol].topology(asked), implementation_of("active", asked.protocol)
    names = {node: layout.name(node) for node in layout.nodes}
    settings = {
        node: NodeSetting(
            node=node,
            neighbours=layout.neighbours(node),
            policy="active",
            token="a token",
            dialect="events",
            trace=str(directory / f"{names[node]}.part"),
            role=layout.role[node],
            protocol=asked.protocol,
            own=implementation.own_of(asked),
            names={str(each): names[each] for each in (node, *layout.neighbours(node))},
        )
        for node in layout.nodes
    }
    proxy = Proxy(Random(1))
    with (directory / "log").open("ab") as log:
        async with started(BROKER, settings, log, names.__getitem__, proxy.route) as brokers:
            driver = Driver(brokers)

            async def cut() -> None:
                await asyncio.sleep((BEFORE + MANY // 3 * SECOND // RATE) / SECOND)
                for _ in range(cuts):
                    proxy.cut()
                    await asyncio.sleep(CUT_AGAIN)

            cutting = asyncio.create_task(cut())
            await brokers.watched(driver.play(played, pace=1.0))
            await cutting
            await brokers.finish()
    await proxy.close()
    assert proxy.cuts >= cuts
    return driver


def deliveries(asked: Any, directory: Path) -> dict[str, list[str]]:
    """By subscription, the publications in the order in which its client received them."""
    received: dict[str, list[str]] = {each.id: [] for each in asked.subscriptions}
    for part in sorted(directory.glob("*.part")):
        for line in part.read_text(encoding="utf-8").splitlines()[1:]:
            event = json.loads(line)
            if event["event"] == "deliver":
                received[event["message"]["to"]].append(event["message"]["id"])
    return received


def resumed(directory: Path) -> list[str]:
    """The brokers that told the publisher to publish there, or that refused it."""
    lines = (directory / "client-a.part").read_text(encoding="utf-8").splitlines()[1:]
    events = [event for event in map(json.loads, lines) if event["event"] == "receive"]
    return [f"{event['message']['kind']} {event['peer']}" for event in events if event["message"]["kind"] != "pause"]


def is_accepted(asked: Any, directory: Path) -> bool:
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
    with TraceWriter(joined, "run", policy="active", overlay=edges, observes=OBSERVES, **more):
        pass
    with joined.open("ab") as whole:
        for part in sorted(directory.glob("*.part")):
            whole.write(part.read_bytes().partition(b"\n")[2])
    return main(["validate", str(joined)]) == 0


@pytest.mark.parametrize(
    ("refuses", "to", "cuts", "answers"),
    [
        ([], [4, 2, 1], 0, ["resume b4", "resume b2", "resume b1"]),
        ([4], [4], 0, ["refuse b4"]),
        ([], [4], 8, ["resume b4"]),
    ],
    ids=["moves", "refused", "broken"],
)
def test_nothing_is_lost_nothing_comes_twice_and_all_in_order(
    refuses: list[int], to: list[int], cuts: int, answers: list[str], tmp_path: Path
) -> None:
    asked = instance(refuses, to)
    driver = within(run(asked, operations(asked), tmp_path, cuts), 120.0)
    wanted = [f"p{n}" for n in range(MANY)]
    assert deliveries(asked, tmp_path) == dict.fromkeys(("s1", "s2", "s4"), wanted)
    assert driver.delivered == 3 * MANY
    assert resumed(tmp_path) == answers
    assert is_accepted(asked, tmp_path)


def test_a_shipped_instance_runs_as_it_is(tmp_path: Path) -> None:
    file = Path(__file__).parents[2] / "model/migration/instances/move3.toml"
    assert main(["run", str(file), "--tcp", "--out", str(tmp_path / "out")]) == 0
    assert main(["validate", str(tmp_path / "out" / "trace.jsonl")]) == 0
