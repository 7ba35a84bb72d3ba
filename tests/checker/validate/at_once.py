"""What the tests of judging many publications at once share: a trace of the simulator, what can be wrong with how it
passes publications on, and how it is judged event by event."""

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from routeproof.checker.cli import main
from routeproof.checker.validate import Level, Report, clients, link_rows, validate
from routeproof.checker.validate.broker import bulk, columns
from routeproof.checker.validate.clients.judge import CLIENTS, SAID
from routeproof.checker.validate.store import Store
from tests.checker.validate.walks import Row

Change: TypeAlias = str | Callable[[Row, random.Random], None]
"""What happens to an event: it is lost, doubled or moved, or says something else."""

MANY = 1 << 30


def recorded(out: Path) -> list[Row]:
    assert main(["run", "stock", "--scale", "0.005", "--trace", "--out", str(out)]) == 0
    return [json.loads(line) for line in (out / "trace.jsonl").read_text().splitlines()]


def of_numbers() -> list[Row]:
    """Publications that are numbers: of a broker with a publisher and a subscriber, and of its neighbour with the
    same."""
    header = {
        "routeproof": 1,
        "run": "r",
        "protocol": "routing",
        "policy": "active",
        "overlay": [["b1", "b2"]],
        "observes": ["client", "receive", "send", "deliver"],
    }
    a, b = ({"kind": "advertise", "id": id, "filter": [0, 1, 2]} for id in "ab")
    s, t = ({"kind": "subscribe", "id": id, "filter": [0, 1]} for id in "st")
    told: list[Row] = [
        {"event": "client", "peer": "c", "message": s},
        {"event": "client", "peer": "c", "message": a},
        {"event": "send", "peer": "b2", "message": a},
        {"event": "receive", "peer": "b2", "message": b},
        {"event": "send", "peer": "b2", "message": s},
        {"event": "receive", "peer": "b2", "message": t},
    ]
    for number in range(100):
        of = "ab"[number % 2]
        said = {"kind": "publish", "id": f"p{number}", "of": of, "event": number % 3}
        told.append(
            {"event": "client" if of == "a" else "receive", "peer": "c" if of == "a" else "b2", "message": said}
        )
        if number % 3 < 2:
            told.append({"event": "deliver", "peer": "c", "message": {**said, "to": "s"}})
            if of == "a":
                told.append({"event": "send", "peer": "b2", "message": said})
    return [header, *({"broker": "b1", "seq": n, **row} for n, row in enumerate(told))]


def one_by_one(path: Path, level: Level = "exact") -> Report:
    """The report where nothing is judged at once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(columns, "WORTH", MANY)
        patched.setattr(bulk, "WORTH", MANY)
        return validate(path, level)


def set_aside(path: Path) -> dict[tuple[str, ...], list[object]]:
    """Row by row: links in their order, and what clients did and got in any."""
    found: dict[tuple[str, ...], list[object]] = {}
    put = Store.put

    def noted(store: Store, key: tuple[str, ...], block: bytes) -> None:
        put(store, key, block)
        if key[1] == "link":
            found.setdefault(key, []).extend(link_rows.rows(block).tolist())
        elif key[1] in (SAID, CLIENTS):
            read = clients.block_of(block)
            found.setdefault(key, []).extend((*read.operations, *read.published, *read.delivered))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "put", noted)
        assert validate(path).verdict == "accepted"
    return {key: those if key[1] == "link" else sorted(those, key=repr) for key, those in found.items()}


def retimed(row: Row, rng: random.Random) -> None:
    row["time"] = rng.choice((0, row["time"] // 2, row["time"] * 2))


def renamed(row: Row, rng: random.Random) -> None:
    row["message"]["id"] = rng.choice(("other", "p00000001"))


def otherwise(row: Row, rng: random.Random) -> None:
    row["message"]["attributes"]["volume"] = rng.choice((1, 10**30, "many"))


def otherwhere(row: Row, rng: random.Random) -> None:
    row["peer"] = rng.choice(("b1", "b2", "b63", "nobody"))


def to_another(row: Row, rng: random.Random) -> None:
    row["message"]["to"] = rng.choice(("s00000001", "nobody"))


def bare(row: Row, rng: random.Random) -> None:
    row["message"].pop(rng.choice(("attributes", "of", "to")), None)


def another_kind(row: Row, rng: random.Random) -> None:
    row["event"] = rng.choice(("receive", "send", "deliver", "client", "drop", "note"))


def early(row: Row, rng: random.Random) -> None:
    row["seq"] = max(0, row["seq"] - rng.randint(1, 3))


def of_another_run(row: Row, rng: random.Random) -> None:
    row["run"] = "another"


def broken(row: Row, rng: random.Random) -> None:
    row["message"]["attributes"] = {"volume": {"of": "what"}}


CHANGES = (
    *(retimed, renamed, otherwise, otherwhere, to_another, bare, another_kind, early, of_another_run, broken),
    *("lose", "double", "swap"),
)


def name_of(change: Change) -> str:
    return change if isinstance(change, str) else change.__name__


def with_changes(rows: list[Row], change: Change, rng: random.Random) -> list[Row]:
    """The same trace, but for one event or three."""
    some = ("deliver",) if change is to_another else ("client", "receive", "send", "deliver")
    publications = [n for n, row in enumerate(rows) if n and row["message"]["kind"] == "publish"]
    publications = [n for n in publications if rows[n]["event"] in some]
    spoilt = list(rows)
    for at in sorted(rng.sample(publications, rng.choice((1, 1, 3))), reverse=True):
        if not isinstance(change, str):
            spoilt[at] = copy.deepcopy(spoilt[at])
            change(spoilt[at], rng)
        elif change == "lose":
            del spoilt[at]
        elif change == "double":
            spoilt.insert(at, spoilt[at])
        else:
            after = next((n for n in range(at + 1, len(rows)) if rows[n]["broker"] == rows[at]["broker"]), at)
            spoilt[at], spoilt[after] = spoilt[after], spoilt[at]
    return spoilt
