"""Fields of messages and tables by their declared types: renamed, written as JSON, and read again or refused."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, Literal

import pytest
from attrs import frozen

from routeproof.model.fields import (
    ORDERED,
    Advertisement,
    Misfit,
    Node,
    Publication,
    Subscription,
    choices_of,
    entities_in,
    from_json,
    order,
    rename,
    renamer,
    to_json,
)
from routeproof.model.filters import EventSet

A, B = (Advertisement(n, id, EventSet.of([n])) for n, id in enumerate("ab"))
S = Subscription(0, "s", EventSet.of([0]))
P = Publication(3, "p", "a", 0)
KNOWN: dict[str, Any] = {"a": A, "b": B, "s": S, "p": P}


class Twice:
    """Numbers are doubled; letters are said twice. The order of the advertisements is turned round."""

    def node(self, node: int) -> int:
        return 2 * node

    def advertisement(self, item: Advertisement) -> Advertisement:
        return Advertisement(9 - item.rank, 2 * item.id, item.filter)

    def subscription(self, item: Subscription) -> Subscription:
        return Subscription(item.rank, 2 * item.id, item.filter)

    def publication(self, item: Publication) -> Publication:
        return Publication(item.rank, 2 * item.id, 2 * item.of, item.event)

    def id(self, kind: str, id: str) -> str:
        return f"{kind} {id}"


@frozen
class Inner:
    at: Node
    number: int = 0


@frozen
class Outer:
    word: Literal["yes", "no"]
    inner: Inner
    many: tuple[Inner, ...] = ()
    header: Hashable = None


NAMES = Twice()
AA, BB, SS, PP = (NAMES.advertisement(A), NAMES.advertisement(B), NAMES.subscription(S), NAMES.publication(P))
OF = [
    (Node, 3, 6),
    (int, 3, 3),
    (Advertisement, A, AA),
    (Subscription, S, SS),
    (Publication, P, PP),
    (Annotated[str, "advertisement"], "a", "advertisement a"),
    (Annotated[str, "subscription"], "a", "subscription a"),
    (Annotated[str, "publication"], "a", "publication a"),
    (Annotated[int, "nothing of ours"], 3, 3),
    (tuple[Node, ...], (1, 2), (2, 4)),
    (tuple[Node, int], (1, 2), (2, 2)),
    (tuple[Node, Advertisement, str], (1, A, "x"), (2, AA, "x")),
    (frozenset[Node], frozenset((1, 2)), frozenset((2, 4))),
    (Annotated[tuple[Advertisement, ...], ORDERED], (A, B), (BB, AA)),
    (tuple[Advertisement, ...], (A, B), (AA, BB)),
    (Annotated[tuple[tuple[Advertisement, Node], ...], ORDERED], ((A, 1), (B, 2)), ((BB, 4), (AA, 2))),
    (Node | None, None, None),
    (Node | None, 4, 8),
    (Advertisement | Subscription, S, SS),
    (Literal["x"] | Node, 4, 8),
    (Literal["x"] | Node, "x", "x"),
    (Inner | None, Inner(1, 1), Inner(2, 1)),
    (Inner, Inner(1, 1), Inner(2, 1)),
    (Hashable, Inner(1, 1), Inner(2, 1)),
    (Hashable, A, A),
    (Hashable, 7, 7),
]


@pytest.mark.parametrize(("hint", "value", "renamed"), OF, ids=str)
def test_a_value_is_renamed_by_its_type(hint: Any, value: object, renamed: object) -> None:
    assert renamer(hint)(value, NAMES) == renamed


def test_all_fields_are_renamed() -> None:
    outer = Outer("yes", Inner(1, 1), (Inner(2, 2), Inner(3)))
    assert rename(outer, NAMES) == Outer("yes", Inner(2, 1), (Inner(4, 2), Inner(6)))


def test_the_order_of_ids() -> None:
    assert [order(each) for each in (A, S, P)] == [(0, "a"), (0, "s"), (3, "p")]
    assert order((B, 4, Inner(1, 2))) == ((1, "b"), 4, (1, 2))


def test_what_a_value_holds() -> None:
    assert choices_of(Outer) == {"word": ("yes", "no")}
    assert list(entities_in(Held(A, (S, 3), 7, P))) == [A, S]


@frozen
class Held:
    one: Advertisement
    more: tuple[Any, ...]
    number: int
    header: Any


def find(kind: Any, id: str) -> Any:
    return KNOWN[id] if isinstance(KNOWN.get(id), kind) else None


JSON = [
    (int, 3, 3),
    (str, "x", "x"),
    (bool, True, True),
    (None, None, None),
    (type(None), None, None),
    (Annotated[int, "mark"], 3, 3),
    (int | None, None, None),
    (int | str, "x", "x"),
    (Literal["x", "y"], "y", "y"),
    (Advertisement, "a", A),
    (Publication, "p", P),
    (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
    (tuple[int, ...], [], ()),
    (tuple[int, str], [1, "x"], (1, "x")),
    (frozenset[int], [1, 2], frozenset((1, 2))),
    (Inner, [1, 2], Inner(1, 2)),
    (tuple[Inner, ...], [[1, 2], [3, 4]], (Inner(1, 2), Inner(3, 4))),
]


@pytest.mark.parametrize(("hint", "raw", "value"), JSON, ids=str)
def test_there_and_back(hint: Any, raw: object, value: object) -> None:
    assert from_json(raw, hint, find) == value
    assert to_json(value) == raw


def test_a_set_is_written_in_order() -> None:
    assert to_json(frozenset((70, 3, 1000, -1))) == [-1, 3, 70, 1000]


@pytest.mark.parametrize(
    ("hint", "raw", "expected"),
    [
        *(
            (int, "x", "a whole number"),
            (int, True, "a whole number"),
            (str, 1, "a string"),
            (bool, 1, "true or false"),
        ),
        *(
            (None, 0, "null"),
            (int | None, "x", "a whole number or null"),
            (int | str, None, "a whole number or a string"),
        ),
        *((Literal["x", "y"], "z", "one of x, y"), (Advertisement, 1, "an id")),
        *(
            (Advertisement, "s", "the id of a known advertisement"),
            (Subscription, "z", "the id of a known subscription"),
        ),
        *((tuple[int, ...], 1, "a list"), (tuple[int, ...], ["x"], "a whole number"), (frozenset[int], {}, "a list")),
        *((tuple[int, str], [1], "a list of 2"), (tuple[int, str], [1, "x", 2], "a list of 2")),
        *((Inner, 1, "a list"), (Inner, [1], "a list of 2"), (Inner, [1, "x"], "a whole number")),
        (tuple[int, int], [1, 2, 3], "a list of 2"),
    ],
    ids=str,
)
def test_what_is_none_of_the_type(hint: Any, raw: object, expected: str) -> None:
    with pytest.raises(Misfit) as refused:
        from_json(raw, hint, find)
    assert str(refused.value) == expected
