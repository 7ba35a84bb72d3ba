"""A part of a trace that is measured while it is judged."""

from __future__ import annotations

from attrs import evolve

from routeproof.checker.validate.metrics.asked import Measured
from routeproof.checker.validate.metrics.meter import UNKNOWN, Meter, encode
from routeproof.checker.validate.part import Found, Judge, Part
from routeproof.checker.validate.steps import BrokerReplay
from routeproof.traces import Event


def part_of(judge: Judge, run: str, broker: str, start: Event | None = None, before: int = 0) -> Part:
    """A `Part`, measured where that is asked for. A broker that the overlay does not have has no metrics."""
    setting = judge.setting
    plain, metered = (Part, MeteredPart) if not setting.prunes else _of_pruning()
    if isinstance(setting, Measured) and broker in setting.node:
        return metered(judge, setting, run, broker, start, before)
    return plain(judge, run, broker, start, before)


def _of_pruning() -> tuple[type[Part], type[MeteredPart]]:
    from routeproof.checker.validate.pruning.part import MeteredPruningPart, PruningPart  # which rest on these here

    return PruningPart, MeteredPruningPart


class MeteredPart(Part):
    """Apart from `Part`, so that whoever asks for no metrics does not pay for them."""

    def __init__(
        self, judge: Judge, setting: Measured, run: str, broker: str, start: Event | None, before: int
    ) -> None:
        super().__init__(judge, run, broker, start, before)
        self._meter = Meter(setting.every, setting.latency, setting.neighbours(broker), setting.most_moments)

    def look(self, event: Event) -> bool:
        counted = self.events
        full = super().look(event)
        if self.events > counted:  # and not a line that means nothing
            self._meter.look(event, _table_size(self._replay))
        return full

    def finish(self) -> Found:
        return evolve(super().finish(), metered=encode(self._meter.finish()))


def _table_size(replay: BrokerReplay) -> int:
    """How many subscriptions the broker knows of; nobody knows once it was rejected."""
    size = replay.table_size
    return UNKNOWN if size is None else size
