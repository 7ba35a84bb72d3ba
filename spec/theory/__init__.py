"""The theory in Z3: the sentences of `spec/filters.md` and `spec/routing.md` as formulas, and their proofs.

Nothing here knows how the model decides: no set of values, no normal form. Imports go downward only, in this order:

- formulas with their two readings, here, and `proof`: what a theorem and its proof are;
- `filters`: predicates on attributes, when one covers or overlaps another, and that this is exact;
- `relation`: a broker's step and the whole world as a relation, over trees;
- `propagation`: where subscriptions are once nothing moves (Properties 1 and 2);
- `invariants`: what holds always, by induction over steps, and what follows in quiet states.

`checker/prove/theorems.py` lists all theorems. A protocol on top of the routing core has its theory in its own package,
`spec/NAME/theory/`, which imports these.

A formula is one text, read by Z3 and as plain truth over finite sets. Each connective folds what is known already. A
condition over symbolic constants is therefore a formula to prove, and the very same code over concrete constants is
True or False. A relation is Python that is written through a `Logic`. `Symbolic` reads it over sorts of any size:
quantifiers stay, and a relation is a symbol. `Grounded` reads it over listed elements: quantifiers are expanded, and a
relation is a set of tuples, or partly unknown: then what is left open is a formula over its atoms. Over sets alone
every answer is True or False and Z3 is never asked.

Finiteness, which first-order logic cannot express, is a schema (`topmost`): used of one property and one order at a
time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias, TypeVar

import attrs
import z3
from attrs import field, frozen

Truth: TypeAlias = bool | z3.BoolRef
Amount: TypeAlias = int | Fraction | z3.ArithRef


def all_of(*parts: Truth) -> Truth:
    open_ = [part for part in parts if not isinstance(part, bool)]
    if any(part is False for part in parts):
        return False
    return z3.And(*open_) if len(open_) > 1 else open_[0] if open_ else True


def any_of(*parts: Truth) -> Truth:
    open_ = [part for part in parts if not isinstance(part, bool)]
    if any(part is True for part in parts):
        return True
    return z3.Or(*open_) if len(open_) > 1 else open_[0] if open_ else False


def negation(part: Truth) -> Truth:
    return not part if isinstance(part, bool) else z3.Not(part)


def implication(condition: Truth, then: Truth) -> Truth:
    return any_of(negation(condition), then)


def same(one: Truth, other: Truth) -> Truth:
    """Both or neither."""
    if isinstance(one, bool):
        return other if one else negation(other)
    return (one if other else negation(one)) if isinstance(other, bool) else one == other


def always(*terms: Any) -> bool:
    """The relation that holds of everything."""
    return True


def never(*terms: Any) -> bool:
    """The relation that holds of nothing."""
    return False


def whole(number: Amount) -> Truth:
    return z3.IsInt(number) if isinstance(number, z3.ArithRef) else Fraction(number).denominator == 1


def formula(part: Truth) -> z3.BoolRef:
    return z3.BoolVal(part) if isinstance(part, bool) else part


# -- readings ----------------------------------------------------------------------------------------------------------


Sort: TypeAlias = str
BROKER: Sort = "Broker"
SUB: Sort = "Sub"
ADV: Sort = "Adv"
PUB: Sort = "Pub"
ITEM: Sort = "Item"
"""A place in a queue: one message on its way."""
SORTS = (BROKER, SUB, ADV, PUB, ITEM)

Term: TypeAlias = Any
"""An element: a term of Z3, or a hashable value."""

Broker: TypeAlias = Term
Sub: TypeAlias = Term
Adv: TypeAlias = Term
Pub: TypeAlias = Term
Item: TypeAlias = Term
"""An element of the sort of this name: a sentence is about the sorts of its parameters (`invariants.book`)."""

Relation: TypeAlias = Callable[..., Truth]
Function: TypeAlias = Callable[..., Term]

Part: TypeAlias = Truth | Callable[[], Truth]
"""An operand of a connective. A costly one is a function: it is called only where the answer depends on it."""


class Logic(ABC):
    """Vocabulary of a text. The connectives are the same in both readings; the elements and their equality are not."""

    @abstractmethod
    def every(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        """It holds of all elements of these sorts."""

    @abstractmethod
    def some(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        """It holds of some elements of these sorts."""

    @abstractmethod
    def equal(self, one: Term, other: Term) -> Truth:
        """True if they are one element."""

    def all_of(self, *parts: Part) -> Truth:
        return all_of(*_until(False, parts))

    def any_of(self, *parts: Part) -> Truth:
        return any_of(*_until(True, parts))

    def no(self, part: Truth) -> Truth:
        return negation(part)

    def implies(self, condition: Truth, then: Part) -> Truth:
        return self.any_of(negation(condition), then)

    def iff(self, one: Truth, other: Truth) -> Truth:
        return same(one, other)

    def cases(self, condition: Truth, then: Part, otherwise: Part) -> Truth:
        """The one where the condition holds, and the other where it does not."""
        if isinstance(condition, bool):
            return _said(then if condition else otherwise)
        return self.all_of(self.implies(condition, then), self.any_of(condition, otherwise))

    def apart(self, one: Term, other: Term) -> Truth:
        return self.no(self.equal(one, other))


def _until(end: bool, parts: Sequence[Part]) -> Iterator[Truth]:
    """Each part's answer, up to the first that decides the whole."""
    for part in parts:
        answer = _said(part)
        yield answer
        if answer is end:
            return


def _said(part: Part) -> Truth:
    return part() if callable(part) else part


class Symbolic(Logic):
    """Z3's reading. Sorts are uninterpreted, unless others are given under their names."""

    def __init__(self, sorts: Mapping[Sort, z3.SortRef] | None = None) -> None:
        self._sorts = dict(sorts or {})
        self._bound = 0

    def sort(self, name: Sort) -> z3.SortRef:
        if name not in self._sorts:
            self._sorts[name] = z3.DeclareSort(name)
        return self._sorts[name]

    def constant(self, name: str, sort: Sort) -> Term:
        return z3.Const(name, self.sort(sort))

    def any_of_each(self, sorts: Sequence[Sort], prefix: str = "") -> list[Term]:
        """Any elements of these sorts, each with a name of its own."""
        return [self.constant(f"{prefix}{sort.lower()}{place}", sort) for place, sort in enumerate(sorts, 1)]

    def relation(self, name: str, sorts: Sequence[Sort]) -> Relation:
        return z3.Function(name, *map(self.sort, sorts), z3.BoolSort())  # type: ignore[no-any-return]  # untyped

    def function(self, name: str, sorts: Sequence[Sort], result: Sort) -> Function:
        return z3.Function(name, *map(self.sort, sorts), self.sort(result))  # type: ignore[no-any-return]  # untyped

    def every(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return self._quantified(z3.ForAll, sorts, body)

    def some(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return self._quantified(z3.Exists, sorts, body)

    def equal(self, one: Term, other: Term) -> Truth:
        return True if one is other else one == other

    def _quantified(
        self, quantifier: Callable[..., z3.BoolRef], sorts: Sequence[Sort], body: Callable[..., Truth]
    ) -> Truth:
        """Names rise as the text goes on, so that none is taken twice and every run writes the same formula."""
        bound = []
        for sort in sorts:
            self._bound += 1
            bound.append(self.constant(f"{sort.lower()}.{self._bound}", sort))
        said = body(*bound)
        return said if isinstance(said, bool) or not bound else quantifier(bound, said)


class Grounded(Logic):
    """The reading over listed elements."""

    def __init__(self, elements: Mapping[Sort, Collection[Term]]) -> None:
        self.elements = {sort: tuple(elements.get(sort, ())) for sort in {*SORTS, *elements}}

    def each(self, sorts: Sequence[Sort]) -> Iterator[tuple[Term, ...]]:
        return product(*(self.elements[sort] for sort in sorts))

    def every(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return all_of(*_until(False, [_bind(body, terms) for terms in self.each(sorts)]))

    def some(self, sorts: Sequence[Sort], body: Callable[..., Truth]) -> Truth:
        return any_of(*_until(True, [_bind(body, terms) for terms in self.each(sorts)]))

    def equal(self, one: Term, other: Term) -> Truth:
        return bool(one == other)


def _bind(body: Callable[..., Truth], terms: Sequence[Term]) -> Callable[[], Truth]:
    return lambda: body(*terms)


@frozen
class Clause:
    """One sentence of a relation: `body` holds of all elements of `sorts`. `rules` are those of the prose it states."""

    name: str
    sorts: tuple[Sort, ...]
    body: Callable[..., Truth]
    rules: tuple[str, ...] = ()
    source: str = ""
    """Where it comes from when a proof is given it: a hypothesis, or a theorem that proves it (`proof.Premise`)."""

    def closed(self, logic: Logic) -> Truth:
        return logic.every(self.sorts, self.body)

    def at(self, *terms: Term) -> Truth:
        """The sentence for these terms: for proofs that name what a quantifier is about."""
        return self.body(*terms)


# -- signatures: records of relations ----------------------------------------------------------------------------------

R = TypeVar("R", bound=attrs.AttrsInstance)


def over(*sorts: Sort, result: Sort | None = None) -> Any:
    """A field of a signature: a relation over these sorts, or a function from them."""
    return field(metadata={"sorts": sorts, "result": result})


def declare(signature: type[R], logic: Symbolic, suffix: str = "", **given: Any) -> R:
    """A signature of symbols, named as its fields are; those that are given stand for themselves."""
    made = dict(given)
    for each in attrs.fields(signature):
        sorts, result, name = each.metadata["sorts"], each.metadata["result"], each.name + suffix
        if each.name not in given:
            made[each.name] = logic.relation(name, sorts) if result is None else logic.function(name, sorts, result)
    return signature(**made)


def empty(
    logic: Logic, record: attrs.AttrsInstance, *names: str, says: str = "{} is empty", source: str = ""
) -> list[Clause]:
    """Clauses that these relations of a record hold of nothing; all of them where none is named."""
    fields = attrs.fields_dict(type(record))
    return [
        Clause(
            says.format(name),
            fields[name].metadata["sorts"],
            lambda *terms, name=name: logic.no(getattr(record, name)(*terms)),
            source=source,
        )
        for name in names or fields
    ]


def holding(tuples: Collection[tuple[Term, ...]]) -> Relation:
    """The relation that holds of these tuples and no others."""
    known = frozenset(tuples)
    return lambda *terms: terms in known


def mapping(values: Mapping[Term, Term]) -> Function:
    """The function with these values."""
    return lambda term: values[term]


Property: TypeAlias = Callable[[Term], Truth]
Order: TypeAlias = Callable[[Term, Term], Truth]


def topmost(logic: Logic, sort: Sort, holds: Property, above: Order) -> Truth:
    """If it holds of some element, it holds of one of which it holds of none above.

    True of finitely many elements where `above` is a strict order, which is for its users to say.
    """

    def is_topmost(x: Term) -> Truth:
        return logic.every((sort,), lambda y: logic.implies(above(y, x), lambda: logic.no(holds(y))))

    found = logic.some((sort,), lambda x: logic.all_of(holds(x), lambda: is_topmost(x)))
    return logic.implies(logic.some((sort,), holds), lambda: found)


def topmost_from(logic: Logic, sort: Sort, x: Term, among: Property, above: Order) -> Truth:
    """Among x and what is above it, if any has this property, one that has it has no other such above it."""

    def in_question(y: Term) -> Truth:
        return logic.all_of(among(y), lambda: logic.any_of(logic.equal(y, x), lambda: above(y, x)))

    return topmost(logic, sort, in_question, above)


def is_strict_order(logic: Logic, sort: Sort, above: Order) -> Truth:
    return logic.every(
        (sort, sort, sort),
        lambda x, y, z: logic.all_of(
            logic.no(above(x, x)), lambda: logic.implies(logic.all_of(above(x, y), above(y, z)), lambda: above(x, z))
        ),
    )
