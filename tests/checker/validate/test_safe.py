"""The level `safe`: a broker may forward more than the reference; it may lose, double or leave nothing."""

from itertools import product
from pathlib import Path

import pytest

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import setting_of, validate
from tests.checker.validate.corrupt import CORRUPTIONS
from tests.checker.validate.walks import POLICIES, Row, judged, rows_of, write

RUNS = (("line3", 1), ("star4", 2), ("unadv3", 4), ("equal3", 3))


def under(rows: list[Row], policy: str) -> list[Row]:
    header = {key: value for key, value in rows[0].items() if key != "instance"}
    return [{**header, "policy": policy}, *rows[1:]]


@pytest.mark.parametrize(("name", "seed"), RUNS)
def test_every_policy_is_safe_under_every_other(name: str, seed: int, tmp_path: Path) -> None:
    """A broker that overlooks covering forwards more; one that covers more forwards less, and all that is needed."""
    deviated = 0
    for made in POLICIES:
        rows = rows_of(name, made, seed)
        for asked in POLICIES:
            report = judged(under(rows, asked), tmp_path, "safe")
            assert report.verdict == "accepted", (made, asked, report.rejections)
            strict = judged(under(rows, asked), tmp_path, "equivalent")
            told = any("without harm" in line for line in report.remarks)
            assert told == (strict.verdict == "rejected"), (made, asked)
            deviated += told
    assert deviated


HARMLESS = ("a withdrawal never sent", "a subscription sent twice")
"""Where an advertisement is withdrawn, both ends may forget what it was for; the same subscription changes nothing."""

HARMFUL = [name for name in CORRUPTIONS if "snapshot" not in name]


@pytest.mark.parametrize("name", HARMFUL)
def test_what_is_harmful_is_found_behind_deviations(name: str, tmp_path: Path) -> None:
    """The run of a broker without covering, judged as one with covering: its deviations hide no fault."""
    found = 0
    for (instance, seed), made in product(RUNS, ("none", "active")):
        rows = rows_of(instance, made, seed)
        where = CORRUPTIONS[name].spoil(rows)
        if where is None:
            continue
        report = judged(under(rows, "active"), tmp_path, "safe")
        found += report.verdict == "rejected"
        if report.verdict != "rejected" and name not in HARMLESS:
            assert judged(rows, tmp_path, "equivalent").verdict == "unknown", "it was in the last step"
    assert found or name in HARMLESS


def test_withdrawals_that_both_ends_make_by_themselves(tmp_path: Path) -> None:
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "active", "dialect": "events"}
    a, b, s = (
        {"kind": kind, "id": id, "filter": [1]}
        for kind, id in (("advertise", "a"), ("advertise", "b"), ("subscribe", "s"))
    )
    gone, left = {"kind": "unadvertise", "id": "a"}, {"kind": "unsubscribe", "id": "s"}

    def step(broker: str, peer: str, message: Row, *sends: Row) -> list[Row]:
        event = "client" if peer == "c" else "receive"
        other = "y" if broker == "x" else "x"
        begin = {"broker": broker, "event": event, "peer": peer, "message": message}
        return [begin, *({"broker": broker, "event": "send", "peer": other, "message": each} for each in sends)]

    first = [*step("x", "c", a, a), *step("y", "x", a), *step("y", "c", s, s), *step("x", "y", s)]
    drop = [*step("x", "c", gone, gone), *step("y", "x", gone)]  # no unsubscribe(s): both forget it
    again = [*step("x", "c", b, b), *step("y", "x", b, s), *step("x", "y", s)]
    ends = [*step("y", "c", left, left), *step("x", "y", left)]
    silent = [*step("y", "c", left)]
    runs = {
        "announced again": ([*first, *drop, *again, *ends], "accepted"),
        "withdrawn meanwhile": ([*first, *drop, *silent, *step("x", "c", b, b), *step("y", "x", b)], "accepted"),
        "left for ever": ([*first, *silent, *step("y", "c", {**s, "id": "t"}, {**s, "id": "t"})], "rejected"),
    }
    for name, (rows, verdict) in runs.items():
        numbered = [{**row, "seq": n} for n, row in enumerate(rows)]
        report = judged([{**header, "overlay": [["x", "y"]]}, *numbered], tmp_path, "safe")
        assert report.verdict == verdict, (name, report.rejections, report.unjudged)
        assert judged([{**header, "overlay": [["x", "y"]]}, *numbered], tmp_path).verdict == "rejected", name


def test_a_publication_may_go_to_more_neighbours_once(tmp_path: Path) -> None:
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "dialect": "events"}
    p = {"kind": "publish", "id": "p", "event": 1}
    made = {"broker": "x", "event": "client", "peer": "c", "message": p, "seq": 1}
    sends = [{"broker": "x", "event": "send", "peer": "y", "message": p, "seq": 2 + n} for n in range(2)]
    came = {"broker": "y", "event": "receive", "peer": "x", "message": p, "seq": 1}
    more = {"broker": "x", "event": "client", "peer": "c", "seq": 9, "message": {"kind": "unsubscribe", "id": "s"}}
    head = {**header, "overlay": [["x", "y"]]}
    assert judged([head, made, sends[0], came, more], tmp_path, "safe").verdict == "accepted"
    assert judged([head, made, sends[0], came, more], tmp_path).verdict == "rejected"
    twice = judged([head, made, *sends, came, {**came, "seq": 2}, more], tmp_path, "safe")
    assert [(r.rule, r.seq) for r in twice.rejections] == [("RTE-5", 3)]


def test_a_snapshot_tells_what_a_broker_has_sent(tmp_path: Path) -> None:
    """The replay goes on with it, if it has all that is needed."""
    rows = rows_of("line3", "none", 1)
    assert judged(under(rows, "active"), tmp_path, "safe").verdict == "accepted"


def test_other_protocols_have_no_such_level(tmp_path: Path) -> None:
    rows = rows_of("line3", "none", 1)
    path = write([{**rows[0], "protocol": "pruning", "policy": "incremental"}, *rows[1:]], tmp_path / "t.jsonl")
    with pytest.raises(UsageError, match="safe is for the protocol routing"):
        setting_of(path, "safe")
    assert validate(write(rows, path), "safe").verdict == "accepted"
