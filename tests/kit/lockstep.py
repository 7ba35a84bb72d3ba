"""The implementation of a protocol beside its model in a random run: told the same, every node must say the same."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from routeproof.impl import Implementation
from routeproof.model.world import World


def by_receiver(sends: Iterable[tuple[int, object]]) -> dict[int, list[object]]:
    """Order matters on each channel; between channels it does not."""
    found: dict[int, list[object]] = defaultdict(list)
    for receiver, message in sends:
        found[receiver].append(message)
    return dict(found)


def beside(
    implementation: Implementation,
    asked: World,
    seed: int,
    often: int = 4,
    beginning: Sequence[str] = (),
    in_one_order: Callable[[Any], object] = lambda tables: tables,
    at_the_end: Callable[[Any], None] = lambda node: None,
) -> Counter[str]:
    """One random run to its end; returns the rules.

    `often`: how many times likelier a delivery is than an operation. `beginning`: the labels of the first steps, where
    these are not left to chance. `in_one_order`: tables whose parts are in no order that the prose fixes.
    `at_the_end`: asserts more of each node.
    """
    draw, rules = Random(seed), Counter[str]()
    own = implementation.own_of(asked.instance)
    nodes: dict[int, Any] = {
        node: implementation.make(node, [v for u, v in asked.links if u == node], asked.policy, own)
        for node in asked.nodes
    }
    state, so_far = asked.initial(), list[str]()
    while enabled := [action for action in asked.actions if asked.enabled(state, action)]:
        weights = [1 if action.operation is not None else often for action in enabled]
        wanted = beginning[len(so_far)] if len(so_far) < len(beginning) else ""
        action = next((each for each in enabled if each.label == wanted), None) or draw.choices(enabled, weights)[0]
        step = asked.step(state, action)
        so_far.append(action.label)
        node = nodes[action.node]
        assert by_receiver(node.receive(step.sender, step.message)) == by_receiver(step.outcome.sends), so_far
        expected = step.state.locals[asked.nodes.index(action.node)]
        assert in_one_order(node.tables()) == in_one_order(expected), so_far
        rules.update(step.outcome.rules)
        state = step.state
    for node in nodes.values():
        at_the_end(node)
    return rules
