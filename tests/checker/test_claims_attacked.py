"""Attacks on what the papers and we claim of pruning: every reading in every environment (`environments`).

Looked at in each are safety, liveness (messages drain, and nothing is held without congestion), and the bound on false
positives. Whatever fails must be known: by a claim of the registry that says so of this reading. All that was attacked
is recorded in `attacked.json`; a part of it is searched again daily, and all of it in a campaign.
"""

from __future__ import annotations

import json
import os
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.explore import explore
from routeproof.model.history import Ledger
from routeproof.model.overlay import Node
from routeproof.model.protocols import world
from routeproof.model.pruning.vocabulary import PruningTables
from routeproof.spec.catalogues import CLAIMS
from routeproof.spec.properties import PROPERTIES, properties_for
from routeproof.spec.specification import OK, Answer, Property
from tests.campaigns import daily
from tests.checker.environments import ENVIRONMENTS, FEATURES, Composed, Setting, composed, settings

RECORD = Path(__file__).with_name("attacked.json")
ATTACKED: dict[str, list[Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
"""By setting the number of states, whether these are all of them, and the properties that fail."""

MOST = 200_000
"""States of one search. What is not searched by then is told by `test_most_searches_end`."""

DAILY = 3_000
"""States of a search that is repeated daily."""

KNOWN: dict[tuple[str, Any], dict[str, str]] = {
    ("remembers", False): {"Agreement": "PRN-forgets", "Compact": "PRN-forgets"},
    ("sends", "listed"): {"NoLostDelivery": "PRN-listed"},
    ("overtakes", True): {"NoLostDelivery": "PRN-blocked", "Agreement": "PRN-blocked"},
    ("identity", "id"): {"NoLostDelivery": "PRN-moves", "Agreement": "PRN-moves", "Purged": "PRN-moves"},
}
"""By reading, the properties that may fail, and the claim that fails there."""


def held_without_congestion(ledger: Ledger, node: Node, tables: PruningTables) -> Answer:
    """A withdrawal is held by congested brokers only: nothing else would take it up."""
    if tables.held and not tables.congested:
        return f"{ledger.name(node)} holds withdrawals and is not congested: nothing takes them up"
    return OK if tables.congested else None


HELD = Property.of("HeldWithoutCongestion", "always", "node", (), held_without_congestion, ("local",), quiet=False)
SUM = PROPERTIES["FalsePositivesInSum"]


def attacked(setting: Setting | Composed, *more: Property, most: int = MOST) -> list[Any]:
    """The number of states, whether these are all of them, and the properties that fail."""
    asked = world(setting.instance, setting.policy)
    result = explore(asked, properties=[*properties_for("pruning", setting.policy), HELD, *more], max_states=most)
    failed = {f.property for f in result.findings.values() if f.failed and f.kind == "always"}
    return [result.states, result.complete, sorted(failed)]


EVERY: tuple[Setting | Composed, ...] = (*settings(), *composed())
CASES = daily(EVERY, lambda s: s.reading is None and ATTACKED.get(str(s), (DAILY,))[0] < DAILY)


@pytest.mark.parametrize("setting", CASES, ids=str)
def test_a_search_gives_what_is_recorded(setting: Setting | Composed) -> None:
    found = attacked(setting)
    if os.environ.get("REWRITE_GOLDEN"):
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        RECORD.write_text(lines({**record, str(setting): found}), encoding="utf-8")
        return
    assert ATTACKED[str(setting)] == found


def lines(record: dict[str, list[Any]]) -> str:
    rows = (f"{json.dumps(str(each))}: {json.dumps(record[str(each)])}" for each in EVERY if str(each) in record)
    return "{\n" + ",\n".join(rows) + "\n}\n"


def test_what_fails_is_what_a_claim_says() -> None:
    assert set(ATTACKED) == {str(each) for each in EVERY}
    for setting in EVERY:
        known = KNOWN.get(setting.reading or ("", None), {})
        assert set(ATTACKED[str(setting)][2]) <= set(known), setting


@pytest.mark.parametrize(
    ("setting", "property"),
    [
        (Setting("nested", "incremental", ("remembers", False)), "Agreement"),
        (Setting("moves away", "selective", ("identity", "id")), "Agreement"),
    ],
    ids=str,
)
def test_an_attack_succeeds_where_a_claim_fails(setting: Setting, property: str) -> None:
    assert property in attacked(setting)[2]


def test_the_sum_of_what_comes_in_vain_is_found() -> None:
    assert "FalsePositivesInSum" in attacked(Setting("several are kept", "selective"), SUM)[2]


def test_what_is_held_without_congestion_is_found() -> None:
    tables = PruningTables(held=((0, None),))  # type: ignore[arg-type]  # any withdrawal
    ledger = world(Setting("congested", "selective").instance, "selective").ledger
    assert str(held_without_congestion(ledger, 1, tables)).startswith("b1 holds")


def test_each_known_failure_has_a_claim() -> None:
    for known in KNOWN.values():
        assert all(CLAIMS[claim].verdict == "fails" for claim in known.values())


def test_every_environment_and_every_reading_is_there() -> None:
    every = list(settings())
    assert {each.environment for each in every} == set(ENVIRONMENTS)
    assert len(every) > 500


def test_most_searches_end() -> None:
    assert sum(complete for _, complete, _ in ATTACKED.values()) >= 0.9 * len(ATTACKED)


def test_each_three_features_come_together() -> None:
    together = {triple for each in composed() for triple in combinations(enumerate(each.features), 3)}
    assert len(together) == sum(prod(map(len, three)) for three in combinations(FEATURES.values(), 3))
