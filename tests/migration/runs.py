"""Recorded runs of publishers that move, and corruptions of them."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from routeproof.checker.counterexamples.record import record
from routeproof.checker.instances import find
from routeproof.model.protocols import world

Row = dict[str, Any]

SELDOM = 0.25
"""Weight of operations against deliveries: moves that come too early are not made."""


def run_of(name: str, policy: str, seed: int, mutant: str | None = None) -> list[Row]:
    """A run to its end, in an order of chance."""
    asked, draw = world(find(name), policy, mutant), random.Random(seed)
    state, labels = asked.initial(), list[str]()
    while steps := list(asked.steps(state)):
        [step] = draw.choices(steps, [1 if each.action.operation is None else SELDOM for each in steps])
        labels.append(step.action.label)
        state = step.state
    rows: list[Row] = json.loads(json.dumps(record(asked, labels, None)))
    return rows


def write(rows: list[Row], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _find(rows: list[Row], event: str, kind: str) -> Row | None:
    return next((r for r in rows[1:] if r["event"] == event and r["message"]["kind"] == kind), None)


def leaves_out(event: str, kind: str) -> Callable[[list[Row]], bool]:
    def spoil(rows: list[Row]) -> bool:
        row = _find(rows, event, kind)
        if row is not None:
            rows.remove(row)
        return row is not None

    return spoil


def changes(event: str, kind: str, key: str, value: Any) -> Callable[[list[Row]], bool]:
    def spoil(rows: list[Row]) -> bool:
        row = _find(rows, event, kind)
        if row is None:
            return False
        (row if key in row else row["message"])[key] = value
        return True

    return spoil


def says_twice(kind: str) -> Callable[[list[Row]], bool]:
    def spoil(rows: list[Row]) -> bool:
        row = _find(rows, "send", kind)
        if row is None:
            return False
        for each in rows[1:]:
            each["seq"] *= 2
        rows.insert(rows.index(row) + 1, {**row, "seq": row["seq"] + 1})
        return True

    return spoil


def _releases_late(rows: list[Row]) -> bool:
    """What was held back goes to the target behind the farewell: another order at the publisher."""
    farewell = _find(rows, "send", "leave")
    if farewell is None:
        return False
    i = rows.index(farewell)
    before = rows[i - 1]
    if before["event"] != "send" or before["message"]["kind"] != "publish" or before["broker"] != farewell["broker"]:
        return False
    before["peer"] = farewell["peer"]
    return True


CORRUPTIONS: dict[str, tuple[Callable[[list[Row]], bool], str]] = {
    "the pause not sent": (leaves_out("send", "pause"), "MIG-1"),
    "the mark not sent": (leaves_out("send", "flushed"), "MIG-1"),
    "the update not passed on": (leaves_out("send", "update"), "MIG-13"),
    "the completion not passed on": (leaves_out("send", "complete"), "MIG-12"),
    "the publisher not resumed": (leaves_out("send", "resume"), "MIG-14"),
    "the withdrawal behind the completion left out": (leaves_out("send", "unsubscribe-many"), "MIG-14"),
    "the farewell not sent": (leaves_out("send", "leave"), "MIG-8"),
    "a path altered on the way": (changes("receive", "update", "path", [1, 2]), "TRC-3"),
    "a completion sent twice": (says_twice("complete"), "MIG-12"),
    "a kind that the protocol does not have": (changes("send", "resume", "kind", "restart"), "MIG-14"),
    "a message where no channel is": (changes("send", "pause", "peer", "b2"), "MIG-1"),
    "what was held back sent to the source": (_releases_late, "MIG-8"),
    "a delivery lost": (leaves_out("deliver", "publish"), "RTE-5"),
}
"""Functions that change a run of `move3` where they can, each with a rule among the rejections."""
