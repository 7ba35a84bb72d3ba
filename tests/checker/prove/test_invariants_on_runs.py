"""The invariants, tried out on the model's own runs: an invariant that is proved of a wrong relation would fail
here."""

from __future__ import annotations

import pytest

from routeproof.checker.instances import find
from routeproof.model.protocols import world
from routeproof.spec.theory.invariants import routing_under
from routeproof.spec.theory.invariants.book import Sentence
from tests.checker.prove.moments import run

INSTANCES = ("tiny", "cross3", "pair3", "equal3", "unadv3")
RUNS, STEPS = 3, 60


def met_on_runs(names: tuple[str, ...], policy: str, mutant: str | None = None) -> set[str]:
    """The sentences that said something; all of them hold, or it fails."""
    book, met = routing_under(policy).book, set[str]()
    sentences: list[Sentence] = [*book.conjuncts.values(), *book.lemmas.values()]
    for name in names:
        for seed in range(RUNS):
            for watched in run(world(find(name), policy, mutant), seed, STEPS):
                logic, moment = watched.moment()
                for sentence in sentences:
                    against, said = logic.judge(sentence.sorts, sentence.clause(moment))
                    assert against is None, f"{sentence.name} of {against} in {name} under {policy}, seed {seed}"
                    if said:
                        met.add(sentence.name)
    return met


@pytest.mark.parametrize("policy", ["none", "active", "lazy"])
def test_every_invariant_holds_on_runs_and_says_something(policy: str) -> None:
    book = routing_under(policy).book
    met = met_on_runs(INSTANCES, policy)
    assert {*book.conjuncts, *book.lemmas} == met


@pytest.mark.parametrize(
    ("mutant", "falls"),
    [
        ("removals-first", "covered after each"),
        ("publication-sent-back", "copy is news"),
        ("no-settle-after-unadvertise", "sent is candidate"),
        ("withdrawal-not-sent", "has or will be told"),
        ("unadvertise-not-flooded", "forgotten or queued"),
    ],
)
def test_a_mutant_of_the_model_breaks_an_invariant(mutant: str, falls: str) -> None:
    """Those that a random run meets soon; `tests/checker/prove/test_refine_mutants.py` has them all."""
    with pytest.raises(AssertionError, match=rf"^{falls} of "):
        met_on_runs(INSTANCES, "active", mutant)
