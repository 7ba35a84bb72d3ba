"""Seeded faults of migration: each replaces one method of `Migration`, in its drained form."""

from __future__ import annotations

from collections.abc import Hashable

from attrs import evolve

from routeproof.model.instance import POLICIES
from routeproof.model.messages import Advertisement, Publish, Unadvertise
from routeproof.model.migration.handler import Migration, migrating
from routeproof.model.migration.vocabulary import Complete, MigrationTables, Path, Publisher, Resume, Update
from routeproof.model.mutants import MutantRegistry
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Outcome
from routeproof.model.routing import StepEffects

MIGRATION_MUTANTS = MutantRegistry("migration", POLICIES)
mutant = MIGRATION_MUTANTS.mutant


# -- the publisher -----------------------------------------------------------------------------------------------------


@mutant("speaks-while-paused", "MIG-1")
class SpeaksWhilePaused(Migration):
    """Sends a paused publisher's publications to the source."""

    def hold(self, local: Publisher, message: Publish | Unadvertise) -> Outcome:
        return Outcome(local, ((local.at, message),))


@mutant("buffer-lost", "MIG-8")
class BufferLost(Migration):
    """Forgets what was buffered when the publisher resumes."""

    def release(self, local: Publisher, at: Node, farewell: Hashable, rule: str) -> Outcome:
        return super().release(evolve(local, held=()), at, farewell, rule)


@mutant("buffer-to-both", "MIG-8")
class BufferToBoth(Migration):
    """Releases the buffer at the target and at the source."""

    def release(self, local: Publisher, at: Node, farewell: Hashable, rule: str) -> Outcome:
        outcome = super().release(local, at, farewell, rule)
        if at == local.at:
            return outcome
        return evolve(outcome, sends=(*((local.at, m) for m in local.held), *outcome.sends))


@mutant("buffer-reversed", "MIG-8")
class BufferReversed(Migration):
    """Releases what was buffered last first."""

    def release(self, local: Publisher, at: Node, farewell: Hashable, rule: str) -> Outcome:
        return super().release(evolve(local, held=local.held[::-1]), at, farewell, rule)


@mutant("withdraws-while-paused", "MIG-1")
class WithdrawsWhilePaused(Migration):
    """Buffers publications, but withdraws the advertisement at the source at once."""

    def hold(self, local: Publisher, message: Publish | Unadvertise) -> Outcome:
        if isinstance(message, Unadvertise):
            return Outcome(evolve(local, advertised=False), ((local.at, message),))
        return super().hold(local, message)


@mutant("goes-nowhere-silently", "MIG-16")
class GoesNowhereSilently(Migration):
    """Refuses a publisher without an answer."""

    def on_arrive(self, step: StepEffects, a: Advertisement, path: Path) -> None:
        if step.node not in self.parameters.refuses:
            super().on_arrive(step, a, path)


@mutant("stays-connected", "MIG-8")
class StaysConnected(Migration):
    """Does not note that a publisher has left."""

    def dispatch(self, step: StepEffects, sender: Node, message: Hashable) -> None:
        tables = migrating(step.tables)
        super().dispatch(step, sender, message)
        if type(message).__name__ == "Leave":
            step.tables = evolve(migrating(step.tables), attached=tables.attached)


# -- the update --------------------------------------------------------------------------------------------------------


@mutant("last-hop-kept", "MIG-4")
class LastHopKept(Migration):
    """Leaves the last hop of the advertisement as it was at the brokers between source and target."""

    def on_update(self, step: StepEffects, a: Advertisement, path: Path, sender: Node) -> None:
        if step.node in (path[0], path[-1]):
            super().on_update(step, a, path, sender)
        else:
            step.send(path[path.index(step.node) + 1], Update(a, path), "MIG-3")


@mutant("nothing-forwarded", "MIG-6")
class NothingForwarded(Migration):
    """Leaves op 3 out."""

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        if rule != "MIG-6":
            super().settle(step, neighbour, rule)


@mutant("updates-twice", "MIG-3")
class UpdatesTwice(Migration):
    """Sends the update on twice."""

    def on_update(self, step: StepEffects, a: Advertisement, path: Path, sender: Node) -> None:
        super().on_update(step, a, path, sender)
        step.sends += [(n, m) for n, m in step.sends if isinstance(m, Update)]


@mutant("removes-on-the-way", "MIG-13")
class RemovesOnTheWay(Migration):
    """Withdraws at the update what only the moved advertisement drew."""

    def drain(self, step: StepEffects, a: Advertisement, old: Node | None) -> None:
        if old is not None and old != LOCAL:
            self.withdraw_from(step, old)


@mutant("does-not-wait", "MIG-15")
class DoesNotWait(Migration):
    """Lets a publisher in before its advertisement is known."""

    def may_arrive(self, tables: MigrationTables, a: Advertisement) -> bool:
        return True


@mutant("second-request", "MIG-16")
class SecondRequest(Migration):
    """Moves a publisher that is already on its way."""

    def is_here(self, step: StepEffects, a: Advertisement) -> bool:
        return step.tables.adv_from(a) == LOCAL


# -- the completion ----------------------------------------------------------------------------------------------------


@mutant("mark-ignored", "MIG-12")
class MarkIgnored(Migration):
    """Completes a move before the publisher's last publication from the source has come."""

    def end_at_source(self, step: StepEffects, a: Advertisement) -> None:
        if a in migrating(step.tables).updated:
            self.mark(step, "flushed", a)
        super().end_at_source(step, a)


@mutant("speaks-on-arrival", "MIG-8")
class SpeaksOnArrival(Migration):
    """Lets the publisher speak as soon as it arrives."""

    def on_arrive(self, step: StepEffects, a: Advertisement, path: Path) -> None:
        super().on_arrive(step, a, path)
        client = self.client(a)
        assert client is not None
        if step.node not in self.parameters.refuses:
            step.send(client, Resume(a))

    def pass_completion(self, step: StepEffects, a: Advertisement) -> None:
        super().pass_completion(step, a)
        step.sends = [(n, m) for n, m in step.sends if not isinstance(m, Resume)]


@mutant("completes-first", "MIG-7")
class CompletesFirst(Migration):
    """Sends the completion ahead of the subscriptions of op 3."""

    def handle(self, node: Node, local: Hashable, sender: Node, message: Hashable) -> Outcome:
        outcome = super().handle(node, local, sender, message)
        first = [each for each in outcome.sends if isinstance(each[1], Complete)]
        return evolve(outcome, sends=(*first, *(each for each in outcome.sends if each not in first)))


@mutant("never-withdrawn", "MIG-14")
class NeverWithdrawn(Migration):
    """Leaves what only the moved advertisement drew where it went."""

    def withdraw_from(self, step: StepEffects, neighbour: Node) -> None:
        pass


@mutant("drains-for-ever", "MIG-13")
class DrainsForEver(Migration):
    """Counts an advertisement as lying at its old place, too, after the move."""

    def end_draining(self, step: StepEffects, a: Advertisement) -> None:
        pass
