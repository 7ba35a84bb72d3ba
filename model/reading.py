"""Reading what arrives as TOML or JSON: shapes, types and sizes, before any meaning.

A `Place` knows the file and the key path that it stands for, so every refusal says where, what was found and what was
expected, in one line: `line3.toml: subscription[2].at: found "1"; expected a whole number from 1 to 64`. Entries of a
list are counted from 1, as people count them. Whatever the input, nothing but `InstanceError` comes out.
`did_you_mean` is the suggestion for a mistyped name, here and on the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NoReturn

from attrs import frozen

from routeproof.model.filters.interface import shown
from routeproof.model.overlay import Node, Overlay

NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Names and ids end up in file names, in replay tokens and in tables."""

BROKERS = 64
"""Brokers of an overlay at most: far above what can be explored, and low enough to refuse an absurd file at once."""

LISTED = 12
"""Names that a message lists at most."""

PREFIX = 3
"""Length from which a word counts as the beginning of a name, in characters."""


class InstanceError(ValueError):
    """An instance that cannot be read: file, key path, what was found, what was expected; one line."""


@frozen
class Place:
    """One value of an instance file, with where it stands."""

    where: str
    path: str
    value: object

    def refuse(self, expected: str, found: str | None = None) -> NoReturn:
        at = f"{self.where}: {self.path}" if self.path else self.where
        raise InstanceError(f"{at}: found {shown(self.value) if found is None else found}; expected {expected}")

    def reject(self, reason: object) -> NoReturn:
        """For what another module found wrong in its own words."""
        raise InstanceError(f"{self.where}: {self.path}: {reason}")

    def string(self, expected: str = "a string") -> str:
        # Exact types throughout: to Python, true is a whole number.
        if type(self.value) is not str:
            self.refuse(expected)
        return self.value

    def broker(self, overlay: Overlay) -> Node:
        """The number of a broker of the overlay."""
        broker = self.whole(1, BROKERS)
        if broker not in overlay.brokers:
            self.refuse(f"a broker of the overlay, 1 to {len(overlay.brokers)}", f"broker {broker}")
        return broker

    def name(self) -> str:
        expected = "1 to 64 letters, digits, or any of _ . -"
        text = self.string(expected)
        if not NAME.fullmatch(text):
            self.refuse(expected)
        return text

    def one_of(self, known: Iterable[str], what: str = "") -> str:
        names = list(known)
        listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
        expected = f"{what}one of {listed}" if len(names) > 1 else f"{what}{listed}"
        text = self.string(expected)
        if text not in names:
            self.refuse(expected + (did_you_mean(text, names) if len(names) > 1 else ""))
        return text

    def line(self, longest: int) -> str:
        expected = f"one line of at most {longest} characters"
        text = self.string(expected)
        if len(text) > longest:
            self.refuse(expected, f"{len(text)} characters")
        if not text.isprintable():
            self.refuse(f"{expected} that can be printed")
        return text

    def truth(self) -> bool:
        if type(self.value) is not bool:
            self.refuse("true or false")
        return self.value

    def whole(self, low: int, high: int) -> int:
        if type(self.value) is not int or not low <= self.value <= high:
            self.refuse(f"a whole number from {low} to {high}")
        return self.value

    def items(self, most: int, of: str, least: int = 0) -> list[Place]:
        expected = f"a list of {of}"
        if not isinstance(self.value, list | tuple):
            self.refuse(expected)
        if not least <= len(self.value) <= most:
            found = f"{len(self.value)} entries" if self.value else "an empty list"
            self.refuse(f"{expected}, {least} to {most} of them", found)
        return [Place(self.where, f"{self.path}[{i}]", entry) for i, entry in enumerate(self.value, start=1)]

    def distinct(self, places: Iterable[Place], values: Iterable[object]) -> None:
        """No two entries of this list may be equal."""
        seen: set[object] = set()
        for place, value in zip(places, values, strict=True):
            if value in seen:
                place.refuse("each once", f"{shown(value)} a second time")
            seen.add(value)

    def table(self, required: Iterable[str], optional: Iterable[str]) -> dict[str, Place]:
        """The entries of a table by key: all that are required, and none that is unknown."""
        if not isinstance(self.value, Mapping):
            self.refuse("a table")
        required = list(required)
        known = [*required, *optional]
        prefix = f"{self.path}." if self.path else ""
        for key in self.value:
            if key not in known:
                near = did_you_mean(key, known) if isinstance(key, str) else ""
                self.refuse(f"the keys {', '.join(known)}{near}", f"the unknown key {shown(key)}")
        for key in required:
            if key not in self.value:
                self.refuse(f"the keys {', '.join(required)}", f"no key {key}")
        return {key: Place(self.where, prefix + key, entry) for key, entry in self.value.items()}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns ` (did you mean x?)`, or nothing if no name is near. A prefix is completed; case does not count."""
    by_folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    begun = [name for name in by_folded if len(word) >= PREFIX and name.startswith(word.casefold())]
    if begun:
        return f" (did you mean {by_folded[min(begun, key=lambda name: (len(name), name))]}?)"
    near = get_close_matches(word[:64].casefold(), sorted(by_folded), n=1, cutoff=0.6)
    return f" (did you mean {by_folded[near[0]]}?)" if near else ""
