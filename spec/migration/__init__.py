"""Specification of migration (`spec/migration.md`): what a move of a publisher must keep, and the rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from routeproof.model.history import Ledger
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Advertisement, Message, describe
from routeproof.model.migration.vocabulary import (
    MIGRATION,
    MigrationTables,
    Publisher,
    Relocate,
    movers,
    publisher_name,
    topology,
)
from routeproof.model.overlay import LOCAL, Link, Node
from routeproof.spec.migration.claims import FIGURE_CLAIMS, MIGRATION_CLAIMS
from routeproof.spec.specification import LOSSLESS_DELIVERY, OK, Answer, Property, Rule, Seen, Specification, variants

States = Mapping[Node, MigrationTables | Publisher]


def released(ledger: Ledger, node: Node, local: Publisher) -> Answer:
    """No publisher is paused, and none holds back what it was given."""
    if local.paused or local.held:
        held = ", ".join(map(str, local.held)) or "nothing"
        return f"{topology(ledger.instance).name(node)} is paused, holds back {held}, and no move of it is under way"
    return OK if local.advertised else None


def one_place(ledger: Ledger, states: States, seen: Seen) -> Answer:
    """A publisher is connected to exactly the broker at which it believes to be, and its advertisement lies there."""
    homes = dict(_homes(ledger, states, seen.done))
    for mover in movers(ledger.instance):
        a = mover.advertisement
        if a not in homes:
            continue
        attached = [broker for broker, tables in _brokers(states) if a in tables.attached]
        if attached != [homes[a]]:
            return f"the publisher of {a} is at broker {homes[a]}, and connected to {attached or 'none'}"
        lies = [broker for broker, tables in _brokers(states) if tables.adv_from(a) == LOCAL]
        if lies != [homes[a]]:
            return f"the publisher of {a} is at broker {homes[a]}, and its advertisement lies at {lies or 'none'}"
    return OK if homes else None


def fresh_tables(ledger: Ledger, states: States, seen: Seen) -> Answer:
    """Tables are those of a network in which publishers began where they are: advertisements; under none, all."""
    overlay, homes = ledger.instance.overlay, dict(_homes(ledger, states, seen.done))
    for broker, tables in _brokers(states):
        for a, home in homes.items():
            if tables.adv_from(a) != overlay.toward(broker, home):
                return (
                    f"broker {broker} has {a} from {tables.adv_from(a)}; a fresh network has it from the side of {home}"
                )
    if ledger.policy == "none":
        for rank, subscriber in enumerate(ledger.instance.subscribers):
            s = ledger.issue(rank, seen.done)
            ends = [] if s is None else [home for a, home in homes.items() if a.filter.overlaps(s.filter)]
            for broker, tables in _brokers(states):
                on_tree = s is not None and (
                    broker == subscriber.at or any(broker in overlay.path(subscriber.at, end) for end in ends)
                )
                expected = overlay.toward(broker, subscriber.at) if on_tree else None
                if tables.sub_from(subscriber.subscription) != expected:
                    held = tables.sub_from(subscriber.subscription)
                    return f"broker {broker} has {subscriber.subscription} from {held}; a fresh network: {expected}"
    return OK if any(at != home for at, home in _moved(ledger, homes)) else None


def in_order(ledger: Ledger, seen: Seen) -> Answer:
    """A subscriber receives the publications of one publisher in the order of publication."""
    if seen.overtaken:
        earlier, later, subscription = seen.overtaken
        return f"{subscription} received {later} before {earlier}, which the same publisher published first"
    return OK if seen.delivered else None


def on_path(ledger: Ledger, channel: Link, queue: tuple[Message, ...]) -> Answer:
    """Messages of a move travel on its path and between its publisher and brokers, none twice at a time."""
    own = [m for m in queue if isinstance(m, MIGRATION)]
    ends, layout = set(channel), topology(ledger.instance)
    for i, message in enumerate(own):
        client = layout.numbered(publisher_name(message.advertisement.id))
        if client not in ends and not any(ends <= set(path) for path in _paths(ledger, message.advertisement)):
            return f"{describe(message)} is on the link {_link(ledger, channel)}, which is on no path of a move of it"
        if message in own[:i]:
            return f"{describe(message)} is on the link {_link(ledger, channel)} twice"
    return OK if own else None


def some_move(ledger: Ledger, states: States, seen: Seen) -> Answer:
    """A publisher has moved."""
    homes = dict(_homes(ledger, states, seen.done))
    return OK if any(at != home for at, home in _moved(ledger, homes)) else None


def some_held(ledger: Ledger, node: Node, local: Publisher) -> Answer:
    """A publisher holds back a publication."""
    return OK if local.held else None


def _homes(ledger: Ledger, states: States, done: int) -> Iterator[tuple[Advertisement, Node]]:
    """The advertisements that brokers know of, each with the broker at which its publisher is."""
    live = ledger.active_advertisements(done)
    where = {a.advertisement: a.at for a in ledger.instance.advertisers if live[a.advertisement.rank]}
    layout = topology(ledger.instance)
    for mover in movers(ledger.instance):
        if mover.advertisement in where:
            publisher = states[layout.numbered(publisher_name(mover.advertisement.id))]
            assert isinstance(publisher, Publisher)
            where[mover.advertisement] = publisher.at
    yield from where.items()


def _paths(ledger: Ledger, a: Advertisement) -> Iterator[tuple[Node, ...]]:
    """The paths of the moves of an advertisement's publisher."""
    for operation in ledger.operations:
        match operation.message:
            case Relocate(moved, path) if moved == a:
                yield path


def _link(ledger: Ledger, channel: Link) -> str:
    return " to ".join(map(topology(ledger.instance).name, channel))


def _moved(ledger: Ledger, homes: Mapping[Advertisement, Node]) -> Iterator[tuple[Node, Node]]:
    """Where publishers are, and where they began."""
    began = {a.advertisement: a.at for a in ledger.instance.advertisers}
    return ((at, began[a]) for a, at in homes.items())


def _brokers(states: States) -> Iterator[tuple[Node, MigrationTables]]:
    return ((node, state) for node, state in states.items() if isinstance(state, MigrationTables))


MIGRATING = variants("migration", POLICIES)

PROPERTIES_OF_MIGRATION = (
    Property.of("Released", "always", "node", MIGRATING, released, ("local",), role="client"),
    Property.of("OnePlace", "always", "world", MIGRATING, one_place, ("locals", "done"), quiet=True),
    Property.of("FreshTables", "always", "world", MIGRATING, fresh_tables, ("locals", "done"), quiet=True),
    Property.of("OnPath", "always", "channel", MIGRATING, on_path, ("queue",)),
    Property.of("InOrder", "always", "world", MIGRATING, in_order, ("delivered", "overtaken")),
    Property.of("SomeMove", "sometimes", "world", MIGRATING, some_move, ("locals", "done"), quiet=True),
    Property.of("SomeHeld", "sometimes", "node", MIGRATING, some_held, ("local",), quiet=False, role="client"),
)


# -- rules -------------------------------------------------------------------------------------------------------------

RULES = Rule.table(
    "migration",
    ("MIG-1", "the source sends the publisher away", "004 III-C"),
    ("MIG-2", "the target takes the publisher in", "004 III-C"),
    ("MIG-3", "the update goes from target to source", "004 III-C"),
    ("MIG-4", "op 1: the advertisement lies where the update comes from", "004 III-C"),
    ("MIG-5", "op 2: entries that nothing draws any more are removed", "004 III-C"),
    ("MIG-6", "op 3: subscriptions go to where the publisher is now", "004 III-C"),
    ("MIG-7", "the completion follows the subscriptions", "004 III-C"),
    ("MIG-8", "the publisher resumes", "004 III-C"),
    ("MIG-11", "the sender's record", "ours"),
    ("MIG-12", "the publisher marks its last publication", "ours"),
    ("MIG-13", "an advertisement that moves lies both ways", "ours"),
    ("MIG-14", "the broker that sent subscriptions withdraws them", "ours"),
    ("MIG-15", "the target waits for the advertisement", "ours"),
    ("MIG-16", "moves that do not take place", "ours"),
)


SPECIFICATION = Specification(
    "migration",
    POLICIES,
    properties=PROPERTIES_OF_MIGRATION,
    rules=RULES,
    claims=(*MIGRATION_CLAIMS, *FIGURE_CLAIMS),
    theorems="routeproof.spec.migration.theory",
    adopts=(*LOSSLESS_DELIVERY, "SomeObligation", "Agreement", "NoResidue", "NoStray"),
)
