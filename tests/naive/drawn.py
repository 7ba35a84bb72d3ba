"""Small instances drawn at random, as tables of instance files: combinations that no shipped instance has."""

import random
from typing import Any

EVENTS = (2, 2, 3)
READINGS: dict[str, tuple[Any, ...]] = {
    "triggered": ("neighbour",),
    "inclusive": (False,),
    "without_history": ("zero", "absent"),
    "counts": ("all",),
    "rows": ("arrived",),
    "window": (1,),
    "sends": ("listed",),
    "base": ("lazy",),
    "remembers": (False,),
    "collects": (True,),
    "newcomers": ("withdraw",),
    "overtakes": (True,),
    "identity": ("id",),
}
"""Readings of pruning: the values that are not the default."""
MOVING = {
    "removal": "at-once",
    "checked": "any",
    "record": "kept",
    "enters": "any-time",
    "waits": "pause",
    "publishes": "arrived",
}
"""Readings of migration: the values that are not the default."""
SWITCHING: dict[str, tuple[str, ...]] = {
    "looked": ("newest",),
    "commit": ("early",),
    "torn": ("acknowledged", "installed"),
    "leaves": ("marked",),
    "dropped": ("tree",),
    "next": ("any-time",),
    "log": ("forgotten",),
    "changes": ("old", "new"),
    "parts": ("each",),
    "publisher": ("floods",),
}
"""Readings of dissemination on trees: the values that are not the default."""
POLICIES = ("none", "active", "lazy", "packing")


def drawn(protocol: str, seed: int) -> dict[str, Any]:
    """Returns an instance of the protocol, under one policy."""
    r = random.Random(f"{protocol} {seed}")
    is_moving = protocol in ("migration", "trees")  # there are further nodes: fewer of the others
    brokers = r.choice((2, 2, 3) if is_moving else (2, 3, 3, 3))
    star = r.random() < 0.3
    events = range(r.choice(EVENTS))
    table: dict[str, Any] = {
        "name": f"drawn{seed}",
        "protocol": protocol,
        "overlay": [[1 if star else b - 1, b] for b in range(2, brokers + 1)],
        "advertisement": _advertisements(r, brokers, events),
        "subscription": _subscriptions(
            r, brokers, events, (1, 1, 2) if is_moving else (2, 2, 3), protocol == "pruning"
        ),
    }
    table["publication"] = [
        {"id": p, "of": a["id"], "event": r.choice(a["events"])}
        for p, a in (("p", r.choice(table["advertisement"])), ("q", r.choice(table["advertisement"])))[
            : r.choice((1, 2))
        ]
    ]
    table |= OWN[protocol](r, brokers)
    if protocol == "trees":
        _clustered(r, table)
    return table


def _some(r: random.Random, events: range) -> list[int]:
    return sorted(r.sample(events, r.randint(1, len(events))))


def _advertisements(r: random.Random, brokers: int, events: range) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"id": "a", "at": r.randint(1, brokers), "events": list(events)}]
    if r.random() < 0.35:
        found.append({"id": "b", "at": r.randint(1, brokers), "events": _some(r, events)})
    return [a | {"unadvertises": r.random() < 0.2} for a in found]


def _subscriptions(
    r: random.Random, brokers: int, events: range, counts: tuple[int, ...], again: bool
) -> list[dict[str, Any]]:
    found = []
    for rank, s in enumerate("STU"[: r.choice(counts)]):
        widest = rank == 0
        client = {"id": s, "at": r.randint(1, brokers), "events": list(events) if widest else _some(r, events)}
        client["unsubscribes"] = r.random() < (0.9 if widest else 0.4)
        if again and client["unsubscribes"] and r.random() < 0.3:
            client["again"] = r.randint(1, brokers)
        found.append(client)
    r.shuffle(found)
    return found


def _pruning(r: random.Random, brokers: int) -> dict[str, Any]:
    policy = r.choice(("incremental", "selective"))
    readings: dict[str, Any] = {"cuts": r.choice(([0, 1], [0, 1], [1, 2], [0, 2]))}
    if r.random() < 0.4:
        readings["thresholds"] = [50, 100] if policy == "incremental" else [50]
    if policy == "selective" and r.random() < 0.3:
        readings["fewest"] = r.choice((0, 2))
    readings |= {name: r.choice(values) for name, values in READINGS.items() if r.random() < 0.25}
    congestion = [{"at": r.randint(1, brokers)}] if r.random() < 0.3 else []
    return {"policy": policy, "pruning": readings, "congestion": congestion}


def _faulty(r: random.Random, brokers: int) -> dict[str, Any]:
    faults = {kind: r.choice((1, 1, 2)) for kind in ("loss", "duplicate", "reorder", "crash") if r.random() < 0.3}
    return {"policy": r.choice(POLICIES), "faults": faults}


def _migration(r: random.Random, brokers: int) -> dict[str, Any]:
    """One move or two, of the first publisher, and any mixture of readings."""
    moves = [{"publisher": "a", "to": r.randint(1, brokers)} for _ in range(r.choice((1, 1, 2)))]
    readings: dict[str, Any] = {name: value for name, value in MOVING.items() if r.random() < 0.25}
    readings |= {"refuses": [r.randint(1, brokers)]} if r.random() < 0.2 else {}
    return {"policy": r.choice(POLICIES), "migration": {"moves": moves, **readings}}


def _trees(r: random.Random, brokers: int) -> dict[str, Any]:
    """One switch or two between spanning trees of two or three brokers, and any mixture of readings."""
    links = [[1, 2], [2, 3], [1, 3]] if brokers == 3 else [[1, 2]]

    def strategy() -> list[list[list[int]]]:
        return [r.sample(links, brokers - 1) for _ in range(r.choice((1, 1, 2)))]

    readings: dict[str, Any] = {name: r.choice(values) for name, values in SWITCHING.items() if r.random() < 0.25}
    strategies = [strategy() for _ in range(r.choice((2, 2, 2, 2, 3)))]
    return {"policy": "none", "trees": {"links": links, "strategies": strategies, **readings}}


def _clustered(r: random.Random, table: dict[str, Any]) -> None:
    """Draws the clusters, and leaves out clients: two would seldom be searched."""
    if r.random() < 0.85:
        table["subscription"] = [s | {"unsubscribes": r.random() < 0.3} for s in table["subscription"][:1]]
        table["publication"] = table["publication"][:1]
        table["advertisement"] = [
            {**a, "unadvertises": False}
            for a in table["advertisement"]
            if a["id"] in {p["of"] for p in table["publication"]}
        ]
    for s in table["subscription"]:
        s["clusters"] = [
            sorted(r.sample(range(1, len(trees) + 1), r.choice((1, 1, len(trees)))))
            for trees in table["trees"]["strategies"]
        ]


OWN = {"routing": _faulty, "pruning": _pruning, "migration": _migration, "trees": _trees}
