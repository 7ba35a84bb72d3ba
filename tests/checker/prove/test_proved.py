"""What was proved is proved anew when anything changes that it comes from, and the record is for tests alone."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
import z3

from routeproof.checker.prove.theorems import THEOREMS
from tests import digests, shown
from tests.checker.command import TOP
from tests.checker.prove import proved
from tests.checker.prove.test_theorems import EXPECTED

ALONE = """
import json
from tests.checker.prove import proved
_, row, loaded = proved.judged("PruningRetained")
print(json.dumps([row, sorted(loaded)]))
"""


@pytest.fixture(scope="module")
def loaded() -> frozenset[str]:
    """What a process has loaded that has judged a theorem and nothing else."""
    command = [sys.executable, "-c", ALONE]
    row, files = json.loads(subprocess.run(command, cwd=TOP, check=True, capture_output=True).stdout)
    assert tuple(row) == EXPECTED["PruningRetained"]
    return frozenset(files)


@pytest.fixture(scope="module")
def texts(loaded: frozenset[str]) -> dict[str, str]:
    """The texts that count for a record of this theorem, by their names."""
    return digests.texts(loaded)


def test_all_that_a_proof_comes_from_counts(texts: dict[str, str]) -> None:
    """The modules in which theorems and their obligations are written, and those that judge them."""
    for theorem in THEOREMS.values():
        made = theorem.obligations
        while hasattr(made, "func"):
            made = made.func
        path = made.__module__.replace(".", "/")
        assert {f"{path}.py", f"{path}/__init__.py"} & texts.keys(), theorem.id
    for name in (
        "routeproof/checker/prove/solve.py",
        "routeproof/checker/prove/ground.py",
        "routeproof/checker/prove/invariants.py",
        "routeproof/checker/prove/vacuity.py",
        "routeproof/checker/pruning/refinement.py",
        "routeproof/checker/explore/search.py",
        "routeproof/model/filters/sets.py",
        "routeproof/model/mesh/mutants.py",
        "routeproof/spec/theory/relation/routing.py",
        "routeproof/model/instances/tiny.toml",
        "tests/checker/prove/test_refine_everywhere.py",
    ):
        assert name in texts, name


def test_stages_that_no_proof_comes_to_do_not_count(loaded: frozenset[str]) -> None:
    """Otherwise each change to a stage would have all theorems asked again."""
    stages = ("validate/", "fuzz/", "experiments/", "spark/", "cli/", "trees/engines", "pruning/validate")
    assert not [name for name in loaded if name.startswith("routeproof/impl/") or any(at in name for at in stages)]


def test_what_is_loaded_later_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digests.begin()
    before = digests.loaded()
    late = tmp_path / "routeproof" / "late.py"
    monkeypatch.setitem(digests.ROOTS, "routeproof", late.parent)
    monkeypatch.setitem(sys.modules, "late", cast("ModuleType", SimpleNamespace(__file__=str(late))))
    assert digests.loaded() - before == {"routeproof/late.py"}


def test_what_other_processes_load_cannot_be_recorded() -> None:
    digests.begin()
    assert digests.loaded()
    subprocess.run([sys.executable, "-c", ""], check=True)
    with pytest.raises(AssertionError, match="must not start processes"):
        digests.loaded()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("routeproof/spec/theory/relation/routing.py", "self.logic.any_of(", "self.logic.all_of("),
        ("routeproof/checker/prove/solve.py", "mbqi=False", "mbqi=True"),
        ("routeproof/checker/prove/solve.py", "RLIMIT = 40_000_000", "RLIMIT = 40_000_001"),
        ("routeproof/model/instances/tiny.toml", "1", "2"),
    ],
)
def test_a_clause_a_limit_or_an_instance_that_changes_is_noticed(
    name: str, old: str, new: str, texts: dict[str, str]
) -> None:
    assert old in texts[name]
    before = digests.digest(texts)
    assert digests.digest({**texts, name: texts[name].replace(old, new, 1)}) != before
    assert digests.digest({other: text for other, text in texts.items() if other != name}) != before


def test_another_version_of_a_library_counts(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = digests.digest(texts)
    monkeypatch.setattr(digests, "version", lambda name: "0.0")
    assert digests.digest(texts) != before


def test_words_for_people_change_nothing(texts: dict[str, str]) -> None:
    name = "routeproof/spec/theory/relation/routing.py"
    spoken = f'"""Other words."""\n# and a comment\n{texts[name]}'
    assert digests.digest({**texts, name: spoken}) == digests.digest(texts)


def test_another_version_of_z3_counts(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = digests.digest(texts)
    monkeypatch.setattr(z3, "get_full_version", lambda: "0.0")
    assert digests.digest(texts) != before


def test_a_record_of_something_else_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proved, "RECORD", tmp_path / "proved.json")
    assert proved.recorded() == {}
    proved.write({"Roads": ["proved", 4]}, ["routeproof/checker/prove/solve.py"])
    proved.read.cache_clear()
    assert proved.recorded() == {"Roads": ["proved", 4]}
    record = json.loads(proved.RECORD.read_text())
    others: tuple[dict[str, Any], ...] = (
        {"key": "0" * 64},
        {"loaded": []},
        {"loaded": [*record["loaded"], "routeproof/checker/gone.py"]},
    )
    for other in others:
        proved.RECORD.write_text(json.dumps({**record, **other}))
        proved.read.cache_clear()
        assert proved.recorded() == {}


def test_what_is_recorded_is_what_is_expected() -> None:
    """Where the record is of what there is now; otherwise it counts for nothing."""
    known = proved.recorded()
    assert {id: tuple(row) for id, row in known.items() if id in EXPECTED}.items() <= EXPECTED.items()
    assert all(row[0] == "allowed" for id, row in known.items() if id not in EXPECTED)


def test_no_part_of_the_product_reads_the_record() -> None:
    """So that no file makes `routeproof prove` say that something is proved."""
    rooms = ("checker", "impl", "model", "spec", "traces")
    files = [path for room in rooms for path in (digests.TOP / room).rglob("*.py")]
    assert len(files) > 200
    assert not [path for path in files if re.search(r"proved\.json|checker\.prove\.proved", path.read_text("utf-8"))]


# -- tests that are recorded -------------------------------------------------------------------------------------------

FILE = "spec/theory/test_trees.py"
BESIDE = "checker/prove/test_basis.py"
LOADED = ["routeproof/checker/prove/solve.py", f"tests/{FILE}"]


def a_test(again: bool, name: str = "test_roads", *, daily: bool = False) -> Any:
    """A test of `FILE` as pytest has it, as far as the record looks at it."""
    call = SimpleNamespace(params={shown.FIXTURE: again})
    return SimpleNamespace(
        path=shown.TOP / FILE,
        nodeid=f"tests/{FILE}::{name}",
        callspec=call,
        get_closest_marker=lambda mark: pytest.mark.asked_daily if daily else None,
    )


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A record in which one test of `FILE` has passed."""
    path = tmp_path / "shown.json"
    path.write_text(json.dumps({FILE: {"key": shown.key(FILE, LOADED), "loaded": LOADED, "passed": ["test_roads"]}}))
    monkeypatch.setattr(shown, "RECORD", path)
    monkeypatch.delenv(shown.PASSED, raising=False)
    shown.known.cache_clear()
    yield path
    shown.known.cache_clear()


def test_a_test_that_passed_is_not_asked_again(record: Path) -> None:
    assert shown.is_known(a_test(again=False))
    assert not shown.is_known(a_test(again=False, name="test_rivers")), "one that is not recorded"
    assert not shown.is_known(a_test(again=True)), "a campaign asks it"
    assert not shown.is_known(a_test(again=False, daily=True)), "it belongs to the daily sample"


def test_a_test_is_asked_again_when_its_text_has_changed(record: Path) -> None:
    record.write_text(record.read_text().replace(shown.key(FILE, LOADED), "0" * 64))
    assert not shown.is_known(a_test(again=False))


def test_a_run_that_renews_the_record_asks_everything_and_notes_it(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(shown.PASSED, str(tmp_path / "passed"))
    assert not shown.is_known(a_test(again=False))
    digests.begin()
    shown.note(a_test(again=False))
    shown.note(a_test(again=True))
    ((name, loaded),) = map(json.loads, (tmp_path / "passed").read_text().splitlines())
    assert name == "test_roads"
    assert {"routeproof/checker/prove/theorems.py", "tests/checker/prove/test_theorems.py"} <= set(loaded)


def test_a_run_that_renews_the_record_has_no_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they load would count, and they may start processes."""
    tests = {again: Mock(spec=pytest.Function, **vars(a_test(again))) for again in (True, False)}
    assert all(map(shown.is_asked, tests.values()))
    monkeypatch.setenv(shown.PASSED, "passed")
    assert shown.is_asked(tests[False])
    assert not shown.is_asked(tests[True])
    assert not shown.is_asked(Mock(spec=pytest.Function, callspec=None))


def test_a_table_beside_a_test_counts_and_the_record_of_proofs_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "key", sorted)
    names: Any = {file: shown.key(file, ["tests/naive/search.py"]) for file in ("naive/test_naive.py", BESIDE)}
    shared = "routeproof/traces/corpus/prop3-in-tables.jsonl", "tests/naive/search.py"
    assert {"tests/naive/counts.json", *shared} <= {*names["naive/test_naive.py"]}
    assert {*shared} <= {*names[BESIDE]}
    assert shown.PROOFS not in names[BESIDE]


def test_what_is_marked_is_found() -> None:
    assert {FILE, "pruning/test_relation.py", "spec/theory/test_conditions.py"} <= set(shown.files())
