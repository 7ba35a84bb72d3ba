"""Documents in blocks: numbers for names, the subscriptions that match, and totals of what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from attrs import Factory, define, field, frozen

from routeproof.checker.trees.tables import DocumentRow, RowFaults
from routeproof.impl.trees.matching import Documents, Ragged, Subscriptions, is_sampled
from routeproof.impl.trees.network import BrokerGraph
from routeproof.model.filters.interface import quoted


@frozen(eq=False)
class TreesFrame:
    """The network and the subscriptions: what every step needs."""

    network: BrokerGraph
    subscriptions: Subscriptions
    number: Mapping[str, int]
    """The broker of each name."""


@frozen(eq=False)
class DocumentBlock:
    """Documents, and the atoms of subscriptions that each matches."""

    documents: Documents
    matched: Ragged


def joined(blocks: Iterable[DocumentBlock], most: int) -> Iterator[DocumentBlock]:
    """Fewer and larger blocks, of so many documents at least: every tree of a strategy is prepared for each block."""
    waiting: list[DocumentBlock] = []
    for block in blocks:
        waiting.append(block)
        if sum(len(each.documents) for each in waiting) >= most:
            yield _one_block(waiting)
            waiting = []
    if waiting:
        yield _one_block(waiting)


def _one_block(blocks: Sequence[DocumentBlock]) -> DocumentBlock:
    documents = [each.documents for each in blocks]
    publisher, size = (np.concatenate([getattr(each, name) for each in documents]) for name in ("publisher", "size"))
    words = _one_ragged([each.words for each in documents])
    return DocumentBlock(Documents(publisher, size, words), _one_ragged([each.matched for each in blocks]))


def _one_ragged(rows: Sequence[Ragged]) -> Ragged:
    lengths = np.concatenate([each.lengths for each in rows])
    return Ragged(np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([each.values for each in rows]))


@define
class DocumentReport:
    """Totals of some documents, and those in the sample."""

    documents: int = 0
    size: int = 0
    matched: int = 0
    """Documents that match a subscription."""
    matched_size: int = 0
    faults: RowFaults = Factory(RowFaults)
    sampled: list[DocumentRow] = field(factory=list)

    def add(self, other: DocumentReport) -> None:
        self.documents += other.documents
        self.size += other.size
        self.matched += other.matched
        self.matched_size += other.matched_size
        self.faults.note(*other.faults.first, other.faults.count)
        self.sampled += other.sampled


def encode(
    frame: TreesFrame, seed: int, share: float, rows: Iterable[DocumentRow], seen: set[str]
) -> tuple[DocumentBlock, DocumentReport]:
    """The block of some documents, with those in a sample. `seen` has all ids before that could be among them."""
    report = DocumentReport()
    kept = []
    for id, publisher, size, words in rows:
        at = frame.number.get(publisher)
        if at is None:
            report.faults.note(id, f"the publisher's broker {quoted(publisher)} is not in the network")
        if id in seen:
            report.faults.note(id, "the id is given twice")
        seen.add(id)
        if at is not None:
            kept.append((at, size, words))
            if is_sampled(id, seed, share):
                report.sampled.append((id, publisher, size, words))
    documents = frame.subscriptions.documents(kept)
    matched = frame.subscriptions.matched(documents)
    some = matched.lengths > 0
    report.documents, report.size = len(documents), int(documents.size.sum())
    report.matched, report.matched_size = int(some.sum()), int(documents.size[some].sum())
    return DocumentBlock(documents, matched), report
