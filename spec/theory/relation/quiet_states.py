"""Quiet states, in which no control message is queued, for the theorems of propagation: their hypotheses by name.
`Scene` is a state over either reading of `readings`, with the relations of a broker there. `quiet_holds` are the
hypotheses of Properties 1 to 3. That every quiet state that can be reached is such is a theorem of its own (`Settled`),
about the steps of the protocol; here nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import ADV, BROKER, SUB, Clause, Logic, Symbolic, Term, declare
from routeproof.spec.theory.relation.routing import Handler
from routeproof.spec.theory.relation.signature import Facts, Sends, WorldState
from routeproof.spec.theory.relation.trees import Tree

AGREEMENT = "agreement: a broker has from a neighbour what that one has sent to it, and nothing from anybody else"
SETTLED = "settled: every broker has sent its neighbours what it wants them to know, and nothing else"
FLOODED = "flooded: every broker has every active advertisement, from the side of its home"
NO_STALE_ADVERTISEMENT = "no stale advertisement: no broker has another one, or from elsewhere"
SUBSCRIBED = "subscribed: an active subscription is in the table of its home, as local"
NO_STALE_SUBSCRIPTION = "no stale subscription: nothing else is local anywhere"

QUIET = (AGREEMENT, SETTLED, FLOODED, NO_STALE_ADVERTISEMENT, SUBSCRIBED, NO_STALE_SUBSCRIPTION)


def nothing_said() -> Sends:
    def nothing(*terms: Term) -> Truth:
        return False

    return Sends(nothing, nothing)


@frozen
class Scene:
    """A state of the world, and the protocol whose state it is."""

    logic: Logic
    tree: Tree
    facts: Facts
    state: WorldState
    policy: str
    handler: type[Handler] = Handler

    def broker(self, b: Term) -> Handler:
        """This broker at rest: its tables are the same before and after."""
        tables = self.state.tables(b)
        return self.handler(self.logic, self.facts, self.policy, b, b, tables, tables, nothing_said())

    def candidate(self, b: Term, u: Term, s: Term) -> Truth:
        return self.broker(b).candidate(u, s)

    def wanted(self, b: Term, u: Term, s: Term) -> Truth:
        return self.broker(b).wanted(u, s)

    def wants(self, s: Term) -> Truth:
        """s is active: subscribed and not unsubscribed."""
        return self.logic.all_of(self.state.subscribed(s), self.logic.no(self.state.unsubscribed(s)))

    def offers(self, a: Term) -> Truth:
        """a is active: advertised and not unadvertised."""
        return self.logic.all_of(self.state.advertised(a), self.logic.no(self.state.unadvertised(a)))

    def home(self, s: Term) -> Term:
        return self.facts.home_of_sub(s)

    def source(self, a: Term) -> Term:
        return self.facts.home_of_adv(a)

    def strictly(self, t: Term, s: Term) -> Truth:
        """t strictly covers s."""
        return self.logic.all_of(self.facts.covers(t, s), self.logic.no(self.facts.covers(s, t)))


def any_scene(policy: str, handler: type[Handler] = Handler) -> Scene:
    """Any state of any world over any overlay."""
    logic = Symbolic()
    tree = declare(Tree, logic)
    return Scene(logic, tree, declare(Facts, logic, link=tree.link), declare(WorldState, logic), policy, handler)


def quiet_holds(scene: Scene) -> Mapping[str, Clause]:
    """The hypotheses, each under its own name."""
    logic, tree, state = scene.logic, scene.tree, scene.state
    all_of, implies, iff, equal = logic.all_of, logic.implies, logic.iff, logic.equal
    clauses: list[tuple[str, tuple[str, ...], Callable[..., Truth]]] = [
        (
            AGREEMENT,
            (BROKER, BROKER, SUB),
            lambda b, u, s: implies(
                logic.apart(b, u), lambda: iff(state.subs(u, s, b), all_of(tree.link(b, u), state.sent(b, u, s)))
            ),
        ),
        (
            SETTLED,
            (BROKER, BROKER, SUB),
            lambda b, u, s: implies(tree.link(b, u), lambda: iff(state.sent(b, u, s), scene.wanted(b, u, s))),
        ),
        (
            FLOODED,
            (BROKER, ADV),
            lambda b, a: implies(scene.offers(a), lambda: state.advs(b, a, tree.toward(b, scene.source(a)))),
        ),
        (
            NO_STALE_ADVERTISEMENT,
            (BROKER, ADV, BROKER),
            lambda b, a, x: implies(
                state.advs(b, a, x), lambda: all_of(scene.offers(a), equal(x, tree.toward(b, scene.source(a))))
            ),
        ),
        (
            SUBSCRIBED,
            (SUB,),
            lambda s: implies(scene.wants(s), lambda: state.subs(scene.home(s), s, scene.home(s))),
        ),
        (
            NO_STALE_SUBSCRIPTION,
            (BROKER, SUB),
            lambda b, s: implies(state.subs(b, s, b), lambda: all_of(scene.wants(s), equal(b, scene.home(s)))),
        ),
    ]
    return {name: Clause(name, sorts, body) for name, sorts, body in clauses}
