"""Facts about every step, for any policy: which messages it sends, and what each receiver knows after them.

`told` speaks of everything that was sent up to a message. These are the only consequences that the invariants use.
The fourth is the purpose of sending additions before removals (COV-8): at no message in between does a neighbour lack
both what it had and what it will have.

`Basis` names the theorems that a theorem about invariants rests on: those that prove what its own proof is given. This
follows from the sentences that each sentence of the book needs. Invariants that need each other are one proof by
induction over the steps: each is given what the others say of the moment before. So their theorems rest on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import field, frozen

from routeproof.spec.theory import ITEM, Adv, Broker, Item, Sub, Truth
from routeproof.spec.theory.invariants.book import Body, Book, Conjunct, Lemma, Sentence
from routeproof.spec.theory.invariants.step import StepEvent, StepView
from routeproof.spec.theory.relation.ways import WAYS
from routeproof.spec.theory.relation.world import Happening, is_quiet


@frozen
class StepFact(Sentence):
    """A sentence about a step: its body is given the stage, the step's own terms and all others."""

    deliveries: bool
    """It is about deliveries only."""


FACTS: dict[str, StepFact] = {}


def fact(needs: str = "", deliveries: bool = False) -> Callable[[Body], Body]:
    """Enters a function as a fact (`Sentence.of`)."""

    def enter(body: Body) -> Body:
        made = StepFact.of(body, needs, deliveries)
        FACTS[made.name] = made
        return body

    return enter


def facts_of(event: StepEvent) -> list[StepFact]:
    return [fact for fact in FACTS.values() if not (event.operation and fact.deliveries)]


@fact()
def said_to_neighbours(g: StepView, by: Happening, i: Item, u: Broker) -> Truth:
    """Only neighbours get messages."""
    return g.now.logic.implies(g.sends.to(i, u), g.now.tree.link(by.here, u))


@fact()
def new_messages_come_last(g: StepView, by: Happening, i: Item, j: Item, u: Broker) -> Truth:
    """Nothing new comes before what was queued there already."""
    logic = g.now.logic
    queued = logic.all_of(g.sends.to(i, u), g.now.state.on(j, by.here, u))
    return logic.implies(queued, logic.no(g.now.facts.before(i, j)))


@fact()
def changes_are_said(g: StepView, by: Happening, u: Broker, s: Sub) -> Truth:
    """If the set of sent subscriptions changes, the neighbour gets a message."""
    logic = g.now.logic
    return logic.implies(
        g.now.differ(g.now.state.sent(by.here, u, s), g.then.state.sent(by.here, u, s)),
        lambda: logic.some((ITEM,), lambda i: logic.all_of(g.sends.to(i, u), g.now.says_of(i, s))),
    )


@fact()
def quiet_is_without_control(g: StepView, by: Happening) -> Truth:
    """It is quiet exactly where no queue holds a control message."""
    logic, quiet = g.now.logic, g.then.is_quiet()
    silent = is_quiet(logic, g.now.facts, g.then.state)
    return logic.all_of(logic.implies(quiet, silent), logic.implies(silent, quiet))


@fact()
def ready_before_or_quiet(g: StepView, by: Happening, s: Sub, a: Adv) -> Truth:
    """A pair that is ready after a step is active; and it was ready before, or it is quiet and the two overlap."""
    logic, now, then = g.now.logic, g.now, g.then
    return logic.implies(
        then.state.ready(s, a),
        lambda: logic.all_of(
            then.is_active(s),
            then.is_advertised(a),
            logic.any_of(now.state.ready(s, a), logic.all_of(then.is_quiet(), now.facts.overlaps(a, s))),
        ),
    )


@fact()
def old_messages_tell_as_before(g: StepView, by: Happening, i: Item, s: Sub, x: Broker, y: Broker) -> Truth:
    """The content of a message does not change while it is queued."""
    logic = g.now.logic
    return logic.implies(g.now.state.on(i, x, y), logic.iff(g.then.ghosts.told(i, s), g.now.ghosts.told(i, s)))


@fact()
def all_of_the_old_or_all_of_the_new(g: StepView, by: Happening, i: Item, u: Broker, s: Sub, t: Sub) -> Truth:
    """After each new message, the neighbour has all that was sent before the step, or all that is sent after it."""
    logic, told = g.now.logic, g.then.ghosts.told
    sent = logic.all_of(g.now.state.sent(by.here, u, s), g.then.state.sent(by.here, u, t))
    return logic.implies(logic.all_of(g.sends.to(i, u), sent), logic.any_of(told(i, s), told(i, t)))


@fact()
def new_messages_tell_what_they_say(g: StepView, by: Happening, i: Item, s: Sub, u: Broker) -> Truth:
    """After Sub(s) the receiver has s, after Unsub(s) it has not."""
    logic, told, f = g.now.logic, g.then.ghosts.told(i, s), g.now.facts
    return logic.implies(
        g.sends.to(i, u),
        logic.all_of(logic.implies(f.is_sub(i, s), told), logic.implies(f.is_unsub(i, s), logic.no(told))),
    )


@fact()
def said_since_the_step_began(g: StepView, by: Happening, i: Item, s: Sub, u: Broker) -> Truth:
    """Where a new message tells other than what was sent before, a message up to it is about that."""
    logic, to, m = g.now.logic, g.sends.to, g.now
    return logic.implies(
        logic.all_of(to(i, u), m.differ(g.then.ghosts.told(i, s), m.state.sent(by.here, u, s))),
        lambda: logic.some((ITEM,), lambda k: logic.all_of(to(k, u), m.says_of(k, s), m.no_later(k, i))),
    )


@fact()
def said_until_the_step_ends(g: StepView, by: Happening, i: Item, s: Sub, u: Broker) -> Truth:
    """Where a new message tells other than what is sent in the end, a message after it is about that."""
    logic, to, m = g.now.logic, g.sends.to, g.now
    return logic.implies(
        logic.all_of(to(i, u), m.differ(g.then.ghosts.told(i, s), g.then.state.sent(by.here, u, s))),
        lambda: logic.some((ITEM,), lambda k: logic.all_of(to(k, u), m.says_of(k, s), m.facts.before(i, k))),
    )


@fact()
def said_in_between(g: StepView, by: Happening, i: Item, j: Item, s: Sub, u: Broker) -> Truth:
    """Where two new messages tell differently, one after the first and up to the second is about that."""
    logic, to, m, told = g.now.logic, g.sends.to, g.now, g.then.ghosts.told
    return logic.implies(
        logic.all_of(to(i, u), to(j, u), m.facts.before(i, j), m.differ(told(i, s), told(j, s))),
        lambda: logic.some(
            (ITEM,), lambda k: logic.all_of(to(k, u), m.says_of(k, s), m.facts.before(i, k), m.no_later(k, j))
        ),
    )


PATHS = "came_from_home said_away_from_home queues_are_on_links"


@fact(needs=f"{PATHS} told_what_is_said has_or_is_told in_one_queue", deliveries=True)
def the_receiver_has_what_it_was_told(g: StepView, by: Happening, s: Sub) -> Truth:
    """Once a message is handled, its receiver has from its sender what it tells."""
    return g.now.logic.iff(g.then.state.subs(by.here, s, by.sender), g.now.ghosts.told(by.item, s))


@fact(needs=PATHS)
def nothing_else_comes_from_neighbours(g: StepView, by: Happening, x: Broker, y: Broker, s: Sub) -> Truth:
    """A broker's entries from any other neighbour do not change, nor does any other broker's table."""
    logic = g.now.logic
    spoken = logic.all_of(logic.equal(x, by.sender), logic.equal(y, by.here))
    return logic.implies(
        logic.all_of(g.now.tree.link(x, y), logic.no(spoken)),
        logic.iff(g.then.state.subs(y, s, x), g.now.state.subs(y, s, x)),
    )


@frozen
class Basis:
    book: Book
    proves: Mapping[str, Iterable[str]]
    """By theorem, the sentences of the book that it proves."""
    facts: str
    """The theorem of the facts about steps, which are given to every conjunct."""
    promises: str
    """The theorem of the promises that policies keep, which are given of a step where they matter."""
    theorem_of: Mapping[str, str] = field(init=False)
    """By sentence of the book, the theorem that proves it."""

    @theorem_of.default
    def _by_sentence(self) -> dict[str, str]:
        return {name: theorem for theorem, names in self.proves.items() for name in names}

    def of(self, id: str, *more: str) -> tuple[str, ...]:
        """`more` are those that no name in the book shows."""
        return self._of(id, self.proves[id], more)

    def of_all_conjuncts(self, id: str, *more: str) -> tuple[str, ...]:
        """Where they are proved once more, after other steps."""
        return self._of(id, self.book.conjuncts, more)

    def of_facts(self, *more: str) -> tuple[str, ...]:
        return self._proving(self.facts, (need for each in FACTS.values() for need in each.needs), *more)

    def _of(self, id: str, names: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
        said = [self.book[name] for name in names]
        steps = [each for each in said if isinstance(each, Conjunct)]
        paths = [each for each in said if isinstance(each, Lemma) and each.induction is not None]
        needs = (need for each in said for need in (*each.needs, *(each.then if isinstance(each, Conjunct) else ())))
        return self._proving(id, needs, *([WAYS] if paths else []), *([self.facts] if steps else []), *more)

    def _proving(self, id: str, needs: Iterable[str], *more: str) -> tuple[str, ...]:
        found = dict.fromkeys([*more, *(self.theorem_of[need] for need in needs)])
        return tuple(each for each in found if each != id)
