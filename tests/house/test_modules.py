"""The number and the size of modules, and class names that mean one thing.

`docs/decisions/0029-counting-modules.md` says how modules are counted: those of the house on one side, those of each
protocol that came after pruning on the other.
"""

import ast
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("checker", "impl", "model", "spec", "traces")
HOUSE = 300
"""The house has fewer modules than this; the core's and pruning's packages are part of it."""
PROTOCOL = 40
"""A protocol's packages have fewer modules than this, in all rooms together."""
LINES = 400
"""Longest module. What is written should have 80 to 350 lines."""
LONGER: dict[str, int] = {}
"""Modules that are still longer. The numbers only fall, and no entry is added."""


def modules() -> list[Path]:
    return [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py")]


def owner(path: Path) -> str:
    """The protocol to whose package a module belongs; empty for the house."""
    protocols = {each.parent.name for each in (ROOT / "model").glob("*/definition.py")} - {"pruning"}
    return next((part for part in path.parts[1:-1] if part in protocols), "")


def test_the_house_has_few_modules() -> None:
    """Put what you add where it belongs: a small module that one neighbour uses is a part of that neighbour."""
    counts = Counter(map(owner, modules()))
    assert {"migration", "placement", "mesh"} <= set(counts)
    assert counts.pop("") < HOUSE
    assert all(count < PROTOCOL for count in counts.values()), counts


def test_no_module_is_long() -> None:
    lines = {path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert not {name: count for name, count in lines.items() if count > LONGER.get(name, LINES)}


SAME_NOTION = frozenset({"BrokerTrace", "Header", "MasterMap", "Profile", "WorkingMap"})
"""Classes of one notion in two rooms: the model's and the implementation's, or a value and the type of its JSON."""


def test_a_class_name_means_one_thing() -> None:
    """Rename one of two: a class that another module has too says more of itself (`GroupStretch`, `RunSummary`)."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.as_posix())
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert set(twice) == SAME_NOTION, twice
