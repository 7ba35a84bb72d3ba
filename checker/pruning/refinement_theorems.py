"""Theorems about the refinement of pruning: three about the model's code, each up to a bound.

They differ from those of the routing core (`prove.refine.theorems`) in two ways. Every answer is held to two relations
(`refinement`). And they ask by the rules, word for word, whether another answer is allowed, for every choice of
neighbours at which a withdrawal ends, for which the model gets a list that brings it about. The relation of the proofs
allows more on purpose: it must refuse altered answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from attrs import evolve

from routeproof.checker.instances import find
from routeproof.checker.prove.refine.alternatives import other_answer
from routeproof.checker.prove.refine.answers import Objection, Question, altered, word
from routeproof.checker.prove.refine.sample import Explored, Refinement, Sample
from routeproof.checker.prove.refine.steps import case, examined, steps_allowed
from routeproof.checker.prove.solve import Case, CodeTheorem, Examination
from routeproof.checker.pruning.refinement import (
    QuestionPart,
    asked_of_base,
    endings,
    objection_to_pruning,
    parts,
    strictly,
    told_of,
    word_for_word,
)
from routeproof.model.instance import Instance, Subscriber
from routeproof.model.pruning.definition import again, coming_back, congested, issued_again, readings
from routeproof.model.pruning.vocabulary import PRUNING, Congest, Relieve
from routeproof.spec.catalogues import rules_that_fire
from routeproof.spec.pruning.theory.relation import Holds, PruningRelation, answering
from routeproof.spec.theory import Clause
from routeproof.spec.theory.relation import ABOUT
from routeproof.spec.theory.relation.routing import Change, HandlerStep

KINDS = (*ABOUT, "congest", "relieve")

ALTERED, ALTER_EACH = 2, 5
"""Altered answers that are tried of a question, and of so many questions one."""

MOST = 12
"""Number of answers of each instance that are compared with all other allowed answers, from everywhere in it."""

Row = Sequence[tuple[Explored, Question]]

RELATED = ("RTE-3", "COV-8", *(f"PRN-{n}" for n in (4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 16)))


def theorems(sample: Sample, wider: Sample | None = None) -> list[CodeTheorem]:
    """The three of them; `wider` is a sample of more instances for PruningAnswersAllowed."""
    answers = wider or sample
    plain = [name for name in sample.names if _is_plain(find(name))]
    steps = CodeTheorem(
        "PruningStepsAllowed",
        ("RTE-5", "COV-8", "PRN-4"),
        "Under pruning, what can happen is what the relation says, and so are queues, clients and ghosts after it.",
        partial(whole_steps, sample),
        f"{sample.bound}, without congestion or what is issued again",
    )
    return [
        CodeTheorem(
            "PruningAnswersAllowed",
            (*RELATED, "PRN-15"),
            "Each answer of pruning is one that its relation allows, and the rules word for word; no altered one is.",
            partial(answers_allowed, answers),
            answers.bound,
        ),
        CodeTheorem(
            "PruningAnswersDetermined",
            RELATED,
            "Wherever a withdrawal ends, the rules word for word allow one answer, and the model gives it for a list.",
            partial(answers_determined, sample),
            sample.bound,
        ),
        *([steps] if plain else []),
    ]


def answers_allowed(sample: Sample) -> list[Examination]:
    rows = _rows(sample, KINDS, _allowed)
    return [*rows, examined("every rule fires", partial(_rules, sample), both=False)] if sample.whole else rows


def answers_determined(sample: Sample) -> list[Examination]:
    return _rows(sample, tuple(ABOUT), _determined)


def whole_steps(sample: Sample) -> list[Examination]:
    plain = [each for each in sample.explored if _is_plain(each.world.instance)]
    return steps_allowed(plain, sample.whole)


def _is_plain(instance: Instance) -> bool:
    """The relation's world has no words for being congested, and the ledger one name for both issues (PRN-15)."""
    return not congested(instance) and all(again(each) is None for each in instance.subscribers)


def _rows(sample: Sample, kinds: Sequence[str], asked: Callable[[Row], Iterable[Case]]) -> list[Examination]:
    """One for each kind of message under each policy."""
    rows: dict[tuple[str, str], list[tuple[Explored, Question]]] = {(k, p): [] for p in PRUNING for k in kinds}
    for explored in sample.explored:
        for question in explored.questions:
            if (_kind(question), question.policy) in rows:
                rows[_kind(question), question.policy].append((explored, question))
    return [
        examined(f"{kind}, {policy}", partial(asked, row), both=kind != "congest")  # at first there is nothing to alter
        for (kind, policy), row in rows.items()
        if row or sample.whole
    ]


def _kind(question: Question) -> str:
    signal = question.message
    return signal.kind if isinstance(signal, Congest | Relieve) else word(signal)[0]


# -- is it allowed? ----------------------------------------------------------------------------------------------------


def _allowed(row: Row) -> Iterator[Case]:
    for number, (explored, question) in enumerate(row):
        yield _answer(True, explored, question)
        others = altered(question) if number % ALTER_EACH == 0 else []
        for turn in range(min(ALTERED, len(others))):
            yield _answer(False, explored, others[(number // ALTER_EACH + turn) % len(others)])


def _answer(expected: bool, explored: Explored, question: Question) -> Case:
    found = objection_to_pruning(explored, question)
    return Case(expected, found is None, partial(_told, str(found or "nothing forbids it"), question))


def _told(why: str, question: Question) -> dict[str, str]:
    return {"the relation": why, **question.told()}


# -- is another one? ---------------------------------------------------------------------------------------------------


def _determined(row: Row) -> Iterator[Case]:
    """Cases for as many questions as time allows: the steps of each, and every end of a withdrawal."""
    seen = 0
    by_instance = (list(asked) for _, asked in groupby(row, key=lambda asked: asked[0].world.instance.name))
    for explored, question in (each for asked in by_instance for each in asked[:: max(1, len(asked) // MOST)]):
        found = parts(explored, question)
        for part in [] if isinstance(found, Objection) else found:
            if part.what is Holds:
                continue
            choices = endings(explored, part) if told_of(part.question) else iter([(part, None)])
            for one, ends in choices:
                refused = strictly(explored, one, ends)
                told = partial(_told, str(refused or "nothing forbids it"), one.question)
                yield Case(True, refused is None, told)
                handler = word_for_word(explored, one, ends)
                yield _other(False, explored, one, handler)
                if seen == 0:
                    yield _other(True, explored, one, _looser(handler))
                seen += 1


def _other(expected: bool, explored: Explored, part: QuestionPart, handler: type[HandlerStep]) -> Case:
    found = other_answer(explored.structure, asked_of_base(explored, part.question), handler)
    return Case(expected, found is not None, lambda: {"allowed too": str(found), **part.question.told()})


def _looser(handler: type[HandlerStep]) -> type[HandlerStep]:
    """It does not say what becomes of the table of subscriptions."""

    class Looser(handler):  # type: ignore[misc, valid-type]  # a class that is an argument
        def new_tables(self, change: Change) -> list[Clause]:
            return [clause for clause in super().new_tables(change) if clause.name != "subs"]

    return Looser


# -- rules -------------------------------------------------------------------------------------------------------------


def _rules(sample: Sample) -> Iterator[Case]:
    fired = {rule for each in sample.explored for question in each.questions for rule in question.answer.rules}
    for rule in rules_that_fire("pruning"):
        if rule.startswith("PRN"):  # statistics and distances are none of the relation's
            yield case(True, rule in fired, {"never fired": rule})


# -- samples -----------------------------------------------------------------------------------------------------------

USUAL = ("back2", "collects3", "hold3", "return3", "moves3", "larger3", "adverts3", "newcomer3")

QUENCHED = ("prune3",)
"""Here retained subscriptions quench others, of which the first theorem asks, too."""

RUNS = 8
"""Number of runs that are drawn in an instance that is not tiny: little happens in most runs."""


def breaks_a_promise(instance: Instance) -> bool:
    """True if it has a reading that no relation allows: the explorer's claims say what is lost."""
    read = dict(readings(instance))
    return read.get("sends") == "listed" or read.get("remembers") is False or read.get("overtakes") is True


def issues(instance: Instance) -> list[Subscriber]:
    """Each issue of a subscription as a subscriber that never comes back (PRN-15)."""
    found: list[Subscriber] = []
    for each in instance.subscribers:
        found.append(each)
        issue, at = issued_again(instance, each), again(each)
        if at is not None and issue != each.subscription:
            found.append(evolve(each, subscription=issue, at=at, unsubscribes=False))
    return [coming_back(each, None) for each in found]


REFINEMENT = Refinement(
    theorems,
    USUAL,
    QUENCHED,
    handler=answering(PruningRelation),
    runs=RUNS,
    breaks_a_promise=breaks_a_promise,
    issues=issues,
)
