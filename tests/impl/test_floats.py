"""What an index is sure of where a dialect keeps floats apart from whole numbers: nothing at the bounds themselves."""

from __future__ import annotations

import pytest

from routeproof.impl.index.filter_index import FilterIndex
from routeproof.impl.index.profile import profile_of, spans_of
from tests.kit.own import TYPED

[DIALECT] = TYPED.dialects


@pytest.mark.parametrize("constant", [5.0, -5.0])
@pytest.mark.parametrize("operator", [">", "<", ">=", "<=", "=", "!="])
def test_an_index_finds_what_matches_at_a_bound_and_beside_it(operator: str, constant: float) -> None:
    asked, index = DIALECT.parse([["x", operator, constant]]), FilterIndex()
    index.add(profile_of(asked))
    for value in (constant, constant - 1.5, constant + 1.5, 5, -5):
        event = DIALECT.event({"x": value})
        assert len(list(index.matching(event, spans_of(event)))) == asked.matches(event)
