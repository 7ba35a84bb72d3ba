"""The experiments of 004: costs against the simulator, moves against their definitions, and the paper's shapes."""

from collections.abc import Sequence

import pytest
from attrs import evolve

from routeproof.checker.placement import figures, running
from routeproof.checker.placement.running import GRAPE, POP, STATIC, AlgorithmSetting, PlacementRun, RunCosts
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import SECOND, Costs, Observer, Simulator, TimedOperation
from routeproof.impl.workloads.stock import Stock, StockEnterprise
from routeproof.model.messages import Deliver, Message, Publish
from routeproof.model.overlay import Node

RECIPE = evolve(StockEnterprise(), publishers=4, subscribers=40, run_ms=300_000, brokers=15, spread=8)


def ran(recipe: Stock, setting: AlgorithmSetting, seed: int = 3) -> RunCosts:
    return PlacementRun("run", recipe, setting, seed).run()


class Seen(Observer):
    """Publications that brokers take, and delays and number of deliveries."""

    def __init__(self) -> None:
        self.taken: dict[Node, int] = {}
        self.issued_at: dict[str, int] = {}
        self.delays: list[int] = []

    def issued(self, operation: TimedOperation) -> None:
        if isinstance(operation.message, Publish):
            self.issued_at[operation.message.publication.id] = operation.time

    def handled(
        self,
        simulator: Simulator,
        broker: Node,
        sender: Node,
        message: Message,
        began: int,
        sends: Sequence[tuple[Node, Message]],
    ) -> None:
        if isinstance(message, Publish):
            self.taken[broker] = self.taken.get(broker, 0) + 1
            for _, sent in sends:
                if isinstance(sent, Deliver):
                    self.delays.append(simulator.now - self.issued_at[message.publication.id])


@pytest.mark.parametrize("recipe", [RECIPE, evolve(Stock(), publishers=3, subscribers=20, run_ms=60_000, spread=5)])
def test_a_run_that_moves_nobody_costs_what_the_simulator_counts(
    recipe: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages to the last one. The simulator has queues, of which a run has none: they are a hundredth of a delay."""
    monkeypatch.setattr(running, "LAST", 1.0)
    outcome, seen = ran(recipe, AlgorithmSetting(STATIC)), Seen()
    workload = recipe.workload(3)
    overlay = workload.overlay
    Simulator(
        overlay,
        lambda b: Broker(b, overlay.neighbours(b), "active"),
        Costs.measured("active"),
        observers=[seen],
    ).play(workload.operations())
    seconds = recipe.run_ms / 1_000
    assert outcome.publications * len(overlay.brokers) * seconds == pytest.approx(sum(seen.taken.values()))
    assert outcome.busiest * seconds == pytest.approx(max(seen.taken.values()))
    assert outcome.delay is not None
    mean = sum(seen.delays) / len(seen.delays) / (SECOND / 1_000)
    assert outcome.delay <= mean <= 1.02 * outcome.delay
    assert (outcome.control, outcome.moves) == (0, 0)


def test_all_subscribers_at_one_broker_is_where_both_send_the_publisher() -> None:
    recipe = evolve(RECIPE, low=0.0, office=1)  # all of them want everything, and are at the office
    static, pop, grape = (ran(recipe, AlgorithmSetting(name, threshold=50)) for name in (STATIC, POP, GRAPE))
    assert static.hops is not None
    assert static.hops > 1
    assert (pop.hops, grape.hops) == (0, 0)
    assert pop.publications == grape.publications == pytest.approx(4 / 15, rel=0.02)


def test_the_papers_shapes_of_the_enterprise_workload() -> None:
    """Load 100 has the least messages and the longer way; delay 100 the shortest; the ends of the weights meet."""
    recipe = evolve(StockEnterprise(), publishers=6, subscribers=100, run_ms=240_000)
    outcome = {s.name: ran(recipe, s) for s in (*figures.SETTINGS, *figures.WEIGHTED[:5:2], figures.WEIGHTED[5])}
    load, delay = outcome["grape load 100"], outcome["grape delay 100"]
    assert load.publications < delay.publications < outcome["static"].publications
    assert outcome["pop"].control > 2 * max(load.control, delay.control)
    assert (delay.hops or 0) < (load.hops or 0) < (outcome["static"].hops or 0)
    assert outcome["grape load 1"].publications == pytest.approx(delay.publications, rel=0.05)
    assert outcome["grape delay 1"].publications == pytest.approx(load.publications, rel=0.05)
    weighted = [outcome[f"grape load {weight}"] for weight in figures.WEIGHTS[::2]]
    assert [o.publications for o in weighted] == sorted((o.publications for o in weighted), reverse=True)


def test_a_threshold_that_is_never_reached_moves_nobody() -> None:
    never, often = (ran(RECIPE, AlgorithmSetting(GRAPE, threshold=threshold)) for threshold in (12_800, 10))
    assert (never.moves, never.control_share) == (0, 0)
    assert often.moves >= 4
    assert often.control_share > ran(RECIPE, AlgorithmSetting(GRAPE)).control_share


def test_pop_traces_no_more_than_its_window_allows() -> None:
    recipe = evolve(RECIPE, publishers=1, publication_interval_ms=200, run_ms=60_000)
    few, many = (ran(recipe, AlgorithmSetting(POP, traced=traced, threshold=10**6)) for traced in (5, 50))
    reached = few.publications + few.control
    assert reached > 0
    assert 0 < few.control_share < many.control_share
    windows = 3  # the run may begin within one
    most = windows * 5 * (recipe.brokers - 1)
    assert few.control_share * few.whole * recipe.brokers * 60 <= most
