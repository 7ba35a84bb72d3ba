"""A standalone cluster on this machine: a master and some workers on the loopback interface, from the pip installation.

Each process leads a session, so that all of it can be found and killed, whatever it started.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from attrs import frozen

from routeproof.checker.spark.driver import find_java

HOST = "127.0.0.1"
READY_SECONDS = 60.0
POLL_SECONDS = 0.1


@frozen
class Cluster:
    url: str
    master: subprocess.Popen[bytes]
    workers: tuple[subprocess.Popen[bytes], ...]
    homes: tuple[Path, ...]
    status_port: int

    def status(self) -> dict[str, object]:
        """What the master says of itself."""
        connection = http.client.HTTPConnection(HOST, self.status_port, timeout=10)
        try:
            connection.request("GET", "/json/")
            answer: dict[str, object] = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return answer

    def alive(self) -> int:
        """How many workers the master counts on."""
        try:
            workers = self.status()["workers"]
        except (OSError, http.client.HTTPException, ValueError):
            return 0
        assert isinstance(workers, list)
        return sum(worker["state"] == "ALIVE" for worker in workers)

    def kill_worker(self, i: int) -> None:
        """As when a machine dies: the worker, its executors and their Pythons at once, and what they had on disk."""
        kill_session(self.workers[i])
        shutil.rmtree(self.homes[i])


@contextmanager
def standalone(scratch: Path, workers: int = 2, python: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """A cluster whose workers have a core each; `python` is the part of their environment that concerns Python."""
    port, status_port = free_ports(2)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "PYTHON"))},
        "JAVA_HOME": str(find_java(scratch).home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # of the executors too, which live briefly
        **(python or {}),
    }

    def start(home: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        home.mkdir()
        command = [f"{environment['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{name}"]
        with (home / "log").open("wb") as out:
            return subprocess.Popen(
                [*command, "--host", HOST, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**environment, "SPARK_LOCAL_DIRS": str(home), "SPARK_WORKER_DIR": str(home / "work")},
                start_new_session=True,
            )

    processes = []
    homes = tuple(scratch / f"worker-{i}" for i in range(workers))
    try:
        ports = ("--port", str(port), "--webui-port", str(status_port))
        processes += [start(scratch / "master", "master.Master", *ports)]
        url = f"spark://{HOST}:{port}"
        each = ("--cores", "1", "--memory", "1g", "--webui-port", "0", url)
        processes += [start(home, "worker.Worker", *each) for home in homes]
        cluster = Cluster(url, processes[0], tuple(processes[1:]), homes, status_port)
        limit = time.monotonic() + READY_SECONDS
        while cluster.alive() < workers:
            assert time.monotonic() < limit, f"no {workers} workers within {READY_SECONDS:.0f} s: see {scratch}"
            assert all(process.poll() is None for process in processes), f"a daemon ended: see {scratch}"
            time.sleep(POLL_SECONDS)
        yield cluster
    finally:
        for process in reversed(processes):
            kill_session(process)


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """Python workers leave the group of their parents, but not the session."""
    for pid in session_of(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def session_of(leader: int) -> list[int]:
    """The leader first, so that nobody is left who would notice that the others are gone."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == leader:
                    members.append(int(entry.name))
            except ProcessLookupError:
                continue
    return sorted(members, key=lambda pid: (pid != leader, pid))


def free_ports(count: int) -> list[int]:
    """Ports that nobody listened on a moment ago."""
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    try:
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()
