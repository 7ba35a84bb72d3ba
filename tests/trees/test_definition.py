"""What instances may say of trees, at the limits of what is read, and what is written of it."""

from __future__ import annotations

from typing import Any

import pytest

from routeproof.checker.instances import find
from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.overlay import LOCAL
from routeproof.model.protocols import world
from routeproof.model.trees.vocabulary import Acknowledge, Compute, Switch, TornDown, TreeCoordinator


def instance(overlay: list[list[int]], clusters: object = None, **trees: object) -> Instance:
    subscription: dict[str, Any] = {"id": "s", "at": 1, "events": [0]}
    if clusters is not None:
        subscription["clusters"] = clusters
    table = {
        "name": "x",
        "protocol": "trees",
        "policy": "none",
        "overlay": overlay,
        "trees": trees,
        "advertisement": [{"id": "a", "at": 1, "events": [0]}],
        "subscription": [subscription],
        "publication": [{"id": "p", "of": "a", "event": 0}],
    }
    return parse_instance(table, "x")


LINE = [[1, 2], [2, 3]]


def test_a_table_without_strategies_and_a_network_of_one_broker_are_read() -> None:
    assert to_table(instance(LINE, next="any-time"))["trees"] == {"next": "any-time"}
    assert to_table(instance([], strategies=[[[]]]))["trees"] == {"strategies": [[[]]]}


@pytest.mark.parametrize(
    ("overlay", "trees", "what"),
    [
        (LINE, {"links": [[1, 3]] * 10}, "0 to 9 of them"),
        (LINE, {"links": [[1, 2, 3]]}, "two brokers"),
        ([[1, 2]], {"strategies": [[[]]]}, "does not reach every broker"),
    ],
)
def test_what_is_too_long_or_too_short_is_refused(
    overlay: list[list[int]], trees: dict[str, object], what: str
) -> None:
    with pytest.raises(InstanceError, match=what):
        instance(overlay, **trees)


def test_what_is_written_says_no_default_and_has_lists() -> None:
    strategies = [[LINE, [[1, 2], [1, 3]]], [[[1, 3], [2, 3]]]]
    written = to_table(instance(LINE, [[1], 1], links=[[1, 3]], strategies=strategies, looked="stamped"))
    assert written["trees"] == {"links": [[1, 3]], "strategies": strategies}
    assert written["subscription"] == [{"id": "s", "at": 1, "events": [0], "clusters": [1, 1]}]


def test_the_operations_of_switches_are_in_their_order() -> None:
    labels = [each.label for each in world(find("again3"), "none").ledger.operations]
    assert labels[-4:] == ["compute(1)", "switch(1)", "compute(2)", "switch(2)"]


def test_switches_that_wait_begin_one_by_one() -> None:
    asked = world(instance([[1, 2]], strategies=[[[[1, 2]]]] * 4), "none")
    coordinator = asked.nodes[-1]
    local = asked.protocol.initial(coordinator)
    for epoch in (1, 2, 3):
        for message in (Compute(epoch), Switch(epoch)):
            local = asked.protocol.handle(coordinator, local, LOCAL, message).local
    assert isinstance(local, TreeCoordinator)
    assert (local.epoch, local.waiting) == (1, (2, 3))
    for broker in (1, 2):
        local = asked.protocol.handle(coordinator, local, broker, Acknowledge(1)).local
        local = asked.protocol.handle(coordinator, local, broker, TornDown(0)).local
    assert isinstance(local, TreeCoordinator)
    assert (local.epoch, local.waiting) == (2, (3,))
