"""The model of migration, held to the relation of its proofs: every state and every step of a move in small instances.

A state of the model is seen by one subscription and one advertisement that moves (`View`), as the relation speaks of
it. Looked at are the states in which both were there when it was quiet last, and in which no other publisher that
draws the subscription comes or goes: the hypotheses of the proofs. There every invariant must be true, and each step of
the model must be the one that the relation names, with the same state after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from attrs import field, frozen

from routeproof.checker.instances import find
from routeproof.checker.prove.solve import Case, CodeTheorem, Examination
from routeproof.model.messages import PackedUnsubscribe, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.migration.vocabulary import (
    Arrive,
    Complete,
    Flushed,
    MigrationTables,
    Pause,
    Publisher,
    Resume,
    Update,
    movers,
    parameters_of,
    publisher_name,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocols import world
from routeproof.model.world import State, Step, World
from routeproof.spec.migration.theory.move import EVENTS
from routeproof.spec.migration.theory.worlds import FIELDS, SmallWorld, Values, state_of, values_of, violated

EVENT = {event.name: event for event in EVENTS}

MOVES: dict[type, str] = {
    Pause: "pause",
    Flushed: "mark at the source",
    Arrive: "publisher at the target",
    Update: "update",
    Complete: "completion",
    Resume: "resume",
}
"""The events that the messages of a move are."""

Named = tuple[str, tuple[Any, ...]]
"""An event with its elements."""


class NoMove(Exception):
    """The model is in a state for which the relation has no words."""


@frozen
class View:
    """One subscription and one publisher that moves once, in a world without covering."""

    world: World
    advertisement: int
    subscription: int
    source: Node
    target: Node
    home: Node
    client: Node
    _checked: dict[Any, Any] = field(init=False, factory=dict, repr=False)

    # -- what it looks at ----------------------------------------------------------------------------------------------

    def setting(self, state: State) -> SmallWorld | None:
        """The setting of the relation; None where the hypotheses of the proofs are not met."""
        ready = set(self._ready(state))
        if (self.subscription, self.advertisement) not in ready:
            return None
        instance = self.world.instance
        s, drawn = instance.subscriptions[self.subscription], []
        advertised = {label for label in self._done(state) if label.startswith(("advertise(", "unadvertise("))}
        moving = {each.advertisement.rank for each in movers(instance)}
        for each in instance.advertisers:
            a = each.advertisement
            if a.rank == self.advertisement or not a.filter.overlaps(s.filter):
                continue
            if f"advertise({a.id})" not in advertised:
                continue
            if (self.subscription, a.rank) not in ready or a.rank in moving:
                return None
            drawn.append(each.at)
        overlay = instance.overlay
        other = frozenset(b for at in drawn for b in overlay.path(self.home, at))
        return SmallWorld(overlay.edges, self.source, self.target, self.home, len(self._publications), other)

    def _done(self, state: State) -> list[str]:
        return [o.label for o in self.world.ledger.operations if state.history.done & o.bit]

    def _ready(self, state: State) -> Iterator[tuple[int, int]]:
        many = len(self.world.instance.advertisements)
        for bit in range(many * len(self.world.instance.subscriptions)):
            if state.history.ready >> bit & 1:
                yield bit // many, bit % many

    @property
    def _publications(self) -> list[int]:
        """Ranks of the publications that the subscription matches, in their order."""
        instance = self.world.instance
        s, a = instance.subscriptions[self.subscription], instance.advertisements[self.advertisement]
        return [p.rank for p in instance.publications if p.of == a.id and s.filter.matches(p.event)]

    # -- the state, as the relation has it -----------------------------------------------------------------------------

    def values(self, state: State, setting: SmallWorld) -> Values:
        """The state of the relation. `NoMove` where the model has something that the relation cannot express."""
        overlay, instance = self.world.instance.overlay, self.world.instance
        a, s = instance.advertisements[self.advertisement], instance.subscriptions[self.subscription]
        tables = {b: local for b, local in zip(self.world.nodes, state.locals, strict=True) if b in overlay.brokers}
        client = state.locals[self.world.nodes.index(self.client)]
        assert isinstance(client, Publisher)
        on_path = set(overlay.path(self.target, self.source))
        rows: dict[str, set[tuple[Any, ...]]] = {each.name: set() for each in FIELDS}
        for b, t in tables.items():
            assert isinstance(t, MigrationTables)
            if b in on_path and t.adv_from(a) == overlay.toward(b, self.target):
                rows["updated"].add((b,))
                if t.draining_from(a) is None:
                    rows["done"].add((b,))
            elif t.adv_from(a) != overlay.toward(b, self.source):
                raise NoMove(f"broker {b} has {a} from {t.adv_from(a)}")
            if t.sub_from(s) is not None:
                if t.sub_from(s) != overlay.toward(b, self.home):
                    raise NoMove(f"broker {b} has {s} from {t.sub_from(s)}")
                rows["has"].add((b,))
            for u in overlay.neighbours(b):
                if s in t.sent_to(u):
                    if self._inward(u) != b:
                        raise NoMove(f"broker {b} has sent {s} to {u}")
                    rows["sent"].add((u,))
            if a in t.flushed and b == self.source:
                rows["flushed"].add(())
        if (self.source,) in rows["done"]:
            rows["flushed"].add(())
        owed = {p for p, sub in self.world.ledger.pairs(state.history.owed) if sub == self.subscription}
        done = set(self._done(state))
        number = {rank: place for place, rank in enumerate(self._publications, 1)}
        for rank, place in number.items():
            if f"publish({instance.publications[rank].id})" in done:
                rows["published"].add((place,))
                if rank not in owed:
                    rows["delivered"].add((place,))  # published before both were there
        for p, sub in self.world.ledger.pairs(state.history.delivered):
            if sub == self.subscription and p in owed and p in number:
                rows["delivered"].add((number[p],))
        watched = {instance.publications[p].id: number[p] for p in number if p in owed}
        for held in client.held:
            if isinstance(held, Publish) and held.publication.id in watched:
                rows["held"].add((watched[held.publication.id],))
        for (x, y), queue in zip(self.world.links, state.queues, strict=True):
            for message in queue:
                self._queued(rows, x, y, message, watched, s)
        if client.paused or client.at == self.target:
            rows["paused"].add(())
        if client.at == self.target:
            rows["resumed"].add(())
        if state.history.duplicate:
            rows["twice"].add(())
        return tuple(frozenset(rows[each.name]) for each in FIELDS)

    def _queued(
        self, rows: dict[str, set[tuple[Any, ...]]], x: Node, y: Node, message: Hashable, watched: Any, s: Subscription
    ) -> None:
        match message:
            case Publish(p) if p.id in watched:
                if x == self.client:
                    rows["old" if y == self.source else "new"].add((watched[p.id],))
                elif x in self.world.brokers and y == self._inward(x):
                    rows["flying"].add((watched[p.id], x))
            case Update(a, _) if a.rank == self.advertisement:
                rows["update"].add((y,))
            case Complete(a) if a.rank == self.advertisement:
                rows["completion"].add((y,))
            case Subscribe(t) if t == s:
                rows["addition"].add((y,))
            case Unsubscribe(t) if t == s:
                rows["withdrawal"].add((y,))
            case PackedUnsubscribe(some) if s in some:
                rows["withdrawal"].add((y,))

    def _inward(self, b: Node) -> Node | None:
        return self.world.instance.overlay.toward(b, self.home) if b != self.home else None

    # -- steps ---------------------------------------------------------------------------------------------------------

    def event(self, state: State, step: Step, setting: SmallWorld) -> Named | None:
        """The event of the relation that a step must be; None where nothing may change."""
        number = {self.world.instance.publications[rank].id: n for n, rank in enumerate(self._publications, 1)}
        message, x, y = step.message, step.sender, step.action.node
        s = self.world.instance.subscriptions[self.subscription]
        match message:
            case Publish(p) if p.id in number and not self._is_watched(state, p.id, step):
                return None
            case Publish(p) if p.id in number:
                place = number[p.id]
                if y == self.client:
                    return "publish", (place,)
                if x == self.client:
                    return ("publication at the source" if y == self.source else "publication at the target"), (place,)
                return ("publication on its way", (place, x)) if y == self._inward(x) else None
            case Pause(a) | Flushed(a) | Arrive(a) | Resume(a) if a.rank == self.advertisement:
                return MOVES[type(message)], ()
            case Update(a) | Complete(a) if a.rank == self.advertisement:
                return MOVES[type(message)], (y,)
            case Subscribe(t) if t == s and x != LOCAL:
                return "subscription", (y,)
            case Unsubscribe(t) if t == s and x != LOCAL:
                return "withdrawal", (y,)
            case PackedUnsubscribe(some) if s in some:
                return "withdrawal", (y,)
        return None

    def _is_watched(self, state: State, publication: str, step: Step) -> bool:
        """True if it is owed to the subscription, or is published now."""
        if step.action.operation is not None:
            return True
        rank = next(p.rank for p in self.world.instance.publications if p.id == publication)
        return bool(state.history.owed & self.world.ledger.pair(rank, self.subscription))

    def allows(self, setting: SmallWorld, before: Values, event: Named | None, after: Values) -> bool:
        """True if the relation allows the step, and gives it this state after it."""
        key = setting, before, event, after
        if key not in self._checked:
            self._checked[key] = (before if event is None else self._leads(setting, before, event)) == after
        return bool(self._checked[key])

    @staticmethod
    def _leads(setting: SmallWorld, before: Values, event: Named) -> Values | None:
        q, m = setting.setting(), state_of(before)
        name, terms = event
        if EVENT[name].guard(q, m, *terms) is not True:
            return None
        return values_of(q, EVENT[name].effect(q, m, *terms))

    def is_sound(self, setting: SmallWorld, values: Values) -> bool:
        key = setting, values
        if key not in self._checked:
            self._checked[key] = not violated(setting.setting(), values)
        return bool(self._checked[key])


def views(asked: World) -> list[View]:
    """Every publisher that moves once and is not refused, with every subscription that it overlaps."""
    parameters = parameters_of(asked.instance)
    found = []
    for mover in movers(asked.instance):
        targets = [move.to for move in parameters.moves if move.publisher == mover.advertisement.id]
        if len(targets) > 1 or targets[0] == mover.at or targets[0] in parameters.refuses:
            continue
        client = asked.topology.numbered(publisher_name(mover.advertisement.id))
        found += [
            View(asked, mover.advertisement.rank, each.subscription.rank, mover.at, targets[0], each.at, client)
            for each in asked.instance.subscribers
            if mover.advertisement.filter.overlaps(each.subscription.filter)
        ]
    return found


@frozen
class SeenStep:
    """A state or a step of the model, and whether the relation allows it."""

    what: str
    allowed: bool
    why: str
    shown: dict[str, str]

    def about(self) -> dict[str, str]:
        return {"at": self.what, "why": self.why, **self.shown}


def judged(view: View, most: int | None = None) -> Iterator[SeenStep]:
    """Every state that the model reaches, and every step, as the view sees it."""
    asked = view.world
    start = asked.initial()
    seen, waiting = {start}, deque([start])
    while waiting and (most is None or len(seen) < most):
        state = waiting.popleft()
        setting = view.setting(state)
        before = None
        if setting is not None:
            try:
                before = view.values(state, setting)
                yield SeenStep("state", view.is_sound(setting, before), "an invariant is false", _told(before))
            except NoMove as reason:
                yield SeenStep("state", False, str(reason), {})
        for step in asked.steps(state):
            if step.state not in seen:
                seen.add(step.state)
                waiting.append(step.state)
            if before is None or setting is None or view.setting(step.state) != setting:
                continue
            event = view.event(state, step, setting)
            try:
                allowed, why = view.allows(setting, before, event, view.values(step.state, setting)), step.action.label
            except NoMove as reason:
                allowed, why = False, str(reason)
            yield SeenStep(event[0] if event else "other", allowed, why, {} if allowed else _told(before))


def _told(values: Values) -> dict[str, str]:
    return {each.name: str(sorted(rows)) for each, rows in zip(FIELDS, values, strict=True) if rows}


USUAL = ("quit2", "covered3")
"""The default sample of `routeproof prove`."""


def _cases(names: Sequence[str], mutant: str | None = None) -> Callable[[], Iterator[Case]]:
    def cases() -> Iterator[Case]:
        for name in names:
            for view in views(world(find(name), "none", mutant)):
                for seen in judged(view):
                    yield Case(True, seen.allowed, seen.about)

    return cases


def theorem(names: Sequence[str] = USUAL, mutant: str | None = None) -> CodeTheorem:
    """The theorem about some instances, or about a model with a seeded fault."""
    return CodeTheorem(
        "MoveStepsAllowed",
        ("MIG-1", "MIG-3", "MIG-4", "MIG-6", "MIG-7", "MIG-8", "MIG-12", "MIG-13", "MIG-14"),
        "Seen by one subscription, each state and step of the model's moves is one that the proofs speak of.",
        lambda: [Examination(name, _cases((name,), mutant), both=False, says="the relation") for name in names],
        bound=f"what happens in {', '.join(names)}, without covering, of publishers that move once",
    )


CODE_THEOREMS = [theorem()]
