"""The report as a page of HTML, with pictures of the overlay before and after. All texts of a trace are escaped.

The page loads nothing and runs nothing: its policy allows neither scripts nor other files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise

import networkx as nx
from attrs import frozen

from routeproof.checker.counterexamples.shown import shortened
from routeproof.checker.placement.choosing import ALGORITHMS, NOW
from routeproof.checker.placement.engines import PlacementAnswer
from routeproof.checker.placement.overlay import Frame
from routeproof.checker.placement.report import Total, gaining, percent, remarks, shown, subject, totals, who
from routeproof.checker.system.terminal import count, printable
from routeproof.checker.validate.store import name_of

PICTURES = 5
"""Runs of a trace that get pictures; the tables have all."""

LISTED = 100
"""Publishers in the table of a page."""

DRAWN = 3_000
"""Brokers of the largest overlay that is drawn."""

WIDTH, MARGIN, LEVEL = 1_120, 26, 62
"""Pixels: of a picture, of its margin, and between a broker and its neighbours below it."""

NAMED = 26
"""Pixels between leaves from which on brokers have their names in the picture."""

LONGEST = 40
TITLES = {NOW: "Now", "pop": "POP", "grape": "GRAPE", "brute force": "Brute force"}

STYLE = """
:root { --ink: #1c2733; --faint: #66727f; --line: #d8dee4; --paper: #ffffff; --band: #f5f7f9;
  --good: #157347; --bad: #b42318; --mark: #c2410c; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--band); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1220px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 40px 0 12px; overflow-wrap: anywhere; }
p { margin: 4px 0; }
.faint { color: var(--faint); }
section, figure { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 22px; margin: 14px 0; }
figcaption { font-weight: 600; }
figcaption span { font-weight: 400; color: var(--faint); margin-left: 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--faint); border-bottom: 1px solid var(--line); }
th, td { padding: 6px 10px; vertical-align: top; overflow-wrap: anywhere; }
th:first-child, td:first-child { padding-left: 0; }
td { border-bottom: 1px solid var(--band); }
tr:last-child td { border-bottom: 0; }
.n { text-align: right; white-space: nowrap; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.scroll { overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink);
  paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
svg text.many { fill: var(--mark); font-weight: 700; }
.ring { fill: none; stroke: var(--mark); stroke-width: 2.5px; }
.key { display: flex; gap: 26px; flex-wrap: wrap; color: var(--faint); align-items: center; }
.key svg { width: auto; height: 16px; display: inline-block; vertical-align: -3px; margin-right: 6px; }
@media (max-width: 700px) { section, figure { padding: 12px; } }
"""

RAMP = ((0.0, (232, 240, 247)), (0.5, (110, 164, 205)), (1.0, (12, 68, 124)))
"""Colours of brokers from no load to the greatest."""


def page(placement: PlacementAnswer) -> str:
    return "".join(f"{line}\n" for line in _page(placement))


def _page(placement: PlacementAnswer) -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Placement: {_safe(placement.trace)}</title><style>{STYLE}</style></head><body><main>"
    yield f"<h1>Where publishers should be: {_safe(placement.trace)}</h1>"
    yield f'<p class="faint">{_safe(subject(placement))}</p>'
    for number, run in enumerate(placement.loads):
        yield f"<h2>Run {_safe(name_of(run))}</h2>"
        yield from _totals(placement, run)
        if number < PICTURES:
            yield from _pictures(placement, run)
        yield from _publishers(placement, run)
    if left := remarks(placement):
        yield "<h2>Remarks</h2><section>"
        yield from (f"<p>{_safe(each)}</p>" for each in left)
        yield "</section>"
    yield "</main></body></html>"


def _safe(text: str) -> str:
    """Text from a trace: printable, and no part of the page's own markup."""
    return escape(printable(text), quote=True)


# -- tables ------------------------------------------------------------------------------------------------------------


def _totals(placement: PlacementAnswer, run: bytes) -> Iterator[str]:
    now, *_ = every = totals(placement, run)
    unit = "ms" if placement.units[run] == "ns" else "hops"
    heads: tuple[str, ...] = ("", "moved", "input messages", "change", "busiest broker", "its messages", "change")
    heads = (*heads, f"mean delay, {unit}", "change", "mean hops")
    yield f'<section class="scroll"><table>{_head(heads, 0, 4)}'
    for each in every:
        cells = [
            (TITLES[each.algorithm], ""),
            (f"{each.moved:,}", "n"),
            (f"{each.messages:,}", "n"),
            _change(each.messages, now.messages),
            (each.busiest, ""),
            (f"{each.busiest_messages:,}", "n"),
            _change(each.busiest_messages, now.busiest_messages),
            (shown(each.delay, placement.units[run]), "n"),
            _change(each.delay, now.delay),
            (shown(each.hops, "hops"), "n"),
        ]
        yield _row(cells)
    yield "</table></section>"


def _publishers(placement: PlacementAnswer, run: bytes) -> Iterator[str]:
    found = gaining(placement, run)
    names = placement.frame.names
    heads = ("publisher", "is at", "publications", "deliveries", *(TITLES[a] for a in ALGORITHMS), "messages", "delay")
    yield f'<section class="scroll"><table>{_head(heads, 0, 1, 4, 5, 6)}'
    for each in found[:LISTED]:
        kind, name = who(each)
        now, _, grape, _ = each.choices
        cells = [
            (shortened(name, LONGEST) or f"({kind})", ""),
            (names[each.key[2]], ""),
            (f"{each.publications:,}", "n"),
            (f"{each.deliveries:,}", "n"),
            *((names[c.target] if c.target != each.key[2] else "stays", "") for c in each.choices[1:]),
            _change(grape.messages, now.messages),
            _change(grape.delay, now.delay),
        ]
        yield _row(cells)
    yield "</table>"
    more = f" {count(len(found) - LISTED, 'publisher')} are in placement.parquet only." if len(found) > LISTED else ""
    yield f'<p class="faint">Changes of messages and delay are those under GRAPE.{more}</p></section>'


def _head(heads: Sequence[str], *texts: int) -> str:
    kinds = ("" if at in texts else " class=n" for at in range(len(heads)))
    return "<tr>" + "".join(f"<th{kind}>{escape(head)}</th>" for kind, head in zip(kinds, heads, strict=True)) + "</tr>"


def _row(cells: Sequence[tuple[str, str]]) -> str:
    return "<tr>" + "".join(f'<td class="{kind}">{_safe(text)}</td>' for text, kind in cells) + "</tr>"


def _change(after: float | None, before: float | None) -> tuple[str, str]:
    if after is None or before is None or after == before:
        return "", "n"
    return percent(after, before), "n good" if after < before else "n bad"


# -- pictures ----------------------------------------------------------------------------------------------------------


def _pictures(placement: PlacementAnswer, run: bytes) -> Iterator[str]:
    frame = placement.frame
    if len(frame) > DRAWN:
        yield f'<p class="faint">An overlay of {count(len(frame), "broker")} is not drawn.</p>'
        return
    drawing = _Drawing.of(frame)
    loads = placement.loads[run].by_algorithm
    most = max(1, *(max(each) for each in loads.values()))
    yield _key(most)
    for number, total in enumerate(totals(placement, run)):
        mine = [each.choices for each in placement.publishers if each.key[0] == run]
        if total.algorithm == "brute force" and all(grape.target == best.target for _, _, grape, best in mine):
            continue  # one picture of the same places is enough
        at = Counter(choices[number].target for choices in mine)
        yield f"<figure><figcaption>{_caption(total)}</figcaption>"
        yield from drawing.svg(frame, loads[total.algorithm], most, at)
        yield "</figure>"


def _caption(total: Total) -> str:
    title = "Before: publishers where they are" if total.algorithm == NOW else f"After {TITLES[total.algorithm]}"
    busiest = f"{_safe(total.busiest)} is the busiest broker with {total.busiest_messages:,}"
    return f"{escape(title)} <span>{count(total.messages, 'input message')} in all; {busiest}</span>"


def _key(most: int) -> str:
    steps = "".join(f'<rect x="{i * 10}" width="10" height="16" fill="{_colour(i / 9)}"/>' for i in range(10))
    return (
        f'<section class="key"><span><svg viewBox="0 0 100 16" width="100">{steps}</svg>input messages of a broker,'
        f" 0 to {most:,}</span>"
        '<span><svg viewBox="0 0 20 16" width="20"><circle class="ring" cx="10" cy="8" r="5.5"/></svg>'
        "publishers are here; the number says how many</span></section>"
    )


def _colour(share: float) -> str:
    for (low, first), (high, last) in pairwise(RAMP):
        if share <= high:
            part = (share - low) / (high - low)
            return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(first, last, strict=True))
    return "#0c447c"


@frozen
class _Drawing:
    """Places of brokers in a picture: the root is a broker in the middle of the tree, leaves stand side by side."""

    x: Mapping[int, float]
    y: Mapping[int, float]
    edges: tuple[tuple[int, int], ...]
    step: float
    height: float

    @classmethod
    def of(cls, frame: Frame) -> _Drawing:
        links = nx.Graph((broker, frame.parents[broker]) for broker in frame.order[1:])
        last = _farthest(links, 0)
        way = frame.path(last, _farthest(links, last))
        root = way[len(way) // 2]
        tree = nx.bfs_tree(links, root, sort_neighbors=sorted)
        depth = nx.shortest_path_length(tree, root)
        leaves = [broker for broker in nx.dfs_preorder_nodes(tree, root) if not tree[broker]]
        step = (WIDTH - 2 * MARGIN) / max(1, len(leaves) - 1)
        x = (
            {broker: MARGIN + at * step for at, broker in enumerate(leaves)}
            if len(leaves) > 1
            else {leaves[0]: WIDTH / 2}
        )
        for broker in reversed(list(tree)):
            if tree[broker]:
                ends = [x[child] for child in tree[broker]]
                x[broker] = (min(ends) + max(ends)) / 2
        deepest = max(depth.values())
        level = max(LEVEL / 4, min(LEVEL, 1_200 / (deepest + 1)))
        y = {broker: MARGIN + at * level for broker, at in depth.items()}
        return cls(x, y, tuple(nx.bfs_edges(tree, root)), step, 2 * MARGIN + deepest * level + 8)

    def svg(self, frame: Frame, loads: Sequence[int], most: int, publishers: Mapping[int, int]) -> Iterator[str]:
        """The overlay: the colour of a broker is its load, a ring and a number are its publishers."""
        radius = max(2.0, min(9.0, self.step * 0.42))
        yield f'<svg viewBox="0 0 {WIDTH} {self.height:.0f}" role="img"><g stroke="#b4bec8" fill="none">'
        for near, far in self.edges:
            middle = (self.y[near] + self.y[far]) / 2
            yield (
                f'<path d="M{self.x[near]:.1f} {self.y[near]:.1f}C{self.x[near]:.1f} {middle:.1f} {self.x[far]:.1f}'
                f' {middle:.1f} {self.x[far]:.1f} {self.y[far]:.1f}"/>'
            )
        yield "</g>"
        for broker, x in self.x.items():
            yield self._broker(
                frame.names[broker], x, self.y[broker], radius, loads[broker], most, publishers.get(broker, 0)
            )
        yield "</svg>"

    def _broker(self, name: str, x: float, y: float, radius: float, load: int, most: int, publishers: int) -> str:
        about = f"{name}: {count(load, 'input message')}, {count(publishers, 'publisher')}"
        parts = [
            f"<g><title>{_safe(about)}</title>",
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_colour(load / most)}" stroke="#8a97a5"/>',
        ]
        if publishers:
            parts.append(
                f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{radius + 2.5:.1f}"/>'
                f'<text class="many" x="{x + radius + 6:.1f}" y="{y - radius + 1:.1f}">{publishers:,}</text>'
            )
        if self.step >= NAMED:
            shown_name = _safe(shortened(name, max(4, int(self.step / 6))))
            parts.append(f'<text x="{x:.1f}" y="{y + radius + 13:.1f}" text-anchor="middle">{shown_name}</text>')
        return "".join([*parts, "</g>"])


def _farthest(links: nx.Graph, start: int) -> int:
    """A broker at the end of a longest path from this one."""
    return int([start, *(far for _, far in nx.bfs_edges(links, start))][-1])
