"""POP and GRAPE between brokers that are processes: traces, requests and answers travel over TCP."""

from collections import Counter
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.instances import find
from routeproof.impl.simulator import SECOND, TimedOperation
from routeproof.model.instance import Instance
from routeproof.model.protocols import DEFINITIONS
from tests.impl.tcp.instances import Cuts, events, is_accepted, run
from tests.impl.tcp.running import within

PACE = SECOND // 5
"""Between two operations: each comes to its end before the next one."""
ORDER = ("advertise", "subscribe", "tag", "publish")


def operations(asked: Instance) -> list[TimedOperation]:
    rows = sorted(DEFINITIONS["placement"].operations(asked), key=lambda r: ORDER.index(r.label.partition("(")[0]))
    return [TimedOperation(n * PACE, row.node, row.message) for n, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("name", "received", "last"),
    [
        (
            "pop3",
            {"trace-result": 2, "relocation-request": 2, "relocation-answer": 2},
            {"kind": "relocation-answer", "path": [3, 2, 1]},
        ),
        (
            "grape3",
            {"trace-request": 2, "trace-answer": 2},
            {"kind": "trace-answer", "session": 1, "traces": [[2, [1, 3], 1, 3], [3, [2], 3, 2]]},
        ),
    ],
)
def test_a_selection_ends_at_the_first_broker(
    name: str, received: dict[str, int], last: dict[str, object], tmp_path: Path
) -> None:
    """Without the header of traced publications there would be no result and no answer."""
    asked = evolve(find(name), policies=("active",))
    within(run(asked, "active", operations(asked), tmp_path, Cuts(0, 0.0, 0.0)), 60.0)
    came = [event for event in events(tmp_path) if event["event"] == "receive"]
    counts = Counter(event["message"]["kind"] for event in came)
    assert {kind: counts[kind] for kind in received} == received
    at_first = [event["message"] for event in came if event["broker"] == "b1"][-1]
    assert {key: at_first[key] for key in last} == last
    assert is_accepted(asked, "active", tmp_path)
