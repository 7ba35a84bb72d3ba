"""The catalogue of properties: what must hold, each a pure function of a small part of a state.

`PROPERTIES` lists those of `spec/routing.md`, and then those of each specification (`spec/NAME/`). To add one, write
the function, add the row, and give it a mutant that it catches (CONTRIBUTING.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from routeproof.model.history import Ledger
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.model.plugins import Composed, PluginError, plugins
from routeproof.model.tables import Tables, by_id
from routeproof.spec.catalogues import specifications
from routeproof.spec.specification import OK, Answer, Over, Property, Seen, strictly_covers, variants

__all__ = ["OK", "PROPERTIES", "Answer", "Over", "Property", "properties_for"]

CORE = variants("routing", POLICIES)
COVERING = variants("routing", ("active", "lazy", "packing"))
CLEANED = variants("routing", ("active", "packing"))
"""Policies under which a newly covered subscription is withdrawn where it went (COV-4)."""


# -- in every state ----------------------------------------------------------------------------------------------------


def no_lost_delivery(ledger: Ledger, history: Seen, tags: int) -> Answer:
    """Every owed delivery of a publication has been made by the time that no copy of it is in flight."""
    settled = [(p, s) for p, s in ledger.pairs(history.owed) if not tags >> (p + 1) & 1]
    lost = [(p, s) for p, s in settled if not history.delivered & ledger.pair(p, s)]
    if lost:
        return f"{_pair(ledger, lost[0])} is owed, was not delivered, and no copy is in flight"
    return OK if settled else None


def no_duplicate(ledger: Ledger, history: Seen) -> Answer:
    """No client receives the same publication for the same subscription twice."""
    if history.duplicate:
        return "a publication was delivered twice for one subscription"
    return OK if history.delivered else None


def precise(ledger: Ledger, history: Seen) -> Answer:
    """Every delivered publication matches the subscription that it is delivered for."""
    for p, s in ledger.pairs(history.delivered):
        if not ledger.instance.subscriptions[s].filter.matches(ledger.instance.publications[p].event):
            return f"{_pair(ledger, (p, s))} was delivered, but the publication does not match the subscription"
    return OK if history.delivered else None


# -- where no control message is queued --------------------------------------------------------------------------------


def agreement(ledger: Ledger, link: Link, near: Tables, far: Tables) -> Answer:
    """The subscriptions that `near` has sent to `far` are exactly those that `far` has from `near`."""
    sent = set(near.sent_to(link[1]))
    held = {s for s, x in far.subs if x == link[0]}
    for s in sorted(sent ^ held, key=by_id):
        u, v = map(ledger.name, link)
        if s in sent:
            return f"{u} has sent {s} to {v}, but {v} does not have {s} from {u}"
        return f"{v} has {s} from {u}, but {u} has not sent {s}"
    return OK if sent else None


def no_residue(ledger: Ledger, node: Node, tables: Tables, history: Seen) -> Answer:
    """No table has a subscription or an advertisement that is no longer active."""
    subs, advs = ledger.active_subscriptions(history.done), ledger.active_advertisements(history.done)
    for s, _ in tables.subs:
        if not subs[s.rank]:
            return f"{ledger.name(node)} still has subscription {s}, which is not active"
    for a, _ in tables.advs:
        if not advs[a.rank]:
            return f"{ledger.name(node)} still has advertisement {a}, which is not active"
    return OK if tables.subs or tables.advs else None


def no_stray(ledger: Ledger, node: Node, tables: Tables) -> Answer:
    """Every forwarded subscription overlaps an advertisement that came from the neighbour it was sent to."""
    name = ledger.name
    for neighbour, told in tables.sent:
        there = [a.filter for a, x in tables.advs if x == neighbour]
        for s in told:
            if not any(f.overlaps(s.filter) for f in there):
                to = name(neighbour)
                return f"{name(node)} has sent {s} to {to}, but no advertisement from {to} overlaps it"
    return OK if tables.sent else None


def compact(ledger: Ledger, node: Node, tables: Tables) -> Answer:
    """No two subscriptions from one neighbour are such that one strictly covers the other."""
    if _is_lazy_below(ledger):
        return None
    remote = [(s, x) for s, x in tables.subs if x != LOCAL]
    pairs = [(t, s, x) for t, x in remote for s, y in remote if x == y and t != s]
    for t, s, x in pairs:
        if strictly_covers(t, s):
            return f"{ledger.name(node)} has {t} and {s} from {ledger.name(x)}, but {t} covers {s}"
    return OK if pairs else None


def propagation_tree(ledger: Ledger, node: Node, tables: Tables, history: Seen) -> Answer:
    """PROP-1: a subscription is exactly on the paths from its home to the homes of the advertisements it overlaps."""
    name = ledger.name
    overlay, exercised = ledger.instance.overlay, False
    for s, home in _active(ledger, history.done):
        ends = _homes_of_intersecting(ledger, s, history.done)
        on_tree = node == home or any(node in overlay.path(home, end) for end in ends)
        expected = overlay.toward(node, home) if on_tree else None
        exercised = exercised or (on_tree and node != home)
        if tables.sub_from(s) != expected:
            came, right = ("nowhere" if x is None else name(x) for x in (tables.sub_from(s), expected))
            way = f"on the tree from {name(home)} to {', '.join(map(name, ends))} it comes from {right}"
            return f"{name(node)} has {s} from {came}; {way}"
    return OK if exercised else None


def propagation_path(ledger: Ledger, node: Node, tables: Tables, history: Seen) -> Answer:
    """PROP-2: a strictly covered subscription spans a path: each broker passes it on to one neighbour at most."""
    name = ledger.name
    if _is_lazy_below(ledger):
        return None
    exercised = False
    active = _active(ledger, history.done)
    for s, home in active:
        if not any(strictly_covers(t, s) for t, _ in active):
            continue
        came_from = tables.sub_from(s)
        if came_from is None:
            continue
        if came_from != ledger.instance.overlay.toward(node, home):
            return f"{name(node)} has {s} from {name(came_from)}, which is not the way to its home {name(home)}"
        onward = [n for n, told in tables.sent if s in told]
        exercised = exercised or bool(onward)
        if len(onward) > 1:
            forks = ", ".join(map(name, onward))
            return f"{name(node)} passes the covered subscription {s} on to {forks}: its propagation forks"
    return OK if exercised else None


# -- sometimes ---------------------------------------------------------------------------------------------------------


def some_delivery(ledger: Ledger, history: Seen) -> Answer:
    """A publication is delivered."""
    return OK if history.delivered else None


def some_obligation(ledger: Ledger, history: Seen) -> Answer:
    """A publication is owed to a subscription; otherwise no delivery can be lost."""
    return OK if history.owed else None


def some_quenching(ledger: Ledger, node: Node, tables: Tables) -> Answer:
    """A broker holds back a subscription that it would send without covering."""
    for neighbour in ledger.instance.overlay.neighbours(node):
        there = [a.filter for a, x in tables.advs if x == neighbour]
        told = tables.sent_to(neighbour)
        for s, x in tables.subs:
            if x != neighbour and s not in told and any(f.overlaps(s.filter) for f in there):
                return OK
    return None


def drains(*_: Any) -> Answer:
    """The transition graph has no cycle, and every maximal run ends with empty queues."""
    raise AssertionError("Drains is a property of the whole graph: an engine decides it")


def _is_lazy_below(ledger: Ledger) -> bool:
    """COV-6: no subscription that was sent is withdrawn because a wider one follows."""
    return getattr(ledger.parameters, "base", "") == "lazy"


def _active(ledger: Ledger, done: int) -> list[tuple[Subscription, Node]]:
    """Returns the current subscriptions, each with its current home: a client may have moved."""
    ranks = range(len(ledger.instance.subscriptions))
    return [(s, ledger.home(rank, done)) for rank in ranks if (s := ledger.issue(rank, done)) is not None]


def _homes_of_intersecting(ledger: Ledger, s: Subscription, done: int) -> list[Node]:
    live = ledger.active_advertisements(done)
    advertisers = [a for a in ledger.instance.advertisers if live[a.advertisement.rank]]
    return sorted({a.at for a in advertisers if a.advertisement.filter.overlaps(s.filter)})


def _pair(ledger: Ledger, pair: tuple[int, int]) -> str:
    return f"({ledger.instance.publications[pair[0]]}, {ledger.instance.subscriptions[pair[1]]})"


ROUTING: dict[str, Property] = {
    p.id: p
    for p in (
        Property.of("NoLostDelivery", "always", "world", CORE, no_lost_delivery, ("owed", "delivered", "flight")),
        Property.of("NoDuplicate", "always", "world", CORE, no_duplicate, ("duplicate", "delivered")),
        Property.of("Precise", "always", "world", CORE, precise, ("delivered",)),
        Property.of("Agreement", "always", "link", CORE, agreement, ("local",)),
        Property.of("NoResidue", "always", "node", CORE, no_residue, ("local", "done")),
        Property.of("NoStray", "always", "node", CORE, no_stray, ("local",)),
        Property.of("Drains", "always", "graph", CORE, drains),
        Property.of("Compact", "always", "node", CLEANED, compact, ("local",)),
        Property.of(
            "PropagationTree", "always", "node", variants("routing", ("none",)), propagation_tree, ("local", "done")
        ),
        Property.of("PropagationPath", "always", "node", CLEANED, propagation_path, ("local", "done")),
        Property.of("SomeDelivery", "sometimes", "world", CORE, some_delivery, ("delivered",)),
        Property.of("SomeObligation", "sometimes", "world", CORE, some_obligation, ("owed",)),
        Property.of("SomeQuenching", "sometimes", "node", COVERING, some_quenching, ("local",)),
    )
}


def _properties() -> dict[str, Property]:
    """The properties by id: those that always hold first; of each kind the core's, then those of specifications."""
    found = dict(ROUTING)
    for own in specifications():
        for id in own.adopts:
            if id not in found:
                raise PluginError(f"protocol {own.protocol} adopts {id}, which is no property")
            more = (*found[id].variants, *variants(own.protocol, own.policies))
            found[id] = evolve(found[id], variants=tuple(dict.fromkeys(more)))
        _add(found, own.properties, f"protocol {own.protocol}")
    for plugin in plugins():
        _add(found, getattr(plugin, "properties", ()), "a property from outside")
    for plugin in plugins():
        for policy in getattr(plugin, "policies", ()):
            like = (policy.protocol, policy.like)
            same = [p for p in found.values() if like in p.variants]
            found |= {p.id: evolve(p, variants=(*p.variants, (policy.protocol, policy.name))) for p in same}
    return {p.id: p for kind in ("always", "sometimes") for p in found.values() if p.kind == kind}


def _add(found: dict[str, Property], more: Iterable[Property], owner: str) -> None:
    """Adds properties to the catalogue; `PluginError` where one has the id of another one."""
    for each in more:
        if each.id in found:
            raise PluginError(f"{owner}: property {each.id} has the id of another property; choose another id")
        found[each.id] = each


PROPERTIES: Mapping[str, Property] = Composed(_properties)


def properties_for(protocol: str, policy: str) -> tuple[Property, ...]:
    """The properties that are meant to hold under a protocol and one of its policies."""
    return tuple(p for p in PROPERTIES.values() if (protocol, policy) in p.variants)
