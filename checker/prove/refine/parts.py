"""The parts of which the explorer makes its transitions, each held to the relation.

The explorer never builds a state. A transition is the answer of one handler, an edit of one queue, appendices to others
and a new page of the ledger, and each of these is a question that it asks once. So all transitions of an instance are
held to the relation by holding these to it; that the explorer puts them together as the world does is held by its own
tests, and here by whole steps (`worlds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from routeproof.checker.explore.interned import IMPOSSIBLE, UNKNOWN
from routeproof.checker.explore.questions import Questions
from routeproof.checker.prove.refine.answers import Objection, broken, heading
from routeproof.checker.prove.refine.structure import Unsayable
from routeproof.checker.prove.refine.worlds import Worded, no_operation
from routeproof.model.history import History, Operation
from routeproof.model.messages import Deliver
from routeproof.model.world import Queue
from routeproof.spec.theory.logic.readings import Clause, holding
from routeproof.spec.theory.relation.signature import Sends, WorldState
from routeproof.spec.theory.relation.world import OPERATIONS, Happening


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
                    questions.deliveries.values[delivered],
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
