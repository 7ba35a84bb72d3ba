"""What was proved is proved anew when anything changes that it comes from, and the record is for tests alone."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import z3

from routeproof.checker.prove.theorems import THEOREMS
from tests import shown
from tests.checker.prove import proved
from tests.checker.prove.test_theorems import EXPECTED


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return proved.sources()


def test_all_that_a_proof_comes_from_counts(texts: dict[str, str]) -> None:
    """The modules in which theorems and their obligations are written, and those that judge them."""
    for theorem in THEOREMS.values():
        made = theorem.obligations
        while hasattr(made, "func"):
            made = made.func
        path = made.__module__.replace("routeproof.", "", 1).replace(".", "/")
        assert {f"{path}.py", f"{path}/__init__.py"} & texts.keys(), theorem.id
    for name in (
        "checker/prove/solve.py",
        "checker/prove/ground.py",
        "checker/prove/invariants.py",
        "checker/prove/vacuity.py",
        "checker/pruning/refinement.py",
        "checker/explore/search.py",
        "model/filters/sets.py",
        "spec/theory/relation/routing.py",
        "model/instances/tiny.toml",
    ):
        assert name in texts, name


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("spec/theory/relation/routing.py", "self.logic.any_of(", "self.logic.all_of("),
        ("checker/prove/invariants.py", "mbqi=False", "mbqi=True"),
        ("checker/prove/solve.py", "RLIMIT = 40_000_000", "RLIMIT = 40_000_001"),
        ("model/instances/tiny.toml", "1", "2"),
    ],
)
def test_a_clause_a_limit_or_an_instance_that_changes_is_noticed(
    name: str, old: str, new: str, texts: dict[str, str]
) -> None:
    assert old in texts[name]
    assert proved.digest({**texts, name: texts[name].replace(old, new, 1)}) != proved.key()
    assert proved.digest({other: text for other, text in texts.items() if other != name}) != proved.key()


def test_words_for_people_change_nothing(texts: dict[str, str]) -> None:
    name = "spec/theory/relation/routing.py"
    spoken = f'"""Other words."""\n# and a comment\n{texts[name]}'
    assert proved.digest({**texts, name: spoken}) == proved.digest(texts) == proved.key()


def test_another_version_of_z3_counts(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3, "get_full_version", lambda: "0.0")
    assert proved.digest(texts) != proved.key()


def test_a_record_of_something_else_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proved, "RECORD", tmp_path / "proved.json")
    assert proved.recorded() == {}
    proved.write({"Roads": ["proved", 4]})
    assert proved.recorded() == {"Roads": ["proved", 4]}
    record = json.loads(proved.RECORD.read_text())
    proved.RECORD.write_text(json.dumps({**record, "key": "0" * 64}))
    assert proved.recorded() == {}


def test_what_is_recorded_is_what_is_expected() -> None:
    """Where the record is of what there is now; otherwise it counts for nothing."""
    known = proved.recorded()
    assert {id: tuple(row) for id, row in known.items() if id in EXPECTED}.items() <= EXPECTED.items()
    assert all(row[0] == "allowed" for id, row in known.items() if id not in EXPECTED)


def test_no_part_of_the_product_reads_the_record() -> None:
    """So that no file makes `routeproof prove` say that something is proved."""
    rooms = ("checker", "impl", "model", "spec", "traces")
    files = [path for room in rooms for path in (proved.TOP / room).rglob("*.py")]
    assert len(files) > 200
    assert not [path for path in files if re.search(r"proved\.json|checker\.prove\.proved", path.read_text("utf-8"))]


# -- tests that are recorded -------------------------------------------------------------------------------------------

FILE = "spec/theory/test_trees.py"


def a_test(again: bool, name: str = "test_roads") -> Any:
    """A test of `FILE` as pytest has it, as far as the record looks at it."""
    call = SimpleNamespace(params={shown.FIXTURE: again})
    return SimpleNamespace(path=shown.TOP / FILE, nodeid=f"tests/{FILE}::{name}", callspec=call)


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A record in which one test of `FILE` has passed."""
    path = tmp_path / "shown.json"
    path.write_text(json.dumps({FILE: {"key": shown.key(FILE), "passed": ["test_roads"]}}))
    monkeypatch.setattr(shown, "RECORD", path)
    monkeypatch.delenv(shown.PASSED, raising=False)
    shown.known.cache_clear()
    yield path
    shown.known.cache_clear()


def test_a_test_that_passed_is_not_asked_again(record: Path) -> None:
    assert shown.is_known(a_test(again=False))
    assert not shown.is_known(a_test(again=False, name="test_rivers")), "one that is not recorded"
    assert not shown.is_known(a_test(again=True)), "a campaign asks it"


def test_a_test_is_asked_again_when_its_text_has_changed(record: Path) -> None:
    record.write_text(record.read_text().replace(shown.key(FILE), "0" * 64))
    assert not shown.is_known(a_test(again=False))


@pytest.fixture
def digested(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The texts of which digests are asked for."""
    found: list[dict[str, str]] = []

    def digest(texts: dict[str, str]) -> str:
        found.append(texts)
        return ""

    monkeypatch.setattr(proved, "digest", digest)
    return found


def test_the_text_of_a_test_and_of_what_it_imports_counts(digested: list[dict[str, str]]) -> None:
    shown.key.__wrapped__(FILE)
    (texts,) = digested
    assert {f"tests/{FILE}", "tests/spec/theory/small_worlds.py", "spec/theory/relation/ways.py"} <= texts.keys()


def test_a_run_that_renews_the_record_asks_everything_and_notes_it(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(shown.PASSED, str(tmp_path / "passed"))
    assert not shown.is_known(a_test(again=False))
    shown.note(a_test(again=False))
    shown.note(a_test(again=True))
    assert (tmp_path / "passed").read_text() == f'["{FILE}", "test_roads"]\n'


def test_a_table_beside_a_test_counts_and_the_record_of_proofs_does_not(digested: list[dict[str, str]]) -> None:
    for file in ("naive/test_naive.py", "checker/prove/test_basis.py"):
        shown.key.__wrapped__(file)
    assert {"tests/naive/counts.json", "routeproof/traces/corpus/prop3-in-tables.jsonl"} <= digested[0].keys()
    assert not [name for name in digested[1] if name.endswith("proved.json")]


def test_what_is_marked_is_found() -> None:
    assert {FILE, "pruning/test_relation.py", "spec/theory/test_conditions.py"} <= set(shown.files())
