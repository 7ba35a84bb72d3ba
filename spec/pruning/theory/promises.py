"""Promises of a broker that prunes, on which the proofs of pruning rest.

Where a neighbour is settled, the covering policy chooses from the pool (PRN-9). Where a withdrawal ends (PRN-4), and
toward the neighbour that it came from, everything sent stays. When something retained may go although something draws
it (PRN-12) is left open: any choice will do. So is which withdrawals are held (PRN-6), except that they were held
before the message.

The table `retained` is what was sent and is no candidate any more: an invariant of one broker. So the table says
nothing that the others do not say, and the relation of the proofs (`relation`) may do without it. It is true at first,
where all tables are empty, and after every message, whatever the broker wants: no covering policy, no distance and no
reading has a part in it. What a broker holds (PRN-6) is in its table all the same: `subs` is that of the prose here.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from routeproof.spec.pruning.theory.relation import Congested, PruningRelation, Retaining, is_drawn, relaxed
from routeproof.spec.theory import ADV, BROKER, SUB, Clause, Relation, Symbolic, Term, Truth, declare, topmost_from
from routeproof.spec.theory.invariants.obligations import FAITHFUL
from routeproof.spec.theory.proof import DEFINITION, Obligation, Premise, premise, proved_by
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation import ABOUT, Facts, Sends, TableRelations, facts_hold
from routeproof.spec.theory.relation.routing import Change, HandlerStep
from routeproof.spec.theory.relation.ways import WAYS

RETAINED, INVARIANTS, ORDERED = "PruningRetained", "PruningInvariants", "PoliciesKeepPromises"
"""The theorems about the table `retained`, about what was sent before a message, and that quenching is an order."""

HELD_BEFORE = "where a neighbour is settled, nothing is held that was not held before the message (PRN-6)"

BASES = ("active", "lazy")
"""The covering policy below (`base`)."""


@frozen
class AnyBroker:
    """Any tables before and after a message, what is retained, and a neighbour u."""

    logic: Symbolic
    pooled: Retaining
    promised: Congested
    u: Term

    @classmethod
    def under(cls, base: str) -> AnyBroker:
        logic = Symbolic()
        here, u = logic.constant("here", BROKER), logic.constant("u", BROKER)
        given = (
            here,
            u,
            declare(TableRelations, logic),
            declare(TableRelations, logic, "_after"),
            declare(Sends, logic),
        )
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
            only.at(u, s),
            [Premise(remembered, (proved_by(RETAINED),)), Premise(self._held_before(), (HELD_BEFORE,))],
            {
                "something retained is wanted": logic.all_of(wanted, retained),
                "something is wanted whose withdrawal is held": logic.all_of(wanted, self._is_held(s)),
            },
        )
        candidate = self.promised.candidate(u, s)
        alone = logic.every((SUB,), lambda t: logic.equal(t, s))
        yield Obligation(
            f"settled, {base} / {covered.name}",
            covered.at(u, s),
            [*self._covering(), self._finitely_many(s)],
            {"a candidate, the only subscription": logic.all_of(candidate, alone)},
        )

    def _held_before(self) -> Truth:
        """Where anybody is settled, nothing is held that was not held before."""
        now, then = self.promised.held, self.pooled.held
        return self.logic.every((SUB, BROKER), lambda t, x: self.logic.implies(then(t, x), now(t, x)))

    def _is_held(self, s: Term) -> Truth:
        elsewhere = self.logic.some((BROKER,), lambda x: self.promised.before.subs(s, x))
        held = self.logic.some((BROKER,), lambda x: self.pooled.held(s, x))
        return self.logic.all_of(held, self.logic.no(elsewhere))

    def _covering(self) -> list[Premise]:
        clauses = facts_hold(self.logic, self.pooled.facts)
        return [premise(self.logic, each) for each in clauses if set(each.sorts) == {SUB}]

    def _finitely_many(self, s: Term) -> Premise:
        """Among s and all that could quench it, directly or not, one is quenched by none: a strict order has one."""
        logic, broker, u = self.logic, self.pooled, self.u
        among = broker.candidate if broker.policy == "active" else broker.fresh

        said = topmost_from(logic, SUB, s, lambda t: among(u, t), lambda t, r: broker.quenches(u, t, r))
        return Premise(said, (FINITELY_MANY, proved_by(ORDERED)))

    # -- where what was sent stays ---------------------------------------------------------------------------------

    def left(self) -> Iterator[Obligation]:
        """PRN-4: a withdrawal is handled, u gets no message, and both invariants held before of what was sent."""
        logic, u, before, now = self.logic, self.u, self.promised.before, self.promised
        s, gone = logic.constant("s", SUB), logic.constant("gone", SUB)
        earlier = PruningRelation(logic, now.facts, now.policy, now.here, now.sender, before, before, now.sends)
        only, covered = self.asked(before.sent)
        tables = [each for each in now.new_tables(now.on_unsub(gone)) if each.name in ("advs", "subs")]
        change = [premise(logic, each, FAITHFUL) for each in tables]
        drawn = logic.every((SUB,), lambda t: logic.implies(before.sent(u, t), lambda: is_drawn(earlier, u, t)))
        was_covered = logic.every(
            (SUB,),
            lambda r: logic.implies(
                earlier.candidate(u, r),
                lambda: logic.some((SUB,), lambda t: logic.all_of(before.sent(u, t), now.facts.covers(t, r))),
            ),
        )
        kept = logic.all_of(before.sent(u, gone), logic.no(now.candidate(u, gone)))
        yield Obligation(
            f"left as it was / {only.name}",
            only.at(u, s),
            [*change, Premise(drawn, (proved_by(INVARIANTS),))],
            {"what is withdrawn stays": kept},
        )
        yield Obligation(
            f"left as it was / {covered.name}",
            covered.at(u, s),
            [*change, Premise(was_covered, (proved_by(INVARIANTS),))],
            {"a candidate is left": now.candidate(u, s)},
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
    settled = [each for base in BASES for each in AnyBroker.under(base).settled(base)]
    return [*settled, *AnyBroker.under(BASES[0]).left()]


ONE_LAST_HOP = "PruningSimplePaths"
"""The theorem that a broker has an advertisement from one side only."""

RULES = ("PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13")


class RecordingStep(HandlerStep):
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


def retained_is_what_is_left(handler: type[RecordingStep] = RecordingStep) -> list[Obligation]:
    """After every kind of message."""
    return [each for kind in ABOUT for each in _after(handler, kind)]


def _after(handler: type[RecordingStep], kind: str) -> Iterator[Obligation]:
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
    step = [
        Premise(each, (FAITHFUL,))
        for clause in (*broker.new_tables(change), broker.remembers(change))
        if (each := clause.closed(logic)) is not True
    ]
    yield Obligation(
        f"{kind} / retained is what is left",
        broker.is_what_is_left(broker.noted_after, broker.after.sent, u, s),
        [
            Premise(was, (proved_by(RETAINED),)),
            Premise(alone, (proved_by(WAYS),)),
            Premise(_one_last_hop(broker), (proved_by(ONE_LAST_HOP),)),
            Premise(near(broker.here, u), (DEFINITION,)),
            *step,
        ],
        {"something was sent": broker.before.sent(u, s)},
    )


def _one_last_hop(broker: HandlerStep) -> Truth:
    """RTE-2: an advertisement is in the table once."""
    logic, advs = broker.logic, broker.before.advs
    return logic.every(
        (ADV, BROKER, BROKER),
        lambda a, x, y: logic.implies(logic.all_of(advs(a, x), advs(a, y)), lambda: logic.equal(x, y)),
    )


def _brokers(logic: Symbolic, handler: type[RecordingStep]) -> tuple[RecordingStep, RecordingStep]:
    """A broker, and the same with the tables from before the message, of which the invariant was true."""
    here, sender = logic.constant("here", BROKER), logic.constant("sender", BROKER)
    before, after, sends = (
        declare(TableRelations, logic),
        declare(TableRelations, logic, "_after"),
        declare(Sends, logic),
    )
    facts = declare(Facts, logic)
    broker = handler(logic, facts, "", here, sender, before, after, sends)
    broker.wants, broker.noted, broker.noted_after = (
        logic.relation(name, (BROKER, SUB)) for name in ("wants", "noted", "noted_after")
    )
    return broker, handler(logic, facts, "", here, sender, before, before, sends)
