"""The replica says what the model says: message by message, in the same order, and its tables are the same.

Under every policy, in both algebras, with ids that come twice, from tables as a trace may state them; with thresholds
as they are, and so low that everything that only large tables would reach is reached.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from routeproof.model.instance import POLICIES
from routeproof.spec.catalogues import rules_that_fire
from tests.checker.validate.replica.lockstep import follow
from tests.checker.validate.replica.speech import Speech, speeches
from tests.checker.validate.replica.thresholds import SIZES, thresholds

quiet = settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("policy", POLICIES)
def test_brokers_told_anything(policy: str, size: str) -> None:
    @settings(quiet, max_examples=120)
    @given(speeches((policy,)))
    def run(speech: Speech) -> None:
        follow(speech)

    with thresholds(size):
        run()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("policy", POLICIES)
def test_brokers_that_begin_with_any_tables(policy: str, size: str) -> None:
    @settings(quiet, max_examples=80)
    @given(speeches((policy,), stated=True))
    def run(speech: Speech) -> None:
        follow(speech)

    with thresholds(size):
        run()


def test_that_exercises_every_rule() -> None:
    fired: set[str] = set()

    @settings(quiet, max_examples=400, phases=[Phase.generate])
    @given(speeches(POLICIES))
    def run(speech: Speech) -> None:
        fired.update(follow(speech))

    run()
    assert fired == set(rules_that_fire("routing"))
