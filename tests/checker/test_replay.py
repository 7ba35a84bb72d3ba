"""Counterexamples reproduce; one that was changed, or never was one, is told apart in one line."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.counterexamples import NotEnabled, replay, replay_file
from routeproof.checker.counterexamples.record import write_counterexample
from routeproof.checker.counterexamples.show import FORMATS, show
from routeproof.checker.instances import find
from routeproof.checker.system.errors import UsageError
from routeproof.model.protocols import world
from tests.checker.hunt import ALL, Prey, hunt

REMOVALS_FIRST = Prey("line3", "active", "removals-first", "NoLostDelivery")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_counterexample(*hunt(REMOVALS_FIRST), tmp_path_factory.mktemp("traces"))


def _edited(recorded: Path, directory: Path, edit: Callable[[list[Row]], object]) -> Path:
    rows = [json.loads(line) for line in recorded.read_text().splitlines()]
    edit(rows)
    path = directory / "edited.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("prey", ALL, ids=str)
def test_reproduces(tmp_path: Path, prey: Prey) -> None:
    hunted, finding = hunt(prey)
    replayed = replay_file(write_counterexample(hunted, finding, tmp_path))
    assert replayed.reproduces, replayed.difference
    again = replayed.counterexample.world
    assert (again.instance, again.policy, again.mutant) == (hunted.instance, hunted.policy, hunted.mutant)
    assert replayed.counterexample.run == finding.run == tuple(step.action.label for step in replayed.steps)
    assert len(replayed.violations) == len(replayed.steps) + 1


# -- what differs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            lambda rows: rows[0].update(mutant=None),
            "event 12: recorded 12 b1 send b2 unsub(s1); now 12 b1 send b2 sub(S)",
        ),
        (lambda rows: rows.pop(), "recorded nothing more; now 18 b2 receive b3 pub(p)"),
        (lambda rows: rows.append(rows[-1]), "; now nothing more"),
        (lambda rows: rows[3].update(broker="b9"), "event 3: recorded 3 b9 client client-s1 sub(s1)"),
        (lambda rows: rows[1]["message"].update(filter=[0, 1]), "event 1: recorded"),
        (lambda rows: rows[0]["actions"].insert(0, "deliver 3>2"), 'step 1: "deliver 3>2" cannot happen here'),
        (lambda rows: rows[0]["actions"].append("publish(p)"), "it has been done before"),
        (lambda rows: rows[0]["actions"].append("dance"), 'step 11: "dance" is no action of this instance'),
        (lambda rows: rows[0]["violation"].update(property="NoDuplicate"), "after step 10: recorded NoDuplicate"),
        (lambda rows: rows[0]["violation"].update(property="PropagationTree"), "recorded PropagationTree"),
        (lambda rows: rows[0].update(overlay=[["b1", "b2"]]), "header: overlay: recorded"),
        (lambda rows: rows[0].update(dialect="events"), "header: dialect: recorded events; now strict"),
        (lambda rows: rows[2].update(event="teleport"), 'line 3: recorded what cannot be read; now "event": found'),
        (
            lambda rows: rows[2].update(time=9),
            "event 2: recorded 2 b3 send b2 adv(a); now 2 b3 send b2 adv(a), with an",
        ),
        # The first difference counts, also if a later action cannot happen.
        (
            lambda rows: (rows[1]["message"].update(filter=[0, 1]), rows[0]["actions"].append("dance")),
            "step 1, event 1: recorded 1 b3 client client-a adv(a); now 1 b3 client client-a adv(a), with another",
        ),
    ],
)
def test_differs(recorded: Path, tmp_path: Path, edit: Callable[[list[Row]], object], said: str) -> None:
    replayed = replay_file(_edited(recorded, tmp_path, edit))
    assert not replayed.reproduces
    assert said in str(replayed.difference)


def test_how_the_reason_is_worded_does_not_matter(recorded: Path, tmp_path: Path) -> None:
    edited = _edited(recorded, tmp_path, lambda rows: rows[0]["violation"].update(why="in other words"))
    assert replay_file(edited).reproduces


def test_a_witness_that_is_not_reached(recorded: Path, tmp_path: Path) -> None:
    def edit(rows: list[Row]) -> None:
        del rows[0]["violation"]
        rows[0]["witness"] = {"property": "SomeDelivery"}

    assert "recorded SomeDelivery reached; now it is not" in str(
        replay_file(_edited(recorded, tmp_path, edit)).difference
    )


# -- runs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instance", "run", "said"),
    [
        ("tiny", ["deliver 1>2"], 'step 1: "deliver 1>2" cannot happen here: the link is empty'),
        ("tiny", ["advertise(a)", "advertise(a)"], "step 2: .* it has been done before"),
        ("tiny", ["publish(p)"], "what must come before it has not been done"),
        ("tiny", ["deliver 1>3"], 'step 1: "deliver 1>3" is no action of this instance'),
        ("tiny", ["loss 1>2"], "is no action of this instance"),
        (
            "loss2",
            ["advertise(a)", "loss 2>1", "subscribe(S)", "loss 2>1"],
            "step 4: .* no fault of the kind loss is left",
        ),
        ("loss2", ["advertise(a)", "loss 2>1", "advertise(b)"], "no action of this instance"),
        ("crash3", ["crash 1"], "the broker knows nothing yet, or no crash is left"),
        ("reorder3", ["advertise(a)", "reorder 3>2"], "no two different messages at its head"),
    ],
)
def test_the_first_action_that_is_not_enabled_is_named(instance: str, run: list[str], said: str) -> None:
    with pytest.raises(NotEnabled, match=said):
        replay(world(find(instance)), run)


# -- junk --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda rows: (rows[0].pop("actions"), rows[0].pop("violation")), "a recorded run, and no counterexample"),
        (lambda rows: rows[0].pop("instance"), '"instance": found null; expected an object'),
        (lambda rows: rows[0].pop("actions"), '"actions" is missing; expected a list'),
        (lambda rows: rows[0].update(actions="advertise(a)"), "expected a list"),
        (lambda rows: rows[0].update(actions=[1]), "found 1; expected a string"),
        (lambda rows: rows[0].update(actions=["x"] * 10_001), "found 10001 entries"),
        (lambda rows: rows[0].update(policy="sometimes"), "no policy is called"),
        (lambda rows: rows[0].update(mutant="no-such"), "no mutant is called"),
        (lambda rows: rows[0].update(mutant=7), "found 7; expected a string"),
        (lambda rows: rows[0].update(violation=[]), "found a list; expected an object"),
        (lambda rows: rows[0]["violation"].update(property="Perfect"), "no property is called"),
        (lambda rows: rows[0]["instance"].update(overlay=[[1, 2], [2, 1]]), "instance"),
        (lambda rows: rows[0]["instance"].update(protocol="pruning"), "instance"),
        (lambda rows: rows.clear(), "the file is empty"),
    ],
)
def test_what_is_no_counterexample(
    recorded: Path, tmp_path: Path, edit: Callable[[list[Row]], object], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        replay_file(_edited(recorded, tmp_path, edit))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path, Path("a\0b"), tmp_path / "line\nbreak"):
        with pytest.raises(UsageError) as caught:
            replay_file(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(300))
def test_damaged_files_are_usage_errors_or_differences(recorded: Path, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(_damaged(recorded.read_bytes(), random.Random(seed)))
    attempts: list[Callable[[Path], object]] = [replay_file, *(partial(show, format=name) for name in FORMATS)]
    for attempt in attempts:
        said = ""
        try:
            attempt(path)
        except UsageError as error:
            said = str(error)
        assert "\n" not in said


def _damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, lines cut, swapped and doubled, values of other types, most of all in the header."""
    match rng.randrange(4):
        case 0:
            mutable = bytearray(data)
            for _ in range(rng.randint(1, 8)):
                mutable[rng.randrange(len(mutable))] = rng.randrange(256)
            return bytes(mutable)
        case 1:
            return data[rng.randrange(len(data)) :] if rng.random() < 0.3 else data[: rng.randrange(len(data))]
        case 2:
            lines = data.splitlines(keepends=True)
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i : i + rng.randint(1, 3)] = rng.choice([[], [lines[j]], [lines[j], lines[i]]])
            return b"".join(lines)
    rows = [json.loads(line) for line in data.splitlines()]
    for _ in range(rng.randint(1, 3)):
        _retype(rows[0] if rng.random() < 0.7 else rng.choice(rows), rng)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _retype(value: Any, rng: random.Random) -> None:
    """Put a value of some type somewhere inside a JSON value."""
    odd: list[Any] = [None, True, -1, 0, 1.5, 10**30, "", "b1", "\x1b[2J\n", "x" * 5000, [], [[]], {}, {"id": "a"}]
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and rng.random() < 0.7:
            value = value[key]
            continue
        if rng.random() < 0.2:
            del value[key]
        else:
            value[key] = rng.choice(odd)
        return
