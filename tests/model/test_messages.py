"""Messages of all protocols as rows, in a word, and of which client."""

from __future__ import annotations

from typing import Any

import pytest

from routeproof.model.filters import EventSet
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Message,
    PackedSubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
    client_of,
    describe,
    from_row,
    to_row,
)
from routeproof.model.migration.vocabulary import Arrive
from routeproof.model.placement.vocabulary import RelocationAnswer, Traced, TraceResult
from routeproof.model.pruning.vocabulary import Congest
from routeproof.model.trees.vocabulary import Commit, EndMark, Insert

A = Advertisement(0, "a", EventSet.of([0]))
S, T = (Subscription(n, id, EventSet.of([n])) for n, id in enumerate("st"))
P = Publication(0, "p", "a", 0)


class Known:
    """Everything is known by its id."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {"a": A, "s": S, "t": T, "p": P}

    def advertisement(self, row: Any) -> Advertisement:
        return self.items[row["id"]]  # type: ignore[no-any-return]  # by id

    def subscription(self, row: Any) -> Subscription:
        return self.items[row["id"]]  # type: ignore[no-any-return]  # by id

    def publication(self, row: Any) -> Publication:
        return self.items[row["id"]]  # type: ignore[no-any-return]  # by id

    def find(self, kind: Any, id: str) -> Any:
        return self.items.get(id)

    def refuse(self, key: str, raw: Any, expected: str) -> Exception:
        return ValueError(f"{key}: {raw!r} is not {expected}")


@pytest.mark.parametrize(
    ("message", "header", "row", "word"),
    [
        (Advertise(A), None, {"kind": "advertise", "id": "a", "filter": [0]}, "adv(a)"),
        (Unsubscribe(S), None, {"kind": "unsubscribe", "id": "s"}, "unsub(s)"),
        (Publish(P), Traced, {"kind": "publish", "id": "p", "of": "a", "event": 0}, "pub(p)"),
        (Publish(P, Traced(3)), Traced, {"kind": "publish", "id": "p", "of": "a", "event": 0, "number": 3}, "pub(p)"),
        (Commit(3), None, {"kind": "commit", "epoch": 3}, "commit(3)"),
        (EndMark(3, 1), None, {"kind": "end-mark", "epoch": 3, "tree": 1}, "end-mark(3, 1)"),
        (Arrive(A, (3, 1)), None, {"kind": "arrive", "id": "a", "path": [3, 1]}, "arrive(a)"),
        (TraceResult(A, 2), None, {"kind": "trace-result", "id": "a", "subscribers": 2}, "trace-result(a)"),
        (Insert(S, ((1, 1, 2),)), None, {"kind": "insert", "id": "s", "hops": [[1, 1, 2]]}, "insert(s)"),
        (Congest(), None, {"kind": "congest"}, "congest"),
    ],
    ids=str,
)
def test_there_and_back(message: Message, header: Any, row: dict[str, object], word: str) -> None:
    said = to_row(message)
    assert {**said, "filter": row.get("filter")} == {**row, "filter": row.get("filter")}
    assert describe(message) == word
    assert from_row(said, type(message), header, Known()) == message


def test_several_items_and_one() -> None:
    both = PackedSubscribe((S, T))
    assert [item["id"] for item in to_row(both)["items"]] == ["s", "t"]
    assert from_row(to_row(both), PackedSubscribe, None, Known()) == both
    wrong_ones: tuple[dict[str, object], ...] = ({"items": []}, {"items": 3}, {})
    for wrong in wrong_ones:
        with pytest.raises(ValueError, match=r"items: .* is not a list of subscriptions"):
            from_row({"kind": "subscribe-many", **wrong}, PackedSubscribe, None, Known())
    with pytest.raises(ValueError, match=r"path: .* is not a list"):
        from_row({"kind": "relocation-answer", "id": "a", "path": 3}, RelocationAnswer, None, Known())


def test_whose_message_it_is() -> None:
    assert [client_of(each) for each in (Advertise(A), Subscribe(T), Publish(P), Deliver(P, S))] == [
        *("client-a", "client-t", "client-a", "client-s")
    ]
    assert client_of(Commit(1)) == "driver"
    with pytest.raises(TypeError, match="'x' is no message"):
        client_of("x")
    with pytest.raises(ValueError, match="one by one"):
        client_of(PackedSubscribe((S,)))
