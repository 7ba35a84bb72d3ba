"""Quiet states, in which no control message is queued, for the theorems of propagation: their hypotheses by name.

`Scene` is a state over either reading of a `Logic`, with the relations of a broker there. `quiet_holds` are the
hypotheses of Properties 1 to 3. That they are true of every reachable quiet state is a theorem of its own (`Settled`),
about the steps of the protocol; here nothing moves.

Examples are small worlds, written out in full: they show that hypotheses can be met, and what fails where one is not. A
proof's text reads an example like any other scene. No proof rests on an example; each shows only that a proof is not
vacuous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
from attrs import Factory, frozen

from routeproof.model.overlay import Node, Overlay
from routeproof.spec.theory import (
    ADV,
    BROKER,
    PUB,
    SUB,
    Clause,
    Grounded,
    Logic,
    Sort,
    Symbolic,
    Term,
    Truth,
    declare,
    holding,
    never,
)
from routeproof.spec.theory.relation import Facts, Sends, Tree, WorldState, of_overlay
from routeproof.spec.theory.relation.routing import HandlerStep

AGREEMENT = "agreement: a broker has from a neighbour what that one has sent to it, and nothing from anybody else"
SETTLED = "settled: every broker has sent its neighbours what it wants them to know, and nothing else"
FLOODED = "flooded: every broker has every active advertisement, from the side of its home"
NO_STALE_ADVERTISEMENT = "no stale advertisement: no broker has another one, or from elsewhere"
SUBSCRIBED = "subscribed: an active subscription is in the table of its home, as local"
NO_STALE_SUBSCRIPTION = "no stale subscription: nothing else is local anywhere"

QUIET = (AGREEMENT, SETTLED, FLOODED, NO_STALE_ADVERTISEMENT, SUBSCRIBED, NO_STALE_SUBSCRIPTION)


@frozen
class Scene:
    """A state of the world, and the protocol whose state it is."""

    logic: Logic
    tree: Tree
    facts: Facts
    state: WorldState
    policy: str
    handler: type[HandlerStep] = HandlerStep

    def broker(self, b: Term) -> HandlerStep:
        """This broker at rest: its tables are the same before and after."""
        tables = self.state.tables(b)
        return self.handler(self.logic, self.facts, self.policy, b, b, tables, tables, Sends(never, never))

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


def any_scene(policy: str, handler: type[HandlerStep] = HandlerStep) -> Scene:
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
        (SUBSCRIBED, (SUB,), lambda s: implies(scene.wants(s), lambda: state.subs(scene.home(s), s, scene.home(s)))),
        (
            NO_STALE_SUBSCRIPTION,
            (BROKER, SUB),
            lambda b, s: implies(state.subs(b, s, b), lambda: all_of(scene.wants(s), equal(b, scene.home(s)))),
        ),
    ]
    return {name: Clause(name, sorts, body) for name, sorts, body in clauses}


# -- examples ----------------------------------------------------------------------------------------------------------


Place = tuple[Node, str]
"""Where a client is, and the events that its filter lets through: one letter each."""


@frozen
class Example:
    """A state at rest, unless `sent` or `advs` say otherwise.

    `subs` are (broker, subscription, last hop), the broker itself standing for a client of its own. `sent` are (broker,
    neighbour, subscription): what agrees with `subs` where it is not given. `advs` likewise: as flooded.
    """

    name: str
    brokers: tuple[Node, ...]
    tree: Tree
    subscriptions: Mapping[str, Place]
    advertisements: Mapping[str, Place]
    subs: frozenset[tuple[Node, str, Node]]
    sent: frozenset[tuple[Node, Node, str]]
    advs: frozenset[tuple[Node, str, Node]]
    inactive: frozenset[str]
    policy: str
    publications: Mapping[str, tuple[str, str]] = Factory(dict)
    handler: type[HandlerStep] = HandlerStep
    filters: Mapping[str, Any] = Factory(dict)
    """Facts that are not as the filters say: `covers`, `overlaps` or `lower`."""
    unpublished: frozenset[str] = frozenset()

    def elements(self) -> dict[Sort, tuple[Term, ...]]:
        return {
            BROKER: self.brokers,
            SUB: tuple(self.subscriptions),
            ADV: tuple(self.advertisements),
            PUB: tuple(self.publications),
        }

    def scene(self) -> Scene:
        return Scene(Grounded(self.elements()), self.tree, self._facts(), self._state(), self.policy, self.handler)

    def _facts(self) -> Facts:
        subs, advs, pubs = self.subscriptions, self.advertisements, self.publications
        ids, none = list(subs), holding(())
        compared: dict[str, Any] = {
            "covers": lambda t, s: set(subs[t][1]) >= set(subs[s][1]),
            "overlaps": lambda a, s: bool(set(advs[a][1]) & set(subs[s][1])),
            "lower": lambda s, t: ids.index(s) < ids.index(t),
        }
        return Facts(
            **{**compared, **self.filters},
            link=self.tree.link,
            matches=lambda p, s: pubs[p][1] in subs[s][1],
            adv_of=lambda p: pubs[p][0],
            home_of_adv=lambda a: advs[a][0],
            home_of_sub=lambda s: subs[s][0],
            may_unadvertise=none,
            may_unsubscribe=none,
            **dict.fromkeys(("is_adv", "is_unadv", "is_sub", "is_unsub", "is_pub", "before"), none),
        )

    def _state(self) -> WorldState:
        none = holding(())
        known = {
            "advs": holding(self.advs),
            "subs": holding(self.subs),
            "sent": holding(self.sent),
            "advertised": holding([(a,) for a in self.advertisements]),
            "subscribed": holding([(s,) for s in self.subscriptions]),
            "published": holding([(p,) for p in self.publications if p not in self.unpublished]),
            "unadvertised": holding([(a,) for a in self.advertisements if a in self.inactive]),
            "unsubscribed": holding([(s,) for s in self.subscriptions if s in self.inactive]),
        }
        return WorldState(**{**dict.fromkeys(attrs.fields_dict(WorldState), none), **known})


def example(
    name: str,
    overlay: Overlay,
    subscriptions: Mapping[str, Place],
    advertisements: Mapping[str, Place],
    subs: str,
    policy: str = "none",
    sent: str | None = None,
    advs: str | None = None,
    inactive: str = "",
    tree: Tree | None = None,
    **given: Any,
) -> Example:
    """`subs` as text: `1s 2s1 3s2` is that 1 has s from a client, 2 has it from 1 and 3 from 2. `advs` likewise.

    `sent`: `1s2` is that 1 has sent s to 2.
    """
    tree, held = tree or of_overlay(overlay), frozenset(_entries(subs))
    if sent is None:
        said = frozenset((x, b, s) for b, s, x in held if b != x)
    else:
        said = frozenset((b, u, s) for b, s, u in _entries(sent))
    active = [(a, home) for a, (home, _) in advertisements.items() if a not in inactive]
    flooded = [(b, a, tree.toward(b, home)) for a, home in active for b in overlay.brokers]
    known = frozenset(flooded if advs is None else _entries(advs))
    clients = (subscriptions, advertisements)
    return Example(name, overlay.brokers, tree, *clients, held, said, known, frozenset(inactive), policy, **given)


def _entries(text: str) -> Iterator[tuple[Node, str, Node]]:
    for entry in text.split():
        broker, id, hop = int(entry[0]), entry[1], entry[2:]
        yield broker, id, int(hop) if hop else broker


# -- in which hypotheses are met ---------------------------------------------------------------------------------------


def beside(policy: str) -> Example:
    """Two that only overlap, on the way to one publisher: under every policy both go all the way."""
    return example(
        "two side by side",
        Overlay.line(3),
        {"s": (1, "01"), "t": (2, "12")},
        {"a": (3, "1")},
        "1s 2s1 3s2 2t 3t2",
        policy,
        publications={"p": ("a", "1")},
    )


def grafted(policy: str) -> Example:
    """Where there is covering, a covered one goes as far as the home of what covers it, which goes on."""
    return example(
        "one grafted on another",
        Overlay.line(4),
        {"r": (3, "01"), "s": (1, "0")},
        {"a": (4, "01")},
        "1s 2s1 3s2 3r 4r3",
        policy,
        publications={"p": ("a", "0")},
    )
