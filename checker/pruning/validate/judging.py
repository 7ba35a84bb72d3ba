"""How brokers of pruning are judged."""

from __future__ import annotations

from attrs import evolve

from routeproof.checker.pruning.validate.messages import SIGNALS, PruningMeaning, pruning_in_trace, tables_of
from routeproof.checker.pruning.validate.model import JudgingPruning
from routeproof.checker.pruning.validate.replay import PruningModel
from routeproof.checker.pruning.validate.similarity import SIMILARITY
from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.judging import Judging
from routeproof.checker.validate.setting import Setting
from routeproof.model.pruning.definition import read_readings
from routeproof.model.pruning.vocabulary import PruningParameters
from routeproof.model.reading import InstanceError, Place
from routeproof.traces import Header
from routeproof.traces.messages import SHORT


def _with_readings(setting: Setting, header: Header) -> Setting:
    """The readings that the header gives or, of a counterexample, its instance."""
    instance = header.more.get("instance")
    given = header.more.get("pruning", instance.get("pruning", {}) if isinstance(instance, dict) else {})
    try:
        readings = read_readings(Place("the header", "pruning", given), (header.policy,))
    except InstanceError as error:
        raise UsageError(str(error)) from None
    parameters = evolve(PruningParameters.of(header.policy), **dict(readings))
    if parameters.rows == "arrived":
        raise UsageError(
            'the header: pruning.rows: found "arrived"; traces under this reading are not judged, since the rows of a'
            ' snapshot do not tell of what they are: expected "updated"'
        )
    return evolve(setting, protocol=JudgingPruning(setting.overlay, header.policy, parameters))


JUDGING = Judging(
    PruningModel,
    _with_readings,
    PruningMeaning,
    pruning_in_trace,
    tables_of,
    frozenset((*SHORT, *SIGNALS)),
    stages=SIMILARITY,
)
