"""The job on Spark against the engine for one core: the same report, however the work is divided."""

import gzip
import json
import random
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from routeproof.checker.cli import main
from routeproof.checker.experiments.bench.validation import churn
from routeproof.checker.validate import Level, Report, setting_of, validate
from routeproof.checker.validate.spark import groups
from routeproof.checker.validate.spark.job import judge
from routeproof.model import plugins
from routeproof.traces import columns, to_parquet
from tests.campaigns import daily
from tests.checker.validate.churned import Churn
from tests.checker.validate.corrupt import CORRUPTIONS, Place, as_run
from tests.checker.validate.test_mutated import flip, retype
from tests.checker.validate.walks import Row, rows_of, write
from tests.kit import ferry_runs
from tests.kit.runs import run_of
from tests.migration import runs as migration_runs
from tests.placement import runs as placement_runs
from tests.trees.test_protocol_validated import CORRUPTIONS as SWITCHED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Spoilt = dict[tuple[str, str], tuple[Path, dict[str, tuple[str, Place]]]]

WORLDS = (("star4", "active"), ("star4", "none"), ("star4", "lazy"), ("star4", "packing"), ("quotes3", "active"))


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Spoilt:
    """By instance and policy, every corruption in runs of its own, in one file; and where each must show."""
    found: Spoilt = {}
    for instance, policy in WORLDS:
        rows, places = [rows_of(instance, policy)[0]], dict[str, tuple[str, Place]]()
        for name, corruption in CORRUPTIONS.items():
            for seed in range(3):
                mine = rows_of(instance, policy, seed)
                where = corruption.spoil(mine)
                if where is not None and (not name.endswith("never sent") or _goes_on(mine, where)):
                    run = f"{name} {seed}"
                    places[run] = name, where
                    rows += as_run(mine, run)
        path = write(rows, tmp_path_factory.mktemp("spoilt") / f"{instance}-{policy}.jsonl")
        found[instance, policy] = path, places
    assert {name for name, _ in found["star4", "active"][1].values()} == set(CORRUPTIONS)
    return found


def _goes_on(rows: list[Row], where: Place) -> bool:
    """False in a broker's last step: what is missing there may come after the end of the recording."""
    mine = (row for row in rows[1:] if row["broker"] == where.broker and row["seq"] > where.seq)
    return any(row["event"] in ("receive", "client") for row in mine)


LEVELS: tuple[Level, ...] = ("exact", "equivalent", "observable")

DAILY = {("exact", "star4", "active"), ("observable", "quotes3", "active")}
"""Each level is asked daily in one of the two forms, and each kind of filter; how the levels differ is tested of one
core (`tests/checker/validate`), whose report this one must equal."""


@pytest.mark.parametrize(
    ("level", "instance", "policy"), daily([(level, *each) for level in LEVELS for each in WORLDS], DAILY.__contains__)
)
def test_every_corruption(level: Level, instance: str, policy: str, spoilt: Spoilt, spark: "SparkSession") -> None:
    path, places = spoilt[instance, policy]
    _assert_shown(judge(spark, path, setting_of(path, level), ranges=100_000), path, level, places)


@pytest.mark.parametrize("level", daily(LEVELS, "equivalent".__eq__))
def test_every_corruption_in_parquet(level: Level, spoilt: Spoilt, spark: "SparkSession") -> None:
    source, places = spoilt["star4", "active"]
    path = source.with_suffix(".parquet")
    to_parquet(source, path)
    _assert_shown(judge(spark, path, setting_of(path, level)), path, level, places)


def _assert_shown(report: Report, path: Path, level: Level, places: dict[str, tuple[str, Place]]) -> None:
    assert report == validate(path, level)
    if level != "observable":
        for run, (name, where) in places.items():
            CORRUPTIONS[name].assert_shown(report.rejections, run, where, level)


@pytest.mark.parametrize(
    ("form", "damage", "level"),
    daily(
        product(("jsonl", "parquet"), ("cut", "middle"), ("exact", "observable")),
        {("jsonl", "middle", "observable"), ("parquet", "middle", "exact")}.__contains__,
    ),
)
def test_every_corruption_beside_lines_that_cannot_be_read(
    form: str, damage: str, level: Level, spoilt: Spoilt, tmp_path: Path, spark: "SparkSession"
) -> None:
    """What is certain and what is doubtful, and in which order: the same. With a cut last line, and with lines lost in
    the middle."""
    text = spoilt["star4", "active"][0].read_bytes()
    lines = text.splitlines(keepends=True)
    middle = len(lines) // 2
    path = tmp_path / "cut.jsonl"
    path.write_bytes(text[:-30] if damage == "cut" else b"".join([*lines[:middle], b"{ not json\n", *lines[middle:]]))
    if form == "parquet":
        to_parquet(path, path.with_suffix(".parquet"))
        path = path.with_suffix(".parquet")
    expected = validate(path, level)
    assert len(expected.rejections) > 10
    assert len(expected.doubtful) > 3
    assert judge(spark, path, setting_of(path, level), ranges=100_000) == expected


def test_a_truncated_file_and_events_of_other_runs(tmp_path: Path, spark: "SparkSession") -> None:
    rows = rows_of("line4", "active")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    cut = tmp_path / "cut.jsonl"
    cut.write_text(text[: len(text) * 2 // 3])
    report = judge(spark, cut, setting_of(cut, "exact"))
    assert (report.verdict, report.bad_lines, report.rejections) == ("unknown", 1, ())
    assert report == validate(cut, "exact")
    rows = rows_of("star4", "active", seed=1)
    for row in rows[len(rows) // 2 :]:
        row["run"] = "other"
    mixed = write(rows, tmp_path / "mixed.jsonl")
    report = judge(spark, mixed, setting_of(mixed, "exact"))
    assert {r.run for r in report.rejections} == {"other"}
    assert "TRC-3" in {r.rule for r in report.rejections}
    assert report == validate(mixed, "exact")


# -- however it is divided ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the simulator, with snapshots."""
    out = tmp_path_factory.mktemp("run")
    assert main(["run", "stock", "--scale", "0.005", "--trace", "--snapshots", "60", "--out", str(out)]) == 0
    return out / "trace.jsonl"


def spoil(run: Path, path: Path, number: int) -> Path:
    """Without its n-th last delivery."""
    lines = run.read_bytes().splitlines(keepends=True)
    lost = [i for i, line in enumerate(lines) if b'"event":"deliver"' in line][-number]
    path.write_bytes(b"".join(lines[:lost] + lines[lost + 1 :]))
    return path


@pytest.mark.parametrize(
    ("ranges", "part"),
    daily(product((20_000, 300_000, 1 << 23), (50, 1000)), {(300_000, 50), (1 << 23, 1000)}.__contains__),
)
def test_lines_in_ranges_and_parts(
    ranges: int, part: int, run: Path, tmp_path: Path, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "PART_EVENTS", part)
    path = spoil(run, tmp_path / "spoilt.jsonl", 40)
    expected = validate(path, "exact")
    assert expected.verdict == "rejected"
    assert judge(spark, path, setting_of(path, "exact"), ranges=ranges) == expected


def test_parts_are_cut_at_snapshots(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That there is something to divide: each part of a broker ends with the snapshot with which the next begins."""
    monkeypatch.setattr(groups, "PART_EVENTS", 50)
    blocks = []
    for place, line in enumerate(run.read_bytes().splitlines()[1:]):
        row = json.loads(line)
        blocks.append(groups.Block(b"r", row["broker"].encode(), place, 1, row["event"] == "snapshot", False))
    brokers = {block.broker for block in blocks}
    assigned = groups.of_blocks(blocks, 4)
    closes = sorted((a.place, a.part) for a in assigned if a.role == groups.CLOSES)
    begins = sorted((a.place, a.part - 1) for a in assigned if a.role == groups.BEGINS)
    assert closes == begins
    assert len(closes) > 20
    assert len({a.part for a in assigned}) == len(brokers) + len(closes)
    bare = [evolve(block, bare=True) for block in blocks]
    assert {a.role for a in groups.of_blocks(bare, 4)} == {groups.WITHIN}


@pytest.mark.parametrize(
    ("rows", "cut", "number"),
    daily(product((200, 3000), (True, False), (40, 400)), {(200, True, 400)}.__contains__),
)
def test_row_groups(
    rows: int, cut: bool, number: int, run: Path, tmp_path: Path, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "GROUP_ROWS", rows)
    path = tmp_path / "spoilt.parquet"
    to_parquet(spoil(run, tmp_path / "spoilt.jsonl", number), path, cut_at_snapshots=cut)
    expected = validate(path, "exact")
    assert expected.verdict == "rejected"
    assert judge(spark, path, setting_of(path, "exact")) == expected


def test_row_groups_that_others_wrote(run: Path, tmp_path: Path, spark: "SparkSession") -> None:
    """Brokers anywhere, in groups of any size."""
    import pyarrow.parquet as pq

    ours = tmp_path / "ours.parquet"
    to_parquet(run, ours)
    table = pq.read_table(ours).sort_by("line")
    path = tmp_path / "theirs.parquet"
    pq.write_table(table, path, row_group_size=700)
    assert validate(path, "exact").verdict == "accepted"
    assert judge(spark, path, setting_of(path, "exact")) == validate(path, "exact")


# -- what cannot be read -----------------------------------------------------------------------------------------------


RANGES = daily((70_000, 1 << 23), (70_000).__eq__)


@pytest.mark.parametrize("ranges", RANGES)
def test_bad_lines_keep_their_numbers(ranges: int, run: Path, tmp_path: Path, spark: "SparkSession") -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    lines.insert(900, b"{ not json\n")
    lines.insert(300, b"\n")
    lines.insert(1500, b'{"broker": "b1", "seq": 1, "event": "snapshot", "tables": 7}\n')
    lines.insert(
        1700, b'{"broker":"b1","seq":2,"event":"client","message":{"kind":"subscribe","id":"x","filter":[["a",">"]]}}\n'
    )
    lines.insert(2000, b"\xff\xfe\n")
    lines[-1] = lines[-1][:-20]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"".join(lines))
    expected = validate(path, "exact")
    assert (expected.verdict, expected.bad_lines) == ("unknown", 5)
    assert judge(spark, path, setting_of(path, "exact"), ranges=ranges) == expected


@pytest.mark.parametrize("ranges", RANGES)
def test_of_many_bad_lines_the_same_are_shown(ranges: int, run: Path, tmp_path: Path, spark: "SparkSession") -> None:
    """Those that nobody can read, those that mean nothing to their broker, and those with half a name."""
    rng, lines = random.Random(0), run.read_bytes().splitlines(keepends=True)
    odd = (
        b"{ not json\n",
        b'{"broker":"b1","seq":2,"event":"client","message":{"kind":"subscribe","id":"x","filter":[["a",">"]]}}\n',
        b'{"broker":"\\ud800","seq":1,"event":"note"}\n',
    )
    for _ in range(200):
        lines.insert(rng.randrange(1, len(lines)), rng.choice(odd))
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"".join(lines))
    expected = validate(path, "exact")
    assert (expected.bad_lines, len(expected.bad)) == (200, 20)
    assert judge(spark, path, setting_of(path, "exact"), ranges=ranges) == expected


@pytest.mark.parametrize("clock", daily([True, False], bool))
def test_subscriptions_that_come_and_go(clock: bool, tmp_path: Path, spark: "SparkSession") -> None:
    """So many that there are several eras, and deliveries for what was withdrawn in one of the others."""
    churn(tmp_path / "run.jsonl", 20_000)
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    if not clock:
        del rows[0]["clock"]
    delivered = [row for row in rows[1:] if row["event"] == "deliver"]
    delivered[-1]["message"]["to"] = delivered[0]["message"]["to"]
    delivered[-2]["message"]["to"] = "nobody"
    path = write(rows, tmp_path / "churn.jsonl")
    expected = validate(path, "observable")
    assert expected.verdict == "rejected"
    assert judge(spark, path, setting_of(path, "observable"), ranges=1 << 20) == expected


@pytest.mark.parametrize("broken", [False, True])
def test_compressed(broken: bool, run: Path, tmp_path: Path, spark: "SparkSession") -> None:
    data = gzip.compress(run.read_bytes())
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(data[: len(data) * 2 // 3] if broken else data)
    expected = validate(path, "exact")
    assert bool(expected.bad_lines) == broken
    assert expected.verdict == ("unknown" if broken else "accepted")
    assert judge(spark, path, setting_of(path, "exact")) == expected


def test_a_row_group_that_is_broken(run: Path, tmp_path: Path, spark: "SparkSession") -> None:
    path = tmp_path / "run.parquet"
    to_parquet(run, path)
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)
    expected = validate(path, "exact")
    assert expected.bad_lines
    assert judge(spark, path, setting_of(path, "exact")) == expected


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"broker": "b1", "seq": 1, "event": "note"}],
        [
            {
                "broker": "\ud800",
                "seq": 1,
                "event": "client",
                "message": {"kind": "subscribe", "id": "\ud801", "filter": [1]},
            }
        ],
    ],
)
def test_traces_with_next_to_nothing(rows: list[Row], tmp_path: Path, spark: "SparkSession") -> None:
    path = write([rows_of("star4", "active")[0], *rows], tmp_path / "small.jsonl")
    expected: Report = validate(path, "exact")
    assert judge(spark, path, setting_of(path, "exact")) == expected


@pytest.mark.parametrize("seed", daily(range(6), lambda seed: seed < 2))
def test_mutated_traces(seed: int, tmp_path: Path, spark: "SparkSession") -> None:
    """Files that nobody should have written: the same report, or the same refusal before anything starts."""
    path, rng = write(rows_of("star4", "active", seed=1), tmp_path / "mutated.jsonl"), random.Random(seed)
    header, _, rest = path.read_bytes().partition(b"\n")
    for _ in range(4):
        rest = (flip, retype)[seed % 2](rest, rng)
    path.write_bytes(header + b"\n" + rest)
    setting = setting_of(path, "exact")
    assert judge(spark, path, setting, ranges=3000) == validate(path, "exact")


def test_a_protocol_from_outside(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs and corruptions of them, all in one file and each a run, are judged as on one core."""
    monkeypatch.setenv(plugins.VARIABLE, ferry_runs.NAME)
    rows = [ferry_runs.run_of("active", 0)[0]]
    rows += [{**row, "run": "well"} for row in ferry_runs.run_of("active", 0)[1:]]
    for name, (spoil, _, _) in ferry_runs.CORRUPTIONS.items():
        mine = next(run for seed in range(30) if spoil(run := ferry_runs.run_of("active", seed)))
        rows += [{**row, "run": name} for row in mine[1:]]
    path = write(rows, tmp_path / "runs.jsonl")
    setting = setting_of(path, "exact")
    report = judge(spark, path, setting)
    assert report == validate(path, "exact")
    assert {each.run for each in report.rejections} == set(ferry_runs.CORRUPTIONS)


CORRUPTED = {
    "move3": {name: spoil for name, (spoil, _) in migration_runs.CORRUPTIONS.items()},
    **{
        instance: {name: spoil for name, (of, spoil, _) in found.items() if of == instance}
        for found, instance in (
            (placement_runs.CORRUPTIONS, "pop3"),
            (placement_runs.CORRUPTIONS, "grape3"),
            (SWITCHED, "square4"),
        )
    },
}
CUT_OFF = {"the farewell not sent", "the answer not sent", "the traces not answered", "a copy not passed on"}
"""Corruptions of what may be the last step of a broker: a recording may have cut it off."""
JUDGED = [("move3", "parquet"), ("pop3", "jsonl"), ("grape3", "parquet"), ("square4", "jsonl"), ("move3", "jsonl")]


@pytest.mark.parametrize(("name", "form"), daily(JUDGED, lambda case: case != ("move3", "jsonl")))
def test_runs_that_a_handler_judges(name: str, form: str, spark: "SparkSession", tmp_path: Path) -> None:
    """Moves: clients with channels to several brokers, and what a paused publisher holds back. Placement: headers of
    traced publications. Trees: stamps, tables, markers, and a coordinator with a channel to each broker.
    """
    assert len(CORRUPTED[name]) >= 8
    policy = "none" if name == "square4" else "active"
    rows = run_of(name, policy, 0)[:1]
    rows += [{**row, "run": "well"} for row in run_of(name, policy, 0)[1:]]
    for fault, spoil in CORRUPTED[name].items():
        mine = next(run for seed in range(60) if spoil(run := run_of(name, policy, seed)))
        rows += [{**row, "run": fault} for row in mine[1:]]
    path = write(rows, tmp_path / "runs.jsonl")
    if form == "parquet":
        to_parquet(path, path := tmp_path / "runs.parquet")
    report = judge(spark, path, setting_of(path, "exact"))
    assert report == validate(path, "exact")
    assert set(CORRUPTED[name]) - {each.run for each in report.rejections} <= CUT_OFF


@pytest.mark.parametrize("clock", daily([True, False], False.__eq__))
def test_owed_deliveries_link_by_link(clock: bool, tmp_path: Path, spark: "SparkSession") -> None:
    """Runs in which control traffic never rests, correct and with a lost delivery: counts and rejections are equal."""
    rows: list[Row] = []
    for seed, policy in enumerate(("none", "lazy")):
        path = Churn(policy, 1, newcomers=25).record(tmp_path / "run.jsonl", clock=clock)
        mine = [json.loads(line) for line in path.read_text().splitlines()]
        rows = rows or mine[:1]
        rows += as_run(mine, f"correct {policy}")
        lost = random.Random(seed).choice([n for n, row in enumerate(mine) if row.get("event") == "deliver"])
        rows += as_run([*mine[:lost], *mine[lost + 1 :]], f"spoilt {policy}")
    path = write(rows, tmp_path / "runs.jsonl")
    expected = validate(path, "observable")
    assert expected.extent.owed > 0
    assert {r.run.split()[0] for r in expected.rejections} <= {"spoilt"}
    assert judge(spark, path, setting_of(path, "observable"), ranges=60_000) == expected
