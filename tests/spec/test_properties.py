"""Properties asked of single states: what few runs show, and no seeded fault."""

import pytest
from attrs import evolve

from routeproof.checker.instances import find
from routeproof.checker.pruning import SettledState
from routeproof.model.instance import Instance
from routeproof.model.overlay import Node
from routeproof.model.plugins import Composed
from routeproof.model.protocols import world
from routeproof.model.pruning.definition import coming_back, with_readings
from routeproof.model.pruning.vocabulary import PruningTables
from routeproof.model.world import State, World
from routeproof.spec.properties import OK, PROPERTIES, Answer


def after(asked: World, *operations: str) -> State:
    """Everything settles after each operation."""
    settled = SettledState(asked.initial())
    for label in operations:
        settled = settled.after(asked, asked.action_named[label])
    return settled.state


def tables(asked: World, state: State, node: Node) -> PruningTables:
    local = state.locals[asked.nodes.index(node)]
    assert isinstance(local, PruningTables)
    return local


def covered_one_moves(identity: str) -> Instance:
    """`moves3` where not S but s, which S covers, leaves 2 and comes back at 1."""
    instance = find("moves3")
    wide, narrow = instance.subscribers
    subscribers = (
        coming_back(evolve(wide, at=2, unsubscribes=False), None),
        coming_back(evolve(narrow, at=2, unsubscribes=True), 1),
    )
    return with_readings(evolve(instance, subscribers=subscribers), (("cuts", (0, 1)), ("identity", identity)))


@pytest.mark.parametrize("identity", ["issue", "id"])
def test_the_propagation_of_what_is_issued_again_is_that_from_its_new_home(identity: str) -> None:
    asked = world(covered_one_moves(identity), "selective")
    state = after(asked, "advertise(a)", "subscribe(S)", "subscribe(s)", "unsubscribe(s)", "resubscribe(s)")
    mine = tables(asked, state, 1)
    asks = PROPERTIES["PropagationPath"].evaluate
    assert [s.id for s in mine.sent_to(2)] == ["s'" if identity == "issue" else "s"]
    assert asks(asked.ledger, 1, mine, state.history) == OK
    forked = mine.with_sent(3, mine.sent_to(2))
    assert "forks" in (asks(asked.ledger, 1, forked, state.history) or "")


def purged(mutant: str | None, *operations: str) -> Answer:
    asked = world(find("back2"), "selective", mutant)
    state = after(asked, "advertise(a)", "subscribe(S)", "publish(q)", *operations)
    answer: Answer = PROPERTIES["Purged"].evaluate(asked.ledger, 1, tables(asked, state, 1), state.history)
    return answer


def test_statistics_from_before_a_subscription_was_issued_are_not_its_own() -> None:
    assert purged(None) == OK
    assert purged(None, "unsubscribe(S)", "resubscribe(S)") is None
    assert "not delivered to it" in (purged("database-not-purged", "unsubscribe(S)", "resubscribe(S)") or "")


def test_a_catalogue_is_composed_anew_only_for_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer asks for the properties before each run."""
    composed = []

    def noted() -> dict[str, int]:
        composed.append(True)
        return {"one": len(composed)}

    catalogue = Composed(noted)
    assert (catalogue["one"], dict(catalogue.items()), [*catalogue.values()], len(catalogue)) == (1, {"one": 1}, [1], 1)
    for outside, times in (("first",), 2), (("first",), 2), (("second",), 3), ((), 4):
        monkeypatch.setattr("routeproof.model.plugins.plugins", lambda outside=outside: outside)
        assert catalogue["one"] == times
