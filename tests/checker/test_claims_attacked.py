"""Attacks on what the papers and we claim of pruning: every reading in every environment (`environments`).

Looked at in each are safety, liveness (messages drain, and nothing is held without congestion), and the bound on false
positives. Whatever fails must be known: by a claim of the registry that says so of this reading. Daily the environments
are searched without another reading; a campaign searches all.
"""

from __future__ import annotations

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
from tests.checker.environments import ENVIRONMENTS, Setting, settings

MOST = 60_000
"""States of one search. What is not searched by then is told by `test_most_searches_end`."""

LARGE = {
    *("advertisement comes late", "advertisement comes back", "several are kept", "several publishers"),
    "publishers on one side",
}
"""Environments with more than 5,000 states: for campaigns."""

KNOWN: dict[tuple[str, Any], dict[str, str]] = {
    ("remembers", False): {"Agreement": "PRN-forgets"},
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


def failing(setting: Setting, *more: Property, most: int = MOST) -> tuple[set[str], bool]:
    """The properties that fail, and whether all states were searched."""
    asked = world(setting.instance, setting.policy)
    result = explore(asked, properties=[*properties_for("pruning", setting.policy), HELD, *more], max_states=most)
    return {f.property for f in result.findings.values() if f.failed and f.kind == "always"}, result.complete


CASES = daily(settings(), lambda s: s.reading is None and s.environment not in LARGE)


@pytest.mark.parametrize("setting", CASES, ids=str)
def test_what_fails_is_what_a_claim_says(setting: Setting) -> None:
    failed, _ = failing(setting)
    assert failed <= set(KNOWN.get(setting.reading or ("", None), ()))


@pytest.mark.parametrize(
    ("setting", "property"),
    [
        (Setting("nested", "incremental", ("remembers", False)), "Agreement"),
        (Setting("moves away", "selective", ("identity", "id")), "Agreement"),
    ],
    ids=str,
)
def test_an_attack_succeeds_where_a_claim_fails(setting: Setting, property: str) -> None:
    assert property in failing(setting)[0]


def test_the_sum_of_what_comes_in_vain_is_found() -> None:
    assert "FalsePositivesInSum" in failing(Setting("several are kept", "selective"), SUM, most=200_000)[0]


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


@pytest.mark.campaign
def test_most_searches_end() -> None:
    ended = [failing(Setting(name, "selective"))[1] for name in ENVIRONMENTS]
    assert sum(ended) >= len(ended) * 2 // 3
