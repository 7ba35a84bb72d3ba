"""Whole steps of the world, held to the relation: queues, clients and ghosts as well as the broker.

`Worded.objection_to_step` is the first clause that a step breaks, and `Worded.allowed` is every step that the relation
says can happen in a state, to be compared with those that the model takes. The two states of a step are written with
one set of items, so that what stays in a queue is the same item in both. Faults are none of the relation's steps.

Under packing an item is a whole message. `PackedWorded` holds the broker's answer to the relation as `answers` does,
and all around it, which looks into no message, as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from attrs import evolve, field, frozen

from routeproof.checker.prove.refine import answers
from routeproof.model.history import History, Operation
from routeproof.model.messages import describe
from routeproof.model.overlay import LOCAL
from routeproof.model.world import State as ModelState
from routeproof.model.world import Step as ModelStep
from routeproof.model.world import World
from routeproof.spec.theory import BROKER, ITEM, Clause, Grounded, Relation, Term, holding
from routeproof.spec.theory.relation import ABOUT, Facts, Sends, WorldState
from routeproof.spec.theory.relation.routing import HandlerStep
from routeproof.spec.theory.relation.world import DONE, OPERATIONS, Happening, WorldStep


def no_operation(name: str) -> str:
    return f"the relation has no operation of clients that is {name}"


def name_of(kind: str) -> str:
    """The operation that is this message of a client; the kind itself where the relation has no such operation."""
    return next((name for name, each in OPERATIONS.items() if each == kind), kind)


Place = tuple[int, int, int]
"""An item on a link: (item, from, to)."""


@frozen
class Worded:
    """A world with its relations."""

    world: World
    step: type[WorldStep] = WorldStep
    handler: type[HandlerStep] = HandlerStep
    structure: answers.Structure = field(init=False)

    @structure.default
    def _of_instance(self) -> answers.Structure:
        return answers.Structure(self.world.instance)

    @property
    def policy(self) -> str:
        return self.world.policy

    @cached_property
    def operations(self) -> dict[Operation, tuple[str, int]]:
        """Each operation of the ledger in the relation's words."""
        return {
            o: (name_of(answers.word(o.message)[0]), answers.word(o.message)[1]) for o in self.world.ledger.operations
        }

    # -- a state in the relation's words -------------------------------------------------------------------------------

    def state(self, state: ModelState, on: Sequence[Place]) -> WorldState:
        tables: dict[str, list[tuple[int, ...]]] = {"advs": [], "subs": [], "sent": []}
        for node, local in zip(self.world.nodes, state.locals, strict=True):
            for name, tuples in answers.entries_of(node, local).items():
                tables[name] += [(node, *each) for each in tuples]
        return WorldState(
            **{name: holding(tuples) for name, tuples in tables.items()}, on=holding(on), **self.history(state.history)
        )

    def history(self, page: History) -> dict[str, Relation]:
        """Relations about the clients' operations, and the ghosts."""
        pairs = self.world.ledger.pairs
        advs = len(self.world.instance.advertisements)
        ready = [divmod(i, advs) for i in range(page.ready.bit_length()) if page.ready >> i & 1]
        done: dict[str, list[tuple[int]]] = {field: [] for field, _ in DONE.values()}
        for operation, (name, subject) in self.operations.items():
            if name in DONE and page.done & operation.bit:
                done[DONE[name][0]].append((subject,))
        return {
            **{field: holding(subjects) for field, subjects in done.items()},
            "delivered": holding(pairs(page.delivered)),
            "duplicate": holding([()] if page.duplicate else []),
            "ready": holding(ready),
            "owed": holding(pairs(page.owed)),
        }

    # -- steps ---------------------------------------------------------------------------------------------------------

    def objection_to_step(self, before: ModelState, taken: ModelStep) -> answers.Objection | None:
        try:
            across = Across.of(self, before, taken)
            logic = self.structure.logic(len(across.items))
            clauses = across.relation(
                logic,
                self.structure.facts(across.items),
                self.state(before, across.old),
                self.state(taken.state, across.new),
                across.sends,
            )
            return answers.broken(self.structure, clauses, logic, across.items)
        except answers.Unsayable as error:
            return answers.Objection(str(error))

    def allowed(self, state: ModelState) -> set[str]:
        """Labels of the model's actions that the relation says can happen."""
        items, places = items_of(self.world, state)
        logic, facts = self.structure.logic(len(items)), self.structure.facts(items)
        here = self.state(state, places)
        step = self.step(logic, facts, self.policy, here, here, Sends(to=holding(()), delivers=holding(())))
        found = {
            f"{name}({self.structure.name(sort, subject)})"
            for name, (_, sort) in DONE.items()
            if name in OPERATIONS
            for subject in self.structure.elements[sort]
            if step.possible(Happening(OPERATIONS[name], subject, 0, 0, operation=name))
        }
        for item, x, y in logic.each((ITEM, BROKER, BROKER)):
            if any(
                step.possible(Happening(kind, subject, y, x, item=item))
                for kind, sort in ABOUT.items()
                for subject in self.structure.elements[sort]
            ):
                place = [each for each in places if each[1:] == (x, y)].index((item, x, y))
                found.add(f"deliver {x}>{y}" + (f", number {place + 1} in its queue" if place else ""))
        return found


def items_of(world: World, state: ModelState) -> tuple[tuple[answers.Word, ...], list[Place]]:
    """Every message that is queued, in an order in which each queue's are in their order."""
    words: list[answers.Word] = []
    places: list[Place] = []
    for (x, y), queue in zip(world.links, state.queues, strict=True):
        for message in queue:
            places.append((len(words), x, y))
            words.append(answers.heading(message))
    return tuple(words), places


@frozen
class Across:
    """A step with its items, the new ones last. Where a queue is not what it was, all of it is new: an objection."""

    worded: Worded
    taken: ModelStep
    items: tuple[answers.Word, ...]
    old: list[Place]
    new: list[Place]
    said: answers.Spoken

    @classmethod
    def of(cls, worded: Worded, before: ModelState, taken: ModelStep) -> Across:
        world = worded.world
        items, old = items_of(world, before)
        words, new = list(items), []
        for link, (queue, then) in enumerate(zip(before.queues, taken.state.queues, strict=True)):
            x, y = world.links[link]
            kept = [place for place in old if place[1:] == (x, y)]
            stays = queue
            if taken.action.kind == "deliver" and taken.action.link == link:
                kept, stays = kept[1:], queue[1:]
            stayed = then[: len(stays)] == stays
            new += kept if stayed else []
            for message in then[len(stays) :] if stayed else then:
                new.append((len(words), x, y))
                words.append(answers.heading(message))
        return cls(worded, taken, tuple(words), old, new, answers.spoken(answers.item_by_item(taken.outcome.sends)))

    @property
    def sends(self) -> Sends:
        """New messages on the links that leave the broker, and its deliveries."""
        here = self.taken.action.node
        to = [(i, y) for i, x, y in self.new if x == here and i >= len(self.old)]
        return Sends(to=holding(to), delivers=holding(self.said.delivered))

    def relation(
        self,
        logic: Grounded,
        facts: Facts,
        before: WorldState,
        after: WorldState,
        sends: Sends,
        handler: type[HandlerStep] | None = None,
    ) -> list[Clause]:
        worded, action = self.worded, self.taken.action
        step = worded.step(logic, facts, worded.policy, before, after, sends, handler or worded.handler)
        if action.operation is not None:
            name, subject = worded.operations[action.operation]
            if name not in OPERATIONS:
                raise answers.Unsayable(no_operation(name))
            return step.operation(name, subject)
        sender, here = worded.world.links[action.link]
        item = next(i for i, x, y in self.old if (x, y) == (sender, here))
        return step.delivery(*answers.heading(self.taken.message), item, sender, here)


class Unasked(HandlerStep):
    """A broker without any constraint."""

    def clauses(self, kind: str, subject: Term) -> list[Clause]:
        return []


@frozen
class PackedWorded(Worded):
    """A world under packing: the relation's broker handles it item by item."""

    handler: type[HandlerStep] = Unasked

    def objection_to_step(self, before: ModelState, taken: ModelStep) -> answers.Objection | None:
        return super().objection_to_step(before, taken) or self._objection_to_answer(before, taken)

    def _objection_to_answer(self, before: ModelState, taken: ModelStep) -> answers.Objection | None:
        """Objection to the broker's answer, read off its tables and the new messages in its queues after the step."""
        world, here = self.world, taken.action.node
        queues = zip(world.links, before.queues, taken.state.queues, strict=True)
        said = tuple((y, m) for (x, y), queue, then in queues if x == here for m in then[len(queue) :])
        delivered = tuple(send for send in taken.outcome.sends if send[0] == LOCAL)
        was, local = (state.locals[world.nodes.index(here)] for state in (before, taken.state))
        answer = evolve(taken.outcome, local=local, sends=(*said, *delivered))
        question = answers.Question(self.policy, here, was, taken.sender, taken.message, answer)
        return answers.objection_to_packed(self.structure, world.protocol, question)


def described(world: World, state: ModelState) -> str:
    """A state, for people."""
    tables = [f"b{n}: {answers.known(local)}" for n, local in zip(world.nodes, state.locals, strict=True)]
    queues = [
        f"b{x} to b{y}: {', '.join(map(describe, queue))}"
        for (x, y), queue in zip(world.links, state.queues, strict=True)
        if queue
    ]
    page = state.history
    ghosts = [f"{name} {getattr(page, name):b}" for name in ("done", "delivered", "ready", "owed")]
    return " / ".join([*tables, *queues, *ghosts, *(["duplicate"] if page.duplicate else [])])
