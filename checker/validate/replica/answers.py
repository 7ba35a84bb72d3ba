"""What an index answered, kept and brought up to date: `Answers`.

A broker asks what its neighbour asked a moment ago. In between a few newcomers came at most: each of them is asked by
the filters' own methods, and only where there are many the index is asked again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, Protocol, TypeVar
from weakref import proxy

from routeproof.checker.validate.replica.bits import Numbers
from routeproof.checker.validate.replica.groups import Group
from routeproof.model.filters import Filter

K = TypeVar("K", bound=Hashable)

ENTRY = 500
"""Bytes that an answer takes beside its mask, about."""


class News(Protocol):
    """Whom the numbers stand for, as far as it changed. Numbers are given again; who left is not news."""

    @property
    def moment(self) -> int:
        """Rises by one with every newcomer."""

    def newcomers(self, since: int) -> list[int] | None:
        """Who came since that moment; None where that is too long ago to say."""

    def filter_of(self, number: int) -> Filter | None: ...


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
        """The set, as of now. What it says of numbers that stand for nobody means nothing."""
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
        """Nobody will ask that again."""
        answer = self._kept.pop(key, None)
        if answer is not None:
            self._bytes -= ENTRY + answer.size

    def _renewed(self, key: K, answer: Answer | None) -> Answer:
        newcomers = None if answer is None else self._news.newcomers(answer.moment)
        if answer is None or newcomers is None:
            return Answer([n for group in self._ask(key) for n in group.numbers], self._news.moment)
        for number in newcomers:
            its = self._news.filter_of(number)
            answer.set(number, its is not None and self._belongs(key, its))
        answer.moment = self._news.moment
        return answer
