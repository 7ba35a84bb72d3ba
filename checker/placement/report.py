"""The answer as text, as JSON and as Parquet. Nothing in them depends on the engine or on how long it took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from routeproof.checker.placement.choosing import ALGORITHMS, NOW, Choice, PlacedPublisher
from routeproof.checker.placement.engines import PlacementAnswer
from routeproof.checker.system.files import whole
from routeproof.checker.system.terminal import count, printable, table
from routeproof.checker.validate.store import name_of, natural

PRINTED = 20
"""Publishers that are printed: those that gain most."""

KINDS = {"a": "advertisement", "c": "client"}
UNITS = {"ns": 1e6, "hops": 1.0}
"""Delays are shown in milliseconds or hops; by the unit that they are counted in, how many are one."""


@frozen
class Total:
    algorithm: str
    moved: int
    messages: int
    """Input messages of all brokers."""
    busiest: str
    """The broker with the most input messages."""
    busiest_messages: int
    delay: float | None
    """The mean of all deliveries, in the unit of the run."""
    hops: float | None


def totals(placement: PlacementAnswer, run: bytes) -> list[Total]:
    """The present places first, then each algorithm."""
    mine = [p for p in placement.publishers if p.key[0] == run]
    deliveries = sum(p.deliveries for p in mine)
    found = []
    for number, algorithm in enumerate((NOW, *ALGORITHMS)):
        choices = [p.choices[number] for p in mine]
        loads = placement.loads[run].by_algorithm[algorithm]
        most = max(range(len(loads)), key=lambda b: (loads[b], -b))
        moved = sum(c.target != p.key[2] for c, p in zip(choices, mine, strict=True))
        sums = (sum(c.delay for c in choices), sum(c.hops for c in choices))
        delay, hops = (each / deliveries if deliveries else None for each in sums)
        found.append(Total(algorithm, moved, sum(loads), placement.frame.names[most], loads[most], delay, hops))
    return found


def change(after: float | None, before: float | None) -> float | None:
    """The change as a share of what was there before; None where there was nothing."""
    return None if after is None or not before else after / before - 1


def percent(after: float | None, before: float | None) -> str:
    found = change(after, before)
    return "-" if found is None else f"{100 * found:+.1f} %" if found else "0"


def who(publisher: PlacedPublisher) -> tuple[str, str]:
    """The kind of a publisher's name, and the name: its advertisement, or its client, or nothing."""
    text = name_of(publisher.key[1])
    return KINDS.get(text[:1], "unnamed"), text[1:]


# -- text --------------------------------------------------------------------------------------------------------------


def text(placement: PlacementAnswer) -> str:
    """The report for people, printable whatever the trace holds."""
    lines = [f"{printable(placement.trace)}: {subject(placement)}, {placement.seconds:.1f} s"]
    for run in placement.loads:
        lines += ["", *_run(placement, run)]
    lines += [f"  {printable(each)}" for each in remarks(placement)]
    return "\n".join(lines)


def subject(placement: PlacementAnswer) -> str:
    found = placement.remarks
    wish = placement.wish
    return (
        f"{count(len(placement.publishers), 'publisher')} at {count(len(placement.frame), 'broker')},"
        f" {count(found.published, 'publication')}, {count(found.delivered, 'delivery', 'deliveries')};"
        f" metric {wish.metric}, weight {wish.weight:g}"
    )


def _run(placement: PlacementAnswer, run: bytes) -> Iterator[str]:
    yield f"  run {printable(name_of(run))}"
    now, *_ = every = totals(placement, run)
    unit = placement.units[run]
    delay = "delay, ms" if unit == "ns" else "delay, hops"
    head = ("", "moved", "messages", "change", "busiest broker", "messages", "change", delay, "change", "hops")
    rows: list[tuple[str, ...]] = [
        (
            each.algorithm,
            f"{each.moved:,}",
            f"{each.messages:,}",
            percent(each.messages, now.messages),
            printable(each.busiest),
            f"{each.busiest_messages:,}",
            percent(each.busiest_messages, now.busiest_messages),
            shown(each.delay, unit),
            percent(each.delay, now.delay),
            shown(each.hops, "hops"),
        )
        for each in every
    ]
    yield from (f"    {line}" for line in table(head, rows, "lrrrlrrrrr"))
    best = gaining(placement, run)
    yield ""
    publishers: list[tuple[str, ...]] = [
        (
            printable(who(p)[1]) or "(unnamed)",
            printable(placement.frame.names[p.key[2]]),
            f"{p.publications:,}",
            *(printable(placement.frame.names[c.target]) for c in p.choices[1:]),
            percent(p.choices[2].messages, p.choices[0].messages),
            percent(p.choices[2].delay, p.choices[0].delay),
        )
        for p in best[:PRINTED]
    ]
    columns = ("publisher", "is at", "publications", *ALGORITHMS, "messages", "delay")
    yield from (f"    {line}" for line in table(columns, publishers, "llrlllrr"))
    if len(best) > PRINTED:
        yield f"    and {len(best) - PRINTED:,} more; --json and --out have all"


def gaining(placement: PlacementAnswer, run: bytes) -> list[PlacedPublisher]:
    """The publishers of a run, those first whose place under GRAPE saves most by the metric."""
    load = placement.wish.metric == "load"

    def saved(publisher: PlacedPublisher) -> int:
        now, grape = publisher.choices[0], publisher.choices[2]
        return now.messages - grape.messages if load else now.delay - grape.delay

    mine = (p for p in placement.publishers if p.key[0] == run)
    return sorted(mine, key=lambda p: (-saved(p), natural(who(p)[1]), p.key))


def shown(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value / UNITS[unit]:,.2f}"


def remarks(placement: PlacementAnswer) -> list[str]:
    """Remarks on events that were left out, and on how delays were counted."""
    found, left = placement.remarks, []
    unmatched = sum(p.publications - p.matched for p in placement.publishers)
    if unmatched:
        left.append(f"{count(unmatched, 'publication')} delivered nowhere, which cost the same wherever they are made")
    if found.unpublished:
        left.append(f"left out: {count(found.unpublished, 'delivery', 'deliveries')} of something no client published")
    if found.repeated:
        left.append(f"left out: {count(found.repeated, 'publication')} whose id was used before")
    if placement.outside:
        left.append(f"left out: {count(placement.outside, 'event')} at brokers that are not in the overlay")
    if "hops" in placement.units.values():
        left.append("delays are counted in hops: the trace has no shared clock, or no times of receipts")
    if placement.bad.count:
        first = placement.bad.first[0]
        left.append(f"{count(placement.bad.count, 'line')} could not be read; line {first.number:,}: {first.reason}")
    return left


# -- JSON --------------------------------------------------------------------------------------------------------------


def as_json(placement: PlacementAnswer) -> dict[str, Any]:
    return {
        "trace": placement.trace,
        "metric": placement.wish.metric,
        "weight": placement.wish.weight,
        "brokers": list(placement.frame.names),
        "events": placement.events,
        "publications": placement.remarks.published,
        "deliveries": placement.remarks.delivered,
        "runs": [_run_json(placement, run) for run in placement.loads],
        "remarks": remarks(placement),
        "bad_lines": placement.bad.count,
        "bad": [{"line": b.number, "reason": b.reason} for b in placement.bad.first],
    }


def _run_json(placement: PlacementAnswer, run: bytes) -> dict[str, Any]:
    now, *_ = every = totals(placement, run)
    return {
        "run": name_of(run),
        "delay_unit": placement.units[run],
        "totals": [
            {
                "algorithm": each.algorithm,
                "moved": each.moved,
                "messages": each.messages,
                "messages_change": change(each.messages, now.messages),
                "busiest": each.busiest,
                "busiest_messages": each.busiest_messages,
                "busiest_change": change(each.busiest_messages, now.busiest_messages),
                "delay": each.delay,
                "delay_change": change(each.delay, now.delay),
                "hops": each.hops,
                "hops_change": change(each.hops, now.hops),
            }
            for each in every
        ],
        "load": placement.loads[run].by_algorithm,
        "publishers": [_publisher_json(placement, p) for p in placement.publishers if p.key[0] == run],
    }


def _publisher_json(placement: PlacementAnswer, publisher: PlacedPublisher) -> dict[str, Any]:
    kind, name = who(publisher)
    now = publisher.choices[0]
    return {
        "publisher": name,
        "named_by": kind,
        "at": placement.frame.names[publisher.key[2]],
        "publications": publisher.publications,
        "matched": publisher.matched,
        "deliveries": publisher.deliveries,
        "places": [
            {
                "algorithm": each.algorithm,
                "broker": placement.frame.names[each.target],
                "messages": each.messages,
                "messages_change": change(each.messages, now.messages),
                "delay": _mean(each.delay, publisher),
                "delay_change": change(each.delay, now.delay),
                "hops": _mean(each.hops, publisher),
            }
            for each in publisher.choices
        ],
    }


def _mean(total: int, publisher: PlacedPublisher) -> float | None:
    return total / publisher.deliveries if publisher.deliveries else None


# -- Parquet -----------------------------------------------------------------------------------------------------------


def write_tables(placement: PlacementAnswer, target: Path) -> None:
    """Writes `placement.parquet`, a row for each publisher and algorithm, and `load.parquet`, one for each broker."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = dict.fromkeys(("run", "publisher", "named_by", "at", "algorithm", "broker", "delay_unit"), pa.string())
    numbers = dict.fromkeys(("publications", "matched", "deliveries", "messages", "messages_now"), pa.int64())
    means = dict.fromkeys(("delay", "delay_now", "hops", "hops_now"), pa.float64())
    rows = [_row(placement, p, each) for p in placement.publishers for each in p.choices[1:]]
    loads = [
        {"run": printable(name_of(run)), "broker": name, "algorithm": algorithm, "messages": many}
        for run, of_run in placement.loads.items()
        for algorithm, brokers in of_run.by_algorithm.items()
        for name, many in zip(placement.frame.names, brokers, strict=True)
    ]
    of_loads = [*((name, pa.string()) for name in ("run", "broker", "algorithm")), ("messages", pa.int64())]
    for name, content, kinds in (
        ("placement.parquet", rows, [*words.items(), *numbers.items(), *means.items()]),
        ("load.parquet", loads, of_loads),
    ):
        with whole(target / name) as part:
            pq.write_table(pa.Table.from_pylist(content, schema=pa.schema(kinds)), part, compression="zstd")


def _row(placement: PlacementAnswer, publisher: PlacedPublisher, each: Choice) -> dict[str, Any]:
    kind, name = who(publisher)
    run, _, home = publisher.key
    now = publisher.choices[0]
    return {
        "run": name_of(run),
        "publisher": name,
        "named_by": kind,
        "at": placement.frame.names[home],
        "algorithm": each.algorithm,
        "broker": placement.frame.names[each.target],
        "delay_unit": placement.units[run],
        "publications": publisher.publications,
        "matched": publisher.matched,
        "deliveries": publisher.deliveries,
        "messages": each.messages,
        "messages_now": now.messages,
        "delay": _mean(each.delay, publisher),
        "delay_now": _mean(now.delay, publisher),
        "hops": _mean(each.hops, publisher),
        "hops_now": _mean(now.hops, publisher),
    }
