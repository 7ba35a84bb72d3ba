"""Business processes, and auditors that come and go."""

from collections import Counter

import pytest

from routeproof.impl.simulator import MILLISECOND
from routeproof.impl.workloads.workflow import Flow, Process, Workflow
from routeproof.impl.workloads.workload import domains, stream
from routeproof.model.messages import Advertise, Publish, Subscribe, Unsubscribe
from tests.impl.workloads.reading import constraints, published, subscribed, withdrawn

FLOW = Flow(abreast=3, loops=0.5, again=0.3, least_ms=100, most_ms=2_000)
RECIPE = Workflow().scaled(0.01)


@pytest.mark.parametrize("seed", range(20))
def test_a_process_has_its_activities_in_stages(seed: int) -> None:
    process = Process.draw("p", 26, [3, 4, 5], FLOW, stream(seed, "test"))
    assert [activity.number for activity in process.activities] == list(range(1, 27))
    assert len(process.stages[0]) == 1
    assert {len(stage) for stage in process.stages} <= {1, 2, 3}
    if process.loop is not None:
        from_, back = process.loop
        assert 0 < back < from_ < len(process.stages)


@pytest.mark.parametrize("seed", range(20))
def test_an_instance_triggers_every_activity_and_only_engines_that_advertise_publish(seed: int) -> None:
    random = stream(seed, "test")
    process = Process.draw("p", 10, [3, 4, 5], FLOW, random)
    triggers = list(process.instance(FLOW, random))
    assert {trigger.activity for trigger in triggers} == set(range(1, 11))
    assert {trigger.engine for trigger in triggers} <= set(process.engines)
    assert [trigger.delay for trigger in triggers] == sorted(trigger.delay for trigger in triggers)
    first: dict[int, int] = {}
    for trigger in triggers:
        first.setdefault(trigger.activity, trigger.delay)
    for before, after in zip(process.stages, process.stages[1:], strict=False):
        assert min(first[a.number] for a in after) >= max(first[a.number] for a in before) + FLOW.least_ms


def test_activities_subscribe_to_their_own_triggers_at_their_engines() -> None:
    operations = list(RECIPE.workload(0).operations())
    activities = [constraints(s.filter) for _, s in subscribed(operations) if len(constraints(s.filter)) == 4]
    expected = RECIPE.small * 3 + RECIPE.medium * 10 + RECIPE.large * 26
    assert len(activities) == expected
    leaves = {b for b in domains(4, 10, 3).overlay.brokers if len(domains(4, 10, 3).overlay.neighbours(b)) == 1}
    assert {broker for broker, _ in subscribed(operations)} <= leaves
    assert {o.broker for o in operations if isinstance(o.message, Advertise | Publish)} <= leaves


def test_full_size_has_the_numbers_of_the_paper() -> None:
    recipe = Workflow()
    assert recipe.small + recipe.medium + recipe.large == 200
    assert recipe.domains * recipe.engines == 24
    assert round(200 * recipe.monitored) == 60


def test_every_auditor_comes_for_a_tenth_of_the_time_and_covers_everything() -> None:
    operations = list(RECIPE.workload(0).operations())
    begun, ended = {}, {}
    for time, _, message in operations:
        match message:
            case Subscribe(s) if len(constraints(s.filter)) == 1:
                begun[s.id] = time
            case Unsubscribe(s):
                ended[s.id] = time
    assert len(begun) == RECIPE.auditors * round(RECIPE.run_ms / RECIPE.audit_interval_ms)
    assert {ended[id_] - begun[id_] for id_ in ended} == {RECIPE.audit_ms * MILLISECOND}
    assert len(ended) >= len(begun) - RECIPE.auditors
    audit = withdrawn(operations)[0][1]
    assert all(audit.filter.covers(s.filter) for _, s in subscribed(operations))
    assert all(audit.filter.matches(p.event) for _, p in published(operations)[:100])


def test_as_many_triggers_and_audits_a_second_at_any_scale() -> None:
    rates = []
    for scale in (0.01, 0.04):
        recipe = Workflow().scaled(scale)
        kinds = Counter(type(o.message) for o in recipe.workload(0).operations())
        rates.append(kinds[Publish] / recipe.run_ms)
        assert kinds[Unsubscribe] == pytest.approx(24, abs=4)
    assert rates[0] == pytest.approx(rates[1], rel=0.2)
