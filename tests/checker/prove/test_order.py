"""Verdicts do not depend on the order in which theorems are judged, nor on the number of worker processes."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence

import pytest
from attrs import evolve

from routeproof.checker.prove.report import as_json
from routeproof.checker.prove.small import Noticing, small_worlds
from routeproof.checker.prove.solve import Judged
from routeproof.checker.prove.theorems import THEOREMS, Catalogue, judge, judge_all
from routeproof.spec.theory import BROKER, Clause, Term
from routeproof.spec.theory.invariants import routing
from routeproof.spec.theory.invariants.bounded import Size
from routeproof.spec.theory.proof import Theorem
from tests.campaigns import daily
from tests.shown import recorded

SAMPLED = ("AdvertisementInvariants", "StepFacts", "Roads", "QuietLemmas")
"""With the first obligations of StepFacts before it, Roads was vacuous."""
CHEAP = ("Roads", "PoliciesKeepPromises", "NoLostDelivery", "PruningAnchored")


def written(judged: Sequence[Judged]) -> Mapping[str, str]:
    """Returns each theorem's part of the JSON report with the traces of its obligations, without times."""
    found = {}
    for each in judged:
        timeless = evolve(each, seconds=0.0, obligations=tuple(evolve(one, seconds=0.0) for one in each.obligations))
        report = as_json([THEOREMS[each.id]], [timeless], {})
        found[each.id] = report + json.dumps([one.trace for one in each.obligations])
    return found


def sample(id: str) -> Theorem:
    """Returns the theorem with its first obligations only."""
    theorem = THEOREMS[id]
    assert isinstance(theorem, Theorem)
    return evolve(theorem, obligations=lambda: theorem.obligations()[:20])


@recorded
@pytest.mark.parametrize("order", [SAMPLED, SAMPLED[::-1], (*SAMPLED[2:], *SAMPLED[:2])], ids="-".join)
def test_some_obligations_are_decided_alike_in_each_order(order: Sequence[str]) -> None:
    judged = [judge(sample(id)) for id in order]
    assert {each.id: each.verdict for each in judged} == dict.fromkeys(SAMPLED, "proved")


def test_some_theorems_are_judged_alike_by_each_number_of_workers() -> None:
    one, two, three = (
        written(judge_all(Catalogue(), ids, workers, lambda *_: None))
        for ids, workers in ((CHEAP, 1), (CHEAP[::-1], 2), (CHEAP[3:] + CHEAP[:3], 3))
    )
    assert one == two == three


SHUFFLED = [tuple(random.Random(seed).sample(list(THEOREMS), len(THEOREMS))) for seed in range(3)]


@pytest.mark.parametrize(
    ("order", "workers"),
    daily([(SHUFFLED[0], 1), (SHUFFLED[1], 2), (SHUFFLED[2], 3)], lambda case: False),
    ids=["one worker", "two workers", "three workers"],
)
def test_all_theorems_are_judged_alike(order: Sequence[str], workers: int) -> None:
    """In an order drawn at random, by several workers, and as listed, by two: the same bytes."""
    if "listed" not in _LISTED:
        _LISTED["listed"] = written(judge_all(Catalogue(), list(THEOREMS), 2, lambda *_: None))
    assert written(judge_all(Catalogue(), list(order), workers, lambda *_: None)) == _LISTED["listed"]


_LISTED: dict[str, Mapping[str, str]] = {}


# -- the condition under which a clause says something ----------------------------------------------------------------


def reading() -> tuple[Noticing, Term]:
    logic = small_worlds(routing(), Size(2, 1, 1, 1, 1))[0].logic
    return logic, logic.elements[BROKER][0]


def test_a_clause_is_not_read_by_the_condition_of_an_earlier_one() -> None:
    logic, b = reading()
    implied = Clause("implied", (BROKER,), lambda x: logic.implies(logic.apart(x, b), False))
    assert logic.condition_of(implied, [b]) is False
    for other in (
        Clause("no connective", (BROKER,), lambda x: True),
        Clause("another connective", (BROKER,), lambda x: logic.equal(x, b)),
        Clause("all of", (BROKER,), lambda x: logic.all_of(logic.implies(False, False), logic.implies(False, True))),
        Clause("no", (BROKER,), lambda x: logic.no(logic.no(logic.implies(False, False)))),
    ):
        assert logic.condition_of(implied, [b]) is False
        assert logic.condition_of(other, [b]) is True, other.name


def test_the_condition_is_that_of_the_outermost_implication() -> None:
    logic, b = reading()
    inner = Clause("nested", (BROKER,), lambda x: logic.implies(logic.equal(x, b), lambda: logic.implies(False, False)))
    assert logic.condition_of(inner, [b]) is True
    assert logic.condition_of(inner, [logic.elements[BROKER][1]]) is False
