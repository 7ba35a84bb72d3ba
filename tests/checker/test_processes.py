"""Answers of several processes: in order, and nothing is left of who asks no further."""

import multiprocessing
import signal
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.system.interrupts import Interrupted, listening, raising
from routeproof.checker.system.processes import in_processes

OTHERS = 3


def late(number: int) -> int:
    """The first ones at once; the others when nobody waits any more."""
    time.sleep(0 if number < OTHERS else 60)
    return number


def test_answers_come_in_order() -> None:
    assert list(in_processes(abs, [-3, 2, -1], 2)) == [3, 2, 1]


@pytest.mark.parametrize(("module", "name"), [("tempfile", "mkdtemp"), ("shutil", "rmtree")])
def test_a_signal_while_a_directory_is_made_or_removed_leaves_none(
    module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = getattr(import_module(module), name)

    def signalled(*args: Any, **options: Any) -> Any:
        if name == "rmtree":
            signal.raise_signal(signal.SIGTERM)
        result = usual(*args, **options)
        if name == "mkdtemp":
            signal.raise_signal(signal.SIGTERM)
        return result

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(f"routeproof.checker.system.processes.{module}.{name}", signalled)
    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted):
            list(in_processes(abs, [-1], 1))
    assert list(tmp_path.iterdir()) == []


def test_who_asks_no_further_leaves_nothing_behind() -> None:
    """Neither a process nor a thread, which would stumble when the interpreter ends."""
    before = set(threading.enumerate())
    answers = in_processes(late, range(OTHERS + 4), 2)
    assert [next(answers) for _ in range(OTHERS)] == [0, 1, 2]
    assert multiprocessing.active_children()
    begun = time.monotonic()
    answers.close()
    assert set(threading.enumerate()) == before
    assert not multiprocessing.active_children()
    assert time.monotonic() - begun < 30
