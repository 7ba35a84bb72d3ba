"""Counterexamples as traces (docs/reference/trace-format.md): all tables, queued messages and steps.

A run from the beginning is written as the trace of a real broker would be, so `routeproof validate` can judge it. Any
other run begins at a moment that need not be reachable, and a note in the trace says so. Filters are sets of event
numbers, chosen so that they cover, overlap and match as they do in the world that was found.

`write_traces` writes a trace for each obligation that is refuted by a world.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import define

from routeproof.checker.prove.counterexample import FoundRun, SeenMoment, ghosts, listed, queued, said_of
from routeproof.checker.prove.ground import Element
from routeproof.checker.prove.solve import Judged
from routeproof.checker.system.files import note_unwritten
from routeproof.spec.theory import ADV, PUB, SUB
from routeproof.traces import event_row, header_row, save, to_text

KIND = {"adv": "advertise", "unadv": "unadvertise", "sub": "subscribe", "unsub": "unsubscribe", "pub": "publish"}
OBSERVES = ("client", "receive", "send", "deliver")
LONGEST = 4000
"""Characters of a note."""


def trace(found: FoundRun) -> str:
    proof, begin = found.runs.small.proof, found.seen(0)
    header = header_row(
        found.name,
        proof.handler.protocol,
        proof.policy,
        [(str(x), str(y)) for x, y in begin.links()],
        "events",
        OBSERVES,
        **({"clock": "shared"} if found.first else {}),
    )
    return to_text([header, *_Events(found, ComparableSets.of(begin)).rows()])


@define
class _Events:
    """One count for all brokers; time goes by steps."""

    found: FoundRun
    filters: ComparableSets
    seq: int = 0
    time: int = 0

    def rows(self) -> Iterator[dict[str, object]]:
        begin = self.found.seen(0)
        first = begin.brokers[0]
        if not self.found.first:
            yield self._note(
                first, f"The first moment is any of which {self.found.given} are true; it need not be reachable."
            )
            for b in begin.brokers:
                yield self._snapshot(begin, b)
            for (x, y), words in queued(begin).items():
                yield self._note(x, f"queued to {y}: {words}")
            yield self._note(first, f"ghosts: {listed(ghosts(begin))}")
        for seen in self.found.taken:
            self.time += 1
            yield from self._step(seen)
        yield self._note(first, f"fails: {self.found.sentence.about} Of: {listed(said_of(self.found))}.")

    def _step(self, seen: SeenMoment) -> Iterator[dict[str, object]]:
        event, by = seen.event, seen.by
        message = self._message(event.kind, by.subject)
        if event.operation:
            yield self._row(by.here, "client", self._client(seen, event.kind, by.subject), message=message)
        else:
            yield self._row(by.here, "receive", str(by.sender), message=message)
        for item, u in seen.sends():
            yield self._row(by.here, "send", str(u), message=self._message(*seen.says(item)))
        for p, s in seen.delivers():
            yield self._row(by.here, "deliver", f"client-{s}", message={**self._message("pub", p), "to": str(s)})
        yield self._snapshot(self.found.seen(seen.number + 1), by.here)

    def _row(self, broker: Element, event: str, peer: str = "", **more: object) -> dict[str, object]:
        self.seq += 1
        return event_row(str(broker), self.seq, event, peer, **more, time=self.time)

    def _note(self, broker: Element, text: str) -> dict[str, object]:
        return self._row(broker, "note", text=text if len(text) <= LONGEST else f"{text[:LONGEST]}...")

    def _client(self, seen: SeenMoment, kind: str, subject: Element) -> str:
        """Each advertisement and each subscription has its own."""
        return f"client-{seen.element(seen.facts.adv_of(subject)) if kind == 'pub' else subject}"

    def _message(self, kind: str, subject: Element) -> dict[str, object]:
        return {"kind": KIND[kind], "id": str(subject), **self.filters.told(kind, subject)}

    def _snapshot(self, seen: SeenMoment, b: Element) -> dict[str, object]:
        def entries(kind: str, rows: list[tuple[Element, ...]]) -> list[dict[str, object]]:
            return [
                {"id": str(m), **({} if x is b else {"from": str(x)}), **self.filters.told(kind, m)} for m, x in rows
            ]

        sent: dict[str, list[str]] = {}
        for u, s in seen.sent(b):
            sent.setdefault(str(u), []).append(str(s))
        tables = {"advs": entries("adv", seen.advs(b)), "subs": entries("sub", seen.subs(b)), "sent": sent}
        return self._row(b, "snapshot", tables=tables)


@define
class ComparableSets:
    """Sets of event numbers that compare as the filters of a world do, and the event of each publication."""

    sets: dict[Element, list[int]]
    events: dict[Element, int]
    adv_of: dict[Element, Element]

    @classmethod
    def of(cls, seen: SeenMoment) -> ComparableSets:
        """An event for each subscription, overlap, advertisement and publication; a coverer has all of the covered."""
        f, subs, advs, pubs = seen.facts, seen.elements(SUB), seen.elements(ADV), seen.elements(PUB)
        covers = {(t, s) for t, s in seen.rows(f.covers, SUB, SUB)}
        overlaps, matches = list(seen.rows(f.overlaps, ADV, SUB)), set(seen.rows(f.matches, PUB, SUB))
        adv_of = {p: seen.element(f.adv_of(p)) for p in pubs}
        sets: dict[Element, list[int]] = {each: [] for each in (*subs, *advs)}
        holders: list[list[Element]] = [
            *([t for t in subs if (t, s) in covers] for s in subs),
            *([a, *(t for t in subs if (t, s) in covers)] for a, s in overlaps),
            *([a] for a in advs),
            *([adv_of[p], *(s for s in subs if (p, s) in matches)] for p in pubs),
        ]
        for number, holding in enumerate(holders):
            for each in holding:
                sets[each].append(number)
        first = len(holders) - len(pubs)
        return cls(sets, {p: first + place for place, p in enumerate(pubs)}, adv_of)

    def told(self, kind: str, subject: Element) -> dict[str, object]:
        if kind == "pub":
            return {"of": str(self.adv_of[subject]), "event": self.events[subject]}
        return {"filter": self.sets[subject]} if kind in ("adv", "sub") else {}


Traces = dict[tuple[str, str], Path]
"""By theorem and obligation."""


def write_traces(judged: Iterable[Judged], directory: Path) -> Traces:
    """Writes the traces, and returns those that are there now; what cannot be written is noted."""
    written: Traces = {}
    for each in judged:
        for settled in each.obligations:
            if settled.trace:
                try:
                    name = f"prove-{each.id}-{settled.name}"
                    written[each.id, settled.name] = _write(name, settled.trace, directory)
                except OSError as error:
                    note_unwritten(directory, error)
    return written


def _write(name: str, text: str, directory: Path) -> Path:
    """To a file that is called so; a different one there stays."""
    stem, number = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-"), 1
    directory.mkdir(parents=True, exist_ok=True)
    while True:
        path = directory / f"{stem}{f'-{number}' if number > 1 else ''}.jsonl"
        if save(path, text, replace=False) or path.read_bytes() == text.encode():
            return path
        number += 1
