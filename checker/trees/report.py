"""The answer as text, as JSON, as Parquet and as a page. Only the text tells how long it took, so the files are the
same whatever the engine was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from routeproof.checker.experiments.plots import Chart, PlotLine
from routeproof.checker.system.files import whole
from routeproof.checker.system.terminal import count, printable, table
from routeproof.checker.trees.planning import FLOODING, OPT, TreesAnswer
from routeproof.impl.trees.steiner import MOST_BY_PATHS
from routeproof.impl.trees.strategy import RoutingCosts

LISTED = 50
"""Clusters in the table of a page, those that cost most."""

BUSIEST = 20
"""Links in the table of a page."""

STYLE = """
body { margin: 0 auto; max-width: 1080px; padding: 28px 24px 60px; color: #1c2733; background: #f5f7f9;
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 25px; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 18px; margin: 34px 0 8px; }
p { margin: 6px 0; color: #66727f; }
section { background: #fff; border: 1px solid #d8dee4; border-radius: 10px; padding: 14px 20px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: right; color: #66727f; font-weight: 600; border-bottom: 1px solid #d8dee4; }
td { text-align: right; border-bottom: 1px solid #f5f7f9; } th, td { padding: 5px 10px; }
th:first-child, td:first-child { text-align: left; padding-left: 0; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; }
"""

Cells = Sequence[tuple[str, ...]]


def relative(costs: RoutingCosts, to: RoutingCosts | None) -> float | None:
    """The cost as a multiple of another; None where there is none."""
    return costs.cost / to.cost if to is not None and to.cost else None


def shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


# -- text --------------------------------------------------------------------------------------------------------------


def text(found: TreesAnswer) -> str:
    """The report for people, printable whatever the tables hold."""
    lines = [f"{subject(found)}, {found.seconds:.1f} s", ""]
    head, rows = strategies(found)
    lines += [f"  {line}" for line in table(head, rows, "l" + "r" * (len(head) - 1))]
    if found.study:
        head, rows = study(found)
        lines += ["", *(f"  {line}" for line in table(head, rows, "r" * len(head)))]
    return "\n".join([*lines, "", *(f"  {printable(each)}" for each in remarks(found))])


def subject(found: TreesAnswer) -> str:
    network = found.frame.network
    return (
        f"{count(len(network), 'broker')}, {count(len(network.low), 'link')},"
        f" {count(found.report.documents, 'document')}, {count(len(found.frame.subscriptions.ids), 'subscription')};"
        f" {found.wish.algorithm}, sample {found.wish.sample:g}, seed {found.wish.seed}"
    )


def strategies(found: TreesAnswer) -> tuple[tuple[str, ...], Cells]:
    """A row for each strategy."""
    opt = found.costs.get(OPT)
    head = ("strategy", "trees", "cost", "/ opt", "messages", "sendings", "copies", "duplicates", "busiest link")
    rows = []
    for name, costs in found.costs.items():
        trees = "-" if name == OPT else f"{len(found.strategies.get(name, (0,))):,}"
        # Without filters the documents on a link are not counted.
        busiest = f"{int(costs.load.max()):,}" if costs.load.any() else "-"
        numbers = (costs.messages, costs.sendings, costs.copies, costs.duplicates)
        rows.append(
            (name, trees, f"{costs.cost:,}", shown(relative(costs, opt)), *(f"{n:,}" for n in numbers), busiest)
        )
    return head, rows


def study(found: TreesAnswer) -> tuple[tuple[str, ...], Cells]:
    """A row for each sample of the sampling study."""
    opt = found.costs.get(OPT)
    head = ("sample", "documents", "not sampled", "trees", "cost of sample", "cost", "/ opt", "duplicates")
    rows = [
        (
            f"{row.share:g}",
            f"{row.sampled:,}",
            f"{row.unsampled:,}",
            f"{row.trees:,}",
            f"{row.sample_cost:,}",
            f"{row.cost:,}",
            shown(row.cost / opt.cost if opt is not None and opt.cost else None),
            f"{row.duplicates:,}",
        )
        for row in found.study
    ]
    return head, rows


def remarks(found: TreesAnswer) -> list[str]:
    """Remarks on the sample, on documents without a subscriber, and on assumptions."""
    unsampled, members = len(found.units.unsampled), len(found.frame.subscriptions.host)
    left = [f"the sample has {count(found.sampled, 'document')}; {_clusters(found)}"]
    if unsampled:
        left.append(
            f"{unsampled:,} of {members:,} pairs of an interest and a broker match no sampled document; they are in"
            " the clusters that are most like them"
        )
    if wide := _wide(found):
        left.append(
            f"{count(wide, 'document')} of the sample go to more than {MOST_BY_PATHS:,} brokers; such Steiner trees are"
            " computed in linear time, by cells"
        )
    if unmatched := found.report.documents - found.report.matched:
        left.append(f"{count(unmatched, 'document')} match no subscription, and cost nothing")
    if OPT in found.costs:
        left.append("opt sends each document over a Steiner tree of its own; no strategy costs less than half of it")
        left.append("semcast is a stand-in, since 003 does not define it: docs/reference/trees.md")
    return left


def _wide(found: TreesAnswer) -> int:
    """Documents of the sample with more terminals than `paths` is used for."""
    every = found.units.demand(np.arange(len(found.units)), len(found.frame.network))
    return sum(int((np.bincount(each.at) > MOST_BY_PATHS).sum()) for each in every.groups())


def _clusters(found: TreesAnswer) -> str:
    if found.one is None:
        return "no subscription matches any of them, and there is one tree of shortest paths"
    worst = max((each.certificate.stretch for each in found.found.computed), default=1.0)
    return (
        f"{count(len(found.found.clusters), 'tree')} cost {found.found.cost:,} in it, one tree {found.one.cost:,};"
        f" the largest average stretch is {worst:.2f}"
    )


# -- JSON --------------------------------------------------------------------------------------------------------------


def as_json(found: TreesAnswer) -> dict[str, Any]:
    opt = found.costs.get(OPT)
    wish = found.wish
    return {
        "inputs": {source.role: source.given for source in found.sources},
        "options": {name: getattr(wish, name) for name in OPTIONS},
        "brokers": len(found.frame.network),
        "links": len(found.frame.network.low),
        "documents": found.report.documents,
        "documents_matched": found.report.matched,
        "subscriptions": len(found.frame.subscriptions.ids),
        "members": len(found.frame.subscriptions.host),
        "sampled": found.sampled,
        "unsampled_members": len(found.units.unsampled),
        "strategies": [
            {
                "strategy": name,
                "trees": len(found.strategies[name]) if name in found.strategies else None,
                "cost": costs.cost,
                "relative_to_opt": relative(costs, opt),
                "messages": costs.messages,
                "documents": costs.documents,
                "sendings": costs.sendings,
                "deliveries": costs.deliveries,
                "copies": costs.copies,
                "duplicates": costs.duplicates,
            }
            for name, costs in found.costs.items()
        ],
        "clusters": list(_clusters_json(found)),
        "levels": [{"trees": k, "cost": cost, "exact": exact} for k, cost, exact in found.found.path],
        "study": [{name: getattr(row, name) for name in STUDY} for row in found.study],
        "remarks": remarks(found),
    }


OPTIONS = ("algorithm", "sample", "seed", "split", "start", "levels", "clusters", "steiner", "attach")
STUDY = ("share", "sampled", "unsampled", "trees", "sample_cost", "cost", "duplicates")


def _clusters_json(found: TreesAnswer) -> Iterator[dict[str, Any]]:
    strategy = found.strategies[found.wish.algorithm]
    costs = found.costs[found.wish.algorithm].tree_cost.tolist()
    members = np.bincount(strategy.cluster, minlength=len(strategy)).tolist()
    names = found.frame.network.names
    for number, computed in enumerate(found.found.computed):
        certificate = computed.certificate
        yield {
            "cluster": number,
            "members": members[number],
            "construction": computed.construction,
            "hub": names[computed.hub],
            "cost": costs[number],
            "sample_cost": certificate.cost,
            "sample_stretched": certificate.stretched,
            "sample_steiner": certificate.steiner,
            "stretch": certificate.stretch,
        }


# -- Parquet -----------------------------------------------------------------------------------------------------------


def write_tables(found: TreesAnswer, target: Path) -> None:
    """Writes the tables of strategies, clusters, trees and links, and of levels and samples where there are any."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    answer = as_json(found)
    tables: dict[str, Mapping[str, Any]] = {
        "strategies": _columns(answer["strategies"]),
        "clusters": _members(found),
        "trees": _trees(found),
        "links": _links(found),
        "levels": _columns(answer["levels"]),
        "study": _columns(answer["study"]),
    }
    for name, columns in tables.items():
        if columns:
            with whole(target / f"{name}.parquet") as part:
                pq.write_table(pa.table(dict(columns)), part, compression="zstd")


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _members(found: TreesAnswer) -> dict[str, Any]:
    """For each subscription, or part of one, its cluster."""
    subscriptions, strategy = found.frame.subscriptions, found.strategies[found.wish.algorithm]
    members = subscriptions.members.values
    lengths = subscriptions.members.lengths
    names = found.frame.network.names
    return {
        "subscription": np.repeat(np.array(subscriptions.ids, object), lengths).tolist(),
        "broker": [names[v] for v in subscriptions.host[members].tolist()],
        "keywords": [
            " or ".join(" ".join(words) for words in subscriptions.atoms[atom])
            for atom in subscriptions.atom[members].tolist()
        ],
        "cluster": strategy.cluster[members],
    }


def _trees(found: TreesAnswer) -> dict[str, Any]:
    """For each cluster and broker its parent in the tree; the root is its own."""
    strategy = found.strategies[found.wish.algorithm]
    names = np.array(found.frame.network.names, object)
    return {
        "cluster": np.repeat(np.arange(len(strategy)), len(names)),
        "broker": np.tile(names, len(strategy)).tolist(),
        "parent": names[np.concatenate(strategy.parents)].tolist(),
    }


def _links(found: TreesAnswer) -> dict[str, Any]:
    """For each strategy and link the documents that cross it."""
    network = found.frame.network
    names = np.array(network.names, object)
    counted = {name: costs.load for name, costs in found.costs.items() if costs.load.any()}
    return {
        "strategy": np.repeat(np.array(list(counted), object), len(network.low)).tolist(),
        "from": np.tile(names[network.low], len(counted)).tolist(),
        "to": np.tile(names[network.high], len(counted)).tolist(),
        "documents": np.concatenate([*counted.values(), np.empty(0, np.int64)]),
    }


# -- the page ----------------------------------------------------------------------------------------------------------


def page(found: TreesAnswer) -> str:
    """A page that loads nothing and runs nothing. All texts of tables are escaped."""
    return "".join(f"{line}\n" for line in _page(found))


def _page(found: TreesAnswer) -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
    yield f"<title>Many trees</title><style>{STYLE}</style></head><body>"
    yield f"<h1>Many trees</h1><p>{_safe(subject(found))}</p>"
    yield from (f"<p>{_safe(each)}</p>" for each in remarks(found))
    yield "<h2>Strategies</h2>"
    yield from _table(*strategies(found))
    for title, chart in charts(found).items():
        yield f"<h2>{escape(title)}</h2><section>{chart.svg()}</section>"
    if found.study:
        yield "<h2>Samples</h2>"
        yield from _table(*study(found))
    yield f"<h2>Trees of {found.wish.algorithm}</h2>"
    yield from _table(*_cluster_rows(found))
    yield "<h2>Busiest links</h2>"
    yield from _table(*_busiest(found))
    yield "</body></html>"


def _safe(text: str) -> str:
    return escape(printable(text), quote=True)


def _table(head: Sequence[str], rows: Cells) -> Iterator[str]:
    yield "<section><table><tr>" + "".join(f"<th>{_safe(each)}</th>" for each in head) + "</tr>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{_safe(each)}</td>" for each in row) + "</tr>"
    yield "</table></section>"


def charts(found: TreesAnswer) -> dict[str, Chart]:
    """The cost against the number of trees, and against the size of the sample."""
    drawn = {}
    if len(found.found.path) > 1:
        lines = [
            PlotLine("by hub trees", [(float(k), float(cost)) for k, cost, exact in found.found.path if not exact]),
            PlotLine("by all trees", [(float(k), float(cost)) for k, cost, exact in found.found.path if exact]),
        ]
        lines = [line for line in lines if line.points]
        drawn["Cost of the sample against the number of trees"] = Chart("", "trees", "cost", lines, log_x=True)
    if found.study:
        lines = [PlotLine(found.wish.algorithm, [(row.share, float(row.cost)) for row in found.study])]
        for name in ("single", OPT):
            if name in found.costs:
                flat = float(found.costs[name].cost)
                lines.append(PlotLine(name, [(row.share, flat) for row in found.study]))
        drawn["Cost of all documents against the sample"] = Chart("", "share sampled", "cost", lines, log_x=True)
    return drawn


def _cluster_rows(found: TreesAnswer) -> tuple[tuple[str, ...], Cells]:
    head = ("cluster", "hub", "construction", "members", "cost", "cost of sample", "stretch")
    clusters = sorted(_clusters_json(found), key=lambda each: (-each["cost"], each["cluster"]))
    rows = [
        (
            f"{each['cluster']}",
            each["hub"],
            each["construction"],
            f"{each['members']:,}",
            f"{each['cost']:,}",
            f"{each['sample_cost']:,}",
            f"{each['stretch']:.2f}",
        )
        for each in clusters[:LISTED]
    ]
    return head, rows


def _busiest(found: TreesAnswer) -> tuple[tuple[str, ...], Cells]:
    network = found.frame.network
    names = [name for name, costs in found.costs.items() if costs.load.any() and name != FLOODING]
    load = found.costs[found.wish.algorithm].load
    busiest = np.lexsort((np.arange(len(load)), -load))[:BUSIEST].tolist()
    rows = [
        (
            f"{network.names[int(network.low[at])]} - {network.names[int(network.high[at])]}",
            *(f"{int(found.costs[name].load[at]):,}" for name in names),
        )
        for at in busiest
    ]
    return ("link", *names), rows
