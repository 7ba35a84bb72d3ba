"""A real limit of memory, reached before the work or in the midst of it: one line and exit code 3."""

import json
import resource
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from routeproof.checker.system.interrupts import Interrupted, listening, raising
from routeproof.checker.system.memory import watched
from tests.checker.command import COMMAND, TOP, Ran, environment

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux holds a process to RLIMIT_AS")

SAMPLE = str(TOP / "traces" / "samples" / "star4-active.jsonl")

TOO_LITTLE = (
    ("check tiny", 120),
    (f"validate {SAMPLE}", 120),
    (f"validate {SAMPLE} --metrics m", 300),
    ("prove MeaningAsWritten", 200),
    ("run stock --scale 0.0001 --out out", 300),
    ("bench explore", 300),
)
"""Commands with MB of address space in which libraries would end the process in ways of their own."""


def test_a_signal_while_the_watcher_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, begun = threading.Thread.start, list[threading.Thread]()

    def signalled(thread: threading.Thread) -> None:
        signal.raise_signal(signal.SIGTERM)
        usual(thread)
        begun.append(thread)

    monkeypatch.setattr("routeproof.checker.system.memory.address_space_left", lambda: 1 << 40)
    monkeypatch.setattr(threading.Thread, "start", signalled)
    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted), watched():
            pass
    assert [thread.is_alive() for thread in begun] == [False]


def limited(words: str, room: int, here: Path) -> Ran:
    ran = subprocess.run(
        [*COMMAND, *words.split()],
        cwd=here,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (room << 20, room << 20)),
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize(("words", "room"), TOO_LITTLE)
def test_there_is_no_room_to_begin(words: str, room: int, tmp_path: Path) -> None:
    ran = limited(words, room, tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"routeproof: out of memory: {words.split(maxsplit=1)[0]} needs ")
    assert ran.err.count("\n") == 1


WORK = (
    ("run controlled --scale 1 --out out", 480),
    pytest.param("run zipf --scale 1 --out out", 480, marks=pytest.mark.campaign),
    ("validate large.jsonl", 200),
)
"""Commands that have room to begin, and whose work has not."""


@pytest.mark.parametrize(("words", "room"), WORK)
def test_the_work_has_no_room(words: str, room: int, tmp_path: Path) -> None:
    write_large(tmp_path / "large.jsonl")
    ran = limited(words, room, tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("routeproof: out of memory")
    assert ran.err.count("\n") == 1


def test_a_search_ends_before_the_limit_does(tmp_path: Path) -> None:
    """It has room for its report and its checkpoint."""
    ran = limited("check two4 --policy none --workers 1 --checkpoint c", 300, tmp_path)
    assert (ran.code, ran.err) == (3, "")
    assert "memory" in ran.out
    assert (tmp_path / "c").exists()


def write_large(path: Path) -> None:
    """Writes a trace of which more must be kept than there is room for."""
    head = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "overlay": [["b1", "b2"]]}
    head |= {"dialect": "strict", "observes": ["client", "receive", "send", "deliver"]}
    with path.open("w", encoding="ascii") as file:
        file.write(json.dumps(head) + "\n")
        for n in range(1, SUBSCRIPTIONS):
            said = {"kind": "subscribe", "id": f"{n:0500}", "filter": [["x", ">", n]]}
            file.write(json.dumps({"broker": "b1", "seq": n, "event": "client", "peer": "c", "message": said}) + "\n")


SUBSCRIPTIONS = 30_000
