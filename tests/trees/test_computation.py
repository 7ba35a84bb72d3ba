"""The computation of trees: its invariants on random networks, against exact and brute-force answers."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees import computation_invariants as invariants
from tests.trees.computation_cases import Case, cases

EXAMPLES = 20

SMALL = {"inv_7": 5, "inv_12_exact": 5, "inv_6": 6, "inv_2": 6, "inv_12": 6, "inv_9": 6}
"""Brokers at most, where trees are enumerated or much is computed for each case."""

INVARIANTS: dict[str, Callable[[Case], None]] = {
    name: value
    for name, value in vars(invariants).items()
    if name.startswith("inv_") or name in ("merges", "distances")
}


@pytest.mark.parametrize("name", INVARIANTS)
def test_invariant(name: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.one_of(cases(SMALL.get(name, 8)), cases(SMALL.get(name, 8), unit=True)))
    def holds(case: Case) -> None:
        INVARIANTS[name](case)

    holds()


@pytest.mark.campaign
@pytest.mark.parametrize("name", INVARIANTS)
def test_invariant_at_length(name: str) -> None:
    @settings(max_examples=2_000, deadline=None)
    @given(cases(SMALL.get(name, 8) + 1, documents=10))
    def holds(case: Case) -> None:
        INVARIANTS[name](case)

    holds()
