"""Composition of values, by the declared types of their fields.

Messages, headers, local states and ghosts are frozen attrs classes. The operations that engines apply to all of them
alike are written here once, over the types of their fields: `rename` replaces brokers and ids, `ids_in` lists what a
message is about, `to_json` and `from_json` are the codec of traces and wires.

The types that mean something are `Node` (a number of a node), `Advertisement`, `Subscription` and `Publication`; other
whole numbers, strings and truth values stay as they are. A tuple that is kept in the order of ids is declared
`Annotated[tuple[...], ORDERED]`, and the id of something `Annotated[str, "advertisement"]` (or "subscription",
"publication").
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs
from attrs import frozen

from routeproof.model.filters import Event, Filter

T = TypeVar("T")

ORDERED = "in the order of ids"
"""The mark of a tuple that is sorted by what is in it: ids by rank, nodes by number."""

NODE = "node"
"""The mark of a whole number that is the number of a node."""

Node = Annotated[int, NODE]
"""A node's number, 1..n. 0 is `LOCAL`, the sender of a client's operation."""

AdvertisementId = Annotated[str, "advertisement"]
SubscriptionId = Annotated[str, "subscription"]
PublicationId = Annotated[str, "publication"]


@frozen(cache_hash=True)
class Advertisement:
    """An announcement of a publisher. `rank` is its place in the instance: ids are ordered as listed there."""

    rank: int
    id: str
    filter: Filter

    def __str__(self) -> str:
        return self.id


@frozen(cache_hash=True)
class Subscription:
    """A subscriber's interest. `rank` is its place in the instance: "the lower id" is the one listed first."""

    rank: int
    id: str
    filter: Filter

    def __str__(self) -> str:
        return self.id


@frozen(cache_hash=True)
class Publication:
    """One event, published under an advertisement."""

    rank: int
    id: str
    of: str
    event: Event

    def __str__(self) -> str:
        return self.id


ENTITIES = (Advertisement, Subscription, Publication)

Entity = Advertisement | Subscription | Publication


class Names(Protocol):
    """A renaming: what each node, advertisement, subscription and publication becomes."""

    def node(self, node: int) -> int: ...
    def advertisement(self, item: Advertisement) -> Advertisement: ...
    def subscription(self, item: Subscription) -> Subscription: ...
    def publication(self, item: Publication) -> Publication: ...
    def id(self, kind: str, id: str) -> str: ...


def types_of(cls: type) -> Mapping[str, Any]:
    """Per field of an attrs class its type, with its marks."""
    return _types_of(cls)  # typeshed takes no class for hashable


@cache
def _types_of(cls: Any) -> Mapping[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    return {each.name: hints[each.name] for each in attrs.fields(cls)}


def choices_of(cls: type) -> dict[str, tuple[str, ...]]:
    """Per field of an attrs class that takes one of some words, these words; a choice of readings has them."""
    return {name: get_args(hint) for name, hint in types_of(cls).items() if get_origin(hint) is Literal}


def values_of(value: Any) -> dict[str, Any]:
    """Per field of an attrs value what is in it."""
    return {name: getattr(value, name) for name in types_of(type(value))}


def ids_in(value: Any) -> Iterator[str]:
    """The ids of the advertisements, subscriptions and publications that a message holds; not those in its header."""
    return (each.id for each in entities_in(value))


def entities_in(value: Any) -> Iterator[Entity]:
    """The advertisements, subscriptions and publications that a message holds; not those in its header."""
    for name, held in values_of(value).items():
        if name != "header":
            for each in held if isinstance(held, tuple) else (held,):
                if isinstance(each, ENTITIES):
                    yield each


# -- renaming ----------------------------------------------------------------------------------------------------------


def rename(value: T, names: Names) -> T:
    """The attrs value in other names: every node and id that its fields hold, by their types."""
    hints = types_of(type(value))
    changed = {name: renamer(hint)(getattr(value, name), names) for name, hint in hints.items()}
    return type(value)(**{_argument(name): each for name, each in changed.items()})


def _argument(name: str) -> str:
    return name.lstrip("_")


Renamer = Callable[[Any, Names], Any]


@cache
def renamer(hint: Any) -> Renamer:
    """The function that renames a value of this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _marked(arguments[0], arguments[1:])
    if hint is Advertisement:
        return lambda value, names: names.advertisement(value)
    if hint is Subscription:
        return lambda value, names: names.subscription(value)
    if hint is Publication:
        return lambda value, names: names.publication(value)
    if origin in (Union, types.UnionType):
        return lambda value, names: renamer(_member(value, arguments))(value, names)
    if origin in (tuple, frozenset):
        return _sequence(origin, arguments)
    if isinstance(hint, type) and attrs.has(hint):
        return rename
    return _any  # a base class, or something that has no names in it


def _any(value: Any, names: Names) -> Any:
    if attrs.has(type(value)) and not isinstance(value, ENTITIES):
        return rename(value, names)
    return value


def _marked(hint: Any, marks: tuple[Any, ...]) -> Renamer:
    if NODE in marks:
        return lambda value, names: names.node(value)
    for kind in ("advertisement", "subscription", "publication"):
        if kind in marks:
            return lambda value, names, kind=kind: names.id(kind, value)  # type: ignore[misc]  # a default argument
    inner = renamer(hint)
    if ORDERED in marks:
        return lambda value, names: tuple(sorted(inner(value, names), key=order))
    return inner


def _sequence(origin: Any, arguments: tuple[Any, ...]) -> Renamer:
    if (len(arguments) == 2 and arguments[1] is Ellipsis) or origin is frozenset:
        inner = renamer(arguments[0])
        return lambda value, names: origin(inner(each, names) for each in value)
    inners = tuple(map(renamer, arguments))
    return lambda value, names: tuple(f(each, names) for f, each in zip(inners, value, strict=True))


def _member(value: Any, arguments: tuple[Any, ...]) -> Any:
    """The member of a union to which a value belongs."""
    for hint in arguments:
        if _belongs(value, hint):
            return hint
    return type(value)


def _belongs(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is Annotated:
        return _belongs(value, get_args(hint)[0])
    if origin is Literal:
        return value in get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    return isinstance(value, origin or hint)


def order(value: Any) -> Any:
    """The key of a value in a tuple that is in the order of ids."""
    if isinstance(value, Publication | Advertisement | Subscription):
        return (value.rank, value.id)
    if isinstance(value, tuple):
        return tuple(map(order, value))
    if attrs.has(type(value)):
        return tuple(map(order, values_of(value).values()))
    return value


# -- the codec ---------------------------------------------------------------------------------------------------------


def to_json(value: Any) -> Any:
    """A field's value of JSON's types only. An attrs value is the list of its fields, what has an id is its id."""
    if isinstance(value, ENTITIES):
        return value.id
    if isinstance(value, tuple | frozenset):
        return [to_json(each) for each in (sorted(value) if isinstance(value, frozenset) else value)]
    if attrs.has(type(value)):
        return [to_json(each) for each in values_of(value).values()]
    return value


class Misfit(ValueError):
    """JSON that is no value of the declared type; the message says what was expected."""


class Lookup(Protocol):
    """Look-up of the entity behind an id, where a value is read."""

    def __call__(self, kind: type[Entity], id: str, /) -> Entity | None: ...


def from_json(raw: Any, hint: Any, find: Lookup) -> Any:
    """The inverse of `to_json` for a declared type; `Misfit` where the JSON is none of it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return from_json(raw, arguments[0], find)
    if origin in (Union, types.UnionType):
        return _one_of(raw, arguments, find)
    if origin is Literal:
        return _only_if(raw in arguments, raw, f"one of {', '.join(map(str, arguments))}")
    if hint in ENTITIES:
        found = find(hint, _only_if(isinstance(raw, str), raw, "an id"))
        return _only_if(found is not None, found, f"the id of a known {hint.__name__.lower()}")
    if origin in (tuple, frozenset):
        _only_if(isinstance(raw, list), raw, "a list")
        if origin is frozenset or (len(arguments) == 2 and arguments[1] is Ellipsis):
            return origin(from_json(each, arguments[0], find) for each in raw)
        return tuple(from_json(each, part, find) for each, part in _zipped(raw, arguments))
    if isinstance(hint, type) and attrs.has(hint):
        hints = types_of(hint)
        _only_if(isinstance(raw, list), raw, "a list")
        parts = _zipped(raw, tuple(hints.values()))
        return hint(**{name: from_json(each, part, find) for name, (each, part) in zip(hints, parts, strict=True)})
    if hint is None or hint is type(None):
        return _only_if(raw is None, raw, "null")
    return _only_if(type(raw) is hint, raw, {int: "a whole number", str: "a string", bool: "true or false"}.get(hint))


def _one_of(raw: Any, hints: tuple[Any, ...], find: Lookup) -> Any:
    wrong = []
    for hint in hints:
        try:
            return from_json(raw, hint, find)
        except Misfit as misfit:
            wrong.append(str(misfit))
    raise Misfit(" or ".join(dict.fromkeys(wrong)))


def _zipped(raw: list[Any], hints: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    _only_if(len(raw) == len(hints), raw, f"a list of {len(hints)}")
    return zip(raw, hints, strict=True)


def _only_if(is_well: bool, value: T, expected: str | None) -> T:
    if not is_well:
        raise Misfit(expected or "another type")
    return value
