"""Every instance that ships: each answer that was given while it was explored is one that the relation allows.

The rest of what `routeproof prove --refinement` asks takes many minutes; this is its first sentence, and cheap. An
instance with more than some hundred thousand states is explored under one policy here.
"""

from __future__ import annotations

import pytest

from routeproof.checker.instances import find, shipped
from routeproof.checker.prove.refine.answers import Objection, Question, objection
from routeproof.checker.prove.refine.asked import ROWS
from routeproof.checker.prove.refine.packing import objection_to_packed
from routeproof.checker.prove.refine.pruning import objection_to_pruning
from routeproof.checker.prove.refine.sample import Explored, Sample
from routeproof.model.protocols import world

LARGE = {"leave5": "active", "pair3": "packing", "star5": "none", "two4": "lazy"}
"""Between them they have every policy."""

NAMES = [name for protocol in ROWS for name in Sample.everything(protocol).names]


def test_every_instance_is_asked_but_those_that_break_a_promise() -> None:
    refused = {"forgets3", "listed3", "overtake2", "overtake3"}  # test_pruning_relation.py: these are refused
    assert set(NAMES) | refused == {each.name for each in shipped() if each.protocol in ROWS}


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_one_that_the_relation_allows(name: str) -> None:
    for policy in [LARGE[name]] if name in LARGE else find(name).policies:
        explored = Explored.of(world(find(name), policy))
        assert len(explored.questions) > 10
        for question in explored.questions:
            found = _objection(explored, question)
            assert found is None, {"the relation": str(found), **question.told()}


def _objection(explored: Explored, question: Question) -> Objection | None:
    if explored.world.instance.protocol == "pruning":
        return objection_to_pruning(explored, question)
    if question.policy == "packing":
        return objection_to_packed(explored.structure, explored.world.protocol, question)
    return objection(explored.structure, question)
