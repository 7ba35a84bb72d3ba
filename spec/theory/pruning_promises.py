"""What a broker that prunes wants keeps the promises that the proofs of pruning rest on.

Where a neighbour is settled, the covering policy chooses from the pool (PRN-9); where a withdrawal ends (PRN-4), and
toward whom it came from, what was sent stays. When something retained may go though something draws it (PRN-12) is left
open: any choice will do. So is what withdrawals are held (PRN-6), but that what is held was held before the message.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3
from attrs import frozen

from routeproof.spec.theory.finite import topmost_from
from routeproof.spec.theory.logic import Truth, formula
from routeproof.spec.theory.pruning import Pruning, Retaining, is_drawn, relaxed
from routeproof.spec.theory.pruning_congestion import Congested
from routeproof.spec.theory.readings import BROKER, SUB, Clause, Relation, Symbolic, Term, declare
from routeproof.spec.theory.signature import Facts, Sends, Tables, facts_hold
from routeproof.spec.theory.theorem import Obligation

BASES = ("active", "lazy")
"""The covering policy below (`base`)."""


@frozen
class Broker:
    """Any tables before and after a message, what is retained, and a neighbour u."""

    logic: Symbolic
    pooled: Retaining
    promised: Congested
    u: Term

    @classmethod
    def under(cls, base: str) -> Broker:
        logic = Symbolic()
        here, u = logic.constant("here", BROKER), logic.constant("u", BROKER)
        given = (here, u, declare(Tables, logic), declare(Tables, logic, "_after"), declare(Sends, logic))
        facts = declare(Facts, logic)
        pooled = Retaining(logic, facts, base, *given)
        pooled.retained = logic.relation("retained", (BROKER, SUB))
        pooled.has_reason = logic.relation("has_reason", (BROKER, SUB))
        pooled.held = logic.relation("held_after", (SUB, BROKER))
        promised = Congested(logic, facts, base, *given)
        promised.held, promised.held_after = logic.relation("held", (SUB, BROKER)), pooled.held
        return cls(logic, pooled, promised, u)

    def asked(self, wanted: Relation) -> tuple[Clause, Clause]:
        """Both promises, of what is wanted so."""
        only, covered = relaxed(_Wanting.of(self.promised, wanted), lambda u: True)
        return only, covered

    # -- where a neighbour is settled ------------------------------------------------------------------------------

    def settled(self, base: str) -> Iterator[Obligation]:
        logic, u = self.logic, self.u
        s = logic.constant("s", SUB)
        only, covered = self.asked(self.pooled.wanted)
        wanted, retained = self.pooled.wanted(u, s), self.pooled.retained(u, s)
        remembered = logic.every(
            (BROKER, SUB), lambda v, t: logic.implies(self.pooled.retained(v, t), self.pooled.before.sent(v, t))
        )
        yield Obligation(
            f"settled, {base} / {only.name}",
            formula(only.at(u, s)),
            [formula(remembered), formula(self._held_before())],
            {
                "something retained is wanted": formula(logic.all_of(wanted, retained)),
                "something is wanted whose withdrawal is held": formula(logic.all_of(wanted, self._is_held(s))),
            },
        )
        candidate = self.promised.candidate(u, s)
        alone = logic.every((SUB,), lambda t: logic.equal(t, s))
        yield Obligation(
            f"settled, {base} / {covered.name}",
            formula(covered.at(u, s)),
            [*self._covering(), formula(self._finitely_many(s))],
            {"a candidate, the only subscription": formula(logic.all_of(candidate, alone))},
        )

    def _held_before(self) -> Truth:
        """Where anybody is settled, nothing is held that was not held before."""
        now, then = self.promised.held, self.pooled.held
        return self.logic.every((SUB, BROKER), lambda t, x: self.logic.implies(then(t, x), now(t, x)))

    def _is_held(self, s: Term) -> Truth:
        elsewhere = self.logic.some((BROKER,), lambda x: self.promised.before.subs(s, x))
        held = self.logic.some((BROKER,), lambda x: self.pooled.held(s, x))
        return self.logic.all_of(held, self.logic.no(elsewhere))

    def _covering(self) -> list[z3.BoolRef]:
        clauses = facts_hold(self.logic, self.pooled.facts)
        return [formula(each.closed(self.logic)) for each in clauses if set(each.sorts) == {SUB}]

    def _finitely_many(self, s: Term) -> Truth:
        """Of s and what it could be quenched by, at last, one is quenched by none of them."""
        logic, broker, u = self.logic, self.pooled, self.u
        among = broker.candidate if broker.policy == "active" else broker.fresh

        return topmost_from(logic, SUB, s, lambda t: among(u, t), lambda t, r: broker.quenches(u, t, r))

    # -- where what was sent stays ---------------------------------------------------------------------------------

    def left(self) -> Iterator[Obligation]:
        """PRN-4: a withdrawal is handled, and u is told nothing. Before it, both invariants held of what was sent."""
        logic, u, before, now = self.logic, self.u, self.promised.before, self.promised
        s, gone = logic.constant("s", SUB), logic.constant("gone", SUB)
        earlier = Pruning(logic, now.facts, now.policy, now.here, now.sender, before, before, now.sends)
        only, covered = self.asked(before.sent)
        tables = [each for each in now.new_tables(now.on_unsub(gone)) if each.name in ("advs", "subs")]
        change = [formula(each.closed(logic)) for each in tables]
        drawn = logic.every((SUB,), lambda t: logic.implies(before.sent(u, t), lambda: is_drawn(earlier, u, t)))
        was_covered = logic.every(
            (SUB,),
            lambda r: logic.implies(
                earlier.candidate(u, r),
                lambda: logic.some((SUB,), lambda t: logic.all_of(before.sent(u, t), now.facts.covers(t, r))),
            ),
        )
        kept = formula(logic.all_of(before.sent(u, gone), logic.no(now.candidate(u, gone))))
        yield Obligation(
            f"left as it was / {only.name}",
            formula(only.at(u, s)),
            [*change, formula(drawn)],
            {"what is withdrawn stays": kept},
        )
        yield Obligation(
            f"left as it was / {covered.name}",
            formula(covered.at(u, s)),
            [*change, formula(was_covered)],
            {"a candidate is left": formula(now.candidate(u, s))},
        )


class _Wanting(Congested):
    """Pruning that wants what it is given."""

    wants: Relation

    @classmethod
    def of(cls, broker: Congested, wants: Relation) -> _Wanting:
        b = broker
        made = cls(b.logic, b.facts, b.policy, b.here, b.sender, b.before, b.after, b.sends)
        made.held, made.held_after, made.wants = b.held, b.held_after, wants
        return made

    def wanted(self, u: Term, s: Term) -> Truth:
        return self.wants(u, s)


def keeps_its_promises() -> list[Obligation]:
    """Where a neighbour is settled, under either base; and where it is left as it was, which knows no base."""
    settled = [each for base in BASES for each in Broker.under(base).settled(base)]
    return [*settled, *Broker.under(BASES[0]).left()]
