"""Running the command line: in this process, which is quick, and as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from routeproof.checker.cli import main

TOP = Path(__file__).resolve().parents[2]


@frozen
class Ran:
    code: int
    out: str
    err: str


class Here:
    """`routeproof` in this process, in a directory of its own. Build it from the fixtures of a test."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.chdir(tmp_path)
        self.directory = tmp_path
        self.capsys = capsys

    def __call__(self, *argv: object) -> Ran:
        self.capsys.readouterr()
        code = main([str(word) for word in argv])
        out, err = self.capsys.readouterr()
        return Ran(code, out, err)

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path


COMMAND = [sys.executable, "-m", "routeproof.checker.cli"]


def environment(**more: str) -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}, **more}


def run(*argv: object, cwd: Path, stdin: int = subprocess.DEVNULL) -> Ran:
    """`routeproof` as a process."""
    words = [word if isinstance(word, bytes) else str(word) for word in argv]
    done = subprocess.run([*COMMAND, *words], cwd=cwd, stdin=stdin, capture_output=True, check=False, timeout=120)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
