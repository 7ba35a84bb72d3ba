"""`routeproof list`, help and version: what there is can be found out without reading anything else."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from routeproof.checker.cli import COMMANDS
from routeproof.checker.cli.names import KINDS
from routeproof.checker.instances import shipped
from routeproof.model.protocols import MUTANTS
from routeproof.spec.properties import PROPERTIES
from tests.checker.command import COMMAND, Here, run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed_for_people_and_for_programs(here: Here, kind: str) -> None:
    rows = json.loads(here("list", kind, "--json").out)[kind]
    ran = here("list", kind)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert all(len(line) <= 100 for line in lines)
    begun = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert begun == [row.get("id") or row["name"] for row in rows]


def test_without_a_kind_the_kinds_are_listed(here: Here) -> None:
    ran = here("list")
    assert (ran.code, [line.split()[0] for line in ran.out.splitlines()]) == (0, list(KINDS))
    counts = json.loads(here("list", "--json").out)["kinds"]
    assert counts["properties"] == len(PROPERTIES)


@pytest.mark.parametrize(("begun", "whole"), [("NoLost", "NoLostDelivery"), ("nodup", "NoDuplicate")])
def test_a_suggestion_completes_a_prefix(here: Here, begun: str, whole: str) -> None:
    ran = here("check", "tiny", "--property", begun)
    assert (ran.code, f"did you mean {whole}?" in ran.err) == (2, True)


def test_what_is_listed_is_what_there_is(here: Here) -> None:
    listed = {kind: json.loads(here("list", kind, "--json").out)[kind] for kind in KINDS}
    assert [row["id"] for row in listed["properties"]] == list(PROPERTIES)
    assert [row["id"] for row in listed["mutants"]] == list(MUTANTS)
    assert [row["name"] for row in listed["instances"]] == [instance.name for instance in shipped()]
    assert all(row["about"] for kind in ("protocols", "properties", "instances", "mutants") for row in listed[kind])


def test_instances_come_from_simple_to_large_with_faults_last() -> None:
    instances = shipped()
    assert instances[0].name == "tiny"
    assert [i.faults.any for i in instances] == sorted(i.faults.any for i in instances)


def test_help(here: Here) -> None:
    ran = here("--help")
    assert (ran.code, ran.err) == (0, "")
    assert all(f"\n  {name} " in ran.out for name in COMMANDS)
    assert all(len(line) <= 100 for line in ran.out.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(here: Here, command: str) -> None:
    ran = here(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"usage: routeproof {command}")
    assert "examples:\n" in ran.out
    assert all(len(line) <= 100 for line in ran.out.splitlines())


def test_version(here: Here) -> None:
    assert here("--version").out == f"routeproof {version('routeproof')}\n"


def test_listing_loads_no_engine(tmp_path: Path) -> None:
    """It is what a shell's completion would call."""
    code = (
        "import sys; from routeproof.checker.cli import main; main(['list', 'instances']);"
        "sys.exit('numpy' in sys.modules or 'hypothesis' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.DEVNULL, check=False).returncode
        == 0
    )


def test_a_reader_who_leaves_early(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "list", "mutants"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as p:
        assert p.stdout is not None
        assert p.stderr is not None
        p.stdout.close()
        assert p.stderr.read() == b""
        assert p.wait() == 0


def test_it_is_a_command(tmp_path: Path) -> None:
    assert run("list", "protocols", cwd=tmp_path).out.startswith("routing ")
