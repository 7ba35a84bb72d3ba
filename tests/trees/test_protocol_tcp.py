"""Brokers that are processes switch between strategies while two publishers publish a thousand documents a second."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from routeproof.checker.cli import main
from routeproof.checker.cli.run_tcp import BROKER, closes_circle
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

RATE = 1_000
"""Publications a second."""

MANY = 1_200
BEFORE = SECOND
"""From the first subscription to the first publication, in nanoseconds."""

LINE, RING = [[1, 2], [2, 3], [3, 4]], [[1, 4], [3, 4], [2, 3]]
STRATEGIES = [[LINE, RING], [RING], [[[1, 2], [1, 4], [3, 4]], LINE], [LINE]]
"""Strategies of one tree and of two on a ring of four brokers."""


def switching() -> Any:
    """Four brokers on a ring, subscribers at each, one of them with parts in two clusters, and two publishers."""
    clusters = {"s1": [1, 1, 1, 1], "s2": [2, 1, 2, 1], "s3": [[1, 2], 1, [1, 2], 1], "s4": [1, 1, 2, 1]}
    return parse_instance(
        {
            "name": "switching",
            "protocol": "trees",
            "policy": "none",
            "overlay": LINE,
            "trees": {"links": [[1, 4]], "strategies": STRATEGIES},
            "advertisement": [{"id": "a", "at": 1, "events": [0]}, {"id": "b", "at": 3, "events": [0]}],
            "subscription": [
                {"id": id, "at": int(id[1]), "events": [0], "clusters": own} for id, own in clusters.items()
            ],
            "publication": [],
        },
        "switching",
    )


def operations(asked: Any) -> list[TimedOperation]:
    """Publishers take turns; each sixth of the run a strategy is computed, and soon after switched to."""
    rows = DEFINITIONS["trees"].operations(asked)
    switches = [row for row in rows if row.label.startswith(("compute", "switch"))]
    found = [
        TimedOperation(n, row.node, row.message) for n, row in enumerate(row for row in rows if row not in switches)
    ]
    for n in range(MANY):
        time = BEFORE + n * SECOND // RATE
        home, of = ((1, "a"), (3, "b"))[n % 2]
        found.append(TimedOperation(time, home, Publish(Publication(n, f"p{n}", of, 0))))
        if switches and n % (MANY // 8) == MANY // 8 - 1:
            row = switches.pop(0)
            found.append(TimedOperation(time, row.node, row.message))
    assert not switches
    return found


async def run(asked: Any, directory: Path, cuts: int) -> Driver:
    """Plays it on processes. `cuts`: so many times all connections are cut while it runs."""
    layout, implementation = DEFINITIONS["trees"].topology(asked), implementation_of("none", "trees")
    names = {node: layout.name(node) for node in layout.nodes}
    assert closes_circle(layout)
    settings = {
        node: NodeSetting(
            node=node,
            neighbours=layout.neighbours(node),
            policy="none",
            token="a token",
            dialect="events",
            trace=str(directory / f"{names[node]}.part"),
            role=layout.role[node],
            protocol="trees",
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
                await asyncio.sleep((BEFORE + MANY // 8 * SECOND // RATE) / SECOND)
                for _ in range(cuts):
                    proxy.cut()
                    await asyncio.sleep(0.1)

            cutting = asyncio.create_task(cut())
            await brokers.watched(driver.play(operations(asked), pace=1.0))
            await cutting
            await brokers.finish()
    await proxy.close()
    assert proxy.cuts >= cuts
    return driver


def events(directory: Path) -> list[dict[str, Any]]:
    parts = sorted(directory.glob("*.part"))
    return [json.loads(line) for part in parts for line in part.read_text(encoding="utf-8").splitlines()[1:]]


def is_accepted(asked: Any, directory: Path) -> bool:
    """True if the traces together are a run that the protocol allows."""
    layout, joined = DEFINITIONS["trees"].topology(asked), directory / "trace.jsonl"
    roles = {layout.name(node): role for node, role in layout.roles if role != "broker"}
    edges = [(f"b{u}", f"b{v}") for u, v in asked.overlay.edges]
    more: dict[str, Any] = {"roles": roles, "protocol": "trees", "dialect": "events", "instance": to_table(asked)}
    with TraceWriter(joined, "run", policy="none", overlay=edges, observes=OBSERVES, **more):
        pass
    with joined.open("ab") as whole:
        for part in sorted(directory.glob("*.part")):
            whole.write(part.read_bytes().partition(b"\n")[2])
    return main(["validate", str(joined)]) == 0


@pytest.mark.parametrize("cuts", [0, 5], ids=["switches", "broken"])
def test_each_subscriber_gets_each_document_once(cuts: int, tmp_path: Path) -> None:
    asked = switching()
    driver = within(run(asked, tmp_path, cuts), 120.0)
    seen = events(tmp_path)
    delivered = Counter((e["message"]["to"], e["message"]["id"]) for e in seen if e["event"] == "deliver")
    assert delivered == {(f"s{at}", f"p{n}"): 1 for at in range(1, 5) for n in range(MANY)}
    assert driver.delivered == 4 * MANY
    copies = [e["message"] for e in seen if e["event"] == "receive" and e["message"]["kind"] == "publish"]
    assert {(copy["epoch"], copy["tree"]) for copy in copies} == {
        (epoch, tree) for epoch, trees in enumerate(STRATEGIES, 0) for tree in range(1, len(trees) + 1)
    }
    gone = Counter(
        e["message"]["epoch"] for e in seen if e["event"] == "receive" and e["message"]["kind"] == "torn-down"
    )
    assert gone == dict.fromkeys(range(3), 4), "every broker has dropped every older strategy"
    assert is_accepted(asked, tmp_path)


def test_a_shipped_instance_runs_as_it_is(tmp_path: Path) -> None:
    file = Path(__file__).parents[2] / "model/trees/instances/parts3.toml"
    assert main(["run", str(file), "--tcp", "--out", str(tmp_path / "out")]) == 0
    assert main(["validate", str(tmp_path / "out" / "trace.jsonl")]) == 0
