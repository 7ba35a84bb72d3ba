"""What instances may say of pruning, at the limits of what is read, in which order operations are, and a ghost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance
from routeproof.model.protocols import world
from routeproof.model.pruning.definition import LastCut, parameters


def instance(policy: str = "incremental", **pruning: object) -> Instance:
    clients: list[dict[str, Any]] = [
        {"id": id, "at": 1, "events": [0], "unsubscribes": True, "again": 2} for id in ("s", "t")
    ]
    return parse_instance(
        {
            "name": "x",
            "protocol": "pruning",
            "policy": policy,
            "overlay": [[1, 2]],
            "advertisement": [{"id": "a", "at": 2, "events": [0]}],
            "subscription": clients,
            "publication": [{"id": id, "of": "a", "event": 0} for id in ("p", "q")],
            "congestion": [{"at": 1}, {"at": 2}],
            "pruning": pruning,
        },
        "x",
    )


def test_a_threshold_may_be_nothing() -> None:
    assert parameters(instance(thresholds=[0, 90]), "incremental").thresholds == (0, 90)


def test_there_are_two_thresholds_at_most() -> None:
    with pytest.raises(InstanceError, match="found 3 entries; expected a list of percentages, 1 to 2"):
        instance(thresholds=[1, 2, 3])


def test_clients_come_back_and_brokers_are_congested_in_their_order() -> None:
    labels = [each.label for each in world(instance(), "incremental").ledger.operations]
    assert labels[-6:] == ["resubscribe(s)", "resubscribe(t)", "congest(1)", "relieve(1)", "congest(2)", "relieve(2)"]


def test_a_cut_is_fair_whatever_others_got_before() -> None:
    """q is fair and went to s; p is not, and went to t. The withdrawal of t is not fair."""
    ledger = world(instance(), "incremental").ledger
    others = SimpleNamespace(fair=0b10, delivered=ledger.pair(1, 0) | ledger.pair(0, 1))
    assert LastCut().after(ledger, 0, 1, others) == 1
    assert LastCut().after(ledger, 0, 2, others) == 0
