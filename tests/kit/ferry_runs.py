"""Recorded runs of the ferry: operations and deliveries in an order of chance, and corruptions of them."""

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from routeproof.checker.counterexamples.record import record
from routeproof.checker.instances import load
from routeproof.model.protocols import world

Row = dict[str, Any]

NAME = "tests.kit.ferry:FERRY"
SELDOM = 0.1
"""Weight of operations that come late: most publications should be owed, and wait aboard for a while."""

CROSSING = Path(__file__).with_name("crossing.toml")


def run_of(policy: str, seed: int, mutant: str | None = None) -> list[Row]:
    """A run that ends with nothing on a link."""
    rows: list[Row] = json.loads(_recorded(policy, seed, mutant))
    return rows


@cache
def _recorded(policy: str, seed: int, mutant: str | None) -> str:
    """The rows of a run, written: each corruption spoils rows of its own."""
    asked, rng = world(load(CROSSING), policy, mutant), random.Random(seed)
    state, labels = asked.initial(), list[str]()
    while steps := list(asked.steps(state)):
        [step] = rng.choices(steps, [SELDOM if s.action.label.startswith(("pub", "un", "moor")) else 1 for s in steps])
        labels.append(step.action.label)
        state = step.state
    return json.dumps(record(asked, labels, None))


def write(rows: list[Row], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def cargo(rows: list[Row], event: str) -> Row | None:
    """The first message `open` with something aboard that was sent, or received."""
    found = (r["message"] for r in rows[1:] if r["event"] == event and r["message"]["kind"] == "open")
    return next((message for message in found if message["items"]), None)


def _with(rows: list[Row], event: str, kind: str) -> Row | None:
    return next((r for r in rows[1:] if r["event"] == event and r["message"]["kind"] == kind), None)


def leaves_cargo(rows: list[Row]) -> bool:
    message = cargo(rows, "send")
    if message is not None:
        message["items"] = []
    return message is not None


def alters_cargo_on_the_way(rows: list[Row]) -> bool:
    message = cargo(rows, "receive")
    if message is not None:
        message["items"][0]["event"] = 1
    return message is not None


def alters_the_voyage(rows: list[Row]) -> bool:
    row = _with(rows, "receive", "moor")
    if row is not None:
        row["message"]["voyage"] += 5
    return row is not None


def says_what_no_registry_knows(rows: list[Row]) -> bool:
    row = _with(rows, "send", "close")
    if row is not None:
        row["message"]["kind"] = "whistle"
    return row is not None


def goes_where_no_channel_is(rows: list[Row]) -> bool:
    row = _with(rows, "send", "close")
    if row is not None:
        row["peer"] = "b2"
    return row is not None


def delivers_something_else(rows: list[Row]) -> bool:
    row = _with(rows, "deliver", "publish")
    if row is not None:
        row["message"]["event"] = 1
    return row is not None


def loses_a_delivery(rows: list[Row]) -> bool:
    row = _with(rows, "deliver", "publish")
    if row is not None:
        rows.remove(row)
    return row is not None


CORRUPTIONS: dict[str, tuple[Callable[[list[Row]], bool], str, str]] = {
    "the cargo left behind": (leaves_cargo, "ferry", "FER-4"),
    "the cargo altered on the way": (alters_cargo_on_the_way, "b1", "TRC-3"),
    "a field of its own altered on the way": (alters_the_voyage, "ferry", "TRC-3"),
    "a kind that the protocol has not": (says_what_no_registry_knows, "ferry", "FER-5"),
    "a message where no channel is": (goes_where_no_channel_is, "ferry", "TRC-2"),
    "a delivery of something else": (delivers_something_else, "", "RTE-5"),
    "a delivery lost": (loses_a_delivery, "", "RTE-5"),
}
"""Functions that change a run where they can, with the broker (empty: any) and a rule among the rejections."""
