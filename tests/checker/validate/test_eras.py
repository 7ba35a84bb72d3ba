"""However operations are cut into eras, the report is the same; and an era has what stood in it."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.experiments.bench import validation as recorded
from routeproof.checker.validate import Rejection, Report
from routeproof.checker.validate.clients import ClientOperation, EventPlace, judge
from routeproof.checker.validate.clients.judge import Eras
from routeproof.checker.validate.store import Store
from tests.checker.validate.walks import Row, judged

UNCUT = 1 << 30


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Of a run in which subscriptions come and go, some ids more than once."""
    path = tmp_path_factory.mktemp("churn") / "trace.jsonl"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recorded, "STANDING", 8)
        recorded.churn(path, 3000)
    read: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    for row in read[1:]:
        message = row["message"]
        for key in ("id", "to"):
            if message.get(key, "").startswith("s"):
                message[key] = f"s{int(message[key][1:]) % 30}"
    return read


def spoilt(rows: list[Row], seed: int) -> list[Row]:
    """Deliveries lost, doubled and misled, and a few subscriptions that are never withdrawn."""
    rng, found = random.Random(seed), rows[:1]
    ids = [*{row["message"]["id"] for row in rows[1:] if row["message"]["kind"] == "subscribe"}, "nobody"]
    for row in rows[1:]:
        kept, chance = row, rng.random()
        if row["event"] == "deliver" and chance < 0.03:
            if chance < 0.01:
                continue
            other = rng.choice(ids) if chance < 0.02 else row["message"]["to"]
            kept = {**row, "message": {**row["message"], "to": other}}
            if chance >= 0.02:
                found.append(row)
        elif row["event"] == "client" and row["message"]["kind"] == "unsubscribe" and chance < 0.05:
            continue
        found.append(kept)
    seqs = Counter[str]()
    for at, row in enumerate(found[1:], 1):
        seqs[row["broker"]] += 1
        found[at] = {**row, "seq": seqs[row["broker"]]}
    return found


def by_client(rows: list[Row]) -> list[Row]:
    """The same, told without the subscription."""
    told = [{**row, "message": {**row["message"]}} for row in rows[1:]]
    for row in told:
        row["message"].pop("to", None)
    return [rows[0], *told]


def without_clock(rows: list[Row]) -> list[Row]:
    return [{key: value for key, value in rows[0].items() if key != "clock"}, *rows[1:]]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many eras there were each time, and whether they were all."""
    made: list[int] = []

    def noted(run: str, told: judge.OperationSource, store: Store, *, timed: bool, placed: bool) -> Eras:
        found = Eras(run, told, store, timed=timed, placed=placed)
        made.append(len(found) if timed else 2 - found.is_complete)
        return found

    monkeypatch.setattr(judge, "Eras", noted)
    return made


def but_lost(report: Report) -> tuple[Rejection, ...]:
    return tuple(each for each in report.rejections if each.rule != "TRC-7")


@pytest.mark.parametrize("told", [list, by_client, without_clock])
def test_the_report_does_not_hang_on_the_cut(
    told: Callable[[list[Row]], list[Row]],
    rows: list[Row],
    counted: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = Counter[str]()
    for seed in range(6):
        changed = told(spoilt(rows, seed))
        reports: list[Report] = []
        for least, at_a_time in ((UNCUT, UNCUT), (1, 3), (10, 1), (40, 1 << 12)):
            monkeypatch.setattr(judge, "LEAST", least)
            monkeypatch.setattr(judge, "MOST_UNTIMED", least)
            monkeypatch.setattr(judge, "LOOKED_UP", at_a_time)
            reports.append(judged(changed, tmp_path, "observable"))
        if told is without_clock:  # with several eras it is unknown what was owed
            assert len({report.extent.unowed[0][1] for report in reports[1:]}) == 3
            reports = [
                evolve(each, extent=reports[0].extent, unjudged=(), rejections=but_lost(each)) for each in reports
            ]
        assert all(report == reports[0] for report in reports)
        rules.update(r.rule for r in reports[0].rejections)
    assert min(counted) == 1
    assert max(counted) >= (2 if told is without_clock else 5)
    assert rules["TRC-8"]
    assert rules["TRC-9"] or told is by_client
    assert rules["TRC-7"] or told is not list


SETTLES = 1000
OTHERS = "subscribe o b2 {0}", "unsubscribe o b2 {0}"
"""With what begins a new era, if eras are to be short."""


def others(*times: int) -> list[str]:
    return [each.format(time) for time in times for each in OTHERS]


def black_box(said: list[str]) -> list[Row]:
    """What clients did and got, each as what, about which id, where and when, and which client if it is not c."""
    rows: list[Row] = [
        {
            "routeproof": 1,
            "run": "r",
            "protocol": "routing",
            "policy": "active",
            "overlay": [["b1", "b2"]],
            "observes": ["client", "deliver"],
            "clock": "shared",
            "settles": SETTLES,
        }
    ]
    for each in ["advertise a b2 0", *said, "advertise z b2 99000"]:
        kind, id, broker, time, client = (*each.split(), "c")[:5]
        message = {"kind": kind, "id": id}
        more: dict[str, object] = {"filter": []} if kind in ("advertise", "subscribe") else {}
        if kind == "publish":
            more = {"of": "a", "attributes": {"x": 1}}
        elif kind == "deliver":
            id, _, to = id.partition(">")
            message, more = {"kind": "publish", "id": id}, {"to": to} if to else {}
        seq = sum(row.get("broker") == broker for row in rows)
        row = {"broker": broker, "seq": seq, "event": "deliver" if kind == "deliver" else "client", "peer": client}
        rows.append({**row, "message": {**message, **more}} | ({} if time == "-" else {"time": int(time)}))
    return rows


TWICE = ["subscribe s b1 10000", "unsubscribe s b1 20000", *others(22000, 24000)]
"""There was a subscription once; and now other things happen."""


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        # to the older period, when the newer one is made, or before it is made
        ([*TWICE, "publish p b2 29000", "deliver p>s b1 29500", "subscribe s b1 30000"], []),
        ([*TWICE, "publish p b2 29000", *others(29100), "deliver p>s b1 29500", "subscribe s b1 30000"], []),
        ([*TWICE, "subscribe s b2 30000", "publish p b1 30100", "deliver p>s b1 30200"], []),
        ([*TWICE, "publish p b2 29000", "deliver p b1 29500", "subscribe s b1 30000"], []),
        # before there was any
        (["publish p b2 1000", "deliver p>s b1 1100", *TWICE, "subscribe s b1 30000"], ["TRC-9"]),
        ([*TWICE, "publish p b2 29000", "deliver p>s b2 29500", "subscribe s b2 30000"], ["TRC-9"]),
        # another client asked for it later
        ([*TWICE, "publish p b1 29000", "deliver p b1 29500 d", "subscribe s b1 50000 d"], ["TRC-9"]),
        # owed to the period of another era, and to none
        ([*TWICE, "subscribe s b1 30000", *others(31000, 32000), "publish p b2 40000"], ["TRC-7"]),
        ([*TWICE, "publish p b2 29000", "subscribe s b1 30000"], []),
        # something about it has no time: its neighbours tell when it was, wherever that is said
        (["subscribe s b1 1000", "publish p b2 9000", "subscribe v b1 60000", "unsubscribe s b1 -"], ["TRC-7"]),
        (
            ["unsubscribe s b1 -", *TWICE, "subscribe s b1 30000", *others(31000, 32000), "publish p b2 40000"],
            ["TRC-7"],
        ),
        (["subscribe s b1 1000", "unsubscribe s b1 -", *others(22000, 24000), "publish p b2 29000"], []),
        # withdrawn elsewhere at the same moment, and then made again
        ([*TWICE[:1], "unsubscribe s b1 20000", "subscribe s b2 20000", *others(25000), "publish p b1 50000"], []),
        (
            [*TWICE[:2], "subscribe s b2 20000", "subscribe s b2 25000", "publish p b2 50000", "subscribe v b1 60000"],
            ["TRC-7"],
        ),
        # a clock that goes back contradicts itself
        (
            [
                "subscribe u b1 10000",
                "unsubscribe u b1 10000",
                "subscribe s b1 4000",
                *others(10200),
                "publish p b2 10300",
            ],
            ["TRC-10"],
        ),
    ],
)
def test_what_is_said_of_an_id_may_be_in_several_eras(
    said: list[str], rules: list[str], counted: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for least in (UNCUT, 1):
        monkeypatch.setattr(judge, "LEAST", least)
        report = judged(black_box(said), tmp_path, "observable")
        assert report.bad == ()
        assert [each.rule for each in report.rejections] == rules, least
        assert bool(report.unjudged) == (rules == ["TRC-10"])
    assert counted[0] == 1
    assert counted[1] > 1


def operation(kind: str, id: str, time: int, broker: str = "b", seq: int = 0) -> ClientOperation:
    return ClientOperation(kind, id, b"[1]", "c", EventPlace(broker, seq, 0, time))


def cut(told: list[list[ClientOperation]], least: int, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    monkeypatch.setattr(judge, "LEAST", least)

    def said() -> list[Iterator[ClientOperation]]:
        return list(map(iter, told))

    with Store() as store:
        found = Eras("r", said, store, timed=True)
        return [[f"{o.kind[0]}{o.id}" for o in found.operations(era)] for era in range(len(found))]


def test_an_era_has_what_reaches_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [operation("subscribe", "long", 1)]
    for number in range(4):
        told.append(operation("subscribe", f"{number}", 10 * number + 2))
        told.append(operation("unsubscribe", f"{number}", 10 * number + 8))
    told.append(operation("unsubscribe", "long", 100))
    found = cut([told], 2, monkeypatch)
    assert [sorted(each) for each in found] == [
        sorted(["slong", "ulong", "s0", "u0", "s1", "u1"]),
        sorted(["slong", "ulong", "s2", "u2", "s3", "u3"]),
        ["slong", "ulong"],
    ]


def test_operations_of_brokers_are_in_the_order_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that moves: withdrawn here and made again there is two periods, whichever broker is first by name."""
    there = [operation("subscribe", "m", 1, "z"), operation("unsubscribe", "m", 2, "z")]
    here = [operation("subscribe", "m", 3, "a"), operation("unsubscribe", "m", 4, "a")]
    assert cut([here, there], UNCUT, monkeypatch) == [["sm", "um", "sm", "um"]]


def test_what_is_said_again_is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    again = [operation("subscribe", "s", time) for time in range(50)]
    assert cut([again], UNCUT, monkeypatch) == [["ss"]]


def test_where_nothing_is_withdrawn_there_is_one_era(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(cut([[operation("subscribe", f"{n}", n) for n in range(50)]], 1, monkeypatch)) == 1
