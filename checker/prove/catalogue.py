"""The catalogue of theorems, in the order in which they are proved and reported, and their judgement in processes.

It has the theorems of the theory, of bounded runs and of the model's code; `asked` selects theorems about refinement by
the names of instances and of a seeded fault. The verdicts and their order do not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from attrs import frozen

from routeproof.checker.instances import find
from routeproof.checker.prove import code
from routeproof.checker.prove.examine import CodeTheorem
from routeproof.checker.prove.judge import AnyTheorem, judge
from routeproof.checker.prove.refine.sample import Sample, refinements
from routeproof.checker.prove.solve import Judged
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.checker.system.processes import in_processes
from routeproof.model.protocols import MUTANTS
from routeproof.spec.theory.theorems import BOUNDED_THEOREMS
from routeproof.spec.theory.theorems import THEOREMS as SYMBOLIC_THEOREMS

THEOREMS: dict[str, AnyTheorem] = {
    **SYMBOLIC_THEOREMS,
    **{theorem.id: theorem for theorem in BOUNDED_THEOREMS},
    **code.THEOREMS,
    **{
        theorem.id: theorem
        for each in refinements().values()
        for theorem in each.theorems(Sample.usual(each.usual), Sample.usual((*each.usual, *each.wider)))
    },
}


def asked(names: Sequence[str], mutant: str | None = None) -> dict[str, CodeTheorem]:
    """Selects the theorems about the instances that are named, or about all that ship; for a mutant, about its
    protocol's.
    """
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
