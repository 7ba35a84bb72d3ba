"""What a user can get wrong: always exit code 2, one line on standard error, and nothing else."""

import os
from pathlib import Path
from threading import Thread

import pytest

from routeproof.checker.check.machine import command
from tests.checker.command import Here, run
from tests.model.malformed import GOOD, MALFORMED


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def refused(here: Here, *argv: object) -> str:
    """The line, without its mark."""
    ran = here(*argv)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("routeproof: ")
    assert ran.err.count("\n") == 1
    return ran.err.removeprefix("routeproof: ").rstrip("\n")


# -- instance files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_instance(here: Here, case: str) -> None:
    text, expected = MALFORMED[case]
    line = refused(here, "check", "--instance", here.write("bad.toml", text).name)
    assert line.startswith("bad.toml: ")
    assert expected in line


LINES = GOOD.count("\n")

NOT_TOML: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "found no key name"),
    "blank": (b"\n\n   \n", "found no key name"),
    "ten megabytes": (b"# " + b"x" * 10_000_000, "more than 1048576 bytes"),
    "ten megabytes of keys": (b"a = 1\n" * 1_700_000, "more than 1048576 bytes"),
    "binary": (bytes(range(256)) * 8, "line 2: not text in UTF-8"),
    "null characters": (b"\0" * 1000, "not TOML: Invalid statement (at line 1, column 1)"),
    "an executable": (b"\x7fELF\x02\x01\x01\0\0", "not TOML"),
    "utf-16": (GOOD.encode("utf-16"), "line 1: not text in UTF-8"),
    "cut short": (GOOD.encode()[:-4], "not TOML: Expected '=' after a key in a key/value pair (at end of document)"),
    "cut short in a string": (GOOD.encode()[:10], "not TOML: Unterminated string"),
    "a key twice": (b"name = 'a'\nname = 'b'\n", "not TOML: Cannot overwrite a value (at line 2"),
    "a line of prose": (GOOD.encode() + b"and so on\n", f"at line {LINES + 1}, column 5"),
    "json": (b'{"name": "x"}', "not TOML: Invalid statement (at line 1, column 1)"),
    "nested lists": (b"overlay = " + b"[" * 100_000, "nested too deeply"),
    "nested tables": (b"x = " + b"{a=" * 100_000, "nested too deeply"),
    "a key of many parts": (b"a." * 400_000 + b"a = 1", "line 1: found more than 100 dots in one line"),
    "a table of many parts": (b"[" + b"a." * 400_000 + b"a]", "line 1: found more than 100 dots in one line"),
    "a number of many digits": (b"x = " + b"9" * 100_000, "not TOML: Exceeds the limit"),
    "a date that is none": (b"x = 2024-02-30", "not TOML: Invalid date"),
    "a very long string": (b'name = "' + b"x" * 1_000_000 + b'"\n', "found no key protocol"),
}


@pytest.mark.parametrize("case", NOT_TOML)
def test_a_file_that_is_no_instance(here: Here, case: str) -> None:
    data, expected = NOT_TOML[case]
    (here.directory / "bad.toml").write_bytes(data)
    line = refused(here, "check", "--instance", "bad.toml")
    assert line.startswith("bad.toml: ")
    assert expected in line
    assert len(line) < 400


def test_a_file_that_is_not_there(here: Here) -> None:
    assert "there is no such file" in refused(here, "check", "--instance", "none.toml")


@pytest.mark.parametrize("path", [".", "/dev/random", "/dev/null"])
def test_what_is_no_file(here: Here, path: str) -> None:
    expected = "not a regular file and not a pipe; expected an instance file in TOML"
    assert refused(here, "check", "--instance", path).endswith(expected)


def test_a_pipe(here: Here) -> None:
    os.mkfifo("pipe")
    writer = Thread(target=lambda: Path("pipe").write_text(GOOD))
    writer.start()
    assert here("check", "--instance", "pipe").code == 0
    writer.join()


def test_a_file_that_may_not_be_read(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here.write("secret.toml", GOOD)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)  # the tests may run as a user who may read everything
    assert refused(here, "check", "--instance", path).endswith("cannot be read: Permission denied")


def test_two_instances_of_one_name(here: Here) -> None:
    here.write("a.toml", GOOD.replace('"good"', '"tiny"'))
    line = refused(here, "check", "tiny", "--instance", "a.toml")
    assert line == "two instances are called tiny: the one that ships and a.toml; rename one"


# -- words that mean nothing -------------------------------------------------------------------------------------------

MISTAKES: list[tuple[str, str]] = [
    (
        "",
        "expected a command: check, list, explain, run, reproduce, validate, place, trees, prove, show, shrink, bench;",
    ),
    ("chek", 'no command is called "chek" (did you mean check?)'),
    ("--policy", "expected a command before --policy"),
    ("check tini", 'no instance is called "tini" (did you mean tiny?)'),
    ("check zzzzzz", 'no instance is called "zzzzzz"; see: routeproof list instances'),
    ("check mine.toml", "mine.toml: there is no such file; expected an instance file in TOML"),
    ("check ./tiny", "tiny: there is no such file; expected an instance file in TOML"),
    (
        "check tiny --policy laxy",
        'no policy is called "laxy" (did you mean lazy?); expected none, active, lazy, packing',
    ),
    ("check tiny --engine proof", 'no engine is called "proof"; expected explore, fuzz'),
    (
        "check tiny --engine prove",
        "prove is a command of its own, since theorems hold for all sizes; see: routeproof prove",
    ),
    ("check tiny --property Agrement", 'no property is called "Agrement" (did you mean Agreement?)'),
    ("check --property Agreement tiny", "--property takes every word after it, also tiny"),
    (
        "check tiny --property Compact --policy none",
        "no property is left to check: Compact is meant for active, packing",
    ),
    (
        "check tiny --property Drains InOrder",
        "InOrder: it is a property of migration, and these searches are of routing",
    ),
    ("check tiny --property InOrder", "no property is left to check: InOrder is a property of migration"),
    ("check tiny --mutant removal-first", 'no mutant is called "removal-first" (did you mean removals-first?)'),
    ("check tiny --mutant removals-first --policy none", "differs from the protocol under active, lazy only"),
    (
        "check tiny --max-states 0",
        'argument --max-states: found "0"; expected a whole number from 1 to 1,000,000,000,000',
    ),
    ("check tiny --max-states many", 'found "many"; expected a whole number'),
    ("check tiny --max-states 99999999999999999999", "expected a whole number from 1 to 1,000,000,000,000"),
    ("check tiny --seconds -1", "argument --seconds"),
    ("check tiny --seconds nan", 'found "nan"; expected a number of seconds from 1e-06 to 100,000,000'),
    ("check tiny --seconds inf", 'found "inf"; expected a number of seconds from 1e-06 to 100,000,000'),
    ("check tiny --workers 0", 'argument --workers: found "0"'),
    ("check tiny --seed x", "argument --seed"),
    ("check tiny --reduction por2", 'no reduction is called "por2" (did you mean por?)'),
    ("check tiny --polic none", "unrecognized arguments: --polic none"),
    ("check tiny --examples 5", "--examples is for --engine fuzz; found --engine explore"),
    ("check tiny --engine fuzz --max-states 5", "--max-states is for --engine explore; found --engine fuzz"),
    ("check tiny --checkpoint c", "--checkpoint keeps one search, and this would be 4"),
    ("check tiny --json nowhere/r.json", "nowhere/r.json: there is no directory nowhere; create it first"),
    ("check tiny --json .", ".: is a directory; expected a file to write"),
    ("check tiny --junit .", ".: is a directory; expected a file to write"),
    ("check tiny --json", "argument --json: expected one argument"),
    ("list mutant", 'no kind is called "mutant" (did you mean mutants?)'),
    ("list broker", 'no kind is called "broker"; expected protocols'),
    ("show none.jsonl", "none.jsonl"),
    ("show none.jsonl --format=--", 'found "--format=--"; expected a value other than --'),
    ("shrink none.jsonl -o--", 'found "-o--"; expected a value other than --'),
    ("shrink none.jsonl -o x", "none.jsonl"),
    ("shrink none.jsonl", "the following arguments are required: -o/--output"),
]


@pytest.mark.parametrize(("words", "expected"), MISTAKES, ids=[words or "nothing" for words, _ in MISTAKES])
def test_mistake(here: Here, words: str, expected: str) -> None:
    assert expected in refused(here, *words.split())


def test_a_checkpoint_of_something_else(here: Here) -> None:
    here.write("c", "not a checkpoint")
    line = refused(here, "check", "tiny", "--policy", "none", "--checkpoint", "c")
    assert line.startswith("tiny none: c: ")


def test_traces_that_would_go_into_a_file(here: Here) -> None:
    here.write("traces", "")
    assert "traces: is no directory" in refused(here, "check", "tiny", "--workers", 1)


# -- as a process ------------------------------------------------------------------------------------------------------


def test_names_that_are_not_text(tmp_path: Path) -> None:
    for argv in (("check", b"\xff\xfe\nx"), ("check", "--instance", b"\xff\n.toml"), ("show", b"\xff")):
        ran = run(*argv, cwd=tmp_path)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert ran.err.startswith("routeproof: ")


@pytest.mark.parametrize("case", ["cycle", "endless broker", "too many ids"])
def test_malformed_instance_as_a_process(tmp_path: Path, case: str) -> None:
    text, expected = MALFORMED[case]
    (tmp_path / "bad.toml").write_text(text)
    ran = run("check", "--instance", "bad.toml", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert expected in ran.err


# -- annotations -------------------------------------------------------------------------------------------------------


def test_annotations_are_escaped() -> None:
    line = command("error", "50% of\r\nit::x", title="a:b,c%\n", file="")
    assert line == "::error title=a%3Ab%2Cc%25%0A::50%25 of%0D%0Ait::x"
