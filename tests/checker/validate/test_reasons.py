"""Mistakes of one broker, each in a few lines: the first five lines of the report name the cause."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.cli.validate import render
from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import Level, Report, validate
from tests.kit.runs import leaves_out, run_of, write

Row = dict[str, Any]
KINDS = ["client", "receive", "send", "deliver"]
OVERLAY = [["a", "b"], ["b", "c"]]
HEAD: Row = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "active", "overlay": OVERLAY}


def adv(id: str, *wants: list[Any]) -> Row:
    return {"kind": "advertise", "id": id, "filter": list(wants)}


def sub(id: str, *wants: list[Any]) -> Row:
    return {"kind": "subscribe", "id": id, "filter": list(wants)}


def unsub(id: str) -> Row:
    return {"kind": "unsubscribe", "id": id}


def pub(id: str, **attributes: Any) -> Row:
    return {"kind": "publish", "id": id, "of": "a", "attributes": attributes}


def judged(folder: Path, events: str, messages: list[Row], level: Level = "equivalent") -> Report:
    """`events`: of the broker b between a and c, `r a` for what it receives from a, `c x` for what client x does, and
    `s` and `d` likewise."""
    kinds = dict(zip("crsd", KINDS, strict=True))
    names = (each.split() for each in events.split(", "))
    rows = [{**HEAD, "observes": {"b": KINDS}}] + [
        {"broker": "b", "seq": seq, "event": kinds[kind], "peer": peer, "message": message}
        for seq, ((kind, peer), message) in enumerate(zip(names, messages, strict=True), 1)
    ]
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = validate(path, level)
    assert report.verdict == "rejected"
    return report


def lines_of(report: Report) -> list[str]:
    """The first five lines, as words."""
    return [" ".join(line.split()) for line in render(report).splitlines()[:5]]


A, WIDE = adv("a", ["v", ">=", 0]), sub("wide", ["v", ">", 1])
TO = {**pub("p", v=2), "to": "wide"}
AGAIN = "c was sent a before, and it still stands: an advertisement is sent once, when it comes"


@pytest.mark.parametrize(
    ("events", "messages", "because"),
    [
        pytest.param(
            "r a, s c, r c, s a, r c, r c",
            [adv("a"), adv("a"), *[sub("s5", ["v", "=", 5])] * 2, sub("t5", ["v", "=", "5"]), unsub("s5")],
            's5 (v = 5), sent to a, does not cover t5 (v = "5"); t5 came from c and overlaps',
            id="takes types for one in covering",
        ),
        pytest.param(
            "r a, s c, r c, s a, r c, r c",
            [A, A, WIDE, WIDE, sub("mid", ["v", ">=", 1]), unsub("wide")],
            "wide (v > 1), sent to a, does not cover mid (v >= 1); mid came from c and overlaps advertisement a",
            id="takes >= for > in covering",
        ),
        pytest.param(
            "r a, s c, r c, s a, r a, s c",
            [A, A, WIDE, WIDE, *[pub("p", v="2")] * 2],
            'wide (v > 1) does not match p: v = "2" is a string, and v > 1 wants another type',
            id="takes types for one in matching",
        ),
        pytest.param(
            "r a, s c, r c, s a, r a, s c",
            [A, A, *[sub("s", ["w", "=", "x"])] * 2, *[pub("p", v=2, w="X")] * 2],
            's (w = "x") does not match p: w = "X" does not satisfy w = "x"; no other subscription from c',
            id="ignores case",
        ),
        pytest.param(
            "r a, s c, c x, s a, r a, d x",
            [A, A, *[sub("s", ["w", "!=", 1])] * 2, pub("p", v=2), {**pub("p", v=2), "to": "s"}],
            "s (w != 1) does not match p: it has no attribute w, which w != 1 needs",
            id="matches without an attribute",
        ),
        pytest.param(
            "r a, s c, c x, s a, c x, s a, r a, d x",
            [A, A, WIDE, WIDE, unsub("wide"), unsub("wide"), pub("p", v=2), {**pub("p", v=2), "to": "wide"}],
            "wide (v > 1) is not known here any more: a client has withdrawn it",
            id="delivers after a withdrawal",
        ),
        pytest.param(
            "r a, s c, r c, s a, r c, s a, r a, s c",
            [A, A, WIDE, WIDE, unsub("wide"), unsub("wide"), *[pub("p", v=2)] * 2],
            "no subscription from c matches p (v = 2) any more: c has withdrawn wide (v > 1)",
            id="forwards after a withdrawal",
        ),
        pytest.param(
            "r a, s c, c x, s a, c x, s a, s c",
            [A, A, WIDE, WIDE, *[unsub("wide")] * 3],
            "wide is withdrawn in this step, and c was not sent it",
            id="floods a withdrawal",
        ),
        pytest.param(
            "r a, s c, r c, s a, s c",
            [A, A, WIDE, WIDE, A],
            AGAIN,
            id="tells everything again after a reconnect",
        ),
        pytest.param(
            "r a, s c, r c, s a, r a, s a",
            [A, A, WIDE, WIDE, pub("p", v=0), WIDE],
            "a was sent wide (v > 1) before, and it still stands",
            id="sends a subscription again",
        ),
        pytest.param(
            "r a, s c, r c, s a, r a, s c, r a, s c, s c",
            [A, A, WIDE, WIDE, *[pub("p", v=2)] * 2, *[pub("q", v=2)] * 2, pub("p", v=2)],
            "p is not the publication that is being handled",
            id="sends a publication again later",
        ),
        pytest.param(
            "r a, s c, c x, s a, r a, d x, r a, d x, d x",
            [A, A, WIDE, WIDE, pub("p", v=2), TO, pub("q", v=2), {**TO, "id": "q"}, TO],
            "p is not the publication that is being handled",
            id="delivers a publication again later",
        ),
        pytest.param(
            "r a, s c, c x, s a, r a, d x, d x",
            [A, A, WIDE, WIDE, pub("p", v=2), TO, TO],
            "p was delivered for wide before in this step",
            id="delivers twice",
        ),
        pytest.param(
            "r a, s c, r c, s a, s c",
            [A, A, WIDE, WIDE, {"kind": "unadvertise", "id": "a"}],
            "a still stands: a made it",
            id="withdraws what stands",
        ),
        pytest.param(
            "r a, s c, r c, s a, r a, r a, s c",
            [A, A, *[sub("s", ["v", ">=", 5])] * 2, pub("p", v=5), *[pub("q", v=6)] * 2],
            "p (v = 5) matches s (v >= 5), which came from c",
            id="takes >= for > in matching",
        ),
    ],
)
def test_the_first_five_lines_name_the_cause(events: str, messages: list[Row], because: str, tmp_path: Path) -> None:
    report = judged(tmp_path, events, messages)
    assert report.rejections[0].reason.startswith(because)
    assert because.startswith(lines_of(report)[4].removeprefix("because ")[: len(because)])


def test_a_delivery_to_another_client_is_told(tmp_path: Path) -> None:
    messages = [sub("s", ["v", ">", 1]), A, A, A, pub("p", v=2), {**pub("p", v=2), "to": "s"}]
    report = judged(tmp_path, "c x, c feed, s a, s c, c feed, d y", messages)
    [first] = report.rejections
    assert (first.rule, first.reason) == ("TRC-9", "s is a subscription of client x, and the delivery went to client y")


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ({"to": "t"}, "t (v < 1) does not match p: v = 2 does not satisfy v < 1"),
        ({"to": "u"}, "u was made later, at seq 7"),
        ({"to": "other"}, "no client made a subscription other"),
        ({}, "t (v < 1) does not match p: v = 2 does not satisfy v < 1"),
    ],
)
def test_a_delivery_that_was_not_asked_for_is_explained(to: Row, why: str, tmp_path: Path) -> None:
    """Also at the level that does not look inside brokers."""
    later = sub("u", ["v", ">", 0])
    messages = [sub("t", ["v", "<", 1]), A, A, A, pub("p", v=2), {**pub("p", v=2), **to}, later]
    report = judged(tmp_path, "c x, c feed, s a, s c, c feed, d x, c x", messages, "observable")
    assert [(r.rule, r.reason) for r in report.rejections] == [("TRC-9", why)]


@pytest.mark.parametrize(
    ("events", "messages"),
    [
        ("s c, r a", [A, A]),
        ("r a, s c, s a, r c, d x, r a", [A, A, WIDE, WIDE, pub("p", v=2), pub("p", v=2)]),
    ],
)
def test_a_recorder_that_writes_receptions_late_is_named(events: str, messages: list[Row], tmp_path: Path) -> None:
    order = "cause the broker seems to write `receive` after the sends that it causes; write it"
    assert lines_of(judged(tmp_path, events, messages))[2].startswith(order)


def test_withdrawals_with_ids_of_their_own_are_named_at_every_broker(tmp_path: Path) -> None:
    report = judged(tmp_path, "r a, s c, r c, s a, r c, s a", [A, A, WIDE, WIDE, unsub("x1"), unsub("x1")])
    assert lines_of(report)[2].startswith(
        "cause unsubscribe(x1) has an id that b does not know; if withdrawals have ids"
    )


@pytest.mark.parametrize("key", ["routeproof", "run", "protocol", "overlay", "policy"])
def test_a_key_of_the_header_that_is_misspelt_is_named(key: str, tmp_path: Path) -> None:
    header = {**HEAD, f"{key}s": HEAD[key]}
    del header[key]
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(header) + "\n")
    with pytest.raises(UsageError, match=f'"{key}s".*(did you mean {key}|meant)'):
        validate(path)


def test_what_happens_to_be_handled_next_is_no_cause(tmp_path: Path) -> None:
    """A broker withdraws a subscription that it has forgotten, just before its client does."""
    other, gone = adv("b", ["w", "=", 1]), unsub("wide")
    report = judged(tmp_path, "r a, s c, c x, s a, r c, s a, c x", [A, A, WIDE, WIDE, other, gone, gone])
    assert not report.rejections[0].cause
    assert report.rejections[0].reason.startswith("the broker seems to write `client`")


@pytest.mark.parametrize(
    ("instance", "event", "why"),
    [
        ("bypass4", "send", r"p \(0\) matches s \(\{0\}\), whose anchor is b\d"),
        ("square4", "send", r"p \(0\) matches s \(\{0\}\), which is toward b\d on tree \d of strategy \d"),
        ("present2", "deliver", r"p \(0\) matches s \(\{0\}\), a subscription made here"),
    ],
)
def test_under_other_protocols_a_missing_copy_is_said_to_be_due(
    instance: str, event: str, why: str, tmp_path: Path
) -> None:
    """Where local states are not the core's tables, the wing of the protocol finds the subscription."""
    for seed in range(20):
        rows = run_of(instance, "none", seed)
        if leaves_out(event, "publish")(rows):
            report = validate(write(rows, tmp_path / "t.jsonl"))
            if report.verdict == "rejected":
                assert re.fullmatch(why, report.rejections[0].reason)
                return
    pytest.fail("no run is rejected")
