"""A part of a trace of the pruning protocol: one broker's events, held against the model of pruning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from routeproof.checker.validate.metrics.metered import MeteredPart
from routeproof.checker.validate.part import Part
from routeproof.checker.validate.pruning.meant import MeantHere
from routeproof.checker.validate.pruning.replay import PruningReplay
from routeproof.model.pruning_state import PruningTables
from routeproof.model.tables import Tables
from routeproof.traces import Event, TraceMessage


class PruningPart(Part):
    """The same as `Part`, but for what messages and tables mean, and what the broker is held against."""

    def _replay_from(self, tables: Tables | None, start: Event | None) -> PruningReplay:
        judge = self._judge
        known = cast(PruningTables | None, tables)
        self._pruning = PruningReplay(judge.setting, judge.replica, self.run, self.broker, known, start)
        self._pruning.offset = self._before
        return self._pruning

    def look(self, event: Event) -> bool:
        return super().look(event) or self._pruning.notebook.is_full

    def noted_blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[str, bytes]]:
        """What similarity is found from, since this was last asked (`noted`): if it is much, or all."""
        return self._pruning.notebook.blocks(all_of_them=all_of_them)

    def _meant(self, message: TraceMessage) -> MeantHere:
        return MeantHere(self._judge.dictionary.of(message), message)


class MeteredPruningPart(MeteredPart, PruningPart):
    """The same, measured."""
