"""Signals that end a command: the interrupt (SIGINT), SIGTERM and SIGHUP, all three alike.

While a command starts, a signal ends it at once: nothing is there that could be lost. From `raising` on, a signal
raises `Interrupted` wherever the main thread is, and the command ends with what is there. Within `noted` it raises
nothing: code that must not be torn asks at its own pace whether one came. Signals that come after the first one change
nothing for `GRACE` seconds, in which the command cleans up; after that the next one ends the process where it is.

The command line imports this module before everything else, so it imports little itself.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that end a command. Others keep their meaning."""

GRACE = 10.0
"""Seconds that a command has to clean up before the next signal ends it where it is."""

SHELL = 128
"""The exit code of a command that a signal ended is this number and the signal's, as shells have it."""

AGAIN = 0.05
"""Seconds after which a signal is raised again that Python swallowed (in a destructor, or a callback of one)."""


class Interrupted(KeyboardInterrupt):
    """A signal came that ends the command."""


class _Ear:
    """Signals that one command received, and the effect that a signal has now."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.at = 0.0
        self.react: Callable[[], object] = _end_at_once

    def __call__(self, number: int, _frame: object) -> None:
        if self.first is not None:
            if time.monotonic() - self.at > GRACE:
                os._exit(SHELL + number)
            return
        self.first, self.at = number, time.monotonic()
        self.react()


_ears: list[_Ear] = []
"""The ear of the command that this process runs, if it runs one."""


@contextmanager
def listening(*, until_exit: bool) -> Iterator[None]:
    """Hears the signals for one command. A signal that is ignored (`nohup`) stays ignored.

    `until_exit`: the process ends with this command, so afterwards a signal may end it as the system does.
    """
    ear = _Ear()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    hook = sys.unraisablehook
    _ears.append(ear)
    try:
        with suppress(ValueError):  # only the main thread hears signals
            for number, handler in before.items():
                if handler is not signal.SIG_IGN:
                    signal.signal(number, ear)
            sys.unraisablehook = partial(_not_swallowed, hook, ear)
        yield
    finally:
        _ears.remove(ear)
        if not (until_exit and ear.first is not None):
            sys.unraisablehook = hook
        with suppress(ValueError, TypeError):  # TypeError: a handler that Python did not install
            for number, handler in before.items():
                if handler is not signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL if until_exit else handler)


def raising() -> None:
    """From here on a signal raises `Interrupted` instead of ending the process."""
    if _ears:
        _ears[-1].react = _raise


@contextmanager
def noted(react: Callable[[], object] | None = None) -> Iterator[Callable[[], bool]]:
    """In this block a signal raises nothing; the function given tells whether one came. `react` is called when it does.

    Where no command listens (in a test, or where the package is used as a library), the interrupt is noted here.
    """
    if _ears:
        ear = _ears[-1]
        before, ear.react = ear.react, react or _nothing
        try:
            yield lambda: ear.first is not None
        finally:
            ear.react = before
        return
    came: list[int] = []

    def note(number: int, _frame: object) -> None:
        came.append(number)
        if react is not None and len(came) == 1:
            react()

    try:
        handler = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread, which alone hears signals
        yield lambda: False
        return
    try:
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def held() -> Iterator[None]:
    """Puts off to the end of this block what a signal does that comes in it."""
    if not _ears:
        yield
        return
    ear = _ears[-1]
    before, ear.react, had = ear.react, _nothing, ear.first is not None
    try:
        yield
    finally:
        ear.react = before
        if ear.first is not None and not had:
            before()


def came() -> bool:
    """True if a signal has come that ends the present command."""
    return bool(_ears) and _ears[-1].first is not None


def exit_code() -> int:
    """The exit code of a command that was interrupted: 130, or 143 and 129 for SIGTERM and SIGHUP."""
    return SHELL + (_number() or signal.SIGINT)


def what_came() -> str:
    """The signal in words, for the one line on standard error."""
    number = _number() or signal.SIGINT
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


def _number() -> int | None:
    return _ears[-1].first if _ears else None


def _end_at_once() -> None:
    with suppress(OSError):
        os.write(2, f"routeproof: {what_came()}\n".encode())
    os._exit(exit_code())


def _raise() -> None:
    raise Interrupted


def _nothing() -> None:
    pass


def _not_swallowed(
    usual: Callable[[sys.UnraisableHookArgs], object], ear: _Ear, unraisable: sys.UnraisableHookArgs
) -> None:
    """Python prints and drops what a destructor raises; an interrupt must be neither printed nor dropped.

    After a signal nothing else is printed: an object that was being made has no more than a part of what its destructor
    needs.
    """
    if unraisable.exc_type is MemoryError:
        return  # what was raised where it could be tells of it
    if not isinstance(unraisable.exc_value, Interrupted):
        if ear.first is None:
            usual(unraisable)
        return
    import threading

    timer = threading.Timer(AGAIN, _once_more)
    timer.daemon = True  # a command that has ended does not wait for it
    timer.start()


def _once_more() -> None:
    import _thread

    if _ears and (number := _ears[-1].first) is not None:
        _ears[-1].first = None
        _thread.interrupt_main(signal.Signals(number))
