"""The vectorised set of keys against a dictionary."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.explore.columns import KeyIndex

KEYS = st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1)), max_size=300)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(KEYS, max_size=6))
def test_numbers_keys_in_order_of_first_arrival(batches: list[list[int]]) -> None:
    index, known = KeyIndex(bits=2), dict[int, int]()
    for batch in batches:
        new_rows = []
        for row, key in enumerate(batch):
            if key not in known:
                known[key] = len(known)
                new_rows.append(row)
        ids, first = index.intern(np.array(batch, np.uint64))
        assert ids.tolist() == [known[key] for key in batch]
        assert first.tolist() == new_rows
    assert index.keys.tolist() == list(known)


def test_many_keys_that_collide() -> None:
    """Keys that share their low bits fall into few slots; a table of a million must still find each."""
    keys = np.arange(1_000_000, dtype=np.uint64) << np.uint64(40)
    index = KeyIndex()
    ids, _ = index.intern(keys)
    again, new = index.intern(keys[::-1].copy())
    assert (ids == np.arange(len(keys))).all()
    assert (again == ids[::-1]).all()
    assert len(new) == 0
