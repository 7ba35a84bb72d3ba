"""Indexes find what asking every filter finds, while filters come and go."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.fuzz.strategies import pick
from routeproof.checker.validate.fast.buckets import Group
from routeproof.checker.validate.fast.index import BothKinds
from routeproof.model.filters import STRICT, Event, Filter
from tests.checker.validate.replica.speech import material, ranges_of_numbers
from tests.checker.validate.replica.thresholds import SIZES, thresholds

quiet = settings(derandomize=True, deadline=None, max_examples=100)


@pytest.mark.parametrize("size", SIZES)
def test_an_index_finds_what_asking_everybody_finds(size: str) -> None:
    @quiet
    @given(st.one_of(material(), ranges_of_numbers()), st.data())
    def run(drawn: tuple[list[Filter], list[Event]], data: st.DataObject) -> None:
        filters, events = list(dict.fromkeys(drawn[0])), drawn[1]
        index = BothKinds()
        present: dict[Filter, Group] = {}
        for _ in range(3):
            for f in data.draw(st.permutations(filters)):
                if f not in present:
                    present[f] = Group(f)
                    index.add(present[f])
            check(index, present, filters, events)
            leaving = data.draw(st.permutations(filters))
            for f in leaving[: pick(data.draw, range(len(filters)))]:
                index.remove(present.pop(f))
            check(index, present, filters, events)

    with thresholds(size):
        run()


@pytest.mark.parametrize("asked", [["!=", "c0"], ["!=", "c1"], ["prefix", "c"], ["=", "c0"]])
def test_more_values_than_buckets(asked: list[object]) -> None:
    """Then values are not looked through to choose the buckets: each bucket sees to its own."""
    raw: list[list[list[object]]] = [[["class", "=", f"c{n}"]] for n in range(9)]
    raw += [[["class", "=", "c0"], ["price", ">", n]] for n in range(30)]
    present: dict[Filter, Group] = {f: Group(f) for f in map(STRICT.parse, raw)}
    index = BothKinds()
    for group in present.values():
        index.add(group)
    check(index, present, [STRICT.parse([["class", *asked], ["price", ">=", 3]])], [])


def check(index: BothKinds, present: dict[Filter, Group], filters: list[Filter], events: list[Event]) -> None:
    for event in events:
        assert same(index.matching(event), [g for f, g in present.items() if f.matches(event)])
    for asked in filters[:8]:
        assert same(index.covering(asked), [g for f, g in present.items() if f.covers(asked)])
        assert same(index.covered(asked), [g for f, g in present.items() if asked.covers(f)])
        assert same(index.overlapping(asked), [g for f, g in present.items() if f.overlaps(asked)])


def same(found: Iterable[Group], expected: list[Group]) -> bool:
    """The same groups, each once."""
    listed = list(found)
    return len(listed) == len(expected) and set(map(id, listed)) == set(map(id, expected))
