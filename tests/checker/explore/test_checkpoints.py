"""Checkpoints: signals at every place, damage of every kind, and files that cannot be written."""

import hashlib
import json
import random
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import attrs
import pytest

from routeproof.checker.cli import main
from routeproof.checker.evaluation import Result
from routeproof.checker.explore import explore
from routeproof.checker.explore import search as search_module
from routeproof.checker.explore.checkpoint import LENGTH, MAGIC
from routeproof.checker.instances import find
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.interrupts import Interrupted, listening, raising
from routeproof.model.protocols import world
from tests.campaigns import daily


def same(result: Result) -> dict[str, Any]:
    return attrs.asdict(attrs.evolve(result, seconds=0.0))


def traced(work: Callable[[], Result], at: int) -> tuple[Result | None, int]:
    """Does the work with an interrupt at the given line of the explorer; the result, and how many lines ran."""
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if "/checker/explore/" not in frame.f_code.co_filename:
            return None
        if event == "line":
            lines += 1
            if lines == at:
                signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work(), lines
    except KeyboardInterrupt:
        return None, lines
    finally:
        sys.settrace(before)


@pytest.mark.parametrize(
    ("name", "policy", "mutant", "reduction"),
    [
        ("tiny", "none", "publication-sent-back", ()),
        ("tiny", "active", None, ("symmetry",)),
        ("tiny", "lazy", None, ("por",)),
    ],
)
@pytest.mark.parametrize("part", daily(range(40), range(2).__contains__))
def test_a_signal_anywhere(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    policy: str,
    mutant: str | None,
    reduction: tuple[str, ...],
    part: int,
) -> None:
    monkeypatch.setattr(search_module, "CHUNK", 32)
    monkeypatch.setattr(search_module, "LEAST", 16)
    asked = world(find(name), policy, mutant)
    whole = explore(asked, reduction=reduction)
    _, total = traced(lambda: explore(asked, reduction=reduction), 0)
    rng = random.Random(part)
    interrupted = 0
    for k, at in enumerate(rng.sample(range(1, total), 8)):
        checkpoint = tmp_path / f"{k}.checkpoint"
        stopped, _ = traced(lambda file=checkpoint: explore(asked, reduction=reduction, checkpoint=file), at)  # type: ignore[misc]
        if stopped is not None and stopped.limit:
            assert stopped.limit == "interrupted"
            assert checkpoint.exists()
            interrupted += 1
        assert same(explore(asked, reduction=reduction, checkpoint=checkpoint)) == same(whole), at
    assert interrupted >= 4


def test_a_group_that_lost_renamings_is_taken_up(tmp_path: Path) -> None:
    asked = world(find("star4"), "active")
    whole = explore(asked, reduction=("symmetry",))
    file = tmp_path / "s.checkpoint"
    for limit in (500, 3000):
        assert explore(asked, reduction=("symmetry",), max_states=limit, checkpoint=file).limit
    assert same(explore(asked, reduction=("symmetry",), checkpoint=file)) == same(whole)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.checkpoint"
    explore(world(find("tiny"), "active"), max_states=20, checkpoint=file)
    return file


@pytest.mark.parametrize("part", daily(range(60), range(1).__contains__))
def test_damage_is_one_line(saved: Path, tmp_path: Path, part: int) -> None:
    whole, rng = saved.read_bytes(), random.Random(part)
    asked, bad = world(find("tiny"), "active"), tmp_path / "bad"
    for at in rng.sample(range(len(whole)), 40):
        junk = bytes([rng.randrange(256)])
        for content in (
            whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :],
            whole[:at],
            whole[:at] + junk + whole[at:],
            whole[:at] + whole[at + 1 :],
            whole + junk,
        ):
            bad.write_bytes(content)
            with pytest.raises(UsageError, match=r"remove it") as error:
                explore(asked, checkpoint=bad)
            assert "\n" not in str(error.value)


def forged(whole: bytes, change: Callable[[dict[str, Any], bytearray], None]) -> bytes:
    """A checkpoint with another header and other arrays, under a checksum that is right."""
    at = len(MAGIC) + LENGTH
    length = int.from_bytes(whole[len(MAGIC) : at], "little")
    header, body = json.loads(whole[at : at + length]), bytearray(whole[at + length : -32])
    change(header, body)
    text = json.dumps(header).encode()
    content = MAGIC + len(text).to_bytes(LENGTH, "little") + text + bytes(body)
    return content + hashlib.sha256(content).digest()


def test_what_contradicts_itself_is_refused_under_a_right_checksum(saved: Path, tmp_path: Path) -> None:
    whole, asked, bad = saved.read_bytes(), world(find("tiny"), "active"), tmp_path / "bad"

    def refused(change: Callable[[dict[str, Any], bytearray], None], why: str) -> None:
        bad.write_bytes(forged(whole, change))
        with pytest.raises(UsageError, match=why):
            explore(asked, checkpoint=bad)

    refused(lambda h, _: h.update(version="0.0.0"), "of routeproof 0.0.0")
    refused(lambda h, _: h["arrays"][1].__setitem__(2, 1 << 40), "sizes of its arrays")
    refused(lambda h, _: h["arrays"][1].__setitem__(2, -1), "table of arrays")
    refused(lambda h, _: h["arrays"][1].__setitem__(1, "O"), "table of arrays")
    refused(lambda h, _: h.update(judged=10**9), "what was judged")
    refused(lambda h, _: h.update(widths=[1] * len(h["widths"])), "contradicts itself")
    refused(lambda h, _: h.update(values="0"), "answers differently")
    refused(lambda h, _: h["tallies"]["NoDuplicate"].__setitem__(1, 10**6), "tally of NoDuplicate")
    refused(lambda h, _: h["tallies"].pop("NoDuplicate"), "its properties")
    refused(lambda h, _: h.clear(), "contradicts itself")
    header = json.loads(whole[len(MAGIC) + LENGTH : whole.index(b"]]") + 2].decode() + "}")
    starts, place = {}, 0
    for name, kind, count in header["arrays"]:
        starts[name] = place
        place += count * int(kind.lstrip("uint")) // 8
    for name, why in (("target", "its"), ("degree", "its"), ("keys", "contradicts"), ("log", "its log")):
        refused(lambda _, body, at=starts[name]: body.__setitem__(at + 1, body[at + 1] ^ 0x7F), why)  # type: ignore[misc]


@pytest.mark.parametrize("error", [TypeError, UsageError])
def test_what_a_signal_tears_while_it_is_read_is_no_damage(
    saved: Path, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's own modules may answer to an interrupt with an error of theirs."""

    def torn(*_: object) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        raise error

    monkeypatch.setattr("routeproof.checker.explore.checkpoint._restore", torn)
    with listening(until_exit=False):
        raising()
        with pytest.raises(Interrupted):
            explore(world(find("tiny"), "active"), checkpoint=saved)


def test_a_model_that_answers_differently(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from routeproof.model.history import Ledger

    before = Ledger.after
    monkeypatch.setattr(Ledger, "after", lambda *given: attrs.evolve(before(*given), owed=7))
    with pytest.raises(UsageError, match="answers differently"):
        explore(world(find("tiny"), "active"), checkpoint=saved)


def test_a_checkpoint_that_cannot_be_written_comes_after_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr("routeproof.checker.explore.save", lambda *_: (folder / "gone" / "file").write_text(""))
    asked = ["check", "cross3", "--policy", "active", "--max-states", "1000", "--checkpoint", str(folder / "c")]
    assert main(asked) == 2
    shown = capsys.readouterr()
    assert "cross3" in shown.out
    assert "the search was not saved" in shown.err
    monkeypatch.chdir(tmp_path)
    assert main([*asked[:5], "20000", *asked[6:], "--mutant", "publication-sent-back"]) == 1


def test_seconds_hold_on_a_wide_instance() -> None:
    import time

    from tests.checker.explore.test_many import instance

    began = time.perf_counter()
    result = explore(world(instance(1, 70, 1), "active"), seconds=0.5)
    assert time.perf_counter() - began < 5  # on a machine that is shared
    assert result.limit == "0.5 seconds"
    assert {f.verdict for f in result.findings.values() if f.kind == "always"} <= {"unknown"}


def test_cuts_anywhere_end_alike(tmp_path: Path) -> None:
    """Limits of time fall between any two questions; the end is the same."""
    asked, file = world(find("line3"), "active"), tmp_path / "c"
    whole = explore(asked)
    parts = 0
    while (part := explore(asked, seconds=0.01, checkpoint=file)).limit:
        parts += 1
    assert parts >= 2
    assert same(part) == same(whole)
