"""What is issued again is another subscription (PRN-15): an instance, and its questions, with each issue by itself.

In the model both issues have one rank, by which the ledger knows them. In the relation each is an element of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
from attrs import evolve

from routeproof.checker.prove.refine.answers import Question
from routeproof.model.instance import Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription


def apart(instance: Instance) -> Instance:
    """With each issue as a subscriber, in the order of ids; the same where none has an id of its own."""
    issues = _issues(instance)
    ranks = _ranks(issues)
    return evolve(
        instance, subscribers=tuple(evolve(each, subscription=ranks[each.subscription], again=None) for each in issues)
    )


def in_issues(instance: Instance, questions: Iterable[Question]) -> list[Question]:
    """The same questions about the subscriptions of `apart`."""
    ranks = _ranks(_issues(instance))
    if all(old == new for old, new in ranks.items()):
        return list(questions)
    return [
        evolve(each, **{name: _renamed(getattr(each, name), ranks) for name in ("local", "message", "answer")})
        for each in questions
    ]


def _issues(instance: Instance) -> list[Subscriber]:
    found: list[Subscriber] = []
    for each in instance.subscribers:
        found.append(each)
        issue = instance.issued_again(each)
        if each.again is not None and issue != each.subscription:
            found.append(evolve(each, subscription=issue, at=each.again, unsubscribes=False))
    return found


def _ranks(issues: Iterable[Subscriber]) -> dict[Subscription, Subscription]:
    return {each.subscription: evolve(each.subscription, rank=rank) for rank, each in enumerate(issues)}


def _renamed(value: Any, ranks: dict[Subscription, Subscription]) -> Any:
    """The same value with other subscriptions in it."""
    if isinstance(value, Subscription):
        return ranks[value]
    if isinstance(value, tuple):
        return tuple(_renamed(each, ranks) for each in value)
    if attrs.has(type(value)) and not isinstance(value, Advertisement | Publication):
        names = [each.name for each in attrs.fields(type(value)) if each.init]
        return evolve(value, **{name: _renamed(getattr(value, name), ranks) for name in names})
    return value
