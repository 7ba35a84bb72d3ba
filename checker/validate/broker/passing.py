"""Many publications at once: was each of them handed on as RTE-5 wants?

Steps of publications change no table. So each publication's subscribers, looked up in the broker's tables, say where
it goes and for whom it is delivered, and what was sent and delivered must be just that: pairs of a step and a neighbour
or a subscription, which are held against each other (`unlike`). `passes` does so for a stretch of one broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from attrs import frozen

from routeproof.checker.validate.broker.columns import CLIENT, DELIVER, SEND, Column, Stretch
from routeproof.checker.validate.fast import Knowledge
from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.checker.validate.fast.publications import Unpacked
from routeproof.model.overlay import LOCAL, Node

NOBODY = -1

PAIRS = 1 << 16
"""Batch size, in pairs of a step and a subscription that matches its publication; all pairs of one step stay together.
"""


class Steps:
    """The steps of a stretch: which of its rows belong to which, and the publication of each."""

    def __init__(self, stretch: Stretch) -> None:
        begins = stretch.kind <= CLIENT
        (every,) = np.nonzero(begins)
        self.begins = every[:-1]
        """Rows; the last one of the stretch begins a step of which nothing else is there."""
        self.of_row = np.cumsum(begins)[:-1] - 1
        different, first, which = np.unique(stretch.message[every], return_index=True, return_inverse=True)
        self.publications = stretch.written(every[first])
        self.publication = which[:-1]
        """Number of each step's publication among the different ones."""
        told = different[self.publication]
        self.are_about_one = bool((stretch.message[:-1] == told[self.of_row]).all())
        """Is every step about one publication only?"""


def near_of(neighbours: Mapping[str, Node], stretch: Stretch) -> Column | None:
    """The neighbour on the other side of each event, `LOCAL` for clients; None where one is no neighbour."""
    kind = stretch.kind[:-1]
    near = np.full(len(kind), LOCAL)
    (links,) = np.nonzero((kind != CLIENT) & (kind != DELIVER))
    near[links] = stretch.peer.looked_up(links, neighbours.get, NOBODY)
    return None if (near == NOBODY).any() else near


def passes(knowledge: Knowledge, near: Column, stretch: Stretch, steps: Steps, known: Unpacked) -> bool:
    """`near`: the neighbour of each event; `known`: the digests and matches of the steps' publications."""
    kind = stretch.kind[:-1]
    sent, came = kind == SEND, kind == DELIVER
    slots = stretch.to.looked_up(np.flatnonzero(came), local_slots(knowledge).get, NOBODY)
    hops = _hops(knowledge, known)
    handed = Handed(steps.of_row[sent], near[sent], steps.of_row[came], slots)
    return not len(unlike(steps.publication, known, lambda _, slot: hops[slot], near[steps.begins], handed))


@frozen
class Handed:
    """Observed sendings, each with its step and receiver, and deliveries, each with its step and slot."""

    sent: Column
    to: Column
    delivered: Column
    slot: Column

    def sendings(self, begin: int, end: int) -> tuple[Column, Column]:
        """Sendings of the steps from the one to the other; they are in the order of steps."""
        rows = slice(*np.searchsorted(self.sent, (begin, end)).tolist())
        return self.sent[rows], self.to[rows]

    def deliveries(self, begin: int, end: int) -> tuple[Column, Column]:
        rows = slice(*np.searchsorted(self.delivered, (begin, end)).tolist())
        return self.delivered[rows], self.slot[rows]


def unlike(
    publications: Column, known: Unpacked, hop_of: Callable[[Column, Column], Column], sender: Column, seen: Handed
) -> Column:
    """The steps of which the broker made something else than RTE-5 wants. `publications` and `sender`: of each step.
    `hop_of`: at each step, the last hop of a slot."""
    matching = np.cumsum(known.counts[publications])
    begin, wrong = 0, [np.empty(0, np.int64)]
    while begin < len(publications):
        before = int(matching[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(matching, before + PAIRS, "right")))
        step, slot = _matching(publications[begin:end], known)
        step += begin
        hop = hop_of(step, slot)
        onward, here = (hop > LOCAL) & (hop != sender[step]), hop == LOCAL
        (sent, to), (came, served) = seen.sendings(begin, end), seen.deliveries(begin, end)
        wrong += [_apart(step[onward], hop[onward], sent, to), _apart(step[here], slot[here], came, served)]
        begin = end
    return np.unique(np.concatenate(wrong))


def _apart(steps: Column, values: Column, others: Column, seen: Column) -> Column:
    """The steps that do not have the same values in the one as in the other, each once. Values are from -1 on."""
    width = 2 + max(int(values.max(initial=0)), int(seen.max(initial=0)))
    wanted, there = np.unique(steps * width + values + 1), np.sort(others * width + seen + 1)
    if np.array_equal(wanted, there):
        return wanted[:0]
    every, which = np.unique(np.concatenate([wanted, there]), return_inverse=True)
    counts = [np.bincount(those, minlength=len(every)) for those in (which[: len(wanted)], which[len(wanted) :])]
    return every[counts[0] != counts[1]] // width


def _matching(publications: Column, known: Unpacked) -> tuple[Column, Column]:
    """Each step with each slot that its publication matches. `publications`: of each step."""
    counts = known.counts[publications]
    step = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(step)) - np.repeat(np.cumsum(counts) - counts, counts)
    return step, known.slots[known.firsts[publications][step] + within]


def local_slots(knowledge: Knowledge) -> dict[str, int]:
    """Slots of the subscriptions of a broker's own clients, by id; one of them if several have the same id."""
    return {knowledge.universe.subscription(slot).id: slot for slot in numbers_of(knowledge.hops.get(LOCAL, 0))}


def _hops(knowledge: Knowledge, known: Unpacked) -> Column:
    """The last hop of each subscription, by slot."""
    hops = np.full(1 + max(max(knowledge.subs, default=0), int(known.slots.max(initial=0))), NOBODY)
    put_hops(knowledge, hops)
    return hops


def put_hops(knowledge: Knowledge, hops: Column) -> None:
    slots = np.fromiter(knowledge.subs, np.int64, len(knowledge.subs))
    hops[slots] = np.fromiter(knowledge.subs.values(), np.int64, len(knowledge.subs))
