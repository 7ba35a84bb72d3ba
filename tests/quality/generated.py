"""Generated mutants of the model's handlers: every comparison, boundary, order, guard and update, one at a time.

A mutant is the source of one module with one node of its syntax tree replaced. It is asked the questions that exploring
instances asks of the sound model (`checker.prove.refine`). A mutant that answers one of them in another way is caught:
by the relation, which allows no other answer (AnswersDetermined), and under pruning by the reference implementation,
which gives the sound answer to the same question from the same tables.

`python -m tests.quality.generated` prints how many there are, how many are caught, and the others.
"""

from __future__ import annotations

import ast
import importlib
import sys
import types
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path

from attrs import evolve, frozen

from routeproof.checker.instances import find
from routeproof.checker.prove.refine.answers import Question
from routeproof.checker.prove.refine.sample import Explored
from routeproof.model.filters import EventSet
from routeproof.model.messages import (
    Advertise,
    PackedSubscribe,
    PackedUnsubscribe,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Local, Protocol
from routeproof.model.protocols import world
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.messages import Congest, Cut, Relieve, withdraw
from routeproof.model.pruning.parameters import PruningParameters
from routeproof.model.routing import Routing
from tests.quality.test_lockstep_finds import ALL, NARROW, ONE, SAME, SHOWN, STAR, USUAL, WIDE, A, B

TARGETS = {
    "routing": ("routeproof.model.routing", "Routing"),
    "pruning": ("routeproof.model.pruning.handler", "Pruning"),
}
"""By protocol, the module whose methods are changed, and its class."""

ASKED = {
    "routing": ("tiny", "line3", "unadv3", "equal3", "star4", "cross3", "wide3"),
    "pruning": (
        *("back2", "collects3", "hold3", "return3", "larger3", "adverts3", "newcomer3", "prune3", "halves3"),
        *("absent3", "forgets3", "apart4", "listed3", "overtake2"),
    ),
}
EQUIVALENT = {
    "wanted: condition left out: (s for s in candidates if not any((self.covers(k, s) for k in kept)))": (
        "what a kept one covers is quenched by that one all the same, as is what it covers in turn"
    ),
    "goes_before: comparison: (t not in sent, by_id(t)) < (s not in sent, by_id(s))": "two that differ have two ids",
    "settle: order: sorted((s for s in wanted if s not in sent), key=by_id)": "what is wanted is in the order of ids",
    "publish_to: order: sorted(hops - {sender})": "a set of small whole numbers is in their order, and links have none",
    "make_way: guard always: if kept != retained:": "the table is replaced by an equal one",
    "settle: guard always: if retained:": "the table is replaced by an equal one",
    "candidates: order: sorted({*drawn, *self.staying(pruned(tables), neighbour, drawn)}, key=by_id)": (
        "what is added is sorted once more where it is sent, and tables keep the order of ids"
    ),
}
"""Mutants that answer every question as the sound model does, and why."""

EACH = 150
"""Questions of one instance, under one policy and about one kind of message, that are asked."""

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


@frozen
class Generated:
    """One mutant: where it is, what is changed, and the module's source with the change."""

    line: int
    change: str
    source: str
    method: str

    def __str__(self) -> str:
        return f"{self.method}: {self.change}"


def generate(module: str) -> Iterator[Generated]:
    path = importlib.import_module(module).__file__
    assert path is not None
    yield from mutants_of(Path(path).read_text(encoding="utf-8"))


def mutants_of(text: str) -> Iterator[Generated]:
    for number in range(len(list(_places(ast.parse(text))))):
        tree = ast.parse(text)
        method, parent, field, index, node = list(_places(tree))[number]
        for change in range(len(_changes(node))):
            tree = ast.parse(text)
            method, parent, field, index, node = list(_places(tree))[number]
            what, new = _changes(node)[change]
            before = ast.unparse(node)
            held = getattr(parent, field)
            if index is None:
                setattr(parent, field, new)
            else:
                held[index] = new
            ast.fix_missing_locations(tree)
            yield Generated(node.lineno, f"{what}: {before.splitlines()[0]}", ast.unparse(tree), method)


Place = tuple[str, ast.AST, str, "int | None", "ast.expr | ast.stmt"]


def _places(tree: ast.Module) -> Iterator[Place]:
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef) and each.name != "__init__" and "_note" not in each.name:
            yield from _below(each.name, each)


def _below(method: str, parent: ast.AST) -> Iterator[Place]:
    for field, value in ast.iter_fields(parent):
        nodes = value if isinstance(value, list) else [value]
        for index, node in enumerate(nodes):
            if isinstance(node, ast.expr | ast.stmt) and not _is_about_coverage(node):
                yield method, parent, field, index if isinstance(value, list) else None, node
            if isinstance(node, ast.AST) and not _is_about_coverage(node):
                yield from _below(method, node)


def _is_about_coverage(node: ast.AST) -> bool:
    """Notes which rules fired, is text, or is for mypy: no answer depends on it."""
    if isinstance(node, ast.If):
        return all(_is_about_coverage(each) for each in (*node.body, *node.orelse))
    return isinstance(node, ast.Assert) or (
        isinstance(node, ast.Expr)
        and (isinstance(node.value, ast.Constant) or "rules" in ast.unparse(node) or "_note" in ast.unparse(node))
    )


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
        case ast.For(target=target, iter=iter_, body=body, orelse=orelse):
            order = ast.parse(f"reversed(list({ast.unparse(iter_)}))", mode="eval").body
            return [("order", ast.For(target, order, body, orelse))]
        case ast.Expr() | ast.AugAssign():
            return [("update left out", ast.Pass())]
        case ast.Assign(targets=[ast.Attribute()]):
            return [("update left out", ast.Pass())]
        case ast.GeneratorExp(elt=elt, generators=[ast.comprehension(ifs=[_, *_]) as one]):
            bare = ast.comprehension(one.target, one.iter, [], one.is_async)
            return [("condition left out", ast.GeneratorExp(elt, [bare]))]
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            return [("arithmetic", ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right))]
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return [("boundary", ast.Constant(value=value + 1))]
        case ast.Call(func=ast.Name(id="sorted"), args=[first, *_]):
            return [("order", ast.Call(ast.Name("tuple", ast.Load()), [first], []))]
    return []


@cache
def questions(protocol: str) -> tuple[tuple[Protocol, Question], ...]:
    """Questions with the sound protocol that answered them, different ones only."""
    found: list[tuple[Protocol, Question]] = []
    for name in ASKED[protocol]:
        for policy in find(name).policies:
            explored = Explored.of(world(find(name), policy))
            counts: Counter[type] = Counter()
            for question in explored.questions:
                counts[type(question.message)] += 1
                if counts[type(question.message)] <= EACH:
                    found.append((explored.world.protocol, question))
            if protocol == "routing":
                found += [(explored.world.protocol, question) for question in explored.arbitrary[:EACH]]
    for made_up in MORE_OF_PRUNING if protocol == "pruning" else MORE_OF_ROUTING:
        found += asked_in(made_up)
    return tuple(found)


def asked_in(talk: Talk) -> Iterator[tuple[Protocol, Question]]:
    """Questions of a talk with one broker, about which no run of an instance asks."""
    sound: Routing = (
        Pruning(STAR, "incremental", talk.parameters) if talk.parameters is not None else Routing(STAR, "packing")
    )
    local: Local = sound.initial(1)
    for sender, message in talk.said:
        answer = sound.handle(1, local, sender, message)
        yield sound, Question(sound.policy, 1, local, sender, message, answer)
        local = answer.local


@frozen
class Talk:
    """Under these readings, or those of the core under packing."""

    said: Sequence[tuple[Node, Hashable]]
    parameters: PruningParameters | None = None


TWO = Subscription(5, "w", EventSet.of((2,)))
MORE_OF_ROUTING = (
    Talk(((2, Advertise(A)), (3, PackedSubscribe((NARROW, ONE))), (3, PackedUnsubscribe((NARROW, ONE))))),
)
"""A packed message that is handled in another order is sent on in another order."""

MORE_OF_PRUNING = (
    *(Talk(each.said, each.parameters) for each in SHOWN),
    # what comes from elsewhere is void, and so is what is taken up twice (RTE-8)
    Talk(
        (
            (2, Advertise(A)),
            (3, Subscribe(WIDE)),
            (4, Unsubscribe(WIDE)),
            (LOCAL, Congest()),
            (3, withdraw(WIDE, ())),
            (3, withdraw(WIDE, ())),
            (LOCAL, Relieve()),
        ),
        USUAL,
    ),
    # an advertisement elsewhere draws nothing here (PRN-11)
    Talk(
        (
            (2, Advertise(A)),
            (4, Advertise(B)),
            (3, Subscribe(WIDE)),
            (3, withdraw(WIDE, ())),
            (2, Unadvertise(A)),
        ),
        USUAL,
    ),
    # where a withdrawal ends, what was held back before stays so (PRN-5)
    Talk(
        (
            (2, Advertise(A)),
            (2, Advertise(B)),
            (2, Subscribe(SAME)),
            (3, Subscribe(ALL)),
            (3, Subscribe(NARROW)),
            (3, Subscribe(TWO)),
            (3, withdraw(ALL, (Cut("b", (5, 5)),))),
            (3, withdraw(TWO, ())),
            (2, withdraw(SAME, ())),
        ),
        evolve(USUAL, sends="listed", cuts=(0, 1)),
    ),
)


def made(each: Generated, module: str, name: str) -> type[Protocol]:
    faulty = types.ModuleType(module)
    sys.modules["routeproof.generated"] = faulty
    exec(compile(each.source, module, "exec"), faulty.__dict__)
    found: type[Protocol] = getattr(faulty, name)
    return found


def is_caught(each: Generated, protocol: str) -> bool:
    """Whether it answers one question otherwise, or not at all."""
    faulty = made(each, *TARGETS[protocol])
    for sound, question in questions(protocol):
        other = faulty.__new__(faulty)
        other.__dict__.update(sound.__dict__)
        try:
            answer = other.handle(question.node, question.local, question.sender, question.message)
        except Exception:  # noqa: BLE001  # a fault may break anything
            return True
        if (answer.local, answer.sends) != (question.answer.local, question.answer.sends):
            return True
    return False


def main(protocols: Sequence[str]) -> None:
    for protocol in protocols:
        every = list(generate(TARGETS[protocol][0]))
        left = [each for each in every if not is_caught(each, protocol)]
        print(f"{protocol}: {len(every)} mutants, {len(every) - len(left)} caught")
        for each in left:
            print(f"  line {each.line}, {each}; {EQUIVALENT.get(str(each), 'NO REASON')}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(TARGETS))
