"""Whole steps as obligations: what can happen, what it leads to, and the parts of which the explorer makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from attrs import evolve

from routeproof.checker.prove.refine.alternatives import other_step
from routeproof.checker.prove.refine.answers import heading
from routeproof.checker.prove.refine.parts import LedgerPage, edits, objection_to_edit, objection_to_page, pages
from routeproof.checker.prove.refine.sample import Explored, Sample
from routeproof.checker.prove.refine.worlds import described, name_of
from routeproof.checker.prove.solver.examine import Case, Examination
from routeproof.model.history import History
from routeproof.model.world import State, Step
from routeproof.spec.theory.invariants.step import EVENTS
from routeproof.spec.theory.logic.readings import Clause
from routeproof.spec.theory.relation.routing import POLICIES, Change, Handler
from routeproof.spec.theory.relation.signature import ABOUT
from routeproof.spec.theory.relation.world import OPERATIONS

Steps = Sequence[tuple[Explored, State, Step]]

ALTER_EACH = 10
"""One page of the ledger in this many is altered."""

examined = partial(Examination, says="the relation")


class Looser(Handler):
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
    """Each of the model's transitions is one of the relation's events, over which the proofs go by cases. In a sample
    in which everything comes up, each event is also a transition of the model.
    """
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
        yield _other(False, explored, before, step, Handler)
        if number == 0:
            yield _other(True, explored, before, step, Looser)


def _other(expected: bool, explored: Explored, before: State, step: Step, handler: type[Handler]) -> Case:
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
