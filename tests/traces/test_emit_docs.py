"""What `docs/howto/emit-traces.md` tells people to write is right: its examples run, and what they write is a trace.

`REWRITE_GOLDEN=1` writes what its commands print into the page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from routeproof.traces import EVENTS, read_trace
from routeproof.traces.messages import SHORT
from tests.traces.test_schema import problems

PATH = Path(__file__).resolve().parents[2] / "docs" / "howto" / "emit-traces.md"
PAGE = PATH.read_text(encoding="utf-8")
TEXT = re.compile(r"^```text\n\$ (?P<command>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
REWRITE = bool(os.environ.get("REWRITE_GOLDEN"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def run_python(folder: Path) -> Path:
    (code,) = blocks("python")
    subprocess.run([sys.executable, "-I", "-c", code], cwd=folder, check=True)
    return folder / "example.jsonl"


def rows(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_python_writes_is_a_trace(tmp_path: Path) -> None:
    path = run_python(tmp_path)
    trace = read_trace(path)
    assert not trace.bad
    assert len(trace.events) == 10
    assert {event.event for event in trace.events} == set(trace.header.observes)
    assert [problem for row in rows(path) for problem in problems(row)] == []


@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK here: nothing to compile the Java example with")
def test_java_writes_the_same(tmp_path: Path) -> None:
    (code,) = blocks("java")
    (tmp_path / "Example.java").write_text(code, encoding="utf-8")
    quick = ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-Xshare:auto"]
    subprocess.run(["javac", *quick, "-Xlint:all", "-Werror", "Example.java"], cwd=tmp_path, check=True)
    subprocess.run(["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "Example"], cwd=tmp_path, check=True)
    (tmp_path / "python").mkdir()
    assert (tmp_path / "example.jsonl").read_bytes() == run_python(tmp_path / "python").read_bytes()


def test_lines_that_are_shown_are_lines(tmp_path: Path) -> None:
    header, *others = [line for block in blocks("jsonl") for line in block.splitlines()]
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join([header, *others]) + "\n", encoding="utf-8")
    trace = read_trace(path)
    assert not trace.bad
    kinds = ["client", "receive", "client", "receive", "client", "snapshot", "receive", "receive", "client", "client"]
    assert [event.event for event in trace.events] == kinds
    assert [problem for row in rows(path) for problem in problems(row)] == []


def test_commands_print_what_is_shown(tmp_path: Path) -> None:
    run_python(tmp_path)

    def output(block: re.Match[str]) -> str:
        name, *arguments = block["command"].split()
        command = [str(Path(sys.executable).parent / name), *arguments]
        environment = {**os.environ, "COLUMNS": "100"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return f"```text\n$ {block['command']}\n{done.stdout}```"

    written = TEXT.sub(output, PAGE)
    assert len(TEXT.findall(PAGE)) == 2
    if REWRITE:
        PATH.write_text(written, encoding="utf-8")
    else:
        assert without_times(written) == without_times(PAGE)


def without_times(page: str) -> str:
    return re.sub(r"\b\d+\.\d s\b", "_ s", page)


def test_every_kind_is_named() -> None:
    for word in (*EVENTS, *SHORT):
        assert f"`{word}`" in PAGE or word == "note" or f'"{word}"' in PAGE, word
