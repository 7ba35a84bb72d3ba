"""Properties 1 to 3 and equation 3: proved, tried out on states of the model, and sought to be broken."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
import z3

from routeproof.checker.instances import find
from routeproof.checker.prove.solve import settle
from routeproof.model.overlay import Overlay
from routeproof.model.protocols import world
from routeproof.spec.pruning.theory import SIMILARITY_THEOREMS, distance
from routeproof.spec.pruning.theory import equation_3 as equation
from routeproof.spec.pruning.theory.distance import HOPS, MATCHED, SAMPLE, STATISTIC, property_3, property_3_in_tables
from routeproof.spec.pruning.theory.distance_needs import EQUATION_3, all_entries
from routeproof.spec.pruning.theory.equation_3 import equation_3
from routeproof.spec.pruning.theory.similarity_needs import IN_TABLES, ONE_SAMPLE, PROPERTY_3
from routeproof.spec.theory import ADV, SUB, Clause, Term, Truth, formula, negation
from routeproof.spec.theory.proof import Build, Proof, Theorem, obligations
from routeproof.spec.theory.propagation import PROPAGATION_THEOREMS
from routeproof.spec.theory.propagation.grafting import property_2
from routeproof.spec.theory.propagation.necessity import (
    EXACTLY,
    PATH,
    PROPERTY_1,
    AnyEntryQuenches,
    Needed,
    needed,
    stated,
)
from routeproof.spec.theory.propagation.paths import property_1
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation import FINITE, TREE, facts_hold, of_overlay
from routeproof.spec.theory.relation.quiet_states import (
    NO_STALE_SUBSCRIPTION,
    QUIET,
    Scene,
    any_scene,
    beside,
    example,
    grafted,
    quiet_holds,
)
from routeproof.spec.theory.relation.routing import HandlerStep
from tests.shown import recorded
from tests.spec.theory.small_worlds import is_possible, open_scene, quiet_scenes, shapes_of_trees

THEOREMS: Mapping[str, Theorem] = {theorem.id: theorem for theorem in (*PROPAGATION_THEOREMS, *SIMILARITY_THEOREMS)}
PROOFS: Mapping[str, list[tuple[str, Build[Scene]]]] = {
    "none": [
        ("PropagationTree", property_1),
        ("SimilarityGrows", property_3),
        ("SimilarityInTables", property_3_in_tables),
        ("DistanceTells", equation_3),
    ],
    "active": [("PropagationPath", property_2), ("SimilarityGrows", property_3), ("DistanceTells", equation_3)],
    "lazy": [("SimilarityGrows", property_3), ("DistanceTells", equation_3)],
}
NEEDED: tuple[Needed, ...] = (*PROPERTY_1, *PATH, *EXACTLY, *PROPERTY_3, *IN_TABLES, *EQUATION_3)

# -- what a theorem takes for granted ----------------------------------------------------------------------------------


@recorded
def test_theorems_name_what_their_proofs_rest_on_and_no_more() -> None:
    rests: dict[str, set[str]] = {}
    for policy, proofs in PROOFS.items():
        for id, build in proofs:
            rests.setdefault(id, set()).update(build(any_scene(policy)).hypotheses())
    for id, found in rests.items():
        beside_proof = {name for name in THEOREMS[id].hypotheses if "sample" in name or "S matches" in name}
        assert set(THEOREMS[id].hypotheses) == found | beside_proof, id


@recorded
def test_the_path_alone_does_not_need_local_entries_to_be_right() -> None:
    proof = property_2(any_scene("active"))
    path, exactly = (clause_of(proof, name) for name in ("Property 2, a path", "Property 2, exactly"))
    assert NO_STALE_SUBSCRIPTION not in proof.rests_on(path)
    assert NO_STALE_SUBSCRIPTION in proof.rests_on(exactly)
    assert {STATISTIC, HOPS} <= set(equation_3(any_scene("none")).hypotheses())


def clause_of(proof: Proof, name: str) -> Clause:
    (found,) = (lemma.clause for lemma in proof.lemmas if lemma.clause.name.startswith(name))
    return found


# -- states of the model -----------------------------------------------------------------------------------------------


@recorded
@pytest.mark.parametrize("policy", PROOFS)
def test_the_model_comes_to_rest_as_the_proofs_say(policy: str) -> None:
    """Every hypothesis and every lemma, of every state in which a walk through an instance comes to rest."""
    held: set[str] = set()
    for name in ("tiny", "cross3", "star4", "unadv3"):
        for scene in quiet_scenes(world(find(name), policy), seed=1):
            for _, build in PROOFS[policy]:
                proof = build(scene)
                assert proof.holds(), name
                for lemma in proof.lemmas:
                    assert lemma.clause.closed(scene.logic) is True, (name, lemma.clause.name)
                    if scene.logic.some(lemma.clause.sorts, lemma.when) is True:
                        held.add(lemma.clause.name)
    lemmas = [lemma for _, build in PROOFS[policy] for lemma in build(any_scene(policy)).lemmas]
    assert held == {lemma.clause.name for lemma in lemmas if not lemma.absurd}


@recorded
@pytest.mark.parametrize(
    "row",
    [row for row in NEEDED if not row.hypothesis and row.example.handler is HandlerStep],
    ids=lambda row: row.without,
)
def test_counterexamples_without_a_broken_hypothesis_are_at_rest(row: Needed) -> None:
    scene = row.example.scene()
    assert all(clause.closed(scene.logic) is True for clause in quiet_holds(scene).values())


# -- a search that knows no proof --------------------------------------------------------------------------------------


def forks(scene: Scene) -> Truth:
    return negation(stated(property_2, "Property 2, a path")(scene).closed(scene.logic))


def strays(scene: Scene) -> Truth:
    return negation(stated(property_2, "Property 2, exactly")(scene).closed(scene.logic))


def missing(scene: Scene) -> Truth:
    return negation(stated(property_1, "Property 1")(scene).closed(scene.logic))


def at_rest(left_out: str = "") -> Callable[[Scene], z3.BoolRef]:
    """All hypotheses but one."""

    def says(scene: Scene) -> z3.BoolRef:
        facts = [each for each in facts_hold(scene.logic, scene.facts) if each.rules and set(each.sorts) <= {SUB, ADV}]
        quiet = [clause for name, clause in quiet_holds(scene).items() if name != left_out]
        return z3.And(*(formula(each.closed(scene.logic)) for each in [*facts, *quiet]))

    return says


@recorded
@pytest.mark.parametrize(
    ("policy", "fails", "overlay", "homes", "sources"),
    [
        ("none", missing, Overlay.line(3), (1, 2), (3,)),
        ("active", forks, Overlay.line(3), (2, 1), (1, 3)),
        ("active", strays, Overlay.line(3), (1, 2), (3,)),
        ("active", strays, Overlay.of([]), (1,), (1,)),
        ("none", missing, Overlay.of([]), (1,), (1,)),
    ],
)
def test_nothing_fails_where_all_hypotheses_are_met(
    policy: str, fails: Callable[[Scene], Truth], overlay: Overlay, homes: tuple[int, ...], sources: tuple[int, ...]
) -> None:
    scene = open_scene(of_overlay(overlay), overlay.brokers, homes, sources, policy)
    assert is_possible(scene, at_rest())
    assert not is_possible(scene, at_rest(), fails)


@recorded
@pytest.mark.parametrize("left_out", QUIET)
def test_something_fails_where_one_hypothesis_is_not(left_out: str) -> None:
    """Of Properties 1 and 2 each: some state of three brokers at most."""
    overlays = [overlay for brokers in (1, 2, 3) for overlay in shapes_of_trees(brokers)]
    for policy, fails in (("none", missing), ("active", strays)):
        assert any(
            is_possible(
                open_scene(of_overlay(each), each.brokers, (1, 1), (len(each.brokers),), policy),
                at_rest(left_out),
                fails,
            )
            for each in overlays
        ), policy


# -- seeded faults -----------------------------------------------------------------------------------------------------


class SentBack(HandlerStep):
    """RTE-3 left out: what came from a neighbour is a candidate for it."""

    def candidate(self, u: Term, s: Term) -> Truth:
        logic = self.logic
        return logic.all_of(
            logic.some(("Broker",), lambda x: self.after.subs(s, x)),
            lambda: logic.some((ADV,), lambda a: logic.all_of(self.after.advs(a, u), self.facts.overlaps(a, s))),
        )


class Everywhere(HandlerStep):
    """RTE-3 left out: what no advertisement draws goes on all the same."""

    def candidate(self, u: Term, s: Term) -> Truth:
        logic = self.logic
        return logic.some(("Broker",), lambda x: logic.all_of(self.after.subs(s, x), logic.apart(x, u)))


class OneHop(HandlerStep):
    """RTE-3 wrongly: only what came from a client goes on."""

    def candidate(self, u: Term, s: Term) -> Truth:
        return self.logic.all_of(super().candidate(u, s), lambda: self.after.subs(s, self.here))


class NothingQuenches(HandlerStep):
    """COV-2 left out."""

    def wanted(self, u: Term, s: Term) -> Truth:
        return self.candidate(u, s)


class EqualsQuench(HandlerStep):
    """COV-10 left out: of two equal filters neither is sent."""

    def goes_first(self, u: Term, t: Term, s: Term) -> Truth:
        return True


class CoveredQuenches(HandlerStep):
    """COV-1 the wrong way round."""

    def quenches(self, u: Term, t: Term, s: Term) -> Truth:
        return super().quenches(u, s, t)


class NarrowIsKept(HandlerStep):
    """COV-6 wrongly: what was sent holds back what comes later, whatever their filters."""

    def fresh(self, u: Term, s: Term) -> Truth:
        logic = self.logic
        return logic.all_of(self.candidate(u, s), lambda: logic.no(logic.some((SUB,), lambda k: self.kept(u, k))))


FAULTS: list[tuple[str, Build[Scene], type[HandlerStep]]] = [
    ("none", property_1, SentBack),
    ("none", property_1, Everywhere),
    ("active", property_2, SentBack),
    ("active", property_2, NothingQuenches),
    ("active", property_2, EqualsQuench),
    ("active", property_2, CoveredQuenches),
    ("active", property_2, AnyEntryQuenches),
    ("none", property_3_in_tables, OneHop),
    ("active", equation_3, EqualsQuench),
    ("active", equation_3, AnyEntryQuenches),
    ("lazy", equation_3, NarrowIsKept),
    ("lazy", property_2, HandlerStep),
    ("active", property_1, HandlerStep),
    ("active", property_3_in_tables, HandlerStep),
]


@recorded
@pytest.mark.parametrize(("policy", "build", "handler"), FAULTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_faulty_broker_is_not_proved(policy: str, build: Build[Scene], handler: type[HandlerStep]) -> None:
    """The last three are brokers without fault, under a policy of which the property is not true."""
    scenes = [each(policy).scene() for each in (beside, grafted)]
    found = [settle(each, 1_000_000) for each in obligations(build, any_scene(policy, handler), scenes)]
    refuted = [each for each in found if each.verdict == "refuted"]
    assert refuted or any(each.verdict == "unknown" for each in found)
    for each in refuted:  # what there is, which of it the lemma is about, and its tables or filters
        assert {"there are", "of"} < set(each.shown), each.name
        assert {"subs", "sent", "advs", "covers"} & set(each.shown), each.name


def verdicts(build: Build[Scene], policy: str) -> set[str]:
    scenes = [each(policy).scene() for each in (beside, grafted)]
    return {settle(each, 1_000_000).verdict for each in obligations(build, any_scene(policy), scenes)}


@recorded
def test_counting_all_entries_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """STA-5, in the statistic itself."""
    assert verdicts(equation_3, "none") == {"proved"}
    for module in (distance, equation):
        monkeypatch.setattr(module, "matches_several", all_entries)
    assert verdicts(equation_3, "none") & {"refuted", "unknown"}


@recorded
def test_a_distance_that_is_not_reset_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "matches_several", lambda q, x, p: False)
    assert verdicts(equation_3, "none") & {"refuted", "unknown"}


@recorded
def test_similarity_is_not_proved_to_grow_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def backward(q: Scene, x: Term, y: Term, s: Term, p: Term) -> Truth:
        return forward(q, y, x, s, p)

    forward = distance.on_the_way
    monkeypatch.setattr(distance, "on_the_way", backward)
    assert verdicts(property_3, "none") & {"refuted", "unknown"}
    assert verdicts(property_3_in_tables, "none") & {"refuted", "unknown"}


# -- what is needed ----------------------------------------------------------------------------------------------------


@cache
def settled_state() -> Needed:
    """Nothing fails here."""
    return Needed("nothing", beside("none"), stated(property_1, "Property 1"), property_1)


def test_what_is_not_needed_is_not_shown_to_be() -> None:
    (only,) = needed([settled_state()])
    assert settle(only).verdict == "refuted"


def test_where_two_hypotheses_are_broken_nothing_is_shown() -> None:
    both = example("1 has sent s and not settled", Overlay.line(2), {"s": (1, "0")}, {"a": (2, "0")}, "", sent="1s2")
    row = Needed("subscribing", both, stated(property_1, "Property 1"), property_1, QUIET[4])
    (only,) = needed([row])
    assert settle(only).verdict in ("vacuous", "refuted")


SHOWN: Mapping[str, tuple[tuple[Needed, ...], str, set[str]]] = {
    "PropagationTree": (PROPERTY_1, "PropagationTreeNeeds", {FINITE}),
    "PropagationPath": ((*PATH, *EXACTLY), "PropagationPathNeeds", {FINITE, FINITELY_MANY}),
    "SimilarityGrows": (PROPERTY_3, "SimilarityNeeds", set()),
    "SimilarityInTables": (IN_TABLES, "SimilarityNeeds", {FINITE}),
    "DistanceTells": (EQUATION_3, "DistanceNeeds", {FINITE, FINITELY_MANY}),
}
"""By theorem: its rows, the theorem that proves them, and what an endless world shows there."""

WITHOUT: Mapping[tuple[str, str], str] = {
    ("TreeWays", TREE): "it is the axioms themselves: test_trees.py shows that none follows from the others",
    ("TreeWays", FINITE): "induction along a path, which fails where the tables of Property 3 do (endless_on_the_way)",
    ("SimilarityGrows", SAMPLE): "that it is the same is shown (ONE_SAMPLE); of endless ones there is no share",
    ("SimilarityGrows", MATCHED): "of nothing there is no share",
    ("DistanceTells", STATISTIC): "it says what a distance is",
    ("DistanceTells", HOPS): "it says what hops are",
}
"""Hypotheses that have no counterexample, and why."""


def test_every_hypothesis_has_its_counterexample_or_a_reason() -> None:
    assert {id for id in THEOREMS if not id.endswith("Needs")} == {*SHOWN, *(id for id, _ in WITHOUT)}
    for id, theorem in THEOREMS.items():
        if not id.endswith("Needs"):
            rows, _, endless = SHOWN.get(id, ((), "", set()))
            shown = {row.hypothesis for row in rows} | endless
            reasons = {name for each, name in WITHOUT if each == id}
            assert set(theorem.hypotheses) == (shown - {""}) | reasons, id
            assert not shown & reasons, id
    assert ONE_SAMPLE in {row.without for row in PROPERTY_3}


def test_what_only_an_endless_world_shows_is_proved_where_it_is_said_to_be() -> None:
    """Of each hypothesis of finiteness: that all others are met, and that the property fails; beside the rows."""
    for _, by, _ in SHOWN.values():
        rows = sum(len(rows) for rows, each, _ in SHOWN.values() if each == by)
        endless = sum(len(names) for _, each, names in SHOWN.values() if each == by)
        worlds: dict[str, list[str]] = {}
        for each in THEOREMS[by].obligations():
            world, _, said = each.name.partition(" / ")
            worlds.setdefault(world, []).append(said)
        assert len(worlds) == rows + endless, by
        assert sum("finite" in world for world in worlds) == endless, by
        assert all(said == [""] or said[-1] == "it fails" for said in worlds.values()), by


# -- the document ------------------------------------------------------------------------------------------------------

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs/explanation/proofs-propagation.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", NEEDED, ids=lambda row: row.example.name)
def test_the_document_has_every_counterexample(row: Needed) -> None:
    condition = row.without.split(", which")[0].split(": in")[0]
    assert re.search(rf"\| {re.escape(condition)} \| {re.escape(row.example.name)}", DOCUMENT)


def test_the_document_names_theorems_that_there_are() -> None:
    assert {id for id in THEOREMS if f"`{id}`" in DOCUMENT} == set(THEOREMS)
