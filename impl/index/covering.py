"""Covering at one neighbour: `wanted`, the subscriptions that it has to know, kept up to date step by step.

One `Wanted` object a neighbour decides for the covering policy. It hears which candidates came and went in a step, and
`settle` gives the difference that this makes, without looking at what has nothing to do with it. `Everything` is the
policy `none`; `Covering` is `active` (and `packing`, which packs the same messages) and `lazy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from attrs import Factory, define

from routeproof.impl.index.filter_index import CoveredIndex, FilterIndex
from routeproof.impl.index.profile import IN_ORDER, FilterProfile, ProfiledSubscription, Roster


class Settlement(NamedTuple):
    """Entries that are wanted and not yet sent, and entries that were sent and are no longer wanted, in the order of
    ids.
    """

    additions: Sequence[ProfiledSubscription]
    removals: Sequence[ProfiledSubscription]

    def __bool__(self) -> bool:
        return bool(self.additions or self.removals)


UNCHANGED = Settlement((), ())

Due: TypeAlias = Callable[[ProfiledSubscription], bool]


@define(eq=False, weakref_slot=False)
class CandidateGroup:
    """The candidates with one filter. `drawn_by` is an advertisement's filter, which draws them here.

    A group is a root, or quenched by its `parent`, whose filter strictly covers this one's.
    """

    profile: FilterProfile
    drawn_by: FilterProfile
    roster: Roster = Factory(Roster)
    sent: ProfiledSubscription | None = None
    parent: CandidateGroup | None = None
    children: dict[CandidateGroup, None] | None = None

    @property
    def first(self) -> ProfiledSubscription:
        """COV-10: what was sent goes first, then the lowest id."""
        return self.sent if self.sent is not None and self.roster.has(self.sent) else self.roster[0]


class Wanted(Protocol):
    """A step tells what joined and left, in any order, then settles. No step has both."""

    def joined(self, group: CandidateGroup, entry: ProfiledSubscription) -> None:
        """The entry is a candidate now, and in the group."""

    def left(self, group: CandidateGroup, entry: ProfiledSubscription) -> None:
        """It was one; the group, which may be empty now, no longer has it."""

    def settle(self) -> Settlement: ...

    def adopt(self) -> Sequence[ProfiledSubscription]:
        """Instead of `settle`: what joined was sent earlier. Gives what of it is wanted."""

    def sent(self, groups: Iterable[CandidateGroup]) -> list[ProfiledSubscription]:
        """Entries that the neighbour knows, if `groups` are all there are."""
        ...


class Everything:
    """Without covering, every candidate is wanted."""

    def __init__(self) -> None:
        self._additions: list[ProfiledSubscription] = []
        self._removals: list[ProfiledSubscription] = []

    def joined(self, group: CandidateGroup, entry: ProfiledSubscription) -> None:
        self._additions.append(entry)

    def left(self, group: CandidateGroup, entry: ProfiledSubscription) -> None:
        self._removals.append(entry)

    def settle(self) -> Settlement:
        if not self._additions and not self._removals:
            return UNCHANGED
        settlement = _in_order(self._additions, self._removals)
        self._additions, self._removals = [], []
        return settlement

    def adopt(self) -> Sequence[ProfiledSubscription]:
        return self.settle().additions

    def sent(self, groups: Iterable[CandidateGroup]) -> list[ProfiledSubscription]:
        return [entry for group in groups for entry in group.roster]


class Covering:
    """Groups as a forest: a root is wanted, and whatever is below another group is quenched (COV-2).

    Only roots are indexed: what any group covers, a root covers too. A newcomer with a coverer goes below it without
    further ado, and one without takes in what it covers of the roots: of all under `active` (COV-4); under `lazy` only
    of those that were not sent before, as the others stay, nested or not (COV-6). When a quenched group goes, its
    parent takes over its children. When a root goes, its children look for another coverer, and no one else need. A
    group is the child of one other only, so that a withdrawal costs, on average over all groups, less than one look-up.

    Every forest that has all this gives the same answers, so that it does not matter which coverer is a group's parent.
    """

    def __init__(self, *, lazy: bool) -> None:
        self._lazy = lazy
        self._roots: dict[FilterProfile, CandidateGroup] = {}
        self._coverers = FilterIndex()
        self._demotable = CoveredIndex()
        self._fresh: dict[CandidateGroup, None] = {}
        self._loose: dict[CandidateGroup, None] = {}
        self._changed: dict[CandidateGroup, None] = {}

    def joined(self, group: CandidateGroup, entry: ProfiledSubscription) -> None:
        if len(group.roster) == 1:
            self._loose[group] = None

    def left(self, group: CandidateGroup, entry: ProfiledSubscription) -> None:
        self._changed[group] = None

    def settle(self, due: Due | None = None) -> Settlement:
        """`due`: what may be sent now. An addition that may not stays owed until a settle lets it through."""
        if not self._changed and not self._loose:
            return UNCHANGED
        self.arrange()
        return self._difference(due)

    def arrange(self) -> None:
        """See to the forest only: what there is to say of it waits for the next settle."""
        self._take_out([group for group in self._changed if not group.roster and self._stands(group)])
        if self._lazy:
            self._loosen_what_was_not_sent()
        for group in self._loose:
            self._place(group)
        self._loose = {}

    def forget(self, group: CandidateGroup) -> None:
        """Forgets the entry of a group that was sent, without a message to the neighbour, now or later."""
        self.arrange()
        group.sent = None

    def owed(self) -> list[ProfiledSubscription]:
        """Entries that are wanted and were not sent, once the forest is up to date."""
        return [group.first for group in self._changed if self._is_root(group) and group.sent is not group.first]

    def uncovered(self, group: CandidateGroup, leaving: ProfiledSubscription) -> list[ProfiledSubscription]:
        """Entries that would be sent if this entry, which was sent, left its group now."""
        added = self.owed()
        others = [entry for entry in group.roster if entry is not leaving]
        if others:
            return added if self._lazy and self._has_coverer(group, besides=group) else [*added, others[0]]
        loose = [child for child in group.children or () if not self._has_coverer(child, besides=group)]
        return added + [each.first for each in _widest(loose)]

    def adopt(self) -> Sequence[ProfiledSubscription]:
        if not self._lazy:
            return self.settle().additions
        for group in self._loose:  # COV-6: what was sent stays, whatever covers it
            self._make_root(group)
        self._loose = {}
        return self._difference(None).additions

    def sent(self, groups: Iterable[CandidateGroup]) -> list[ProfiledSubscription]:
        return [group.sent for group in groups if group.sent is not None]

    def _is_root(self, group: CandidateGroup) -> bool:
        return self._roots.get(group.profile) is group

    def _stands(self, group: CandidateGroup) -> bool:
        """Is it in the forest?"""
        return group.parent is not None or self._is_root(group)

    def _has_coverer(self, group: CandidateGroup, besides: CandidateGroup) -> bool:
        return any(coverer is not besides.profile for coverer in self._coverers.covering(group.profile))

    def _take_out(self, emptied: list[CandidateGroup]) -> None:
        """First what is quenched, so that roots which go as well leave no one loose who goes."""
        roots = [group for group in emptied if group.parent is None]
        for group in emptied:
            if (parent := group.parent) is not None:
                assert parent.children is not None
                del parent.children[group]
                for child in group.children or ():
                    child.parent = parent
                    parent.children[child] = None
                group.parent = group.children = None
        for group in roots:
            self._unroot(group)
            for child in group.children or ():
                child.parent = None
                self._loose[child] = None
            group.children = None

    def _loosen_what_was_not_sent(self) -> None:
        """COV-6: a root is kept for what was sent of it. Without that, the others of the group are like newcomers."""
        for group in list(self._changed):
            lost = group.sent is not None and not group.roster.has(group.sent)
            if lost and group.roster and group.parent is None:
                self._unroot(group)
                self._loose[group] = None

    def _place(self, group: CandidateGroup) -> None:
        coverer = next(self._coverers.covering(group.profile), None)
        if coverer is not None:
            self._quench(group, self._roots[coverer])
            return
        for profile in list(self._demotable.covered(group.profile)):  # COV-4
            demoted = self._roots[profile]
            self._unroot(demoted)
            self._quench(demoted, group)
        self._make_root(group)

    def _quench(self, group: CandidateGroup, coverer: CandidateGroup) -> None:
        """COV-2. Only candidates get here, so that nothing is quenched by what came from this neighbour (COV-3)."""
        group.parent = coverer
        if coverer.children is None:
            coverer.children = {}
        coverer.children[group] = None
        self._changed[group] = None

    def _make_root(self, group: CandidateGroup) -> None:
        self._roots[group.profile] = group
        self._coverers.add(group.profile)
        self._demotable.add(group.profile)
        if self._lazy:
            self._fresh[group] = None
        self._changed[group] = None

    def _unroot(self, group: CandidateGroup) -> None:
        del self._roots[group.profile]
        self._coverers.remove(group.profile)
        if not self._lazy or group in self._fresh:
            self._demotable.remove(group.profile)
            self._fresh.pop(group, None)

    def _difference(self, due: Due | None) -> Settlement:
        additions, removals = [], []
        owed: dict[CandidateGroup, None] = {}
        for group in self._changed:
            wanted = group.first if self._is_root(group) else None
            if wanted is not group.sent:
                if group.sent is not None:
                    removals.append(group.sent)
                if wanted is not None and due is not None and not due(wanted):
                    owed[group], wanted = None, None
                if wanted is not None:
                    additions.append(wanted)
                group.sent = wanted
        for group in self._fresh:
            if group not in owed:  # sent by now: COV-6
                self._demotable.remove(group.profile)
        self._fresh = {group: None for group in self._fresh if group in owed}
        self._changed = owed
        return _in_order(additions, removals)


def _widest(groups: Sequence[CandidateGroup]) -> Iterable[CandidateGroup]:
    """Groups that no other group covers."""
    if len(groups) < 2:
        return groups
    coverers, coverable = FilterIndex(), CoveredIndex()
    widest: dict[FilterProfile, CandidateGroup] = {}
    for group in groups:
        if next(coverers.covering(group.profile), None) is not None:
            continue
        for profile in list(coverable.covered(group.profile)):
            coverers.remove(profile)
            coverable.remove(profile)
            del widest[profile]
        coverers.add(group.profile)
        coverable.add(group.profile)
        widest[group.profile] = group
    return widest.values()


def _in_order(additions: list[ProfiledSubscription], removals: list[ProfiledSubscription]) -> Settlement:
    return Settlement(sorted(additions, key=IN_ORDER), sorted(removals, key=IN_ORDER))
