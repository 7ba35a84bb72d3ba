"""Brokers as processes, and `routeproof run --tcp` as a user meets it: what it leaves, what it says when one dies, and
that none is left behind."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from routeproof.checker.cli import main
from routeproof.checker.cli.run_tcp import BROKER
from routeproof.impl.tcp.codec import frame
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.processes import BrokerDied, started
from routeproof.impl.workloads import workload
from routeproof.model.overlay import Overlay
from routeproof.traces import Event, broker_name, open_trace
from tests.checker.command import COMMAND, TOP, Here, environment
from tests.impl.tcp.running import TOO_EARLY, TREE, Proxy, accepted, connected, ended, mixed, settings_for, within

WORKLOAD = ("zipf", "--scale", "0.0003")
"""The one with the fewest brokers: 17."""

FEW = ("run", TOP / "model/instances/star5.toml", "--tcp", "--out", "out")
"""Five brokers and a few operations, where more would show nothing more: each broker takes a process half a second."""

on_linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks the system who is whose child")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_run_leaves_a_trace_that_is_accepted(here: Here) -> None:
    ran = here("run", *WORKLOAD, "--tcp", "--policy", "lazy", "--out", "new/out", "--snapshots", 20)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("zipf under lazy, scale 0.0003, seed 0: 17 brokers on TCP, started in ")
    assert all(len(line) <= 100 for line in ran.out.splitlines())
    out = here.directory / "new/out"
    assert {path.name for path in out.iterdir()} == {"trace.jsonl", "summary.json"}
    summary = json.loads((out / "summary.json").read_text())
    drawn = workload("zipf", 0.0003, 0)
    assert sum(summary["operations"].values()) == len(list(drawn.operations()))
    assert set(summary["brokers"]) == {broker_name(b) for b in drawn.overlay.brokers}
    assert all(broker["refused"] == broker["resent"] == 0 for broker in summary["brokers"].values())
    with open_trace(out / "trace.jsonl") as (header, lines):
        assert header.run == "zipf-lazy-0.0003-0"
        assert header.overlay == tuple((broker_name(u), broker_name(v)) for u, v in drawn.overlay.edges)
        assert header.more == {"workload": "zipf", "scale": 0.0003, "seed": 0, "clock": "shared"}
        read = [line for line in lines if isinstance(line, Event)]
    kinds = [event.event for event in read]
    assert kinds.count("deliver") == summary["delivered"] > 0
    assert kinds.count("client") + kinds.count("receive") == sum(summary["messages"].values())
    assert kinds.count("snapshot") > 10
    assert summary["delay"]["least"] > 0
    assert here("validate", out / "trace.jsonl").code == 0


MISTAKES = [
    ("run zipf --out x --pace 2", "--pace applies to brokers on TCP only; give --tcp as well"),
    ("run zipf --out x --seconds 2", "--seconds applies to brokers on TCP only"),
    ("run zipf --out x --host ::1", "--host applies to brokers on TCP only"),
    ("run zipf --out x --max-frame 10000", "--max-frame applies to brokers on TCP only"),
    ("run zipf --out x --tcp --pace 0", 'argument --pace: found "0"; expected a number'),
    ("run zipf --out x --tcp --pace inf", 'found "inf"'),
    ("run zipf --out x --tcp --seconds 0", "argument --seconds"),
    ("run zipf --out x --tcp --max-frame 10", 'found "10"; expected a whole number from 4,096 to'),
    ("run zipf --out x --tcp --host 300.1.2.3.4", 'argument --host: found "300.1.2.3.4"; expected an address'),
    ("run zipf --out x --tcp --host=", 'argument --host: found ""'),
]


@pytest.mark.parametrize(("words", "expected"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_mistake(here: Here, words: str, expected: str) -> None:
    ran = here(*words.split())
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert expected in ran.err
    assert not (here.directory / "x").exists()


def test_an_address_of_another_machine(here: Here) -> None:
    """Reserved for documentation: nobody has it, and no broker can listen there."""
    ran = here(*FEW, "--host", "192.0.2.1")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "failed: OSError" in ran.err
    assert "see out/brokers.log" in ran.err


def test_a_run_that_takes_too_long(here: Here) -> None:
    ran = here(*FEW, "--pace", "0.001", "--seconds", "2.5")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "routeproof: not everything has drained within 2.5 s; --seconds gives more\n"
    assert list((here.directory / "out").iterdir()) == []


# -- processes that end ------------------------------------------------------------------------------------------------


@contextmanager
def long_run(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """All of its brokers are there, and it would go on for a long time."""
    command = [*COMMAND, *map(str, FEW), "--pace", "0.0001"]
    ran = subprocess.Popen(
        command,
        cwd=directory,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(lambda: len(children(ran.pid)) == 5 and all(sockets(child) > 3 for child in children(ran.pid)))
        yield ran
    finally:
        ran.kill()
        ran.communicate()


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in listed.read_text().split()] if listed.exists() else []


def sockets(pid: int) -> int:
    """Its own, the parent's, and at least one connection: then it is at work."""
    try:
        return sum(str(each.readlink()).startswith("socket:") for each in Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:
        return 0


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(true: object, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def is_written(log: Path) -> bool:
    return log.exists() and log.stat().st_size > 0


@on_linux
def test_a_broker_that_is_killed_is_one_clear_error(tmp_path: Path) -> None:
    with long_run(tmp_path) as ran:
        brokers = children(ran.pid)
        os.kill(brokers[4], signal.SIGKILL)
        out, err = ran.communicate(timeout=20)
    assert (ran.returncode, out) == (2, "")
    log = tmp_path / "out" / "brokers.log"  # of a neighbour, if it was killed while it greeted it
    assert err == f"routeproof: b5 was killed by signal 9{'; see out/brokers.log' * is_written(log)}\n"
    assert not any(alive(pid) for pid in brokers)
    assert list((tmp_path / "out").iterdir()) == [], "no half of a trace"


@on_linux
@pytest.mark.parametrize(
    ("by", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
    ],
)
def test_a_run_that_is_interrupted_leaves_no_process(tmp_path: Path, by: signal.Signals, code: int, said: str) -> None:
    with long_run(tmp_path) as ran:
        brokers = children(ran.pid)
        os.killpg(ran.pid, by)  # as a terminal does: to all who did not leave its session
        out, err = ran.communicate(timeout=20)
    assert (ran.returncode, out, err) == (code, "", f"routeproof: {said}\n")
    assert not any(alive(pid) for pid in brokers)
    left = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert left == {}


@on_linux
def test_brokers_do_not_outlive_a_run_that_is_killed(tmp_path: Path) -> None:
    with long_run(tmp_path) as ran:
        brokers = children(ran.pid)
        ran.kill()
        ran.wait()
        wait_until(lambda: not any(alive(pid) for pid in brokers), 10)
    out = tmp_path / "out"
    assert list(out.glob(".tcp.*"))
    assert main([*map(str, FEW[:-1]), str(out)]) == 0
    assert not list(out.glob(".tcp.*")), "the next run clears away what one left that was killed"


@on_linux
def test_a_broker_that_does_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was stopped (SIGSTOP), so it hears of nothing."""
    monkeypatch.setattr("routeproof.impl.tcp.processes.GRACE", 0.5)

    async def run() -> list[int]:
        with (tmp_path / "log").open("ab") as log:
            async with started(BROKER, settings_for(Overlay.line(2), tmp_path, "active"), log) as brokers:
                os.kill(brokers.pids[2], signal.SIGSTOP)
                return list(brokers.pids.values())

    assert not any(alive(pid) for pid in within(run()))


def test_a_broker_that_cannot_write_its_trace_says_so(tmp_path: Path) -> None:
    async def run() -> None:
        with (tmp_path / "log").open("ab") as log:
            async with started(BROKER, settings_for(Overlay.line(2), tmp_path / "no", "active"), log, broker_name):
                pass

    with pytest.raises(BrokerDied, match=r"^b[12] failed: FileNotFoundError: "):
        within(run())
    assert "FileNotFoundError" in (tmp_path / "log").read_text()
    assert (tmp_path / "log").read_text().count("\n") <= 2


# -- what is between them ----------------------------------------------------------------------------------------------


def test_hostile_connections_and_cut_ones_between_processes(tmp_path: Path) -> None:
    """Cut again and again, and attacked meanwhile: the run ends, every broker's exit code is 0, and it is accepted."""

    async def run() -> int:
        proxy = Proxy(Random(1))
        with (tmp_path / "log").open("ab") as log:
            settings = settings_for(TREE, tmp_path, "lazy", snapshots=30)
            async with started(BROKER, settings, log, broker_name, proxy.route) as brokers:
                driver = Driver(brokers, proxy.route)
                playing = asyncio.create_task(brokers.watched(driver.play(mixed(TREE, 250))))
                for _ in range(8):
                    for address in brokers.addresses.values():
                        async with connected(address) as (reader, writer):
                            writer.write(frame({"hello": 1, "run": "\x1b[31mguess\n"}))
                            await ended(reader)
                    proxy.cut()
                    await asyncio.sleep(0.05)
                await playing
                answers = await brokers.finish()
        await proxy.close()
        return sum(int(str(answer["reconnections"])) for answer in answers.values())

    assert within(run()) > 5
    assert accepted(TREE, tmp_path, "lazy")
    lines = [line for line in (tmp_path / "log").read_text().splitlines() if not line.endswith(TOO_EARLY)]
    assert len(lines) == 8 * len(TREE.brokers)
    assert all(line.isprintable() and line.endswith("the token of another run, or none") for line in lines)
