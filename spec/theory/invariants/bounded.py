"""Bounded checking: sentences about a few steps in all worlds of one size, where no proof for all sizes is known. It is
a fallback, and its verdicts name the bound. By where its steps begin there are three kinds, and a bound names its kind:

- *from the beginning*: can something go wrong within so many steps of it? What is found is a run.
- *from any moment of which the invariants are true*: the same, of moments that need not be reachable.
- *k-induction*, for a sentence whose invariant is missing: true at k moments in a row, is it true at the next? Where it
  is, and is true at the first k moments of every run, it is true always, in worlds of that size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from attrs import frozen

from routeproof.spec.theory import Broker, Item, Pub, Sub, Truth
from routeproof.spec.theory.invariants import BASIS, DELIVERS, routing, routing_under
from routeproof.spec.theory.invariants.book import Book, Conjunct, Moment, Sentence
from routeproof.spec.theory.invariants.obligations import FAITHFUL, ONCE, Induction
from routeproof.spec.theory.invariants.step import EVENTS, StepEvent
from routeproof.spec.theory.relation import TREE
from routeproof.spec.theory.relation.routing import POLICIES

DELIVERIES = tuple(event for event in EVENTS if not event.operation)
"""Events that can happen where clients are silent: deliveries of messages."""


class Size(NamedTuple):
    """How many there are of each. A message is one that can be queued, any number of times one after the other."""

    brokers: int
    subscriptions: int
    advertisements: int
    publications: int
    messages: int

    def __str__(self) -> str:
        return ", ".join(
            f"{count} {name if count > 1 else name.removesuffix('s')}"
            for count, name in zip(self, self._fields, strict=True)
        )


@frozen(kw_only=True)
class Bounded:
    """`sentences` are to be true after each step of every run of so many steps, and before the first."""

    name: str
    proof: Induction
    sentences: Sequence[Sentence]
    size: Size
    steps: int
    first: bool = False
    """The run begins where nothing has happened yet."""
    given: Sequence[str] = ()
    """The conjuncts that are true where it begins."""
    supposed: bool = False
    """The sentences are true at all moments but the last: the step of a k-induction."""
    last: bool = False
    """The events that may happen. Each of them must be able to happen, or it is vacuous."""
    events: Sequence[StepEvent] = EVENTS
    """The moments at which the sentences are checked, counted from 0."""
    base: bool = False
    """It is the base of a k-induction, too short for much to happen in it."""

    @property
    def asked_at(self) -> range:
        """The moments for which the sentences are checked, counted from 0."""
        return range(self.steps if self.supposed or self.last else 0, self.steps + 1)


@frozen(kw_only=True)
class Reached:
    """A run of so many steps from the beginning, after which `never` is false: a witness, which shows it for good."""

    name: str
    proof: Induction
    never: Conjunct
    size: Size
    steps: int


@frozen
class BoundedTheorem:
    """Like `Theorem`, of runs in worlds of one size."""

    id: str
    rules: tuple[str, ...]
    about: str
    obligations: Callable[[], Sequence[Bounded | Reached]]
    bound: str = ""
    hypotheses: tuple[str, ...] = ()


def k_induction(
    proof: Induction, sentence: Sentence, size: Size, moments: int, given: Sequence[str] = ()
) -> list[Bounded]:
    """The base, of so many moments from the beginning on, and the step."""
    ask = partial(Bounded, proof=proof, sentences=(sentence,), size=size)
    return [
        ask(name="base", steps=moments - 1, first=True, base=True),
        ask(name="step", steps=moments, given=given, supposed=True),
    ]


# -- the theorems ------------------------------------------------------------------------------------------------------

ALONE = Book()
"""Sentences of which the proofs know nothing: no invariant rests on them."""


@ALONE.conjunct()
def owed_is_pledged(m: Moment, p: Pub, s: Sub) -> Truth:
    """An owed publication was published under an active advertisement that is pledged to its subscription."""
    pledged = m.logic.all_of(m.ghosts.pledged(s, m.facts.adv_of(p)), m.is_active(s), m.state.published(p))
    return m.logic.implies(m.state.owed(p, s), pledged)


@ALONE.conjunct()
def nothing_is_queued(m: Moment, i: Item, x: Broker, y: Broker) -> Truth:
    """No message is on its way."""
    return m.logic.no(m.state.on(i, x, y))


REACHED = Book()
"""A sentence that must not hold always: were it true, the safety properties would be about nothing."""


@REACHED.conjunct()
def nothing_owed_is_delivered_across_a_link(m: Moment, p: Pub, s: Sub) -> Truth:
    """No publication that is owed to a subscription at another broker is ever delivered there, at rest and agreed."""
    logic, home, source = m.logic, m.home(s), m.source(p)
    sent = logic.all_of(m.state.sent(home, source, s), m.state.subs(source, s, home), m.tree.link(home, source))
    return logic.no(
        logic.all_of(m.is_quiet(), m.state.owed(p, s), m.state.delivered(p, s), m.knows(home, m.facts.adv_of(p)), sent)
    )


NEVER = REACHED.conjuncts["nothing owed is delivered across a link"]
TWO, ALL_OF_IT = Size(2, 1, 1, 1, 3), 6
"""One broker advertises and publishes, the other subscribes and is delivered to: three operations, three messages."""


def delivery_happens(name: str, proof: Induction) -> Reached:
    return Reached(name=name, proof=proof, never=NEVER, size=TWO, steps=ALL_OF_IT)


SAFE = ("NoLostDelivery", "NoDuplicate", "Agreement", "NoResidue", "NoStray")
SAFETY_LEMMAS = tuple(name for theorem in SAFE for name in BASIS.proves[theorem])
"""The lemmas that are safety properties, under every policy."""

ONLY = {"none": (), "active": ("compact",), "lazy": ()}
"""Invariants of one policy."""

AT_FIRST, STEPS_AT_FIRST = Size(2, 2, 1, 1, 3), 6
AFTER, STEPS_AFTER = Size(3, 2, 1, 1, 2), 2
SILENT, DELIVERED = Size(2, 2, 1, 1, 3), 4
OWED, MOMENTS = Size(3, 2, 1, 2, 3), 2

ANYWHERE = "from any moment of which the invariants are true"
BOUND_AFTER = f"bounded checking: {STEPS_AFTER} steps {ANYWHERE}, in all worlds of {AFTER}"


def _safety(policy: str, size: Size, steps: int, first: bool) -> Bounded:
    proof = routing_under(policy)
    sentences = [proof.book[name] for name in (*SAFETY_LEMMAS, *ONLY[policy])]
    given = () if first else tuple(proof.book.conjuncts)
    return Bounded(name=policy, proof=proof, sentences=sentences, size=size, steps=steps, first=first, given=given)


def _silence(policy: str) -> Bounded:
    proof, sentences = routing_under(policy), [ALONE["nothing is queued"]]
    ask = partial(Bounded, name=policy, proof=proof, sentences=sentences, size=SILENT, steps=DELIVERED)
    return ask(given=tuple(proof.book.conjuncts), last=True, events=DELIVERIES)


BOUNDED_THEOREMS = (
    BoundedTheorem(
        DELIVERS,
        ("RTE-2", "RTE-3", "RTE-5"),
        "Under each policy, a run from the beginning leads to a delivery that is owed, across a link, at rest.",
        lambda: [delivery_happens(policy, routing_under(policy)) for policy in POLICIES],
        hypotheses=(FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "SafeFromTheBeginning",
        ("RTE-2", "RTE-3", "RTE-5", "RTE-6", "RTE-7", "COV-8"),
        "Under each policy, all safety properties hold in every run.",
        lambda: [_safety(policy, AT_FIRST, STEPS_AT_FIRST, first=True) for policy in POLICIES],
        f"bounded checking: {STEPS_AT_FIRST} steps from the beginning, in all worlds of {AT_FIRST}",
        (FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "SafeFromAnywhere",
        ("RTE-2", "RTE-3", "RTE-5", "RTE-6", "RTE-7", "COV-8"),
        "Under each policy, the safety properties hold from any moment of which the invariants are true.",
        lambda: [_safety(policy, AFTER, STEPS_AFTER, first=False) for policy in POLICIES],
        BOUND_AFTER,
        (FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "SilenceDrains",
        ("RTE-2", "RTE-5", "RTE-8"),
        "Under each policy, where clients are silent, the brokers soon are.",
        lambda: [_silence(policy) for policy in POLICIES],
        f"bounded checking: nothing is queued after {DELIVERED} deliveries {ANYWHERE}, in all worlds of {SILENT}",
        (FAITHFUL, ONCE),
    ),
    BoundedTheorem(
        "OwedIsPledged",
        ("RTE-5",),
        "Always: what is owed was published under an advertisement that is pledged to an active subscription.",
        lambda: k_induction(routing(), ALONE["owed is pledged"], OWED, MOMENTS),
        f"k-induction: {MOMENTS} moments in a row, without any invariant; always, in all worlds of {OWED}",
        (TREE, FAITHFUL, ONCE),
    ),
)
