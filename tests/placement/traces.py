"""Drawn traces for placement, and the answers by definition: every publication's paths are walked one by one."""

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import frozen
from hypothesis import strategies as st

from routeproof.impl.placement.decisions import Profile, target
from routeproof.model.overlay import LOCAL, Node, Overlay
from tests.placement.test_pop import trees

Row = dict[str, Any]


def name(broker: Node) -> str:
    return f"b{broker}"


@frozen
class Made:
    """One publication: its publisher's advertisement, its broker, its number there, and deliveries by broker."""

    id: str
    of: str
    at: Node
    seq: int
    delivered: Mapping[Node, int]


@frozen
class Drawn:
    """A trace, and what went into it. `delays`: by broker and where a message goes; none without a shared clock."""

    overlay: Overlay
    publications: tuple[Made, ...]
    delays: Mapping[tuple[Node, Node], int]
    rows: tuple[Row, ...]

    @property
    def header(self) -> Row:
        edges = [[name(near), name(far)] for near, far in self.overlay.edges]
        clock = {"clock": "shared"} if self.delays else {}
        return {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "overlay": edges, **clock}

    def write(self, path: Path) -> Path:
        lines = [self.header, *self.rows]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def of_publisher(self, of: str, at: Node) -> list[Made]:
        return [each for each in self.publications if (each.of, each.at) == (of, at)]


@st.composite
def drawn(draw: st.DrawFn, most: int = 7) -> Drawn:
    """Publications of some publishers, each delivered to some brokers; every edge has one delay in each direction."""
    overlay = draw(trees(most).filter(lambda tree: len(tree.brokers) > 1))
    timed = draw(st.booleans())
    ways = [(b, n) for b in overlay.brokers for n in (LOCAL, *overlay.neighbours(b))]
    delays = {way: draw(st.integers(0, 9)) for way in ways} if timed else {}
    broker = st.sampled_from(overlay.brokers)
    publications, rows = [], list[Row]()
    for number in range(draw(st.integers(1, 12))):
        delivered = draw(st.dictionaries(broker, st.integers(1, 3), max_size=4))
        made = Made(f"p{number}", draw(st.sampled_from("ab")), draw(broker), 10 * number, delivered)
        publications.append(made)
        rows += _events(made, overlay, delays, 1_000 * number)
    return Drawn(overlay, tuple(publications), delays, tuple(draw(st.permutations(rows))))


def _events(made: Made, overlay: Overlay, delays: Mapping[tuple[Node, Node], int], began: int) -> list[Row]:
    message = {"kind": "publish", "id": made.id, "of": made.of}
    times = {made.at: began}
    rows: list[Row] = [{"broker": name(made.at), "seq": made.seq, "event": "client", "peer": "P", "message": message}]
    for broker, many in made.delivered.items():
        for near, far in pairwise(overlay.path(made.at, broker)):
            if far not in times:
                times[far] = times[near] + delays.get((near, far), 0)
                rows.append({"broker": name(far), "seq": made.seq, "event": "receive", "peer": name(near)})
        for number in range(many):
            rows.append(
                {"broker": name(broker), "seq": made.seq + 1 + number, "event": "deliver", "peer": f"c{number}"}
            )
    for row in rows:
        row["message"] = message
        if delays:
            at = int(row["broker"][1:])
            row["time"] = times[at] + (delays[at, LOCAL] if row["event"] == "deliver" else 0)
    return rows


def pop_by_messages(overlay: Overlay, publications: list[Made], source: Node) -> Node:
    """POP's target after these publications, all traced: trace result messages go up hop by hop (POP-3, POP-4)."""
    profiles = {broker: Profile() for broker in overlay.brokers}

    def report(at: Node, came: Node, delivered: Mapping[Node, int]) -> int:
        reported = {LOCAL: delivered[at]} if at in delivered else {}
        for neighbour in overlay.neighbours(at):
            behind = overlay.side((neighbour, at))
            if neighbour != came and any(broker in behind for broker in delivered):
                reported[neighbour] = report(neighbour, at, delivered)
        profiles[at].trace({n: float(many) for n, many in reported.items()})
        return sum(reported.values())

    for made in sorted(publications, key=lambda p: p.seq):
        report(source, LOCAL, made.delivered)
    return target({broker: profile.average for broker, profile in profiles.items()}, source)[0]
