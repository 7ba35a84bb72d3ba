"""The model and its replica side by side: told the same, they must say the same, in the same order."""

from __future__ import annotations

from routeproof.checker.validate.fast import Knowledge, Replica, publish
from routeproof.model.messages import Publish
from routeproof.model.routing import Routing, StepEffects
from routeproof.model.tables import Tables
from tests.checker.validate.replica.speech import CRASH, HUB, RESTORE, Speech


def follow(speech: Speech) -> set[str]:
    """The rules that fired."""
    routing, replica = Routing(speech.overlay, speech.policy), Replica(speech.overlay, speech.policy)
    tables = list(speech.start)
    known = [replica.knowledge(HUB, each) for each in tables]
    for stated, kept in zip(tables, known, strict=True):
        assert kept.tables() == stated
    fired: set[str] = set()
    for broker, sender, message in speech.said:
        if message == RESTORE:
            known[broker] = replica.knowledge(HUB, tables[broker])
        elif message == CRASH:
            tables[broker], known[broker] = Tables(), replica.knowledge(HUB)
        else:
            if isinstance(message, Publish):
                published(routing, replica, tables[broker], known[broker], sender, message)
            outcome = routing.handle(HUB, tables[broker], sender, message)
            assert isinstance(outcome.local, Tables)
            tables[broker] = outcome.local
            fired |= outcome.rules
            assert replica.handle(known[broker], sender, message) == outcome.sends
        for each, kept in zip(tables, known, strict=True):
            assert kept.tables() == each
            named(each, kept)
    return fired


def published(
    routing: Routing, replica: Replica, tables: Tables, known: Knowledge, sender: int, message: Publish
) -> None:
    p = message.publication
    delivered = routing.deliver_to(tables, p)
    hops, slots = publish(known, sender, replica.universe.matching(p.event))
    clients = [replica.universe.subscription(slot) for slot in slots]
    assert tuple(sorted(hops)) == routing.publish_to(StepEffects(HUB, tables), p, sender)
    assert len(clients) == len(delivered)
    assert set(clients) == set(delivered)


def named(tables: Tables, known: Knowledge) -> None:
    """An id leads to what has it, where anything has."""
    for a, sender in tables.advs:
        found = known.adv_named(a.id)
        assert found is not None
        assert (found.id, known.adv_from(a)) == (a.id, sender)
        assert tables.adv_from(found) is not None
    for s, sender in tables.subs:
        its = known.sub_named(s.id)
        assert its is not None
        assert (its.id, known.sub_from(s)) == (s.id, sender)
        assert tables.sub_from(its) is not None
    ids = {s.id for s, _ in tables.subs}
    assert all(known.sub_named(f"s{n}") is None for n in range(8) if f"s{n}" not in ids)
    assert known.sub_named("nobody") is None
    assert known.adv_named("nobody") is None
