"""A part of a trace of the pruning protocol: one broker's events, held against the model of pruning."""

from __future__ import annotations

from routeproof.checker.validate.metrics.metered import MeteredPart
from routeproof.checker.validate.part import Judge, Part
from routeproof.checker.validate.pruning.meant import MeantHere
from routeproof.checker.validate.pruning.replay import PruningReplay
from routeproof.checker.validate.pruning.tables import tables_of
from routeproof.model.pruning_state import PruningTables
from routeproof.traces import Event, TraceError, TraceMessage


class PruningPart(Part):
    """The same as `Part`, but for what messages and tables mean, and what the broker is held against."""

    def __init__(self, judge: Judge, run: str, broker: str, start: Event | None = None, before: int = 0) -> None:
        super().__init__(judge, run, broker, start, before)
        tables = None if start is None else _start_at(judge, start)
        self._is_lost = start is not None and tables is None
        self._replay = PruningReplay(judge.setting, judge.replica, run, broker, tables, start)

    def _meant(self, message: TraceMessage) -> MeantHere:
        return MeantHere(self._judge.dictionary.of(message), message)


class MeteredPruningPart(MeteredPart, PruningPart):
    """The same, measured."""


def _start_at(judge: Judge, snapshot: Event) -> PruningTables | None:
    """What a part that begins with this snapshot knows; None where no part can begin with it."""
    try:
        told = snapshot.tables
    except TraceError:
        return None
    setting = judge.setting
    return None if told is None else tables_of(told, setting.neighbours(snapshot.broker), setting.ranks)
