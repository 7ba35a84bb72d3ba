"""A counterexample to induction: a moment of which all invariants are true, and a step after which one is not.

Nobody says that the moment can be reached: either the protocol is wrong, or an invariant is missing that rules the
moment
out. It is shown as a step of the smallest world that has one, and written as a trace: every broker's tables, what is
queued, and the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import z3
from attrs import field, frozen

from routeproof.checker.prove.small import SIZES, Size, Small, small_world
from routeproof.spec.theory.invariants import Moment
from routeproof.spec.theory.invariants_obligations import Inductive
from routeproof.spec.theory.invariants_steps import Named
from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.readings import ADV, BROKER, ITEM, PUB, SUB, Sort, Term
from routeproof.spec.theory.signature import ABOUT
from routeproof.traces.rows import event_row, header_row, to_text

VERB = {"adv": "advertise", "unadv": "unadvertise", "sub": "subscribe", "unsub": "unsubscribe", "pub": "publish"}


@frozen
class Found:
    """A counterexample in a small world."""

    asked: Inductive
    small: Small
    model: z3.ModelRef = field(repr=False)

    def holds(self, truth: Truth) -> bool:
        return truth if isinstance(truth, bool) else z3.is_true(self.model.eval(truth, model_completion=True))

    def name(self, term: Term) -> str:
        value = self.model.eval(term, model_completion=True)
        name: str = value.decl().name()
        return name.partition("of")[0]

    def value(self, term: Term) -> Term:
        """The element that a term is."""
        return self.model.eval(term, model_completion=True)

    def each(self, *sorts: Sort) -> Iterator[tuple[Term, ...]]:
        return product(*(self.small.logic.elements[sort] for sort in sorts))

    @property
    def by(self) -> Named | None:
        return self.small.stage.named(self.asked.event) if self.asked.event else None

    # -- what is told of it ------------------------------------------------------------------------------------------

    def shown(self) -> dict[str, str]:
        """In words, for people."""
        now, rows = self.small.stage.now, {"overlay": ", ".join(f"{x} -- {y}" for x, y in self.links())}
        rows["homes"] = self._homes()
        rows["filters"] = self._filters()
        for (b,) in self.each(BROKER):
            rows[f"{self.name(b)} knows"] = _listed(self._tables(now, b))
        for (x, y), words in self.queues(now).items():
            rows[f"queued {x} to {y}"] = ", ".join(words)
        rows["ghosts"] = _listed(self._ghosts(now))
        if self.by is not None:
            rows["step"] = self._step(self.by)
            rows["says"] = _listed(f"{word} to {u}" for u, word in self.said())
            then = self.small.stage.then
            rows[f"{self.name(self.by.here)} knows after"] = _listed(self._tables(then, self.by.here))
        rows["fails"] = self.asked.sentence.about
        terms = zip(self.small.terms(self.asked.sentence.sorts), self.asked.sentence.sorts, strict=True)
        rows["of"] = _listed(self._item(term) if sort == ITEM else self.name(term) for term, sort in terms)
        return rows

    def trace(self) -> str:
        """As a trace (docs/traces.md): snapshots, what is queued as notes, and the step."""
        policy = self.small.proof.policy or "active"
        brokers = [self.name(b) for (b,) in self.each(BROKER)]
        header = header_row(
            self.asked.name, "routing", policy, self.links(), "events", ["receive", "send", "deliver", "client"]
        )
        rows, seq = [header], 0

        def add(broker: str, event: str, peer: str = "", **more: object) -> None:
            nonlocal seq
            seq += 1
            rows.append(event_row(broker, seq, event, peer, **more))

        now = self.small.stage.now
        for (b,) in self.each(BROKER):
            add(self.name(b), "snapshot", tables=self._snapshot(now, b))
        for (x, y), words in self.queues(now).items():
            add(x, "note", text=f"queued to {y}: {', '.join(words)}")
        add(brokers[0], "note", text=f"ghosts: {_listed(self._ghosts(now))}")
        if self.by is not None:
            here, event = self.name(self.by.here), self.asked.event
            assert event is not None
            message = {"kind": VERB[event.kind], "id": self.name(self.by.subject)}
            if event.operation:
                add(here, "client", f"client-{message['id']}", message=message)
            else:
                add(here, "receive", self.name(self.by.sender), message=message)
            for u, word in self.said():
                kind, _, id = word.rstrip(")").partition("(")
                add(here, "send", u, message={"kind": VERB[kind], "id": id})
            add(here, "snapshot", tables=self._snapshot(self.small.stage.then, self.by.here))
        add(brokers[0], "note", text=f"fails: {self.asked.sentence.about}")
        return to_text(rows)

    def links(self) -> list[tuple[str, str]]:
        link = self.small.stage.now.tree.link
        pairs = ((x, y) for x, y in self.each(BROKER, BROKER) if self.holds(link(x, y)))
        return sorted((self.name(x), self.name(y)) for x, y in pairs if self.name(x) < self.name(y))

    def queues(self, moment: Moment) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[Term]] = {}
        for i, x, y in self.each(ITEM, BROKER, BROKER):
            if self.holds(moment.state.on(i, x, y)):
                found.setdefault((self.name(x), self.name(y)), []).append(i)
        return {link: [self._word(i) for i in self._sorted(items)] for link, items in found.items()}

    def said(self) -> list[tuple[str, str]]:
        """What is said in the step, in order."""
        to = self.small.stage.sends.to
        pairs = [(i, u) for i, u in self.each(ITEM, BROKER) if self.holds(to(i, u))]
        order = {i.get_id(): place for place, i in enumerate(self._sorted([i for i, _ in pairs]))}
        return [(self.name(u), self._word(i)) for i, u in sorted(pairs, key=lambda pair: order[pair[0].get_id()])]

    def _sorted(self, items: Sequence[Term]) -> list[Term]:
        before = self.small.stage.now.facts.before
        return sorted(items, key=lambda i: sum(self.holds(before(j, i)) for (j,) in self.each(ITEM)))

    def _word(self, item: Term) -> str:
        facts = self.small.stage.now.facts
        for kind, sort in ABOUT.items():
            for (m,) in self.each(sort):
                if self.holds(facts.says(kind)(item, m)):
                    return f"{kind}({self.name(m)})"
        return "nothing"

    def _item(self, term: Term) -> str:
        return f"the message {self._word(self.value(term))}"

    def _step(self, by: Named) -> str:
        event = self.asked.event
        assert event is not None
        word = f"{event.kind}({self.name(by.subject)})"
        if event.operation:
            return f"{event.operation}({self.name(by.subject)}) at {self.name(by.here)}"
        return f"{self.name(by.here)} handles {word} from {self.name(by.sender)}"

    def _homes(self) -> str:
        now = self.small.stage.now
        rows = [f"{self.name(s)} at {self.name(now.home(s))}" for (s,) in self.each(SUB)]
        rows += [f"{self.name(a)} at {self.name(now.origin(a))}" for (a,) in self.each(ADV)]
        rows += [f"{self.name(p)} of {self.name(now.facts.adv_of(p))}" for (p,) in self.each(PUB)]
        return ", ".join(rows)

    def _filters(self) -> str:
        f = self.small.stage.now.facts
        rows = [
            f"{self.name(t)} covers {self.name(s)}"
            for t, s in self.each(SUB, SUB)
            if not t.eq(s) and self.holds(f.covers(t, s))
        ]
        rows += [
            f"{self.name(a)} overlaps {self.name(s)}" for a, s in self.each(ADV, SUB) if self.holds(f.overlaps(a, s))
        ]
        rows += [
            f"{self.name(p)} matches {self.name(s)}" for p, s in self.each(PUB, SUB) if self.holds(f.matches(p, s))
        ]
        return _listed(rows)

    def _tables(self, moment: Moment, b: Term) -> list[str]:
        state, rows = moment.state, []
        for relation, sort in ((state.advs, ADV), (state.subs, SUB)):
            rows += [
                f"{self.name(m)} from {self._hop(b, x)}"
                for m, x in self.each(sort, BROKER)
                if self.holds(relation(b, m, x))
            ]
        rows += [
            f"sent {self.name(s)} to {self.name(u)}"
            for u, s in self.each(BROKER, SUB)
            if self.holds(state.sent(b, u, s))
        ]
        return rows

    def _hop(self, b: Term, x: Term) -> str:
        return "a client" if self.name(b) == self.name(x) else self.name(x)

    def _snapshot(self, moment: Moment, b: Term) -> dict[str, object]:
        state = moment.state

        def entries(relation: Callable[..., Truth], sort: Sort) -> list[dict[str, str]]:
            held = [(m, x) for m, x in self.each(sort, BROKER) if self.holds(relation(b, m, x))]
            return [
                {"id": self.name(m), **({} if self.name(x) == self.name(b) else {"from": self.name(x)})}
                for m, x in held
            ]

        told = {
            self.name(u): [self.name(s) for (s,) in self.each(SUB) if self.holds(state.sent(b, u, s))]
            for (u,) in self.each(BROKER)
        }
        return {
            "advs": entries(state.advs, ADV),
            "subs": entries(state.subs, SUB),
            "sent": {u: listed for u, listed in told.items() if listed},
        }

    def _ghosts(self, moment: Moment) -> list[str]:
        state, ghosts = moment.state, moment.ghosts
        rows = []
        for name, relation, sorts in (
            ("subscribed", state.subscribed, (SUB,)),
            ("unsubscribed", state.unsubscribed, (SUB,)),
            ("advertised", state.advertised, (ADV,)),
            ("unadvertised", state.unadvertised, (ADV,)),
            ("published", state.published, (PUB,)),
            ("ready", state.ready, (SUB, ADV)),
            ("pledged", ghosts.pledged, (SUB, ADV)),
            ("owed", state.owed, (PUB, SUB)),
            ("delivered", state.delivered, (PUB, SUB)),
            ("heard", ghosts.heard, (BROKER, ADV)),
            ("handled", ghosts.handled, (BROKER, PUB)),
        ):
            rows += [
                f"{name}({', '.join(map(self.name, row))})" for row in self.each(*sorts) if self.holds(relation(*row))
            ]
        for i, s in self.each(ITEM, SUB):
            queued = any(self.holds(state.on(i, x, y)) for x, y in self.each(BROKER, BROKER))
            if queued and self.holds(ghosts.told(i, s)):
                rows.append(f"told({self._word(i)}, {self.name(s)})")
        return rows


def _listed(rows: Iterable[str]) -> str:
    return ", ".join(rows) or "nothing"


def find(asked: Inductive, sizes: Sequence[Size] = SIZES) -> Found | None:
    """In the smallest world that has one."""
    for size in sizes:
        small = small_world(asked.proof, size)
        model = small.against(asked)
        if model is not None:
            return Found(asked, small, model)
    return None
