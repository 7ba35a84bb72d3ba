"""All theorems, as they ship: how each comes out, and how many obligations it has.

Each theorem is a test of its own: what was built for it is dropped before the next. Daily a theorem is asked if
anything that it comes from has changed since it was proved last (`proved.py`), or if it is one of `ASKED_DAILY`; a
campaign asks all of them.
"""

from __future__ import annotations

import pytest

from routeproof.checker.prove.solve import Verdict
from routeproof.checker.prove.theorems import THEOREMS, Asked, judge_by
from routeproof.spec.catalogues import RULES
from routeproof.spec.theory.invariants.obligations import Inductive
from routeproof.spec.theory.proof import Obligation
from tests.checker.prove import proved

EXPECTED: dict[str, tuple[Verdict, int]] = {
    "TypesApart": ("proved", 114),
    "MeaningAsWritten": ("proved", 29),
    "StringOrder": ("bounded", 9),
    "NumbersOverlap": ("proved", 47),
    "NumbersCover": ("proved", 85),
    "BooleansOverlap": ("proved", 9),
    "BooleansCover": ("proved", 13),
    "StringsOverlap": ("proved", 58),
    "StringsCover": ("proved", 129),
    "ShortStringsOverlap": ("bounded", 80),
    "ShortStringsCover": ("bounded", 163),
    "AttributesCover": ("proved", 4),
    "AttributesOverlap": ("proved", 4),
    "EventSets": ("proved", 4),
    "Roads": ("proved", 4),
    "PoliciesKeepPromises": ("proved", 10),
    "StepFacts": ("proved", 125),
    "SubscriptionInvariants": ("proved", 195),
    "AdvertisementInvariants": ("proved", 255),
    "PublicationInvariants": ("proved", 118),
    "QuietLemmas": ("proved", 7),
    "DeliveryInvariants": ("proved", 151),
    "NoLostDelivery": ("proved", 1),
    "NoDuplicate": ("proved", 2),
    "Agreement": ("proved", 1),
    "NoResidue": ("proved", 2),
    "NoStray": ("proved", 1),
    "SimplePaths": ("proved", 3),
    "Compact": ("proved", 12),
    "Settled": ("proved", 29),
    "TreeWays": ("proved", 12),
    "PropagationTree": ("proved", 17),
    "PropagationTreeNeeds": ("proved", 25),
    "PropagationPath": ("proved", 33),
    "PropagationPathNeeds": ("proved", 63),
    "SimilarityGrows": ("proved", 5),
    "SimilarityInTables": ("proved", 5),
    "SimilarityNeeds": ("proved", 25),
    "DistanceTells": ("proved", 112),
    "DistanceNeeds": ("proved", 69),
    "PruningKeepsPromises": ("proved", 6),
    "PruningRetained": ("proved", 5),
    "PruningStepFacts": ("proved", 174),
    "PruningInvariants": ("proved", 579),
    "PruningDeliveryInvariants": ("proved", 151),
    "PruningCongestion": ("proved", 204),
    "PruningIssuedAgain": ("proved", 68),
    "PruningQuietLemmas": ("proved", 7),
    "PruningNoLostDelivery": ("proved", 1),
    "PruningNoDuplicate": ("proved", 2),
    "PruningAgreement": ("proved", 1),
    "PruningAnchored": ("proved", 2),
    "PruningNoStray": ("proved", 1),
    "PruningSimplePaths": ("proved", 3),
    "MovePhases": ("proved", 117),
    "MoveTables": ("proved", 169),
    "MoveCopies": ("proved", 93),
    "MoveOrder": ("proved", 52),
    "MoveEnds": ("proved", 2),
    "MovesFollow": ("proved", 25),
    "MoveHappens": ("bounded", 57),
    "MoveNeeds": ("proved", 5),
    "SwitchKeepsDocuments": ("proved", 220),
    "SwitchDrains": ("proved", 11),
    "OneEndEach": ("proved", 5),
    "OneEndEachBranch": ("proved", 5),
    "MoveKeepsTree": ("proved", 12),
    "DeliveryHappens": ("proved", 3),
    "SafeFromTheBeginning": ("bounded", 3),
    "SafeFromAnywhere": ("bounded", 3),
    "SilenceDrains": ("bounded", 3),
    "OwedIsPledged": ("bounded", 2),
    "PruningDeliveryHappens": ("proved", 1),
    "PruningSafeFromAnywhere": ("bounded", 1),
    "ModelReads": ("bounded", 20),
    "ModelMatches": ("bounded", 19),
    "ModelOverlaps": ("bounded", 19),
    "ModelCovers": ("bounded", 19),
    "ModelEquals": ("bounded", 19),
    "ModelAttributes": ("bounded", 2),
    "ModelEventSets": ("bounded", 3),
    "OverlaysAreTrees": ("bounded", 9),
    "AnswersAllowed": ("bounded", 26),
    "AnswersDetermined": ("bounded", 18),
    "StepsAllowed": ("bounded", 14),
    "StepsDetermined": ("bounded", 10),
    "PruningAnswersAllowed": ("bounded", 15),
    "PruningAnswersDetermined": ("bounded", 10),
    "PruningStepsAllowed": ("bounded", 14),
    "MoveStepsAllowed": ("bounded", 2),
}


ELSEWHERE = ("AnswersAllowed", "PruningAnswersAllowed")
"""test_refine_everywhere.py asks more than these."""


def checked(id: str) -> list[Asked]:
    """Returns the obligations of a theorem. Their names differ, and they have guards or are held to small worlds."""
    asked: list[Asked] = [*THEOREMS[id].obligations()]
    assert len({each.name for each in asked}) == len(asked)
    assert all(bool(each.guards) != isinstance(each, Inductive) for each in asked if isinstance(each, Obligation))
    return asked


def test_every_theorem_is_expected() -> None:
    assert list(EXPECTED) == list(THEOREMS)


ASKED_DAILY = (
    *(
        "MeaningAsWritten",
        "NumbersOverlap",
        "AttributesCover",
        "Roads",
        "PoliciesKeepPromises",
        "PublicationInvariants",
    ),
    *("NoLostDelivery", "Settled", "PropagationPath", "DistanceNeeds", "PruningRetained"),
    *("PruningIssuedAgain", "OwedIsPledged", "ModelMatches", "ModelAttributes"),
)
"""Quick ones, some of each kind, so that each way of judging is gone daily."""


def measured(id: str) -> tuple[Verdict, int]:
    judged = judge_by(THEOREMS[id], checked(id))
    print(*(each for each in judged.obligations if each.verdict not in ("proved", "bounded")), sep="\n")
    return judged.verdict, len(judged.obligations)


@pytest.mark.parametrize("id", [id for id in THEOREMS if id not in ELSEWHERE])
def test_a_theorem_is_proved(id: str) -> None:
    if id not in ASKED_DAILY and id in (known := proved.recorded()):
        assert tuple(known[id]) == EXPECTED[id]
        return
    assert measured(id) == EXPECTED[id]
    if id not in ASKED_DAILY:
        print("proved anew: `.venv/bin/python -m tests.checker.prove.proved` records it")


@pytest.mark.campaign
@pytest.mark.parametrize("id", THEOREMS)
def test_a_theorem_is_proved_whatever_is_recorded(id: str) -> None:
    assert measured(id) == EXPECTED[id]


def test_theorems_cite_rules_and_say_what_they_are() -> None:
    for id, theorem in THEOREMS.items():
        assert theorem.id == id
        assert theorem.rules
        assert set(theorem.rules) <= set(RULES), id
        assert theorem.about.endswith(".")
        assert "\n" not in theorem.about


def test_the_rules_of_the_language_are_cited() -> None:
    cited = {rule for theorem in THEOREMS.values() for rule in theorem.rules}
    assert {f"FLT-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13)} <= cited
