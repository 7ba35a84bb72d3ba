"""What an instance of placement says, and which operations it has."""

from __future__ import annotations

import pytest

from routeproof.model.history import WorldEvent
from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.messages import Deliver, Publish
from routeproof.model.overlay import LOCAL
from routeproof.model.placement.definition import DEFINITION, facts
from routeproof.model.placement.vocabulary import (
    PlacementParameters,
    PlacementTables,
    Tag,
    Traced,
    parameters_of,
)
from routeproof.model.protocol import Outcome
from routeproof.model.protocols import world


def instance(**placement: object) -> Instance:
    table = {
        "name": "x",
        "protocol": "placement",
        "policy": "active",
        "overlay": [[1, 2], [2, 3]],
        "advertisement": [{"id": a, "at": 1, "events": [0]} for a in "ab"],
        "subscription": [{"id": "s", "at": 3, "events": [0]}],
        "publication": [{"id": "p", "of": "a", "event": 0}],
    }
    return parse_instance({**table, "placement": placement} if placement else table, "x")


@pytest.mark.parametrize(
    "given",
    [
        *({}, {"threshold": 2}, {"tags": 2}, {"weight": 0}, {"algorithm": "grape", "metric": "delay"}),
        {"threshold": 8, "tags": 4, "weight": 99, "results": "unnamed", "absent": "skipped", "counter": "broker"},
    ],
)
def test_what_is_not_the_default_is_read_and_written(given: dict[str, object]) -> None:
    read = instance(**given)
    assert parameters_of(read) == PlacementParameters(**given)  # type: ignore[arg-type]  # by name
    assert to_table(read).get("placement", {}) == given


@pytest.mark.parametrize(("tags", "labels"), [(0, ()), (1, ("tag({})",)), (3, ("tag({})", "tag({}, 2)", "tag({}, 3)"))])
def test_tags_come_one_after_another(tags: int, labels: tuple[str, ...]) -> None:
    read = instance(tags=tags)
    rows = [row for row in DEFINITION.operations(read) if isinstance(row.message, Tag)]
    names = [label.format(a) for a in "ab" for label in labels]
    assert [row.label for row in rows] == names
    after = [
        f"advertise({a})" if n == 0 else names[at * tags + n - 1] for at, a in enumerate("ab") for n in range(tags)
    ]
    assert [row.after for row in rows] == after
    assert not [row for row in DEFINITION.operations(instance(algorithm="grape")) if isinstance(row.message, Tag)]


def test_what_is_noted_of_a_publication() -> None:
    read = instance()
    [p], [a, _] = read.publications, read.advertisements
    [s] = read.subscriptions
    sends = Outcome(None, ((3, Publish(p)), (2, Publish(p)), (LOCAL, Deliver(p, s)), (4, Tag(a))))
    plain, tagging = PlacementTables(), PlacementTables(tagging=(a,))
    assert facts(5, tagging, LOCAL, Publish(p), sends) == ((5, 0, (2, 3)),)
    assert facts(5, plain, LOCAL, Publish(p, Traced(1)), sends) == ()
    assert facts(5, plain, 1, Publish(p, Traced(1)), sends) == ((5, 0, (2, 3)),)
    assert facts(5, tagging, 1, Publish(p), sends) == ()
    assert facts(5, tagging, LOCAL, Tag(a), sends) == ()


@pytest.mark.parametrize(("algorithm", "noted"), [("pop", ((1, 0, (2,)), (2, 0, (3,)))), ("grape", None)])
def test_the_ghost_gathers_them_in_order(algorithm: str, noted: object) -> None:
    ledger = world(instance(algorithm=algorithm), "active").ledger
    [ghost] = DEFINITION.ghosts
    seen = ghost.sees(ledger, WorldEvent(None, "", (), True, ((1, 0, (2,)),)))
    assert ghost.sees(ledger, WorldEvent(None, "", (), True)) is None
    assert (None if seen is None else ghost.after(ledger, ((2, 0, (3,)),), seen, None)) == noted
