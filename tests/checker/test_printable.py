"""Names that somebody else chose, at every exit: nothing that a terminal, GitHub or an XML reader would act on."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from routeproof.checker.check.machine import command
from routeproof.checker.system.terminal import json_text, lines, printable
from tests.checker.command import COMMAND, TOP, Here, environment

HOSTILE = "a\x1b[31m\r\n::error::x\x07\x9b\u202e\u2066\x7f"
NOT_UTF8 = os.fsdecode(b"b\xff\xfe")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def is_clean(text: str) -> bool:
    return all(c.isprintable() or c == "\n" for c in text)


def test_what_is_printable_stays() -> None:
    assert printable("b1 → ü 中 50%") == "b1 → ü 中 50%"
    assert printable(HOSTILE + NOT_UTF8) == r"a\x1b[31m\r\n::error::x\x07\x9b\u202e\u2066\x7fb\udcff\udcfe"


def test_a_painted_report_keeps_its_paint_only() -> None:
    assert lines("\x1b[32mgood\x1b[0m\n\x1b[2J\x1b]0;x\x07") == "\x1b[32mgood\x1b[0m\n\\x1b[2J\\x1b]0;x\\x07"


@pytest.mark.parametrize("text", [NOT_UTF8, "\ud83d", "\ude00\ud83d", "\\ud83d", "\\\ud83d\\", "\U0001f600", HOSTILE])
def test_json_is_for_strict_readers(text: str) -> None:
    written = json_text({"name": text, text: [text]})
    read = json.loads(written)
    json.dumps(read, ensure_ascii=False).encode("utf-8")  # a lone surrogate has no bytes in UTF-8
    assert read["name"] == text.encode("utf-8", "backslashreplace").decode()


def test_an_annotation_is_one_line() -> None:
    line = command("error", f"{HOSTILE}{NOT_UTF8}", title=HOSTILE, file=NOT_UTF8)
    assert is_clean(line)
    assert "\n" not in line
    assert "%0D%0A::error" in line


MISTAKES = [
    ["check", HOSTILE],
    ["check", "--instance", HOSTILE],
    ["check", "--instance", NOT_UTF8],
    ["check", "tiny", "--policy", HOSTILE],
    ["check", "tiny", "--max-states", HOSTILE],
    ["check", "tiny", "--json", f"no/{HOSTILE}{NOT_UTF8}"],
    ["validate", HOSTILE],
    ["validate", NOT_UTF8],
    ["place", HOSTILE],
    ["trees", HOSTILE, HOSTILE, HOSTILE],
    ["show", HOSTILE + NOT_UTF8],
    ["shrink", HOSTILE, "-o", NOT_UTF8],
    ["prove", HOSTILE],
    ["reproduce", HOSTILE],
    ["run", HOSTILE, "--out", "o"],
    ["list", HOSTILE],
    ["bench", HOSTILE],
    [HOSTILE],
    [f"--{HOSTILE}"],
    ["check", "line3", "--json", "\ud800"],
    ["check", "line3", "--junit=\ud800"],
    ["check", "line3", "--traces", "\ud800"],
    ["shrink", str(TOP / "traces" / "corpus" / "prop2-under-lazy.jsonl"), "-o", "\ud800"],
]


@pytest.mark.parametrize("words", MISTAKES)
def test_a_complaint_is_one_printable_line(here: Here, words: list[str]) -> None:
    ran = here(*words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert is_clean(ran.err)


def shown(path: Path) -> str:
    """The path as JSON has it: a byte that is no UTF-8 by its number."""
    return str(path.relative_to(Path.cwd())).encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize("name", [HOSTILE.replace("/", "_"), NOT_UTF8])
def test_reports_about_a_directory_of_such_a_name(here: Here, name: str) -> None:
    """Its trace's path stands in each of them."""
    words = ("check", "line3", "--policy", "active", "--mutant", "removals-first", "--workers", "1", "--github")
    ran = here(*words, "--traces", name, "--json", f"{name}.json", "--junit", f"{name}.xml")
    assert ran.code == 1
    assert is_clean(ran.out)
    [failure] = json.loads((here.directory / f"{name}.json").read_text())["failures"]
    assert any(shown(path) == failure["counterexample"] for path in here.directory.rglob("*.jsonl"))
    root = ET.parse(here.directory / f"{name}.xml").getroot()
    assert all(is_clean(text) for each in root.iter() for text in (*each.attrib.values(), each.text or ""))


def test_a_directory_cannot_paint_a_report(here: Here) -> None:
    ran = here("run", "stock", "--scale", "0.0001", "--out", "\x1b[31mred\x1b[0m")
    assert ran.code == 0
    assert is_clean(ran.out)


def test_as_a_process_in_a_locale_without_utf_8(tmp_path: Path) -> None:
    for words in ([b"b\xff\xfe\x1b"], [b"--instance", b"\xe2\x80\xae\xff"]):
        ran = subprocess.run(
            [*map(os.fsencode, COMMAND), b"check", *words],
            cwd=tmp_path,
            env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (ran.returncode, ran.stdout, ran.stderr.count(b"\n")) == (2, b"", 1)
        assert ran.stderr.strip().isascii()
        assert b"\x1b" not in ran.stderr


BOUNDS = [
    ("run stock --out o", "--latency"),
    ("run stock --out o --tcp", "--max-frame"),
    ("run stock --out o --tcp", "--pace"),
    ("run stock --out o --tcp", "--seconds"),
    ("run stock --out o", "--scale"),
    ("run stock --out o", "--seed"),
    ("run stock --out o --trace", "--snapshots"),
    ("run stock --out o --policy incremental", "--congestion"),
    ("check tiny", "--workers"),
    ("check tiny", "--max-states"),
    ("check tiny", "--seconds"),
    ("check tiny --engine fuzz", "--seed"),
    ("check tiny --engine fuzz", "--examples"),
    ("prove", "--workers"),
    ("reproduce", "--workers"),
    ("reproduce", "--scale"),
    ("reproduce", "--seed"),
]


@pytest.mark.parametrize(("words", "option"), BOUNDS)
def test_a_number_out_of_bounds_is_refused(here: Here, words: str, option: str) -> None:
    for number in ("-1", "nan", "inf", "-inf", "1e308", str(10**30), "9" * 5000, "x", ""):
        ran = here(*words.split(), f"{option}={number}")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), number
        assert f"argument {option}: found" in ran.err
        assert len(ran.err) < 300
    assert sys.getsizeof(ran.err) < 1000


@pytest.mark.parametrize("option", ["--latency=60000", "--scale=1e-300", "--seed=1000000000000"])
def test_a_number_at_its_bound_has_an_end(here: Here, option: str) -> None:
    assert here("run", "stock", "--scale", 0.001, "--out", "o", option).code == 0
