"""The explorer: every reachable state of an instance, breadth first, exactly.

    >>> from routeproof.checker.explore import explore
    >>> from routeproof.checker.instances import find
    >>> from routeproof.model.protocols import world
    >>> explore(world(find("tiny"), "active")).states
    149

Reading order: `questions` (components and memoised answers), `columns` and `keyindex` (a state as one 64-bit key),
`expand` (a chunk of states to its successors), `judge` (properties on columns), `graph` (runs and cycles), `search`
(the loop), and the reductions `symmetry` and `partial_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve

from routeproof.checker.errors import UsageError
from routeproof.checker.explore.checkpoint import load, save
from routeproof.checker.explore.partial_order import PartialOrderSearch
from routeproof.checker.explore.runs import concrete_run
from routeproof.checker.explore.search import Progress, Search
from routeproof.checker.explore.symmetry import SymmetricSearch
from routeproof.checker.monitor import violations
from routeproof.checker.verdict import Finding, Result, Verdict
from routeproof.model.world import World
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
) -> Result:
    """Explore an instance and judge every property; one that a limit cut short is `unknown`, never `holds`.

    `checkpoint` is read when it exists and written when the search ends before it is complete. `stop_at_first` ends it
    at the depth of the first violation, for those who only want that one.
    """
    if len(reduction) > 1:
        raise UsageError("symmetry and por cannot be combined; give one --reduction")
    search = (REDUCTIONS[reduction[0]] if reduction else Search)(
        world, properties_for(world.policy) if properties is None else properties
    )
    if checkpoint is not None and checkpoint.exists():
        load(search, checkpoint)
    limit = search.run(max_states, seconds, progress, _has_failed if stop_at_first else lambda _: False)
    if checkpoint is not None and limit:
        save(search, checkpoint)
    return _result(search, tuple(reduction), limit)


def _has_failed(search: Search) -> bool:
    always = (t for t in search.judge.tallies.values() if t.property.kind == "always")
    return search.stuck is not None or any(t.violation is not None for t in always)


def _result(search: Search, reduction: tuple[str, ...], limit: str) -> Result:
    world = search.world
    cycle = search.graph.find_cycle() if any(p.scope == "graph" for p in search.properties) else None
    findings = {p.id: _finding(search, p, cycle) for p in search.properties}
    if cycle is not None and "por" in reduction:  # a step may have been put off for ever: claim nothing
        findings = {id: evolve(f, verdict="unknown") if f.run is None else f for id, f in findings.items()}
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
        limit=limit,
    )


def _finding(search: Search, p: Property, cycle: list[int] | None) -> Finding:
    if p.scope == "graph":
        return _drains(search, p, cycle)
    tally = search.judge.tallies[p.id]
    end = tally.violation if p.kind == "always" else tally.witness
    if end is None:
        missed: Verdict = "holds" if p.kind == "always" else "fails"
        return Finding(p.id, p.kind, missed if search.complete else "unknown", tally.exercised)
    run, state = concrete_run(search, search.graph.path_to(end))
    wrong = violations(search.world, state, [p])
    found: Verdict = "fails" if p.kind == "always" else "holds"
    return Finding(p.id, p.kind, found, tally.exercised, run, wrong[0][1] if wrong else "")


def _drains(search: Search, p: Property, cycle: list[int] | None) -> Finding:
    """No cycle, and nothing left in a queue at the end of a maximal run."""
    if search.stuck is not None:
        run, _ = concrete_run(search, search.graph.path_to(search.stuck))
        return Finding(p.id, p.kind, "fails", search.terminals, run, "nothing can happen, but a queue is not empty")
    if cycle is not None:
        run, _ = concrete_run(search, [*search.graph.path_to(cycle[0]), *cycle[1:]])
        why = f"the last {len(cycle) - 1} steps lead back to where they began: this run never ends"
        return Finding(p.id, p.kind, "fails", search.terminals, run, why)
    return Finding(p.id, p.kind, "holds" if search.complete else "unknown", search.terminals)
