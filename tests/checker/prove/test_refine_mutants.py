"""Every seeded fault of the model is rejected by the refinement check: which one by what.

The relation does not allow an answer that the broker gives, by the clause that is named here; or the relation
says that something can happen which the model refuses. The instance is one in which that shows.
"""

from __future__ import annotations

import os

import pytest
from attrs import evolve

from routeproof.checker.instances import find
from routeproof.checker.prove.refine import theorems
from routeproof.checker.prove.refine.answers import Objection, objection, objection_to_packed
from routeproof.checker.prove.refine.sample import BEYOND_LINES, USUAL, Explored, Sample
from routeproof.checker.prove.theorems import THEOREMS as CATALOGUE
from routeproof.checker.prove.theorems import judge
from routeproof.model.protocols import world
from routeproof.model.routing_mutants import MUTANTS
from tests.checker.command import TOP
from tests.pruning import test_relation as of_pruning
from tests.pruning.test_mutants import CAUGHT
from tests.shown import recorded

SENT = "sent is what is wanted where settled, and what it was elsewhere"
ORDER = "additions before removals"
DELIVERIES = "deliveries are to local subscriptions that match"
REFUSES = "what can happen"

REJECTED: dict[str, tuple[str, str]] = {
    "removals-first": ("tiny", ORDER),
    "no-settle-after-unsubscribe": ("tiny", SENT),
    "no-settle-after-advertise": ("tiny", SENT),
    "no-settle-after-unadvertise": ("unadv3", SENT),
    "settle-first-neighbour-only": ("line3", SENT),
    "withdrawal-not-sent": ("tiny", "unsub is said where it is due"),
    "sent-not-recorded": ("tiny", SENT),
    "quench-from-same-neighbour": ("cross3", SENT),
    "covering-swapped": ("tiny", SENT),
    "overlap-taken-for-cover": ("tiny", SENT),
    "equal-filters-quench-each-other": ("equal3", SENT),
    "cover-for-intersection": ("wide3", SENT),
    "candidates-come-back": ("cross3", SENT),
    "none-forwards-once": ("cross3", SENT),
    "active-keeps-covered": ("tiny", SENT),
    "lazy-keeps-withdrawn": ("tiny", SENT),
    "lazy-never-uncovers": ("tiny", SENT),
    "packing-first-only": ("line3", "a packed message is handled as its items, in order"),
    "packing-withdrawals-first": ("tiny", ORDER),
    "unsubscribe-by-filter": ("equal3", "subs"),
    "unadvertise-not-flooded": ("unadv3", "unadv is said where it is due"),
    "advertise-one-way": ("star4", "adv is said where it is due"),
    "waits-for-advertisement": ("unadv3", REFUSES),
    "publication-sent-back": ("tiny", "pub is said only where it is due"),
    "publication-per-entry": ("tiny", "pub is said once"),
    "publication-one-way": ("star4", "pub is said where it is due"),
    "delivers-unmatched": ("star4", DELIVERIES),
    "delivers-to-first": ("tiny", DELIVERIES),
    "delivers-or-forwards": ("equal3", "pub is said where it is due"),
}

OF_ROUTING = {id: mutant for id, mutant in MUTANTS.items() if mutant.protocol == "routing"}


def first_objection(explored: Explored) -> Objection | None:
    structure, protocol = explored.worded.structure, explored.world.protocol
    for question in explored.questions:
        found = (
            objection_to_packed(structure, protocol, question)
            if question.policy == "packing"
            else objection(structure, question)
        )
        if found is not None:
            return found
    return None


def refuses_what_can_happen(explored: Explored) -> bool:
    """Is there a state in which the model does not take a step that the relation allows?"""
    world = explored.world
    return any(
        not explored.worded.allowed(state) <= {a.label for a in world.actions if world.enabled(state, a)}
        for state in explored.reached
    )


def test_every_mutant_is_in_the_table() -> None:
    assert set(REJECTED) == set(OF_ROUTING)


@recorded
def test_every_mutant_is_rejected_in_an_instance_at_which_prove_looks_without_options() -> None:
    """So plain `prove` refutes each: what the next test shows of an instance is asked of it there."""
    answers, steps = CATALOGUE["AnswersAllowed"], CATALOGUE["StepsAllowed"]
    for id, (instance, clause) in REJECTED.items():
        asked = steps if clause == REFUSES else answers
        assert instance in asked.bound.replace(",", "").split(), id


@pytest.mark.campaign
@pytest.mark.parametrize("id", [id for id, (_, clause) in REJECTED.items() if clause != REFUSES])
def test_plain_prove_refutes_every_mutant_that_changes_an_answer(id: str) -> None:
    sample = evolve(Sample.usual((*USUAL, *BEYOND_LINES)), mutant=id)
    (asked,) = (each for each in theorems(sample) if each.id == "AnswersAllowed")
    refuted = {each.name for each in judge(asked).with_verdict("refuted")}
    assert refuted - {"every rule fires"}


@recorded
@pytest.mark.parametrize("id", REJECTED)
def test_a_mutant_is_rejected_under_each_of_its_policies(id: str) -> None:
    instance, clause = REJECTED[id]
    for policy in OF_ROUTING[id].policies:
        explored = Explored.of(world(find(instance), policy, id))
        if clause == REFUSES:
            assert first_objection(explored) is None  # each of its answers is right: it only gives some too late
            assert refuses_what_can_happen(explored)
            continue
        found = first_objection(explored)
        assert found is not None
        assert found.clause == clause


@recorded
@pytest.mark.parametrize("id", [id for id, (_, clause) in REJECTED.items() if clause in (SENT, ORDER, DELIVERIES)])
def test_the_objection_cites_the_rule_that_the_mutant_breaks(id: str) -> None:
    instance, _ = REJECTED[id]
    mutant = OF_ROUTING[id]
    found = first_objection(Explored.of(world(find(instance), mutant.policies[0], id)))
    assert found is not None
    assert mutant.rule in found.rules


# -- the table of the page ---------------------------------------------------------------------------------------------

PAGE = TOP / "docs" / "explanation" / "refinement.md"
HEAD = "| seeded fault | refused in | by |\n|---|---|---|\n"


def table() -> str:
    """Returns each seeded fault with the instance of the default sample that shows it, and what refuses it there."""
    rows = [
        (id, instance, f"`StepsAllowed`: `{REFUSES}`" if clause == REFUSES else f"`{clause}`")
        for id, (instance, clause) in REJECTED.items()
    ]
    rows += [(id, instance, f"`{clause}`") for id, (instance, clause) in of_pruning.REJECTED.items()]
    for id in sorted(of_pruning.LEFT_TO_PROPERTIES):
        instance, caught, *_ = next(iter(CAUGHT[id].values()))
        rows.append((id, "", f"nothing: the relation leaves it open; {caught} fails in {instance}"))
    return HEAD + "".join(f"| `{id}` | {instance} | {by} |\n" for id, instance, by in rows)


def test_the_page_has_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(HEAD) == 1
    before, after = page.split(HEAD)
    rest = after[after.index("\n\n") + 1 :]
    if os.environ.get("REWRITE_GOLDEN"):
        PAGE.write_text(before + table() + rest, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == before + table() + rest
