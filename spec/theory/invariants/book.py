"""Invariants of the routing core: their form, and the moment of the world that they speak about.

An invariant is a conjunct with a name: a sentence about every reachable moment. `tables` and `publications` hold them.
Each invariant is written once and read twice (`Logic`): Z3 proves it for all sizes, and it is evaluated on the
model's own runs.

`needs` of a conjunct names the conjuncts that Z3 is given of the moment before a step, and `then` the lemmas that it is
given of the moment after. Z3 is given less than is true, so that a proof is short and says what it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Self, TypeAlias, TypeVar

from attrs import Factory, frozen

from routeproof.spec.theory import ADV, BROKER, ITEM, PUB, SORTS, SUB, Clause, Logic, Relation, Sort, Term, Truth, over
from routeproof.spec.theory.relation import Facts, Tree, WorldState


@frozen
class Ghosts:
    """History that the invariants speak of and no broker sees: it follows from the steps taken so far."""

    told: Relation = over(ITEM, SUB)
    """Once this message is handled, its receiver has s from its sender."""
    heard: Relation = over(BROKER, ADV)
    """The broker has handled an `Adv(a)`."""
    handled: Relation = over(BROKER, PUB)
    pledged: Relation = over(SUB, ADV)
    """(s, a) was ready once, and s was not withdrawn since."""
    quiet: Relation = over()
    """No control message is queued: a name for it, which proofs use without looking into every queue."""


@frozen
class Moment:
    """One state of the world with our ghosts, on a tree."""

    logic: Logic
    facts: Facts
    tree: Tree
    state: WorldState
    ghosts: Ghosts

    def home(self, s: Term) -> Term:
        return self.facts.home_of_sub(s)

    def origin(self, a: Term) -> Term:
        """The broker at which it is advertised."""
        return self.facts.home_of_adv(a)

    def source(self, p: Term) -> Term:
        """The broker at which it is published."""
        return self.origin(self.facts.adv_of(p))

    def toward(self, x: Term, z: Term) -> Term:
        return self.tree.toward(x, z)

    def equal(self, one: Term, other: Term) -> Truth:
        return self.logic.equal(one, other)

    def is_active(self, s: Term) -> Truth:
        return self.logic.all_of(self.state.subscribed(s), self.logic.no(self.state.unsubscribed(s)))

    def is_advertised(self, a: Term) -> Truth:
        return self.logic.all_of(self.state.advertised(a), self.logic.no(self.state.unadvertised(a)))

    def is_quiet(self) -> Truth:
        quiet: Truth = self.ghosts.quiet()
        return quiet

    def is_outward(self, x: Term, y: Term, root: Term) -> Truth:
        """The link from x to y leads away from the root."""
        return self.logic.all_of(self.tree.link(x, y), self.equal(x, self.toward(y, root)))

    def is_between(self, s: Term, x: Term, a: Term) -> Truth:
        """x is on the path from the home of s to the origin of a, and there is a link on from it."""
        root = self.origin(a)
        return self.logic.all_of(self.tree.between(self.home(s), x, root), self.logic.apart(x, root))

    def knows(self, b: Term, a: Term) -> Truth:
        """b has a from where it must have come."""
        return self.state.advs(b, a, self.toward(b, self.origin(a)))

    def says_of(self, i: Term, s: Term) -> Truth:
        """The message is about s."""
        return self.logic.any_of(self.facts.is_sub(i, s), self.facts.is_unsub(i, s))

    def queued(self, kind: str, i: Term, x: Term, y: Term, m: Term) -> Truth:
        return self.logic.all_of(self.state.on(i, x, y), self.facts.says(kind)(i, m))

    def no_later(self, i: Term, j: Term) -> Truth:
        return self.logic.any_of(self.equal(i, j), self.facts.before(i, j))

    def differ(self, one: Truth, other: Truth) -> Truth:
        return self.logic.no(self.logic.iff(one, other))

    def candidate(self, x: Term, y: Term, s: Term) -> Truth:
        """RTE-3, of the tables as they are: what came to x from elsewhere, and intersects what came from y."""
        logic, state = self.logic, self.state
        return logic.all_of(
            logic.some((BROKER,), lambda f: logic.all_of(state.subs(x, s, f), logic.apart(f, y))),
            lambda: logic.some((ADV,), lambda a: logic.all_of(state.advs(x, a, y), self.facts.overlaps(a, s))),
        )


@frozen
class AlongPath:
    """A property that passes along each link from `start` to `end`, of which a lemma is given `path_induction`."""

    holds: Callable[[Term], Truth]
    start: Term
    end: Term


Body: TypeAlias = Callable[..., Truth]
S = TypeVar("S", bound="Sentence")


@frozen
class Sentence:
    """A sentence about all elements of its sorts, under a name."""

    name: str
    about: str
    sorts: tuple[Sort, ...]
    body: Body
    needs: tuple[str, ...]
    """The conjuncts and lemmas that its proof is given of the same moment, or of the moment before a step."""

    @classmethod
    def of(cls, body: Body, needs: str, *more: Any) -> Self:
        """The function's name is the sentence's, its docstring is what it says, and its parameters have the sorts."""
        sorts = tuple(each for each in body.__annotations__.values() if each in SORTS)
        about = " ".join((body.__doc__ or "").split())
        return cls(words(body.__name__), about, sorts, body, names(needs), *more)

    def clause(self, *about: Any) -> Clause:
        """Returns the sentence about a moment; for a fact about steps, about a stage and the terms of a step."""
        return Clause(self.name, self.sorts, lambda *terms: self.body(*about, *terms))


@frozen
class Conjunct(Sentence):
    """An invariant, or a part of one: true before a step, it is true after it. It is a premise of its own proof."""

    then: tuple[str, ...] = ()
    """Premises about the moment after it: never one that rests on this conjunct in turn (`Book.in_order`)."""


@frozen
class Lemma(Sentence):
    """Something that follows from invariants of the same moment, by induction along a path where it has one."""

    induction: Callable[..., AlongPath] | None = None
    """The induction for these terms."""


@frozen
class Book:
    """Conjuncts and lemmas by name, in the order in which they are written down."""

    conjuncts: dict[str, Conjunct] = Factory(dict)
    lemmas: dict[str, Lemma] = Factory(dict)

    def conjunct(self, needs: str = "", then: str = "") -> Callable[[Body], Body]:
        """Enters a function as a conjunct (`Sentence.of`)."""
        return self._entering(self.conjuncts, lambda body: Conjunct.of(body, f"{body.__name__} {needs}", names(then)))

    def lemma(self, needs: str, induction: Callable[..., AlongPath] | None = None) -> Callable[[Body], Body]:
        """Enters a function as a lemma (`Sentence.of`)."""
        return self._entering(self.lemmas, lambda body: Lemma.of(body, needs, induction))

    def _entering(self, chapter: dict[str, S], made: Callable[[Body], S]) -> Callable[[Body], Body]:
        def enter(body: Body) -> Body:
            each = made(body)
            if each.name in self:
                raise ValueError(f"'{each.name}' is in the book already")
            chapter[each.name] = each
            return body

        return enter

    def __or__(self, other: Book) -> Book:
        """Both. What is in both is refused: to put one in the place of another, leave that out by name (`without`)."""
        if twice := [name for name in (*other.conjuncts, *other.lemmas) if name in self]:
            raise ValueError(f"these are in both books: {', '.join(twice)}")
        return Book({**self.conjuncts, **other.conjuncts}, {**self.lemmas, **other.lemmas})

    def without(self, *names: str) -> Book:
        if unknown := [name for name in names if name not in self]:
            raise ValueError(f"these are not in the book: {', '.join(unknown)}")
        return Book(
            {name: each for name, each in self.conjuncts.items() if name not in names},
            {name: each for name, each in self.lemmas.items() if name not in names},
        )

    def __contains__(self, name: str) -> bool:
        return name in self.conjuncts or name in self.lemmas

    def __getitem__(self, name: str) -> Sentence:
        return self.conjuncts[name] if name in self.conjuncts else self.lemmas[name]

    def rests_on(self, name: str) -> frozenset[str]:
        """The conjuncts behind a lemma, or behind what a conjunct is given of the moment after."""
        here = self[name]
        if isinstance(here, Conjunct):
            return frozenset([name])
        return frozenset().union(*(self.rests_on(each) for each in here.needs))

    def in_order(self) -> list[str]:
        """The lemmas, each after those that it needs; then the conjuncts, each after those that it is given of the
        moment after a step. What goes in a circle proves nothing, and is refused."""
        for each in (*self.conjuncts.values(), *self.lemmas.values()):
            self.refuse_unknown(each.name, (*each.needs, *getattr(each, "then", ())))
        lemmas = {name: {need for need in each.needs if need in self.lemmas} for name, each in self.lemmas.items()}
        in_order = _each_after("these need each other", lemmas)
        behind = {name: set().union(*map(self.rests_on, each.then)) for name, each in self.conjuncts.items()}
        return in_order + _each_after("these rest on each other after a step", behind)

    def refuse_unknown(self, name: str, needs: Iterable[str]) -> None:
        if unknown := [each for each in needs if each not in self]:
            raise ValueError(f"'{name}' needs what is not in the book: {', '.join(unknown)}")


def _each_after(circle: str, behind: Mapping[str, Collection[str]]) -> list[str]:
    order: dict[str, None] = {}
    waiting = dict(behind)
    while waiting:
        free = [name for name, needed in waiting.items() if all(each in order for each in needed)]
        if not free:
            raise ValueError(f"{circle}: {', '.join(waiting)}")
        order |= dict.fromkeys(free)
        waiting = {name: needed for name, needed in waiting.items() if name not in order}
    return list(order)


def words(name: str) -> str:
    return name.replace("_", " ")


def names(listed: str) -> tuple[str, ...]:
    return tuple(map(words, listed.split()))
