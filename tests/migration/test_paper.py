"""The worked example of 004, Fig. 1: the publisher moves from B1 to B6, over B5."""

from collections import Counter

import pytest

from routeproof.model.instance_file import parse_instance
from routeproof.model.migration.vocabulary import Complete, MigrationTables, Update
from routeproof.model.overlay import LOCAL
from routeproof.model.protocols import world
from tests.kit.runs import run_of

LEFT, RIGHT = (1, 2, 3, 4), (6, 7, 8)


@pytest.mark.parametrize("removal", ["at-once", "drained"])
def test_figure_1(removal: str) -> None:
    """The three operations, and the ways of update and completion."""
    instance = parse_instance(
        {
            "name": "figure1",
            "protocol": "migration",
            "policy": "none",
            "overlay": [[1, 2], [2, 3], [1, 4], [1, 5], [5, 6], [6, 7], [6, 8]],
            "migration": {"removal": removal, "moves": [{"publisher": "P", "to": 6}]},
            "advertisement": [{"id": "P", "at": 1, "events": [0]}],
            "subscription": [{"id": f"s{b}", "at": b, "events": [0]} for b in (*LEFT, *RIGHT)],
            "publication": [],
        },
        "figure1",
    )
    asked = world(instance)
    state, walked = asked.initial(), []
    for label in ("advertise(P)", *(f"subscribe(s{b})" for b in (*LEFT, *RIGHT)), "move(P)"):
        state = asked.step(state, next(action for action in asked.actions if action.label == label)).state
        while waiting := [
            action for action in asked.actions if action.kind == "deliver" and asked.enabled(state, action)
        ]:
            step = asked.step(state, waiting[0])
            if isinstance(step.message, Update | Complete):
                walked.append((type(step.message).__name__, step.action.node))
            state = step.state
    assert walked == [("Update", 5), ("Update", 1), ("Complete", 5), ("Complete", 6)]
    tables = {node: local for node, local in zip(asked.nodes, state.locals, strict=True) if node in asked.brokers}
    for broker, hop in {6: LOCAL, 5: 6, 1: 5, 2: 1, 4: 1, 7: 6, 8: 6, 3: 2}.items():  # op 1, and nowhere else
        local = tables[broker]
        assert isinstance(local, MigrationTables)
        assert local.adv_from(instance.advertisements[0]) == hop
    known = {
        broker: {s.id for s, _ in local.subs} for broker, local in tables.items() if isinstance(local, MigrationTables)
    }
    left, right = {f"s{b}" for b in LEFT}, {f"s{b}" for b in RIGHT}
    assert known[1] == known[5] == left  # op 2: what the right-hand side wants is gone
    assert known[6] == left | right  # op 3: what the left-hand side wants has come


@pytest.mark.parametrize("name", ["move3", "swap3", "stays3", "across4"])
def test_a_move_costs_two_messages_a_hop_and_one_withdrawal(name: str) -> None:
    """Five messages at the client; only the withdrawals of MIG-14 are packed under active."""
    moved = 0
    for seed in range(6):
        sent = [row["message"] for row in run_of(name, "active", seed)[1:] if row["event"] == "send"]
        count = Counter(message["kind"] for message in sent)
        hops = sum(len(message["path"]) - 1 for message in sent if message["kind"] == "arrive")
        assert count["update"] == count["complete"] == hops
        assert count["unsubscribe-many"] <= hops
        assert len({count[kind] for kind in ("pause", "flushed", "arrive", "resume", "leave")}) == 1
        moved += count["resume"]
    assert moved > 2
