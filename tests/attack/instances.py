"""Hostile instance files: tables that were damaged, TOML that was, and files that never were TOML."""

from __future__ import annotations

import copy
import json
import math
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.attack import damage
from tests.attack.case import Case, joined
from tests.attack.command import Command
from tests.model.malformed import GOOD, PREDICATES, PRUNED

MODEL = Path(__file__).resolve().parents[2] / "model"
SHIPPED = sorted(
    (path for folder in ("instances", "pruning/instances") for path in (MODEL / folder).glob("*.toml")),
    key=lambda path: path.name,
)
"""The daily cases are drawn from these: more of them would make every case another."""

LIMITS = ("--max-states", "150", "--seconds", "3", "--workers", "1")


@cache
def sources() -> tuple[str, ...]:
    return (GOOD, PREDICATES, PRUNED, *(path.read_text(encoding="utf-8") for path in SHIPPED))


def case(rng: Random) -> Case:
    if rng.random() < 0.1:
        return extreme(rng.choice(tuple(EXTREMES)), rng.choice(sources()))
    text = rng.choice(sources())
    about = []
    table: dict[str, Any] = copy.deepcopy(tomllib.loads(text))
    drawn = rng.random()
    if plausible := drawn < 0.45:
        about += [_plausible(rng, table) for _ in range(rng.choice((1, 2, 3)))]
        data = to_toml(table).encode("utf-8", "surrogatepass")
    elif drawn < 0.85:
        about += [damage.tree(rng, table) for _ in range(rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.1:
            about.append(_grow(rng, table))
        data = to_toml(table).encode("utf-8", "surrogatepass")
    else:
        data = text.encode()
    if not about or (not plausible and rng.random() < 0.15):
        data = damage.flip(data, rng)
        about.append("bytes are damaged")
    name = rng.choice(("bad.toml", "bad.toml", "\x1b[31m.toml", "a\n::error::b.toml", "\u202e.toml", "`x`<b>.toml"))
    argv = ["check", "--instance", name, *LIMITS, "--traces", "found"]
    argv += rng.choice(((), ("--github",), ("--json", "-"), ("--json", "r.json", "--junit", "r.xml", "--github")))
    if table.get("protocol") == "routing":
        argv += rng.choice(((), (), (), ("--reduction", "por"), ("--reduction", "symmetry")))
    leaves = ("r.json", "r.xml", "found/*.jsonl")
    return Command(joined((name, *about)), tuple(argv), {name: data}, leaves)


STAR = 'name = "star"\nprotocol = "routing"\npolicy = "none"\noverlay = [{}]\n'.format(
    ", ".join(f"[1, {leaf}]" for leaf in range(2, 65))
)

EXTREMES: dict[str, Callable[[str], bytes]] = {
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "bytes that are not UTF-8": lambda text: text.encode() + b"# \xff\n",
    "a key twice": lambda text: (text + text).encode(),
    "carriage returns": lambda text: text.replace("\n", "\r").encode(),
    "lists in lists": lambda text: ("x = " + "[" * 100_000 + "]" * 100_000 + "\n" + text).encode(),
    "tables in tables": lambda text: ("x = " + "{a = " * 50_000 + "1" + "}" * 50_000 + "\n" + text).encode(),
    "a key of many parts": lambda text: (".".join("a" * 20_000) + " = 1\n" + text).encode(),
    "many tables of many parts": lambda text: (
        text + "".join(f"[{'.'.join('a' * 99)}.b{number}]\n" for number in range(4_000))
    ).encode(),
    "a number of many digits": lambda text: ("x = " + "9" * 5_000 + "\n" + text).encode(),
    "a number of many bits": lambda text: ("x = 0x" + "f" * 900_000 + "\n" + text).encode(),
    "not a number": lambda text: ("x = [nan, inf, -inf, 1e400]\n" + text).encode(),
    "dates": lambda text: ("x = [1979-05-27, 07:32:00, 1979-05-27T07:32:00Z]\n" + text).encode(),
    "a date that does not exist": lambda text: ("x = 2023-02-30\n" + text).encode(),
    "many entries": lambda text: ("x = [" + "1," * 400_000 + "]\n" + text).encode(),
    "too many bytes": lambda text: text.encode() + b"#" * (8 << 20),
    "nothing": lambda _: b"",
    "many automorphisms": lambda _: STAR.encode(),
}


def extreme(about: str, text: str) -> Case:
    """A file that TOML readers are slow with or fail on, or an instance that a search would be slow with."""
    data = EXTREMES[about](text)
    more = ("--reduction", "symmetry") if about == "many automorphisms" else ()
    return Command(about, ("check", "--instance", "bad.toml", *LIMITS, *more), {"bad.toml": data}, ("found/*.jsonl",))


def _plausible(rng: Random, table: dict[str, Any]) -> str:
    """Changes an instance into one that may be well: numbers, policies, declarations, faults, strings, more clients."""
    numbers = [place for place in damage.places(table) if type(place[0][place[1]]) is int]
    match rng.randrange(7):
        case 0 | 1 if numbers:
            container, key = rng.choice(numbers)
            container[key] = max(0, container[key] + rng.choice((-1, -1, 1, 1, 60)))
            return f"{key!r} is {container[key]}"
        case 2:
            clients = table.get(rng.choice(("subscription", "publication", "advertisement")))
            if isinstance(clients, list) and clients:
                many = rng.choice((1, 2, 20))
                clients += [{**rng.choice(clients), "id": f"more{len(clients)}-{i}"} for i in range(many)]
                return f"{many} more clients"
            return ""
        case 3:
            table["faults"] = {rng.choice(("loss", "duplicate", "reorder", "crash")): rng.choice((1, 2, 8))}
            return f"faults {table['faults']}"
        case 4:
            table["must_fail"] = rng.sample(("Agreement", "Compact", "NoDuplicate"), 2)
            table["must_reach"] = rng.sample(("SomeDelivery", "SomeQuenching", "COV-7"), 2)
            return "other declarations"
        case 5:
            texts = [place for place in damage.places(table.get("publication")) if isinstance(place[1], str)]
            for container, key in texts:
                if key == "attributes" and isinstance(container[key], dict):
                    container[key][damage.word(rng)] = damage.word(rng)
            table["about"] = "]]></x>`<script>::error title=x::y é"
            return "texts that a terminal acts on"
        case _:
            table["policy"] = rng.choice((["none", "active", "lazy", "packing"], "incremental", "selective", "lazy"))
            return f"policy {table['policy']}"


def _grow(rng: Random, table: dict[str, Any]) -> str:
    """Makes a list very long, or the instance as large as it may be."""
    key = rng.choice(("overlay", "subscription", "publication", "advertisement"))
    entries = table.get(key)
    if not isinstance(entries, list) or not entries:
        return ""
    many = rng.choice((63, 64, 65, 255, 256, 257, 2000))
    if key == "overlay":
        shape = rng.choice(("path", "star"))
        table[key] = [[i if shape == "path" else 1, i + 1] for i in range(1, many + 1)]
        return f"an overlay that is a {shape} of {many + 1}"
    one = entries[-1]
    if not isinstance(one, dict):
        return ""
    table[key] = [{**one, "id": f"{key[0]}{i}"} for i in range(many)]
    return f"{many} entries of {key}"


def to_toml(table: dict[str, Any]) -> str:
    """The table as TOML, with whatever its values are: what TOML cannot say (null) stands as it is."""
    heads = [f"{_key(key)} = {_value(value)}\n" for key, value in table.items() if not _is_tables(value)]
    tables = [
        f"\n[[{_key(key)}]]\n" + "".join(f"{_key(k)} = {_value(v)}\n" for k, v in entry.items())
        for key, value in table.items()
        if _is_tables(value)
        for entry in value
    ]
    return "".join((*heads, *tables))


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "").isalnum() else json.dumps(key, ensure_ascii=False)


def _value(value: object) -> str:
    match value:
        case bool() | None:
            return json.dumps(value)
        case float() if not math.isfinite(value):
            return str(value)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
        case str():
            # Escaped as TOML wants it; a surrogate cannot be escaped, and stands as the bytes that it would be.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return json.dumps(value)
