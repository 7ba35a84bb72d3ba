"""Drawing an overlay with characters: a line as a line, any other tree as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

DRAWN = 64
"""Brokers; more of them are counted and not drawn."""

Neighbours = dict[str, list[str]]


def draw(links: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of text. What is no tree, which a foreign trace may say, is listed link by link."""
    near: Neighbours = {}
    for u, v in links:
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    if not near:
        return ["a single broker"]
    if len(near) > DRAWN:
        return [f"{len(near)} brokers, {len(links)} links"]
    # A broker where the most links meet is the root; of a line, an end.
    degree = max(len(ends) for ends in near.values())
    root = next(b for b in near if len(near[b]) == (degree if degree > 2 else 1 if 1 in map(len, near.values()) else 2))
    if len(links) != len(near) - 1 or len(list(_reached(near, root))) != len(near):
        return [", ".join(f"{u} -- {v}" for u, v in links)]
    return list(_tree(near, "", root, "", ""))


def _reached(near: Neighbours, root: str) -> Iterator[str]:
    seen, waiting = {root}, [root]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += [b for b in near[here] if b not in seen]
        seen.update(near[here])


def _tree(near: Neighbours, parent: str, broker: str, first: str, rest: str) -> Iterator[str]:
    """A chain of brokers on one line, then a branch each for what forks at its end."""
    chain = [broker]
    children = [b for b in near[broker] if b != parent]
    while len(children) == 1:
        parent, broker = broker, children[0]
        chain.append(broker)
        children = [b for b in near[broker] if b != parent]
    yield first + " -- ".join(chain)
    indent = rest + " " * (sum(len(b) + 4 for b in chain[:-1]))
    for child in children:
        last = child == children[-1]
        yield from _tree(
            near, broker, child, indent + ("`-- " if last else "+-- "), indent + ("    " if last else "|   ")
        )
