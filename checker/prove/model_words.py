"""Z3's own counterexample in words: every relation that was asked of, over as few elements as will do.

For an obligation over sorts of any size that says nothing of its own to show, as a lemma or a promise of one broker.
What it shows is a world, or a broker, of which no more is so than what the obligation takes for granted: all that the
lemma names, and not all that is true of every state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import z3

from routeproof.checker.prove.spelled import LETTERS
from routeproof.spec.theory.invariants_steps import AFTER
from routeproof.spec.theory.readings import SORTS

MOST = 4
"""Elements of each sort, up to which a smallest counterexample is looked for."""

MANY = 12
"""Elements of a sort; of a world with more, which is shown where no small one was found, only those with a name."""

Elements = dict[str, list[tuple[str, z3.ExprRef]]]
"""By sort: its elements, with their names."""


def at_most(sorts: Sequence[z3.SortRef], size: int) -> list[z3.BoolRef]:
    """No sort has more elements than this."""
    bounds = []
    for sort in sorts:
        each = z3.Const(f"any {sort.name()}", sort)
        bounds.append(z3.ForAll([each], z3.Or([each == z3.Const(f"!{sort.name()} {k}", sort) for k in range(size)])))
    return bounds


def in_words(model: z3.ModelRef) -> dict[str, str]:
    """What there is, what it is called in the obligation, and every relation."""
    universes = {sort.name(): model.get_universe(sort) or [] for sort in model.sorts()}
    declared = sorted((each for each in model.decls() if "!" not in each.name()), key=lambda each: each.name())
    constants = [each for each in declared if each.arity() == 0]
    values = [model.eval(each(), model_completion=True) for each in constants]
    elements: Elements = {}
    more = []
    for sort in sorted(universes, key=(*SORTS, *universes).index):
        shown = universes[sort]
        if len(shown) > MANY:
            shown = [each for each in shown if any(each.eq(value) for value in values)]
            more.append(f"{len(universes[sort]) - len(shown)} more of {sort} of which nothing is shown")
        elements[sort] = _named(sort, shown)
    there = [*(name for each in elements.values() for name, _ in each), *more]
    rows = {"there are": ", ".join(there)} if there else {}
    rows["of"] = ", ".join(f"{each.name()} is {_value(model, elements, each())}" for each in constants) or "nothing"
    for each in declared:
        if each.arity() and all(each.domain(k).name() in elements for k in range(each.arity())):
            rows[_title(each.name())] = ", ".join(_rows(model, elements, each)) or "nothing"
    return rows


def _rows(model: z3.ModelRef, elements: Elements, relation: z3.FuncDeclRef) -> Iterator[str]:
    """The elements of which it holds; of a function, its values."""
    domains = [elements[relation.domain(k).name()] for k in range(relation.arity())]
    for row in product(*domains):
        said, value = " ".join(name for name, _ in row), relation(*(element for _, element in row))
        if relation.range().kind() != z3.Z3_BOOL_SORT:
            yield f"{said}: {_value(model, elements, value)}"
        elif z3.is_true(model.eval(value, model_completion=True)):
            yield said


def _value(model: z3.ModelRef, elements: Elements, term: z3.ExprRef) -> str:
    value = model.eval(term, model_completion=True)
    if (named := elements.get(value.sort().name())) is None:
        return str(value)
    return next((name for name, each in named if each.eq(value)), "one of the others")


def _named(sort: str, universe: Sequence[z3.ExprRef]) -> list[tuple[str, z3.ExprRef]]:
    return [(f"{LETTERS.get(sort, sort.lower())}{place}", each) for place, each in enumerate(universe, 1)]


def _title(relation: str) -> str:
    """That of the second moment is named after that of the first."""
    return f"{relation.removesuffix(AFTER)} then" if relation.endswith(AFTER) else relation
