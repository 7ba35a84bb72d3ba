"""That equation 3 needs finiteness, of the overlay and of subscriptions: two endless worlds in which it fails."""

from __future__ import annotations

import operator
from functools import cache

import z3

from routeproof.spec.theory.distance import measures_of
from routeproof.spec.theory.endless import Definitions, facts_of, fails, hub, line, state_of, yes
from routeproof.spec.theory.equation_3 import equation_3
from routeproof.spec.theory.needed import stated
from routeproof.spec.theory.quiet import Scene
from routeproof.spec.theory.readings import ADV, BROKER, PUB, SUB, Symbolic, Term
from routeproof.spec.theory.settling import FINITELY_MANY
from routeproof.spec.theory.theorem import Obligation
from routeproof.spec.theory.trees import FINITE


@cache  # the name of its sort can be declared once
def from_afar() -> list[Obligation]:
    """s is at 0 and a at 1; t, which nobody subscribed to, comes from afar, and is in every table up to a."""
    pair, (s, t) = z3.EnumSort("Pair", ["s", "t"])
    logic, tree, zero, one = Symbolic({BROKER: z3.IntSort(), SUB: pair}), line(), z3.IntVal(0), z3.IntVal(1)
    a, p = logic.constant("a", ADV), logic.constant("p", PUB)
    facts = facts_of(
        tree,
        home_of_sub=lambda s: zero,
        home_of_adv=lambda a: one,
        covers=operator.eq,
        matches=yes,
        adv_of=lambda p: a,
    )

    def came(x: Term, r: Term) -> Term:
        return z3.If(z3.And(r == s, x == 0), x, x - 1)

    state = state_of(
        advs=lambda x, a, f: f == tree.toward(x, one),
        advertised=yes,
        subscribed=lambda r: r == s,
        subs=lambda x, r, f: z3.And(x <= 1, z3.Or(r == t, x >= 0), f == came(x, r)),
        sent=lambda x, y, r: z3.And(y <= 1, x == y - 1, z3.Or(r == t, x >= 0)),
    )
    scene = Scene(logic, tree, facts, state, "none")
    x, y = z3.Var(0, z3.IntSort()), z3.Var(1, z3.IntSort())
    far = z3.If(x < 0, -x, z3.If(x > 1, x - 1, 0))
    broken = stated(equation_3, "Equation 3")(scene).at(zero, s, p)
    named = "without a finite overlay: t comes from afar, from nobody, and s is alone"
    return fails(named, scene, equation_3, FINITE, broken, _measured(scene, far, z3.If(x < y, y - x, x - y)))


@cache  # the name of its sort can be declared once
def none_is_sent() -> list[Obligation]:
    """s is at the hub; at 2 there are 1, 2, 3 and so on, each wider than the one before, of which none is sent."""
    sort, term, tree = hub()
    logic, source = Symbolic({BROKER: sort, SUB: z3.IntSort()}), term[3]
    a, p = logic.constant("a", ADV), logic.constant("p", PUB)
    facts = facts_of(
        tree,
        home_of_sub=lambda s: z3.If(s == 0, term[1], term[2]),
        home_of_adv=lambda a: source,
        covers=lambda t, s: t >= s,
        lower=lambda s, t: s < t,
        matches=yes,
        adv_of=lambda p: a,
    )

    def has(x: Term, s: Term, f: Term) -> z3.BoolRef:
        wider = z3.And(s > 0, x == term[2], f == term[2])
        return z3.Or(wider, z3.And(s == 0, x != term[2], f == term[1]))

    state = state_of(
        advs=lambda x, a, f: f == tree.toward(x, source),
        advertised=yes,
        subscribed=lambda s: s >= 0,
        subs=has,
        sent=lambda x, y, s: z3.And(s == 0, x == term[1], y == source),
    )
    scene = Scene(logic, tree, facts, state, "active")
    x, y = z3.Var(0, sort), z3.Var(1, sort)
    hops = z3.If(x == y, 0, z3.If(z3.Or(x == term[1], y == term[1]), 1, 2))
    broken = stated(equation_3, "Equation 3")(scene).at(term[1], z3.IntVal(0), p)
    named = "without finitely many subscriptions: each quenches the one before, and s is alone"
    return fails(named, scene, equation_3, FINITELY_MANY, broken, _measured(scene, z3.If(x == term[1], 1, 0), hops))


def _measured(scene: Scene, distance: z3.ExprRef, hops: z3.ExprRef) -> Definitions:
    """What the names of `measures_of` stand for."""
    measures = measures_of(scene)
    return [(measures.distance, distance), (measures.hops, hops)]
