"""Many publications at once: `passes` says whether a broker handed each of them on as RTE-5 wants.

The steps of a stretch change no table. So each publication's subscribers, looked up in the broker's tables, say where
it goes and for whom it is delivered, and what was sent and delivered must be just that: two lists of pairs, of a step
and a neighbour or a subscription, which are compared when both are in order.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routeproof.checker.validate.publications import Unpacked
from routeproof.checker.validate.replica import Knowledge
from routeproof.checker.validate.replica.bits import numbers_of
from routeproof.checker.validate.stretches import CLIENT, DELIVER, SEND, Column, Stretch
from routeproof.model.overlay import LOCAL, Node

NOBODY = -1


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
        """Of each step, its number among the different ones."""
        told = different[self.publication]
        self.are_about_one = bool((stretch.message[:-1] == told[self.of_row]).all())
        """Is every step about one publication only?"""


def passes(
    knowledge: Knowledge, neighbours: Mapping[str, Node], stretch: Stretch, steps: Steps, known: Unpacked
) -> bool:
    """`known`: what the publications of the steps come to."""
    kind = stretch.kind[:-1]
    nodes = np.array([neighbours.get(name, NOBODY) for name in stretch.peer.all_of_them()], np.int64)
    near = np.where((kind == CLIENT) | (kind == DELIVER), LOCAL, nodes[stretch.peer.numbers[:-1]])
    if (near == NOBODY).any():
        return False
    local = numbers_of(knowledge.hops.get(LOCAL, 0))
    named = {knowledge.universe.subscription(slot).id: slot for slot in local}
    step, slot = _pairs(steps, known)
    hop = _hops(knowledge, known)[slot]
    onward = (hop > LOCAL) & (hop != near[steps.begins][step])
    width = 1 + max(neighbours.values(), default=LOCAL)
    sent = kind == SEND
    if not _same(np.unique(step[onward] * width + hop[onward]), steps.of_row[sent] * width + near[sent]):
        return False
    came = kind == DELIVER
    slots = np.array([named.get(id, NOBODY) for id in stretch.to.all_of_them()], np.int64)
    to = slots[stretch.to.numbers[:-1][came]]
    width, here = 1 + int(slot.max(initial=0)), hop == LOCAL
    if ((to == NOBODY) | (to >= width)).any():
        return False
    return _same(step[here] * width + slot[here], steps.of_row[came] * width + to)


def _pairs(steps: Steps, known: Unpacked) -> tuple[Column, Column]:
    """Each step with each that matches its publication."""
    counts = known.counts[steps.publication]
    step = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(step)) - np.repeat(np.cumsum(counts) - counts, counts)
    return step, known.slots[known.firsts[steps.publication][step] + within]


def _hops(knowledge: Knowledge, known: Unpacked) -> Column:
    """The last hop of each subscription, by slot."""
    slots = np.fromiter(knowledge.subs, np.int64, len(knowledge.subs))
    hops = np.full(1 + max(slots.max(initial=0), known.slots.max(initial=0)), NOBODY)
    hops[slots] = np.fromiter(knowledge.subs.values(), np.int64, len(knowledge.subs))
    return hops


def _same(one: Column, other: Column) -> bool:
    return len(one) == len(other) and bool((np.sort(one) == np.sort(other)).all())
