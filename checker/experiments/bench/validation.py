"""How fast traces are validated: on one core and on Spark, in both forms, even and lopsided; and in how much memory.

Traces to be validated, as the simulator records them: of any length, and as even or as lopsided as one wants.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from attrs import evolve

from routeproof.checker.experiments.bench import ProcessTimer, Row, afresh, aim, keep_to, peak_megabytes
from routeproof.checker.system.processes import collecting_rarely
from routeproof.checker.validate import setting_of, validate
from routeproof.impl.observers import OBSERVES, Recorder
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import MILLISECOND, Costs, Simulator, TimedOperation
from routeproof.impl.workloads.stock import VOLUME, Stock, promised, quotes, symbol, wanted
from routeproof.impl.workloads.workload import Ids, Workload, stream
from routeproof.model.messages import Advertise, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Overlay
from routeproof.traces import TraceWriter, broker_name, to_parquet

POLICY = "active"

MILLISECONDS_PER_EVENT = 1_080_000 / 3_060_000
"""Simulated time per event of the stock workload at its full size, once the subscriptions stand."""

BROKERS = 8
SUBSCRIBERS = 6
"""To the stock of each broker of `lopsided`, at that broker."""

STANDING = 50
"""Subscriptions that stand at one time in `churn`."""

EVENTS_PER_NEWCOMER = 31.5
"""In `churn`: it comes, it is withdrawn, and in between there are two publications."""


def stock(path: Path, events: int) -> None:
    """Quotes of 40 stocks to 4,000 subscriptions on 63 brokers, for so long that there are about so many events."""
    recipe = evolve(Stock(), run_ms=round(events * MILLISECONDS_PER_EVENT))
    _record(path, recipe.workload(0), 0)


def lopsided(path: Path, events: int, share: float, snapshots: int) -> None:
    """A star whose brokers have their publisher and subscribers with them; the first has this share of the events."""
    overlay = Overlay.of((1, broker) for broker in range(2, BROKERS + 1))
    publications = events // (1 + SUBSCRIBERS)
    _record(path, Workload(overlay, lambda: _local(publications, share), {}, {}, MILLISECOND), snapshots)


def churn(path: Path, events: int) -> None:
    """A star where some subscriptions stand at any time, and no id stays: for each that comes the oldest goes."""
    overlay = Overlay.of((1, broker) for broker in range(2, BROKERS + 1))
    newcomers = round(events / EVENTS_PER_NEWCOMER)
    _record(path, Workload(overlay, lambda: _passing(newcomers), {}, {}, MILLISECOND), 0)


def _passing(newcomers: int) -> Iterator[TimedOperation]:
    ids, time, draw = Ids(), 0, stream(0, "churn")
    stocks = {broker: quotes(symbol(broker), stream(0, f"stock {broker}")) for broker in range(1, BROKERS + 1)}
    advertisements = {broker: ids.advertisement(promised(symbol(broker))) for broker in stocks}
    for broker, advertisement in advertisements.items():
        yield TimedOperation(time, broker, Advertise(advertisement))
    standing = deque[tuple[int, Subscription]]()
    for _ in range(newcomers):
        time += 20 * MILLISECOND
        broker, of = draw.randint(1, BROKERS), symbol(draw.randint(1, BROKERS))
        wants = [*wanted(of, "high"), ["volume", ">", draw.randrange(2 * VOLUME)]]
        standing.append((broker, ids.subscription(wants)))
        yield TimedOperation(time, broker, Subscribe(standing[-1][1]))
        if len(standing) > STANDING:
            broker, oldest = standing.popleft()
            yield TimedOperation(time + 10 * MILLISECOND, broker, Unsubscribe(oldest))
        for _ in range(2):
            time += 10 * MILLISECOND
            broker = draw.randint(1, BROKERS)
            yield TimedOperation(time, broker, Publish(ids.publication(advertisements[broker], next(stocks[broker]))))


def _local(publications: int, share: float) -> Iterator[TimedOperation]:
    ids, time = Ids(), 0
    advertisements = {}
    for broker in range(1, BROKERS + 1):
        advertisements[broker] = ids.advertisement(promised(symbol(broker)))
        yield TimedOperation(time, broker, Advertise(advertisements[broker]))
        for _ in range(SUBSCRIBERS):
            time += MILLISECOND
            yield TimedOperation(time, broker, Subscribe(ids.subscription(wanted(symbol(broker), "high"))))
    stocks = {broker: quotes(symbol(broker), stream(0, f"stock {broker}")) for broker in advertisements}
    draw = stream(0, "brokers")
    for _ in range(publications):
        time += 10 * MILLISECOND
        broker = 1 if draw.random() < share else draw.randrange(2, BROKERS + 1)
        publication = ids.publication(advertisements[broker], next(stocks[broker]))
        yield TimedOperation(time, broker, Publish(publication))


def _record(path: Path, workload: Workload, snapshots: int) -> None:
    overlay = workload.overlay
    observes = (*OBSERVES, "snapshot") if snapshots else OBSERVES
    told = {"policy": POLICY, "overlay": overlay.edges, "observes": observes, "clock": "shared"}
    with TraceWriter(path, "bench", **told) as trace, collecting_rarely():  # type: ignore[arg-type]  # keys of a header
        Simulator(
            overlay,
            lambda broker: Broker(broker, overlay.neighbours(broker), POLICY),
            Costs.measured(POLICY),
            observers=[Recorder(trace, broker_name, snapshots)],
        ).play(workload.operations())


SHORT, LONG, STAR = 200_000, 2_000_000, 700_000
SNAPSHOTS = 10_000
HOT = 0.9

ON_SPARK = ((1, 1), (2, 1), (2, 2))
"""Cores, and tasks at a time. With one task on two cores Spark's own threads have the second to themselves: less than
two cores, and more than one."""

FAST = {".jsonl": 120_000, ".parquet": 250_000}
"""Events per second of processor time that we want of one core, by form."""

FAST_CHURN = 12_000
"""Aim for JSON Lines where subscriptions come and go all the time, in events per CPU second."""

FLAT = 1.10
"""Times the memory of the short trace that the long one may take."""

TWICE = 1.6
"""Times as fast as on one core that we want Spark to be on two."""

LOPSIDED = 1.2
"""Times as long as for an even trace that Spark may take for one most of which is one broker's."""


def validation() -> Iterator[Row]:
    """Every check on, level exact. The first row of a group is what the others are divided by."""
    with tempfile.TemporaryDirectory() as folder:
        made = afresh(_make, Path(folder))
        for form in (".jsonl", ".parquet"):
            yield from _short_and_long(made["short" + form], made["long" + form], FAST[form])
        yield from _short_and_long(made["churn.jsonl"], made["long-churn.jsonl"], FAST_CHURN)
        timed: list[dict[str, Row]] = []
        for cores, tasks in ON_SPARK:
            timed.append(afresh(_on_spark, made, cores, tasks))
            for name in ("long.jsonl", "long.parquet"):
                group = _ratios([each[name] for each in timed], "events/s")
                if len(group) == len(ON_SPARK):
                    group = at_least(TWICE, "times one core", group)
                yield group[-1]
        lopsided = _ratios([timed[-1][name] for name in ("even.parquet", "hot.parquet")], "events/s")
        yield from at_least(round(1 / LOPSIDED, 2), "times an even one", lopsided)


def _short_and_long(short: Path, long: Path, fast: int) -> Iterator[Row]:
    """A short trace and a long one, on one core; `fast` is the aim, in events per CPU second."""
    first = _with_plain_read(afresh(_locally, short), short)
    yield _ratios([first], "events/cpu s")[0]
    last = _with_plain_read(afresh(_locally, long), long)
    yield with_aims(_ratios([first, last], "events/cpu s"), fast)[-1]


def _with_plain_read(row: Row, path: Path) -> Row:
    plain, reader = afresh(plain_read, path)
    times = round(row["events"] / row["events/cpu s"] / plain, 1)
    return {**row, "times a plain read": f"{times} ({reader})"}


def _ratios(group: list[Row], by: str) -> list[Row]:
    return [{**row, "ratio": round(row[by] / group[0][by], 2)} for row in group]


def with_aims(group: list[Row], fast: int) -> list[Row]:
    """Adds to the longest trace's row whether throughput and memory reach their aims."""
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
    clock = ProcessTimer()
    report = validate(path)
    assert report.verdict == "accepted", report
    return _row(path, "local", 1, 1, report.events, clock)


def plain_read(path: Path) -> tuple[float, str]:
    """CPU seconds of a program that does far less, and with what: of JSON Lines, one that reads each line with msgspec;
    of Parquet, one that judges nothing but deliveries in polars or, where polars is not installed, one that joins them
    with their publications in pyarrow."""
    clock = ProcessTimer()
    if path.suffix == ".parquet":
        with suppress(ModuleNotFoundError):
            wrong_deliveries(path)
            return clock.cpu, "polars"
        _joined(path)
        return clock.cpu, "pyarrow"
    with path.open("rb") as lines:
        for line in lines:
            msgspec.json.decode(line)
    return clock.cpu, "msgspec"


COMPARED = {"=": "eq", ">": "gt", ">=": "ge", "<": "lt", "<=": "le"}
"""Operators of the filters in these traces, and what polars calls them."""


def wrong_deliveries(path: Path) -> int:
    """Number of deliveries that are lost, or that no subscription wanted which stood when the publication was made, by
    the times of their own brokers. Filters with the same attributes and operators are one join."""
    import polars as pl

    texts = (pl.col(name).cast(pl.String) for name in ("id", "to", "filter", "attributes"))
    read = pl.scan_parquet(path).select("event", "kind", "time", *texts)
    came = read.filter(event="deliver").select("id", "to")
    clients = read.filter(event="client").collect()
    made, wants = clients.filter(kind="publish"), clients.filter(kind="subscribe")
    gone = clients.filter(kind="unsubscribe").select(to="id", until="time")
    published = pl.DataFrame(list(map(msgspec.json.decode, made["attributes"]))).with_columns(made["id"], made["time"])
    shapes: dict[tuple[tuple[str, str], ...], list[tuple[object, ...]]] = {}
    for id, since, text in wants.select("id", "time", "filter").iter_rows():
        predicates = msgspec.json.decode(text)
        shape = tuple((attribute, operator) for attribute, operator, _ in predicates)
        shapes.setdefault(shape, []).append((id, since, *(constant for *_, constant in predicates)))
    matching = []
    for shape, rows in shapes.items():
        subscriptions = pl.DataFrame(rows, ["to", "since", *map(str, range(len(shape)))], orient="row")
        equal = {str(at): name for at, (name, operator) in enumerate(shape) if operator == "="}
        pairs = published.lazy().join(subscriptions.lazy(), left_on=list(equal.values()), right_on=list(equal))
        for at, (name, operator) in enumerate(shape):
            if operator != "=":
                pairs = pairs.filter(getattr(pl.col(name), COMPARED[operator])(pl.col(str(at))))
        matching.append(pairs.filter(pl.col("since") <= pl.col("time")).select("id", "to", "time"))
    stood = pl.concat(matching).join(gone.lazy(), "to", how="left")
    owed = stood.filter(pl.col("until").is_null() | (pl.col("time") < pl.col("until"))).select("id", "to")
    keys = ["id", "to"]
    both = pl.collect_all([owed.join(came, keys, how="anti"), came.join(owed, keys, how="anti")])
    return sum(map(len, both))


def _joined(path: Path) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    read = pq.read_table(path, columns=["event", "kind", "id", "broker", "to", "time"])
    events, kinds = (read[name].cast(pa.string()) for name in ("event", "kind"))
    made = read.filter(pc.and_(pc.equal(events, "client"), pc.equal(kinds, "publish")))
    came = read.filter(pc.equal(events, "deliver"))
    ids = [each["id"].cast(pa.string()) for each in (made, came)]
    published = pa.table({"id": ids[0], "home": made["broker"].cast(pa.string()), "made": made["time"]})
    delivered = pa.table({"id": ids[1], "to": came["to"].cast(pa.string()), "came": came["time"]})
    return len(delivered.join(published, "id"))


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
            clock = ProcessTimer()
            report = judge(spark, made[name], setting)
            assert report.verdict == "accepted", report
            rows[name] = _row(made[name], "spark", cores, tasks, report.events, clock)
    return rows


def _row(path: Path, engine: str, cores: int, tasks: int, events: int, clock: ProcessTimer) -> Row:
    """On Spark, processor time and memory belong to many processes and are not reported."""
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
        **dict.fromkeys(("times a plain read", "ratio", "MB ratio", "aims"), ""),
    }
