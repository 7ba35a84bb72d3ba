"""Small worlds, written out in full: they show that hypotheses can be met, and what fails where one is not.

An example is read by the text of a proof like any other scene. Nothing here is proved, and nothing rests on it but that
proofs are not about nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from attrs import Factory, frozen

from routeproof.model.overlay import Node, Overlay
from routeproof.spec.theory.logic.readings import (
    ADV,
    BROKER,
    PUB,
    SUB,
    Grounded,
    Sort,
    Term,
    holding,
)
from routeproof.spec.theory.relation.quiet_states import Scene
from routeproof.spec.theory.relation.routing import Handler
from routeproof.spec.theory.relation.signature import Facts, WorldState
from routeproof.spec.theory.relation.trees import Tree, of_overlay

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
    publications: Mapping[str, tuple[str, str]]
    policy: str
    handler: type[Handler] = Handler
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
        rest = {each.name: none for each in attrs.fields(WorldState)}
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
        return WorldState(**{**rest, **known})


def example(
    name: str,
    overlay: Overlay,
    subscriptions: Mapping[str, Place],
    advertisements: Mapping[str, Place],
    subs: str,
    policy: str = "none",
    **given: Any,
) -> Example:
    """`subs` as text: `1s 2s1 3s2` is that 1 has s from a client, 2 has it from 1 and 3 from 2. `advs` likewise.

    `sent`: `1s2` is that 1 has sent s to 2.
    """
    tree = given.pop("tree", of_overlay(overlay))
    inactive = frozenset(given.pop("inactive", ()))
    held = frozenset(_entries(subs))
    says, advs = given.pop("sent", None), given.pop("advs", None)
    sent = {(x, b, s) for b, s, x in held if b != x} if says is None else {(b, u, s) for b, s, u in _entries(says)}
    flooded = {
        (b, a, tree.toward(b, home))
        for a, (home, _) in advertisements.items()
        if a not in inactive
        for b in overlay.brokers
    }
    return Example(
        name,
        overlay.brokers,
        tree,
        subscriptions,
        advertisements,
        held,
        frozenset(sent),
        frozenset(flooded) if advs is None else frozenset(_entries(advs)),
        inactive,
        given.pop("publications", {}),
        policy,
        **given,
    )


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
