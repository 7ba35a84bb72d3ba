"""A counterexample in words: a moment of a small world, what happens from there on, and what is false then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from routeproof.checker.prove.counterexample.run import FoundRun, Seen
from routeproof.checker.prove.solver.ground import Element
from routeproof.spec.theory.logic.readings import ADV, BROKER, ITEM, PUB, SUB, Relation, Sort


def shown(found: FoundRun) -> dict[str, str]:
    begin, end = found.seen(0), found.seen(found.steps)
    rows = {"overlay": ", ".join(f"{x} -- {y}" for x, y in begin.links())}
    rows["homes"] = listed(_homes(begin))
    rows["filters"] = listed(_filters(begin))
    if found.first:
        rows["at first"] = "nothing has happened yet"
    else:
        rows["at first"] = f"any moment of which {found.given} are true; it need not be reachable"
        for b in begin.brokers:
            rows[f"{b} knows"] = listed(_tables(begin, b))
        rows |= {f"queued {x} to {y}": words for (x, y), words in queued(begin).items()}
        rows["ghosts"] = listed(ghosts(begin))
    for number, seen in enumerate(found.taken, 1):
        rows["step" if found.steps == 1 else f"step {number}"] = _step(seen)
    for b in dict.fromkeys(seen.by.here for seen in found.taken):
        rows[f"{b} knows then"] = listed(_tables(end, b))
    if found.steps:
        rows |= {f"queued then {x} to {y}": words for (x, y), words in queued(end).items()}
    rows["fails"] = found.sentence.about
    rows["of"] = listed(said_of(found))
    return rows


def said_of(found: FoundRun) -> Iterator[str]:
    """The elements of which the sentence is false."""
    for sort, each in zip(found.sentence.sorts, found.of(), strict=True):
        yield f"the message {word(found.seen(0), each)}" if sort == ITEM else str(each)


def queued(seen: Seen) -> dict[tuple[Element, ...], str]:
    """Queued messages, for each link that has any."""
    return {link: ", ".join(word(seen, item) for item in items) for link, items in seen.queues().items()}


def ghosts(seen: Seen) -> list[str]:
    """The clients' operations and the ghosts, in words."""
    state, ours = seen.now.state, seen.now.ghosts
    named: tuple[tuple[str, Relation, tuple[Sort, ...]], ...] = (
        ("subscribed", state.subscribed, (SUB,)),
        ("unsubscribed", state.unsubscribed, (SUB,)),
        ("advertised", state.advertised, (ADV,)),
        ("unadvertised", state.unadvertised, (ADV,)),
        ("published", state.published, (PUB,)),
        ("ready", state.ready, (SUB, ADV)),
        ("pledged", ours.pledged, (SUB, ADV)),
        ("owed", state.owed, (PUB, SUB)),
        ("delivered", state.delivered, (PUB, SUB)),
        ("heard", ours.heard, (BROKER, ADV)),
        ("handled", ours.handled, (BROKER, PUB)),
    )
    rows = [
        f"{name}({', '.join(map(str, row))})" for name, relation, sorts in named for row in seen.rows(relation, *sorts)
    ]
    on = {item for items in seen.queues().values() for item in items}
    return rows + [f"told({word(seen, i)}, {s})" for i, s in seen.rows(ours.told, ITEM, SUB) if i in on]


def word(seen: Seen, item: Element) -> str:
    kind, about = seen.says(item)
    return f"{kind}({about})"


def listed(rows: Iterable[str]) -> str:
    return ", ".join(rows) or "nothing"


def _step(seen: Seen) -> str:
    event, by = seen.event, seen.by
    if event.operation:
        happens = f"{event.operation}({by.subject}) at {by.here}"
    else:
        happens = f"{by.here} handles {event.kind}({by.subject}) from {by.sender}"
    said = [f"{word(seen, item)} to {u}" for item, u in seen.sends()]
    return f"{happens}; says {listed(said)}" + "".join(f"; delivers {p} for {s}" for p, s in seen.delivers())


def _homes(seen: Seen) -> Iterator[str]:
    now = seen.now
    yield from (f"{s} at {seen.element(now.home(s))}" for s in seen.elements(SUB))
    yield from (f"{a} at {seen.element(now.origin(a))}" for a in seen.elements(ADV))
    yield from (f"{p} of {seen.element(now.facts.adv_of(p))}" for p in seen.elements(PUB))


def _filters(seen: Seen) -> Iterator[str]:
    f = seen.facts
    yield from (f"{t} covers {s}" for t, s in seen.rows(f.covers, SUB, SUB) if t is not s)
    yield from (f"{a} overlaps {s}" for a, s in seen.rows(f.overlaps, ADV, SUB))
    yield from (f"{p} matches {s}" for p, s in seen.rows(f.matches, PUB, SUB))


def _tables(seen: Seen, b: Element) -> Iterator[str]:
    yield from (f"{m} from {'a client' if x is b else x}" for m, x in (*seen.advs(b), *seen.subs(b)))
    yield from (f"sent {s} to {u}" for u, s in seen.sent(b))
