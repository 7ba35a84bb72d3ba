"""Nests: profiles by their span on one attribute, to find those whose span encloses a given one.

Spans with one bound stand on a ladder. Spans with two are kept by size, in cells about as wide as they are: a span of
that size touches two cells at most, and whatever it encloses touches no others. So a look-up takes one cell for each
size that there is, and meets only spans that reach into the cell asked about.
"""

from __future__ import annotations

from collections.abc import Iterator

from routeproof.impl.ladder import Ladder
from routeproof.impl.profile import Profile
from routeproof.impl.sketch import NO_HI, NO_LO, Span

Cell = tuple[int, int]
"""A size and a position: the cell is 2^size wide, and so many times that away from zero."""


class Nests:
    __slots__ = ("_cells", "_from", "_sizes", "_upto", "_whole")

    def __init__(self) -> None:
        self._whole: dict[Profile, None] = {}
        self._from: Ladder[int] = Ladder()
        self._upto: Ladder[int] = Ladder()
        self._cells: dict[Cell, dict[Profile, None]] = {}
        self._sizes: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._whole or self._cells or self._from or self._upto)

    def add(self, span: Span, profile: Profile) -> None:
        match span.lo in NO_LO, span.hi in NO_HI:
            case True, True:
                self._whole[profile] = None
            case False, True:
                self._from.add(span.lo, profile)
            case True, False:
                self._upto.add(span.hi, profile)
            case _:
                for cell in _cells_of(span):
                    if cell not in self._cells:
                        self._cells[cell] = {}
                        self._sizes[cell[0]] = self._sizes.get(cell[0], 0) + 1
                    self._cells[cell][profile] = None

    def remove(self, span: Span, profile: Profile) -> None:
        match span.lo in NO_LO, span.hi in NO_HI:
            case True, True:
                del self._whole[profile]
            case False, True:
                self._from.remove(span.lo, profile)
            case True, False:
                self._upto.remove(span.hi, profile)
            case _:
                for cell in _cells_of(span):
                    del self._cells[cell][profile]
                    if not self._cells[cell]:
                        self._drop(cell)

    def _drop(self, cell: Cell) -> None:
        del self._cells[cell]
        self._sizes[cell[0]] -= 1
        if not self._sizes[cell[0]]:
            del self._sizes[cell[0]]

    def enclosing(self, span: Span) -> Iterator[Profile]:
        """All whose span encloses this one, and some others that come near: the widest first."""
        yield from self._whole
        yield from self._from.upto(span.lo)
        yield from self._upto.onward(span.hi)
        for size in self._sizes:
            cell = self._cells.get((size, span.lo >> size))
            if cell:
                yield from cell


def _cells_of(span: Span) -> set[Cell]:
    size = (span.hi - span.lo).bit_length()
    return {(size, span.lo >> size), (size, span.hi >> size)}
