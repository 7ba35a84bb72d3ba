"""All subscriptions and advertisements that one judge has been shown, at whatever broker: `Universe`.

A subscription's number there is its *slot*. Which events it matches, and which others it covers, is the same at every
broker, so it is found out once and then cut to what a broker knows by one `&`.

A `Register` numbers what has a filter, and `Answers` keeps the answers of its index up to date. A broker needs the
answer that its neighbour needed a moment ago. In between, a few filters were added at most: each is compared by the
filters' own methods, and the index is searched again only if there are many. A number is a bit in a mask, so that
numbers have to stay small: unused numbers are found from time to time and given again.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain, islice
from typing import Generic, Protocol, TypeVar
from weakref import WeakSet, proxy

import numpy as np

from routeproof.checker.validate.fast.bits import Numbers, numbers_of
from routeproof.checker.validate.fast.buckets import Group
from routeproof.checker.validate.fast.index import BothKinds, covers, matches, overlaps
from routeproof.checker.validate.fast.matches import Column, Plain, attributes_of, matching_pairs
from routeproof.model.filters import Event, Filter
from routeproof.model.messages import Subscription
from routeproof.model.tables import by_id

K = TypeVar("K", bound=Hashable)

ENTRY = 500
"""Approximate bytes of an answer in addition to its mask."""


class News(Protocol):
    """Whom the numbers stand for, as far as it changed. Numbers are given again; who left is not news."""

    @property
    def moment(self) -> int:
        """Rises by one with every newcomer."""

    def newcomers(self, since: int) -> list[int] | None:
        """Who came since that moment, in order; None where that is too long ago to say."""

    def group_of(self, number: int) -> Group | None: ...


class Answer(Numbers):
    """The numbers that were found, and as of when."""

    __slots__ = ("moment",)

    def __init__(self, numbers: list[int], moment: int) -> None:
        super().__init__(numbers)
        self.moment = moment


class Answers(Generic[K]):
    """One kind of question: `ask` the index, or `belongs` for one newcomer. `most` bytes are kept, the latest."""

    def __init__(
        self, news: News, ask: Callable[[K], Iterable[Group]], belongs: Callable[[K, Filter], bool], most: int
    ) -> None:
        self._news: News = proxy(news)  # which has these answers: a cycle would keep both
        self._ask = ask
        self._belongs = belongs
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[K, Answer] = OrderedDict()

    def of(self, key: K) -> Answer:
        """The current set. Bits of numbers that are not in use are meaningless."""
        answer = self._kept.get(key)
        if answer is not None:
            if answer.moment == self._news.moment:
                return answer
            self._bytes -= ENTRY + answer.size
            self._kept.move_to_end(key)
        answer = self._renewed(key, answer)
        self._kept[key] = answer
        self._bytes += ENTRY + answer.size
        while self._bytes > self._most and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= ENTRY + oldest.size
        return answer

    def forget(self, key: K) -> None:
        """Forgets an answer that will not be needed again."""
        answer = self._kept.pop(key, None)
        if answer is not None:
            self._bytes -= ENTRY + answer.size

    def _renewed(self, key: K, answer: Answer | None) -> Answer:
        newcomers = None if answer is None else self._news.newcomers(answer.moment)
        if answer is None or newcomers is None:
            return self._asked(key)
        for number in newcomers:
            group = self._news.group_of(number)
            if group is None or group.numbers[0] == number:
                answer.set(number, group is not None and self._belongs(key, group.filter))
            else:  # the answer is right for all that came before this one
                answer.set(number, answer.has(group.numbers[0]))
        answer.moment = self._news.moment
        return answer

    def _asked(self, key: K) -> Answer:
        numbers, mask = [], 0
        for group in self._ask(key):
            if group.are_many:
                mask |= group.mask
            else:
                numbers += group.numbers
        answer = Answer(numbers, self._news.moment)
        if mask:
            answer.join(mask)
        return answer


# -- numbers -----------------------------------------------------------------------------------------------------------

T = TypeVar("T", bound=Hashable)

RECENT = 32
"""To ask one filter takes a microsecond, to ask the index some tens."""

FEWEST = 128
"""Below so many numbers it is not worth looking for those that are free."""

KEPT = 32 << 20
"""Bytes of answers, for each kind of question."""

KEPT_OF_EVENTS = 1 << 20
"""For that who matches an event: each brings its event along, and who asks of it often keeps the answer."""


class Register(Generic[T]):
    """`in_use` returns the mask of the numbers in use; `gone` gets the filters that are no longer used."""

    def __init__(
        self,
        filter_of: Callable[[T], Filter],
        in_use: Callable[[], int],
        kept: int = KEPT,
        gone: Callable[[Filter], None] = lambda _: None,
    ) -> None:
        self.moment = 0
        self._filter_of = filter_of
        self._in_use = in_use
        self._gone = gone
        self._look_at = FEWEST
        self._numbers: dict[T, int] = {}
        self._items: list[T | None] = []
        self._group_of: list[Group | None] = []
        """The group of each number. It has the first of equal filters: to look for something by the very same object is
        fast."""
        self._free: list[int] = []
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._groups: dict[Filter, Group] = {}
        self._index = BothKinds()
        self._matching = Answers[Event](
            self, self._index.matching, lambda e, f: matches(f, e), min(kept, KEPT_OF_EVENTS)
        )
        self._covering = Answers[Filter](self, self._index.covering, lambda g, f: covers(f, g), kept)
        self._covered = Answers[Filter](self, self._index.covered, covers, kept)
        self._overlapping = Answers[Filter](self, self._index.overlapping, overlaps, kept)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def highest(self) -> int:
        """Highest number that was ever given; -1 if none was."""
        return len(self._items) - 1

    # -- numbers -------------------------------------------------------------------------------------------------------

    def number(self, item: T) -> int:
        """Its number; a new one where it has none."""
        number = self._numbers.get(item)
        return self._added(item) if number is None else number

    def known(self, item: T) -> int | None:
        return self._numbers.get(item)

    def item(self, number: int) -> T:
        found = self._items[number]
        assert found is not None, "a number that is not in use"
        return found

    def filter(self, number: int) -> Filter:
        group = self._group_of[number]
        assert group is not None, "a number that is not in use"
        return group.filter

    def group_of(self, number: int) -> Group | None:
        return self._group_of[number]

    def newcomers(self, since: int) -> list[int] | None:
        behind = self.moment - since
        if behind > len(self._recent):
            return None
        return list(islice(self._recent, len(self._recent) - behind, None))

    def _added(self, item: T) -> int:
        if len(self._numbers) >= self._look_at:
            self._sweep()
        group = self._group(self._filter_of(item))
        if self._free:
            number = self._free.pop()
            self._items[number], self._group_of[number] = item, group
        else:
            number = len(self._items)
            self._items.append(item)
            self._group_of.append(group)
        group.add(number)
        self._numbers[item] = number
        self._recent.append(number)
        self.moment += 1
        return number

    def _group(self, its: Filter) -> Group:
        group = self._groups.get(its)
        if group is None:
            group = Group(its)
            self._index.add(group)
            self._groups[its] = group
        return group

    def _sweep(self) -> None:
        """Reclaims the numbers that are not in use; the lowest are reused first."""
        in_use = self._in_use()
        for item, number in [each for each in self._numbers.items() if not in_use >> each[1] & 1]:
            del self._numbers[item]
            group = self._group_of[number]
            assert group is not None, "the number is in use"
            self._items[number] = self._group_of[number] = None
            self._free.append(number)
            group.remove(number)
            if not group.numbers:
                del self._groups[group.filter]
                self._index.remove(group)
                self._gone(group.filter)
        self._free.sort(reverse=True)
        self._look_at = max(FEWEST, 2 * len(self._numbers))

    # -- questions -----------------------------------------------------------------------------------------------------

    def matching(self, event: Event) -> Answer:
        """Whose filter the event matches."""
        return self._matching.of(event)

    def matching_once(self, event: Event) -> list[int]:
        """Matching numbers in any order, for a caller that will not ask again: nothing is kept."""
        return [number for group in self._index.matching(event) for number in group.numbers]

    def matching_plain(self, values: Plain) -> list[int]:
        """Matching numbers for an event with plain attributes (`Meanings.plain`), of which only some are looked at."""
        return self.matching_once(attributes_of(values, self._index.asked_for))

    def matching_many(self, events: Sequence[Plain]) -> tuple[Column, Column]:
        """Pairs of an event's place and a matching number, by event; those of one in the order of `matching_plain`."""
        if self._index.asked_for is not None:
            return matching_pairs(self._index.predicates, events)
        found = [self.matching_plain(each) for each in events]
        numbers = np.array(list(chain.from_iterable(found)), np.int64)
        return np.repeat(np.arange(len(events)), list(map(len, found))), numbers

    def forget(self, asked: Filter) -> None:
        """Forgets a filter that will not be needed any more."""
        for answers in (self._covering, self._covered, self._overlapping):
            answers.forget(asked)

    def covering(self, asked: Filter) -> int:
        """Whose filter covers this one: those with the same filter are among them."""
        return self._covering.of(asked).mask

    def covered(self, asked: Filter) -> int:
        """Whose filter this one covers: those with the same filter are among them."""
        return self._covered.of(asked).mask

    def overlapping(self, asked: Filter) -> int:
        """Whose filter lets an event through that this one does too."""
        return self._overlapping.of(asked).mask

    def same(self, asked: Filter) -> int:
        """Who has this very filter."""
        group = self._groups.get(asked)
        return 0 if group is None else group.mask


# -- the universe ------------------------------------------------------------------------------------------------------


class Holder(Protocol):
    """The users of slots; queried only now and then, so that holding a slot costs nothing."""

    def slots_held(self) -> int: ...

    def promises_held(self) -> int: ...


class Universe:
    """Slots for subscriptions, and numbers for what advertisements promise: their filters."""

    def __init__(self, kept: int = KEPT) -> None:
        self._holders: WeakSet[Holder] = WeakSet()
        self.subscriptions = Register[Subscription](lambda s: s.filter, self._slots_held, kept, self._forget)
        self.promises = Register[Filter](lambda f: f, self._promises_held, kept, self._forget)

    def join(self, holder: Holder) -> None:
        self._holders.add(holder)

    # -- masks over the slots: bits of a slot that is not in use are meaningless ------------------------------------

    def matching(self, event: Event) -> Answer:
        """The subscriptions that match."""
        return self.subscriptions.matching(event)

    def covering(self, slot: int) -> int:
        """The subscriptions that cover this one: itself, and those that are equal, among them."""
        return self.subscriptions.covering(self.filter(slot))

    def covered(self, slot: int) -> int:
        """The subscriptions that this one covers: itself, and those that are equal, among them."""
        return self.subscriptions.covered(self.filter(slot))

    def equal(self, slot: int) -> int:
        """The subscriptions with the same filter, itself among them."""
        return self.subscriptions.same(self.filter(slot))

    def overlapping(self, promise: int) -> int:
        """The subscriptions that an advertisement with this filter is for."""
        return self.subscriptions.overlapping(self.promises.filter(promise))

    def promised(self, slot: int) -> int:
        """Advertisements whose filters overlap: a mask over their numbers."""
        return self.promises.overlapping(self.filter(slot))

    # -- from slots to subscriptions -----------------------------------------------------------------------------------

    def slot(self, subscription: Subscription) -> int:
        return self.subscriptions.number(subscription)

    def subscription(self, slot: int) -> Subscription:
        return self.subscriptions.item(slot)

    def filter(self, slot: int) -> Filter:
        return self.subscriptions.filter(slot)

    def in_order(self, mask: int) -> list[Subscription]:
        """The subscriptions of these slots, in the order of ids."""
        found = [self.subscription(slot) for slot in numbers_of(mask)]
        if len(found) > 1:
            found.sort(key=by_id)
        return found

    def _forget(self, gone: Filter) -> None:
        self.subscriptions.forget(gone)
        self.promises.forget(gone)

    def _slots_held(self) -> int:
        held = 0
        for holder in self._holders:
            held |= holder.slots_held()
        return held

    def _promises_held(self) -> int:
        held = 0
        for holder in self._holders:
            held |= holder.promises_held()
        return held
