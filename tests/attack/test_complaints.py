"""The judges of attacks can say no: each complaint, of a command that deserves it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from routeproof.checker.system.errors import UsageError
from tests.attack import command, interrupts, signals, sources, warm
from tests.attack.case import KINDS
from tests.attack.checkpoints import SEARCHES, _saved, other_result
from tests.attack.command import Command, Ran
from tests.attack.damage import line
from tests.attack.printed import UNSAFE, json_complaints, mermaid_complaints, text_complaints, xml_complaints
from tests.attack.signals import MARK, complaints_of_end, left_running, running_with
from tests.attack.verdicts import is_consistent, too_good
from tests.checker.command import environment

Main = Callable[[Sequence[str]], int]


def _crash(_: Sequence[str]) -> int:
    raise RuntimeError


def _hang(_: Sequence[str]) -> int:
    time.sleep(30)
    return 0


def _hold(_: Sequence[str]) -> int:
    return 0 if len(bytearray(2 * SMALL).replace(b"x", b"")) else 1


SMALL = 100 << 20
"""Memory that a command may need, where one needs more."""


STOP = threading.Event()


@pytest.fixture(autouse=True)
def _stop_threads() -> Iterator[None]:
    """A thread that a command left runs until the test has looked at it, however slow the machine is."""
    STOP.clear()
    yield
    STOP.set()


def _thread(_: Sequence[str]) -> int:
    threading.Thread(target=STOP.wait, args=(60,)).start()
    return 0


def _temporary(_: Sequence[str]) -> int:
    import tempfile

    tempfile.mkstemp()
    return 0


def _print(text: str, code: int = 0, *, err: bool = False) -> Main:
    def main(_: Sequence[str]) -> int:
        (sys.stderr if err else sys.stdout).write(text)
        return code

    return main


def _write(name: str, text: str) -> Main:
    def main(_: Sequence[str]) -> int:
        Path(name).write_text(text)
        return 0

    return main


@pytest.mark.parametrize(
    ("main", "complaint"),
    [
        (_crash, "RuntimeError"),
        (_hang, "no end within 1 s"),
        (_hold, "needed"),
        (_thread, "threads are left"),
        (_temporary, "'temporary-.*' is left"),
        (_print("", 7), "exit code 7"),
        (_print("", 2), "refused without a line"),
        (_print("routeproof: a\nb\n", 2, err=True), "2 lines on standard error"),
        (_print("Traceback\n", 3, err=True), "a traceback"),
        (_print("\x1b[2J"), "is printed as it is"),
        (_print("\u202e"), "is printed as it is"),
        (_print("::warning file=a\n"), "no annotation"),
        (_write("in.jsonl", "x"), "was changed"),
        (_write("other", "x"), "'other' is left"),
        (_write("r.part", "x"), "'r.part' is left"),
        (_write("r.json", '{"a": NaN}'), "not JSON"),
        (_write("r.json", '{"a": "\\ud800"}'), "not JSON"),
    ],
)
def test_complaint(main: Main, complaint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "main", main)
    if main is _hold:
        monkeypatch.setattr(command, "MEMORY", SMALL)
    case = Command("", ("check", "--json", "r.json"), {"in.jsonl": b""}, ("r.*",), seconds=1 if main is _hang else 20)
    assert any(re.search(complaint, each) for each in case.play(tmp_path).complaints)


def test_nothing_to_complain_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "main", _write("r.json", "{}"))
    assert Command("", ("check", "--json", "r.json"), {"in": b""}, ("r.*",)).play(tmp_path).complaints == []


def test_formats() -> None:
    assert list(xml_complaints("", b"<a><b></a>"))
    assert list(xml_complaints("", b"<a>\x1b</a>"))
    assert not list(xml_complaints("", b"<a>b</a>"))
    assert list(mermaid_complaints("", b"sequenceDiagram\n    Note over b1: <script>\n"))
    assert list(mermaid_complaints("", b"sequenceDiagram\nend\n"))
    assert not list(mermaid_complaints("", b"sequenceDiagram\n    participant b1\n    b1->>b2: sub(s) #35;\n"))
    assert list(json_complaints("", b'{"a": 1'))
    assert list(text_complaints("", b"\xff"))
    assert not UNSAFE.search("routeproof: 42 états, ≥ 1\n")


def _report(verdict: str, **more: object) -> bytes:
    return line(
        {"reports": [{"verdict": verdict, "level": "exact", "bad_lines": 0, "unjudged": [], "remarks": [], **more}]}
    )


def test_verdicts_that_are_too_good(tmp_path: Path) -> None:
    rows = sources._run("star4", "active", 1)
    at = next(at for at, row in enumerate(rows) if row.get("event") == "deliver")
    (tmp_path / "t.jsonl").write_bytes(b"".join(map(line, rows[:at] + rows[at + 1 :])))

    def complaints(report: bytes, code: int = 0, *, wrong: bool = False) -> list[str]:
        (tmp_path / "r.json").write_bytes(report)
        return list(too_good(Ran(tmp_path, (), code, b"", b""), rows, wrong=wrong))

    assert "instead of" in complaints(_report("accepted"))[0]
    assert "without a remark" in complaints(_report("accepted", level="observable"), wrong=True)[0]
    assert "could not be read" in complaints(_report("accepted", bad_lines=1, remarks=["x"]))[0]
    assert "exit code 0 for rejected" in complaints(_report("rejected"))[0]
    assert complaints(_report("accepted", remarks=["times are missing"])) == []
    assert complaints(_report("rejected"), 1, wrong=True) == []
    header = {**rows[0], "observes": ["client", "receive", "deliver"]}
    (tmp_path / "t.jsonl").write_bytes(b"".join(map(line, [header, *rows[1:at], *rows[at + 1 :]])))
    assert complaints(_report("accepted"), wrong=True) == []  # sends are not told
    (tmp_path / "t.jsonl").write_bytes(b"".join(map(line, rows)))
    assert complaints(_report("accepted")) == []


def test_clocks() -> None:
    rows = sources._run("star4", "active", 1)[1:]
    assert is_consistent(rows)
    assert not is_consistent([*rows[:5], {**rows[5], "time": 1}, *rows[6:]]) or rows[5]["time"] == 1
    assert not is_consistent([*rows[:-1], {**rows[-1], "time": 0}])
    assert not is_consistent([{key: each for key, each in rows[0].items() if key != "time"}, *rows[1:]])


def test_another_result_of_a_checkpoint(tmp_path: Path) -> None:
    saved = _saved(SEARCHES[0], 60)
    (tmp_path / "r.json").write_bytes(line({"results": []}))
    assert list(other_result(Ran(tmp_path, (), 0, b"", b""), saved))
    (tmp_path / "r.json").write_bytes(line(saved.result))
    assert not list(other_result(Ran(tmp_path, (), 0, b"", b""), saved))
    assert list(other_result(Ran(tmp_path, (), 2, b"", b""), saved))


def test_processes_that_are_left() -> None:
    left = subprocess.Popen(
        [sys.executable, "-c", "input()"], env=environment(**{MARK: "this test"}), stdin=subprocess.PIPE
    )
    try:
        assert running_with("this test", -1) == [left.pid]
    finally:
        left.kill()
        left.communicate()
    assert running_with("this test", -1) == []


def test_processes_of_a_session_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "SECONDS", 0.1)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as left:
        assert left_running(lambda: running_with("no mark", left.pid)) == [f"still running after 0.1 s: [{left.pid}]"]
        assert left.wait() == -signal.SIGKILL
    assert left_running(lambda: running_with("no mark", left.pid)) == []


def test_ends_after_a_signal(tmp_path: Path) -> None:
    (temporary := tmp_path / "temporary-1").mkdir()

    def said(code: int, number: signal.Signals | None, err: bytes = b"") -> list[str]:
        return list(complaints_of_end(Ran(tmp_path, ("show",), code, b"", err), frozenset({0}), number, temporary))

    assert [said(code, signal.SIGINT) for code in (0, 3, 130, -2)] == [[]] * 4
    assert said(143, signal.SIGTERM, b"routeproof: ended by SIGTERM\n") == []
    assert "exit code 143" in said(143, signal.SIGINT)[0]
    assert "exit code 130" in said(130, None)[0]
    assert "on standard error" in said(130, signal.SIGINT, b"Traceback\n")[0]
    assert "on standard error" in said(130, signal.SIGINT, b"one\ntwo\n")[0]
    (temporary / "routeproof-workers-1").mkdir()
    (tmp_path / "r.json.part").touch()
    (tmp_path / ".tcp-1").mkdir()
    left = " ".join(said(130, signal.SIGINT))
    assert "'r.json.part' is left" in left
    assert "'.tcp-1' is left" in left
    assert "'routeproof-workers-1' is left in" in left
    assert said(-9, signal.SIGKILL) == []


def test_a_forked_command_is_a_process_of_its_own(tmp_path: Path) -> None:
    forked = warm.run(("list", "rules"), tmp_path, environment(), spawns=False)
    assert os.getsid(forked.number) == forked.number
    assert forked.code(60) == 0
    assert b"RTE-1" in (tmp_path / "out.log").read_bytes()
    forked = warm.run(("run", "stock", "--out", "out"), tmp_path, environment(), spawns=False)
    assert forked.code(0.1) is None
    os.kill(forked.number, signal.SIGTERM)
    assert forked.code(60) == 143
    assert (tmp_path / "err.log").read_bytes() == b"routeproof: ended by SIGTERM\n"


def test_a_search_after_signals_with_another_result_is_complained_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(signals, "_uninterrupted", lambda _: "something else")
    shot = signals.Shot(signal.SIGINT, 0.5, to_all=True)
    complaints = signals.Interrupted(signals.WORKS[0], (shot, shot), spawns=False).play(tmp_path).complaints
    assert complaints == ["taken up again, the search has another result than without a signal"]


def test_a_refusal_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A whole command that refuses as it should."""

    def refuse(_: list[str]) -> int:
        raise UsageError("no such thing\n\x1b")

    monkeypatch.setattr("routeproof.checker.cli._dispatch", refuse)
    played = Command("", ("check",)).play(tmp_path)
    assert played.outcome == "exit 2"


def test_an_interrupted_search_with_another_result_is_complained_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cases = [KINDS["interrupts"].case(0, number) for number in range(6)]
    searching = next(case for case in cases if case.about.startswith("tiny"))
    seconds = {search: interrupts._uninterrupted(search)[0] for search in SEARCHES}
    monkeypatch.setattr(interrupts, "_uninterrupted", lambda search: (seconds[search], "something else"))
    complaints = searching.play(tmp_path).complaints
    assert any("another result than without an interrupt" in each for each in complaints)
