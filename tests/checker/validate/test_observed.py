"""The table of `docs/howto/emit-traces.md`, *What you can observe, and what is then found*: an experiment for each row.

Each is a run of the foreign network with a fault, of which less and less is written.
"""

from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from routeproof.checker.validate import Level, Report
from tests.checker.validate.foreign import FAULTS, SCRIPT, Row, network
from tests.checker.validate.walks import judged

ALL = ("client", "receive", "send", "deliver")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "howto" / "emit-traces.md"
Spoil = Callable[[list[Row]], object]


def seen(rows: list[Row], kinds: Collection[str] = ALL, **header: object) -> list[Row]:
    """What is written by brokers that observe these kinds."""
    found = {**rows[0], "observes": list(kinds), **header}
    return [found, *({**row} for row in rows[1:] if row["event"] in kinds)]


def bare(rows: list[Row], *keys: str, of: Collection[str] = ALL) -> list[Row]:
    """Without keys of the events of some kinds, or of the header and of messages."""
    header = {key: value for key, value in rows[0].items() if key not in keys}
    left = [{k: v for k, v in row.items() if k not in keys or row["event"] not in of} for row in rows[1:]]
    return [header, *({**r, "message": {k: v for k, v in r["message"].items() if k not in keys}} for r in left)]


def lose(event: str, id: str, broker: str) -> Spoil:
    def spoil(rows: list[Row]) -> None:
        rows.remove(_row(rows, event, id, broker))

    return spoil


def double(event: str, id: str, broker: str) -> Spoil:
    def spoil(rows: list[Row]) -> None:
        row = _row(rows, event, id, broker)
        for each in rows[1:]:
            each["seq"] *= 2
        rows.insert(rows.index(row) + 1, {**row, "seq": row["seq"] + 1})

    return spoil


def alter(event: str, id: str, broker: str, **changes: object) -> Spoil:
    def spoil(rows: list[Row]) -> None:
        row = _row(rows, event, id, broker)
        row["message"] = {**row["message"], **changes}

    return spoil


def _row(rows: list[Row], event: str, id: str, broker: str) -> Row:
    return next(r for r in rows[1:] if (r["event"], r["message"]["id"], r["broker"]) == (event, id, broker))


def spoilt(spoil: Spoil | str) -> list[Row]:
    if isinstance(spoil, str):
        return network(SCRIPT, spoil)
    rows = [{**row} for row in network(SCRIPT)]
    spoil(rows)
    return rows


OTHER = {"price": 36, "volume": 9}
ON_LINKS: dict[str, tuple[Spoil, str]] = {
    "a message lost": (lose("receive", "narrow", "r3"), "TRC-3"),
    "a message twice": (double("receive", "end1", "r3"), "TRC-3"),
    "a message altered": (alter("receive", "p4", "r5", attributes=OTHER), "TRC-3"),
}
TO_CLIENTS: dict[str, tuple[Spoil, str]] = {
    "a delivery lost": (lose("deliver", "p1", "r1"), "RTE-5"),
    "a delivery twice": (double("deliver", "p1", "r1"), "RTE-5"),
    "a delivery of other content": (alter("deliver", "p1", "r1", attributes=OTHER), "RTE-5"),
    "a delivery for a subscription that does not match": (alter("deliver", "p2", "r5", to="mid"), "RTE-5"),
}


def rules(report: Report) -> set[str]:
    return {each.rule for each in report.rejections}


def steps_and_links(folder: Path, change: Callable[[list[Row]], list[Row]], *, clients: bool = True) -> None:
    """Wrong steps of a broker, faults of a link and, if `clients`, wrong deliveries are found."""
    correct = judged(change(network(SCRIPT)), folder, "equivalent")
    assert correct.verdict == ("accepted" if clients else "unknown")
    assert not correct.rejections
    for fault in FAULTS:
        report = judged(change(network(SCRIPT, fault)), folder, "equivalent")
        assert report.rejections[0].broker == "r3", fault
    for name, (spoil, rule) in (ON_LINKS | TO_CLIENTS).items():
        report = judged(change(spoilt(spoil)), folder, "equivalent")
        if clients or name in ON_LINKS:
            assert rule in rules(report), (name, report.rejections)
        else:
            assert not report.rejections, name


def all_four_with_a_clock(folder: Path) -> None:
    steps_and_links(folder, seen)


def all_four_without_a_clock(folder: Path) -> None:
    steps_and_links(folder, lambda rows: bare(seen(rows), "clock", "time"))


def no_send(folder: Path) -> None:
    for fault in (f for f in FAULTS if not f.startswith("drops")):
        report = judged(bare(seen(network(SCRIPT, fault), ALL[:2] + ALL[3:]), "clock", "time"), folder, "equivalent")
        assert report.rejections[0].broker == "r3", fault
        assert report.rejections[0].handling, fault
    rows = network(SCRIPT)
    rows.remove(next(row for row in reversed(rows) if row["event"] == "receive" and row["broker"] == "r1"))
    assert judged(seen(rows, ALL[:2] + ALL[3:]), folder, "equivalent").verdict == "accepted", "in flight, or never sent"


def no_deliver(folder: Path) -> None:
    steps_and_links(folder, lambda rows: seen(rows, ALL[:3]), clients=False)


def no_receive(folder: Path) -> None:
    levels: tuple[Level, ...] = ("equivalent", "observable")
    for level in levels:
        report = judged(seen(spoilt(double("deliver", "p1", "r1")), ("client", "send", "deliver")), folder, level)
        assert rules(report) == {"TRC-8"}
        report = judged(seen(spoilt("keeps withdrawn subscriptions"), ("client", "send", "deliver")), folder, level)
        assert not report.rejections


def clients_only(folder: Path) -> None:
    promise = {"settles": 8}
    for spoil, rule, more in (
        (double("deliver", "p1", "r1"), "TRC-8", {}),
        (alter("deliver", "p2", "r5", to="mid"), "TRC-9", {}),
        (lose("deliver", "p3", "r1"), "TRC-7", promise),
    ):
        told = seen(spoilt(spoil), ("client", "deliver"), **more)
        assert rules(judged(told, folder, "observable")) == {rule}
    report = judged(seen(spoilt("forgets to re-forward"), ("client", "deliver"), **promise), folder, "observable")
    assert rules(report) == {"TRC-7"}
    assert "r3" not in {each.broker for each in report.rejections}, "which broker is to blame is not seen"
    report = judged(seen(spoilt(lose("deliver", "p1", "r1")), ("client", "deliver")), folder, "observable")
    assert not report.rejections


def one_broker(folder: Path) -> None:
    def alone(rows: list[Row], name: str) -> list[Row]:
        header = {**rows[0], "observes": {name: list(ALL)}}
        return [header, *(row for row in rows[1:] if row["broker"] == name)]

    assert judged(alone(network(SCRIPT), "r3"), folder, "equivalent").verdict == "accepted"
    for fault in (f for f in FAULTS if not f.startswith("drops")):
        report = judged(alone(network(SCRIPT, fault), "r3"), folder, "equivalent")
        assert report.rejections[0].broker == "r3", fault
    for spoil, _ in ON_LINKS.values():
        assert not judged(alone(spoilt(spoil), "r4"), folder, "equivalent").rejections


def no_to(folder: Path) -> None:
    for spoil in (lose("deliver", "p2", "r5"), double("deliver", "p2", "r5")):
        assert "RTE-5" in rules(judged(bare(seen(spoilt(spoil)), "to"), folder, "equivalent"))
    report = judged(bare(seen(spoilt(lose("deliver", "p1", "r1"))), "to"), folder, "equivalent")
    assert report.verdict == "accepted", "for which of a client's subscriptions is not seen"
    [first, *_] = judged(bare(seen(network(SCRIPT)), "to"), folder, "equivalent").rejections
    assert first.reason.startswith("2 subscriptions of this client match; a broker that delivers for each names it")


def no_peer(folder: Path) -> None:
    steps_and_links(folder, lambda rows: bare(seen(rows), "peer", of=("client",)))
    wrong = network(SCRIPT)
    _row(wrong, "deliver", "p1", "r1")["peer"] = "mallory"
    assert judged(seen(wrong), folder, "equivalent").verdict == "rejected"
    assert judged(bare(seen(wrong), "peer", of=("client",)), folder, "equivalent").verdict == "accepted"


ROWS: dict[str, Callable[[Path], None]] = {
    'all four kinds, `time` and `"clock": "shared"`': all_four_with_a_clock,
    "all four kinds, without a clock": all_four_without_a_clock,
    "no `send`": no_send,
    "no `deliver`": no_deliver,
    "no `receive`": no_receive,
    "`client` and `deliver` only (level `observable`)": clients_only,
    "one broker of many": one_broker,
    "no `to` in deliveries": no_to,
    "no `peer` in `client` events": no_peer,
}


def test_every_row_of_the_table_has_an_experiment() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| you write | what is found | what is not |")[2]
    lines = table.partition("\n\n")[0].splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines] == list(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_table(row: str, tmp_path: Path) -> None:
    ROWS[row](tmp_path)
