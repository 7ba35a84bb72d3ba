"""Which theorems a theorem about invariants rests on: those that prove what its own proof is given.

It follows from what the book says that each sentence needs. Invariants that need each other are one proof by induction
over the steps: of each is given what the others say of the moment before. So their theorems rest on each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from routeproof.spec.theory.invariants import Book, Conjunct
from routeproof.spec.theory.invariants_facts import FACTS


@frozen
class Basis:
    book: Book
    proves: Mapping[str, Iterable[str]]
    """By theorem, the sentences of the book that it proves."""
    facts: str
    """The theorem of the facts about steps, which are given to every conjunct."""
    world: str
    """The theorem of what is given of every world."""

    def of(self, id: str, *beside: str) -> tuple[str, ...]:
        """`beside` are those that no name in the book shows."""
        return self._of(id, self.proves[id], beside)

    def of_all_conjuncts(self, id: str, *beside: str) -> tuple[str, ...]:
        """Where they are proved once more, after other steps."""
        return self._of(id, self.book.conjuncts, beside)

    def of_facts(self) -> tuple[str, ...]:
        return self._proving(self.facts, (need for each in FACTS.values() for need in each.needs))

    def _of(self, id: str, names: Iterable[str], beside: Iterable[str]) -> tuple[str, ...]:
        said = [self.book[name] for name in names]
        steps = [each for each in said if isinstance(each, Conjunct)]
        needs = (need for each in said for need in (*each.needs, *(each.then if isinstance(each, Conjunct) else ())))
        return self._proving(id, needs, *([self.facts] if steps else []), *beside)

    def _proving(self, id: str, needs: Iterable[str], *more: str) -> tuple[str, ...]:
        proved = {name: theorem for theorem, names in self.proves.items() for name in names}
        found = dict.fromkeys([self.world, *more, *(proved[need] for need in needs)])
        return tuple(each for each in found if each != id)
