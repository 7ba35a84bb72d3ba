"""What is remembered of a run is what its definitions say of all its steps, told again from the beginning."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from routeproof.checker.instances import find
from routeproof.model.history import CONTROL, PARTS, Ghost, History, Ledger, Reading, WorldEvent, checked
from routeproof.model.instance import Instance, own_with
from routeproof.model.messages import (
    Advertise,
    Deliver,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
    is_control,
)
from routeproof.model.protocol import Kept, ProtocolError
from routeproof.model.protocols import world
from routeproof.model.world import Step, World

WALKS = (
    *(("unadv3", "active"), ("pair3", "none"), ("duplicate3", "active"), ("loss2", "lazy"), ("crash3", "none")),
    *(("return3", "incremental"), ("moves3", "selective"), ("moves3id", "selective"), ("window3", "incremental")),
    *(("prune3", "selective"), ("overtake3", "incremental"), ("hold3", "selective"), ("leave5", "packing")),
    ("cross3", "active"),
)


def walk(asked: World, seed: int) -> list[Step]:
    draw, state, steps = Random(seed), asked.initial(), list[Step]()
    while len(steps) < 60 and (enabled := list(asked.steps(state))):
        weights = [1 if step.action.kind == "operation" else 3 for step in enabled]
        steps += draw.choices(enabled, weights)
        state = steps[-1].state
    return steps


class Told:
    """A run told again. Pairs are sets of ids, not masks; a subscription that is issued again is another one."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.had: dict[int, Subscription] = {}
        self.advertised: set[str] = set()
        self.ready: set[tuple[int, int]] = set()
        self.owed: set[tuple[int, int]] = set()
        self.delivered: set[tuple[int, int]] = set()
        self.withdrawn: set[int] = set()
        self.duplicate = self.astray = False
        self.fair: set[int] = set()
        self.cut: int | None = None

    def step(self, message: object, delivered: Iterable[Deliver], quiet: bool) -> None:
        fair, received = set(self.fair), set(self.delivered)
        match message:
            case Advertise(a):
                self.advertised.add(a.id)
            case Unadvertise(a):
                self.advertised.discard(a.id)
            case Subscribe(s):
                self.had[s.rank] = s
                self.delivered = {(p, t) for p, t in self.delivered if t != s.rank}
            case Unsubscribe(s):
                del self.had[s.rank]
                self.withdrawn.add(s.rank)
                self.owed = {(p, t) for p, t in self.owed if t != s.rank}
            case Publish(p):
                mine = next(a for a in self.instance.advertisements if a.id == p.of)
                self.owed |= {(p.rank, s) for s, a in self.ready if a == mine.rank and self._wants(s, p)}
        for each in delivered:
            pair = each.publication.rank, each.subscription.rank
            if self.had.get(each.subscription.rank) != each.subscription:
                self.astray = True
                continue
            self.duplicate |= pair in self.delivered
            self.delivered.add(pair)
        active = set(self.active())
        self.ready = active if quiet else self.ready & active
        self._judge(message, quiet, fair, received)

    def _judge(self, message: object, quiet: bool, fair: set[int], received: set[tuple[int, int]]) -> None:
        """What pruning remembers: whether the last change was a withdrawal, and all before it was fair."""
        match message:
            case Publish(p):
                self.fair |= {p.rank} if quiet else set()
            case Unsubscribe(s) if fair and all(p in fair for p, t in received if t == s.rank):
                self.fair, self.cut = set(), s.rank
            case _ if message is not None:
                self.fair, self.cut = set(), None

    def active(self) -> Iterable[tuple[int, int]]:
        for s, subscription in self.had.items():
            for a in self.instance.advertisements:
                if a.id in self.advertised and subscription.filter.overlaps(a.filter):
                    yield s, a.rank

    def _wants(self, rank: int, publication: Publication) -> bool:
        return self.instance.subscriptions[rank].filter.matches(publication.event)


def said(ledger: Ledger, page: History) -> dict[str, object]:
    """What a page says, in the words of `Told`."""
    instance = ledger.instance
    advertised = zip(instance.advertisements, ledger.active_advertisements(page.done), strict=True)
    issues = [ledger.issue(rank, page.done) for rank in range(len(instance.subscribers))]
    assert ledger.active_subscriptions(page.done) == tuple(each is not None for each in issues)
    return {
        "had": {each.rank: each for each in issues if each is not None},
        "advertised": {a.id for a, is_on in advertised if is_on},
        "ready": {
            divmod(i, len(instance.advertisements)) for i in range(page.ready.bit_length()) if page.ready >> i & 1
        },
        "owed": set(ledger.pairs(page.owed)),
        "delivered": set(ledger.pairs(page.delivered)),
        "withdrawn": {s.rank for s in ledger.withdrawn(page.done)},
        "duplicate": page.duplicate,
    }


def told_of(told: Told) -> dict[str, object]:
    names = ("had", "advertised", "ready", "owed", "delivered", "withdrawn", "duplicate")
    return {name: getattr(told, name) for name in names}


def of_pruning(told: Told) -> tuple[object, ...]:
    return told.astray, sum(1 << p for p in told.fair), 0 if told.cut is None else told.cut + 1


@pytest.mark.parametrize(("name", "policy"), WALKS)
def test_the_history_is_that_of_the_steps(name: str, policy: str) -> None:
    asked = world(find(name), policy)
    for seed in range(4):
        told = Told(asked.instance)
        for step in walk(asked, seed):
            queued = [message for queue in step.state.queues for message in queue]
            kept = [asked.protocol.kept(local) for local in step.state.locals]
            quiet = not any(map(is_control, queued)) and not any(each.control for each in kept)
            sent = [message for _, message in step.outcome.sends if isinstance(message, Deliver)]
            told.step(step.message if step.action.kind == "operation" else None, sent, quiet)
            assert said(asked.ledger, step.state.history) == told_of(told)
            names = {copy.id for message in queued for copy in getattr(message, "copies", ())}
            names |= {p for each in kept for p in each.publications}
            ranks = [p.rank for p in asked.instance.publications if p.id in names]
            assert asked.in_flight(step.state) == (0 if quiet else CONTROL) + sum(2 << rank for rank in ranks)
            assert not asked.ghosts or step.state.ghosts == of_pruning(told)


@pytest.mark.parametrize(("name", "policy"), WALKS)
def test_the_history_is_that_of_any_events(name: str, policy: str) -> None:
    """Deliveries that no broker makes, at moments that are quiet or not: what is remembered rests on no protocol."""
    asked = world(find(name), policy)
    ledger, instance = asked.ledger, asked.instance
    issued = [o.message.subscription for o in ledger.operations if isinstance(o.message, Subscribe)]
    for seed in range(8):
        draw, told, homes = Random(seed), Told(instance), [s.at for s in instance.subscribers]
        page, ghosts = ledger.initial(), tuple(ghost.initial(ledger) for ghost in asked.ghosts)
        while operations := [o for o in ledger.operations if ledger.enabled(page, o)]:
            assert ledger.may(page) == sum(o.bit for o in operations)
            operation = draw.choice([*operations, None])
            many = draw.choice((0, 0, 1, 2)) if instance.publications and issued else 0
            sent = tuple(Deliver(draw.choice(instance.publications), draw.choice(issued)) for _ in range(many))
            event = WorldEvent(operation, "", sent, draw.random() < 0.5)
            told.step(None if operation is None else operation.message, sent, event.quiet)
            seen = [ghost.sees(ledger, event) for ghost in asked.ghosts]
            others = [each.shown(each.page_of(page), each.values_of(ghosts)) for each in asked.ghosts_read]
            rows = zip(asked.ghosts, ghosts, seen, others, strict=True)
            ghosts = tuple(was if it is None else ghost.after(ledger, was, it, rest) for ghost, was, it, rest in rows)
            page = asked.page(page, operation, "", sent, event.quiet)
            assert said(ledger, page) == told_of(told)
            assert not ghosts or ghosts == of_pruning(told)
            if operation is not None and isinstance(operation.message, Subscribe):
                homes[operation.message.subscription.rank] = operation.node
            assert [ledger.home(rank, page.done) for rank in range(len(homes))] == homes


def test_tags_of_what_is_kept() -> None:
    ledger = world(find("leave5"), "none").ledger
    p, q = ledger.instance.publications[0].id, ledger.instance.publications[-1].id
    rows = [((), 0), ((p,), 2), ((q,), 2 << ledger.instance.publications[-1].rank)]
    for ids, tag in rows:
        assert ledger.tags_of(Kept(False, frozenset(ids))) == tag
        assert ledger.tags_of(Kept(True, frozenset(ids))) == tag + CONTROL
    assert ledger.tag("no message of ours") == 0


class Counts(Ghost):
    """A ghost that there is once for each of some clients."""

    def __init__(self, name: str, of: str = "") -> None:
        self.name, self.of = name, of


def test_a_reader_is_shown_what_it_reads() -> None:
    ghosts = (Counts("one"), Counts("each", "s"), Counts("each", "t"), Counts("other"))
    names = ("one", "each", "other", "none")
    reading = Reading.of(("owed", "one", "each", "none"), names, ghosts, "a test")
    page = reading.page_of(History(owed=5, done=7))
    shown = vars(reading.shown(page, reading.values_of((1, 2, 3, 4))))
    assert shown == {"owed": 5, "one": 1, "each": {"s": 2, "t": 3}, "none": {}}
    assert reading
    assert [bool(Reading.of(reads, names, ghosts, "a test")) for reads in ((), ("done",), ("one",), ("none",))] == [
        *(False, True, True, True)
    ]
    for name, part in (("done", PARTS), ("one", names)):
        assert name in part
        Reading.of((name,), names, ghosts, "a test")
    with pytest.raises(ProtocolError, match="a test reads queue, which is no ghost of the protocol"):
        Reading.of(("queue", "flight"), names, ghosts, "a test")


@pytest.mark.parametrize("name", ["done", "queues"])
def test_a_ghost_has_a_name_of_its_own(name: str) -> None:
    assert checked([Counts("a"), Counts("b"), Counts("c", "s"), Counts("c", "t")])
    for taken in (
        [Counts(name)],
        [Counts("a"), Counts("a")],
        [Counts("c", "s"), Counts("c", "s")],
        [Counts("c"), Counts("c", "s")],
    ):
        with pytest.raises(ProtocolError, match="the name is taken"):
            checked(taken)


def test_content_of_a_key() -> None:
    own = (("a", 1), ("c", 3))
    assert own_with(own, "b", 2) == (("a", 1), ("b", 2), ("c", 3))
    assert own_with(own, "c", 4) == (("a", 1), ("c", 4))
    assert own_with(own, "a", None) == own_with(own, "a", ()) == (("c", 3),)
    assert own_with(own, "a", False) == (("a", False), ("c", 3))
