"""The world as a relation: queues, clients and ghosts around any broker's handler.

`WorldStep` relates two states of the world. A step is a client's operation at its home broker, or the delivery of the
message at the head of one queue; either way one broker handles one message, by the clauses of its handler, and
everything else stays as it was. Links are FIFO and reliable and brokers never fail: faults are no steps here.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, frozen

from routeproof.spec.theory import ADV, BROKER, ITEM, PUB, SUB, Clause, Logic, Sort, Term, Truth, empty
from routeproof.spec.theory.relation import ABOUT, Facts, Sends, WorldState
from routeproof.spec.theory.relation.routing import HandlerStep

OPERATIONS = {"advertise": "adv", "unadvertise": "unadv", "subscribe": "sub", "unsubscribe": "unsub", "publish": "pub"}
"""Operations of clients, and the kind of message that each is."""

DONE: dict[str, tuple[str, Sort]] = {
    "advertise": ("advertised", ADV),
    "unadvertise": ("unadvertised", ADV),
    "subscribe": ("subscribed", SUB),
    "unsubscribe": ("unsubscribed", SUB),
    "publish": ("published", PUB),
}
"""Where the world keeps that it was done."""


@frozen
class Happening:
    """One step's event: which broker receives what from whom."""

    kind: str
    subject: Term
    here: Term
    sender: Term
    """`here` itself where a client speaks."""
    operation: str = ""
    item: Term = None
    """The item that is taken from the queue, unless a client is the sender."""


@define(slots=False, eq=False)
class WorldStep:
    """One step of the world, with the handler of a protocol."""

    logic: Logic
    facts: Facts
    policy: str
    before: WorldState
    after: WorldState
    sends: Sends
    handler: type[HandlerStep] = HandlerStep

    def operation(self, name: str, subject: Term) -> list[Clause]:
        """A client does this: `name` is one of OPERATIONS."""
        home = self._home(name, subject)
        return self.clauses(Happening(OPERATIONS[name], subject, home, home, operation=name))

    def delivery(self, kind: str, subject: Term, item: Term, sender: Term, here: Term) -> list[Clause]:
        """`here` takes `item`, which says `kind` about `subject`, from the link that leads from `sender` to it."""
        return self.clauses(Happening(kind, subject, here, sender, item=item))

    def clauses(self, what: Happening) -> list[Clause]:
        tables = self.before.tables(what.here), self.after.tables(what.here)
        broker = self.handler(self.logic, self.facts, self.policy, what.here, what.sender, *tables, self.sends)
        return [
            Clause("it can happen", (), lambda: self.possible(what)),
            *broker.clauses(what.kind, what.subject),
            *self.elsewhere(what),
            *self.queues(what),
            *self.done(what),
            *self.ghosts(what),
        ]

    def _home(self, name: str, subject: Term) -> Term:
        if DONE[name][1] == SUB:
            return self.facts.home_of_sub(subject)
        return self.facts.home_of_adv(subject if DONE[name][1] == ADV else self.facts.adv_of(subject))

    # -- what can happen -----------------------------------------------------------------------------------------------

    def possible(self, what: Happening) -> Truth:
        logic, f, now, m = self.logic, self.facts, self.before, what.subject
        if not what.operation:
            return logic.all_of(
                now.on(what.item, what.sender, what.here),
                f.says(what.kind)(what.item, m),
                lambda: self.is_head(what.item, what.sender, what.here),
            )
        match what.operation:
            case "unadvertise":
                allowed = logic.all_of(f.may_unadvertise(m), now.advertised(m))
            case "unsubscribe":
                allowed = logic.all_of(f.may_unsubscribe(m), now.subscribed(m))
            case "publish":
                allowed = logic.all_of(now.advertised(f.adv_of(m)), logic.no(now.unadvertised(f.adv_of(m))))
            case _:
                allowed = True
        return logic.all_of(allowed, logic.no(getattr(now, DONE[what.operation][0])(m)))

    def is_head(self, item: Term, x: Term, y: Term) -> Truth:
        """Links are FIFO: nothing on this one is before it."""
        logic, now = self.logic, self.before
        return logic.every((ITEM,), lambda j: logic.implies(now.on(j, x, y), logic.no(self.facts.before(j, item))))

    # -- what stays, and queues ----------------------------------------------------------------------------------------

    def elsewhere(self, what: Happening) -> list[Clause]:
        """No other broker's tables change."""
        logic, now, then = self.logic, self.before, self.after
        return [
            Clause(
                f"{name} of other brokers stay",
                sorts,
                lambda b, m, x, old=old, new=new: logic.implies(
                    logic.apart(b, what.here), logic.iff(new(b, m, x), old(b, m, x))
                ),
            )
            for name, sorts, old, new in (
                ("advs", (BROKER, ADV, BROKER), now.advs, then.advs),
                ("subs", (BROKER, SUB, BROKER), now.subs, then.subs),
                ("sent", (BROKER, BROKER, SUB), now.sent, then.sent),
            )
        ]

    def queues(self, what: Happening) -> list[Clause]:
        """One message is taken, the sent messages join the ends of their queues, and nothing else changes."""
        logic, now, to = self.logic, self.before, self.sends.to
        taken: Callable[[Term], Truth] = (lambda i: False) if what.operation else (lambda i: logic.equal(i, what.item))
        return [
            Clause(
                "the head is taken, what is said is queued, the rest stays",
                (ITEM, BROKER, BROKER),
                lambda i, x, y: logic.iff(
                    self.after.on(i, x, y),
                    logic.any_of(
                        logic.all_of(now.on(i, x, y), logic.no(taken(i))),
                        logic.all_of(logic.equal(x, what.here), to(i, y)),
                    ),
                ),
            ),
            Clause(
                "what is said is new",
                (ITEM, BROKER, BROKER, BROKER),
                lambda i, u, x, y: logic.implies(to(i, u), logic.no(now.on(i, x, y))),
            ),
            Clause(
                "what is said is said to one",
                (ITEM, BROKER, BROKER),
                lambda i, u, v: logic.implies(logic.all_of(to(i, u), to(i, v)), logic.equal(u, v)),
            ),
            Clause(
                "what is said joins the end of its queue",
                (ITEM, ITEM, BROKER),
                lambda i, j, u: logic.implies(logic.all_of(to(i, u), now.on(j, what.here, u)), self.facts.before(j, i)),
            ),
        ]

    # -- clients and ghosts --------------------------------------------------------------------------------------------

    def done(self, what: Happening) -> list[Clause]:
        logic = self.logic
        return [
            Clause(
                f"{field} is what clients have done",
                (sort,),
                lambda m, name=name, field=field: logic.iff(
                    getattr(self.after, field)(m),
                    logic.any_of(
                        getattr(self.before, field)(m),
                        logic.equal(m, what.subject) if name == what.operation else False,
                    ),
                ),
            )
            for name, (field, sort) in DONE.items()
        ]

    def ghosts(self, what: Happening) -> list[Clause]:
        logic, now, then, says = self.logic, self.before, self.after, self.sends.delivers
        return [
            Clause(
                "delivered",
                (PUB, SUB),
                lambda p, s: logic.iff(then.delivered(p, s), logic.any_of(now.delivered(p, s), says(p, s))),
            ),
            Clause(
                "duplicate",
                (),
                lambda: logic.iff(
                    then.duplicate(),
                    logic.any_of(
                        now.duplicate(),
                        lambda: logic.some((PUB, SUB), lambda p, s: logic.all_of(now.delivered(p, s), says(p, s))),
                    ),
                ),
            ),
            Clause("ready", (SUB, ADV), lambda s, a: logic.iff(then.ready(s, a), self.ready(s, a))),
            Clause("owed", (PUB, SUB), lambda p, s: logic.iff(then.owed(p, s), self.owed(what, p, s))),
        ]

    def ready(self, s: Term, a: Term) -> Truth:
        """After the step: all overlapping active pairs where it is quiet, what is left of those before elsewhere."""
        logic, then = self.logic, self.after
        active = logic.all_of(
            then.subscribed(s), logic.no(then.unsubscribed(s)), then.advertised(a), logic.no(then.unadvertised(a))
        )
        return logic.all_of(
            active,
            lambda: logic.cases(
                is_quiet(logic, self.facts, then), self.facts.overlaps(a, s), lambda: self.before.ready(s, a)
            ),
        )

    def owed(self, what: Happening, p: Term, s: Term) -> Truth:
        logic, f, now, m = self.logic, self.facts, self.before, what.subject
        if what.operation == "publish":
            new = logic.all_of(logic.equal(p, m), now.ready(s, f.adv_of(p)), f.matches(p, s))
            return logic.any_of(now.owed(p, s), new)
        if what.operation == "unsubscribe":
            return logic.all_of(now.owed(p, s), logic.apart(s, m))
        return now.owed(p, s)


def is_quiet(logic: Logic, facts: Facts, state: WorldState) -> Truth:
    """No queue holds a control message: anything but a publication."""
    control = [kind for kind in ABOUT if kind != "pub"]
    return logic.all_of(
        *(
            logic.every(
                (ITEM, BROKER, BROKER),
                lambda i, x, y, kind=kind: logic.implies(
                    state.on(i, x, y), lambda: logic.every((ABOUT[kind],), lambda m: logic.no(facts.says(kind)(i, m)))
                ),
            )
            for kind in control
        )
    )


def initially(logic: Logic, state: WorldState) -> list[Clause]:
    """All tables are empty, no message is in flight, and no operation has been done."""
    return empty(logic, state)
