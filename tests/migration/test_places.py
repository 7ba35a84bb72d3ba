"""A client that moves has channels to the brokers to which it moves itself, and to no others."""

from __future__ import annotations

from typing import Any

from routeproof.model.instance_file import parse_instance
from routeproof.model.protocols import world


def test_a_client_has_channels_to_its_own_places() -> None:
    table: dict[str, Any] = {
        "name": "x",
        "protocol": "migration",
        "policy": "active",
        "overlay": [[1, 2], [2, 3]],
        "advertisement": [{"id": id, "at": 1, "events": [0]} for id in "ab"],
        "subscription": [{"id": "s", "at": 2, "events": [0]}],
        "publication": [{"id": "p", "of": "a", "event": 0}],
        "migration": {"moves": [{"publisher": "a", "to": 3}, {"publisher": "b", "to": 2}]},
    }
    asked = world(parse_instance(table, "x"), "active")
    assert [[v for u, v in asked.links if u == client] for client in (4, 5)] == [[1, 3], [1, 2]]
