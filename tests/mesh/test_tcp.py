"""Brokers that are processes open and close soft links, and one of them moves, while two publishers publish."""

import asyncio
import json
from collections import Counter
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
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.messages import Publication, Publish
from routeproof.model.protocols import DEFINITIONS
from routeproof.traces import TraceWriter
from tests.impl.tcp.running import Proxy, within

RATE, MANY = 500, 600
"""Publications a second, and in all."""
BEFORE = SECOND
"""From the first subscription to the first publication, in nanoseconds."""


def moving() -> Any:
    """A line of five brokers with subscribers everywhere. Links open over the path of a move before it, and close after
    it; the second broker moves to the far end, and the first one, which moves with it, back.
    """
    return parse_instance(
        {
            "name": "moving",
            "protocol": "mesh",
            "policy": "none",
            "overlay": [[1, 2], [2, 3], [3, 4], [4, 5]],
            "mesh": {
                "radius": 4,
                "strategies": ["S2", "S1", "SH", "S2", "S2"],
                "opens": [[1, 4], [5, 3], [3, 5], [4, 1]],
                "closes": [[5, 3]],
                "moves": [[2, 5], [3, 5]],
            },
            "advertisement": [{"id": "a", "at": 1, "events": [0]}, {"id": "b", "at": 4, "events": [0]}],
            "subscription": [{"id": f"s{at}", "at": at, "events": [0]} for at in range(1, 6)],
            "publication": [],
        },
        "moving",
    )


def operations(asked: Any) -> list[TimedOperation]:
    """Publishers take turns; a link opens or closes, or a broker moves, each eighth of the run."""
    rows = DEFINITIONS["mesh"].operations(asked)
    events = {"open(b1, b4)": 1, "open(b5, b3)": 1, "move(b2, b5)": 2, "open(b4, b1)": 4, "close(b5, b3)": 4}
    events |= {"open(b3, b5)": 3, "move(b3, b5)": 5}
    found = [
        TimedOperation(n, row.node, row.message) for n, row in enumerate(row for row in rows if row.label not in events)
    ]
    for n in range(MANY):
        time = BEFORE + n * SECOND // RATE
        home, of = ((1, "a"), (4, "b"))[n % 2]
        found.append(TimedOperation(time, home, Publish(Publication(n, f"p{n}", of, 0))))
        for row in rows:
            if events.get(row.label) == n / (MANY / 8):
                found.append(TimedOperation(time, row.node, row.message))
    return found


async def run(asked: Any, directory: Path, cuts: int) -> Driver:
    """Plays it on processes. `cuts`: so many times all connections are cut while it runs."""
    layout, implementation = DEFINITIONS["mesh"].topology(asked), implementation_of("none", "mesh")
    names = {node: layout.name(node) for node in layout.nodes}
    settings = {
        node: NodeSetting(
            node=node,
            neighbours=layout.neighbours(node),
            policy="none",
            token="a token",
            dialect="events",
            trace=str(directory / f"{names[node]}.part"),
            role=layout.role[node],
            protocol="mesh",
            own=implementation.own_of(asked),
            on_circle=True,
            names={str(each): names[each] for each in (node, *layout.neighbours(node))},
        )
        for node in layout.nodes
    }
    proxy = Proxy(Random(1))
    with (directory / "log").open("ab") as log:
        async with started(BROKER, settings, log, names.__getitem__, proxy.route) as brokers:
            driver = Driver(brokers)

            async def cut() -> None:
                await asyncio.sleep((BEFORE + MANY // 4 * SECOND // RATE) / SECOND)
                for _ in range(cuts):
                    proxy.cut()
                    await asyncio.sleep(0.1)

            cutting = asyncio.create_task(cut())
            await brokers.watched(driver.play(operations(asked), pace=1.0))
            await cutting
            await brokers.finish()
    await proxy.close()
    return driver


def is_accepted(asked: Any, directory: Path) -> bool:
    """True if the traces together are a run that the protocol allows."""
    layout, joined = DEFINITIONS["mesh"].topology(asked), directory / "trace.jsonl"
    roles = {layout.name(node): role for node, role in layout.roles if role != "broker"}
    edges = [(f"b{u}", f"b{v}") for u, v in asked.overlay.edges]
    more: dict[str, Any] = {"roles": roles, "protocol": "mesh", "dialect": "events", "instance": to_table(asked)}
    with TraceWriter(joined, "run", policy="none", overlay=edges, observes=OBSERVES, **more):
        pass
    with joined.open("ab") as whole:
        for part in sorted(directory.glob("*.part")):
            whole.write(part.read_bytes().partition(b"\n")[2])
    return main(["validate", str(joined)]) == 0


@pytest.mark.parametrize("cuts", [0, 4], ids=["moves", "broken"])
def test_each_subscriber_gets_each_publication_once(cuts: int, tmp_path: Path) -> None:
    asked = moving()
    driver = within(run(asked, tmp_path, cuts), 120.0)
    parts = sorted(tmp_path.glob("*.part"))
    seen = [json.loads(line) for part in parts for line in part.read_text(encoding="utf-8").splitlines()[1:]]
    delivered = Counter((e["message"]["to"], e["message"]["id"]) for e in seen if e["event"] == "deliver")
    assert delivered == {(f"s{at}", f"p{n}"): 1 for at in range(1, 6) for n in range(MANY)}
    assert driver.delivered == 5 * MANY
    received = Counter((e["broker"], e["peer"]) for e in seen if e["event"] == "receive")
    kinds = Counter(e["message"]["kind"] for e in seen if e["event"] == "receive")
    assert kinds["release"] == 2, "both moves ended"
    assert kinds["handover"] == kinds["snapshot"] >= 1
    assert kinds["up"] >= 2, "those over the ring of a move are not opened while it lasts"
    assert received["b2", "b5"], "the moved broker has its new link"
    assert is_accepted(asked, tmp_path)


def test_a_shipped_instance_runs_as_it_is(tmp_path: Path) -> None:
    file = Path(__file__).parents[2] / "model/mesh/instances/mover3.toml"
    assert main(["run", str(file), "--tcp", "--out", str(tmp_path / "out")]) == 0
    assert main(["validate", str(tmp_path / "out" / "trace.jsonl")]) == 0
