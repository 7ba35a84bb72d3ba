"""One broker told what seldom happens in a run: the reference implementation says what the model says."""

from __future__ import annotations

import pytest

from routeproof.impl.placement.implementation import IMPLEMENTATION, PlacingBroker
from routeproof.model.instance_file import parse_instance
from routeproof.model.messages import Advertise, Publish, Subscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.placement.vocabulary import (
    Amount,
    BrokerTrace,
    RelocationAnswer,
    RelocationRequest,
    Tag,
    TraceAnswer,
    Traced,
    TraceRequest,
    TraceResult,
)
from routeproof.model.protocols import world
from routeproof.model.world import World
from tests.kit.lockstep import by_receiver
from tests.placement.test_lockstep import in_one_order

HUB = 1


def asked(**readings: object) -> World:
    table = {
        "name": "x",
        "protocol": "placement",
        "policy": "none",
        "overlay": [[1, 2], [1, 3], [1, 4]],
        "advertisement": [{"id": id, "at": 1, "events": [0]} for id in "ab"],
        "subscription": [{"id": f"s{at}", "at": at, "events": [0]} for at in (2, 3)],
        "publication": [{"id": id, "of": "a", "event": 0} for id in "pqr"],
        "placement": readings,
    }
    return world(parse_instance(table, "x"), "none")


def told(asked: World, *said: tuple[Node, object]) -> list[object]:
    """The messages that the hub answers with, in the model and in the implementation."""
    around = asked.instance.overlay.neighbours(HUB)
    made = IMPLEMENTATION.make(HUB, around, "none", IMPLEMENTATION.own_of(asked.instance))
    assert isinstance(made, PlacingBroker)
    local, answers = asked.protocol.initial(HUB), list[object]()
    for sender, message in said:
        outcome = asked.protocol.handle(HUB, local, sender, message)
        local = outcome.local
        sends = made.receive(sender, message)  # type: ignore[arg-type]  # a message
        assert by_receiver(sends) == by_receiver(outcome.sends), message
        assert in_one_order(made.tables()) == in_one_order(local), message
        answers += [message for _, message in outcome.sends]
    return answers


def begun(asked: World, upstream: Node = LOCAL) -> list[tuple[Node, object]]:
    """Two publications of one publisher that are traced at once, behind both of the hub's subscribers."""
    [a, b], [s, t], [p, q, _] = (
        asked.instance.advertisements,
        asked.instance.subscriptions,
        asked.instance.publications,
    )
    said: list[tuple[Node, object]] = [(upstream, Advertise(a)), (LOCAL, Advertise(b))]
    said += [(2, Subscribe(s)), (3, Subscribe(t))]
    if upstream == LOCAL:
        return [*said, (LOCAL, Tag(a)), (LOCAL, Publish(p)), (LOCAL, Tag(a)), (LOCAL, Publish(q))]
    return [*said, (upstream, Publish(p, Traced(1))), (upstream, Publish(q, Traced(2)))]


@pytest.mark.parametrize("results", ["named", "unnamed"])
@pytest.mark.parametrize("upstream", [LOCAL, 4])
def test_results_end_the_traces_that_they_name(results: str, upstream: Node) -> None:
    a, b = asked().instance.advertisements
    numbers = (2, 1, 1, 2) if results == "named" else (0, 0, 0, 0)
    come = [
        (sender, TraceResult(a, many, n)) for sender, many, n in zip((2, 2, 3, 3), (5, 7, 1, 2), numbers, strict=True)
    ]
    strange = [
        (4, TraceResult(a, 9, 1)),
        (2, TraceResult(b, 9, 1)),
        (2, TraceResult(a, 9, 8)),
        (3, TraceResult(b, 9, 0)),
    ]
    for order in ((0, 1, 2, 3), (0, 2, 1, 3), (2, 3, 0, 1), (3, 0, 2, 1)):
        mixed = [each for n, one in zip(order, strange, strict=True) for each in (one, come[n], one)]
        told(asked(results=results, threshold=2), *begun(asked(), upstream), *mixed)


def test_answers_come_back_and_strange_ones_do_not() -> None:
    a, _ = asked().instance.advertisements
    sent = told(asked(), (2, RelocationAnswer(a, (4, 1, 2))), (2, RelocationAnswer(a, (4, 1))))
    assert sent == [RelocationAnswer(a, (4, 1, 2))]


def test_a_stranger_to_the_path_passes_nothing_on() -> None:
    made = IMPLEMENTATION.make(HUB, (2, 3, 4), "none", {})
    assert made.receive(2, RelocationAnswer(asked().instance.advertisements[0], (4, 3))) == []


def test_a_request_brings_a_part_of_a_subscriber_along() -> None:
    a, _ = asked().instance.advertisements
    traced = [*begun(asked())[:6], (2, TraceResult(a, 1, 1)), (3, TraceResult(a, 5, 1))]
    sent = told(asked(threshold=2), *traced, (4, RelocationRequest(a, Amount(3, 1), (4, 9))))
    assert sent[-1] == RelocationRequest(a, Amount(7, 1), (HUB, 4, 9))


@pytest.mark.parametrize(("metric", "chosen"), [("load", 2), ("delay", 3)])
def test_the_first_broker_chooses_by_the_metric(metric: str, chosen: Node) -> None:
    grape = asked(algorithm="grape", threshold=1, metric=metric)
    a, _ = grape.instance.advertisements
    answers = [(2, (BrokerTrace(2, (1,), 0b1111, 4),)), (3, (BrokerTrace(3, (1,), 0b1, 11),))]
    said = [*begun(asked())[:4], (LOCAL, Publish(grape.instance.publications[0]))]
    said += [(sender, TraceAnswer(a, 1, traces)) for sender, traces in answers]
    told(grape, *said)
    made = IMPLEMENTATION.make(HUB, (2, 3, 4), "none", IMPLEMENTATION.own_of(grape.instance))
    assert isinstance(made, PlacingBroker)
    for sender, message in said:
        made.receive(sender, message)  # type: ignore[arg-type]  # a message
    [(_, decision)] = made.tables().decisions
    assert decision.path == (chosen, HUB)


def test_traces_of_a_session_are_gathered_from_those_that_are_asked() -> None:
    grape = asked(algorithm="grape", threshold=8)
    a, _ = grape.instance.advertisements
    begin = begun(asked(), 4)
    session = [
        (n, Publish(p, Traced(number, 1)))
        for n, (number, p) in ((4, each) for each in enumerate(grape.instance.publications, 1))
    ]
    answers = {n: TraceAnswer(a, 1, (BrokerTrace(n, (1,), 5, 2),)) for n in (2, 3)}
    early = [(4, TraceAnswer(a, 1, ())), (2, TraceAnswer(a, 7, ()))]
    for first, second in ((2, 3), (3, 2)):
        said = [*begin[:4], *session, (4, TraceRequest(a, 1)), (first, answers[first]), (first, answers[first])]
        sent = told(grape, *early, *said, *early, (second, answers[second]), (second, answers[second]))
        assert [message.kind for message in sent].count("trace-answer") == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "newest", "found"),
    [(Amount(3), 1, Amount(10, 1)), (Amount(3, 1), 1, Amount(13, 2)), (Amount(3, 2), 2, Amount(41, 3))],
)
def test_averages_are_exact_on_finer_scales_too(old: Amount, newest: int, found: Amount) -> None:
    assert old.averaged(newest) == found
