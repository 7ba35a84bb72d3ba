"""Whole steps and their parts, held to the relation: the obligations about what can happen and what it leads to.

The explorer never builds a state. A transition is the answer of one handler, an edit of one queue, appendices to others
and a new page of the ledger, and each of these is a question that it asks once. So all transitions of an instance are
held to the relation by holding these parts to it. That the explorer puts the parts together as the world does is
checked by its own tests, and here by whole steps (`worlds`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from attrs import evolve, frozen

from routeproof.checker.explore.interned import IMPOSSIBLE, UNKNOWN
from routeproof.checker.explore.questions import Questions
from routeproof.checker.prove.refine.alternatives import other_step
from routeproof.checker.prove.refine.answers import Objection, Unsayable, broken, heading
from routeproof.checker.prove.refine.sample import Explored, Sample
from routeproof.checker.prove.refine.worlds import Worded, described, name_of, no_operation
from routeproof.checker.prove.solve import Case, Examination
from routeproof.model.history import History, Operation
from routeproof.model.messages import Deliver
from routeproof.model.world import Queue, State, Step
from routeproof.spec.theory import Clause, holding
from routeproof.spec.theory.invariants.step import EVENTS
from routeproof.spec.theory.relation import ABOUT, Sends, WorldState
from routeproof.spec.theory.relation.routing import POLICIES, Change, HandlerStep
from routeproof.spec.theory.relation.world import OPERATIONS, Happening

# -- parts of a transition ---------------------------------------------------------------------------------------------


@frozen
class LedgerPage:
    """A step as the ledger sees it. `quiet`: no queue holds a control message once it is done."""

    before: History
    operation: Operation | None
    delivered: tuple[Deliver, ...]
    quiet: bool
    after: History


@frozen
class Edit:
    """A change of one queue: its head is taken, or messages are appended."""

    link: int
    before: Queue
    said: Queue
    """The messages that are appended; empty where the head is taken."""
    after: Queue


def pages(questions: Questions) -> Iterator[LedgerPage]:
    """Every page of the ledger that the explorer turned, but for faults."""
    operations = questions.ledger.operations
    for kind, _, history, event_and_quiet in questions.log:
        if kind == 4:
            event, quiet = divmod(event_and_quiet, 2)
            operation, fault, delivered = questions.events.values[event]
            if not fault:
                yield LedgerPage(
                    questions.histories.values[history],
                    None if operation == UNKNOWN else operations[operation],
                    questions.deliveries.values[delivered][0],
                    bool(quiet),
                    questions.histories.values[_answer(questions.page, history, event_and_quiet)],
                )


def edits(questions: Questions) -> Iterator[Edit]:
    """Every edit of a queue, but for faults."""
    for kind, which, row, column in questions.log:
        if kind == 1:
            queues = questions.queues[which].values
            after = queues[_answer(questions.appended[which], row, column)]
            yield Edit(which, queues[row], questions.appendices[which].values[column], after)
        elif kind == 2 and questions.world.actions[which].kind == "deliver":
            link = questions.world.actions[which].link
            answer = _answer(questions.edited[which], row, column)
            if answer != IMPOSSIBLE:
                yield Edit(link, questions.queues[link].values[row], (), questions.queues[link].values[answer])


def _answer(table: Any, row: int, column: int) -> int:
    return int(table(np.array([row]), np.array([column]))[0])


def objection_to_page(worded: Worded, page: LedgerPage) -> Objection | None:
    control = (("adv", 0),)  # any control message stands for what is queued
    logic = worded.structure.logic(len(control))
    x, y = worded.world.links[0] if worded.world.links else (1, 1)
    before = WorldState(**_tables(), on=holding(()), **worded.history(page.before))
    after = WorldState(**_tables(), on=holding(() if page.quiet else ((0, x, y),)), **worded.history(page.after))
    delivers = [(d.publication.rank, d.subscription.rank) for d in page.delivered]
    sends = Sends(to=holding(()), delivers=holding(delivers))
    step = worded.step(logic, worded.structure.facts(control), worded.policy, before, after, sends, worded.handler)
    if page.operation is not None:
        name, subject = worded.operations[page.operation]
        if name not in OPERATIONS:
            return Objection(no_operation(name))
        what = Happening(name, subject, 0, 0, operation=name)
        can = [Clause("it can happen", (), lambda: step.possible(what))]
    else:
        what, can = Happening("", None, 0, 0), []
    return broken(worded.structure, [*can, *step.done(what), *step.ghosts(what)], logic, control)


def objection_to_edit(worded: Worded, edit: Edit) -> Objection | None:
    x, y = worded.world.links[edit.link]
    stays = edit.before if edit.said else edit.before[1:]
    stayed = edit.after[: len(stays)] == stays
    fresh = edit.after[len(stays) :] if stayed else edit.after
    if stayed and fresh != edit.said:
        return Objection("what is said is queued, in this order", (), f"b{x} to b{y}")
    try:
        items = tuple(heading(m) for m in (*edit.before, *fresh))
    except Unsayable as error:
        return Objection(str(error))
    old, new = range(len(edit.before)), range(len(edit.before), len(items))
    kept = (old if edit.said else old[1:]) if stayed else ()
    empty, nothing = worded.history(History()), _tables()
    logic = worded.structure.logic(len(items))
    step = worded.step(
        logic,
        worded.structure.facts(items),
        worded.policy,
        WorldState(**nothing, on=holding([(i, x, y) for i in old]), **empty),
        WorldState(**nothing, on=holding([(i, x, y) for i in (*kept, *new)]), **empty),
        Sends(to=holding([(i, y) for i in new]), delivers=holding(())),
        worded.handler,
    )
    what = Happening("", None, x, x, operation="publish") if edit.said else Happening("", None, y, x, item=0)
    return broken(worded.structure, step.queues(what), logic, items)


def _tables() -> dict[str, Any]:
    return {name: holding(()) for name in ("advs", "subs", "sent")}


# -- whole steps -------------------------------------------------------------------------------------------------------


Steps = Sequence[tuple[Explored, State, Step]]

ALTER_EACH = 10
"""One page of the ledger in this many is altered."""

examined = partial(Examination, says="the relation")


class Looser(HandlerStep):
    """It does not say what becomes of the table of subscriptions."""

    def new_tables(self, change: Change) -> list[Clause]:
        return [clause for clause in super().new_tables(change) if clause.name != "subs"]


def case(expected: bool, found: bool, told: Mapping[str, str]) -> Case:
    return Case(expected, found, partial(dict, told))


def steps_allowed(worlds: Sequence[Explored], whole: bool) -> list[Examination]:
    return [
        examined("transitions by name", partial(_named, worlds, whole), both=False),
        examined("what can happen", partial(_possible, worlds)),
        *_by_happening(worlds, whole, _taken),
        examined("queues, edit by edit", partial(_edits, worlds)),
        examined("ghosts, page by page", partial(_pages, worlds)),
    ]


def steps_determined(sample: Sample) -> list[Examination]:
    small = [each for each in sample.explored if _is_small(each)]
    return _by_happening(small, sample.whole, _only)


def has_small(sample: Sample) -> bool:
    """Whether there is anything to ask of. A whole sample has what is small, and is not explored to see that."""
    return sample.whole or any(map(_is_small, sample.explored))


def _is_small(explored: Explored) -> bool:
    return explored.world.policy in POLICIES and explored.is_small


def _by_happening(
    worlds: Sequence[Explored], whole: bool, cases: Callable[[Steps], Iterable[Case]]
) -> list[Examination]:
    """One for each operation and for each kind of message that is delivered."""
    rows: dict[str, list[tuple[Explored, State, Step]]] = {
        name: [] for name in (*OPERATIONS, *(f"deliver {kind}" for kind in ABOUT))
    }
    for explored in worlds:
        for state, step in explored.steps():
            kind, _ = heading(step.message)
            name = f"deliver {kind}" if step.action.operation is None else name_of(kind)
            rows.setdefault(name, []).append((explored, state, step))
    return [Examination(name, partial(cases, row)) for name, row in rows.items() if row or whole]


def _named(worlds: Sequence[Explored], whole: bool) -> Iterator[Case]:
    """Each of the model's transitions is one of the relation's events; in a whole sample each event is a transition."""
    proved = {event.name for event in EVENTS}
    taken: set[str] = set()
    for explored in worlds:
        for operation in explored.world.ledger.operations:
            taken |= {operation.label.partition("(")[0], f"deliver {heading(operation.message)[0]}"}
    for name in sorted(taken | (proved if whole else set())):
        yield Case(name in taken, name in proved, partial(dict, {"transition": name}))


# -- what can happen, and what it leads to -----------------------------------------------------------------------------


def _possible(worlds: Sequence[Explored]) -> Iterator[Case]:
    for explored in worlds:
        world = explored.world
        for state in explored.reached:
            allowed = explored.worded.allowed(state)
            taken = {a.label for a in world.actions if a.kind in ("operation", "deliver") and world.enabled(state, a)}
            for label in sorted(allowed | taken | world.action_named.keys()):
                yield case(label in allowed, label in taken, {"step": label, "in": described(world, state)})


def _taken(steps: Steps) -> Iterator[Case]:
    for number, (explored, before, step) in enumerate(steps):
        yield _step(True, explored, before, step)
        others = _altered_states(explored, step.state)
        yield _step(False, explored, before, evolve(step, state=others[number % len(others)]))


def _step(expected: bool, explored: Explored, before: State, step: Step) -> Case:
    found = explored.worded.objection_to_step(before, step)
    why = str(found or "nothing forbids it")
    return Case(expected, found is None, lambda: {"the relation": why, **_told(explored, before, step)})


def _only(steps: Steps) -> Iterator[Case]:
    for number, (explored, before, step) in enumerate(steps):
        yield _other(False, explored, before, step, HandlerStep)
        if number == 0:
            yield _other(True, explored, before, step, Looser)


def _other(expected: bool, explored: Explored, before: State, step: Step, handler: type[HandlerStep]) -> Case:
    found = other_step(evolve(explored.worded, handler=handler), before, step)
    return Case(expected, found is not None, lambda: {"allowed too": str(found), **_told(explored, before, step)})


def _told(explored: Explored, before: State, step: Step) -> dict[str, str]:
    """A step, for people."""
    world = explored.world
    return {
        "step": f"{step.action.label} in {world.instance.name} under {world.policy}",
        "from": described(world, before),
        "to": described(world, step.state),
    }


# -- states that are wrong ---------------------------------------------------------------------------------------------


def _altered_states(explored: Explored, after: State) -> list[State]:
    """Copies of a state that differ in one thing, which the relation must notice."""
    found = [evolve(after, history=other) for other in _altered_pages(explored, after.history)]
    for i, queue in enumerate(after.queues):
        if queue:
            found.append(evolve(after, queues=(*after.queues[:i], queue[:-1], *after.queues[i + 1 :])))
    for i, (node, local) in enumerate(zip(explored.world.nodes, after.locals, strict=True)):
        start = explored.world.protocol.initial(node)
        if local != start:
            found.append(evolve(after, locals=(*after.locals[:i], start, *after.locals[i + 1 :])))
    return found


def _altered_pages(explored: Explored, page: History) -> list[History]:
    """One bit of it is another."""
    instance = explored.world.instance
    found = [evolve(page, done=page.done ^ 1), evolve(page, duplicate=not page.duplicate)]
    if instance.subscriptions and instance.advertisements:
        found.append(evolve(page, ready=page.ready ^ 1))
    if instance.subscriptions and instance.publications:
        found += [evolve(page, delivered=page.delivered ^ 1), evolve(page, owed=page.owed ^ 1)]
    return found


# -- part by part ------------------------------------------------------------------------------------------------------


def _edits(worlds: Sequence[Explored]) -> Iterator[Case]:
    for explored in worlds:
        for edit in edits(explored.parts):
            shorter = [(False, evolve(edit, after=edit.after[1:]))] if edit.after else []
            for expected, each in ((True, edit), *shorter):
                found = objection_to_edit(explored.worded, each)
                yield case(expected, found is None, {"edit": str(each), "the relation": str(found)})


def _pages(worlds: Sequence[Explored]) -> Iterator[Case]:
    """The ledger knows no policy: a question that an instance has under several policies is decided once."""
    seen: set[tuple[str, LedgerPage]] = set()
    for explored in worlds:
        for page in pages(explored.parts):
            key = (explored.world.instance.name, page)
            if key not in seen:
                seen.add(key)
                yield _page(True, explored, page)
                if len(seen) % ALTER_EACH == 1:
                    others = _altered_pages(explored, page.after)
                    yield _page(False, explored, evolve(page, after=others[len(seen) // ALTER_EACH % len(others)]))


def _page(expected: bool, explored: Explored, page: LedgerPage) -> Case:
    found = objection_to_page(explored.worded, page)
    return Case(expected, found is None, lambda: {"page": str(page), "the relation": str(found)})
