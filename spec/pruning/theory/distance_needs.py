"""Necessity of the hypotheses of equation 3, by counterexample: the distances that publications report.

Finiteness of the overlay and of subscriptions needs infinite worlds, of which there are two.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, partial

import z3
from attrs import evolve

from routeproof.model.overlay import Overlay
from routeproof.spec.pruning.theory import distance
from routeproof.spec.pruning.theory.equation_3 import equation_3, on_its_way
from routeproof.spec.pruning.theory.similarity_needs import TWO, gone, publishing, shared
from routeproof.spec.theory import ADV, BROKER, PUB, SUB, Clause, Symbolic, Term, Truth
from routeproof.spec.theory.proof import Obligation
from routeproof.spec.theory.propagation import Definitions, facts_of, fails, hub, line, necessity, state_of, yes
from routeproof.spec.theory.propagation.necessity import ALONE, EVENT, HUB, PAIR, WIDER, Needed, stated
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation import FINITE
from routeproof.spec.theory.relation.quiet_states import Example, Scene


def told(
    q: Scene,
    several: distance.Several = distance.matches_several,
    later: Example | None = None,
    everywhere: bool = False,
) -> Clause:
    """Equation 3 with another statistic, of another population, or at the publisher too."""
    logic, measures, then = q.logic, distance.measures_of(q, several), later.scene() if later is not None else q

    def says(y: Term, s: Term, p: Term) -> Truth:
        scope = logic.all_of(on_its_way(q, y, s, p), lambda: everywhere or logic.apart(y, distance.source_of(q, p)))
        near: Callable[[], Truth] = lambda: measures.distance(q.home(s), p) <= measures.hops(q.home(s), y)  # noqa: E731
        return logic.implies(scope, lambda: logic.iff(near(), distance.passes(then, y, s, p)))

    return Clause("equation 3", (BROKER, SUB, PUB), says)


def all_entries(q: Scene, x: Term, p: Term) -> Truth:
    """STA-5 to the letter: entries that came from where the publication comes from count too."""
    logic = q.logic
    return distance.has_several(
        q, lambda t: logic.all_of(q.facts.matches(p, t), logic.some((BROKER,), lambda f: q.state.subs(x, t, f)))
    )


equal = partial(Needed, says=stated(equation_3, "Equation 3"), build=equation_3)
THREE = {"s": (1, WIDER), "t": (2, EVENT)}
"""s at the hub, t at 2, and a at 3."""
ADVS = {"a": (3, WIDER), "b": (2, WIDER)}

EQUATION_3 = (
    Needed(
        "stopping short of the publisher",
        publishing("s is alone, at the broker of a", ALONE, {"s": (1, EVENT)}, {"a": (1, EVENT)}, "1s"),
        partial(told, everywhere=True),
        equation_3,
    ),
    Needed(
        "leaving out what came from the publisher's side (STA-5)",
        publishing(
            "t, from the broker of a, is in the table of 1 too",
            PAIR,
            {"s": (1, EVENT), "t": (2, EVENT)},
            {"a": (2, EVENT), "b": (1, EVENT)},
            "1s 2s1 2t 1t2",
        ),
        partial(told, several=all_entries),
        equation_3,
    ),
    Needed(
        "one population",
        evolve(shared, name="t is withdrawn after the row of p was recorded"),
        partial(told, later=gone),
        equation_3,
    ),
    equal(
        "direction (COV-3)",
        publishing(
            "s came to 2, and holds t back there",
            HUB,
            THREE,
            ADVS,
            "1s 2s1 3s1 2t",
            "active",
            handler=necessity.AnyEntryQuenches,
        ),
    ),
    equal(
        "agreement",
        publishing(
            "2 has sent t, and 1 does not have it yet", HUB, THREE, {"a": (3, WIDER)}, "1s 3s1 2t", sent="1s3 2t1"
        ),
    ),
    equal("settling", publishing("2 has t, and has not sent it", HUB, THREE, {"a": (3, WIDER)}, "1s 3s1 2t")),
    equal(
        "flooding",
        publishing("2 does not know of a, and keeps t", HUB, THREE, {"a": (3, WIDER)}, "1s 3s1 2t", advs="1a3 3a"),
    ),
    equal("subscribing", publishing("t is active, and no table has it", HUB, THREE, {"a": (3, WIDER)}, "1s 3s1")),
    equal(
        "withdrawing subscriptions",
        publishing(
            "t is withdrawn, and its home still has it", PAIR, TWO, {"a": (2, EVENT)}, "1s 2s1 1t 2t1", inactive="t"
        ),
    ),
    equal(
        "an acyclic overlay",
        publishing(
            "a withdrawn t goes round a triangle for ever",
            Overlay.line(3),
            {"s": (1, EVENT), "t": (1, WIDER)},
            {"a": (2, WIDER), "b": (1, "1"), "c": (3, "1")},
            "1s 2s1 1t3 2t1 3t2",
            inactive="t",
            tree=necessity.ring(3),
        ),
    ),
    equal(
        "what covering means",
        publishing(
            "each of t, u and v covers the next, none is sent",
            HUB,
            {**THREE, "u": (2, EVENT), "v": (2, EVENT)},
            {"a": (3, WIDER)},
            "1s 3s1 2t 2u 2v",
            "active",
            filters={"covers": lambda t, s: t == s or t + s in ("tu", "uv", "vt")},
        ),
    ),
    equal(
        "an order of ids",
        publishing(
            "t and u are equal, and each goes before the other",
            HUB,
            {**THREE, "u": (2, EVENT)},
            {"a": (3, WIDER)},
            "1s 3s1 2t 2u",
            "active",
            filters={"lower": lambda s, t: s != t, "covers": lambda t, s: t == s or (s != "s" and t != "s")},
        ),
    ),
    equal(
        "overlapping what is matched",
        publishing(
            "t matches p, and does not overlap a",
            HUB,
            THREE,
            {"a": (3, WIDER)},
            "1s 3s1 2t",
            filters={"overlaps": lambda a, s: s == "s"},
        ),
    ),
    equal(
        "what matching means",
        publishing(
            "u covers t, and does not match what t matches",
            HUB,
            {**THREE, "u": (2, "1")},
            {"a": (3, WIDER)},
            "1s 3s1 2t 2u 1u2 3u1",
            "active",
            filters={"covers": lambda t, s: t == s or t + s == "ut"},
        ),
    ),
)


@cache  # the name of its sort can be declared once
def from_afar() -> list[Obligation]:
    """s is at 0 and a at 1; t, which no client made, comes from afar, and is in every table up to a."""
    pair, (s, t) = z3.EnumSort("Pair", ["s", "t"])
    logic, tree, zero, one = Symbolic({BROKER: z3.IntSort(), SUB: pair}), line(), z3.IntVal(0), z3.IntVal(1)
    a, p = logic.constant("a", ADV), logic.constant("p", PUB)
    facts = facts_of(
        tree, home_of_sub=lambda s: zero, home_of_adv=lambda a: one, covers=operator.eq, matches=yes, adv_of=lambda p: a
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


def _measured(scene: Scene, far: z3.ExprRef, hops: z3.ExprRef) -> Definitions:
    """Definitions of the names in `measures_of`."""
    measures = distance.measures_of(scene)
    return [(measures.distance, far), (measures.hops, hops)]
