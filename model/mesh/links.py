"""Management of links (LINK-2 to LINK-6): what a link is worth, rounds under the fan-out limit, new candidates, loads.

Gains are exact fractions. `spec/mesh.md` is normative.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction

from attrs import evolve

from routeproof.model.mesh.handler import Mesh
from routeproof.model.mesh.messages import LoadReport, Measure, Review
from routeproof.model.mesh.state import Ends, MasterMap, MeshTables
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Local, Outcome


def load_factor(loads: Iterable[int], threshold: int, reading: str = "min") -> Fraction:
    """LINK-3, of the loads of the bypassed brokers, in percent like the threshold."""
    bound, factor = min if reading == "min" else max, Fraction(1)
    for load in loads:
        factor *= 1 + bound(Fraction(0), Fraction(load - threshold, 100))
    return factor


def bypassed(master: MasterMap, end: Node) -> tuple[Node, ...]:
    """The brokers strictly between the centre and an end."""
    return master.path(end)[1:-1]


class ManagedMesh(Mesh):
    """The mesh, whose brokers choose their links by what these are worth."""

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        assert isinstance(local, MeshTables)
        match message:
            case Measure(percent):
                return self.on_report(local, LOCAL, LoadReport(node, percent, self.parameters.radius))
            case LoadReport() as report:
                return self.on_report(local, sender, report)
            case Review():
                return self.on_review(local) if self.may_review(local) else Outcome(local)
        return super().handle(node, local, sender, message)

    def on_report(self, local: MeshTables, sender: Node, report: LoadReport) -> Outcome:
        """LINK-4: the load of a broker goes to its neighbourhood."""
        loads = dict(local.loads) | {report.at: report.percent}
        onward = evolve(report, hops=report.hops - 1)
        sends = [(n, onward) for n in self.primary_neighbours(local) if n != sender and report.hops > 0]
        return Outcome(evolve(local, loads=tuple(sorted(loads.items()))), tuple(sends), frozenset({"LINK-4"}))

    def counted(self, local: MeshTables, ends: Ends) -> MeshTables:
        """LINK-2: a publication counts for the end that it is meant for, whichever link carries it."""
        if not self.parameters.rounds:
            return local
        sent = dict(local.sent)
        sent.update({end: sent.get(end, 0) + 1 for end in ends})
        return evolve(local, sent=tuple(sorted(sent.items())))

    # -- a round -------------------------------------------------------------------------------------------------------

    def may_review(self, local: MeshTables) -> bool:
        """False while a move is under way here."""
        return True

    def gain(self, local: MeshTables, end: Node) -> Fraction:
        """LINK-2, LINK-3. A load that is not known counts as the threshold."""
        between, loads = bypassed(local.master, end), dict(local.loads)
        threshold = self.parameters.threshold
        factor = load_factor((loads.get(b, threshold) for b in between), threshold, self.parameters.factor)
        return dict(local.sent).get(end, 0) * len(between) * factor

    def on_review(self, local: MeshTables) -> Outcome:
        """LINK-5: the strongest links are soft, the next strongest remain candidates, new candidates fill the rest."""
        ranked = sorted(local.links, key=lambda end: (-self.gain(local, end), end))
        strong = [end for end in ranked if self.gain(local, end) > self.parameters.weak]
        room, stubs = self.room(local), self.parameters.maxlinks - self.parameters.fanout
        soft = strong[:room]
        kept = [end for end in strong[room:] if end in local.candidates][:stubs]
        new = self.new_candidates(local)[: stubs - len(kept)]
        rules = {"LINK-2", "LINK-3", "LINK-5"} | ({"LINK-6"} if new else set())
        sends: list[tuple[Node, Hashable]] = []
        for end in (*local.soft, *local.candidates):
            if end not in soft and end not in kept:
                after = self.on_close(local, end)
                assert isinstance(after.local, MeshTables)
                local, sends = after.local, [*sends, *after.sends]
        for end in soft:
            if end not in local.soft:
                after = self.on_open(local, end)
                assert isinstance(after.local, MeshTables)
                local, sends = after.local, [*sends, *after.sends]
        local = evolve(local, candidates=tuple(sorted((*kept, *new))), sent=())
        return Outcome(local, tuple(sends), frozenset(rules))

    def room(self, local: MeshTables) -> int:
        """The number of soft links that the fan-out leaves."""
        return max(0, self.parameters.fanout - len(self.primary_neighbours(local)))

    def new_candidates(self, local: MeshTables) -> list[Node]:
        """LINK-6: neighbours of the busiest ends; first those whose link would bypass the highest load."""
        known = {*self.primary_neighbours(local), *local.soft, *local.candidates, local.master.centre}
        heat = {end: self.heat(local, end) for end in (*self.primary_neighbours(local), *local.links)}
        found: list[Node] = []
        for end in sorted(heat, key=lambda end: (-heat[end], end)):
            if heat[end] > 0:
                found += [n for n in local.master.neighbours(end) if n not in known and n not in found]
        return sorted(found, key=lambda n: -self.load_under(local, n))

    def heat(self, local: MeshTables, end: Node) -> Fraction:
        """LINK-6: by the letter it is the gain, which is 0 for every primary link."""
        return self.gain(local, end) if self.parameters.seeds == "gain" else Fraction(dict(local.sent).get(end, 0))

    def load_under(self, local: MeshTables, end: Node) -> int:
        """The sum of the known loads of the brokers that a link to an end would bypass."""
        loads = dict(local.loads)
        return sum(loads.get(b, 0) for b in bypassed(local.master, end))
