"""Brokers that are processes switch between strategies while two publishers publish a thousand documents a second."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.cli.run_tcp import closes_circle
from routeproof.impl.simulator import SECOND, TimedOperation
from routeproof.model.instance_file import parse_instance
from routeproof.model.messages import Publication, Publish
from routeproof.model.protocols import DEFINITIONS
from tests.impl.tcp.instances import Cuts, events, is_accepted, run, runs_as_it_is
from tests.impl.tcp.running import within

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


@pytest.mark.parametrize("cuts", [0, 5], ids=["switches", "broken"])
def test_each_subscriber_gets_each_document_once(cuts: int, tmp_path: Path) -> None:
    asked = switching()
    assert closes_circle(DEFINITIONS["trees"].topology(asked))
    when = Cuts(cuts, (BEFORE + MANY // 8 * SECOND // RATE) / SECOND, 0.1)
    driver = within(run(asked, "none", operations(asked), tmp_path, when), 120.0)
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
    assert is_accepted(asked, "none", tmp_path)


def test_a_shipped_instance_runs_as_it_is(tmp_path: Path) -> None:
    assert runs_as_it_is("trees", "parts3", tmp_path)
