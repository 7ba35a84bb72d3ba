"""Relations and formulas over finitely many elements: nothing but truth values is left.

Over a fixed number of brokers, subscriptions and messages every question has an answer, so a sentence that cannot be
proved for all sizes is tried here, in small worlds. `Symbolic` leaves quantifiers to Z3, which may give up; `Spelled`
expands them, a relation is a truth value for each row, and an unknown element is a truth value for each known one.

`read` evaluates a formula about all sizes in a small world, word for word. If everything in the world is known, the
answer is True or False; otherwise it is a formula over the world's truth values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, Protocol, TypeAlias

import z3
from attrs import frozen

from routeproof.spec.theory import Function, Logic, Relation, Sort, Symbolic, Term, Truth, all_of, any_of

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


# -- evaluation of formulas --------------------------------------------------------------------------------------------

Bound: TypeAlias = tuple[Term, ...]
Said: TypeAlias = Callable[["Interpretation", Bound], Any]
"""A truth or a term, in a world, of the elements that the quantifiers around it are about."""


class Interpretation(Protocol):
    """Interpretation of the symbols of a formula."""

    @property
    def logic(self) -> Logic: ...

    def meaning(self, symbol: str) -> Callable[..., Any]:
        """Meaning of a relation or a function; a constant is a function without arguments."""


_READ: dict[tuple[int, int], tuple[z3.ExprRef, Said]] = {}
"""By context and number of a formula, which is kept as well: as long as it is there, no other has that number."""


def read(formula: z3.BoolRef, world: Interpretation) -> Truth:
    key = formula.ctx.ref().value, formula.get_id()
    if key not in _READ:
        _READ[key] = (formula, _said(formula))
    truth: Truth = _READ[key][1](world, ())
    return truth


def _said(e: z3.ExprRef) -> Said:
    if z3.is_var(e):
        back = -1 - z3.get_var_index(e)  # the innermost is 0
        return lambda world, bound: bound[back]
    if z3.is_quantifier(e):
        return _quantified(e)
    kind, parts = e.decl().kind(), [_said(part) for part in e.children()]
    match kind:
        case z3.Z3_OP_TRUE | z3.Z3_OP_FALSE:
            answer = kind == z3.Z3_OP_TRUE
            return lambda world, bound: answer
        case z3.Z3_OP_AND:
            return lambda world, bound: world.logic.all_of(*(partial(part, world, bound) for part in parts))
        case z3.Z3_OP_OR:
            return lambda world, bound: world.logic.any_of(*(partial(part, world, bound) for part in parts))
        case z3.Z3_OP_NOT:
            return lambda world, bound: world.logic.no(parts[0](world, bound))
        case z3.Z3_OP_EQ:
            one, other = parts
            if z3.is_bool(e.arg(0)):
                return lambda world, bound: world.logic.iff(one(world, bound), other(world, bound))
            return lambda world, bound: world.logic.equal(one(world, bound), other(world, bound))
        case z3.Z3_OP_UNINTERPRETED:
            name = e.decl().name()
            return lambda world, bound: world.meaning(name)(*(part(world, bound) for part in parts))
    raise ValueError(f"this is not to be read in a small world: {e.decl().name()}")


def _quantified(e: z3.QuantifierRef) -> Said:
    sorts, body, every = [e.var_sort(place).name() for place in range(e.num_vars())], _said(e.body()), e.is_forall()

    def said(world: Interpretation, bound: Bound) -> Truth:
        of = world.logic.every if every else world.logic.some
        return of(sorts, lambda *terms: body(world, (*bound, *terms)))

    return said
