"""How fast traces are validated: on one core and on Spark, in both forms, even and lopsided; and in how much memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from routeproof.checker.bench.measuring import Clock, Row, afresh, aim, keep_to, peak_megabytes
from routeproof.checker.bench.recorded import BROKERS, churn, lopsided, stock
from routeproof.checker.validate import setting_of, validate
from routeproof.traces import to_parquet

SHORT, LONG, STAR = 200_000, 2_000_000, 700_000
SNAPSHOTS = 10_000
HOT = 0.9

ON_SPARK = ((1, 1), (2, 1), (2, 2))
"""Cores, and tasks at a time. With one task on two cores Spark's own threads have the second to themselves: less than
two cores, and more than one."""

FAST = {".jsonl": 120_000, ".parquet": 250_000}
"""Events per second of processor time that we want of one core, by form."""

FAST_CHURN = 12_000
"""The same where subscriptions come and go all the time, from JSON Lines."""

FLAT = 1.10
"""Times the memory of the short trace that the long one may take."""

TWICE = 1.6
"""Times as fast as on one core that we want Spark to be on two."""

LOPSIDED = 1.2
"""Times as long as for an even trace that Spark may take for one most of which is one broker's."""


def validation() -> list[Row]:
    """Every check on, level exact. The first row of each group is what the others are divided by."""
    with tempfile.TemporaryDirectory() as folder:
        made = afresh(_make, Path(folder))
        rows = []
        for form in (".jsonl", ".parquet"):
            group = [afresh(_locally, made[name + form]) for name in ("short", "long")]
            rows += with_aims(_ratios(group, "events/cpu s"), FAST[form])
        group = [afresh(_locally, made[name]) for name in ("churn.jsonl", "long-churn.jsonl")]
        rows += with_aims(_ratios(group, "events/cpu s"), FAST_CHURN)
        timed = [afresh(_on_spark, made, cores, tasks) for cores, tasks in ON_SPARK]
        for name in ("long.jsonl", "long.parquet"):
            rows += at_least(TWICE, "times one core", _ratios([each[name] for each in timed], "events/s"))
        lopsided = _ratios([timed[-1][name] for name in ("even.parquet", "hot.parquet")], "events/s")
        return rows + at_least(round(1 / LOPSIDED, 2), "times an even one", lopsided)


def _ratios(group: list[Row], by: str) -> list[Row]:
    return [{**row, "ratio": round(row[by] / group[0][by], 2)} for row in group]


def with_aims(group: list[Row], fast: int) -> list[Row]:
    """Of the longest trace: is it judged as fast as we want, in memory that stays flat?"""
    longest = group[-1]
    grown = longest["peak MB"] / group[0]["peak MB"]
    aims = [
        aim(longest["events/cpu s"] >= fast, f"{fast:,} events/cpu s"),
        aim(grown <= FLAT, f"{FLAT:.2f} times the memory"),
    ]
    longest |= {"MB ratio": round(grown, 2), "aims": "; ".join(aims)}
    return group


def at_least(wanted: float, what: str, group: list[Row]) -> list[Row]:
    """The last of a group against its first."""
    group[-1]["aims"] = aim(group[-1]["ratio"] >= wanted, f"{wanted} {what}")
    return group


def _make(folder: Path) -> dict[str, Path]:
    made = {name: folder / name for name in ("short.jsonl", "long.jsonl", "even.jsonl", "hot.jsonl")}
    stock(made["short.jsonl"], SHORT)
    stock(made["long.jsonl"], LONG)
    lopsided(made["even.jsonl"], STAR, 1 / BROKERS, SNAPSHOTS)
    lopsided(made["hot.jsonl"], STAR, HOT, SNAPSHOTS)
    for name, path in list(made.items()):
        target = path.with_suffix(".parquet")
        to_parquet(path, target, cut_at_snapshots=True)
        made[name.replace(".jsonl", ".parquet")] = target
    for name, events in (("churn.jsonl", SHORT), ("long-churn.jsonl", LONG)):
        made[name] = folder / name
        churn(made[name], events)
    return made


def _locally(path: Path) -> Row:
    clock = Clock()
    report = validate(path)
    assert report.verdict == "accepted", report
    return _row(path, "local", 1, 1, report.events, clock)


def _on_spark(made: dict[str, Path], cores: int, tasks: int) -> dict[str, Row]:
    """In a session that stands: each trace is judged after a short one was."""
    from routeproof.checker.spark.session import session
    from routeproof.checker.validate.spark.job import judge

    rows = {}
    keep_to(cores)
    with session(cores=tasks) as spark:
        for form in (".jsonl", ".parquet"):
            warm = made["short" + form]
            judge(spark, warm, setting_of(warm, "exact"))
        for name in ("long.jsonl", "long.parquet", "even.parquet", "hot.parquet"):
            setting = setting_of(made[name], "exact")
            clock = Clock()
            report = judge(spark, made[name], setting)
            assert report.verdict == "accepted", report
            rows[name] = _row(made[name], "spark", cores, tasks, report.events, clock)
    return rows


def _row(path: Path, engine: str, cores: int, tasks: int, events: int, clock: Clock) -> Row:
    """On Spark, processor time and memory are those of many processes, and not told."""
    local = engine == "local"
    return {
        "trace": path.name,
        "engine": engine,
        "cores": cores,
        "tasks": tasks,
        "events": events,
        "seconds": round(clock.wall, 1),
        "events/s": round(events / clock.wall),
        "events/cpu s": round(events / clock.cpu) if local else "",
        "peak MB": peak_megabytes() if local else "",
        "ratio": "",
        "MB ratio": "",
        "aims": "",
    }
