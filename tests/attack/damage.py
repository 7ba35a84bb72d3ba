"""Damage to values, JSON texts and bytes: types, ranges, sizes, order, nesting, names that a terminal would act on."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from random import Random
from typing import Any

WORDS: tuple[str, ...] = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b[31mall is well\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202eevil",
    "\u2066x\u2069",
    "a\r\nrouteproof: all is well",
    "line\u2028separator",
    "::error title=x::y",
    "%0A::error::y",
    "]]></failure><x>",
    "<script>alert(1)</script>",
    "`x`; $(touch owned)",
    "b1->>b2: x",
    "end\nparticipant x",
    "#35;{{}}",
    '"quoted"',
    "\\",
    "nowhere/../../outside",
    "-",
    "--json",
    "\ud800",
    "\udcff",
    "\ufeffb1",
    "\U0010ffff",
    "e\u0301",
    "é" * 300,
    "x" * 5000,
    "nan",
    "b0",
    "b1",
    "b99",
    "client-a",
    "client-",
    "__proto__",
)
NUMBERS: tuple[object, ...] = (
    *(0, -1, 1, 2, 62, 63, 64, 2**31, 2**32, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 1 << 200),
    *(1.5, -0.0, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")),
)
OTHERS: tuple[object, ...] = (None, True, False, [], {}, [[]], [None], {"": None}, {"kind": "publish"}, [["x"] * 3])

TOKENS: tuple[bytes, ...] = (
    *(b"9" * 400, b"[" * 3000, b"null", b"-1", b'"', b"\n", b"\x00", b"1e999", b"{}", b"true", b'"\\ud800"'),
    *(b"NaN", b"-Infinity", b"0x10", b"01", b"1_0", b"-", b",", b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\r"),
)


def word(rng: Random) -> str:
    return rng.choice(WORDS)


def value(rng: Random) -> object:
    """Any value that does not belong where it goes."""
    match rng.randrange(5):
        case 0 | 1:
            return word(rng)
        case 2 | 3:
            return rng.choice(NUMBERS)
        case _:
            if rng.random() < 0.1:
                return nested(rng.choice((10, 60, 150)))
            return copy.deepcopy(rng.choice(OTHERS))


def nested(depth: int) -> object:
    found: object = 1
    for level in range(depth):
        found = [found] if level % 2 else {"a": found}
    return found


def places(tree: object) -> list[tuple[Any, Any]]:
    """Every place in a tree of tables and lists that holds something: its container and its key."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [tree]
    while waiting:
        container = waiting.pop()
        keys: Sequence[Any] = sorted(container) if isinstance(container, dict) else ()
        if isinstance(container, list):
            keys = range(len(container))
        for key in keys:
            found.append((container, key))
            waiting.append(container[key])
    return found


def tree(rng: Random, root: dict[str, Any]) -> str:
    """Damages one place of a table, and says how."""
    found = places(root)
    if not found:
        root["x"] = value(rng)
        return "x is put in"
    container, key = rng.choice(found)
    at, old = repr(key)[:40], container[key]
    match rng.randrange(8):
        case 0:
            del container[key]
            return f"{at} is left out"
        case 1 if isinstance(container, list):
            container.insert(rng.randrange(len(container) + 1), copy.deepcopy(old))
            return f"{at} is doubled"
        case 1:
            container[word(rng)] = container.pop(key)
            return f"{at} has another name"
        case 2:
            other, place = rng.choice(found)
            container[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(old)
            return f"{at} and {place!r:.40} are exchanged"
        case 3 if type(old) in (int, float):
            container[key] = rng.choice((old + 1, old - 1, -old, old * 2, old << 40 if isinstance(old, int) else 0))
            return f"{at} is {container[key]!r:.40}"
        case 3 if isinstance(old, str):
            container[key] = rng.choice((old + word(rng), word(rng) + old, old.upper(), old[:-1]))
            return f"{at} is {container[key]!r:.40}"
        case _:
            container[key] = value(rng)
            return f"{at} is {container[key]!r:.40}"


def flip(data: bytes, rng: Random) -> bytes:
    """The bytes with some changed, cut out, doubled or moved, and with tokens that do not belong there."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not found:
            return b"\n"
        at, length = rng.randrange(len(found)), rng.randint(1, 60)
        match rng.randrange(7):
            case 0:
                found[at] = rng.randrange(256)
            case 1:
                found[at] ^= 1 << rng.randrange(8)
            case 2:
                del found[at : at + length]
            case 3:
                found[at:at] = found[at : at + length]
            case 4:
                del found[at:]
            case 5:
                to = rng.randrange(len(found))
                piece = found[at : at + length]
                del found[at : at + length]
                found[to:to] = piece
            case _:
                found[at : at + 1] = rng.choice(TOKENS)
    return bytes(found) or b"\n"


def line(row: object) -> bytes:
    """A row as one line of JSON Lines. Surrogates are escapes, and what is no number stands as Python writes it."""
    return json.dumps(row).encode("ascii") + b"\n"
