"""Necessity of the hypotheses of Property 3, by counterexample: shares at two brokers, on other paths and in tables."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, partial

import z3
from attrs import evolve

from routeproof.model.overlay import Overlay
from routeproof.spec.pruning.theory.distance import NESTED, PLACES, on_the_way, passes, property_3, property_3_in_tables
from routeproof.spec.theory import ADV, BROKER, PUB, SUB, Clause, Symbolic, Term, Truth
from routeproof.spec.theory.proof import Obligation
from routeproof.spec.theory.propagation import facts_of, fails, state_of, yes
from routeproof.spec.theory.propagation.necessity import EVENT, PAIR, WIDER, Needed, ring, stated
from routeproof.spec.theory.relation import FINITE, Tree, of_overlay
from routeproof.spec.theory.relation.quiet_states import Example, Scene, example

publishing = partial(example, publications={"p": ("a", EVENT)})
"""An example in which p is published under a."""

TWO = {"s": (1, EVENT), "t": (1, EVENT)}
PASSED, AT_4 = {"s": (2, EVENT), "t": (1, EVENT)}, {"a": (4, EVENT)}

ONE_SAMPLE = "one sample"
"""Hypothesis of `shares.SAMPLE` in addition to its finiteness; it does not restrict a state."""

Counted = Callable[[Scene, Term, Term, Term], Truth]


def keeps(q: Scene, counted: Counted, later: Counted) -> Clause:
    """Every publication that is counted at a broker is counted at every later one."""
    return Clause(
        "keeps",
        PLACES,
        lambda x, y, s, p: q.logic.implies(
            q.logic.all_of(on_the_way(q, x, y, s, p), lambda: counted(q, x, s, p)), lambda: later(q, y, s, p)
        ),
    )


def changed_to(after: Example, counted: Counted) -> Counted:
    """Returns the same relation, evaluated in another state."""
    scene = after.scene()
    return lambda q, x, s, p: counted(scene, x, s, p)


def in_sample(q: Scene, x: Term, s: Term, p: Term) -> Truth:
    return q.logic.all_of(q.state.published(p), lambda: passes(q, x, s, p))


def on_the_way_to_another(q: Scene) -> Clause:
    """All publications, of any publisher, on the way to any advertisement."""
    logic = q.logic

    def says(x: Term, y: Term, s: Term, p: Term) -> Truth:
        return logic.every(
            ("Adv",),
            lambda a: logic.implies(
                logic.all_of(
                    q.facts.matches(p, s),
                    q.tree.between(q.home(s), x, q.source(a)),
                    q.tree.between(x, y, q.source(a)),
                    lambda: passes(q, x, s, p),
                ),
                lambda: passes(q, y, s, p),
            ),
        )

    return Clause("of several publishers", PLACES, says)


def detour() -> Tree:
    """No tree: brokers 1 to 4, of which the way from 1 to 4 leaves out what the one from 2 passes."""

    def between(x: int, y: int, z: int) -> bool:
        return min(x, z) <= y <= max(x, z) and (y != 3 or {x, z} != {1, 4})

    line = of_overlay(Overlay.line(4))
    return evolve(line, between=between)


shared = publishing("s and t at 1, under none", PAIR, TWO, {"a": (2, EVENT)}, "1s 1t 2s1 2t1")
gone = publishing("the same without t", PAIR, TWO, {"a": (2, EVENT)}, "1s 2s1", inactive="t")

PROPERTY_3 = (
    Needed(
        "paths that lead where they led",
        evolve(
            publishing("from 1 the way to a is 1, 2, 4, and from 2 it is 2, 3, 4", Overlay.line(4), PASSED, AT_4, ""),
            tree=detour(),
        ),
        stated(property_3, "Property 3"),
        property_3,
        NESTED,
    ),
    Needed(
        "one publisher",
        publishing(
            "on the way to a, what b publishes at 1 is shared at 1 only",
            PAIR,
            TWO,
            {"a": (2, EVENT), "b": (1, EVENT)},
            "1s 1t 2s1 2t1",
            publications={"p": ("b", EVENT)},
        ),
        on_the_way_to_another,
        property_3,
    ),
    Needed(
        "one population",
        evolve(shared, name="t goes between the counting at 1 and that at 2"),
        lambda q: keeps(q, passes, changed_to(gone, passes)),
        property_3,
    ),
    Needed(
        ONE_SAMPLE,
        evolve(shared, name="p is in the sample of 1 and not in that of 2"),
        lambda q: keeps(q, in_sample, changed_to(evolve(shared, unpublished=frozenset("p")), in_sample)),
        property_3,
    ),
)

# -- in tables ---------------------------------------------------------------------------------------------------------

tables = partial(Needed, says=stated(property_3_in_tables, "Property 3 in tables"), build=property_3_in_tables)
AT_2 = {"a": (2, EVENT)}

IN_TABLES = (
    Needed(
        "counting all whose path it is: in tables, under covering",
        publishing(
            "S covers t, so 1 has both and 2 has S only",
            PAIR,
            {"s": (1, WIDER), "t": (1, EVENT)},
            {"a": (2, WIDER)},
            "1s 1t 2s1",
            "active",
        ),
        stated(property_3_in_tables, "Property 3 in tables"),
        property_3_in_tables,
    ),
    tables(
        "an acyclic overlay",
        publishing(
            "round a ring of four t goes one way to a, and 4 lies on the other",
            Overlay.line(4),
            TWO,
            {"a": (3, EVENT)},
            "1s 2s1 3s2 1t 2t1 3t2",
            tree=ring(4),
        ),
    ),
    tables(
        "agreement",
        publishing("1 has sent t, and 2 does not have it yet", PAIR, TWO, AT_2, "1s 1t 2s1", sent="1s2 1t2"),
    ),
    tables("settling", publishing("1 has t, and has not sent it", PAIR, TWO, AT_2, "1s 1t 2s1")),
    tables("flooding", publishing("1 does not know of a, and keeps s and t", PAIR, TWO, AT_2, "1s 1t", advs="2a")),
    tables(
        "overlapping what is matched",
        publishing(
            "t matches p, and does not overlap a",
            PAIR,
            {"s": (1, "01"), "t": (1, "02")},
            AT_2,
            "1s 1t 2s1",
            filters={"overlaps": lambda a, s: s == "s"},
        ),
    ),
)


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
