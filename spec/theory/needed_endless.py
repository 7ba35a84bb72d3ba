"""That finiteness is needed: endless worlds in which all other hypotheses are met, and a property fails.

Brokers, or subscriptions, are the integers, and Z3 does the arithmetic. No run leads there, since every world is
finite; but it is what the proofs take for granted beyond the first order.
"""

from __future__ import annotations

import operator
from functools import cache

import z3
from attrs import evolve

from routeproof.spec.theory.endless import facts_of, fails, hub, line, state_of, yes
from routeproof.spec.theory.grafting import property_2
from routeproof.spec.theory.needed import stated
from routeproof.spec.theory.proof import Build
from routeproof.spec.theory.quiet import Scene
from routeproof.spec.theory.readings import ADV, BROKER, PUB, SUB, Symbolic, Term
from routeproof.spec.theory.settling import FINITELY_MANY
from routeproof.spec.theory.similarity import property_3_in_tables
from routeproof.spec.theory.theorem import Obligation
from routeproof.spec.theory.trees import FINITE, Tree


def endless_line(policy: str, build: Build, name: str, prefix: str = "") -> list[Obligation]:
    """Nobody subscribes, and s comes from afar to the one advertisement, at 0."""
    logic = Symbolic({BROKER: z3.IntSort()})
    tree = line()
    facts = facts_of(tree, home_of_sub=lambda s: z3.IntVal(0), home_of_adv=lambda a: z3.IntVal(0), covers=operator.eq)
    state = state_of(
        advs=lambda x, a, f: f == tree.toward(x, z3.IntVal(0)),
        advertised=yes,
        subs=lambda x, s, f: z3.And(x <= 0, f == x - 1),
        sent=lambda x, y, s: z3.And(y <= 0, x == y - 1),
    )
    scene = Scene(logic, tree, facts, state, policy)
    s = logic.constant("s", SUB)
    broken = stated(build, name)(scene).at(z3.IntVal(0), s, z3.IntVal(-1))
    named = f"{prefix}without a finite overlay: s comes from afar, from nobody"
    return fails(named, scene, build, FINITE, broken)


@cache  # the names of its sorts can be declared once
def endless_on_the_way() -> list[Obligation]:
    """Two endless lines, one behind the other: from home t goes on for ever, and does not come to the second, of a."""
    places = z3.Datatype("Milestone")
    places.declare("at", ("beyond", z3.BoolSort()), ("mile", z3.IntSort()))
    sort = places.create()
    sub_sort, (one, _) = z3.EnumSort("Subscription", ["s", "t"])
    logic = Symbolic({BROKER: sort, SUB: sub_sort})
    home, source = sort.at(False, 0), sort.at(True, 0)

    def less(x: Term, y: Term) -> z3.BoolRef:
        nearer = z3.And(sort.beyond(x) == sort.beyond(y), sort.mile(x) < sort.mile(y))
        return z3.Or(z3.And(z3.Not(sort.beyond(x)), sort.beyond(y)), nearer)

    def moved(x: Term, miles: int) -> Term:
        return sort.at(sort.beyond(x), sort.mile(x) + miles)

    def toward(x: Term, z: Term) -> Term:
        return z3.If(less(x, z), moved(x, 1), z3.If(less(z, x), moved(x, -1), x))

    def median(x: Term, y: Term, z: Term) -> Term:
        low, high = z3.If(less(x, y), x, y), z3.If(less(x, y), y, x)
        return z3.If(less(z, low), low, z3.If(less(high, z), high, z))

    def between(x: Term, y: Term, z: Term) -> z3.BoolRef:
        onward, back = z3.Or(less(y, x), less(z, y)), z3.Or(less(y, z), less(x, y))
        return z3.Or(z3.Not(onward), z3.Not(back))

    def has(x: Term) -> z3.BoolRef:
        return z3.And(z3.Not(sort.beyond(x)), sort.mile(x) >= 0)

    tree = Tree(between, lambda x, y: z3.Or(y == moved(x, 1), y == moved(x, -1)), toward, median)
    facts = facts_of(tree, home_of_sub=lambda s: home, home_of_adv=lambda a: source, covers=operator.eq, matches=yes)
    a = logic.constant("a", ADV)
    state = state_of(
        advs=lambda x, a, f: f == toward(x, source),
        advertised=yes,
        subscribed=yes,
        subs=lambda x, s, f: z3.And(has(x), f == z3.If(x == home, x, moved(x, -1))),
        sent=lambda x, y, s: z3.And(has(x), y == moved(x, 1)),
    )
    scene = Scene(logic, tree, evolve(facts, adv_of=lambda p: a), state, "none")
    p = logic.constant("p", PUB)
    broken = stated(property_3_in_tables, "Property 3 in tables")(scene).at(home, source, one, p)
    named = "in tables, without a finite overlay: t goes on for ever, and never comes to a"
    return fails(named, scene, property_3_in_tables, FINITE, broken)


@cache  # the names of its sorts can be declared once
def ever_wider() -> list[Obligation]:
    """At the broker of a there are subscriptions 1, 2, 3 and so on, each wider than the one before, so none is sent."""
    sort, term, tree = hub()
    adv_sort, (left, _) = z3.EnumSort("Advertisement", ["a", "b"])
    logic = Symbolic({BROKER: sort, SUB: z3.IntSort(), ADV: adv_sort})

    def source(a: Term) -> Term:
        return z3.If(a == left, term[2], term[3])

    facts = facts_of(
        tree,
        home_of_sub=lambda s: z3.If(s == 0, term[1], term[2]),
        home_of_adv=source,
        covers=lambda t, s: t >= s,
        lower=lambda s, t: s < t,
    )
    state = state_of(
        advs=lambda x, a, f: f == tree.toward(x, source(a)),
        advertised=yes,
        subscribed=lambda s: s >= 0,
        subs=lambda x, s, f: z3.Or(z3.And(s == 0, f == term[1]), z3.And(s > 0, x == term[2], f == term[2])),
        sent=lambda x, y, s: z3.And(s == 0, x == term[1], y != term[1]),
    )
    scene = Scene(logic, tree, facts, state, "active")
    zero, first = z3.IntVal(0), z3.IntVal(1)
    broken = stated(property_2, "Property 2, a path")(scene).at(term[1], term[2], term[3], zero, first)
    return fails(
        "a path, without finitely many subscriptions: each quenches the one before",
        scene,
        property_2,
        FINITELY_MANY,
        broken,
    )
