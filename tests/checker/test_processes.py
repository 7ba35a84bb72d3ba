"""Answers of several processes: in order, and nothing is left of who asks no further."""

import multiprocessing
import threading
import time

from routeproof.checker.system.processes import in_processes

OTHERS = 3


def late(number: int) -> int:
    """The first ones at once; the others when nobody waits any more."""
    time.sleep(0 if number < OTHERS else 60)
    return number


def test_answers_come_in_order() -> None:
    assert list(in_processes(abs, [-3, 2, -1], 2)) == [3, 2, 1]


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
