"""`routeproof validate`: exit codes, what is printed, and files that nobody should have written."""

import json
import os
import random
from pathlib import Path

import pytest

from routeproof.checker.cli import main
from routeproof.checker.counterexamples.record import write_counterexample
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.protocols import world
from tests.checker.validate.walks import rows_of, write


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A run of the model as it is meant: one that reaches a delivery."""
    asked = world(find("star4"), "active")
    return write_counterexample(asked, explore(asked).findings["SomeDelivery"], tmp_path)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    asked = world(find("tiny"), "active", "removals-first")
    return write_counterexample(asked, explore(asked).findings["NoLostDelivery"], tmp_path)


def test_accepted_is_zero(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(good)]) == 0
    assert "accepted at level equivalent" in capsys.readouterr().out


def test_rejected_is_one_and_names_the_place(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(broken)]) == 1
    out = capsys.readouterr().out
    assert "broker b1, seq 9 (line 8): COV-8" in out
    assert "subscribe(S) to b2" in out
    assert "accepted events of this broker" in out


def test_json(good: Path, broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(good), str(broken), "--json", "-"]) == 1
    reports = json.loads(capsys.readouterr().out)["reports"]
    assert [r["verdict"] for r in reports] == ["accepted", "rejected"]
    assert reports[1]["rejections"][0]["rule"] == "COV-8"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"protocol": "gossip"}, "no protocol is called"),
        ({"policy": "eager"}, "the policy 'eager'"),
        ({"overlay": [["b1", "b2"], ["b2", "b1"]]}, "listed twice"),
        ({"overlay": [["b1", "b2"], ["b2", "b3"], ["b1", "b3"]]}, "cycle"),
        ({"overlay": []}, None),
        ({"routeproof": 2}, "version"),
        ({"dialect": "esperanto"}, "esperanto"),
    ],
)
def test_headers_that_cannot_be_used(
    good: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], complaint: str | None
) -> None:
    header, *lines = good.read_text().splitlines(keepends=True)
    good.write_text(json.dumps({**json.loads(header), **change}) + "\n" + "".join(lines))
    code = main(["validate", str(good)])
    err = capsys.readouterr().err
    if complaint is None:
        assert code == 1, "events of brokers that the overlay does not have"
    else:
        assert code == 2
        assert complaint in err
        assert err.count("\n") == 1


def test_whose_header_it_is(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of several traces, the one that is wrong is named."""
    header, *lines = good.read_text().splitlines(keepends=True)
    odd = good.with_name("odd.jsonl")
    for change in ({"clock": 17}, {"protocol": "gossip"}, {"policy": "eager"}, {"overlay": [["b1", "b1"]]}):
        odd.write_text(json.dumps({**json.loads(header), **change}) + "\n" + "".join(lines))
        assert main(["validate", str(good), str(odd)]) == 2
        err = capsys.readouterr().err
        assert f"{odd}: " in err
        assert err.count("\n") == 1


def test_people_are_shown_some_of_many(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, *lines = good.read_text().splitlines(keepends=True)
    event = json.loads(lines[0])
    many = [json.dumps({**event, "broker": f"x{n}"}) + "\n" for n in range(57)]
    good.write_text(header + "".join(many))
    assert main(["validate", str(good)]) == 1
    out = capsys.readouterr().out
    assert out.count("wanted") == 1
    assert "the same rule at 56 more brokers: x1 (seq" in out
    assert out.index("x2 (seq") < out.index("x5 (seq")
    assert "x9" not in out
    assert main(["validate", str(good), "--json", "-"]) == 1
    assert len(json.loads(capsys.readouterr().out)["reports"][0]["rejections"]) == 57


def test_a_trace_without_events(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good.write_text(good.read_text().splitlines(keepends=True)[0])
    assert main(["validate", str(good)]) == 3
    assert "not judged: anything, since there is no event that can be read" in capsys.readouterr().out


def test_mistyped(capsys: pytest.CaptureFixture[str], good: Path) -> None:
    assert main(["validate", str(good), "--level", "exat"]) == 2
    assert "exact" in capsys.readouterr().err
    assert main(["validate", str(good.with_name("nowhere.jsonl"))]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_mutated_files_give_a_verdict_or_one_line(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes flipped, pieces cut out, doubled and moved: exit codes only, and never a crash, which would be 3 with a
    traceback on standard error."""
    rng, whole = random.Random(7), good.read_bytes()
    codes = set()
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at, length = rng.randrange(len(data)), rng.randint(1, 40)
            match rng.randrange(4):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    del data[at : at + length]
                case 2:
                    data[at:at] = data[at : at + length]
                case 3:
                    data[at : at + 1] = rng.choice(
                        [b"9" * 400, b"[" * 300, b"null", b"-1", b'"', b"\n", b"\x00", b"1e999"]
                    )
        good.write_bytes(bytes(data))
        code = main(["validate", str(good)])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert code in (0, 1, 2, 3)
        assert (code == 2) == bool(err)
        assert "\x1b" not in out
        codes.add(code)
    assert codes >= {1, 2, 3}


def test_metrics_go_into_a_directory_whose_name_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parquet's library takes paths that are text only."""
    here = tmp_path / os.fsdecode(b"run\xff")
    assert main(["run", "stock", "--scale", "0.001", "--trace", "--out", str(here)]) == 0
    assert main(["validate", str(here / "trace.jsonl"), "--metrics", str(here / "again")]) == 0
    assert {each.name for each in (here / "again").iterdir()} == {"metrics.parquet", "delays.parquet"}


def test_a_run_that_another_policy_allows_is_said_to_be_so(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The header may name another policy than that of the brokers; --policy overrides it."""
    rows = rows_of("star4", "active", 2)
    path = write([{**rows[0], "policy": "none"}, *rows[1:]], tmp_path / "odd.jsonl")
    assert main(["validate", str(path)]) == 1
    assert "  allowed under active" in capsys.readouterr().out
    assert main(["validate", str(path), "--policy", "active"]) == 0
    assert main(["validate", str(path), "--policy", "eager"]) == 2
    assert "the policy 'eager'; expected one of none" in capsys.readouterr().err
