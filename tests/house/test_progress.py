"""A campaign can be run in pieces: what has passed with this code is left out, and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import conftest, digests, progress

TESTS = """
from pathlib import Path
import pytest

pytestmark = pytest.mark.campaign

def test_one(): pass

def test_two(): assert Path(__file__).with_name("mended").exists()

@pytest.mark.parametrize("case", ["a b", "c"])
def test_three(case): pass
"""

Run = Callable[..., str]


class Hooks:
    """What the repository adds to pytest for this."""

    pytest_addoption = staticmethod(conftest.pytest_addoption)
    pytest_configure = staticmethod(conftest.pytest_configure)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a campaign of four tests with these options, and returns what it says of them at the end. There are tests
    with other plugins beside them, which pytest keeps apart.
    """
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "conftest.py").touch()
    (tmp_path / "beside" / "test_daily.py").write_text("def test_daily(): pass", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = campaign\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "key", lambda file: "1" if file == "test_some.py" else file)

    def ended(*options: str) -> str:
        pytest.main(["-n0", "-m", "campaign", *options], plugins=[Hooks()])
        return capsys.readouterr().out.partition("of the campaign, ")[2].splitlines()[0]

    return ended


def test_the_rest(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted, gone on with, mended, and with other code."""
    said = "with this code: {} passed, {} failed, 0 skipped; of the tests asked for now, {} not run yet".format
    assert run("-x") == said(1, 1, 2)
    assert run("--rest", "test_some.py::test_three") == said(3, 1, 0)
    (tmp_path / "mended").touch()
    assert run("--rest", "--collect-only") == said(3, 1, 0)
    assert run("--rest") == said(4, 0, 0)
    monkeypatch.setattr(progress, "key", lambda _: "2")
    assert run("--rest", "-k", "one") == said(1, 0, 0)
    assert run("--rest", "--collect-only") == said(1, 0, 3)
    assert pytest.main(["-n0", "-m", "campaign", "-p", "no:cacheprovider"], plugins=[Hooks()]) == pytest.ExitCode.OK


def test_the_rest_of_no_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert pytest.main(["-n0", "--rest", "-m", "not campaign"], plugins=[Hooks()]) == pytest.ExitCode.USAGE_ERROR
    assert "--rest is for campaigns; add: -m campaign" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "asked"),
    [
        ("room/code.py", {"test_one", "test_two", "test_four"}),
        ("tests/table.json", {"test_one", "test_two", "test_four"}),
        ("tests/test_one.py", {"test_one"}),
        ("tests/test_four.py", {"test_one", "test_two", "test_four"}),  # named by another one
        ("tests/shown.json", set()),
    ],
)
def test_what_a_test_comes_from(changed: str, asked: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"test_two.py": "from tests.test_four import x", "table.json": "[]", "shown.json": "{}"}
    for name in ("room/code.py", *(f"tests/{each}" for each in ("test_one.py", "test_four.py", *texts))):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(texts.get(Path(name).name, "x = 1"), encoding="utf-8")
    monkeypatch.setattr(digests, "TOP", tmp_path)
    monkeypatch.setattr(digests, "ROOTS", {"routeproof": tmp_path / "none", "tests": tmp_path / "tests"})

    def keys() -> dict[str, str]:
        progress.key.cache_clear()
        progress._texts.cache_clear()
        return {test: progress.key(f"tests/{test}.py") for test in ("test_one", "test_two", "test_four")}

    before = keys()
    (tmp_path / changed).write_text("x = 2", encoding="utf-8")
    assert {test for test, made in keys().items() if made != before[test]} == asked
    progress.key.cache_clear()
    progress._texts.cache_clear()
