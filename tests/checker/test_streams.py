"""Traces and instances from standard input and pipes; devices, sockets and directories in their place."""

from __future__ import annotations

import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest
import zstandard

import routeproof.traces
from routeproof.traces import TraceError, to_json_lines, to_parquet
from tests.model.malformed import GOOD

SAMPLES = Path(routeproof.traces.__file__).parent / "samples"
GOOD_TRACE, BAD_TRACE = SAMPLES / "star4-active.jsonl", SAMPLES / "filter-altered.jsonl"


def _run(*argv: object, data: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "routeproof.checker.cli", *map(str, argv)]
    return subprocess.run(
        command, input=data, capture_output=True, timeout=60, check=False, env={**os.environ, **environment}
    )


def _contained(form: str, path: Path, directory: Path) -> bytes:
    data = path.read_bytes()
    if form == "parquet":
        to_parquet(path, directory / "x.parquet")
        return (directory / "x.parquet").read_bytes()
    return {"plain": data, "gzip": gzip.compress(data), "zstd": zstandard.compress(data)}[form]


def _without_numbers(line: str) -> str:
    return re.sub(r"[ (,]*line [0-9]+[)]*|[0-9.]+ s$", "", line)


@cache
def _wanted() -> list[str]:
    """What is found in the file, after the first line."""
    return _run("validate", BAD_TRACE).stdout.decode().splitlines()[1:]


@pytest.mark.parametrize("form", ["plain", "gzip", "zstd", "parquet"])
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_trace_from_standard_input(form: str, name: str, tmp_path: Path) -> None:
    """All that a file gives, with the second look at what was wrong; no copy is left."""
    data = _contained(form, BAD_TRACE, tmp_path)
    folder = tmp_path / "tmp"
    folder.mkdir()
    ran = _run("validate", name, data=data, TMPDIR=str(folder))
    assert ran.returncode == 1
    head, *found = ran.stdout.decode().splitlines()
    assert head == f"{'standard input' if name == '-' else name}: rejected at level equivalent"
    # The numbers of lines and the seconds may differ, and nothing else does.
    assert list(map(_without_numbers, found)) == list(map(_without_numbers, _wanted()))
    assert not list(folder.iterdir())


def test_a_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "routeproof.checker.cli"]
    for rest, code in ((["validate"], 0), (["show"], 0)):
        with subprocess.Popen([*command, *rest, str(pipe)], stdout=subprocess.PIPE) as ran:
            pipe.write_bytes(GOOD_TRACE.read_bytes())
            assert ran.stdout is not None
            assert b"star4-active" in ran.stdout.read() or rest == ["validate"]
            assert ran.wait(60) == code


def test_a_pipe_that_is_not_written_to_can_be_interrupted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "routeproof.checker.cli", "validate", str(tmp_path / "pipe")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as ran:
        time.sleep(3)
        assert ran.poll() is None
        ran.send_signal(signal.SIGINT)
        assert ran.wait(30) in (3, 130)
        assert ran.stderr is not None
        assert b"Traceback" not in ran.stderr.read()


def test_show_and_shrink_from_standard_input(tmp_path: Path) -> None:
    trace = Path(routeproof.traces.__file__).parent / "corpus" / "prop2-under-lazy.jsonl"
    assert _run("show", "-", data=trace.read_bytes()).stdout == _run("show", trace).stdout
    assert _run("shrink", "-", "-o", tmp_path / "small", data=trace.read_bytes()).returncode == 0
    assert b"there is no rejection to keep" in _run("shrink", "-", "-o", "x", data=GOOD_TRACE.read_bytes()).stdout


def test_an_instance_from_standard_input() -> None:
    ran = _run("check", "--instance", "-", data=GOOD.encode())
    assert ran.returncode == 0
    assert b"good" in ran.stdout


@pytest.mark.parametrize("command", [["validate"], ["show"], ["shrink", "-o", "out"], ["check", "--instance"]])
@pytest.mark.parametrize("kind", ["directory", "/dev/null", "/dev/random", "socket"])
def test_what_is_no_file(command: list[str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{short}/s")
        where = {"directory": str(tmp_path), "socket": f"{short}/s"}.get(kind, kind)
        ran = _run(*command, where)
    assert ran.returncode == 2
    assert ran.stderr.count(b"\n") == 1
    assert kind.startswith("/dev") or kind.encode() in ran.stderr or b"not a regular file" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_written_never_takes_the_place_of_a_device_or_a_pipe(tmp_path: Path) -> None:
    """As root, `-o /dev/full` replaced the device by a file."""
    trace = Path(routeproof.traces.__file__).parent / "corpus" / "prop2-under-lazy.jsonl"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reading:
        assert _run("shrink", trace, "-o", pipe).returncode == 0
        assert reading.stdout is not None
        assert reading.stdout.read().startswith(b'{"routeproof": 1')
    for write in (to_parquet, to_json_lines):
        with pytest.raises(TraceError, match="is no regular file"):
            write(GOOD_TRACE, pipe)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_standard_input_without_end_that_is_no_trace() -> None:
    """It is refused when the header ought to be there, and not copied for ever."""
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        command = [sys.executable, "-m", "routeproof.checker.cli", "validate", "-"]
        ran = subprocess.run(command, stdin=endless.stdout, capture_output=True, timeout=60, check=False)
        endless.kill()
    assert ran.returncode == 2
    assert ran.stderr == b"routeproof: standard input: line 1: not JSON: Expecting value at character 1\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", b"the file is empty"), (b"PAR1", b"Parquet that cannot be read"), (b"\x1f\x8b", b"was cut off")],
)
def test_standard_input_that_is_no_trace(data: bytes, said: bytes) -> None:
    ran = _run("validate", "-", data=data)
    assert ran.returncode == 2
    assert ran.stderr.count(b"\n") == 1
    assert said in ran.stderr


def test_a_temporary_directory_that_is_not_there(tmp_path: Path) -> None:
    script = (
        "import sys, tempfile; tempfile.tempdir = sys.argv.pop(1); import routeproof.checker.cli as cli; cli.main()"
    )
    script = script.replace("cli.main()", "sys.exit(cli.main())")
    command = [sys.executable, "-c", script, str(tmp_path / "none"), "validate", "-"]
    ran = subprocess.run(command, input=GOOD_TRACE.read_bytes(), capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr.count(b"\n")) == (2, 1)
    assert b"cannot be copied into a temporary file" in ran.stderr


def test_standard_input_twice() -> None:
    assert b"standard input can be read once" in _run("validate", "-", "-").stderr
