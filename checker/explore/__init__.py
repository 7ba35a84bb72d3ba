"""The explorer: every reachable state of an instance, breadth first, exactly.

    >>> from routeproof.checker.explore import explore
    >>> from routeproof.checker.instances import find
    >>> from routeproof.model.protocols import world
    >>> explore(world(find("tiny"), "active")).states
    149

Reading order: `interned` and `questions` (components and memoised answers), `columns` (a state as one 64-bit key; the
graph with runs and cycles), `expand` (a chunk of states to its successors), `judge` (properties on columns), `search`
(the loop), and the reductions `symmetry` and `partial_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import evolve

from routeproof.checker.evaluation import Finding, Result, Verdict, violations
from routeproof.checker.explore.checkpoint import load, save
from routeproof.checker.explore.partial_order import PartialOrderSearch
from routeproof.checker.explore.search import Cut, Progress, Search
from routeproof.checker.explore.symmetry import SymmetricSearch
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.memory import most
from routeproof.checker.system.terminal import count
from routeproof.model.world import State, Step, World
from routeproof.spec.properties import Property, properties_for

__all__ = ["REDUCTIONS", "Progress", "explore"]

REDUCTIONS: dict[str, type[Search]] = {"symmetry": SymmetricSearch, "por": PartialOrderSearch}


def explore(
    world: World,
    *,
    properties: Sequence[Property] | None = None,
    max_states: int | None = None,
    seconds: float | None = None,
    reduction: Sequence[str] = (),
    checkpoint: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop_at_first: bool = False,
    max_memory: int | None = None,
) -> Result:
    """Explore an instance and judge every property; one that a limit cut short is `unknown`, never `holds`.

    `checkpoint` is read when it exists and written when the search ends before it is complete; where it cannot be
    written, the result's `unsaved` says why. `stop_at_first` ends the search at the depth of the first violation, for
    callers that only want that one. `max_memory` is in bytes, of the whole process; by default most of what there is.
    """
    if len(reduction) > 1:
        raise UsageError("symmetry and por cannot be combined; give one --reduction")
    search = (REDUCTIONS[reduction[0]] if reduction else Search)(
        world, properties_for(world.definition.name, world.policy) if properties is None else properties
    )
    if checkpoint is not None and checkpoint.exists():
        load(search, checkpoint)
    until = _has_failed if stop_at_first else lambda _: False
    limit = search.run(max_states, seconds, progress, until, most() if max_memory is None else max_memory)
    unsaved = ""
    if checkpoint is not None and limit:
        with interrupts.noted():
            unsaved = _unsaved(search, checkpoint)
    with search.closing(seconds):
        result = _result(search, tuple(reduction), limit)
    if checkpoint is not None and result.limit and not limit:  # all was found, and what it means was not
        with interrupts.noted():
            unsaved = _unsaved(search, checkpoint)
    return evolve(result, unsaved=unsaved)


def _unsaved(search: Search, checkpoint: Path) -> str:
    """Saves the search; returns why that failed, if it did."""
    try:
        save(search, checkpoint)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _has_failed(search: Search) -> bool:
    always = (t for t in search.judge.tallies.values() if t.property.kind == "always")
    return search.stuck is not None or any(t.violation is not None for t in always)


def _result(search: Search, reduction: tuple[str, ...], limit: str) -> Result:
    world = search.world
    cycle, cut = None, ""
    if "por" in reduction or any(p.over == "graph" for p in search.properties):
        try:
            cycle = search.graph.find_cycle(search.pause)
        except Cut as reached:
            cut = str(reached)
    is_open = bool(cut)  # it is not known whether there is a cycle
    findings = {}
    for p in search.properties:
        try:
            findings[p.id] = _finding(search, p, cycle, is_open=is_open)
        except Cut as reached:
            cut = str(reached)
            findings[p.id] = _without_run(search, p, cut)
    if (cycle is not None or is_open) and "por" in reduction:  # a step may have been put off for ever: claim nothing
        findings = {id: f if f.run is not None or f.why else evolve(f, verdict="unknown") for id, f in findings.items()}
    return Result(
        instance=world.instance.name,
        protocol=world.instance.protocol,
        policy=world.policy,
        mutant=world.mutant,
        engine="explore",
        states=search.full_states,
        transitions=search.transitions,
        depth=search.depth,
        complete=search.complete,
        seconds=search.spent,
        findings=findings,
        rules=search.expander.rules(),
        stored=search.states,
        reduction=reduction,
        limit=limit or cut,
    )


def _finding(search: Search, p: Property, cycle: list[int] | None, *, is_open: bool) -> Finding:
    if p.over == "graph":
        return _drains(search, p, cycle, is_open=is_open)
    tally = search.judge.tallies[p.id]
    end = tally.violation if p.kind == "always" else tally.witness
    if end is None:
        missed: Verdict = "holds" if p.kind == "always" else "fails"
        return Finding(p.id, p.kind, missed if search.complete else "unknown", tally.exercised)
    run, state = concrete_run(search, search.graph.path_to(end))
    wrong = violations(search.world, state, [p])
    found: Verdict = "fails" if p.kind == "always" else "holds"
    return Finding(p.id, p.kind, found, tally.exercised, run, wrong[0][1] if wrong else "")


def _without_run(search: Search, p: Property, cut: str) -> Finding:
    """The verdict that stands already, for which a limit left no time to make the run that shows it."""
    exercised = search.terminals if p.over == "graph" else search.judge.tallies[p.id].exercised
    found: Verdict = "fails" if p.kind == "always" else "holds"
    return Finding(p.id, p.kind, found, exercised, None, f"the run that shows it was not made: {cut} came first")


def _drains(search: Search, p: Property, cycle: list[int] | None, *, is_open: bool) -> Finding:
    """No cycle, and nothing left in a queue at the end of a maximal run."""
    if search.stuck is not None:
        run, _ = concrete_run(search, search.graph.path_to(search.stuck))
        return Finding(p.id, p.kind, "fails", search.terminals, run, "nothing can happen, but a queue is not empty")
    if cycle is not None:
        run, _ = concrete_run(search, [*search.graph.path_to(cycle[0]), *cycle[1:]])
        back = count(len(cycle) - 1, "step leads back to where it", "steps lead back to where they")
        why = f"the last {back} began: this run never ends"
        return Finding(p.id, p.kind, "fails", search.terminals, run, why)
    return Finding(p.id, p.kind, "holds" if search.complete and not is_open else "unknown", search.terminals)


def concrete_run(search: Search, path: Sequence[int]) -> tuple[tuple[str, ...], State]:
    """Labels of a run through these states, and its last state; under a symmetry, of one they stand for."""
    world, labels = search.world, []
    state = world.initial()
    for target in path[1:]:
        step = next(s for s in _steps(search, state) if search.is_stored_as(s.state, target))
        labels.append(step.action.label)
        state = step.state
    return tuple(labels), state


def _steps(search: Search, state: State) -> Iterator[Step]:
    """The steps of a state; the search may stop before each."""
    steps = search.world.steps(state)
    while True:
        search.pause()
        step = next(steps, None)
        if step is None:
            return
        yield step
