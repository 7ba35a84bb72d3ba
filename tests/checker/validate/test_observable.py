"""What clients can see of a run: judged from the trace alone, it is what the model's ghosts say of the same run."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from routeproof.checker.cli.validate import render
from routeproof.checker.validate import Report
from routeproof.checker.validate.report import Why
from routeproof.model.routing_mutants import MUTANTS
from tests.campaigns import drawn
from tests.checker.validate.corrupt import CORRUPTIONS
from tests.checker.validate.walks import POLICIES, Row, judged, rows_of, walk

SEEN = {"NoLostDelivery": "TRC-7", "NoDuplicate": "TRC-8", "Precise": "TRC-9"}
NAMES = ("star4", "pair3", "line4", "two4", "unadv3", "quotes3")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_the_model_owes_nothing(name: str, policy: str, tmp_path: Path) -> None:
    for seed in range(4):
        rows = rows_of(name, policy, seed)
        timed = judged(rows, tmp_path, "observable")
        del rows[0]["clock"]
        assert (timed.verdict, judged(rows, tmp_path, "observable").verdict) == ("accepted", "accepted")


def ended(rows: list[Row]) -> list[Row]:
    """The rows with a snapshot at each broker, so that the last step is complete."""
    last = {row["broker"]: row for row in rows[1:]}
    end = {"event": "snapshot", "tables": {}, "time": rows[-1]["time"]}
    return [*rows, *({"broker": name, "seq": row["seq"] + 1, **end} for name, row in last.items())]


@drawn(1 / 3)
def test_it_is_what_the_ghosts_say(share: float, tmp_path: Path) -> None:
    """Of every mutant, in runs of chance: rejected for what the properties of the model say, and for nothing else but
    lost deliveries: the ghosts owe them where no control message is on any link, the judge where the way is ready."""
    met = Counter[str]()
    for mutant, seeded in MUTANTS.items():
        if seeded.make.may_refuse:
            continue
        for name in NAMES:
            for seed in range(round(3 * share)):
                run = walk(name, seeded.policies[0], seed, mutant)
                rules = {r.rule for r in judged(ended(run.rows), tmp_path, "observable").rejections}
                seen = {SEEN[p] for p in run.broken if p in SEEN}
                assert seen <= rules <= {*seen, "TRC-7"}, (mutant, name, seed)
                met.update(rules)
    assert min(met[rule] for rule in SEEN.values()) >= 3 * share, met


def without(rows: list[Row], *kinds: str) -> list[Row]:
    """The same trace, not having observed these kinds of events."""
    rows[0]["observes"] = [kind for kind in rows[0]["observes"] if kind not in kinds]
    return [row for row in rows if row.get("event") not in kinds]


def test_a_black_box_is_judged_by_what_its_header_promises(tmp_path: Path) -> None:
    """Nothing but clients' events: who knows after how long everything settles can still be told what was lost."""
    lost = 0
    for seed in range(20):
        rows = rows_of("star4", "active", seed, "removals-first")
        rows = without(rows, "receive", "send", "drop", "crash", "restart")
        assert "owed deliveries" in judged(rows, tmp_path, "observable").unjudged[0]
        rows[0]["settles"] = slowest(rows)
        rows[-1]["time"] = rows[-1]["time"] + 1
        lost += "TRC-7" in {r.rule for r in judged(rows, tmp_path, "observable").rejections}
        rows[0]["settles"] = 10_000
        report = judged(rows, tmp_path, "observable")
        assert report.verdict == "accepted", "nothing was ever settled"
        assert not report.extent.obligations or "10,000 ns, is too long for" in render(report).splitlines()[0]
    assert lost


def slowest(rows: list[Row]) -> int:
    """The longest time from a publication to one of its deliveries."""
    made = {row["message"]["id"]: row["time"] for row in rows[1:] if row["event"] == "client"}
    return max((row["time"] - made[row["message"]["id"]] for row in rows[1:] if row["event"] == "deliver"), default=0)


def test_a_promise_that_deliveries_disprove(tmp_path: Path) -> None:
    """It is rejected as such, and a delivery that is lost by it is said to be late perhaps."""
    rows = without(rows_of("line4", "active", 3), "receive", "send")
    assert slowest(rows) > 1
    rows[0]["settles"] = slowest(rows)
    assert judged(rows, tmp_path, "observable").verdict == "accepted"
    rows[0]["settles"] = slowest(rows) - 1
    first = judged(rows, tmp_path, "observable").rejections[0]
    assert (first.rule, first.seen.endswith("which is 1 ns too late")) == ("TRC-11", True)
    at = max(n for n, row in enumerate(rows) if row.get("event") == "deliver")
    lost = judged(rows[:at] + rows[at + 1 :], tmp_path, "observable").rejections
    assert all("it may only be late" in r.reason for r in lost if r.rule == "TRC-7")


def test_a_promise_that_links_disprove(tmp_path: Path) -> None:
    """The message that was longest on its link is named."""
    rows = rows_of("line4", "active", 3)
    rows[0]["settles"] = 1
    found = [r for r in judged(rows, tmp_path).rejections if r.rule == "TRC-11"]
    assert any("sent this message at its seq" in r.wanted for r in found)
    rows[0]["settles"] = rows[-1]["time"]
    assert judged(rows, tmp_path).verdict == "accepted"


def test_without_a_clock_links_tell_what_is_owed(tmp_path: Path) -> None:
    """Without links and without a clock nothing does."""
    rows = rows_of("star4", "active", seed=1)
    del rows[0]["clock"]
    report = judged(rows, tmp_path, "observable")
    assert report.verdict == "accepted"
    assert report.extent.owed > 0
    assert judged(rows, tmp_path).verdict == "accepted"
    bare = judged(without(rows_of("star4", "active", seed=1), "receive", "send"), tmp_path, "observable")
    assert (bare.verdict, bare.extent.owed) == ("unknown", 0)
    again = next(i for i, row in enumerate(rows) if row.get("event") == "deliver")
    rows.insert(again + 1, {**rows[again], "seq": rows[again]["seq"]})
    for row in rows[again + 1 :]:
        row["seq"] += 1
    assert {r.rule for r in judged(rows, tmp_path, "observable").rejections} == {"TRC-8"}


def test_what_is_on_the_way_is_not_lost(tmp_path: Path) -> None:
    """A run that is cut off between two steps: what was not received yet may still come."""
    rows = rows_of("line4", "active", seed=3)
    for end in (i for i, row in enumerate(rows) if i > 1 and row["event"] in ("client", "receive")):
        report = judged(rows[:end], tmp_path, "observable")
        assert report.verdict == "accepted", (end, report)


def test_events_without_times(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", seed=1)
    for row in rows[1:]:
        row.pop("time")
    report = judged(rows, tmp_path, "observable")
    assert (report.verdict, report.extent.open.keys() & {Why.UNTIMED, Why.DOUBTFUL}) == ("accepted", set())
    assert report.extent.owed > 0


def test_links_are_not_what_clients_see(tmp_path: Path) -> None:
    """A message altered on the way, which changes nothing for clients: then only nobody knows what is owed."""
    rows = rows_of("star4", "active", seed=1)
    at = next(i for i, row in enumerate(rows) if row.get("event") == "receive")
    rows[at]["message"]["id"] = "other"
    assert "TRC-3" in {r.rule for r in judged(rows, tmp_path).rejections}
    report = judged(rows, tmp_path, "observable")
    assert (report.verdict, report.rejections) == ("unknown", ())
    assert "not the messages sent" in report.unjudged[0]


def test_overlays_with_cycles_and_no_policy(tmp_path: Path) -> None:
    """A ring of black boxes: what clients saw is judged, by what the header promises or for what came twice."""
    ring = [["b1", "b2"], ["b2", "b3"], ["b3", "b1"]]
    for promise in ({"clock": "shared", "settles": 300}, {}):
        rows = clients(
            "advertise b1 1000", "subscribe b3 2000", "publish b1 3000", "deliver b3 3200", "advertise b1 9000"
        )
        header = {key: value for key, value in rows[0].items() if key not in ("policy", "clock", "settles")}
        rows[0] = {**header, "overlay": ring, "observes": ["client", "deliver"], **promise}
        report = judged(rows, tmp_path, "observable")
        assert (report.verdict, report.extent.owed) == (("accepted", 1) if promise else ("unknown", 0))
        lost = judged([*rows[:-2], rows[-1]], tmp_path, "observable")
        assert [r.rule for r in lost.rejections] == (["TRC-7"] if promise else [])
        twice = judged([*rows, {**rows[-2], "seq": rows[-2]["seq"] + 1}], tmp_path, "observable")
        assert [r.rule for r in twice.rejections] == ["TRC-8"]


# -- names do not matter -----------------------------------------------------------------------------------------------


def renamed(rows: list[Row], names: Mapping[str, str]) -> list[Row]:
    header = {**rows[0], "overlay": [[names[near], names[far]] for near, far in rows[0]["overlay"]]}
    return [
        header,
        *({**r, "broker": names[r["broker"]], "peer": names.get(p := r.get("peer", ""), p)} for r in rows[1:]),
    ]


def told(report: Report, names: Mapping[str, str]) -> tuple[object, ...]:
    """A report as it would be with other names; but for the order of what has one time."""
    found = [(names[r.broker], r.seq, r.rule, r.accepted) for r in (*report.rejections, *report.doubtful)]
    unjudged = [re.sub(r"\bb[0-9]+\b", lambda name: names[name[0]], line) for line in report.unjudged]
    return report.verdict, unjudged, sorted(found)


@pytest.mark.parametrize("name", ["nothing", *CORRUPTIONS])
def test_how_brokers_are_called_does_not_matter(name: str, tmp_path: Path) -> None:
    """A good trace and a spoilt one, with names in the opposite order."""
    for instance, seed in (("star4", 1), ("line4", 0)):
        rows = rows_of(instance, "active", seed)
        if name != "nothing" and CORRUPTIONS[name].spoil(rows) is None:
            continue
        brokers = ["b1", "b2", "b3", "b4", "b99"]
        there = dict(zip(brokers, reversed(brokers), strict=True))
        here = {broker: broker for broker in brokers}
        other = judged(renamed(rows, there), tmp_path, "observable")
        assert told(judged(rows, tmp_path, "observable"), there) == told(other, here)


CLIENTS = {
    "advertise": ("client", {"kind": "advertise", "id": "a", "filter": []}),
    "subscribe": ("client", {"kind": "subscribe", "id": "s", "filter": []}),
    "withdraw": ("client", {"kind": "unsubscribe", "id": "s"}),
    "publish": ("client", {"kind": "publish", "id": "p", "of": "a", "attributes": {"x": 1}}),
    "again": ("client", {"kind": "publish", "id": "q", "of": "a", "attributes": {"x": 1}}),
    "deliver": ("deliver", {"kind": "publish", "id": "p", "to": "s"}),
    "deliver-again": ("deliver", {"kind": "publish", "id": "q", "to": "s"}),
}


def clients(*said: str) -> list[Row]:
    """A black box: what clients did, each as what, at which broker and when."""
    rows: list[Row] = [
        {
            "routeproof": 1,
            "run": "r",
            "protocol": "routing",
            "policy": "active",
            "overlay": [["b1", "b2"]],
            "observes": ["client", "deliver"],
            "clock": "shared",
            "settles": 1,
        }
    ]
    for each in said:
        what, broker, time = each.split()
        event, message = CLIENTS[what]
        seq = sum(row.get("broker") == broker for row in rows)
        rows.append({"broker": broker, "seq": seq, "event": event, "peer": "c", "time": int(time), "message": message})
    return rows


@pytest.mark.parametrize(("old", "new"), [("b1", "b2"), ("b2", "b1")])
@pytest.mark.parametrize("publisher", ["b1", "b2"])
def test_who_moves_is_owed_at_the_new_place(old: str, new: str, publisher: str, tmp_path: Path) -> None:
    rows = clients(
        f"advertise {publisher} 1",
        f"subscribe {old} 100",
        f"withdraw {old} 200",
        f"subscribe {new} 300",
        f"publish {publisher} 1000",
        f"again {publisher} 5000",
        f"deliver-again {new} 5001",
        f"withdraw {new} 9000",
    )
    report = judged(rows, tmp_path, "observable")
    assert [(r.broker, r.rule, r.wanted) for r in report.rejections] == [(publisher, "TRC-7", "p delivered to s")]


@pytest.mark.parametrize(("old", "new"), [("b1", "b2"), ("b2", "b1")])
def test_of_two_things_at_one_moment_nobody_knows_the_first(old: str, new: str, tmp_path: Path) -> None:
    rows = clients(
        "advertise b1 1", f"subscribe {old} 10", f"withdraw {old} 20", f"subscribe {new} 20", "publish b1 50"
    )
    rows += clients("advertise b1 1", "again b1 90")[2:]
    rows[-1]["seq"] = 9
    assert judged(rows, tmp_path, "observable").verdict == "accepted"
    rows = clients(
        "advertise b1 1", f"subscribe {old} 10", f"withdraw {old} 20", f"subscribe {new} 21", "publish b1 50"
    )
    rows += clients("advertise b1 1", "again b1 90")[2:]
    rows[-1]["seq"] = 9
    assert {r.rule for r in judged(rows, tmp_path, "observable").rejections} == {"TRC-7"}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("advertise subscribe publish deliver", None),
        ("advertise publish deliver subscribe", "nothing for s"),
        ("advertise subscribe deliver publish", "a publication that was made before"),
        ("advertise subscribe withdraw publish deliver", None),
    ],
)
def test_nothing_comes_before_it_was_asked_for(said: str, wanted: str | None, tmp_path: Path) -> None:
    """At one broker its own order tells. After a withdrawal something may have been on its way to the client."""
    rows = clients(*(f"{each} b1 {1000 * at}" for at, each in enumerate(said.split(), 1)))
    rows[0]["settles"] = 10_000
    for to_client in (False, True):
        if to_client:
            for row in rows[1:]:
                row["message"] = {key: value for key, value in row["message"].items() if key != "to"}
        found = judged(rows, tmp_path, "observable").rejections
        assert [
            (r.rule, r.wanted.replace("c", "s") if to_client and wanted == "nothing for s" else r.wanted) for r in found
        ] == ([] if wanted is None else [("TRC-9", wanted)])


def test_a_broker_delivers_to_its_own_clients(tmp_path: Path) -> None:
    rows = clients("advertise b1 1", "subscribe b1 10", "publish b1 1000", "deliver b2 1001")
    assert [(r.broker, r.rule) for r in judged(rows, tmp_path, "observable").rejections] == [("b2", "TRC-9")]
