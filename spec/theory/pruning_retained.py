"""The table `retained`, as an invariant of one broker: it is what was sent and is no candidate any more.

So the table says nothing that the others do not say, and the relation of the proofs (`pruning`) may do without it. It
is true at first, where all tables are empty, and after every message, whatever the broker wants: no covering policy, no
distance and no reading has a part in it. What a broker holds (PRN-6) is in its table all the same: `subs` is that of
the prose here.
"""

from __future__ import annotations

from collections.abc import Iterator

from routeproof.spec.theory.logic import Truth, formula
from routeproof.spec.theory.readings import ADV, BROKER, SUB, Clause, Relation, Symbolic, Term, declare
from routeproof.spec.theory.routing import Change, Handler
from routeproof.spec.theory.signature import ABOUT, Facts, Sends, Tables
from routeproof.spec.theory.theorem import Obligation

RULES = ("PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13")


class Recording(Handler):
    """A broker that wants anything at all, with the table `retained` before and after the message."""

    wants: Relation
    noted: Relation
    noted_after: Relation

    def wanted_by(self) -> tuple[str, ...]:
        return RULES

    def wanted(self, u: Term, s: Term) -> Truth:
        return self.wants(u, s)

    def remembers(self, change: Change) -> Clause:
        """PRN-7: where it is settled, or a withdrawal ends, what is wanted and no candidate; what it was elsewhere."""
        logic = self.logic
        return Clause(
            "retained is what is wanted without being a candidate, where settled",
            (BROKER, SUB),
            lambda u, s: logic.iff(
                self.noted_after(u, s),
                logic.cases(
                    self.is_settled(change, u),
                    lambda: logic.all_of(self.wanted(u, s), lambda: logic.no(self.candidate(u, s))),
                    lambda: self.noted(u, s),
                ),
            ),
            RULES,
        )

    def is_what_is_left(self, table: Relation, sent: Relation, u: Term, s: Term) -> Truth:
        """The invariant, of the tables that this broker takes for those after the message."""
        logic = self.logic
        return logic.iff(table(u, s), logic.all_of(sent(u, s), logic.no(self.candidate(u, s))))


def retained_is_what_is_left(handler: type[Recording] = Recording) -> list[Obligation]:
    """After every kind of message."""
    return [each for kind in ABOUT for each in _after(handler, kind)]


def _after(handler: type[Recording], kind: str) -> Iterator[Obligation]:
    logic = Symbolic()
    broker, earlier = _brokers(logic, handler)
    subject = logic.constant("subject", ABOUT[kind])
    change: Change = getattr(broker, f"on_{kind}")(subject)
    u, s, near = logic.constant("u", BROKER), logic.constant("s", SUB), broker.facts.link
    was = logic.every(
        (BROKER, SUB),
        lambda v, t: logic.implies(
            near(broker.here, v), lambda: earlier.is_what_is_left(broker.noted, broker.before.sent, v, t)
        ),
    )
    alone = logic.every((BROKER,), lambda v: logic.no(near(v, v)))
    step = [each.closed(logic) for each in (*broker.new_tables(change), broker.remembers(change))]
    yield Obligation(
        f"{kind} / retained is what is left",
        formula(broker.is_what_is_left(broker.noted_after, broker.after.sent, u, s)),
        [
            formula(each)
            for each in (was, alone, _one_last_hop(broker), near(broker.here, u), *step)
            if each is not True
        ],
        {"something was sent": formula(broker.before.sent(u, s))},
    )


def _one_last_hop(broker: Handler) -> Truth:
    """RTE-2: an advertisement is in the table once."""
    logic, advs = broker.logic, broker.before.advs
    return logic.every(
        (ADV, BROKER, BROKER),
        lambda a, x, y: logic.implies(logic.all_of(advs(a, x), advs(a, y)), lambda: logic.equal(x, y)),
    )


def _brokers(logic: Symbolic, handler: type[Recording]) -> tuple[Recording, Recording]:
    """A broker, and the same with the tables from before the message, of which the invariant was true."""
    here, sender = logic.constant("here", BROKER), logic.constant("sender", BROKER)
    before, after, sends = declare(Tables, logic), declare(Tables, logic, "_after"), declare(Sends, logic)
    facts = declare(Facts, logic)
    broker = handler(logic, facts, "", here, sender, before, after, sends)
    broker.wants, broker.noted, broker.noted_after = (
        logic.relation(name, (BROKER, SUB)) for name in ("wants", "noted", "noted_after")
    )
    return broker, handler(logic, facts, "", here, sender, before, before, sends)
