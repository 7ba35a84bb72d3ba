"""Results do not depend on hash seed, locale, time zone, workers or order of files; lack of memory is one line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import routeproof.traces
from routeproof.checker.cli import COMMANDS, main
from tests.checker.command import environment

THREADS = "can't start new thread"
NO_ROOM = "out of memory; nothing was decided: give it more, or ask for less at a time"

ELSEWHERE = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "C", "TZ": "Asia/Kathmandu", "LANG": ""},
)

CORPUS = Path(routeproof.traces.__file__).parent / "corpus"
SAMPLES = CORPUS.with_name("samples")

COMMAND_LINES: dict[str, tuple[str, str]] = {
    "run": ("run stock --scale 0.001 --trace --out t",) * 2,
    "check": ("check tiny line3 --json check.json", "check tiny line3 --json check.json --workers 1"),
    "fuzz": ("check tiny --engine fuzz --seed 7 --examples 10 --json fuzz.json",) * 2,
    "prove": ("prove NumbersCover --json prove.json", "prove NumbersCover --json prove.json --workers 1"),
    "validate": ("validate t/trace.jsonl --json validate.json --metrics m",) * 2,
    "validate several": (
        f"validate {SAMPLES}/star4-active.jsonl {SAMPLES}/filter-altered.jsonl --json several.json",
        f"validate {SAMPLES}/filter-altered.jsonl {SAMPLES}/star4-active.jsonl --json several.json",
    ),
    "show a run": (f"show {SAMPLES}/star4-active.jsonl -o run.txt",) * 2,
    "show a counterexample": (f"show {CORPUS}/prop2-under-lazy.jsonl -o case.txt",) * 2,
    "show a diagram": (f"show {CORPUS}/prop2-under-lazy.jsonl --format mermaid -o case.mmd",) * 2,
    "shrink": (f"shrink {CORPUS}/prop2-under-lazy.jsonl -o small.jsonl",) * 2,
}
"""Command lines whose results are compared: as they stand, and with another number of workers or order of files."""

CODES = {0, 1, 3}

MEASURED = {"seconds", "measured"}
"""Keys of reports whose values are times."""

PROCESS = """
import sys
from pathlib import Path
from routeproof.checker.cli import main
from routeproof.traces import to_json_lines, to_parquet

if __name__ == "__main__":
    codes = [main(line.split()) for line in sys.argv[1:]]
    to_parquet(Path("t/trace.jsonl"), Path("trace.parquet"))
    to_json_lines(Path("trace.parquet"), Path("back.jsonl"))
    Path("codes.json").write_text(str(codes))
"""
"""Runs all command lines in one process, which saves their imports; then converts the trace there and back."""


def timeless(value: Any) -> Any:
    """The report without what is measured."""
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items() if key not in MEASURED}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def results(here: Path, which: int) -> dict[str, object]:
    """Every file that the command lines write, by name: the bytes, or what a report says."""
    here.mkdir()
    script = here / "process.py"
    script.write_text(PROCESS)
    lines = [ways[which] for ways in COMMAND_LINES.values()]
    ran = subprocess.run(
        [sys.executable, script, *lines],
        cwd=here,
        env=environment(**ELSEWHERE[which]),
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    return {str(path.relative_to(here)): content(path) for path in sorted(here.rglob("*")) if path.is_file()}


def content(path: Path) -> object:
    if path.suffix != ".json":
        return path.read_bytes()
    found = timeless(json.loads(path.read_bytes()))
    if path.name == "several.json":
        found["reports"].sort(key=json.dumps)  # reports come in the order of the files
    # Text and no table, so that the order of keys counts.
    return json.dumps(found)


def test_results_are_the_same(tmp_path: Path) -> None:
    first, second = (results(tmp_path / str(which), which) for which in range(2))
    assert set(json.loads(str(first["codes.json"]))) <= CODES
    assert len(first) > len(COMMAND_LINES)
    assert [name for name in first if first[name] != second.get(name)] == []
    assert first.keys() == second.keys()
    # Rows of a Parquet file stand broker by broker.
    trace, back = (first[name] for name in ("t/trace.jsonl", "back.jsonl"))
    assert isinstance(trace, bytes)
    assert isinstance(back, bytes)
    assert sorted(trace.splitlines()) == sorted(back.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("error", [MemoryError(), OSError(12, "Cannot allocate memory"), RuntimeError(THREADS)])
def test_out_of_memory_is_one_line(
    command: str, error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_room(_: list[str]) -> int:
        raise error

    monkeypatch.setattr("routeproof.checker.cli._dispatch", without_room)
    assert main([command]) == 3
    assert capsys.readouterr().err == "routeproof: " + NO_ROOM + "\n"
