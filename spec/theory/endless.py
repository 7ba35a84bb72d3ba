"""What endless worlds are made of: a line of brokers without end, and three brokers for subscriptions without end.

Brokers, or subscriptions, are the integers, and Z3 does the arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import attrs
import z3

from routeproof.model.overlay import Overlay
from routeproof.spec.theory.logic import Truth, formula, negation
from routeproof.spec.theory.proof import Build
from routeproof.spec.theory.quiet import Scene
from routeproof.spec.theory.readings import Term
from routeproof.spec.theory.signature import Facts, State
from routeproof.spec.theory.theorem import Obligation
from routeproof.spec.theory.trees import Tree, of_overlay

Definitions: TypeAlias = Sequence[tuple[z3.FuncDeclRef, z3.ExprRef]]
"""Functions, and what each is of its variables."""


def line() -> Tree:
    """Brokers are the integers."""

    def toward(x: Term, z: Term) -> Term:
        return z3.If(z > x, x + 1, z3.If(z < x, x - 1, x))

    def median(x: Term, y: Term, z: Term) -> Term:
        low, high = z3.If(x < y, x, y), z3.If(x < y, y, x)
        return z3.If(z < low, low, z3.If(z > high, high, z))

    return Tree(
        lambda x, y, z: z3.Or(z3.And(x <= y, y <= z), z3.And(z <= y, y <= x)),
        lambda x, y: z3.Or(x == y + 1, y == x + 1),
        toward,
        median,
    )


@cache  # the name of its sort can be declared once
def hub() -> tuple[z3.SortRef, dict[int, Term], Tree]:
    """Broker 1 between 2 and 3, as a sort of three."""
    overlay = Overlay.of([(1, 2), (1, 3)])
    sort, names = z3.EnumSort("Place", ["hub", "left", "right"])
    term = dict(zip(overlay.brokers, names, strict=True))
    real = of_overlay(overlay)

    def found(*given: Term) -> Term:
        """A value of the real tree, by cases."""
        function, *terms = given

        def value(chosen: tuple[int, ...]) -> Term:
            if len(chosen) == len(terms):
                answer = function(*chosen)
                return z3.BoolVal(answer) if isinstance(answer, bool) else term[answer]
            x = terms[len(chosen)]
            first, second, third = (value((*chosen, broker)) for broker in overlay.brokers)
            return z3.If(x == term[1], first, z3.If(x == term[2], second, third))

        return value(())

    return (
        sort,
        term,
        Tree(
            lambda x, y, z: found(real.between, x, y, z),
            lambda x, y: found(real.link, x, y),
            lambda x, z: found(real.toward, x, z),
            lambda x, y, z: found(real.median, x, y, z),
        ),
    )


def yes(*terms: Term) -> z3.BoolRef:
    return z3.BoolVal(True)


def no(*terms: Term) -> z3.BoolRef:
    return z3.BoolVal(False)


def facts_of(tree: Tree, **given: object) -> Facts:
    rest = {each.name: no for each in attrs.fields(Facts)}
    return Facts(**{**rest, "link": tree.link, "overlaps": yes, **given})  # type: ignore[arg-type]  # by name


def state_of(**given: object) -> State:
    return State(**{**{each.name: no for each in attrs.fields(State)}, **given})  # type: ignore[arg-type]  # by name


def defined(said: z3.BoolRef, functions: Definitions) -> z3.BoolRef:
    """With what it is for each function that is nothing but a name."""
    return z3.substitute_funs(said, *functions) if functions else said


def fails(
    name: str, scene: Scene, build: Build, hypothesis: str, broken: Truth, functions: Definitions = ()
) -> list[Obligation]:
    """Of this scene all hypotheses are true but this one, each clause an obligation, and the property is false."""
    proof = build(scene)
    others = set(proof.hypotheses()) - {hypothesis}
    met = [clause for clause in proof.taken if proof.rests_on(clause) <= others]
    said = [(f"met: {clause.name}", formula(clause.at(*proof.terms(clause)))) for clause in met]
    said.append(("it fails", formula(negation(broken))))
    guards = {"the hypotheses are there": z3.BoolVal(len(others) > 4)}
    return [Obligation(f"{name} / {which}", defined(goal, functions), guards=guards) for which, goal in said]
