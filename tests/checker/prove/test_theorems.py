"""All theorems, as they ship: how each comes out, and how many obligations it has."""

from __future__ import annotations

from routeproof.checker.prove.judge import judge_by
from routeproof.checker.prove.outcome import Verdict
from routeproof.checker.prove.theorems import THEOREMS
from routeproof.spec.rules import RULES
from routeproof.spec.theory.invariants_obligations import Inductive
from routeproof.spec.theory.theorem import Obligation

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
    "SimplePaths": ("proved", 2),
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
    "PruningSimplePaths": ("proved", 2),
    "SafeFromTheBeginning": ("bounded", 3),
    "SafeFromAnywhere": ("bounded", 4),
    "SilenceDrains": ("bounded", 3),
    "OwedIsPledged": ("bounded", 2),
    "ModelReads": ("bounded", 20),
    "ModelMatches": ("bounded", 19),
    "ModelOverlaps": ("bounded", 19),
    "ModelCovers": ("bounded", 19),
    "ModelEquals": ("bounded", 19),
    "ModelAttributes": ("bounded", 2),
    "ModelEventSets": ("bounded", 3),
    "AnswersAllowed": ("bounded", 26),
    "AnswersDetermined": ("bounded", 18),
    "StepsAllowed": ("bounded", 13),
    "StepsDetermined": ("bounded", 10),
    "PruningAnswersAllowed": ("bounded", 15),
    "PruningAnswersDetermined": ("bounded", 10),
    "PruningStepsAllowed": ("bounded", 13),
}


def test_every_theorem_is_proved() -> None:
    """With obligations that have names of their own, and guards, but where small worlds are looked at instead. They are
    made once, which takes its time."""
    found: dict[str, tuple[Verdict, int]] = {}
    for id, theorem in THEOREMS.items():
        asked = theorem.obligations()
        assert len({each.name for each in asked}) == len(asked), id
        assert all(
            bool(each.guards) != isinstance(each, Inductive) for each in asked if isinstance(each, Obligation)
        ), id
        judged = judge_by(theorem, asked)
        found[id] = (judged.verdict, len(judged.obligations))
        print(*(each for each in judged.obligations if each.verdict not in ("proved", "bounded")), sep="\n")
    assert found == EXPECTED


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
