"""Theorems about propagation: Properties 1 and 2 of papers 000 and 001, and the hypotheses that each needs.

They say where a subscription is, once nothing moves. Reading order: `settling` (the premises of the proofs), `paths`
(Property 1), `grafting` (Property 2), `necessity` (what fails without a hypothesis), and the theorems here, with the
infinite worlds in which only finiteness is missing.

Finiteness is needed, too: in infinite worlds all other hypotheses are met and a property fails. Brokers, or
subscriptions, are the integers there, and Z3 does the arithmetic: a line of brokers without end, and three brokers for
subscriptions without end. No run leads to such a world; they show that finiteness, which first-order logic cannot
express, is a hypothesis of the proofs.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import attrs
import z3

from routeproof.model.overlay import Overlay
from routeproof.spec.theory import ADV, BROKER, SUB, Symbolic, Term, Truth, formula, negation
from routeproof.spec.theory.proof import Build, Obligation, Theorem, obligations
from routeproof.spec.theory.propagation.grafting import property_2
from routeproof.spec.theory.propagation.necessity import EXACTLY, PATH, PROPERTY_1, needed, stated
from routeproof.spec.theory.propagation.paths import property_1
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation import COVERING, FINITE, IDS, TREE, Facts, Tree, WorldState, of_overlay
from routeproof.spec.theory.relation.quiet_states import QUIET, Scene, any_scene, beside, grafted
from routeproof.spec.theory.relation.ways import WAYS, tree_ways

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


def state_of(**given: object) -> WorldState:
    return WorldState(**{**{each.name: no for each in attrs.fields(WorldState)}, **given})  # type: ignore[arg-type]  # by name


def defined(said: z3.BoolRef, functions: Definitions) -> z3.BoolRef:
    """With what it is for each function that is nothing but a name."""
    return z3.substitute_funs(said, *functions) if functions else said


def fails(
    name: str, scene: Scene, build: Build[Scene], hypothesis: str, broken: Truth, functions: Definitions = ()
) -> list[Obligation]:
    """In this scene all other hypotheses are true, each clause an obligation, and the property is false."""
    proof = build(scene)
    others = set(proof.hypotheses()) - {hypothesis}
    met = [clause for clause in proof.taken if proof.rests_on(clause) <= others]
    said = [(f"met: {clause.name}", formula(clause.at(*proof.terms(clause)))) for clause in met]
    said.append(("it fails", formula(negation(broken))))
    guards = {"the hypotheses are there": len(others) > 4}
    return [Obligation(f"{name} / {which}", defined(goal, functions), guards=guards) for which, goal in said]


def endless_line(policy: str, build: Build[Scene], name: str, prefix: str = "") -> list[Obligation]:
    """No client subscribes, and s comes from afar to the one advertisement, at 0."""
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


# -- the theorems ------------------------------------------------------------------------------------------------------


def proved(build: Build[Scene], policy: str, prefix: str = "") -> Sequence[Obligation]:
    """Returns the obligations of a proof about any scene of a policy, with examples that can be met."""
    examples = [beside(policy)] if policy == "none" else [beside(policy), grafted(policy)]
    return obligations(build, any_scene(policy), [each.scene() for each in examples], prefix)


PROPAGATION_THEOREMS = (
    Theorem(
        WAYS,
        ("RTE-1",),
        "What proofs need of a tree follows from its axioms, and induction along a path from finiteness.",
        lambda: proved(tree_ways, "none"),
        (TREE, FINITE),
        beside=("OverlaysAreTrees",),
    ),
    Theorem(
        "PropagationTree",
        ("RTE-1", "RTE-2", "RTE-3"),
        "Property 1, without covering: s is on exactly the paths to the advertisements that it intersects.",
        lambda: proved(property_1, "none"),
        (TREE, *QUIET, FINITE),
        rests_on=(WAYS,),
    ),
    Theorem(
        "PropagationTreeNeeds",
        ("RTE-1", "RTE-2", "RTE-3", "COV-2"),
        "Without any one of its hypotheses, Property 1 fails: a counterexample each.",
        lambda: [*needed(PROPERTY_1), *endless_line("none", property_1, "Property 1")],
    ),
    Theorem(
        "PropagationPath",
        ("RTE-1", "RTE-3", "COV-2", "COV-3", "COV-4", "COV-10"),
        "Property 2, active: what is strictly covered spans a path, up to where it meets its coverers.",
        lambda: proved(property_2, "active"),
        (TREE, *QUIET, COVERING, IDS, FINITELY_MANY, FINITE),
        rests_on=(WAYS,),
    ),
    Theorem(
        "PropagationPathNeeds",
        ("RTE-1", "RTE-3", "COV-1", "COV-3", "COV-4", "COV-10"),
        "Without any one of its hypotheses, Property 2 fails: a counterexample each.",
        lambda: [
            *needed(PATH, "a path, "),
            *ever_wider(),
            *needed(EXACTLY, "exactly, "),
            *endless_line("active", property_2, "Property 2, exactly", "exactly, "),
        ],
    ),
)
