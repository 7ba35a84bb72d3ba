"""`routeproof run` as a user meets it: what it writes and prints, that it is the same twice, and what it refuses."""

import json
import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest

from routeproof.impl.observers import Metrics
from routeproof.impl.workloads import WORKLOADS
from routeproof.model.instance import POLICIES
from routeproof.model.pruning.vocabulary import PRUNING
from routeproof.traces import Event, open_trace
from tests.checker.command import COMMAND, Here, environment, run

SMALL = ("--scale", "0.0005")
PLOTS = ("queue", "table", "triggered", "false-positives", "messages", "delay", "delay-cdf")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def events(path: Path) -> list[Event]:
    """Every line is an event."""
    with open_trace(path) as (_, lines):
        read = list(lines)
    bad = [line for line in read if not isinstance(line, Event)]
    assert not bad
    return [line for line in read if isinstance(line, Event)]


# -- what it writes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_run_leaves_its_results(here: Here, name: str) -> None:
    ran = here("run", name, *SMALL, "--out", "new/out")
    assert (ran.code, ran.err) == (0, "")
    assert all(len(line) <= 100 for line in ran.out.splitlines())
    out = here.directory / "new/out"
    expected = {"metrics.parquet", "delays.parquet", "summary.json", *(f"{plot}.svg" for plot in PLOTS)}
    assert {path.name for path in out.iterdir()} == expected
    assert all(file in ran.out for file in expected)
    for plot in PLOTS:
        assert ET.fromstring((out / f"{plot}.svg").read_text(encoding="utf-8")).tag.endswith("svg")
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["workload"], summary["policy"], summary["scale"], summary["seed"]) == (name, "active", 0.0005, 0)
    samples = pq.read_table(out / "metrics.parquet").to_pylist()
    assert {row["broker"] for row in samples} == set(summary["brokers"])
    last = [row for row in samples if row["time"] == samples[-1]["time"]]
    assert sum(row["publish"] for row in last) == summary["messages"]["publish"]
    assert sum(row["delivered"] for row in last) == summary["delivered"] > 0
    assert all(row["queue"] == row["held"] == 0 for row in last), "a run ends when nothing is left to happen"
    assert sum(pq.read_table(out / "delays.parquet")["count"].to_pylist()) == summary["delivered"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_trace_is_whole_and_balanced(here: Here, policy: str) -> None:
    """Everything sent is received once, in order, and nothing else is; and the summary counted the same."""
    ran = here("run", "controlled", *SMALL, "--policy", policy, "--out", "out", "--trace", "--snapshots", 200)
    assert ran.code == 0
    read = events(here.directory / "out/trace.jsonl")
    for near in ("b4", "b5"):
        for far in ("b4", "b5", "b49"):
            sent = [e.message for e in read if (e.event, e.broker, e.peer) == ("send", near, far)]
            received = [e.message for e in read if (e.event, e.broker, e.peer) == ("receive", far, near)]
            assert sent == received
    of = {kind: [e for e in read if e.event == kind] for kind in ("client", "receive", "send", "deliver", "snapshot")}
    assert len(of["send"]) == len(of["receive"])
    assert of["snapshot"]
    summary = json.loads((here.directory / "out/summary.json").read_text())
    assert len(of["deliver"]) == summary["delivered"]
    assert len(of["client"]) == sum(summary["operations"].values())
    assert len(of["client"]) + len(of["receive"]) == sum(summary["messages"].values())


def test_deliveries_in_a_trace_match_their_subscriptions(here: Here) -> None:
    assert here("run", "stock", "--out", "out", "--trace").code == 0
    read = events(here.directory / "out/trace.jsonl")
    filters = {
        e.message.items[0].id: e.message.items[0].filter
        for e in read
        if e.event == "client" and e.message and e.message.kind == "subscribe"
    }
    delivered = [e.message for e in read if e.event == "deliver" and e.message]
    assert len(delivered) > 100
    for message in delivered:
        wanted = filters[message.to]
        assert wanted is not None
        assert message.event is not None
        assert wanted.matches(message.event)


def test_a_run_is_the_same_to_the_last_byte(tmp_path: Path) -> None:
    """In two processes that hash strings differently, under two names for the directory."""
    for seed, out in (("1", "one"), ("2", "two")):
        subprocess.run(
            [*COMMAND, "run", "zipf", "--scale", "0.0005", "--seed", "9", "--out", out, "--trace", "--snapshots", "50"],
            cwd=tmp_path,
            env=environment(PYTHONHASHSEED=seed),
            check=True,
            stdout=subprocess.DEVNULL,
        )
    for path in sorted((tmp_path / "one").iterdir()):
        one, two = path.read_bytes(), (tmp_path / "two" / path.name).read_bytes()
        if path.name == "summary.json":
            one, two = (json.dumps(json.loads(text) | {"measured": None}).encode() for text in (one, two))
        assert one == two, path.name


def test_another_seed_is_another_run(here: Here) -> None:
    for seed in (1, 2):
        here("run", "stock", *SMALL, "--seed", seed, "--out", seed, "--trace")
    assert (here.directory / "1/trace.jsonl").read_bytes() != (here.directory / "2/trace.jsonl").read_bytes()


def test_links_take_as_long_as_they_are_told_to(here: Here) -> None:
    """The summary and the trace's header say how long; metrics can still be recomputed from the trace."""
    words = ("run", "controlled", *SMALL, "--trace")
    assert [here(*words, *more, "--out", out).code for out, *more in (("near",), ("far", "--latency", 500))] == [0, 0]
    near, far = (json.loads((here.directory / out / "summary.json").read_text()) for out in ("near", "far"))
    assert "latency_ms" not in near
    assert far["latency_ms"] == 500
    assert far["delay"]["least"] > 500_000_000 > near["delay"]["p50"]
    header = json.loads((here.directory / "far/trace.jsonl").read_text().partition("\n")[0])
    assert header["latency"] == 500_000_000
    assert here("validate", "far/trace.jsonl", "--metrics", "again").code == 0
    written, again = (pq.read_table(here.directory / each / "metrics.parquet") for each in ("far", "again"))
    assert again["queue"].to_pylist() == written["queue"].to_pylist()


def test_a_second_run_takes_the_place_of_the_first(here: Here) -> None:
    for policy in ("none", "lazy"):
        assert here("run", "stock", *SMALL, "--policy", policy, "--out", "out").code == 0
    assert json.loads((here.directory / "out/summary.json").read_text())["policy"] == "lazy"
    assert not [path for path in (here.directory / "out").iterdir() if path.name.startswith(".")]


def test_a_run_that_is_cut_short_leaves_no_trace(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Metrics, "look", interrupted)
    ran = here("run", "stock", *SMALL, "--out", "out", "--trace")
    assert (ran.code, ran.err) == (130, "routeproof: interrupted\n")
    assert list((here.directory / "out").iterdir()) == []


def test_workloads_are_listed(here: Here) -> None:
    rows = json.loads(here("list", "workloads", "--json").out)["workloads"]
    assert [row["name"] for row in rows] == list(WORKLOADS)
    assert all(parameter["source"] and parameter["about"] for row in rows for parameter in row["parameters"])


def test_progress_is_for_terminals(tmp_path: Path) -> None:
    ran = run("run", "stock", *SMALL, "--out", "out", cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"simulated in \d+\.\d s$", ran.out.splitlines()[0])


# -- pruning -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", PRUNING)
def test_brokers_that_prune(here: Here, policy: str) -> None:
    """What they did is what the protocol allows, and the trace says under which readings."""
    words = ("--policy", policy, "--pruning", "window=50", "--pruning", "fewest=1", "--congestion", "3,1")
    ran = here("run", "controlled", *SMALL, *words, "--out", "out", "--trace", "--snapshots", 50)
    assert (ran.code, ran.err) == (0, "")
    summary = json.loads((here.directory / "out/summary.json").read_text())
    assert summary["readings"] == {"window": 50}
    assert summary["congestion"] == {"high": 3, "low": 1}
    assert summary["pruning"]["rows_most"] > 0
    assert summary["pruning"]["congested"] > 0
    assert f"{summary['pruning']['in_vain']:,} came in vain" in ran.out
    header = json.loads((here.directory / "out/trace.jsonl").read_text().partition("\n")[0])
    assert (header["protocol"], header["policy"], header["pruning"]) == ("pruning", policy, {"window": 50})
    samples = pq.read_table(out := here.directory / "out/metrics.parquet")
    assert {"rows", "in_vain", "congest", "relieve"} < set(samples.column_names), out
    judged = here("validate", "out/trace.jsonl")
    assert (judged.code, judged.out.splitlines()[0]) == (0, "out/trace.jsonl: accepted at level equivalent")


def test_the_core_says_nothing_of_pruning(here: Here) -> None:
    here("run", "controlled", *SMALL, "--out", "out", "--trace")
    written = (here.directory / "out/trace.jsonl").read_text() + (here.directory / "out/summary.json").read_text()
    assert not [word for word in ('"pruning"', '"distance"', '"cuts"', '"retained"', '"readings"') if word in written]
    assert "in_vain" not in pq.read_table(here.directory / "out/metrics.parquet").column_names


# -- what it refuses ---------------------------------------------------------------------------------------------------

MISTAKES = [
    ("run", "the following arguments are required"),
    ("run --out x", "the following arguments are required: WORKLOAD"),
    ("run stock", "the following arguments are required: --out"),
    ("run stok --out x", 'no workload is called "stok" (did you mean stock?)'),
    ("run nothing --out x", 'no workload is called "nothing"; there are: clustered-001, controlled, controlled-001'),
    ("run stock --out x --policy laxy", 'no policy is called "laxy" (did you mean lazy?)'),
    ("run stock --out x --scale 0", 'argument --scale: found "0"; expected a number above 0 and up to 10'),
    ("run stock --out x --scale -1", "argument --scale"),
    ("run stock --out x --scale 10.1", 'found "10.1"; expected a number above 0 and up to 10'),
    ("run stock --out x --scale 1e300", "expected a number above 0 and up to 10"),
    ("run stock --out x --scale nan", 'found "nan"'),
    ("run stock --out x --scale inf", 'found "inf"'),
    ("run stock --out x --scale big", 'found "big"'),
    ("run stock --out x --latency -1", 'argument --latency: found "-1"; expected a whole number from 0 to 60,000'),
    ("run stock --out x --latency 5 --tcp", "--latency applies to virtual time only; leave out --tcp"),
    ("run stock --out x --seed -1", "argument --seed"),
    ("run stock --out x --seed 1.5", 'argument --seed: found "1.5"; expected a whole number'),
    ("run stock --out x --snapshots 5", "--snapshots are written into the trace; give --trace as well"),
    ("run stock --out x --trace --snapshots 0", 'argument --snapshots: found "0"'),
    ("run stock --out file", "file: is no directory; expected one for the results"),
    ("run stock --out file/below", "file: is no directory; expected one for the results"),
    ("run stock --out locked/out", "locked: may not be written; expected a directory for the results"),
    ("run stock --out x --pruning window=9", "--pruning applies to policies that prune only; give --policy inc"),
    ("run stock --out x --congestion 9,3", "--congestion applies to policies that prune only"),
    ("run stock --out x --policy selective --pruning window", 'found "window"; expected KEY=VALUE'),
    ("run stock --out x --policy selective --pruning widow=9", "did you mean window"),
    ("run stock --out x --policy selective --pruning window=many", "--pruning.window: found"),
    ("run stock --out x --policy selective --pruning window=0", "found 0; expected a whole number from 1"),
    ("run stock --out x --policy selective --pruning base=activ", "did you mean active"),
    ("run stock --out x --policy selective --pruning remembers=maybe", "expected true or false"),
    ("run stock --out x --policy selective --pruning thresholds=60,90", "expected 1 of them under selective"),
    ("run stock --out x --policy incremental --pruning cuts=1,x", "--pruning.cuts[2]"),
    ("run stock --out x --policy incremental --pruning fewest=1 --pruning fewest=2", "gives a parameter twice"),
    ("run stock --out x --policy incremental --congestion 3,9", 'found "3,9"; expected HIGH,LOW'),
    ("run stock --out x --policy incremental --congestion 3", 'found "3"; expected HIGH,LOW'),
    ("run stock --out x --policy incremental --congestion 9,3 --tcp", "--congestion applies to virtual time only"),
    ("run stock --out x --trase", "unrecognized arguments: --trase"),
]


@pytest.mark.parametrize(("words", "expected"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_mistake(here: Here, monkeypatch: pytest.MonkeyPatch, words: str, expected: str) -> None:
    here.write("file", "")
    (here.directory / "locked").mkdir()
    access = os.access  # the tests may run as a user who may write everywhere
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked" and access(path, mode))
    ran = here(*words.split())
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert expected in ran.err
    assert not (here.directory / "x").exists()


def test_an_out_that_cannot_be_made(here: Here) -> None:
    ran = here("run", "stock", *SMALL, "--out", "x" * 300)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    ran = run("run", b"\xff\n", "--out", b"\xff\xfe", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
