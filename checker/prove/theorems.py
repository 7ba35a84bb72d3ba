"""Theorems: the catalogue of all, in the order in which they are proved and reported, and their verdicts.

The verdict of a theorem is the verdict of its worst obligation, and "up to a bound" where the theorem states one. A
theorem names all that its obligations are given: one that is given anything else is unknown.

Verdicts propagate along dependencies (`with_their_basis`): a theorem counts as proved only if every theorem it uses
does. A proof is given sentences that other theorems prove. If one of those is not proved, every theorem that rests on
it is unknown; if one was not asked, the theorem is proved, given that one. Theorems that rest on each other are one
induction: each is given what the others say of the moment before a step, which is no circle.

`THEOREMS` has the theorems of the theory (`SYMBOLIC`: the routing core's, then those of each protocol on top of it), of
bounded runs and of the model's code; `asked` selects theorems about refinement by the names of instances and of a
seeded fault. The verdicts and their order do not depend on the number of processes (`judge_all`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from attrs import evolve, frozen

from routeproof.checker.instances import find
from routeproof.checker.prove import code
from routeproof.checker.prove.invariants import settle_bounded, settle_inductive
from routeproof.checker.prove.refine.sample import Sample, refinements
from routeproof.checker.prove.solve import VERDICTS, CodeTheorem, Examination, Judged, Settled, Verdict, examine, settle
from routeproof.checker.prove.vacuity import Possibilities
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.checker.system.processes import in_processes
from routeproof.checker.wings import wings
from routeproof.model.protocols import MUTANTS
from routeproof.spec.catalogues import specifications
from routeproof.spec.theory.filters import FILTER_THEOREMS
from routeproof.spec.theory.invariants import ROUTING_THEOREMS
from routeproof.spec.theory.invariants.bounded import BOUNDED_THEOREMS as BOUNDED_OF_ROUTING
from routeproof.spec.theory.invariants.bounded import Bounded, BoundedTheorem, Reached
from routeproof.spec.theory.invariants.obligations import Inductive
from routeproof.spec.theory.proof import Obligation, Theorem
from routeproof.spec.theory.propagation import PROPAGATION_THEOREMS

_OF_PROTOCOLS = tuple(theorem for specification in specifications() for theorem in specification.theorems())

SYMBOLIC: dict[str, Theorem] = {
    theorem.id: theorem
    for theorem in (
        *FILTER_THEOREMS,
        *ROUTING_THEOREMS,
        *PROPAGATION_THEOREMS,
        *(each for each in _OF_PROTOCOLS if isinstance(each, Theorem)),
    )
}

BOUNDED_THEOREMS: tuple[BoundedTheorem, ...] = (
    *BOUNDED_OF_ROUTING,
    *(each for each in _OF_PROTOCOLS if isinstance(each, BoundedTheorem)),
)


AnyTheorem: TypeAlias = Theorem | CodeTheorem | BoundedTheorem
Asked: TypeAlias = Obligation | Examination | Bounded | Reached

PROVED = ("proved", "bounded")


def judge(
    theorem: AnyTheorem, rlimit: int | None = None, progress: Callable[[str, int, int], None] | None = None
) -> Judged:
    start = time.monotonic()
    judged = judge_by(theorem, theorem.obligations(), rlimit, progress)
    return evolve(judged, seconds=time.monotonic() - start)


def judge_by(
    theorem: AnyTheorem,
    obligations: Sequence[Asked],
    rlimit: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Judged:
    """Judges a theorem by obligations that the caller has made: making them can take longer than deciding them.

    What is built for one theorem is dropped with it, so its verdicts are the same in every order and every process.
    """
    start, possibilities = time.monotonic(), Possibilities()
    settled: list[Settled] = []
    for number, obligation in enumerate(obligations):
        if progress is not None:
            progress(theorem.id, number, len(obligations))
        settled.append(settle_one(obligation, rlimit, possibilities))
    verdict, why = _verdict(theorem, settled)
    if verdict in PROVED and isinstance(theorem, Theorem):
        symbolic = [each for each in obligations if isinstance(each, Obligation)]
        if unnamed := theorem.unnamed(symbolic):
            verdict, why = "unknown", f"its proof is given what the theorem does not name: {'; '.join(unnamed)}"
    return Judged(theorem.id, verdict, theorem.bound, tuple(settled), why, time.monotonic() - start)


def settle_one(asked: Asked, rlimit: int | None, possibilities: Possibilities | None = None) -> Settled:
    match asked:
        case Examination():
            return examine(asked)
        case Bounded() | Reached():
            return settle_bounded(asked, rlimit)
        case Inductive():
            return settle_inductive(asked, rlimit, possibilities)
    return settle(asked, rlimit)


def _verdict(theorem: AnyTheorem, settled: Iterable[Settled]) -> tuple[Verdict, str]:
    verdicts = [each.verdict for each in settled]
    if not verdicts:
        return "vacuous", "it has no obligations"
    worst = max(verdicts, key=VERDICTS.index)
    if worst == "bounded" and not theorem.bound:
        raise ValueError(f"{theorem.id}: what was tried out on some cases holds up to a bound; say up to which")
    return ("bounded" if worst == "proved" and theorem.bound else worst), ""


def rests_on(theorem: AnyTheorem) -> tuple[str, ...]:
    return theorem.basis if isinstance(theorem, Theorem) else ()


def with_premises(ids: Iterable[str], theorems: Mapping[str, AnyTheorem]) -> set[str]:
    """Returns these theorems and all that they rest on."""
    below = {id: rests_on(theorem) for id, theorem in theorems.items()}
    return {each for id in ids for each in (id, *_behind(id, below))}


def with_their_basis(theorems: Sequence[AnyTheorem], judged: Sequence[Judged]) -> list[Judged]:
    """Each judged theorem by its own verdict and those behind it; `theorems` has all that lie between."""
    below = {theorem.id: rests_on(theorem) for theorem in theorems}
    alone = {each.id: each for each in judged}
    asked = {id: names for id, names in below.items() if id in alone}
    return [_by_its_basis(each, _behind(each.id, below), _behind(each.id, asked), alone) for each in judged]


def _behind(id: str, below: dict[str, tuple[str, ...]]) -> list[str]:
    """All that it rests on, and what that rests on, as far as that is known."""
    found: dict[str, None] = {}
    waiting = [id]
    while waiting:
        more = [each for each in below.get(waiting.pop(0), ()) if each not in found and each != id]
        found |= dict.fromkeys(more)
        waiting += more
    return list(found)


def _by_its_basis(judged: Judged, behind: Sequence[str], named: Sequence[str], alone: dict[str, Judged]) -> Judged:
    """`named` are the theorems that a report names if they were not judged: the first ones on the way down."""
    if judged.verdict not in PROVED:
        return judged
    fallen = [id for id in behind if id in alone and alone[id].verdict not in PROVED]
    if fallen:
        return evolve(judged, verdict="unknown", why=f"it rests on what is not proved: {', '.join(fallen)}")
    return evolve(judged, given=tuple(id for id in named if id not in alone))


THEOREMS: dict[str, AnyTheorem] = {
    **SYMBOLIC,
    **{theorem.id: theorem for theorem in BOUNDED_THEOREMS},
    **code.THEOREMS,
    **{
        theorem.id: theorem
        for each in refinements().values()
        for theorem in each.theorems(Sample.usual(each.usual), Sample.usual((*each.usual, *each.wider)))
    },
    **{theorem.id: theorem for wing in wings().values() for theorem in wing.code_theorems()},
}


def asked(names: Sequence[str], mutant: str | None = None) -> dict[str, CodeTheorem]:
    """Selects the theorems about the named instances, or about all that ship; for a mutant, about its protocol's."""
    if mutant is not None and mutant not in MUTANTS:
        raise unknown("mutant", mutant, MUTANTS)
    found: dict[str, CodeTheorem] = {}
    for name in names:
        _refuse(name, mutant)
    for protocol, refinement in refinements().items():
        chosen = tuple(dict.fromkeys(name for name in names if find(name).protocol == protocol))
        if chosen:
            sample = Sample.of(chosen, mutant)
        elif not names and mutant in (None, *_mutants_of(protocol)):
            sample = Sample.everything(protocol, mutant)
        else:
            continue
        found |= {theorem.id: theorem for theorem in refinement.theorems(sample, sample)}
    return found


def _refuse(name: str, mutant: str | None) -> None:
    instance = find(name)
    if instance.protocol not in (known := refinements()):
        raise UsageError(f"--refinement is of {' and '.join(known)}; {name} is an instance of {instance.protocol}")
    if mutant is not None and mutant not in _mutants_of(instance.protocol):
        raise UsageError(
            f"{mutant} is a mutant of {MUTANTS[mutant].protocol}; {name} is an instance of {instance.protocol}"
        )


def _mutants_of(protocol: str) -> tuple[str, ...]:
    return tuple(id for id, each in MUTANTS.items() if each.protocol == protocol)


Progress = Callable[[str, int, int], None]
"""Called with the theorem that is being judged, how many obligations are done, and how many there are."""


@frozen
class Catalogue:
    """The theorems to select from: all, or those that compare the model with the relation, for some instances."""

    refinement: tuple[str, ...] | None = None
    mutant: str | None = None

    def theorems(self) -> Mapping[str, AnyTheorem]:
        return THEOREMS if self.refinement is None else asked(list(self.refinement), self.mutant)


@frozen
class Assignment:
    """A theorem in the form that is sent to another process."""

    catalogue: Catalogue
    id: str


def judge_all(catalogue: Catalogue, ids: Sequence[str], workers: int, progress: Progress) -> list[Judged]:
    if workers == 1 or len(ids) == 1:
        theorems = catalogue.theorems()
        return [judge(theorems[id], progress=progress) for id in ids]
    # The last ones take longest: begun first, none of them is left to run alone at the end.
    asked = [Assignment(catalogue, id) for id in reversed(ids)]
    judged: list[Judged] = []
    for each in in_processes(_judge, asked, min(workers, len(asked))):
        judged.append(each)
        progress(f"up to {each.id}", len(judged), len(asked))
    return judged[::-1]


def _judge(named: Assignment) -> Judged:
    return judge(_theorems(named.catalogue)[named.id])


@cache
def _theorems(catalogue: Catalogue) -> Mapping[str, AnyTheorem]:
    return catalogue.theorems()
