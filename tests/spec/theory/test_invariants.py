"""A book of invariants: what rests on itself, or on nothing that there is, is refused before anything is proved."""

from __future__ import annotations

import pytest

from routeproof.spec.pruning.theory.invariants import PRUNING
from routeproof.spec.theory import SUB, Sub, Truth
from routeproof.spec.theory.invariants import ROUTING, routing_under
from routeproof.spec.theory.invariants.book import Book, Conjunct, Lemma, Moment
from routeproof.spec.theory.invariants.obligations import Induction
from routeproof.spec.theory.relation.routing import POLICIES


def nobody_subscribes(m: Moment, s: Sub) -> Truth:
    """It is false, and follows from itself."""
    return m.logic.no(m.state.subscribed(s))


def conjuncts(**then: str) -> Book:
    """Of these names, each given what it names of the moment after a step."""
    made = (
        Conjunct(name, "", (SUB,), nobody_subscribes, (name,), tuple(after.split())) for name, after in then.items()
    )
    return Book({each.name: each for each in made})


def lemmas(**needs: str) -> Book:
    made = (Lemma(name, "", (SUB,), nobody_subscribes, tuple(given.split())) for name, given in needs.items())
    return Book({}, {each.name: each for each in made})


CIRCLES = {
    "a conjunct that is given itself": conjuncts(one="one"),
    "two conjuncts, each given the other": conjuncts(one="two", two="one"),
    "three of them": conjuncts(one="two", two="three", three="one"),
    "a conjunct, by way of a lemma": conjuncts(one="its") | lemmas(its="one"),
    "a lemma that needs itself": lemmas(one="one"),
    "two lemmas that need each other": lemmas(one="two", two="one"),
}


@pytest.mark.parametrize("book", CIRCLES.values(), ids=CIRCLES)
def test_a_circle_is_refused(book: Book) -> None:
    with pytest.raises(ValueError, match=r"(need each other|rest on each other after a step): .*one"):
        Induction(ROUTING | book)


@pytest.mark.parametrize("book", [conjuncts(one="nowhere"), lemmas(one="nowhere")])
def test_what_rests_on_nothing_that_there_is_is_refused(book: Book) -> None:
    with pytest.raises(ValueError, match="'one' needs what is not in the book: nowhere"):
        Induction(ROUTING | book)


def test_a_book_without_what_the_facts_about_steps_need_is_refused() -> None:
    with pytest.raises(ValueError, match="needs what is not in the book: came from home"):
        Induction(Book())


def test_what_is_given_in_order_is_not_refused() -> None:
    book = conjuncts(one="two its", two="") | lemmas(its="their", their="two")
    order = (ROUTING | book).in_order()
    assert order.index("their") < order.index("its")
    assert order.index("two") < order.index("one")


def test_the_books_that_ship_are_in_order() -> None:
    for book in (ROUTING, PRUNING, *(routing_under(policy).book for policy in POLICIES)):
        assert sorted(book.in_order()) == sorted([*book.conjuncts, *book.lemmas])


# -- one name, one sentence --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [conjuncts(one="two", two=""), lemmas(one="")])
def test_what_is_in_both_books_is_refused(other: Book) -> None:
    with pytest.raises(ValueError, match="in both books: one"):
        conjuncts(one="") | other


def test_what_is_to_stand_in_the_place_of_another_is_named() -> None:
    book = conjuncts(one="", two="").without("one") | conjuncts(one="two")
    assert [*book.conjuncts] == ["two", "one"]
    assert book.conjuncts["one"].then == ("two",)
    with pytest.raises(ValueError, match="not in the book: three"):
        book.without("three")


def test_a_name_is_entered_once() -> None:
    book = Book()
    book.conjunct()(nobody_subscribes)
    with pytest.raises(ValueError, match="'nobody subscribes' is in the book already"):
        book.lemma(needs="")(nobody_subscribes)
