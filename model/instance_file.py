"""Instance files: a table as TOML or JSON reads it becomes an `Instance`, and back.

    parse_instance(tomllib.loads(text), where="line3.toml") -> Instance
    to_table(instance) -> dict          # what a trace's header carries; parses back into an equal instance

Every key is checked, unknown ones are refused, and the first thing that is wrong is an `InstanceError` of one line.
Reading bytes from a disk is not done here (`routeproof.checker.instances`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial

from attrs import evolve

from routeproof.model.definition import Definition
from routeproof.model.filters import Dialect, Event, EventSet, Filter, FilterError, dialects
from routeproof.model.filters.interface import Attributes
from routeproof.model.instance import Advertiser, Faults, Instance, Own, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Overlay, OverlayError
from routeproof.model.protocols import DEFINITIONS
from routeproof.model.reading import BROKERS, InstanceError, Place

__all__ = ["InstanceError", "parse_instance", "to_table"]

# Far above what can be explored, and low enough that an absurd file is refused at once.
IDS = 256
EVENT = 62
FAULTS = 8
DECLARED = 64
ABOUT = 200

REQUIRED = ("name", "protocol", "policy", "overlay")
OPTIONAL = (
    *("about", "dialect", "brokers", "advertisement", "subscription"),
    *("publication", "faults", "must_reach", "must_fail"),
)
FAULT_KINDS = ("loss", "duplicate", "reorder", "crash")


def parse_instance(raw: object, where: str) -> Instance:
    """The instance that a table says; `where` names the file in messages."""
    absent = partial(Place, where)
    protocol = "routing"
    if isinstance(raw, Mapping) and "protocol" in raw:  # first: another protocol's own table would be an unknown key
        protocol = Place(where, "protocol", raw["protocol"]).one_of(DEFINITIONS)
    definition = DEFINITIONS[protocol]
    sections = [section for section in definition.sections if not section.of]
    top = Place(where, "", raw).table(REQUIRED, (*OPTIONAL, *(section.key for section in sections)))
    policies = _policies(top["policy"], definition.policies)
    overlay = _overlay(top["overlay"])
    reader = _Reader(overlay, _dialect(top.get("dialect", absent("dialect", "strict"))), definition)
    advertisers = reader.advertisers(top.get("advertisement", absent("advertisement", [])))
    subscribers = reader.subscribers(top.get("subscription", absent("subscription", [])))
    publications = reader.publications(top.get("publication", absent("publication", [])), advertisers)
    instance = Instance(
        name=top["name"].name(),
        overlay=overlay,
        advertisers=advertisers,
        subscribers=subscribers,
        publications=publications,
        protocol=protocol,
        policies=policies,
        dialect=reader.dialect.name,
        faults=_faults(top.get("faults", absent("faults", {}))),
        must_reach=_declared(top.get("must_reach", absent("must_reach", []))),
        must_fail=_declared(top.get("must_fail", absent("must_fail", []))),
        about=top["about"].line(ABOUT) if "about" in top else "",
        broker_names=_broker_names(top["brokers"], overlay) if "brokers" in top else (),
    )
    instance = reader.with_own(instance)
    own = [(each.key, each.read(top[each.key], instance), each.default) for each in sections if each.key in top]
    instance = evolve(instance, own=_own(own))
    for name in set(instance.broker_names) & {name for _, name in definition.topology(instance).names}:
        top["brokers"].refuse("names that no other node has", f'"{name}"')
    return instance


def _own(read: Iterable[tuple[str, Hashable, Hashable]]) -> Own:
    """The content of keys of the protocol's own that do not have their default."""
    return tuple(sorted((key, value) for key, value, default in read if value != default))


def to_table(instance: Instance) -> dict[str, object]:
    """The inverse, of JSON's types only. What has its default value is left out."""
    table: dict[str, object] = {"name": instance.name}
    if instance.about:
        table["about"] = instance.about
    table["protocol"] = instance.protocol
    table["policy"] = instance.policies[0] if len(instance.policies) == 1 else list(instance.policies)
    if instance.dialect != "strict":
        table["dialect"] = instance.dialect
    table["overlay"] = [list(edge) for edge in instance.overlay.edges]
    if instance.broker_names:
        table["brokers"] = list(instance.broker_names)
    table["advertisement"] = [
        {
            "id": a.advertisement.id,
            "at": a.at,
            **_filter_to_json(a.advertisement.filter),
            **_if("unadvertises", a),
            **_own_to_json(instance, a),
        }
        for a in instance.advertisers
    ]
    table["subscription"] = [
        {
            "id": s.subscription.id,
            "at": s.at,
            **_filter_to_json(s.subscription.filter),
            **_if("unsubscribes", s),
            **_own_to_json(instance, s),
        }
        for s in instance.subscribers
    ]
    table["publication"] = [{"id": p.id, "of": p.of, **_event_to_json(p.event)} for p in instance.publications]
    faults = {kind: getattr(instance.faults, kind) for kind in FAULT_KINDS if getattr(instance.faults, kind)}
    own = _own_to_json(instance, instance)
    declared = {**own, "faults": faults, "must_reach": list(instance.must_reach), "must_fail": list(instance.must_fail)}
    return table | {key: value for key, value in declared.items() if value}


def _broker_names(place: Place, overlay: Overlay) -> tuple[str, ...]:
    """A name for each broker, in the order of their numbers. b1, b2, ... are the names of brokers without one."""
    many = len(overlay.brokers)
    found: list[str] = []
    for number, entry in enumerate(place.items(BROKERS, "names of brokers"), 1):
        name = entry.name()
        if name in found:
            entry.refuse("a name that no other broker has", f'"{name}"')
        if re.fullmatch(r"b\d+|client-.*|driver", name) and name != f"b{number}":
            entry.refuse("a name that nobody else could have", f'"{name}"')
        found.append(name)
    if len(found) != many:
        place.refuse(f"{many} names, one for each broker", f"{len(found)}")
    return tuple(found)


# -- clients -----------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the clients in the order of the file, and remembers which ids are taken and which algebra is spoken."""

    def __init__(self, overlay: Overlay, dialect: Dialect, definition: Definition) -> None:
        self.overlay = overlay
        self.dialect = dialect
        self.sections = {
            table: [section for section in definition.sections if section.of == table]
            for table in ("advertisement", "subscription")
        }
        self.given: dict[str, list[dict[str, Place]]] = {"advertisement": [], "subscription": []}
        """Keys of clients that are the protocol's own: they are read last, since they may speak of anything."""
        self.taken: dict[str, str] = {}
        self.algebra: tuple[str, str] | None = None
        """The key of the first filter, `events` or `filter`, and where it stands."""

    def advertisers(self, place: Place) -> tuple[Advertiser, ...]:
        found = []
        for rank, entry in enumerate(place.items(IDS, "tables, each [[advertisement]]")):
            keys = self._keys(entry, "advertisement", "unadvertises")
            advertisement = Advertisement(
                rank, self._id(keys["id"]), self._filter(entry, keys, self.dialect.advertisement)
            )
            found.append(Advertiser(advertisement, keys["at"].broker(self.overlay), _flag(keys, "unadvertises")))
        return tuple(found)

    def subscribers(self, place: Place) -> tuple[Subscriber, ...]:
        found = []
        for rank, entry in enumerate(place.items(IDS, "tables, each [[subscription]]")):
            keys = self._keys(entry, "subscription", "unsubscribes")
            subscription = Subscription(rank, self._id(keys["id"]), self._filter(entry, keys, self.dialect.parse))
            found.append(Subscriber(subscription, keys["at"].broker(self.overlay), _flag(keys, "unsubscribes")))
        return tuple(found)

    def _keys(self, entry: Place, table: str, flag: str) -> dict[str, Place]:
        """The keys of a client; those that are the protocol's own are kept for later."""
        own = [section.key for section in self.sections[table]]
        keys = entry.table(("id", "at"), ("events", "filter", flag, *own))
        self.given[table].append({key: keys[key] for key in own if key in keys})
        return keys

    def with_own(self, instance: Instance) -> Instance:
        """The instance with the content of its clients' keys that are the protocol's own."""
        return evolve(
            instance,
            advertisers=tuple(
                evolve(a, own=self._own(instance, a, "advertisement", rank))
                for rank, a in enumerate(instance.advertisers)
            ),
            subscribers=tuple(
                evolve(s, own=self._own(instance, s, "subscription", rank))
                for rank, s in enumerate(instance.subscribers)
            ),
        )

    def _own(self, instance: Instance, client: Advertiser | Subscriber, table: str, rank: int) -> Own:
        given = self.given[table][rank]
        return _own(
            (each.key, each.read(given[each.key], instance, client), each.default)
            for each in self.sections[table]
            if each.key in given
        )

    def publications(self, place: Place, advertisers: tuple[Advertiser, ...]) -> tuple[Publication, ...]:
        by_id = {a.advertisement.id: a.advertisement for a in advertisers}
        found = []
        for rank, entry in enumerate(place.items(IDS, "tables, each [[publication]]")):
            keys = entry.table(("id", "of"), ("event", "attributes"))
            name = self._id(keys["id"])
            if not by_id:
                keys["of"].refuse("the id of an advertisement, of which there is none")
            advertisement = by_id[keys["of"].one_of(by_id, "an advertisement: ")]
            found.append(Publication(rank, name, advertisement.id, self._event(entry, keys, advertisement)))
        return tuple(found)

    def _id(self, place: Place) -> str:
        name = place.name()
        if name in self.taken:
            place.refuse("an id that is not taken", f'"{name}", which {self.taken[name]} has already')
        if len(self.taken) == IDS:
            place.refuse(f"at most {IDS} ids", f"one more than {IDS}")
        self.taken[name] = place.path.removesuffix(".id")
        return name

    def _filter(self, entry: Place, keys: dict[str, Place], read: Callable[[object], Filter]) -> Filter:
        key = _exactly_one(entry, keys, "events", "filter")
        place = keys[key]
        if self.algebra is None:
            self.algebra = (key, place.path)
        elif self.algebra[0] != key:
            # A set of event numbers neither covers nor overlaps a predicate: there is no answer to give.
            place.refuse(f"`{self.algebra[0]}`, as in {self.algebra[1]}: one kind of filter in an instance", f"`{key}`")
        if key == "events":
            return _events(place)
        if self.dialect.name == "events":
            place.refuse("a dialect of predicates", 'a filter under dialect "events"')
        try:
            return read(place.value)
        except FilterError as error:
            place.reject(error)

    def _event(self, entry: Place, keys: dict[str, Place], advertisement: Advertisement) -> Event:
        key = _exactly_one(entry, keys, "event", "attributes")
        place = keys[key]
        wanted = "event" if isinstance(advertisement.filter, EventSet) else "attributes"
        if key != wanted:
            place.refuse(f"`{wanted}`, as advertisement {advertisement.id} has it", f"`{key}`")
        event: Event
        try:
            event = place.whole(0, EVENT) if key == "event" else self.dialect.event(place.value)
        except FilterError as error:
            place.reject(error)
        if not advertisement.filter.matches(event):
            found = f"event {event}" if key == "event" else "an event that does not match"
            place.refuse(f"one that advertisement {advertisement.id} promises: {advertisement.filter}", found)
        return event


def _flag(keys: dict[str, Place], key: str) -> bool:
    return keys[key].truth() if key in keys else False


def _exactly_one(entry: Place, keys: dict[str, Place], one: str, other: str) -> str:
    present = [key for key in (one, other) if key in keys]
    if len(present) != 1:
        entry.refuse(f"exactly one of {one} and {other}", "both" if present else "neither")
    return present[0]


def _events(place: Place) -> EventSet:
    entries = place.items(EVENT + 1, "event numbers", least=1)
    numbers = [entry.whole(0, EVENT) for entry in entries]
    place.distinct(entries, numbers)
    return EventSet.of(numbers)


# -- everything else ---------------------------------------------------------------------------------------------------


def _overlay(place: Place) -> Overlay:
    edges = []
    for entry in place.items(BROKERS - 1, "links [broker, broker]"):
        ends = entry.value
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            entry.refuse("a link [broker, broker]")
        u, v = (end.whole(1, BROKERS) for end in entry.items(2, "two brokers"))
        edges.append((u, v))
    try:
        return Overlay.of(edges)
    except OverlayError as error:
        place.reject(error)


def _dialect(place: Place) -> Dialect:
    return dialects()[place.one_of(sorted(dialects()))]


def _policies(place: Place, known: tuple[str, ...]) -> tuple[str, ...]:
    """One policy, or (an extension) a list of them: the instance is checked under each."""
    if not isinstance(place.value, list | tuple):
        return (place.one_of(known),)
    entries = place.items(len(known), f"policies ({', '.join(known)})", least=1)
    policies = tuple(entry.one_of(known) for entry in entries)
    place.distinct(entries, policies)
    return policies


def _faults(place: Place) -> Faults:
    return Faults(**{kind: count.whole(0, FAULTS) for kind, count in place.table((), FAULT_KINDS).items()})


def _declared(place: Place) -> tuple[str, ...]:
    """Ids of properties and rules; whether they exist is for those to say who know the catalogue."""
    entries = place.items(DECLARED, "ids of properties or rules")
    names = tuple(entry.name() for entry in entries)
    place.distinct(entries, names)
    return names


# -- writing -----------------------------------------------------------------------------------------------------------


def _if(flag: str, client: Advertiser | Subscriber) -> dict[str, object]:
    return {flag: True} if getattr(client, flag) else {}


def _own_to_json(instance: Instance, of: Instance | Advertiser | Subscriber) -> dict[str, object]:
    """Content of the keys of the protocol's own, in the order in which the protocol declares them."""
    own = dict(of.own)
    return {s.key: s.write(own[s.key]) for s in DEFINITIONS[instance.protocol].sections if s.key in own}


def _filter_to_json(wanted: Filter) -> dict[str, object]:
    return {"events" if isinstance(wanted, EventSet) else "filter": wanted.to_json()}


def _event_to_json(event: Event) -> dict[str, object]:
    return {"attributes": event.to_json()} if isinstance(event, Attributes) else {"event": event}
