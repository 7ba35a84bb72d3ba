"""Smaller instances: everything that can be taken away from one in a single step.

`smaller` is what shrinking tries, and so what "minimal" means: no id, no broker, no permission, no fault, no predicate
and no event can go. Instances are edited as the tables that instance files hold; what does not parse back (an event
outside its advertisement) is no instance, and so no candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import Factory, frozen

from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance, to_table

Table = dict[str, Any]

CLIENTS = ("publication", "subscription", "advertisement")


@frozen
class Cut:
    """One thing taken away. `renamed`: what each broker is called afterwards, where any of them changes."""

    what: str
    table: Table
    renamed: Mapping[int, int] = Factory(dict)

    def instance(self) -> Instance | None:
        """What is left, where that is an instance."""
        try:
            return parse_instance(self.table, self.what)
        except InstanceError:
            return None

    def project(self, run: Sequence[str]) -> tuple[str, ...]:
        """A run of the larger instance, in the names of this one. Links within a merged broker are gone."""
        labels = (self._label(label) for label in run)
        return tuple(label for label in labels if label)

    def _label(self, label: str) -> str:
        """`deliver 3>2`, `crash 3`; operations name no broker."""
        if not self.renamed or "(" in label:
            return label
        ends = [self.renamed[int(n)] for n in re.findall(r"\d+", label)]
        if len(ends) == 2 and ends[0] == ends[1]:
            return ""
        return f"{label.split()[0]} {'>'.join(map(str, ends))}"


def smaller(instance: Instance) -> Iterator[Cut]:
    """Large cuts first: ids, then brokers, then the rest."""
    table = to_table(instance)
    yield from _without_ids(table)
    yield from _without_brokers(table)
    yield from _without_permissions(table)
    yield from _without_faults(table)
    yield from _without_events(table)
    yield from _without_predicates(table)
    yield from _without_attributes(table)


def _without_ids(table: Table) -> Iterator[Cut]:
    """A publication goes with its advertisement."""
    for kind in CLIENTS:
        for i, client in enumerate(table[kind]):
            edited = {**table, kind: table[kind][:i] + table[kind][i + 1 :]}
            if kind == "advertisement":
                edited["publication"] = [p for p in table["publication"] if p["of"] != client["id"]]
            yield Cut(f"without {kind} {client['id']}", edited)


def _without_brokers(table: Table) -> Iterator[Cut]:
    """Contract a link: clients of the higher broker move to the lower one. For a leaf without clients, it just goes."""
    for u, v in table["overlay"]:
        kept, gone = min(u, v), max(u, v)
        brokers = range(1, len(table["overlay"]) + 2)
        renamed = {b: kept if b == gone else b - (b > gone) for b in brokers}
        edited = {**table, "overlay": [[renamed[x], renamed[y]] for x, y in table["overlay"] if [x, y] != [u, v]]}
        for kind in ("subscription", "advertisement"):
            edited[kind] = [{**client, "at": renamed[client["at"]]} for client in table[kind]]
        yield Cut(f"with brokers {kept} and {gone} in one", edited, renamed)


def _without_permissions(table: Table) -> Iterator[Cut]:
    for kind, flag in (("subscription", "unsubscribes"), ("advertisement", "unadvertises")):
        for i, client in enumerate(table[kind]):
            if flag in client:
                left = {key: value for key, value in client.items() if key != flag}
                yield Cut(f"with {client['id']} never withdrawn", _replaced(table, kind, i, left))


def _without_faults(table: Table) -> Iterator[Cut]:
    for kind, count in table.get("faults", {}).items():
        for fewer in sorted({0, count - 1}):
            yield Cut(f"with {kind} = {fewer}", {**table, "faults": {**table["faults"], kind: fewer}})


def _without_events(table: Table) -> Iterator[Cut]:
    for kind in ("subscription", "advertisement"):
        for i, client in enumerate(table[kind]):
            events = client.get("events", ())
            for j in range(len(events)):
                fewer = {**client, "events": events[:j] + events[j + 1 :]}
                yield Cut(f"with {client['id']} without event {events[j]}", _replaced(table, kind, i, fewer))


def _without_predicates(table: Table) -> Iterator[Cut]:
    """A predicate less, or a simpler constant in one."""
    for kind in ("subscription", "advertisement"):
        for i, client in enumerate(table[kind]):
            predicates = client.get("filter", ())
            for j, predicate in enumerate(predicates):
                others = [[]] + [[[*predicate[:2], simple]] for simple in _simpler(*predicate[2:])]
                for other in others:
                    edited = {**client, "filter": predicates[:j] + other + predicates[j + 1 :]}
                    yield Cut(f"with {client['id']} simpler", _replaced(table, kind, i, edited))


def _without_attributes(table: Table) -> Iterator[Cut]:
    """An attribute of an event less, or a simpler value."""
    for i, publication in enumerate(table["publication"]):
        attributes = publication.get("attributes", {})
        for name, value in attributes.items():
            others = [{}, *({name: simple} for simple in _simpler(value))]
            for other in others:
                left = {key: old for key, old in attributes.items() if key != name} | other
                edited = _replaced(table, "publication", i, {**publication, "attributes": left})
                yield Cut(f"with {publication['id']} simpler", edited)


def _simpler(*constant: object) -> list[object]:
    """Each nearer to 0 or to the empty string than what it stands for, so that there is an end to it."""
    match constant:
        case (bool(),):
            return []
        case (int(number),):
            return [n for n in dict.fromkeys((0, int(number / 2), number - (number > 0) + (number < 0))) if n != number]
        case (float(number),):
            return [int(number)]
        case (str(text),):
            return [t for t in dict.fromkeys(("", text[: len(text) // 2], text[:-1])) if t != text]
    return []


def _replaced(table: Table, kind: str, i: int, client: Table) -> Table:
    return {**table, kind: [*table[kind][:i], client, *table[kind][i + 1 :]]}
