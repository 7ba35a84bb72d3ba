"""Theorems, judged in this process or in several: what comes of them, and in which order, is the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from attrs import frozen

from routeproof.checker.processes import in_processes
from routeproof.checker.prove.judge import AnyTheorem, judge
from routeproof.checker.prove.outcome import Judged

Progress = Callable[[str, int, int], None]
"""What is being judged, and how much of how much is done."""


@frozen
class Catalogue:
    """The theorems of which some are asked: all, or those that hold the model to the relation, of some instances."""

    refinement: tuple[str, ...] | None = None
    mutant: str | None = None

    def theorems(self) -> Mapping[str, AnyTheorem]:
        from routeproof.checker.prove.refine.asked import asked
        from routeproof.checker.prove.theorems import THEOREMS

        return THEOREMS if self.refinement is None else asked(list(self.refinement), self.mutant)


@frozen
class Named:
    """A theorem, as it is told to another process."""

    catalogue: Catalogue
    id: str


def judge_all(catalogue: Catalogue, ids: Sequence[str], workers: int, progress: Progress) -> list[Judged]:
    if workers == 1 or len(ids) == 1:
        theorems = catalogue.theorems()
        return [judge(theorems[id], progress=progress) for id in ids]
    # The last ones take longest: begun first, none of them is left to run alone at the end.
    asked = [Named(catalogue, id) for id in reversed(ids)]
    judged: list[Judged] = []
    for each in in_processes(_judge, asked, min(workers, len(asked))):
        judged.append(each)
        progress(f"up to {each.id}", len(judged), len(asked))
    return judged[::-1]


def _judge(named: Named) -> Judged:
    return judge(_theorems(named.catalogue)[named.id])


@cache
def _theorems(catalogue: Catalogue) -> Mapping[str, AnyTheorem]:
    return catalogue.theorems()
