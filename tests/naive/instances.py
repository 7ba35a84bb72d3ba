"""Shipped instance files as plain values, for the naive search. Files are read as TOML and not checked."""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from tests.naive.filters import as_event_sets

MODEL = Path(__file__).parents[2] / "model"
FOLDERS = ("instances", "pruning/instances", "migration/instances", "trees/instances")
SHIPPED = {path.stem: path for name in FOLDERS for path in (MODEL / name).glob("*.toml")}


class Client(NamedTuple):
    """An advertisement or a subscription."""

    id: str
    home: int
    events: frozenset[int]
    leaves: bool = False
    again: int | None = None
    """Where its client may subscribe a second time."""


class Instance(NamedTuple):
    """Inside the search an id is its position, and a broker its number from 1."""

    edges: tuple[tuple[int, int], ...]
    advs: tuple[Client, ...]
    subs: tuple[Client, ...]
    pubs: tuple[tuple[int, int], ...]
    """The advertisement and the event of each publication."""
    name: str = ""
    protocol: str = "routing"
    policies: tuple[str, ...] = ()
    faults: tuple[tuple[str, int], ...] = ()
    """How many of each fault may happen."""
    pruning: tuple[tuple[str, Any], ...] = ()
    migration: tuple[tuple[str, Any], ...] = ()
    trees: tuple[tuple[str, Any], ...] = ()
    clusters: tuple[Any, ...] = ()
    """By subscription, the trees of each strategy in whose clusters it has a part."""
    congestion: tuple[int, ...] = ()
    must_fail: frozenset[str] = frozenset()


def load(name: str) -> Instance:
    return instance_of(tomllib.loads(SHIPPED[name].read_text(encoding="utf-8")))


def instance_of(raw: dict[str, Any]) -> Instance:
    """Returns the instance that a table of an instance file describes."""
    advs, subs, pubs = (raw.get(key, []) for key in ("advertisement", "subscription", "publication"))
    clients = [*advs, *subs]
    if any("filter" in c for c in clients):
        sets, events = as_event_sets([c["filter"] for c in clients], [p["attributes"] for p in pubs])
    else:
        sets, events = [frozenset(c["events"]) for c in clients], [p["event"] for p in pubs]
    ids = [a["id"] for a in advs]
    policy = raw["policy"]
    return Instance(
        edges=tuple((u, v) for u, v in raw["overlay"]),
        advs=tuple(Client(a["id"], a["at"], f, a.get("unadvertises", False)) for a, f in zip(advs, sets, strict=False)),
        subs=tuple(
            Client(s["id"], s["at"], f, s.get("unsubscribes", False), s.get("again"))
            for s, f in zip(subs, sets[len(advs) :], strict=True)
        ),
        pubs=tuple((ids.index(p["of"]), event) for p, event in zip(pubs, events, strict=True)),
        name=raw["name"],
        protocol=raw["protocol"],
        policies=(policy,) if isinstance(policy, str) else tuple(policy),
        faults=tuple(raw.get("faults", {}).items()),
        pruning=tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in raw.get("pruning", {}).items()),
        migration=tuple((k, v) for k, v in raw.get("migration", {}).items()),
        trees=tuple((k, v) for k, v in raw.get("trees", {}).items()),
        clusters=tuple(s.get("clusters", ()) for s in subs),
        congestion=tuple(c["at"] for c in raw.get("congestion", [])),
        must_fail=frozenset(raw.get("must_fail", [])),
    )


def shipped() -> list[str]:
    return sorted(SHIPPED)
