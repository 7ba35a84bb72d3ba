"""Protocols from outside the distribution.

A package announces a protocol under the entry point group `routeproof.protocols`; `--protocol module:NAME` and the
environment variable `ROUTEPROOF_PROTOCOLS` (names separated by commas) name one that is not installed. What is named is
a value with some of these attributes, one for each room:

    definition       a `routeproof.model.definition.Definition`
    specification    a `routeproof.spec.specification.Specification`
    mutants          more `Mutant`s, also of a protocol that ships
    policies         `Policy`s for protocols that are there: handlers that vary one of their own policies
    properties       more `Property`s, also of a protocol that ships
    dialects         `Dialect`s of filters (`spec/filters.md`)

The environment variable is how worker processes learn of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from operator import is_not
from pathlib import Path
from typing import Any, TypeVar

from attrs import Factory, define

GROUP = "routeproof.protocols"
VARIABLE = "ROUTEPROOF_PROTOCOLS"

_loaded: dict[str, Any] = {}

Entry = TypeVar("Entry")


class PluginError(ValueError):
    """A protocol that cannot be loaded; the message says why in one line."""


@define(eq=False)
class Composed(Mapping[str, Entry]):
    """A catalogue by name. It is composed anew when the values from outside are others than last time."""

    compose: Callable[[], dict[str, Entry]]
    _outside: tuple[Any, ...] | None = None
    _composed: dict[str, Entry] = Factory(dict)

    def __getitem__(self, name: str) -> Entry:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def values(self) -> ValuesView[Entry]:
        return self._now().values()

    def items(self) -> ItemsView[str, Entry]:
        return self._now().items()

    def _now(self) -> dict[str, Entry]:
        outside = plugins()
        if self._outside is None or len(self._outside) != len(outside) or any(map(is_not, self._outside, outside)):
            self._composed, self._outside = self.compose(), outside
        return self._composed


def plugins() -> tuple[Any, ...]:
    """The values that are announced or named, each once."""
    named = [name for name in os.environ.get(VARIABLE, "").split(",") if name]
    return tuple(_load(name) for name in sorted({*named, *_announced()}))


@cache
def _announced() -> tuple[str, ...]:
    """The names under the entry point group."""
    return tuple(f"{each.module}:{each.attr}" for each in entry_points(group=GROUP))


def load(name: str) -> Any:
    """The value `module:NAME`, for this process and for those that it starts."""
    value = _load(name)
    named = [each for each in os.environ.get(VARIABLE, "").split(",") if each]
    os.environ[VARIABLE] = ",".join(dict.fromkeys([*named, name]))
    return value


def _load(name: str) -> Any:
    if name not in _loaded:
        module, colon, attribute = name.partition(":")
        if not colon or not module or not attribute:
            raise PluginError(f"protocol {name}: expected module:NAME, a module and a name in it")
        if (
            str(Path.cwd()) not in sys.path
        ):  # a module of the user's own, in the directory where the command was started
            sys.path.append(str(Path.cwd()))
        try:
            value: Any = import_module(module)
            for part in attribute.split("."):
                value = getattr(value, part)
        except (ImportError, AttributeError) as error:
            raise PluginError(f"protocol {name}: cannot be loaded: {error}") from None
        _loaded[name] = value
    return _loaded[name]
