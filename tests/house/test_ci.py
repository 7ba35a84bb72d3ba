"""The README's commands, and the script that runs the gates: the same commands, and each gate can fail."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SET_UP = "python3 -m venv .venv && .venv/bin/python -m pip install -q -c constraints.txt -e '.[dev]'"
CHECK = f"{SET_UP} && .venv/bin/routeproof check"
TEST = f"{SET_UP} && .venv/bin/python -m pytest"

# What .ci/run executes, in order, as the programs it calls see it.
INSTALL = ["python3 -m venv .venv", "python -m pip install -q -c constraints.txt -e .[dev]"]
GATES = ["ruff format --check .", "ruff check .", "mypy "]
STEPS = [*INSTALL, *GATES, *INSTALL, "python -m pytest"]


@pytest.mark.parametrize("command", [CHECK, TEST])
def test_readme_has_the_command_in_a_code_block(command: str) -> None:
    parts = (ROOT / "README.md").read_text(encoding="utf-8").split("```")
    fenced = [line for block in parts[1::2] for line in block.splitlines()]
    assert command in fenced


def test_gates_end_with_the_readme_test_command() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert script[-1] == TEST
    assert SET_UP in [line.strip() for line in script]


def run_with_stubs(tmp_path: Path, fails: str, occurrence: int = 1) -> tuple[int, list[str]]:
    """Runs .ci/run where every program is a stub that notes its call, and fails at the nth call equal to `fails`."""
    stub = tmp_path / "stub"
    stub.write_text(
        '#!/bin/sh\ncall="$(basename "$0") $*"\necho "$call" >>"$CALLS"\n'
        'echo "${PYTHONDONTWRITEBYTECODE-unset}" >>"$CALLS.compiling"\n'
        '[ "$call" != "$FAILS" ] || [ "$(grep -cxF -- "$call" "$CALLS")" -ne "$OCCURRENCE" ]\n',
        encoding="utf-8",
    )
    stub.chmod(0o755)
    for folder in (".ci", "bin", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for program in ("bin/python3", ".venv/bin/python", ".venv/bin/ruff", ".venv/bin/mypy"):
        (tmp_path / program).symlink_to(stub)
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    calls = tmp_path / "calls"
    env = {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(calls),
        "FAILS": fails,
        "OCCURRENCE": str(occurrence),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run([tmp_path / ".ci/run"], env=env, capture_output=True, check=False)
    return done.returncode, calls.read_text(encoding="utf-8").splitlines()


def test_every_step_runs_in_order(tmp_path: Path) -> None:
    assert run_with_stubs(tmp_path, fails="") == (0, STEPS)
    assert set((tmp_path / "calls.compiling").read_text(encoding="utf-8").split()) == {"unset"}


@pytest.mark.parametrize("at", range(len(STEPS)))
def test_a_failing_step_ends_the_run(tmp_path: Path, at: int) -> None:
    status, calls = run_with_stubs(tmp_path, fails=STEPS[at], occurrence=STEPS[: at + 1].count(STEPS[at]))
    assert status == 1
    assert calls == STEPS[: at + 1]
