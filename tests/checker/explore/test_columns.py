"""Packing rows of component ids into one key loses nothing, however many words it takes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.explore.columns import RowKeys


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    widths = draw(st.lists(st.integers(1, 30), min_size=1, max_size=16))
    rows = draw(st.integers(1, 20))
    columns = [draw(st.lists(st.integers(0, 2**w - 1), min_size=rows, max_size=rows)) for w in widths]
    return widths, columns


@settings(derandomize=True, deadline=None, max_examples=200)
@given(tables())
def test_round_trip(table: tuple[list[int], list[list[int]]]) -> None:
    widths, lists = table
    columns = [np.array(c, np.int64) for c in lists]
    layout = RowKeys(widths)
    keys = layout.encode(layout.pack(columns))
    back = layout.unpack(layout.decode(keys))
    assert [c.tolist() for c in back] == lists
    rows = list(zip(*lists, strict=True))
    assert len(set(keys.tolist())) == len(set(rows)), "different rows have different keys"


@settings(derandomize=True, deadline=None, max_examples=100)
@given(tables(), st.data())
def test_changing_one_column_is_packing_it_anew(table: tuple[list[int], list[list[int]]], data: st.DataObject) -> None:
    widths, lists = table
    columns = [np.array(c, np.int64) for c in lists]
    layout = RowKeys(widths)
    words = layout.pack(columns)
    which = data.draw(st.integers(0, len(widths) - 1))
    new = np.array([data.draw(st.integers(0, 2 ** widths[which] - 1)) for _ in lists[0]], np.int64)
    layout.change(words, which, columns[which], new)
    columns[which] = new
    assert all((a == b).all() for a, b in zip(words, layout.pack(columns), strict=True))


def test_widths_grow_only_where_they_must() -> None:
    layout = RowKeys([4, 4])
    assert layout.fits([16, 16])
    assert not layout.fits([17, 16])
    assert layout.widened([17, 16]) == (7, 4)
