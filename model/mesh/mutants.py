"""Seeded faults of the mesh: each replaces one method of `MovingMesh`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from attrs import evolve

from routeproof.model.mesh.forwarding import WorkingMap, covering_set
from routeproof.model.mesh.messages import Ask, Edges, Grant, Renew, Ring, Up
from routeproof.model.mesh.move import MovingMesh
from routeproof.model.mesh.state import Coordinator, Ends, MasterMap, MeshTables
from routeproof.model.messages import Publication, Subscribe, Subscription, Unsubscribe
from routeproof.model.mutants import MutantRegistry
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Outcome

MESH_MUTANTS = MutantRegistry("mesh", ("none",))
mutant = MESH_MUTANTS.mutant


@mutant("anchor-stays", "SUB-3")
class AnchorStays(MovingMesh):
    """Never adjusts an anchor, so that it leaves the maps of brokers far away."""

    def anchor_for_neighbours(self, local: MeshTables, anchor: Node) -> Node:
        return anchor if anchor in local.master.brokers else local.master.centre


@mutant("anchor-follows", "SUB-3")
class AnchorFollows(MovingMesh):
    """Takes the broker itself for the anchor, as if the radius were 1."""

    def anchor_for_neighbours(self, local: MeshTables, anchor: Node) -> Node:
        return local.master.centre


@mutant("sends-back", "FWD-3")
class SendsBack(MovingMesh):
    """Keeps anchors that lie where the publication came from."""

    def downstream(self, view: WorkingMap, anchors: Ends, way: tuple[Node, ...]) -> Ends:
        return anchors


@mutant("sends-nowhere-behind-a-soft-hop", "FWD-3")
class SendsNowhere(MovingMesh):
    """Drops every anchor once a publication has passed over another broker."""

    def downstream(self, view: WorkingMap, anchors: Ends, way: tuple[Node, ...]) -> Ends:
        return frozenset() if len(way) > 1 else super().downstream(view, anchors, way)


@mutant("soft-hops-uncounted", "FWD-3")
class SoftHopsUncounted(MovingMesh):
    """Tells the next broker of visited brokers only, not of those that a soft link passes over."""

    def way_to(self, local: MeshTables, way: tuple[Node, ...], to: Node) -> tuple[Node, ...]:
        return (*way, local.master.centre)


@mutant("stands-for-its-branch", "SUB-5")
class StandsForItsBranch(MovingMesh):
    """Takes the last end of the array in a branch for every anchor of the branch, also of other sub-branches."""

    def working_anchor(self, view: WorkingMap, anchor: Node) -> Node | None:
        branch = view.master.branch
        return [end for end in view.array if branch(end) == branch(anchor)][-1]


@mutant("covers-across-ends", "SUB-6")
class CoversAcrossEnds(MovingMesh):
    """Computes one covering set for all ends, so that an end may stand for covered subscriptions only."""

    def covering_sets(self, held: Mapping[Node, Sequence[Subscription]]) -> Mapping[Node, Sequence[Subscription]]:
        kept = covering_set(tuple(s for those in held.values() for s in those))
        return {end: [s for s in those if s in kept] for end, those in held.items()}


@mutant("withdrawal-stops", "SUB-1")
class WithdrawalStops(MovingMesh):
    """Passes a withdrawal on to the first neighbour only."""

    def on_unsubscribe(self, local: MeshTables, s: Subscription, sender: Node) -> Outcome:
        outcome = super().on_unsubscribe(local, s, sender)
        return Outcome(outcome.local, outcome.sends[:1], outcome.rules)


@mutant("forwards-to-one-branch", "SUB-1")
class ForwardsToOneBranch(MovingMesh):
    """Passes a subscription on to the first neighbour only."""

    def on_subscribe(self, local: MeshTables, s: Subscription, anchor: Node, sender: Node) -> Outcome:
        outcome = super().on_subscribe(local, s, anchor, sender)
        return Outcome(outcome.local, outcome.sends[:1], outcome.rules)


@mutant("close-unnoticed", "LINK-1")
class CloseUnnoticed(MovingMesh):
    """Closes a soft link, and goes on sending over it."""

    def on_close(self, local: MeshTables, to: Node) -> Outcome:
        return evolve(super().on_close(local, to), local=local)


@mutant("candidate-as-link", "FWD-9")
class CandidateAsLink(MovingMesh):
    """Sends to a candidate as if there were a connection."""

    def carriers(self, view: WorkingMap, ends: Ends, local: MeshTables) -> tuple[Node, ...]:
        return tuple(sorted(ends))


@mutant("both-ways", "FWD-6")
class BothWays(MovingMesh):
    """Sends to the primary neighbour on the way as well as to the end of a soft link."""

    def carriers(self, view: WorkingMap, ends: Ends, local: MeshTables) -> tuple[Node, ...]:
        return tuple(sorted({*super().carriers(view, ends, local), *(view.master.branch(end) for end in ends)}))


@mutant("nearest-only", "FWD-6")
class NearestOnly(MovingMesh):
    """Sends to the first end only, where several branches have anchors."""

    def carriers(self, view: WorkingMap, ends: Ends, local: MeshTables) -> tuple[Node, ...]:
        return super().carriers(view, ends, local)[:1]


@mutant("carried-and-sent", "FWD-9")
class CarriedAndSent(MovingMesh):
    """Sends to an end beyond a broker that carries a copy for a candidate, as well as to that broker."""

    def carriers(self, view: WorkingMap, ends: Ends, local: MeshTables) -> tuple[Node, ...]:
        return tuple(sorted({*super().carriers(view, ends, local), *(ends & local.connected)}))


# -- rounds ------------------------------------------------------------------------------------------------------------


@mutant("over-fanout", "LINK-5")
class OverFanout(MovingMesh):
    """Does not count primary links among the real connections."""

    def room(self, local: MeshTables) -> int:
        return self.parameters.fanout


@mutant("promoted-unnoticed", "LINK-5")
class PromotedUnnoticed(MovingMesh):
    """Takes a candidate for a soft link without opening the connection."""

    def on_review(self, local: MeshTables) -> Outcome:
        outcome = super().on_review(local)
        return evolve(outcome, sends=tuple(each for each in outcome.sends if not isinstance(each[1], Up)))


@mutant("candidates-anywhere", "LINK-6")
class CandidatesAnywhere(MovingMesh):
    """Takes neighbours for candidates."""

    def new_candidates(self, local: MeshTables) -> list[Node]:
        return sorted({*super().new_candidates(local), *self.primary_neighbours(local)})


# -- the move ----------------------------------------------------------------------------------------------------------


@mutant("hands-over-early", "MOVE-2")
class HandsOverEarly(MovingMesh):
    """Does not wait until the first wave is confirmed."""

    def on_grant(self, local: MeshTables, sender: Node) -> Outcome:
        outcome = super().on_grant(local, sender)
        assert isinstance(outcome.local, MeshTables)
        if not outcome.local.ring:
            return outcome
        after = self.hand_over(outcome.local)
        return Outcome(after.local, (*outcome.sends, *after.sends), outcome.rules | after.rules)


@mutant("second-copies-forwarded", "MOVE-4")
class SecondCopies(MovingMesh):
    """The mover forwards a copy that it has seen."""

    def is_second(self, local: MeshTables, p: Publication) -> bool:
        return False


@mutant("old-link-cut", "MOVE-4")
class OldLinkCut(MovingMesh):
    """Takes nothing over the old link once the tables are switched."""

    def is_connected(self, local: MeshTables, sender: Node) -> bool:
        return super().is_connected(evolve(local, ring=()), sender)


@mutant("finishes-early", "MOVE-5")
class FinishesEarly(MovingMesh):
    """Does not wait for the last message on the old link."""

    def settled(self, local: MeshTables) -> Outcome:
        early = evolve(local, left=True) if self.moves(local) and local.phase == "renew" else local
        return super().settled(early)


@mutant("map-grows", "MOVE-6")
class MapGrows(MovingMesh):
    """Keeps brokers in its map that are too far away after the move."""

    def moved(self, master: MasterMap, edges: Edges, ring: Ring) -> MasterMap:
        old, new = ((min(ring[0], end), max(ring[0], end)) for end in (ring[1], ring[-1]))
        return MasterMap.within(master.centre, ({*master.edges, *edges} - {old}) | {new}, 99)


@mutant("old-link-in-map", "MOVE-6")
class OldLinkInMap(MovingMesh):
    """Keeps the mover's old link in its map in addition to the new one."""

    def moved(self, master: MasterMap, edges: Edges, ring: Ring) -> MasterMap:
        new = (min(ring[0], ring[-1]), max(ring[0], ring[-1]))
        return MasterMap.within(master.centre, {*master.edges, *edges, new}, self.parameters.radius)


@mutant("anchors-kept", "MOVE-6")
class AnchorsKept(MovingMesh):
    """Keeps the anchors that it has, and takes over new subscriptions only."""

    def on_renew(self, local: MeshTables, sender: Node, update: Renew) -> Outcome:
        outcome = super().on_renew(local, sender, update)
        assert isinstance(outcome.local, MeshTables)
        held = dict(local.subs)
        subs = tuple((s, held.get(s, anchor)) for s, anchor in outcome.local.subs)
        return evolve(outcome, local=evolve(outcome.local, subs=subs))


@mutant("late-subscriptions-taken", "MOVE-7")
class LateTaken(MovingMesh):
    """The mover goes on hearing of subscriptions over its old link."""

    def is_late(self, local: MeshTables, sender: Node) -> bool:
        return False


@mutant("withdrawals-forgotten", "MOVE-7")
class WithdrawalsForgotten(MovingMesh):
    """Does not tell the other side what was withdrawn while the move began."""

    def hand_over(self, local: MeshTables) -> Outcome:
        return super().hand_over(evolve(local, withheld=tuple(e for e in local.withheld if e[1] != LOCAL)))


@mutant("beyond-the-radius", "MOVE-3")
class BeyondTheRadius(MovingMesh):
    """Does not tell brokers farther away than the radius what is new."""

    def on_renew(self, local: MeshTables, sender: Node, update: Renew) -> Outcome:
        outcome = super().on_renew(local, sender, update)
        return evolve(outcome, sends=tuple(s for s in outcome.sends if not isinstance(s[1], Subscribe | Unsubscribe)))


@mutant("withheld-forgotten", "MOVE-9")
class WithheldForgotten(MovingMesh):
    """A mover that stays does not send what it withheld."""

    def give_up(self, local: MeshTables) -> Outcome:
        return super().give_up(evolve(local, withheld=()))


@mutant("refusal-unfinished", "MOVE-9")
class RefusalUnfinished(MovingMesh):
    """A mover that stays does not end the move at the others."""

    def give_up(self, local: MeshTables) -> Outcome:
        return Outcome(evolve(local, ring=(), phase="", target=LOCAL, seen=(), withheld=()))


@mutant("refused-and-taken", "MOVE-9")
class RefusedAndTaken(MovingMesh):
    """A broker refuses a mover, and takes it for its neighbour."""

    def on_handover(self, local: MeshTables, sender: Node, update: Renew) -> Outcome:
        outcome = super().on_handover(local, sender, update)
        if not self.refuses(local):
            return outcome
        return evolve(outcome, local=evolve(local, master=self.moved(local.master, update.edges, update.ring)))


@mutant("called-off-late", "MOVE-9")
class CalledOffLate(MovingMesh):
    """Calls a move off although its side is handed over."""

    def on_call_off(self, local: MeshTables) -> Outcome:
        return self.give_up(local) if self.moves(local) and local.phase == "handover" else super().on_call_off(local)


@mutant("grants-two", "MOVE-1")
class GrantsAtOnce(MovingMesh):
    """The coordinator lets brokers move at the same time."""

    def at_coordinator(self, local: Coordinator, sender: Node, message: Hashable) -> Outcome:
        outcome = super().at_coordinator(local, sender, message)
        return Outcome(outcome.local, ((sender, Grant()),)) if isinstance(message, Ask) else Outcome(outcome.local)
