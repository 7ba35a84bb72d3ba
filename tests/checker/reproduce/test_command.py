"""`routeproof reproduce` as a user meets it: what it writes and prints, what it refuses, and what a kill leaves."""

import csv
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from routeproof.checker.experiments import experiments
from tests.checker.command import COMMAND, Here, environment

TINY = ("--scale", "0.0001", "--workers", "1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def test_it_leaves_a_folder_for_each_and_an_index(here: Here) -> None:
    ran = here("reproduce", "001-fig10", "000-fig9", *TINY, "--out", "new/out")
    assert (ran.code, ran.err) == (0, "")
    assert all(len(line) <= 100 for line in ran.out.splitlines())
    out = here.directory / "new/out"
    assert {path.name for path in out.iterdir()} == {"README.md", "001-fig10", "000-fig9"}
    index = (out / "README.md").read_text(encoding="utf-8")
    for name in ("001-fig10", "000-fig9"):
        report = (out / name / "report.md").read_text(encoding="utf-8")
        with (out / name / "comparison.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        assert all(f"| {row[0]} | {row[1]} |" in report and f"| {row[0]} | {row[1]} |" in index for row in rows)
        assert f"({name}/report.md)" in index
        assert f"{name} ({experiments()[name].figure}), scale 0.0001, seed 0" in ran.out
        charts = {path.name for path in (out / name).glob("*.svg")}
        assert charts
        assert all(f"]({chart})" in report for chart in charts)


def test_a_run_is_the_same_again(here: Here) -> None:
    for out in ("one", "two"):
        here("reproduce", "000-fig10", *TINY, "--seed", 5, "--out", out)
    for path in sorted((here.directory / "one/000-fig10").iterdir()):
        assert path.read_bytes() == (here.directory / "two/000-fig10" / path.name).read_bytes(), path.name


def test_experiments_are_listed(here: Here) -> None:
    rows = json.loads(here("list", "experiments", "--json").out)["experiments"]
    assert [row["id"] for row in rows] == list(experiments())
    assert all(row["figure"] and row["about"] and row["assumptions"] for row in rows)


MISTAKES = [
    ("reproduce 000-fig5", 'no experiment is called "000-fig5" (did you mean'),
    ("reproduce nothing --out x", 'no experiment is called "nothing"; see: routeproof list experiments'),
    ("reproduce --full --scale 0.1 --out x", "--full is --scale 1; give one of them"),
    ("reproduce --scale 0 --out x", 'argument --scale: found "0"; expected a number above 0 and up to 10'),
    ("reproduce --scale nan --out x", 'argument --scale: found "nan"'),
    ("reproduce --scale big --out x", 'argument --scale: found "big"'),
    ("reproduce --seed -1 --out x", "argument --seed"),
    ("reproduce --workers 0 --out x", "argument --workers"),
    ("reproduce 001-fig10 --out file", "file: is no directory; expected one for the results"),
    ("reproduce 001-fig10 --out file/below", "file: is no directory; expected one for the results"),
    ("reproduce 001-fig10 --out locked/out", "locked: may not be written; expected a directory for the results"),
    ("reproduce 001-fig10 --out x --fulll", "unrecognized arguments: --fulll"),
]


@pytest.mark.parametrize(("words", "expected"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_mistake(here: Here, monkeypatch: pytest.MonkeyPatch, words: str, expected: str) -> None:
    here.write("file", "")
    (here.directory / "locked").mkdir()
    access = os.access  # the tests may run as a user who may write everywhere
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked" and access(path, mode))
    ran = here(*words.split())
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert expected in ran.err
    assert not (here.directory / "x").exists()


def test_what_a_kill_left_is_cleared_away_by_the_next_run(here: Here) -> None:
    for name in (".001-fig10.17.part", ".000-fig6.17.old", ".mine", "001-fig7.part"):
        (here.directory / "out" / name).mkdir(parents=True)
    assert here("reproduce", "001-fig10", *TINY, "--out", "out").code == 0
    left = {path.name for path in (here.directory / "out").iterdir()}
    assert left == {"README.md", "001-fig10", ".mine", "001-fig7.part"}


def children(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def until(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks the kernel of Linux for a process's children")
def test_a_kill_leaves_whole_reports_and_no_process(tmp_path: Path) -> None:
    """The first experiment is done when the kill comes, and the second has minutes to go."""
    words = ("reproduce", "001-fig10", "000-fig6", "--scale", "0.0001", "--workers", "2", "--out", "out")
    long = COMMAND + [word if word != "0.0001" else "0.005" for word in words]
    out = tmp_path / "out"
    with subprocess.Popen(long, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL) as process:
        assert until((out / "001-fig10").exists)
        workers = children(process.pid)
        assert workers
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert "000-fig6" not in {path.name for path in out.iterdir()}
    report = (out / "001-fig10/report.md").read_text(encoding="utf-8")
    assert report.endswith(".svg)\n")
    assert {"comparison.csv", "series.csv"} <= {path.name for path in (out / "001-fig10").iterdir()}
    assert until(lambda: not any(Path(f"/proc/{pid}/task").exists() for pid in workers))
