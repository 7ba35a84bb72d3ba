"""Generated mutants: every comparison, boundary, order, guard and update of a module's functions, one at a time.

A `Mutant` is one function with one node of its syntax tree replaced. `applied` puts its code into the function that is
in use, so that every module that imported the function runs the mutant; `mutation` says who catches it.
"""

from __future__ import annotations

import ast
import copy
import gc
import importlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

from attrs import frozen

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
OPPOSITE = {"min": "max", "max": "min", "any": "all", "all": "any"}

UNREAD = frozenset({"__repr__", "__str__", "_repr_pretty_", "describe"})
"""Functions whose results are read by people only."""


@frozen
class Mutant:
    """One change in one function. `key` names it by what it changes, so that other edits of the module leave it."""

    module: str
    function: str
    line: int
    """First line of the function, which tells apart those of one name."""
    place: int
    change: int
    what: str

    @property
    def key(self) -> str:
        return f"{self.function}: {self.what}"


def source_of(module: str) -> str:
    path = importlib.import_module(module).__file__
    assert path is not None
    return Path(path).read_text(encoding="utf-8")


def mutants(module: str) -> tuple[Mutant, ...]:
    return tuple(mutants_of(source_of(module), module))


def mutants_of(text: str, module: str = "") -> Iterator[Mutant]:
    seen: Counter[str] = Counter()
    for name, function in functions(ast.parse(text)):
        for place, (_, _, _, node) in enumerate(_places(function)):
            for change, (what, _) in enumerate(_changes(node)):
                said = f"{what}: {ast.unparse(node).splitlines()[0]}"
                seen[name + said] += 1
                again = seen[name + said]
                yield Mutant(
                    module, name, _first_line(function), place, change, f"{said} ({again})" if again > 1 else said
                )


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes, with their qualified names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{within}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and node.name not in UNREAD:
            yield within + node.name, node


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


Place = tuple[ast.AST, str, "int | None", "ast.expr | ast.stmt"]


def _places(function: ast.FunctionDef) -> list[Place]:
    return [place for statement in _statements(function) for place in statement]


def _statements(function: ast.FunctionDef) -> Iterator[list[Place]]:
    for index, node in enumerate(function.body):
        if not _decides_nothing(node):
            yield [(function, "body", index, node), *_below(node)]


def _below(parent: ast.AST) -> Iterator[Place]:
    for field, value in ast.iter_fields(parent):
        if field == "annotation":
            continue
        nodes = value if isinstance(value, list) else [value]
        for index, node in enumerate(nodes):
            if isinstance(node, ast.AST) and not _decides_nothing(node):
                if isinstance(node, ast.expr | ast.stmt):
                    yield parent, field, index if isinstance(value, list) else None, node
                yield from _below(node)


def _decides_nothing(node: ast.AST) -> bool:
    """True of what only notes which rules fired, is text or an error's text, or is for mypy."""
    if isinstance(node, ast.If):
        return all(_decides_nothing(each) and not isinstance(each, ast.Raise) for each in (*node.body, *node.orelse))
    match node:
        case ast.Assert() | ast.Raise() | ast.JoinedStr():
            return True
        case ast.Assign(targets=[ast.Name(id="rules")]) | ast.AugAssign(target=ast.Name(id="rules")):
            return True
        case ast.Expr(value=value):
            said = ast.unparse(value)
            return isinstance(value, ast.Constant) or "rules." in said or "_note" in said
    return False


def _changes(node: ast.expr | ast.stmt) -> list[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(ops=[op], left=left, comparators=comparators) if type(op) in SWAPPED:
            return [("comparison", ast.Compare(left, [SWAPPED[type(op)]()], comparators))]
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            return [("connective", ast.BoolOp(other, values))]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [("negation", operand)]
        case ast.If(body=body, orelse=orelse):
            return [
                ("guard always", ast.If(ast.Constant(value=True), body, orelse)),
                ("guard never", ast.If(ast.Constant(value=False), body, orelse)),
            ]
        case ast.IfExp(body=body, orelse=orelse):
            return [("choice always", body), ("choice never", orelse)]
        case ast.For(target=target, iter=iter_, body=body, orelse=orelse):
            order = ast.parse(f"reversed(list({ast.unparse(iter_)}))", mode="eval").body
            return [("order", ast.For(target, order, body, orelse))]
        case ast.Expr() | ast.AugAssign() | ast.Delete():
            return [("update left out", ast.Pass())]
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return [("update left out", ast.Pass())]
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp() if any(
            each.ifs for each in node.generators
        ):
            bare = copy.copy(node)
            bare.generators = [ast.comprehension(x.target, x.iter, [], x.is_async) for x in node.generators]
            return [("condition left out", bare)]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC and not _is_type(node):
            return [("arithmetic", ast.BinOp(left, ARITHMETIC[type(op)](), right))]
        case ast.Constant(value=bool(value)):
            return [("opposite", ast.Constant(value=not value))]
        case ast.Constant(value=int(value)):
            return [("boundary", ast.Constant(value=value + 1))]
        case ast.Call(func=ast.Name(id="sorted"), args=[first, *_]):
            return [("order", ast.Call(ast.Name("tuple", ast.Load()), [first], []))]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in OPPOSITE:
            return [("opposite", ast.Call(ast.Name(OPPOSITE[name], ast.Load()), args, keywords))]
    return []


def _is_type(node: ast.BinOp) -> bool:
    """True of a union of types."""
    names = [side.id for side in (node.left, node.right) if isinstance(side, ast.Name)]
    return isinstance(node.op, ast.BitOr) and any(name[0].isupper() or name in ("str", "int") for name in names)


# -- mutants in place of the functions ---------------------------------------------------------------------------------


def changed(mutant: Mutant, text: str) -> tuple[ast.Module, ast.FunctionDef]:
    """The module's tree with the change, and the function in it."""
    tree = ast.parse(text)
    function = next(f for name, f in functions(tree) if (name, _first_line(f)) == (mutant.function, mutant.line))
    parent, field, index, node = _places(function)[mutant.place]
    _, new = _changes(node)[mutant.change]
    held = getattr(parent, field)
    if index is None:
        setattr(parent, field, new)
    else:
        held[index] = ast.copy_location(new, node)
    ast.fix_missing_locations(tree)
    return tree, function


def apply(mutant: Mutant) -> None:
    """Puts the mutant's code into the functions that are in use. For a process that ends thereafter."""
    tree, function = changed(mutant, source_of(mutant.module))
    former = in_use(mutant)
    if former[0].__code__.co_freevars:  # what a method may close over is its class
        function.body += ast.parse("if False: __class__").body
        ast.fix_missing_locations(tree)
    code = _code(compile(tree, former[0].__code__.co_filename, "exec", dont_inherit=True), former[0].__code__)
    for each in former:
        each.__code__ = code


def _code(within: CodeType, former: CodeType) -> CodeType:
    """The code object that has the place of a former one."""
    found = [each for each in _codes(within) if _place_of(each) == _place_of(former)]
    assert len(found) == 1, f"{former.co_qualname} is in {former.co_filename} {len(found)} times"
    return found[0]


def _codes(within: CodeType) -> Iterator[CodeType]:
    for each in within.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _place_of(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


@cache
def _in_use() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Every function of this process by its place. Some are kept by closures only (attrs' cached properties)."""
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    gc.unfreeze()  # what was frozen when tests began is not listed
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            found.setdefault(_place_of(each.__code__), []).append(each)
    return found


def in_use(mutant: Mutant) -> list[FunctionType]:
    file = importlib.import_module(mutant.module).__file__
    assert file is not None
    for name, functions_ in _in_use().items():
        if name == (file, mutant.function, mutant.line):
            return functions_
    raise LookupError(f"{mutant.module}: {mutant.function} is not in use")
