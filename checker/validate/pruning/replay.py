"""One broker's events against the model of pruning, step by step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast

from attrs import evolve

from routeproof.checker.validate.blame import FLOODED, blame
from routeproof.checker.validate.meant import Meant, Unreadable, model_message
from routeproof.checker.validate.parting import Difference, part
from routeproof.checker.validate.pruning.judge import JudgingPruning, Minutes
from routeproof.checker.validate.pruning.meant import SIGNALS, MeantHere, Told, told_by_model
from routeproof.checker.validate.pruning.minuted import minute
from routeproof.checker.validate.pruning.noted import At, Notebook
from routeproof.checker.validate.pruning.tables import differ
from routeproof.checker.validate.replica import Replica
from routeproof.checker.validate.said import Said
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.steps import BrokerReplay
from routeproof.model.filters import FilterError
from routeproof.model.messages import (
    Advertisement,
    Congest,
    Message,
    Publication,
    Publish,
    Relieve,
    Signal,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning_state import PruningTables
from routeproof.traces import Event, TraceTables

Sends = Sequence[tuple[Node, Hashable]]

OF_WITHDRAWALS = ("unsubscribe", "relieve")


class PruningReplay(BrokerReplay):
    """The handlers of the model itself, on its own tables: what takes long is what the model takes long for."""

    def __init__(
        self,
        setting: Setting,
        replica: Replica,
        run: str,
        broker: str,
        tables: PruningTables | None = None,
        start: Event | None = None,
    ) -> None:
        super().__init__(setting, replica, run, broker, None, start)
        assert isinstance(setting.protocol, JudgingPruning)
        self._model = setting.protocol.at_another()
        self._tables = tables or PruningTables()
        self._before = self._tables
        self._node = setting.node.get(broker, LOCAL)
        self._rules: frozenset[str] = frozenset()
        """Of the step that is under way."""
        self.notebook = Notebook(broker)
        self.offset = 0
        """What is added to how many events came before one, where that is set aside."""
        self._at = At(0, 0, -1)
        """The step that is under way."""

    @property
    def table_size(self) -> int | None:
        return None if self.rejection is not None else len(self._tables.subs)

    def restart(self, seq: int, line: int) -> None:
        super().restart(seq, line)
        self._tables = PruningTables()

    def snapshot(self, seq: int, line: int, tables: TraceTables | None) -> None:
        if self._next(seq, line) and self._close():
            if tables is None:
                self._reject(seq, "TRC-6", "a snapshot that tells tables", "none")
                return
            difference = differ(self._tables, tables, self.setting.name_of)
            if difference is not None:
                self._reject(seq, "TRC-4", *difference)
        self._between(line)

    # -- a step --------------------------------------------------------------------------------------------------------

    def _handle(self, seq: int, sender: Node, meant: Meant) -> None:
        assert isinstance(meant, MeantHere)
        self._before, self._wanted, self._rules = self._tables, (), frozenset()
        self._at, self._model.minutes = At(seq, self.offset + self.accepted, self.clock), Minutes()
        try:
            message = self._message(meant, sender)
            if message is not None:
                outcome = self._model.handle(self._node, self._tables, sender, message)
                self._tables = cast(PruningTables, outcome.local)
                self._wanted, self._rules = cast(Sends, outcome.sends), outcome.rules
        except (Unreadable, FilterError) as error:
            self._reject(seq, "TRC-6", "a message that can be handled", str(error))
            return
        self._told, self._sender, self._begun, self._time = meant, sender, seq, self.clock

    def _message(self, meant: MeantHere, sender: Node) -> Message | Signal | None:
        """None where nobody needs to handle it: it withdraws what is not known (RTE-8)."""
        if meant.kind == "publish":
            event = meant.event
            if event is None:
                raise Unreadable(f"publication {meant.id} without its event")
            return Publish(Publication(0, meant.id, meant.of, event), meant.distance, meant.count)
        if meant.kind in SIGNALS:
            if sender != LOCAL:
                raise Unreadable(f"{meant.kind} from a neighbour; only a broker's driver says so")
            return Congest() if meant.kind == "congest" else Relieve()
        if meant.kind in ("subscribe-many", "unsubscribe-many"):
            raise Unreadable(f"a message of the kind '{meant.kind}', which the protocol does not have")
        message = model_message(meant, self._ranks, self._sub_named, self._adv_named)
        if not isinstance(message, Unsubscribe) or meant.cuts is None:
            return cast(Message | None, message)
        wanted = len(self._model.parameters.thresholds)
        odd = next((cut for cut in meant.cuts if len(cut.distances) != wanted), None)
        if odd is not None:
            found = f"{len(odd.distances)} distances for {odd.advertisement}"
            raise Unreadable(f"{found}, where there are {wanted} thresholds")
        return evolve(message, cuts=meant.cuts)

    def _known_ids(self) -> set[str]:
        return {s.id for s, _ in self._tables.subs}

    def _sub_named(self, id: str) -> Subscription | None:
        return next((s for s, _ in self._tables.subs if s.id == id), None)

    def _adv_named(self, id: str) -> Advertisement | None:
        return next((a for a, _ in self._tables.advs if a.id == id), None)

    # -- a step's end --------------------------------------------------------------------------------------------------

    def _close(self) -> bool:
        told, sends = self._told, self._sends
        is_well = super()._close()
        if is_well and told is not None:
            assert isinstance(told, MeantHere)
            from_whom = "" if self._sender == LOCAL else self.setting.name_of(self._sender)
            seen = sends if self._sends_observed else None
            minute(self.notebook, told, from_whom, self._at, self._model.minutes, seen)
        return is_well

    def _is_passed_on(self, told: Meant) -> bool:
        return False  # the long way: a publication changes its header, and tables

    def _publication_sends(self, told: Meant) -> Sends:
        return self._wanted

    def _compare_deliveries(self, told: Meant, answer: Sends) -> Difference | None:
        assert isinstance(told, MeantHere)
        return super()._compare_deliveries(told.base, answer)  # a delivery has no header

    def _compare_sends(self, told: Meant, answer: Sends, neighbour: Node) -> Difference | None:
        wanted = [told_by_model(m) for n, m in answer if n == neighbour]
        seen = [(meant.said, (seq, line)) for n, meant, seq, line in self._sends if n == neighbour]
        found = part(self.setting.level, wanted, seen) if [said for said, _ in seen] != wanted else None
        if found is None:
            return None
        missing, extra = found.missing, found.extra
        if missing is None and extra is not None:  # it may be another one of these, with something changed
            missing = next((said for said in wanted if (said.kind, said.about) == (extra.kind, extra.about)), None)
        elif extra is None and missing is not None:
            about = missing.kind, missing.about
            extra = next((said for said, _ in seen if (said.kind, said.about) == about), None)
        found = evolve(found, missing=missing, extra=extra)
        return self._difference(found, "COV-8" if found.early else self._blame(told, missing, extra), neighbour)

    def _blame(self, told: Meant, wanted: Said | None, seen: Said | None) -> str:
        """The rule behind the first difference; where it has nothing to do with pruning, the core's."""
        if wanted is not None and seen is not None and wanted.kind == seen.kind:
            if wanted.kind == "publish" and wanted.about == seen.about:
                return "STA-1" if self._sender == LOCAL else "STA-2"
            if wanted.kind == "unsubscribe" and wanted.about == seen.about:
                return "PRN-4" if self._sender != LOCAL else "PRN-1"
        said = wanted or seen
        assert isinstance(said, Told)
        if said.kind in FLOODED:
            return FLOODED[said.kind]
        if "PRN-6" in self._rules and told.kind == "unsubscribe":
            return "PRN-6"  # it is held, and nothing at all is to be said
        if said.withdraws and wanted is not None and self._is_retained(said):
            return next((rule for rule in ("PRN-10", "PRN-11", "PRN-12") if rule in self._rules), "PRN-10")
        if "PRN-4" in self._rules and told.kind in OF_WITHDRAWALS:
            return "PRN-4" if said.withdraws or wanted is None else "PRN-5"
        if seen is not None and seen.adds and self._is_covered_by_retained(seen):
            return "PRN-9"
        return blame(told.kind, self._tables, self._model.covering, wanted, seen)

    def _is_retained(self, said: Said) -> bool:
        ids = {id for id, _ in said.about}
        return any(s.id in ids for _, many in self._before.retained for s in many)

    def _is_covered_by_retained(self, said: Said) -> bool:
        retained = [s for _, many in self._tables.retained for s in many]
        return any(s.filter.covers(wanted) for s in retained for _, wanted in said.about if wanted is not None)
