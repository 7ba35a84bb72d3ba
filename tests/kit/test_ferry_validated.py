"""Recorded runs of a protocol from outside are judged by its own handler, from JSON Lines and Parquet alike."""

import json
from pathlib import Path

import pytest

from routeproof.checker.cli import main
from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import LEVELS, validate
from routeproof.model import plugins
from routeproof.model.instance_file import parse_instance
from routeproof.model.protocols import world
from routeproof.traces import read_trace, to_parquet
from tests.kit.ferry_runs import CORRUPTIONS, NAME, cargo, run_of, write


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.VARIABLE, NAME)


@pytest.mark.parametrize("policy", ["none", "active"])
def test_runs_of_the_model_are_accepted(policy: str, tmp_path: Path) -> None:
    owed = 0
    for seed in range(30):
        path = write(run_of(policy, seed), tmp_path / "run.jsonl")
        report = validate(path, "exact")
        assert report.verdict == "accepted", (seed, report)
        assert validate(path, "equivalent").verdict == "accepted"
        owed += report.extent.owed
    assert owed, "some delivery was owed"


def test_what_waits_aboard_is_not_lost(tmp_path: Path) -> None:
    """A delivery that is late because the ferry was at sea is owed still, and one that never came is not lost."""
    late = [rows for seed in range(60) if cargo(rows := run_of("active", seed), "send") is not None]
    assert late
    for rows in late:
        assert validate(write(rows, tmp_path / "run.jsonl")).verdict == "accepted"
    sea = next(
        rows
        for seed in range(60)
        if (rows := run_of("active", seed)) and any(r["event"] == "client" and r["broker"] == "ferry" for r in rows[1:])
    )
    at = next(i for i, r in enumerate(sea) if i and r["broker"] == "ferry" and r["event"] == "client")
    cut = [r for r in sea[: at + 1] if r is sea[0] or r["broker"] != "ferry" or r["event"] == "client"]
    assert not any(each.rule == "TRC-7" for each in validate(write(cut, tmp_path / "cut.jsonl")).rejections)


@pytest.mark.parametrize("name", list(CORRUPTIONS))
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_corruption_is_found(name: str, form: str, tmp_path: Path) -> None:
    spoil, broker, rule = CORRUPTIONS[name]
    found = 0
    for seed in range(30):
        rows = run_of("active", seed)
        if not spoil(rows):
            continue
        found += 1
        path = write(rows, tmp_path / "run.jsonl")
        if form == "parquet":
            to_parquet(path, path := tmp_path / "run.parquet")
        report = validate(path)
        assert report.verdict == "rejected", (seed, report)
        assert any(r.rule == rule and r.broker in (broker or r.broker) for r in report.rejections), report.rejections
    assert found


@pytest.mark.parametrize("mutant", ["sails-with-the-cargo", "speaks-from-the-sea"])
def test_a_broken_client_is_rejected(mutant: str, tmp_path: Path) -> None:
    rejected = [
        validate(write(run_of("active", seed, mutant), tmp_path / "run.jsonl")).rejections for seed in range(20)
    ]
    found = [each[0] for each in rejected if each]
    assert found
    assert {each.broker for each in found} == {"ferry"}


def test_own_keys_survive_parquet(tmp_path: Path) -> None:
    path = write(run_of("active", 3), tmp_path / "run.jsonl")
    to_parquet(path, tmp_path / "run.parquet")
    copy = sorted(read_trace(tmp_path / "run.parquet").events, key=lambda e: e.seq)
    assert tuple(copy) == read_trace(path).events
    assert any(e.message is not None and b"voyage" in bytes(e.message.own or b"") for e in read_trace(path).events)


def test_a_header_without_an_instance_is_enough_where_it_has_the_sections(tmp_path: Path) -> None:
    rows = run_of("active", 3)
    header = {**rows[0], "ferry": {"at": 1, "voyages": 2}}
    del header["instance"]
    assert validate(write([header, *rows[1:]], tmp_path / "run.jsonl")).verdict == "accepted"


def test_what_cannot_be_judged_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = run_of("active", 3)
    for change, why in (
        ({"protocol": "raft"}, 'no protocol is called "raft"'),
        ({"policy": "lazy"}, "the header has the policy 'lazy'; expected one of none, active"),
        (
            {"instance": {**rows[0]["instance"], "ferry": {"at": 9}}},
            "ferry.at: found broker 9; expected a broker of the overlay",
        ),
        ({"overlay": [["b1", "b7"]]}, "the header's overlay has other brokers than its instance"),
    ):
        path = write([{**rows[0], **change}, *rows[1:]], tmp_path / "run.jsonl")
        with pytest.raises(UsageError, match=r"^[^\n]*$"):
            validate(path)
        assert main(["validate", str(path)]) == 2
        assert why in capsys.readouterr().err, why


def test_at_the_level_of_clients_nothing_is_said_of_what_may_be_held_back(tmp_path: Path) -> None:
    report = validate(write(run_of("active", 3), tmp_path / "run.jsonl"), "observable")
    assert report.verdict == "unknown"
    assert any("may hold publications back" in each for each in report.unjudged)
    assert set(LEVELS) >= {"exact", "equivalent", "observable"}


def test_the_instance_of_a_header_is_that_of_the_run() -> None:
    header = json.loads(json.dumps(run_of("none", 1)[0]))
    assert world(parse_instance(header["instance"], "header"), "none").instance.own == (("ferry", (1, 2)),)
