"""Reading what clients of a workload do."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from routeproof.impl.simulator import TimedOperation
from routeproof.model.filters import Filter, PredicateFilter
from routeproof.model.messages import Publication, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node


def subscribed(operations: Iterable[TimedOperation]) -> list[tuple[Node, Subscription]]:
    return [(o.broker, o.message.subscription) for o in operations if isinstance(o.message, Subscribe)]


def published(operations: Iterable[TimedOperation]) -> list[tuple[Node, Publication]]:
    return [(o.broker, o.message.publication) for o in operations if isinstance(o.message, Publish)]


def constraints(read: Filter) -> list[tuple[str, str, object]]:
    assert isinstance(read, PredicateFilter)
    return [(each.attribute, each.operator, each.constant) for each in read.written]


def withdrawn(operations: Iterable[TimedOperation]) -> list[tuple[Node, Subscription]]:
    return [(o.broker, o.message.subscription) for o in operations if isinstance(o.message, Unsubscribe)]


def by_class(operations: Sequence[TimedOperation]) -> dict[str, list[Subscription]]:
    found = defaultdict(list)
    for _, subscription in subscribed(operations):
        found[str(constraints(subscription.filter)[0][2])].append(subscription)
    return found
