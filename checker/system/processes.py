"""Work in several processes: one way for every command.

`as_done` gives answers as they come, each with its place; `in_processes` gives them in order. Worker processes are
spawned, not forked, so it works alike on every system. No answer depends on how many workers there are.

Signals are for the parent, which decides for all: workers are deaf to those that end a command. They end when they are
no longer wanted, and when their parent is gone, however it went. What they put into temporary files goes with them.

`collecting_rarely` keeps Python's collector of cycles away: judging and simulating millions of events makes no cycles.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeAlias, TypeVar

from attrs import define

from routeproof.checker.system.errors import Undetermined
from routeproof.checker.system.interrupts import SIGNALS, held

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Together: TypeAlias = Callable[[Sequence[Callable[[], Any]]], list[Any]]
"""Makes calls at the same time, and returns their answers in order."""


def in_processes(
    do: Callable[[Asked], Answer], asked: Sequence[Asked], workers: int, advice: str = ""
) -> Generator[Answer, None, None]:
    """The answers in order. `advice` is what else may help where a process dies, besides fewer of them."""
    early: dict[int, Answer] = {}
    following = 0
    for place, answer in as_done(do, asked, workers, advice):
        early[place] = answer
        while following in early:
            yield early.pop(following)
            following += 1


def as_done(
    do: Callable[[Asked], Answer],
    asked: Sequence[Asked],
    workers: int,
    advice: str = "",
    news: Callable[[Any], None] | None = None,
) -> Generator[tuple[int, Answer], None, None]:
    """Yields each answer with the index of its question, as it arrives. `news` gets what workers `tell` meanwhile."""
    waiting = iter(enumerate(asked))
    crew: list[_Worker] = []
    _crews.append(crew)
    with _scratch() as scratch:
        try:
            for _ in range(min(workers, len(asked))):
                _begin(crew, do, scratch, wants_news=news is not None)
            busy = {each.line: each for each in crew if each.take(waiting)}
            while busy:
                for line in wait(list(busy)):
                    worker = busy[line]  # type: ignore[index]  # only lines are waited for
                    kind, content = worker.line.recv()
                    if kind == "news":
                        if news is not None:
                            news(content)
                        continue
                    if kind == "raised":
                        raise content
                    place = worker.place
                    if not worker.take(waiting):
                        del busy[worker.line]
                    yield place, content
        except (EOFError, ConnectionError):
            raise _died(advice) from None
        finally:
            _end(crew)
            _crews.remove(crew)


@contextmanager
def crew(workers: int, advice: str = "") -> Iterator[Together]:
    """Yields what makes several calls at the same time, as often as it is asked to: the first here, each other one in a
    worker, of which there are so many."""
    members: list[_Worker] = []
    _crews.append(members)

    def made(calls: Sequence[Callable[[], Any]]) -> list[Any]:
        for member, call in zip(members, calls[1:], strict=False):
            member.line.send(call)
        answers = [calls[0]()]
        for member, _ in zip(members, calls[1:], strict=True):
            kind, content = member.line.recv()
            if kind == "raised":
                raise content
            answers.append(content)
        return answers

    with _scratch() as scratch:
        try:
            for _ in range(workers):
                _begin(members, _called, scratch, wants_news=False)
            yield made
        except (EOFError, ConnectionError):
            raise _died(advice) from None
        finally:
            _end(members)
            _crews.remove(members)


def _called(call: Callable[[], Any]) -> Any:
    return call()


def _died(advice: str) -> Undetermined:
    return Undetermined(f"a worker process died, most likely for want of memory; try --workers 1{advice}")


def tell(news: object) -> None:
    """In a worker: tells the parent how far the work is, if it wants to know."""
    if _parent:
        _parent[0].send(("news", news))


# -- in the parent -----------------------------------------------------------------------------------------------------


@define(eq=False)
class _Worker:
    process: BaseProcess
    line: Connection
    place: int = -1
    """The place in the sequence of what the worker does now."""

    def take(self, waiting: Iterator[tuple[int, object]]) -> bool:
        """Hands the next piece of work to the worker; false if there is none left."""
        for self.place, each in waiting:
            self.line.send(each)
            return True
        return False


def _begin(crew: list[_Worker], do: Callable[[Any], Any], scratch: str | None, *, wants_news: bool) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, do, scratch, wants_news))
    with _deaf():
        resource_tracker.ensure_running()  # it would lift the block below when it starts
    # Held as well: a thread that does not block signals may receive one, which is then raised in this one.
    with theirs, held(), _deaf():
        process.start()
        crew.append(_Worker(process, ours))


@contextmanager
def _deaf() -> Iterator[None]:
    """A process that is started in this block never hears the signals that end a command, not even while it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(crew: list[_Worker]) -> None:
    """Ends the workers, whatever they are doing."""
    for worker in crew:
        worker.process.kill()
    for worker in crew:
        worker.process.join()
        worker.line.close()


_crews: list[list[_Worker]] = []
"""The workers of each sequence of answers that is not at its end."""


@atexit.register
def _end_all() -> None:
    """Python waits for processes when it exits, also for those of a sequence that was given up halfway."""
    for crew in _crews:
        _end(crew)


@contextmanager
def _scratch() -> Iterator[str | None]:
    """A directory for the temporary files of workers that are killed; None where none can be made."""
    directory = None
    try:
        with held(), suppress(OSError):
            directory = tempfile.mkdtemp(prefix="routeproof-workers-")
        yield directory
    finally:
        if directory is not None:
            with held():
                shutil.rmtree(directory, ignore_errors=True)


# -- in a worker -------------------------------------------------------------------------------------------------------

_parent: list[Connection] = []
"""In a worker: the line to the parent, if it wants news."""


def _work(line: Connection, do: Callable[[Any], Any], scratch: str | None, wants_news: bool) -> None:
    threading.Thread(target=_end_with_parent, args=(scratch,), daemon=True).start()
    if scratch is not None:
        tempfile.tempdir = scratch
    if wants_news:
        _parent.append(line)
    try:
        while True:
            line.send(_answer(do, line.recv()))
    except (EOFError, ConnectionError):
        return  # the parent wants no more
    except MemoryError:  # not even the answer has room; the parent sees that this worker is gone, and says so
        os._exit(1)


def _answer(do: Callable[[Any], Any], each: object) -> tuple[str, Any]:
    try:
        return "answer", do(each)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent raises it
        text = traceback.format_exc()
        try:
            error.add_note(f"in a worker process:\n{text}")
            pickle.loads(pickle.dumps(error))
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - an exception that cannot be pickled is sent as text
            return "raised", RuntimeError(text)
        return "raised", error


def _end_with_parent(scratch: str | None) -> None:
    """Ends this worker with its parent: nothing waits for what it would find out."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        os._exit(1)


THRESHOLDS = (200_000, 20, 20)


@contextmanager
def collecting_rarely() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
