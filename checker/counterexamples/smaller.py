"""Smaller instances: everything that can be taken away from one in a single step.

`smaller` is what shrinking tries, and so what "minimal" means: no id, no broker, no permission, no fault, no predicate
and no event can go. Instances are edited as the tables that instance files hold; what does not parse back (an event
outside its advertisement) is no instance, and so no candidate.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from attrs import Factory, frozen

from routeproof.checker.wings import wing_named
from routeproof.model.definition import Section
from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.protocols import DEFINITIONS

Table = dict[str, Any]

CLIENTS = ("publication", "subscription", "advertisement")


@frozen
class Simplification:
    """One thing taken away. `renamed`: what each broker is called afterwards, where any of them changes."""

    what: str
    table: Table
    renamed: Mapping[int, int] = Factory(dict)

    def instance(self) -> Instance | None:
        """The reduced instance, or None if the table is none."""
        try:
            return parse_instance(self.table, self.what)
        except InstanceError:
            return None

    def project(self, run: Sequence[str]) -> tuple[str, ...]:
        """A run of the larger instance, in the names of this one. Links within a merged broker are gone."""
        labels = (self._label(label) for label in run)
        return tuple(label for label in labels if label)

    def _label(self, label: str) -> str:
        """`deliver 3>2`, `crash 3`; of the operations only those name a broker that the protocol's wing lists."""
        signal = re.fullmatch(r"([^()]+)\((\d+)\)", label)
        if signal and signal[1] in wing_named(self.table["protocol"]).of_brokers:
            return f"{signal[1]}({self.renamed.get(int(signal[2]), int(signal[2]))})"
        if not self.renamed or "(" in label:
            return label
        # Nodes that are no brokers are numbered after the brokers, of which there is one less.
        ends = [self.renamed.get(int(n), int(n) - 1) for n in re.findall(r"\d+", label)]
        if len(ends) == 2 and ends[0] == ends[1]:
            return ""
        return f"{label.split(maxsplit=1)[0]} {'>'.join(map(str, ends))}"


def smaller(instance: Instance) -> Iterator[Simplification]:
    """Large cuts first: ids, then brokers, then the rest."""
    table = to_table(instance)
    yield from _without_ids(table)
    yield from _without_brokers(table)
    yield from _without_permissions(table)
    yield from _without_faults(table)
    wing = wing_named(instance.protocol)
    for what, left in (without_sections if wing.smaller is None else wing.smaller)(table):
        yield Simplification(what, left)
    yield from _without_terms(table)
    yield from _without_attributes(table)


def _without_ids(table: Table) -> Iterator[Simplification]:
    """A publication goes with its advertisement."""
    for kind in CLIENTS:
        for i, client in enumerate(table[kind]):
            edited = {**table, kind: table[kind][:i] + table[kind][i + 1 :]}
            if kind == "advertisement":
                edited["publication"] = [p for p in table["publication"] if p["of"] != client["id"]]
            yield Simplification(f"without {kind} {client['id']}", edited)


def _without_brokers(table: Table) -> Iterator[Simplification]:
    """Contract a link: clients of the higher broker move to the lower one. For a leaf without clients, it just goes."""
    for u, v in table["overlay"]:
        kept, gone = min(u, v), max(u, v)
        brokers = range(1, len(table["overlay"]) + 2)
        renamed = {b: kept if b == gone else b - (b > gone) for b in brokers}
        edited = {**table, "overlay": [[renamed[x], renamed[y]] for x, y in table["overlay"] if [x, y] != [u, v]]}
        if "brokers" in table:  # a broker that two became has the name of the first
            named = {renamed[x]: name for x, name in reversed([*enumerate(table["brokers"], 1)])}
            edited["brokers"] = [name for _, name in sorted(named.items())]
        for kind in ("subscription", "advertisement"):
            keys = {"at", *(s.key for s in DEFINITIONS[table["protocol"]].sections if s.of == kind and s.is_broker)}
            edited[kind] = [{k: renamed[v] if k in keys else v for k, v in client.items()} for client in table[kind]]
        for section in _sections(table):
            edited[section.key] = _moved_within(table[section.key], renamed, section.brokers)
        yield Simplification(f"with brokers {kept} and {gone} in one", edited, renamed)


def _sections(table: Mapping[str, Any]) -> list[Section]:
    """The sections at the top that only the instance's protocol has."""
    return [s for s in DEFINITIONS[table["protocol"]].sections if not s.of and s.key in table]


def _moved_within(value: Any, renamed: Mapping[int, int], keys: Collection[str], key: str = "") -> Any:
    """A section in which the numbers of brokers under these keys are the new ones."""
    if isinstance(value, Mapping):
        return {inner: _moved_within(each, renamed, keys, inner) for inner, each in value.items()}
    if isinstance(value, list):
        moved = [(each, _moved_within(each, renamed, keys, key)) for each in value]
        # A link goes of which both ends became one broker.
        return [new for old, new in moved if old == new or not (_is_link(new) and new[0] == new[1])]
    return renamed.get(value, value) if key in keys and isinstance(value, int) else value


def _is_link(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is int


def without_sections(table: Mapping[str, Any]) -> Iterator[tuple[str, Table]]:
    """A section less, an entry of it less, or a smaller number in it; a client's key less."""
    for s in DEFINITIONS[table["protocol"]].sections:
        for i, client in enumerate(table[s.of]) if s.of else ():
            if s.key in client:
                left = {key: value for key, value in client.items() if key != s.key}
                yield f"without {s.key} of {client['id']}", _replaced(dict(table), s.of, i, left)
    for key in [section.key for section in _sections(table)]:
        yield f"without {key}", {other: value for other, value in table.items() if other != key}
        section = table[key]
        for name, value in section.items() if isinstance(section, Mapping) else ():
            left = {other: each for other, each in section.items() if other != name}
            yield f"without {key}.{name}", {**table, key: left}
            for i, entry in enumerate(value) if isinstance(value, list) else ():
                others = {**section, name: value[:i] + value[i + 1 :]}
                yield f"without {entry} of {key}.{name}", {**table, key: others}
            if name != "at" and type(value) is int and value > 0:
                yield f"with {key}.{name} = {value - 1}", {**table, key: {**section, name: value - 1}}


def _without_permissions(table: Table) -> Iterator[Simplification]:
    for kind, flag in (("subscription", "unsubscribes"), ("advertisement", "unadvertises")):
        for i, client in enumerate(table[kind]):
            if flag in client:
                own = {s.key for s in DEFINITIONS[table["protocol"]].sections if s.of == kind and s.key in client}
                for gone in ({flag, *own}, {flag}) if own else ({flag},):
                    left = {key: value for key, value in client.items() if key not in gone}
                    yield Simplification(f"with {client['id']} never withdrawn", _replaced(table, kind, i, left))


def _without_faults(table: Table) -> Iterator[Simplification]:
    for kind, count in table.get("faults", {}).items():
        for fewer in sorted({0, count - 1}):
            yield Simplification(f"with {kind} = {fewer}", {**table, "faults": {**table["faults"], kind: fewer}})


def _without_terms(table: Table) -> Iterator[Simplification]:
    """An event or a predicate less, or a simpler constant.

    In all filters that have it, since two equal ones may have to stay equal; then in each of them alone.
    """
    for term, holders in _terms(table):
        for others in _simpler_terms(term):
            for chosen in (holders, *([holder] for holder in holders)):
                edited = table
                for kind, i in chosen:
                    edited = _replaced(edited, kind, i, _with_terms(edited[kind][i], term, others))
                yield Simplification(f"with {others} for {term} in {chosen}", edited)


def _terms(table: Table) -> list[tuple[Any, list[tuple[str, int]]]]:
    """Every event number or predicate of a filter, with the clients whose filters have it."""
    found: list[tuple[Any, list[tuple[str, int]]]] = []
    for kind in ("subscription", "advertisement"):
        for i, client in enumerate(table[kind]):
            for term in client.get("events") or client.get("filter", ()):
                holders = next((holders for other, holders in found if other == term), None)
                if holders is None:
                    found.append((term, [(kind, i)]))
                else:
                    holders.append((kind, i))
    return found


def _simpler_terms(term: Any) -> list[list[Any]]:
    """Simpler replacements for an event number or a predicate: nothing, or the predicate with a simpler constant."""
    if not isinstance(term, list):
        return [[]]
    constant = term[2] if len(term) == 3 else None
    return [[], *([[*term[:2], simple]] for simple in _simpler(constant))]


def _with_terms(client: Table, term: Any, others: list[Any]) -> Table:
    key = "events" if "events" in client else "filter"
    return {**client, key: [new for old in client[key] for new in (others if old == term else [old])]}


def _without_attributes(table: Table) -> Iterator[Simplification]:
    """An attribute of an event less, or a simpler value."""
    for i, publication in enumerate(table["publication"]):
        attributes = publication.get("attributes", {})
        for name, value in attributes.items():
            for other in ({}, *({name: simple} for simple in _simpler(value))):
                left = {key: old for key, old in attributes.items() if key != name} | other
                edited = _replaced(table, "publication", i, {**publication, "attributes": left})
                yield Simplification(f"with {publication['id']} simpler", edited)


def _simpler(constant: object) -> list[object]:
    """Nearer to 0 or to the empty string, by half at least, so that there is a quick end to it."""
    match constant:
        case bool() | None:
            return []
        case int():
            half = constant // 2 if constant > 0 else -(-constant // 2)
            return [n for n in dict.fromkeys((0, half)) if n != constant]
        case float():
            return [int(constant)]
        case str():
            return [t for t in dict.fromkeys(("", constant[: len(constant) // 2])) if t != constant]
    return []


def _replaced(table: Table, kind: str, i: int, client: Table) -> Table:
    return {**table, kind: [*table[kind][:i], client, *table[kind][i + 1 :]]}
