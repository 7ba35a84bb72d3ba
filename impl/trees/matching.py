"""Documents and subscriptions: sets of keywords at brokers, and which documents match which subscriptions.

A subscription is an *interest* (alternatives, each a set of keywords that a document must have) at a broker. Matching
is computed for *atoms*, the distinct predicates: whole interests, or single alternatives where subscriptions are split
(CLUS-12). A *member* is an atom at a broker; subscriptions with the same member have the same documents at the same
broker, and clusters are made of members. Everything is numbered in the order of its text, so that nothing depends on
the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from attrs import frozen

from routeproof.impl.trees.network import Array

Alternative: TypeAlias = "tuple[str, ...]"
"""Keywords that a document must have, all of them; sorted and distinct."""

Interest: TypeAlias = "tuple[Alternative, ...]"
"""Alternatives; sorted and distinct."""

AT_ONCE = 2_000_000
"""Pairs of a document and something that it matches, in arrays at once."""


@frozen(eq=False)
class Ragged:
    """Rows of different lengths: row r is `values[begin[r]:begin[r + 1]]`."""

    begin: Array
    values: Array

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Ragged:
        kept = list(rows)
        lengths = np.array([len(row) for row in kept], np.int64)
        values = np.array([value for row in kept for value in row], np.int64)
        return cls(np.concatenate([[0], np.cumsum(lengths)]), values)

    @classmethod
    def of_pairs(cls, row: Array, value: Array, rows: int) -> Ragged:
        """Rows from pairs that are sorted by row."""
        return cls(np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]), value)

    def __len__(self) -> int:
        return len(self.begin) - 1

    @property
    def lengths(self) -> Array:
        return np.diff(self.begin)

    def row(self, at: int) -> Array:
        return self.values[self.begin[at] : self.begin[at + 1]]

    def slice(self, first: int, last: int) -> Ragged:
        return Ragged(
            self.begin[first : last + 1] - self.begin[first], self.values[self.begin[first] : self.begin[last]]
        )

    def take(self, rows: Array) -> tuple[Array, Array]:
        """The values of these rows one after the other, and for each value the position of its row in `rows`."""
        lengths = self.lengths[rows]
        owner = np.repeat(np.arange(len(rows)), lengths)
        starts = np.cumsum(lengths) - lengths
        return self.values[np.arange(len(owner)) - starts[owner] + self.begin[rows][owner]], owner


def distinct(one: Array, other: Array, others: int) -> tuple[Array, Array]:
    """Pairs without repetitions, sorted; the second numbers are less than `others`."""
    keys = np.sort(one * others + other)
    if len(keys):
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    first, second = np.divmod(keys, others)
    return first, second


@frozen(eq=False)
class Documents:
    """Documents with the brokers of their publishers, their sizes, and keywords by number."""

    publisher: Array
    size: Array
    words: Ragged

    def __len__(self) -> int:
        return len(self.publisher)

    def slice(self, first: int, last: int) -> Documents:
        return Documents(self.publisher[first:last], self.size[first:last], self.words.slice(first, last))


@frozen(eq=False)
class Subscriptions:
    """All subscriptions, as atoms and members."""

    ids: tuple[str, ...]
    """The subscriptions, sorted."""
    atoms: tuple[Interest, ...]
    atom: Array
    """For each member its atom; members are sorted by atom, then by host."""
    host: Array
    members: Ragged
    """For each subscription its members: several where it was split."""
    vocabulary: Mapping[str, int]
    needed: Array
    """For each alternative the number of its keywords."""
    alternatives_of: Ragged
    """For each keyword the alternatives that have it."""
    atoms_of: Ragged
    """For each alternative the atoms that have it."""
    at_hosts: Ragged
    """For each atom its members."""

    @classmethod
    def of(cls, rows: Iterable[tuple[str, int, Interest]], split: bool = False) -> Subscriptions:
        """Subscriptions from their ids, brokers and interests."""
        kept = sorted(rows)
        parts = [[(each,) for each in interest] if split else [interest] for _, _, interest in kept]
        atoms = tuple(sorted({atom for each in parts for atom in each}))
        number = {atom: at for at, atom in enumerate(atoms)}
        pairs = sorted({(number[atom], row[1]) for row, each in zip(kept, parts, strict=True) for atom in each})
        member = {pair: at for at, pair in enumerate(pairs)}
        alternatives = sorted({each for atom in atoms for each in atom})
        vocabulary = {word: at for at, word in enumerate(sorted({w for each in alternatives for w in each}))}
        with_word: list[list[int]] = [[] for _ in vocabulary]
        for at, alternative in enumerate(alternatives):
            for word in alternative:
                with_word[vocabulary[word]].append(at)
        place = {alternative: at for at, alternative in enumerate(alternatives)}
        in_atoms: list[list[int]] = [[] for _ in alternatives]
        for at, atom in enumerate(atoms):
            for alternative in atom:
                in_atoms[place[alternative]].append(at)
        atom_, host = (np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))
        return cls(
            tuple(id for id, _, _ in kept),
            atoms,
            atom_,
            host,
            Ragged.of(
                sorted({member[number[atom], row[1]] for atom in each}) for row, each in zip(kept, parts, strict=True)
            ),
            vocabulary,
            np.array([len(each) for each in alternatives], np.int64),
            Ragged.of(with_word),
            Ragged.of(in_atoms),
            Ragged.of_pairs(atom_, np.arange(len(pairs)), len(atoms)),
        )

    def documents(self, rows: Iterable[tuple[int, int, Iterable[str]]]) -> Documents:
        """Documents from publishers' brokers, sizes and keywords. Keywords that no subscription has are dropped."""
        publishers, sizes, words = [], [], []
        known = self.vocabulary
        for publisher, size, keywords in rows:
            publishers.append(publisher)
            sizes.append(size)
            words.append(sorted({known[word] for word in keywords if word in known}))
        return Documents(np.array(publishers, np.int64), np.array(sizes, np.int64), Ragged.of(words))

    def matched(self, documents: Documents) -> Ragged:
        """For each document the atoms that it matches, sorted."""
        found = [self._matched(documents.slice(*part)) for part in self._parts(documents)]
        rows, values = [each.lengths for each in found], [each.values for each in found]
        lengths = np.concatenate([np.empty(0, np.int64), *rows])
        return Ragged(np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([np.empty(0, np.int64), *values]))

    def _matched(self, documents: Documents) -> Ragged:
        found, at = self.alternatives_of.take(documents.words.values)
        row = np.repeat(np.arange(len(documents)), documents.words.lengths)[at]
        keys, counts = np.unique(row * len(self.needed) + found, return_counts=True)
        row, found = np.divmod(keys, len(self.needed))
        whole = counts == self.needed[found]
        atoms, at = self.atoms_of.take(found[whole])
        row, atoms = distinct(row[whole][at], atoms, len(self.atoms))
        return Ragged.of_pairs(row, atoms, len(documents))

    def _parts(self, documents: Documents) -> Iterator[tuple[int, int]]:
        """Ranges of documents: keywords that many subscriptions have do not make arrays long."""
        pairs = self.alternatives_of.lengths[documents.words.values]
        yield from ranges(documents.words, pairs)

    def pairs(self, documents: Documents, matched: Ragged) -> Iterator[tuple[int, int, Array, Array]]:
        """Ranges of documents, each with pairs of a document, counted from the first, and a member that it matches."""
        for first, last in ranges(matched, self.at_hosts.lengths[matched.values]):
            part = matched.slice(first, last)
            members, at = self.at_hosts.take(part.values)
            yield first, last, np.repeat(np.arange(last - first), part.lengths)[at], members


def ranges(rows: Ragged, many: Array) -> Iterator[tuple[int, int]]:
    """Ranges of rows, with values that stand for `AT_ONCE` together at most; `many`: what each stands for."""
    sums = np.concatenate([[0], np.cumsum(many)])[rows.begin]
    first = 0
    while first < len(rows):
        last = int(np.searchsorted(sums, sums[first] + AT_ONCE, side="right")) - 1
        last = min(len(rows), max(first + 1, last))
        yield first, last
        first = last


def interest(keywords: Iterable[str], needs_all: bool) -> Interest:
    """The interest of one row: in documents with all of the keywords, or with any of them."""
    words = sorted(set(keywords))
    return (tuple(words),) if needs_all else tuple((word,) for word in words)


def merged(interests: Iterable[Interest]) -> Interest:
    """The interest in what any of these is interested in. An alternative that needs more than another is dropped."""
    every = {alternative for each in interests for alternative in each}
    sets = {each: frozenset(each) for each in every}
    return tuple(sorted(a for a in every if not any(sets[b] < sets[a] for b in every)))


def is_sampled(id: str, seed: int, share: float) -> bool:
    """True if a document is in the sample (COORD-1): by its id, so that every reader draws the same sample."""
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8, key=seed.to_bytes(8, "big")).digest()
    return int.from_bytes(digest, "big") < share * 2**64
