"""Signals that end a command: at once while it starts, raised in its work, noted where nothing may be torn."""

import gc
import os
import signal
import sys

import pytest

from routeproof.checker.system import interrupts
from routeproof.checker.system.interrupts import Interrupted, held, listening, noted, raising


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", interrupts.SIGNALS)
def test_a_signal_is_raised_in_the_work(number: int) -> None:
    before = signal.getsignal(number)
    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted):
            send(number)
        assert interrupts.exit_code() == 128 + number
        send(number)  # a second one changes nothing while the command cleans up
    assert signal.getsignal(number) == before


def test_a_signal_is_noted_where_nothing_may_be_torn() -> None:
    with listening(until_exit=False):
        raising()
        with noted() as came:
            assert not came()
            send(signal.SIGTERM)
            assert came()
        assert interrupts.exit_code() == 143


def test_a_signal_is_held_until_something_is_done() -> None:
    done = []

    def hold() -> None:
        with held():
            send(signal.SIGTERM)
            done.append("all of it")

    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted):
            hold()
        hold()  # it came before
    assert done == ["all of it", "all of it"]
    with listening(until_exit=False):
        raising()
        with noted() as came, held():  # not raised where nothing may be torn
            send(signal.SIGTERM)
        assert came()


def test_an_interrupt_is_noted_where_no_command_runs() -> None:
    before = signal.getsignal(signal.SIGINT)
    with noted() as came:
        assert not came()
        send(signal.SIGINT)
        assert came()
    assert signal.getsignal(signal.SIGINT) == before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with listening(until_exit=True):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            send(signal.SIGHUP)
            assert not interrupts.came()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        for number, handler in ((signal.SIGHUP, before), *((n, signal.SIG_DFL) for n in interrupts.SIGNALS[1:2])):
            signal.signal(number, handler)
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Swallows:
    def __del__(self) -> None:
        send(signal.SIGINT)
        for _ in range(1000):  # the handler runs in here
            pass


def wait_for_what_a_destructor_swallows() -> None:
    doomed = Swallows()
    del doomed
    signal.sigtimedwait([], 5)


def test_a_signal_that_a_destructor_swallows_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted):
            wait_for_what_a_destructor_swallows()
    assert capsys.readouterr().err == ""


def test_what_garbage_of_others_raises_is_told_to_who_listened_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier test may leave garbage that is collected while a command runs, and raises: a traceback of the command
    it would seem, where pytest knows whose it is."""

    class Garbage:
        def __del__(self) -> None:
            raise ResourceWarning("unclosed")

    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))
    with listening(until_exit=False):
        Garbage()
    assert (told, capsys.readouterr().err) == ([ResourceWarning], "")


def test_what_half_made_objects_raise_after_a_signal_is_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An object whose making a signal ended lacks what its destructor needs."""

    class HalfMade:
        def __init__(self) -> None:
            send(signal.SIGINT)
            self.owner = True

        def __del__(self) -> None:
            assert self.owner

    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))
    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted):
            HalfMade()
        gc.collect()
    assert (told, capsys.readouterr().err) == ([], "")
