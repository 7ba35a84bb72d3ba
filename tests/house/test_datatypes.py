"""Z3 takes the name of a datatype once in a process: a second one of that name spoils the first, whatever asks for it.

Which comes first depends on what else ran, so that a verdict would depend on the order of theorems, or of tests.
"""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKERS = ("EnumSort", "Datatype", "DeclareSort")


def names(source: str) -> list[str]:
    """The names of datatypes that a module makes, where the name is written down."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    return [
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in MAKERS
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ]


def test_every_datatype_has_a_name_of_its_own() -> None:
    paths = [path for room in ("spec", "checker") for path in sorted((ROOT / room).rglob("*.py"))]
    found = Counter(name for path in paths for name in names(path.read_text(encoding="utf-8")))
    assert found["Place"] == 1, "the datatypes are not found any more"
    assert max(found.values()) == 1, [name for name, times in found.items() if times > 1]


@pytest.mark.parametrize("source", ['z3.EnumSort("A", ["a"])', 'x = z3.Datatype("A")', 'z3.DeclareSort("A")'])
def test_a_name_is_found(source: str) -> None:
    assert names(source) == ["A"]
