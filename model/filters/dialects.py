"""The registry of dialects, by the name that a trace's header gives."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from routeproof.model.filters.event_set import EVENTS
from routeproof.model.filters.interface import Dialect, FilterError
from routeproof.model.filters.strict import STRICT
from routeproof.model.filters.wording import shown

_ALL: tuple[Dialect, ...] = (STRICT, EVENTS)

DIALECTS: Mapping[str, Dialect] = MappingProxyType({each.name: each for each in _ALL})


def dialect(name: object) -> Dialect:
    found = DIALECTS.get(name) if isinstance(name, str) else None
    if found is None:
        raise FilterError(f"dialect {shown(name)} is unknown; expected one of {', '.join(sorted(DIALECTS))}")
    return found
