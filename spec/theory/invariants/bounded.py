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

from routeproof.spec.theory.invariants.book import Conjunct, Lemma
from routeproof.spec.theory.invariants.obligations import Induction
from routeproof.spec.theory.invariants.step import EVENTS, StepEvent

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
    sentences: Sequence[Conjunct | Lemma]
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
    """A run of so many steps from the beginning, after which `never` is false: its witness, in a world of this size.

    What is shown by a witness is shown for good, so there is no bound to it.
    """

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
    proof: Induction, sentence: Conjunct | Lemma, size: Size, moments: int, given: Sequence[str] = ()
) -> list[Bounded]:
    """The base, of so many moments from the beginning on, and the step."""
    ask = partial(Bounded, proof=proof, sentences=(sentence,), size=size)
    return [
        ask(name="base", steps=moments - 1, first=True, base=True),
        ask(name="step", steps=moments, given=given, supposed=True),
    ]
