"""Brokers that have names in an instance have them in everything that is printed or written of it."""

import json
from pathlib import Path

import pytest

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.instances import load
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.protocols import world
from tests.checker.command import Here

NAMED = """
name = "named"
protocol = "routing"
policy = "active"
brokers = ["hamburg", "berlin", "paris"]
overlay = [[1, 2], [2, 3]]
advertisement = [{id = "a", at = 1, events = [0, 1]}]
subscription = [{id = "s", at = 3, events = [0], unsubscribes = true}]
publication = [{id = "p", of = "a", event = 0}]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


@pytest.fixture
def file(here: Here) -> Path:
    here.write("named.toml", NAMED)
    return here.directory / "named.toml"


def test_the_names_are_read_and_written(file: Path) -> None:
    instance = load(file)
    assert [world(instance).name(node) for node in (1, 2, 3)] == ["hamburg", "berlin", "paris"]
    assert parse_instance(to_table(instance), "again") == instance


def test_a_counterexample_has_them(here: Here, file: Path) -> None:
    ran = here("check", "named.toml", "--mutant", "withdrawal-not-sent", "--property", "Agreement", "--traces", "found")
    assert ran.code == 1
    (trace,) = (here.directory / "found").iterdir()
    assert json.loads(trace.read_text().splitlines()[0])["overlay"] == [["hamburg", "berlin"], ["berlin", "paris"]]
    shown = here("show", str(trace)).out
    assert "berlin has s from paris, but paris has not sent s" in shown
    assert not [word for word in ("b1", "b2", "b3") if word in shown]
    assert here("shrink", str(trace), "-o", "small.jsonl").code == 0
    small = replay_file(here.directory / "small.jsonl").counterexample.world
    assert [small.name(node) for node in small.brokers] == ["hamburg", "paris"]


@pytest.mark.parametrize("driver", [(), ("--tcp",)])
def test_a_run_has_them_and_its_trace_is_accepted(here: Here, file: Path, driver: tuple[str, ...]) -> None:
    ran = here("run", "named.toml", "--snapshots", "1", *(driver or ("--trace",)), "--out", "out")
    assert ran.code == 0, ran.err
    assert set(json.loads((here.directory / "out/summary.json").read_text())["brokers"]) == {
        "hamburg",
        "berlin",
        "paris",
    }
    trace = (here.directory / "out/trace.jsonl").read_text()
    assert '"from":"hamburg"' in trace
    assert not [word for word in ('"b1"', '"b2"', '"b3"') if word in trace]
    assert here("validate", "out/trace.jsonl").code == 0


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["x", "y"], "3 names, one for each broker"),
        (["x", "y", "x"], "a name that no other broker has"),
        (["b2", "x", "y"], "a name that nobody else could have"),
        (["x", "client-s", "y"], "a name that nobody else could have"),
        (["x", "y z", "w"], "1 to 64 letters"),
    ],
)
def test_names_that_cannot_be_are_refused(file: Path, names: list[str], why: str) -> None:
    table = {**to_table(load(file)), "brokers": names}
    with pytest.raises(InstanceError, match=why):
        parse_instance(table, "here")
