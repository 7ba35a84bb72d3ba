"""Answers of several processes: in order, and nothing is left of who asks no further."""

import multiprocessing
import os
import signal
import threading
import time
from functools import partial
from importlib import import_module
from multiprocessing.context import SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.system.errors import Undetermined
from routeproof.checker.system.interrupts import Interrupted, listening, raising
from routeproof.checker.system.processes import crew, in_processes

OTHERS = 3


def late(number: int) -> int:
    """The first ones at once; the others when nobody waits any more."""
    time.sleep(0 if number < OTHERS else 60)
    return number


def test_answers_come_in_order() -> None:
    assert list(in_processes(abs, [-3, 2, -1], 2)) == [3, 2, 1]


def test_several_calls_at_a_time_here_and_in_workers() -> None:
    """In the same processes each time; an exception of one is raised here."""
    with crew(1) as made:
        first = made([os.getpid, os.getpid])
        assert made([os.getpid, os.getpid]) == first
        assert first[0] == os.getpid() != first[1]
        with pytest.raises(ValueError, match="invalid literal"):
            made([os.getpid, partial(int, "no number")])


def test_a_worker_that_dies_among_several_calls() -> None:
    with pytest.raises(Undetermined, match="a worker process died"), crew(1) as made:
        made([os.getpid, partial(os._exit, 1)])


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


def test_a_signal_that_another_thread_receives_does_not_leave_a_worker_half_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker would find no word of what it is to do, and print a traceback."""
    usual, begun = SpawnProcess._Popen, []

    def received() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    def signalled(process: BaseProcess) -> object:
        other = threading.Thread(target=received)
        other.start()
        other.join()
        made = usual(process)
        begun.append(made)
        return made

    monkeypatch.setattr(SpawnProcess, "_Popen", staticmethod(signalled))
    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted):
            list(in_processes(abs, [-1], 1))
    assert len(begun) == 1
    assert not multiprocessing.active_children()


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
