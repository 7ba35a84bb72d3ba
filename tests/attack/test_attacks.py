"""Attacks of every kind: a short run of each every day, the same one, and thousands of each in a campaign."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from tests.attack.case import KINDS, Kind
from tests.attack.instances import EXTREMES, extreme
from tests.attack.known import KNOWN
from tests.checker.command import TOP, environment
from tests.model.malformed import GOOD

SEED = 0

SHARD = 500
"""Cases that a process of a campaign plays."""

MUST_COME_OF_IT: dict[str, set[str]] = {
    "instances": {"exit 1", "exit 2", "exit 3"},
    "options": {"exit 0", "exit 2", "exit 3"},
    "traces": {"exit 0", "exit 1", "exit 2", "exit 3"},
    "containers": {"exit 0", "exit 2", "exit 3"},
    "checkpoints": {"exit 2"},
    "frames": {"withstood"},
    "disks": {"exit 0", "exit 2"},
    "interrupts": {"exit 130"},
    "signals": {"exit 130", "exit -9"},
    "starts": set(),
}
"""Outcomes that the daily cases have, or they are none that show anything."""


@frozen
class Played:
    """What a process that played cases said."""

    code: int
    failures: list[dict[str, Any]]
    outcomes: set[str]
    begun: int
    noise: str

    @property
    def why(self) -> str:
        again = "\n".join(json.dumps(failure)[:1500] for failure in self.failures)
        return f"exit code {self.code}, begun with case {self.begun}\n{again}\n{self.noise[-3000:]}"


def played(kind: Kind, seed: int, first: int, count: int, seconds: float) -> Played:
    argv = [sys.executable, "-m", "tests.attack", kind.name, str(seed), str(first), str(count)]
    try:
        done = subprocess.run(
            argv,
            cwd=TOP,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=seconds,
        )
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, out, err = -1, error.stdout or b"", b"no end\n" + (error.stderr or b"")
    said = [json.loads(line) for line in out.decode().splitlines()]
    return Played(
        code,
        [row for row in said if row.get("complaints")],
        {outcome for row in said for outcome in row.get("outcomes", ())},
        max((row["begun"] for row in said if "begun" in row), default=-1),
        err.decode("utf-8", "replace"),
    )


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_daily(kind: Kind) -> None:
    found = played(kind, SEED, 0, kind.daily, kind.seconds)
    assert (found.code, found.noise, found.failures) == (0, "", []), found.why
    assert found.outcomes >= MUST_COME_OF_IT[kind.name]


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("kind", "first"),
    [
        pytest.param(kind, first, id=f"{kind.name}-{first}")
        for kind in KINDS.values()
        for first in range(0, kind.campaign, SHARD)
    ],
)
def test_campaign(kind: Kind, first: int) -> None:
    found = played(kind, SEED + 1, first, min(SHARD, kind.campaign - first), 3600)
    assert (found.code, found.noise, found.failures) == (0, "", []), found.why


def test_no_defect_is_known_and_left() -> None:
    """An entry is for the days between an attack that finds a defect and its mending."""
    assert KNOWN == ()


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_a_case_is_drawn_from_its_number_alone(kind: Kind) -> None:
    for number in range(5):
        assert kind.case(SEED, number).about == kind.case(SEED, number).about


@pytest.mark.parametrize("about", EXTREMES)
def test_an_extreme_instance_is_refused_in_a_line(about: str, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    found = extreme(about, GOOD).play(tmp_path / "here")
    assert (found.outcome, found.complaints) == ("exit 2", [])
