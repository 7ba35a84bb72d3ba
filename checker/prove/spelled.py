"""The reading of a relation over finitely many elements that are not known otherwise: quantifiers spelled out for Z3.

Over so many brokers, subscriptions and messages every question has an answer: what cannot be proved for all sizes is
looked for here, in small worlds. `Symbolic` leaves quantifiers to Z3, which may give up; here there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product

import z3

from routeproof.spec.theory.logic import Truth, all_of, any_of
from routeproof.spec.theory.readings import Sort, Symbolic, Term

LETTERS = {"Broker": "b", "Sub": "s", "Adv": "a", "Pub": "p", "Item": "m"}


class Spelled(Symbolic):
    """Any world with exactly so many elements of each sort."""

    def __init__(self, sizes: Mapping[Sort, int]) -> None:
        made = {sort: enumeration(sort, size) for sort, size in sizes.items()}
        super().__init__({sort: made_sort for sort, (made_sort, _) in made.items()})
        self.elements: dict[Sort, tuple[Term, ...]] = {sort: each for sort, (_, each) in made.items()}

    def every(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return all_of(*(body(*row) for row in product(*(self.elements[sort] for sort in sorts))))

    def some(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return any_of(*(body(*row) for row in product(*(self.elements[sort] for sort in sorts))))

    def equal(self, one: Term, other: Term) -> Truth:
        """Two elements are equal only where they are the same one; of other terms Z3 decides."""
        if one is other or one.eq(other):
            return True
        known = self._known(one) and self._known(other)
        return False if known else one == other

    def _known(self, term: Term) -> bool:
        return any(term.eq(each) for listed in self.elements.values() for each in listed)


@cache
def enumeration(sort: Sort, size: int) -> tuple[z3.SortRef, tuple[Term, ...]]:
    """A sort of so many elements. Z3 lets a name be taken once, so it is made once."""
    letter = LETTERS.get(sort, sort.lower())
    made, elements = z3.EnumSort(f"{sort}{size}", [f"{letter}{place}of{size}" for place in range(1, size + 1)])
    return made, tuple(elements)
