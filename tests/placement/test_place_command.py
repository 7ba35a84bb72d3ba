"""`routeproof place`: what it prints and writes, what it refuses, and traces that somebody made up to do harm."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.checker.command import Here, Ran

HEADER = {
    "routeproof": 1,
    "run": "r",
    "protocol": "routing",
    "overlay": [["b1", "b2"], ["b2", "b3"]],
    "clock": "shared",
}
HOSTILE = '"><script>alert(1)</script><!--\x1b[31m\u202e'


def event(broker: str, seq: int, kind: str, peer: str, message: object, **more: object) -> dict[str, object]:
    return {"broker": broker, "seq": seq, "event": kind, "peer": peer, "message": message, **more}


def rows(of: str = "quotes", brokers: tuple[str, str, str] = ("b1", "b2", "b3")) -> list[dict[str, object]]:
    """A publisher at the first of three brokers in a line; all that it publishes is wanted at the last."""
    first, middle, last = brokers
    found = []
    for number in range(4):
        message = {"kind": "publish", "id": f"p{number}", "of": of}
        at = 1_000_000 * number
        found += [
            event(first, 10 + number, "client", "P", message, time=at),
            event(middle, 10 + number, "receive", first, message, time=at + 200_000),
            event(last, 10 + 2 * number, "receive", middle, message, time=at + 600_000),
            event(last, 11 + 2 * number, "deliver", "C", message, time=at + 700_000),
        ]
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def trace(here: Here, lines: list[Any], header: dict[str, Any] | None = None, name: str = "run.jsonl") -> Path:
    every = [HEADER if header is None else header, *lines]
    return here.write(name, "".join(each if isinstance(each, str) else json.dumps(each) + "\n" for each in every))


def test_the_report(here: Here) -> None:
    ran = here("place", trace(here, rows()))
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert "1 publisher at 3 brokers, 4 publications, 4 deliveries; metric load, weight 100" in ran.out
    assert ["now", "0", "12", "0", "b1", "4", "0", "0.70", "0", "2.00"] in lines
    assert ["grape", "1", "4", "-66.7", "%", "b3", "4", "0", "0.10", "-85.7", "%", "0.00"] in lines
    assert ["quotes", "b1", "4", "b3", "b3", "b3", "-66.7", "%", "-85.7", "%"] in lines


def test_the_files(here: Here) -> None:
    assert here("place", trace(here, rows()), "--out", "placed", "--json", "all.json").code == 0
    files = {path.name for path in Path("placed").iterdir()}
    assert files == {"placement.parquet", "load.parquet", "placement.json", "report.html"}
    (found,) = json.loads(Path("all.json").read_text())["placements"]
    assert found == json.loads(Path("placed/placement.json").read_text())
    (publisher,) = found["runs"][0]["publishers"]
    assert publisher["places"][0] == {
        "algorithm": "now",
        "broker": "b1",
        "messages": 12,
        "messages_change": 0.0,
        "delay": 700_000.0,
        "delay_change": 0.0,
        "hops": 2.0,
    }
    table = pq.read_table("placed/placement.parquet").to_pylist()
    assert [(row["algorithm"], row["at"], row["broker"], row["messages"], row["messages_now"]) for row in table] == [
        (algorithm, "b1", "b3", 4, 12) for algorithm in ("pop", "grape", "brute force")
    ]
    loads = pq.read_table("placed/load.parquet").to_pylist()
    assert {(r["algorithm"], r["broker"]): r["messages"] for r in loads}["grape", "b1"] == 0
    page = Path("placed/report.html").read_text()
    assert "Before: publishers where they are" in page
    assert "After GRAPE" in page
    assert "After Brute force" not in page  # it chooses what GRAPE chooses


def test_several_traces_have_folders_of_their_own(here: Here) -> None:
    one, two = trace(here, rows()), trace(here, rows("other"), name="two.jsonl")
    assert here("place", one, two, "--out", "placed").code == 0
    assert Path("placed/1/report.html").exists()
    assert "other" in Path("placed/2/report.html").read_text()


def test_without_a_clock_delays_are_hops(here: Here) -> None:
    ran = here("place", trace(here, rows(), {**HEADER, "clock": None}), "--metric", "delay")
    assert "delay, hops" in ran.out
    assert "delays are counted in hops" in ran.out


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"overlay": []}, "the header's overlay has no links"),
        ({"overlay": [["b1", "b2"], ["b2", "b3"], ["b1", "b3"]]}, "cycle"),
        ({"observes": ["client", "receive", "send"]}, "does not list deliver"),
        ({"routeproof": 2}, "version"),
    ],
)
def test_headers_that_cannot_be_used(here: Here, change: dict[str, Any], complaint: str) -> None:
    refused(here("place", trace(here, rows(), {**HEADER, **change})), complaint)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run.jsonl", "--weight", "101"], "expected a weight from 0 to 100"),
        (["run.jsonl", "--weight", "nan"], "expected a weight from 0 to 100"),
        (["run.jsonl", "--metric", "speed"], "no metric is called"),
        (["run.jsonl", "--engine", "abacus"], "no engine is called"),
        (["run.jsonl", "--master", "local"], "give --engine spark as well"),
        (["none.jsonl"], "No such file"),
        ([], "required: TRACE"),
        (["-", "-"], "standard input can be read once"),
        (["run.jsonl", "--out", "run.jsonl"], "is no directory"),
        (["run.jsonl", "--json", "nowhere/file"], "there is no directory"),
        (["empty.jsonl"], "no client publishes anything in this trace"),
        (["broken.jsonl"], "1 lines could not be read"),
    ],
)
def test_what_is_refused(here: Here, words: list[str], complaint: str) -> None:
    trace(here, rows())
    trace(here, [], name="empty.jsonl")
    trace(here, ["{\n"], name="broken.jsonl")
    refused(here("place", *words), complaint)


def refused(ran: Ran, complaint: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert complaint in ran.err


def test_what_is_left_out_is_reported(here: Here) -> None:
    odd: list[Any] = [
        event("b9", 1, "client", "P", {"kind": "publish", "id": "x"}),
        event("b1", 90, "client", "P", {"kind": "publish", "id": "p0", "of": "quotes"}),
        event("b1", 91, "client", "P", {"kind": "publish", "id": "lonely", "of": "quotes"}),
        event("b1", 92, "deliver", "C", {"kind": "publish", "id": "never"}),
        event("b1", 93, "client", "P", {"kind": "publish"}),
        "no JSON\n",
        "\n",
        {"broker": "b1", "seq": -1, "event": "note"},
        {"broker": "b1", "seq": 1, "event": "dance"},
    ]
    ran = here("place", trace(here, [*rows(), *odd]), "--json", "a.json")
    assert ran.code == 3
    (found,) = json.loads(Path("a.json").read_text())["placements"]
    assert found["remarks"] == [
        "1 publication delivered nowhere, which cost the same wherever they are made",
        "left out: 1 delivery of something no client published",
        "left out: 1 publication whose id was used before",
        "left out: 1 event at brokers that are not in the overlay",
        '4 lines could not be read; line 22: a "publish" without "id"',
    ]
    assert [bad["line"] for bad in found["bad"]] == [22, 23, 25, 26]
    assert found["runs"][0]["publishers"][0]["publications"] == 5


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert not any(key.startswith("on") or key in ("href", "src") for key, _ in attrs)


def test_names_of_a_trace_are_no_markup(here: Here) -> None:
    """Brokers, run and publisher have names that would be a script, and sequences that a terminal acts on."""
    brokers = tuple(f"{HOSTILE}{at}" for at in "123")
    header = {**HEADER, "run": HOSTILE, "overlay": [list(brokers[:2]), list(brokers[1:])]}
    ran = here("place", trace(here, rows(HOSTILE, brokers), header), "--out", "placed")  # type: ignore[arg-type]  # three
    assert ran.code == 0
    page = Path("placed/report.html").read_text()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", ran.out + page)
    assert Tags(page).found == {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "section", "figure"),
        *("table", "tr", "th", "td", "figcaption", "span", "svg", "g", "path", "circle", "text", "rect"),
    }
    assert "script" not in Tags(page).found
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 5
    assert "default-src 'none'" in page


def test_numbers_beyond_64_bits_are_bad_lines(here: Here) -> None:
    message = {"kind": "publish", "id": "q", "of": "quotes"}
    large = [event("b1", 1 << 70, "client", "P", message), event("b1", 5, "client", "P", message, time=1 << 80)]
    assert here("place", trace(here, [*rows(), *large])).code == 3
    extreme = event("b1", (1 << 63) - 1, "client", "P", message, time=(1 << 63) - 1)
    late = event("b2", 7, "receive", "b1", message, time=0)
    assert here("place", trace(here, [*rows(), extreme, late])).code == 0
