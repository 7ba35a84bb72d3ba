"""Results that cannot be written: the verdict and the report come first, and nothing half-written stays."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from routeproof.checker.system.terminal import say
from tests.checker.command import Here


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file gets longer than some bytes: a write fails as it does on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def left(here: Here) -> list[str]:
    return sorted(str(file.relative_to(here.directory)) for file in here.directory.rglob("*") if file.is_file())


FAILING = ("check", "line3", "--policy", "active", "--mutant", "removals-first", "--workers", 1)


def test_a_failure_is_reported_whose_trace_cannot_be_written(here: Here) -> None:
    with full_disk():
        ran = here(*FAILING)
    assert ran.code == 1
    assert "FAILS: NoLostDelivery in line3 under active" in ran.out
    assert "routeproof show" not in ran.out
    assert ran.err.startswith("routeproof: traces/found")
    assert ran.err.endswith(": cannot be written: File too large\n")
    assert left(here) == []


def test_a_failure_is_reported_whose_report_cannot_be_written(here: Here) -> None:
    with full_disk():
        ran = here(*FAILING, "--json", "r.json", "--junit", "r.xml")
    assert ran.code == 1
    assert "FAILS: NoLostDelivery in line3 under active" in ran.out
    for name in ("r.json", "r.xml"):
        assert f"routeproof: {name}: cannot be written: File too large\n" in ran.err
    assert left(here) == []


def test_what_holds_is_no_success_where_its_report_cannot_be_written(here: Here) -> None:
    with full_disk():
        ran = here("check", "tiny", "--workers", 1, "--json", "r.json")
    assert (ran.code, ran.err) == (2, "routeproof: r.json: cannot be written: File too large\n")
    assert "\nPASS: " in ran.out
    assert left(here) == []


def test_the_json_has_the_exit_code_of_a_trace_that_is_missing(here: Here) -> None:
    with full_disk():
        ran = here("check", "loss2", "--workers", 1, "--traces", "t", "--json", "-")
    assert (ran.code, json.loads(ran.out)["exit"]) == (2, 2)
    assert left(here) == []


def test_a_directory_that_vanishes(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    (here.directory / "reports").mkdir()

    def vanishing(text: str, **_: object) -> None:
        (here.directory / "reports").rmdir()
        say(text)

    monkeypatch.setattr("routeproof.checker.cli.check.say", vanishing)
    ran = here("check", "tiny", "--policy", "none", "--json", "reports/r.json")
    assert (ran.code, ran.err) == (2, "routeproof: reports/r.json: cannot be written: No such file or directory\n")


def test_the_fuzzer_reports_what_it_cannot_write(here: Here) -> None:
    with full_disk():
        ran = here(*FAILING, "--engine", "fuzz", "--seed", 1)
    assert ran.code == 1
    assert "FAILS: " in ran.out
    assert ran.err.endswith(": cannot be written: File too large\n")


def test_a_simulation_reports_what_it_cannot_write(here: Here) -> None:
    with full_disk():
        ran = here("run", "stock", "--scale", 0.001, "--out", "out")
    assert ran.code == 2
    assert "delivered " in ran.out
    assert "routeproof: out/summary.json: cannot be written: File too large\n" in ran.err
    assert left(here) == []


def test_a_trace_is_judged_whose_reports_cannot_be_written(here: Here) -> None:
    assert here("run", "stock", "--scale", 0.001, "--trace", "--out", "out").code == 0
    ran = here("validate", "out/trace.jsonl", "--metrics", "m", "--json", "r.json")
    assert ran.code == 0
    for name in ("m/metrics.parquet", "m/delays.parquet", "r.json"):
        (here.directory / name).unlink()
    wanted = left(here)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
        patch.setattr("os.fsync", full)
        ran = here("validate", "out/trace.jsonl", "--metrics", "m", "--json", "r.json")
    assert ran.code == 2
    assert ": accepted at level equivalent" in ran.out
    assert ran.err.splitlines() == [
        f"routeproof: {name}: cannot be written: No space left on device" for name in ("m", "r.json")
    ]
    assert left(here) == wanted


def test_standard_output_that_is_full(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("out").open("w") as out, full_disk():
        monkeypatch.setattr("sys.stdout", out)
        ran = here(*FAILING)
    assert ran.code == 1
    assert "routeproof: standard output: cannot be written: File too large\n" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        "check tiny --traces /proc/self",
        "check tiny --json /proc/self/r.json",
        "run stock --out /proc/self/out",
        "reproduce 000-fig9 --out /proc/self",
        "prove NumbersCover --traces /proc/self",
        "bench explore --json /proc/self/b.json",
    ],
)
def test_a_directory_that_takes_no_files_is_refused_before_work(here: Here, words: str) -> None:
    """Also to a user who may write everywhere else."""
    ran = here(*words.split())
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "/proc/self" in ran.err


@pytest.mark.parametrize("second", ["r", "./r", "link"])
def test_two_results_in_one_file_are_refused_before_work_starts(here: Here, second: str) -> None:
    (here.directory / "link").symlink_to("r")
    ran = here("check", "tiny", "--json", "r", "--junit", second)
    assert ran.code == 2
    assert ran.err == f"routeproof: {Path(second)}: --json and --junit name the same file; give each its own\n"
    assert not ran.out
    assert not (here.directory / "r").exists()
    assert here("check", "tiny", "--policy", "active", "--workers", "1", "--json", "-", "--checkpoint", "r").code == 0
