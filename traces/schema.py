"""The JSON Schema of a trace's lines, made from the types that the reader reads with:

    python -m routeproof.traces.schema > spec/trace.schema.json

Each line by itself is an instance of it: the first is a header, any other an event. What it cannot say is what a filter
means (an operator that is unknown, a filter that matches nothing), which dialects there are (a protocol from outside
may bring its own), that `seq` rises, that no key is given twice, and that only a header with `time_unit` allows times
that are no whole nanoseconds. A header's keys beyond the reader's own are those
that validation and replays read; a protocol may add a section of its name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from routeproof.model.filters import DIALECTS, predicate_filter
from routeproof.model.filters.sets import EVENT_NUMBER
from routeproof.traces.column_names import DATE, DIGITS
from routeproof.traces.fields import INTEGER, NAME_LENGTH, TIMES, Name, OptionalName
from routeproof.traces.format import EVENTS, LINKS, Event
from routeproof.traces.format import NEEDS as EVENT_NEEDS
from routeproof.traces.messages import ITEMS, MANY, STANDING
from routeproof.traces.messages import NEEDS as MESSAGE_NEEDS
from routeproof.traces.tables import TablesLine

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

FILTER: Schema = {
    "description": "Predicates, all of which must hold, or the numbers of the events that match.",
    "anyOf": [
        {"type": "array", "items": {"$ref": "#/$defs/Predicate"}, "maxItems": predicate_filter.PREDICATES},
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": EVENT_NUMBER}, "minItems": 1},
    ],
}
ATTRIBUTE: Schema = {"type": "string", "minLength": 1, "maxLength": predicate_filter.NAME_LENGTH}
PREDICATE: Schema = {
    "description": "[attribute, operator, constant] or [attribute, operator].",
    "type": "array",
    "prefixItems": [
        ATTRIBUTE,
        {"type": "string"},
        {"type": ["string", "boolean", "number"], "maxLength": predicate_filter.CONSTANT_LENGTH},
    ],
    "minItems": 2,
    "maxItems": 3,
}
ATTRIBUTES: Schema = {
    "description": "An event: its attributes and their values.",
    "type": "object",
    "propertyNames": ATTRIBUTE,
    "additionalProperties": {"type": ["string", "boolean", "number"], "maxLength": predicate_filter.STRING_LENGTH},
    "maxProperties": predicate_filter.ATTRIBUTES,
}

SEVERAL: Schema = {
    "description": "The subscriptions for which an entry of a broker's own stands.",
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": NAME_LENGTH},
    "minItems": 1,
    "maxItems": ITEMS,
    "uniqueItems": True,
}

TIME: Schema = {
    "description": "Whole nanoseconds; if the header has `time_unit`, any number or string of digits in that unit, or a"
    " date (RFC 3339).",
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": INTEGER},
        {"type": "string", "pattern": rf"^\s*(?:{DIGITS.pattern}|{DATE.pattern})\s*$"},
    ],
}

DESCRIPTIONS = {
    "Header": "Line 1 of a trace.",
    "Event": "Any other line: one thing that happened at one broker.",
    "TraceMessage": "A message.",
    "PackedItem": "One subscription of a message that holds many.",
    "TablesLine": "A broker's tables. A part that is left out is unknown.",
    "EntryLine": "An advertisement or a subscription, and the neighbour that it came from; none for a local client's.",
}
NAMES = {
    "TraceMessage": "Message",
    "PackedItem": "Item",
    "TablesLine": "Tables",
    "EntryLine": "Entry",
}
"""Names of the types in the schema; any other loses the `Line` at its end."""


Nanoseconds: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 60)]


class SharedClock(Struct, forbid_unknown_fields=True):
    """A clock that all brokers share: `skew` is by how many nanoseconds two of them may differ."""

    shared: Annotated[bool, Meta(extra_json_schema={"const": True})]
    skew: Nanoseconds = 0


Observed: TypeAlias = Annotated[tuple[Name, ...], Meta(max_length=len(EVENTS))]
"""The kinds of events that are written."""


class Header(Struct):
    """The header, as `format.read_header` reads it. Further keys are its writer's."""

    routeproof: Literal[1]
    run: Name
    protocol: Name
    overlay: Annotated[tuple[tuple[Name, Name], ...], Meta(max_length=LINKS)]
    policy: OptionalName = ""
    dialect: Annotated[OptionalName, Meta(extra_json_schema={"examples": sorted(DIALECTS)})] = "strict"
    observes: Observed | Annotated[dict[Name, Observed], Meta(min_length=1)] | UnsetType = UNSET
    clock: Literal["shared"] | SharedClock | None = None
    time_unit: Literal["s", "ms", "us", "ns"] | UnsetType = UNSET
    settles: Nanoseconds | None = None
    latency: Nanoseconds = 0
    looks: Annotated[int, Meta(ge=1_000, le=1 << 60)] = 1_000_000_000
    roles: dict[str, str] | UnsetType = UNSET
    instance: dict[str, Any] | UnsetType = UNSET
    mutant: str | None = None
    property: str | UnsetType = UNSET
    actions: list[str] | UnsetType = UNSET
    violation: dict[str, Any] | None = None
    witness: dict[str, Any] | UnsetType = UNSET


def schema() -> Schema:
    """The whole of it."""
    types = (Header, Event, TablesLine)
    _, found = msgspec.json.schema_components(types, schema_hook=_of_the_reader, ref_template="#/$defs/{name}")
    names = {name: NAMES.get(name, name.removesuffix("Line")) for name in found}
    definitions = {names[name]: _tidied(name, each, names) for name, each in found.items()}
    definitions |= {"Filter": FILTER, "Predicate": PREDICATE, "Attributes": ATTRIBUTES, "Time": TIME}
    event, message = definitions["Event"], definitions["Message"]
    event["properties"] |= {key: {"$ref": "#/$defs/Time"} for key in TIMES}
    event["allOf"] = [
        *_needed("event", EVENT_NEEDS, {"peer": {"minLength": 1}, "message": {"type": "object"}}),
        {"if": _is("event", "note"), "else": {"properties": {"message": _taken(event, "message")}}},
        {"if": _is("event", "snapshot"), "then": {"properties": {"tables": _taken(event, "tables")}}},
    ]
    one = definitions["Item"]["properties"]["of"]
    message["properties"]["of"] = definitions["Item"]["properties"]["of"] = {"anyOf": [one, SEVERAL]}
    event["allOf"].append(
        {"if": _is("event", "client"), "then": {"properties": {"message": {"properties": {"of": one}}}}}
    )
    with_filters = {"properties": {"items": {"items": {"required": ["filter"]}}}}
    message["allOf"] = [
        *_needed("kind", MESSAGE_NEEDS, {"id": {"minLength": 1}}),
        {"if": _is("kind", *MANY), "then": {"properties": {"items": _taken(message, "items")}}},
        {"if": _is("kind", "subscribe-many"), "then": with_filters},
        {"if": _is("kind", *STANDING), "else": {"properties": {"of": one}}},
    ]
    return {
        "$schema": DIALECT,
        "title": "A line of a routeproof trace",
        "if": {"type": "object", "required": ["routeproof"]},
        "then": {"$ref": "#/$defs/Header"},
        "else": {"$ref": "#/$defs/Event"},
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _of_the_reader(_: type) -> Schema:
    """For fields that no writer writes; `_tidied` drops them."""
    return {"not": {}}


def _tidied(name: str, definition: Schema, names: Mapping[str, str]) -> Schema:
    text = json.dumps(definition)
    for old, new in names.items():
        text = text.replace(f'"#/$defs/{old}"', f'"#/$defs/{new}"')
    tidy: Schema = json.loads(text)
    properties = {key: each for key, each in tidy["properties"].items() if key.strip()}
    tidy.pop("title")
    return {**tidy, "description": DESCRIPTIONS.get(name, tidy.get("description")), "properties": properties}


def _needed(by: str, needs: Mapping[str, tuple[str, ...]], filled: Schema) -> list[Schema]:
    """Keys that events or messages of some kinds must have, and not empty."""
    rules = []
    for keys in dict.fromkeys(needs.values()):
        kinds = [kind for kind, needed in needs.items() if needed == keys]
        properties = {key: filled[key] for key in keys if key in filled}
        rules.append({"if": _is(by, *kinds), "then": {"required": list(keys), "properties": properties}})
    return rules


def _is(key: str, *values: str) -> Schema:
    return {"required": [key], "properties": {key: {"enum": list(values)}}}


def _taken(definition: Schema, key: str) -> Schema:
    """A property that is read for some kinds only: what it must be there, which the rest need not care about."""
    taken: Schema = definition["properties"][key]
    definition["properties"][key] = {}
    return taken


def main() -> None:
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")


if __name__ == "__main__":
    main()
