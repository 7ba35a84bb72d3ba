"""The reading of a relation over finitely many elements that are not known otherwise: nothing but truth values is left.

Over so many brokers, subscriptions and messages every question has an answer: what cannot be proved for all sizes is
looked for here, in small worlds. `Symbolic` leaves quantifiers to Z3, which may give up; here they are spelled out, a
relation is a truth value for each row, and an element that is not known is a truth value for each that it may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product

import z3
from attrs import frozen

from routeproof.spec.theory.logic.formulas import Truth, all_of, any_of
from routeproof.spec.theory.logic.readings import Function, Relation, Sort, Symbolic, Term

LETTERS = {"Broker": "b", "Sub": "s", "Adv": "a", "Pub": "p", "Item": "m"}


@frozen(eq=False)
class Element:
    """One of the elements of a sort: the place'th, from 1 on."""

    sort: Sort
    place: int

    def __str__(self) -> str:
        return f"{LETTERS.get(self.sort, self.sort.lower())}{self.place}"


@frozen(eq=False)
class Picked:
    """An element that is not known: for each that it may be, whether it is."""

    each: Mapping[Element, Truth]


@frozen(eq=False)
class Open:
    """A relation that is not known: for each row, whether it is in it."""

    called: str
    rows: Mapping[tuple[Element, ...], z3.BoolRef]

    def name(self) -> str:
        """Name of the relation, as one of Z3 has it."""
        return self.called

    def __call__(self, *terms: Term) -> Truth:
        known = self.rows.get(terms)
        return known if known is not None else any_of(*(all_of(*where, self.rows[row]) for row, where in _rows(terms)))


class Spelled(Symbolic):
    """Any world with exactly so many elements of each sort."""

    def __init__(self, sizes: Mapping[Sort, int]) -> None:
        super().__init__()
        self.elements: dict[Sort, tuple[Element, ...]] = {
            sort: tuple(Element(sort, place) for place in range(1, size + 1)) for sort, size in sizes.items()
        }
        self.atoms: dict[str, list[z3.BoolRef]] = {}
        """By relation, function or constant: the truth values that it is."""
        self.picks: list[z3.BoolRef] = []
        """Constraints: an unknown element is exactly one of the known ones."""
        self.constants: dict[str, Term] = {}
        self.relations: dict[str, Open] = {}

    # -- what there is -------------------------------------------------------------------------------------------------

    def each(self, sorts: Sequence[Sort]) -> Iterator[tuple[Element, ...]]:
        return product(*(self.elements[sort] for sort in sorts))

    def every(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return all_of(*(body(*row) for row in self.each(sorts)))

    def some(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return any_of(*(body(*row) for row in self.each(sorts)))

    def equal(self, one: Term, other: Term) -> Truth:
        if isinstance(one, Element) and isinstance(other, Element):
            return one is other
        may = possible(other)
        return any_of(*(all_of(truth, may[each]) for each, truth in possible(one).items() if each in may))

    # -- formulas about it -----------------------------------------------------------------------------------------

    def constant(self, name: str, sort: Sort) -> Term:
        """Returns the constant of this name, which is always the same one."""
        if name not in self.constants:
            self.constants[name] = self._pick(name, (), sort)
        return self.constants[name]

    def relation(self, name: str, sorts: Sequence[Sort]) -> Relation:
        """Returns the relation of this name, which is always the same one."""
        if name not in self.relations:
            self.relations[name] = Open(name, {row: self._atom(name, row) for row in self.each(sorts)})
        return self.relations[name]

    def function(self, name: str, sorts: Sequence[Sort], result: Sort) -> Function:
        values = {row: self._pick(name, row, result) for row in self.each(sorts)}
        return self.known_function(lambda *row: values[row])

    def known(self, holds: Callable[..., bool]) -> Relation:
        """A relation that is not open."""
        return lambda *terms: any_of(*(all_of(*where) for row, where in _rows(terms) if holds(*row)))

    def known_function(self, values: Callable[..., Term]) -> Function:
        """Returns a function whose values for known elements are given."""

        def value(*terms: Term) -> Term:
            rows = list(_rows(terms))
            if len(rows) == 1:
                ((row, _),) = rows
                return values(*row)
            may: dict[Element, list[Truth]] = {}
            for row, where in rows:
                for each, truth in possible(values(*row)).items():
                    may.setdefault(each, []).append(all_of(*where, truth))
            return Picked({each: any_of(*truths) for each, truths in may.items()})

        return value

    def _atom(self, name: str, row: Sequence[Element]) -> z3.BoolRef:
        atom = z3.Bool(f"{name}({', '.join(map(str, row))})")
        self.atoms.setdefault(name, []).append(atom)
        return atom

    def _pick(self, name: str, row: Sequence[Element], sort: Sort) -> Term:
        if len(self.elements[sort]) == 1:
            return self.elements[sort][0]
        may = {each: self._atom(name, (*row, each)) for each in self.elements[sort]}
        self.picks.append(z3.Or(*may.values()))
        self.picks += [z3.Not(z3.And(one, other)) for one, other in combinations(may.values(), 2)]
        return Picked(may)


def possible(term: Term) -> Mapping[Element, Truth]:
    """Elements that a term may be, each with the condition under which it is."""
    return term.each if isinstance(term, Picked) else {term: True}


def _rows(terms: Sequence[Term]) -> Iterator[tuple[tuple[Element, ...], list[Truth]]]:
    """The rows that these terms may be, and where they are."""
    for choice in product(*(possible(term).items() for term in terms)):
        yield tuple(each for each, _ in choice), [truth for _, truth in choice]
