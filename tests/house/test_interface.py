"""The public interface: what `routeproof/__init__` promises is there, documented, typed, and cheap to import."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import routeproof

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"
FUNCTIONS = [f for f in vars(routeproof).values() if inspect.isfunction(f) and f.__name__ in routeproof.__all__]
HEAVY = ("numpy", "attrs", "hypothesis", "z3", "pyarrow", "networkx", "pyspark")


@pytest.mark.parametrize("name", routeproof.__all__)
def test_every_name_is_there_with_a_docstring_and_in_the_page(name: str) -> None:
    found = getattr(routeproof, name)
    assert inspect.getdoc(found)
    assert re.search(rf"`{name}[(`]", PAGE.read_text(encoding="utf-8"))


def test_the_page_lists_nothing_else() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)[(`]", row.split(" | ")[0])}
    assert listed == set(routeproof.__all__)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_page_has_every_parameter(function: object) -> None:
    assert inspect.isfunction(function)
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"`{function.__name__}(" in line)
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"\b{parameter}\b", row), f"{function.__name__}: {parameter} is not in the page"


def test_the_example_of_the_docstring_is_right() -> None:
    assert doctest.testmod(routeproof).failed == 0


def test_the_example_of_the_page_is_right(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (code,), (printed,) = (re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) for language in ("python", "text"))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_importing_it_loads_no_engine() -> None:
    code = f"import sys, routeproof; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: routeproof.instance("tinny"), "did you mean tiny?"),
        (lambda: routeproof.prove("NoLost"), "did you mean NoLostDelivery?"),
        (lambda: routeproof.explore(routeproof.instance("tiny"), properties=["Agree"]), "did you mean Agreement?"),
    ],
)
def test_a_wrong_name_is_refused_with_the_right_one(call: object, names: str) -> None:
    assert callable(call)
    with pytest.raises(routeproof.UsageError, match=re.escape(names)):
        call()


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no public name explorer"):
        _ = getattr(routeproof, "explorer")  # noqa: B009 - the point is that it is not there
