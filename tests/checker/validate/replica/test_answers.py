"""What was answered is not asked again; who came since is asked, and nobody else. Not by the clock, but by counting."""

from __future__ import annotations

from collections.abc import Hashable

from attrs import Factory, define

from routeproof.checker.validate.fast.buckets import Group
from routeproof.checker.validate.fast.universe import RECENT, Answers
from routeproof.model.filters import EVENTS, Filter


@define
class Counted:
    """News of `filters`, one newcomer a moment; and how often who was asked. Equal filters are one group."""

    filters: list[Filter] = Factory(list)
    asked: int = 0
    compared: int = 0

    @property
    def moment(self) -> int:
        return len(self.filters)

    def newcomers(self, since: int) -> list[int] | None:
        return list(range(since, self.moment)) if self.moment - since <= RECENT else None

    def group_of(self, number: int) -> Group | None:
        its = self.filters[number]
        return Group(its, [n for n, each in enumerate(self.filters) if each == its])

    def ask(self, key: Hashable) -> list[Group]:
        self.asked += 1
        return [Group(f, [number]) for number, f in enumerate(self.filters) if f == key]

    def belongs(self, key: Hashable, f: Filter) -> bool:
        self.compared += 1
        return f == key


def test_an_answer_is_kept() -> None:
    news = Counted([EVENTS.parse([0]), EVENTS.parse([1])])
    answers = Answers[Filter](news, news.ask, news.belongs, 1 << 20)
    for _ in range(5):
        assert answers.of(EVENTS.parse([1])).few == (1,)
    assert (news.asked, news.compared) == (1, 0)
    news.filters += [EVENTS.parse([1]), EVENTS.parse([2]), EVENTS.parse([2])]
    for _ in range(5):
        assert answers.of(EVENTS.parse([1])).few == (1, 2)
    assert (news.asked, news.compared) == (1, 1), "of equal filters the first is compared, if it was not known before"
    news.filters += [EVENTS.parse([1])] * (RECENT + 1)
    for _ in range(5):
        assert answers.of(EVENTS.parse([1])).mask.bit_count() == RECENT + 3
    assert (news.asked, news.compared) == (2, 1)


def test_the_latest_are_kept() -> None:
    news = Counted([EVENTS.parse([n]) for n in range(20)])
    answers = Answers[Filter](news, news.ask, news.belongs, 3000)
    for f in (*news.filters, *news.filters[-3:]):
        answers.of(f)
    assert news.asked == 20
    answers.of(news.filters[0])
    assert news.asked == 21
