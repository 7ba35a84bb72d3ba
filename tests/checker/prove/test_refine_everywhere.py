"""Every instance that ships: each answer that was given while it was explored is one that the relation allows.

The rest of what `routeproof prove --refinement` asks takes many minutes; this is its first sentence, and cheap. An
instance with more than some hundred thousand states is explored under one policy here. Daily an instance is asked if
anything that its answers come from has changed since they were judged last (`proved.py`), or if it is one of
`ASKED_DAILY`; a campaign asks all of them.
"""

from __future__ import annotations

import pytest

from routeproof.checker.instances import find, shipped
from routeproof.checker.prove.refine.answers import Objection, Question, objection, objection_to_packed
from routeproof.checker.prove.refine.sample import Explored, Sample, refinements
from routeproof.checker.pruning.refinement import objection_to_pruning
from routeproof.model.protocols import world
from tests.checker.prove import proved

LARGE = {"leave5": "active", "pair3": "packing", "star5": "none", "two4": "lazy"}
"""Between them they have every policy."""

NAMES = [name for protocol in refinements() for name in Sample.everything(protocol).names]


def test_every_instance_is_asked_but_those_that_break_a_promise() -> None:
    refused = {"forgets3", "listed3", "overtake2", "overtake3"}  # tests/pruning/test_relation.py: these are refused
    assert set(NAMES) | refused == {each.name for each in shipped() if each.protocol in refinements()}


ASKED_DAILY = ("tiny", "line3", "equal3", "reorder2", "back2", "hold3")


def judged(name: str) -> tuple[str, int]:
    """Returns that all answers are allowed, and how many were given."""
    answers = 0
    for policy in [LARGE[name]] if name in LARGE else find(name).policies:
        explored = Explored.of(world(find(name), policy))
        assert len(explored.questions) > 10
        answers += len(explored.questions)
        for question in explored.questions:
            found = _objection(explored, question)
            assert found is None, {"the relation": str(found), **question.told()}
    return "allowed", answers


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_one_that_the_relation_allows(name: str) -> None:
    known = proved.recorded().get(proved.ANSWERS + name)
    if name in ASKED_DAILY or known is None:
        known = [*judged(name)]
    verdict, answers = known
    assert verdict == "allowed"
    assert int(answers) > 10


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_allowed_whatever_is_recorded(name: str) -> None:
    assert judged(name)[1] > 10


def _objection(explored: Explored, question: Question) -> Objection | None:
    if explored.world.instance.protocol == "pruning":
        return objection_to_pruning(explored, question)
    if question.policy == "packing":
        return objection_to_packed(explored.structure, explored.world.protocol, question)
    return objection(explored.structure, question)
