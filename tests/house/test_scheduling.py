"""Tests that share what takes long to make are given to one worker, and every place named in `tests/conftest.py` is."""

from pathlib import Path

from tests.conftest import FIRST, TOGETHER, scope

ROOT = Path(__file__).resolve().parents[2]


def test_a_file_goes_to_one_worker_and_so_does_all_that_shares() -> None:
    assert scope("tests/model/test_routing.py::test_one[a::b]") == "tests/model/test_routing.py"
    for place, shared in TOGETHER.items():
        files = [ROOT / place] if place.endswith(".py") else list((ROOT / place).glob("test_*.py"))
        assert files
        assert {scope(f"{path.relative_to(ROOT).as_posix()}::test") for path in files} == {shared}


def test_each_place_is_there() -> None:
    for place in (*TOGETHER, *(f"tests/{place}" for place in FIRST)):
        assert (ROOT / place).exists(), place
