"""Instance files: a table as TOML or JSON reads it becomes an `Instance`, and back.

    parse_instance(tomllib.loads(text), where="line3.toml") -> Instance
    to_table(instance) -> dict          # what a trace's header carries; parses back into an equal instance

Every key is checked, unknown ones are refused, and the first thing that is wrong is an `InstanceError` of one line.
Reading bytes from a disk is not done here (`routeproof.checker.instances`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from routeproof.model.filters import DIALECTS, Dialect, Event, EventSet, Filter, FilterError
from routeproof.model.filters.attributes import Attributes
from routeproof.model.instance import Advertiser, Faults, Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Overlay, OverlayError
from routeproof.model.protocols import POLICIES_OF, PROTOCOLS
from routeproof.model.pruning_table import read_readings, readings_to_table
from routeproof.model.reading import InstanceError, Place

__all__ = ["InstanceError", "parse_instance", "to_table"]

# Far above what can be explored, and low enough that an absurd file is refused at once.
BROKERS = 64
IDS = 256
EVENT = 62
FAULTS = 8
DECLARED = 64
ABOUT = 200

REQUIRED = ("name", "protocol", "policy", "overlay")
OPTIONAL = ("about", "dialect", "advertisement", "subscription", "publication", "faults", "must_reach", "must_fail")
PRUNED = ("pruning", "congestion")
"""Keys that only the protocol pruning knows; `again` of a subscription is another."""
FAULT_KINDS = ("loss", "duplicate", "reorder", "crash")


def parse_instance(raw: object, where: str) -> Instance:
    """The instance that a table says; `where` names the file in messages."""
    absent = partial(Place, where)
    protocol = "routing"
    if isinstance(raw, Mapping) and "protocol" in raw:  # first: another protocol's own table would be an unknown key
        protocol = Place(where, "protocol", raw["protocol"]).one_of(PROTOCOLS)
    is_pruned = protocol == "pruning"
    top = Place(where, "", raw).table(REQUIRED, (*OPTIONAL, *PRUNED) if is_pruned else OPTIONAL)
    policies = _policies(top["policy"], POLICIES_OF[protocol])
    overlay = _overlay(top["overlay"])
    reader = _Reader(overlay, _dialect(top.get("dialect", absent("dialect", "strict"))), is_pruned)
    advertisers = reader.advertisers(top.get("advertisement", absent("advertisement", [])))
    subscribers = reader.subscribers(top.get("subscription", absent("subscription", [])))
    publications = reader.publications(top.get("publication", absent("publication", [])), advertisers)
    return Instance(
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
        readings=read_readings(top["pruning"], policies) if "pruning" in top else (),
        congestion=reader.congestion(top.get("congestion", absent("congestion", []))),
    )


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
    table["advertisement"] = [
        {"id": a.advertisement.id, "at": a.at, **_filter_to_json(a.advertisement.filter), **_if("unadvertises", a)}
        for a in instance.advertisers
    ]
    table["subscription"] = [
        {
            "id": s.subscription.id,
            "at": s.at,
            **_filter_to_json(s.subscription.filter),
            **_if("unsubscribes", s),
            **({} if s.again is None else {"again": s.again}),
        }
        for s in instance.subscribers
    ]
    table["publication"] = [{"id": p.id, "of": p.of, **_event_to_json(p.event)} for p in instance.publications]
    faults = {kind: getattr(instance.faults, kind) for kind in FAULT_KINDS if getattr(instance.faults, kind)}
    own = {"pruning": readings_to_table(instance.readings), "congestion": [{"at": b} for b in instance.congestion]}
    declared = {**own, "faults": faults, "must_reach": list(instance.must_reach), "must_fail": list(instance.must_fail)}
    return table | {key: value for key, value in declared.items() if value}


# -- clients -----------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the clients in the order of the file, and remembers which ids are taken and which algebra is spoken."""

    def __init__(self, overlay: Overlay, dialect: Dialect, is_pruned: bool) -> None:
        self.overlay = overlay
        self.dialect = dialect
        self.is_pruned = is_pruned
        self.taken: dict[str, str] = {}
        self.algebra: tuple[str, str] | None = None
        """The key of the first filter, `events` or `filter`, and where it stands."""

    def advertisers(self, place: Place) -> tuple[Advertiser, ...]:
        found = []
        for rank, entry in enumerate(place.items(IDS, "tables, each [[advertisement]]")):
            keys = entry.table(("id", "at"), ("events", "filter", "unadvertises"))
            advertisement = Advertisement(rank, self._id(keys["id"]), self._filter(entry, keys))
            found.append(Advertiser(advertisement, self._home(keys["at"]), _flag(keys, "unadvertises")))
        return tuple(found)

    def subscribers(self, place: Place) -> tuple[Subscriber, ...]:
        found = []
        for rank, entry in enumerate(place.items(IDS, "tables, each [[subscription]]")):
            again = ("again",) if self.is_pruned else ()
            keys = entry.table(("id", "at"), ("events", "filter", "unsubscribes", *again))
            subscription = Subscription(rank, self._id(keys["id"]), self._filter(entry, keys))
            unsubscribes = _flag(keys, "unsubscribes")
            found.append(Subscriber(subscription, self._home(keys["at"]), unsubscribes, self._again(keys)))
        return tuple(found)

    def _again(self, keys: dict[str, Place]) -> int | None:
        """PRN-15: where its client comes back."""
        if "again" not in keys:
            return None
        if not _flag(keys, "unsubscribes"):
            keys["again"].refuse("unsubscribes = true beside it: who does not leave does not come back")
        return self._home(keys["again"])

    def congestion(self, place: Place) -> tuple[int, ...]:
        """PRN-6: the brokers that may become congested."""
        entries = place.items(BROKERS, "tables, each [[congestion]]")
        homes = [entry.table(("at",), ())["at"] for entry in entries]
        brokers = tuple(self._home(home) for home in homes)
        place.distinct(homes, brokers)
        return brokers

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

    def _home(self, place: Place) -> int:
        broker = place.whole(1, BROKERS)
        if broker not in self.overlay.brokers:
            place.refuse(f"a broker of the overlay, 1 to {len(self.overlay.brokers)}", f"broker {broker}")
        return broker

    def _filter(self, entry: Place, keys: dict[str, Place]) -> Filter:
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
            return self.dialect.parse(place.value)
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
    return DIALECTS[place.one_of(sorted(DIALECTS))]


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


def _filter_to_json(wanted: Filter) -> dict[str, object]:
    return {"events" if isinstance(wanted, EventSet) else "filter": wanted.to_json()}


def _event_to_json(event: Event) -> dict[str, object]:
    return {"attributes": event.to_json()} if isinstance(event, Attributes) else {"event": event}
