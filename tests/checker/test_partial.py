"""`validate`, `bench` and `reproduce` show on a terminal what they do, and keep what was done when they are ended."""

import io
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker import validate
from routeproof.checker.cli import experiments
from routeproof.checker.experiments import bench
from routeproof.checker.system import terminal
from routeproof.checker.validate import Report
from routeproof.traces import TraceError
from tests.checker.command import Here, Ran

INTERRUPTED = "routeproof: interrupted\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def interrupt() -> None:
    """An interrupt from outside, and time for it to be heard."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)


# -- validate ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def traces(here: Here) -> list[str]:
    assert here("run", "stock", "--scale", "0.001", "--trace", "--out", "t").code == 0
    good = (here.directory / "t" / "trace.jsonl").read_text()
    lines = good.splitlines(keepends=True)
    lines.remove(next(line for line in lines if '"deliver"' in line and "observes" not in line))
    wrong = "".join(lines)
    for name, text in (("good", good), ("wrong", wrong), ("last", good)):
        here.write(f"{name}.jsonl", text)
    return ["good.jsonl", "wrong.jsonl", "last.jsonl"]


def at_the_last(monkeypatch: pytest.MonkeyPatch, do: Callable[[], None]) -> None:
    """Does something when the trace `last.jsonl` is to be judged."""
    timed = validate._timed

    def ended(judge: Any, path: Path, setting: Any) -> Report:
        if path.name == "last.jsonl":
            do()
        return timed(judge, path, setting)

    monkeypatch.setattr(validate, "_timed", ended)


def test_reports_of_traces_judged_so_far(here: Here, traces: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    at_the_last(monkeypatch, interrupt)
    good, wrong, last = traces
    ran = here("validate", good, last, "--json", "r.json")
    assert (ran.code, ran.err) == (130, INTERRUPTED)
    assert ran.out.startswith("good.jsonl: accepted at level equivalent\n")
    assert ran.out.endswith("\nnot judged: last.jsonl\n")
    report = json.loads((here.directory / "r.json").read_text())
    assert [each["verdict"] for each in report["reports"]] == ["accepted"]
    assert report["left"] == ["last.jsonl"]
    ran = here("validate", wrong, last)
    assert (ran.code, ran.err) == (1, INTERRUPTED), "what is rejected stays rejected"
    ran = here("validate", last, good, "--json", "none.json")
    assert ran == Ran(130, "", INTERRUPTED)
    assert not (here.directory / "none.json").exists()


def test_an_error_in_one_trace_leaves_the_reports_of_the_others(
    here: Here, traces: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise TraceError("last.jsonl: it is cut short")

    at_the_last(monkeypatch, broken)
    ran = here("validate", *traces[::2])
    assert (ran.code, ran.err) == (2, "routeproof: last.jsonl: it is cut short\n")
    assert ran.out.startswith("good.jsonl: accepted at level equivalent\n")


def test_the_order_of_traces_is_that_of_the_reports_and_changes_none_of_them(here: Here, traces: list[str]) -> None:
    def reports(*names: str) -> list[dict[str, Any]]:
        found = json.loads(here("validate", *names, "--json", "-").out)["reports"]
        return [{key: value for key, value in each.items() if key != "seconds"} for each in found]

    forward, backward = reports(*traces), reports(*reversed(traces))
    assert [each["trace"] for each in forward] == traces
    assert forward == backward[::-1]
    assert forward[:1] == reports(traces[0])


# -- bench -------------------------------------------------------------------------------------------------------------


def test_rows_measured_so_far(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured() -> Iterator[dict[str, Any]]:
        yield {"instance": "tiny", "policy": "none", "states": 132}
        yield {"instance": "tiny", "policy": "lazy", "states": 133}
        interrupt()

    monkeypatch.setattr(bench, "SUITES", {"explore": measured})
    ran = here("bench", "--json", "b.json")
    assert (ran.code, ran.err) == (130, INTERRUPTED)
    assert ran.out.split()[-6:] == ["tiny", "none", "132", "tiny", "lazy", "133"]
    assert len(json.loads((here.directory / "b.json").read_text())["explore"]) == 2


# -- reproduce ---------------------------------------------------------------------------------------------------------


def test_experiments_finished_so_far(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    written: Callable[..., None] = vars(experiments)["write"]

    def write_and_interrupt(*arguments: Any) -> None:
        written(*arguments)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(experiments, "write", write_and_interrupt)
    ran = here("reproduce", "000-fig9", "000-fig7", "--scale", "0.0002", "--workers", "1", "--out", "out")
    assert (ran.code, ran.err) == (130, INTERRUPTED)
    assert ran.out.startswith("000-fig9")
    assert sorted(path.name for path in (here.directory / "out").iterdir()) == ["000-fig9", "README.md"]
    assert "000-fig7" not in (here.directory / "out" / "README.md").read_text()


# -- progress ----------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("validate good.jsonl wrong.jsonl", "[2/2] wrong.jsonl: 0 s"),
        ("bench", "bench explore, 1 row: 0 s"),
        ("reproduce 000-fig9 --scale 0.0002 --workers 1", "000-fig9: 1 of "),
    ],
)
def test_progress(command: str, shows: str, here: Here, traces: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def measured() -> Iterator[dict[str, Any]]:
        for _ in range(2):
            time.sleep(0.3)
            yield {"instance": "tiny"}

    monkeypatch.setattr(bench, "SUITES", {"explore": measured})
    monkeypatch.setattr(terminal, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(terminal, "REDRAW_SECONDS", 0.0)
    silent = here(*command.split())
    assert silent.err == ""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert here(*command.split()).code == silent.code
    assert shows in screen.getvalue()
    *_, last = screen.getvalue().rstrip("\r").split("\r")
    assert not last.strip(), "blanks over what was there"
