"""More of everything than a machine word has bits: every engine is exact with any number."""

import json
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from routeproof.checker.cli import main
from routeproof.checker.counterexamples import replay_file
from routeproof.checker.counterexamples.record import write_counterexample
from routeproof.checker.explore import explore
from routeproof.checker.explore.interned import Sets
from routeproof.checker.explore.search import Search
from routeproof.checker.fuzz import fuzz
from routeproof.checker.instances import find
from routeproof.model.filters import EventSet
from routeproof.model.instance import Advertiser, Faults, Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Overlay
from routeproof.model.protocols import world
from routeproof.model.world import State, World
from routeproof.spec.properties import properties_for
from tests.shown import recorded, sampled

COUNTS = json.loads((Path(__file__).parent / "counts.json").read_text())
EVENT = EventSet.of([0])
MANY = 70


def instance(advertisements: int, subscriptions: int, publications: int, brokers: int = 2) -> Instance:
    """Clients at both ends of a line, everything with the same filter."""
    return Instance(
        f"many{advertisements}x{subscriptions}x{publications}",
        Overlay.line(brokers),
        tuple(Advertiser(Advertisement(i, f"a{i}", EVENT), 1) for i in range(advertisements)),
        tuple(Subscriber(Subscription(i, f"s{i}", EVENT), brokers, unsubscribes=i == 0) for i in range(subscriptions)),
        tuple(Publication(i, f"p{i}", "a0", 0) for i in range(publications)),
    )


WIDE = {
    "subscriptions": instance(1, MANY, 1),
    "publications": instance(1, 1, MANY),
    "advertisements": instance(MANY, 1, 1),
    "pairs": instance(2, 9, 8),
    "brokers": instance(1, 1, 1, brokers=MANY),
}


def in_order(asked: World, count: int) -> list[State]:
    """The first states of a plain search, in the order in which it meets them."""
    found = [asked.initial()]
    known = set(found)
    for state in found:  # grows meanwhile
        for step in asked.steps(state):
            if step.state not in known:
                known.add(step.state)
                found.append(step.state)
        if len(found) >= count:
            break
    return found[:count]


@recorded
@pytest.mark.parametrize("policy", sampled(["active", "packing"], "active".__eq__))
@pytest.mark.parametrize("what", WIDE)
def test_the_plain_search_meets_the_same_states_in_the_same_order(what: str, policy: str) -> None:
    asked = world(WIDE[what], policy)
    search = Search(asked, properties_for("routing", policy))
    search.run(max_states=600)
    plain = in_order(asked, 600)
    assert [search.state(i) for i in range(600)] == plain
    assert search.state(599).history.done.bit_length() > 1


@recorded
@pytest.mark.parametrize(
    "name",
    sampled(["tiny", "line3", "unadv3", "duplicate3", "crash3", "prune3", "hold3"], ("tiny", "line3").__contains__),
)
def test_narrow_words_change_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Words of three bits make every set of a small instance take several, as in an instance with hundreds."""
    for policy in find(name).policies:
        whole = explore(world(find(name), policy))
        with monkeypatch.context() as narrow:
            narrow.setattr(Sets, "BITS", 3)
            split = explore(world(find(name), policy))
        assert [split.states, split.transitions, split.depth] == COUNTS[name][policy]
        assert (split.findings, split.rules) == (whole.findings, whole.rules)


@pytest.mark.parametrize("name", ["line3", "unadv3", "equal3"])
def test_narrow_words_change_no_reduction(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for reduction in ("por", "symmetry"):
        asked = world(find(name), "active")
        whole = explore(asked, reduction=(reduction,))
        with monkeypatch.context() as narrow:
            narrow.setattr(Sets, "BITS", 3)
            split = explore(asked, reduction=(reduction,))
        assert (split.states, split.stored, split.findings) == (whole.states, whole.stored, whole.findings)


def test_a_set_knows_its_members_in_every_word() -> None:
    sets = Sets(200)
    members = [{0, 61, 62, 63, 64, 123, 124, 199}, set(), {63}]
    for each in members:
        sets.append(sum(1 << i for i in each))
    ids = np.array([2, 0, 1, 0])
    for number in range(200):
        assert sets.have(number, ids).tolist() == [number in members[i] for i in ids]
        assert sets.meet(1 << number, ids).tolist() == [number in members[i] for i in ids]
    assert sets.meet(1 << 5 | 1 << 199, ids).tolist() == [False, True, False, True]


def test_a_publication_beyond_the_first_word_is_found_lost_and_shown(tmp_path: Path) -> None:
    """The link loses one message; all publications but the last, number 69, have an advertisement of no interest."""
    wide = instance(2, 1, MANY)
    lossy = evolve(
        wide,
        advertisers=(wide.advertisers[0], Advertiser(Advertisement(1, "b", EventSet.of([1])), 1)),
        publications=(
            *(Publication(i, f"p{i}", "b", 1) for i in range(MANY - 1)),
            Publication(MANY - 1, "last", "a0", 0),
        ),
        faults=Faults(loss=1),
    )
    asked = world(lossy, "active")
    lost = [p for p in properties_for("routing", "active") if p.id == "NoLostDelivery"]
    finding = explore(asked, properties=lost, stop_at_first=True, max_states=4000).findings["NoLostDelivery"]
    assert finding.run is not None
    assert "publish(last)" in finding.run
    assert "last" in finding.why
    trace = write_counterexample(asked, finding, tmp_path)
    assert replay_file(trace).difference is None
    assert main(["show", str(trace)]) == 0


def test_seventy_rules_more_change_no_count() -> None:
    search = Search(world(find("line3"), "active"), ())
    for i in range(MANY):
        search.questions.rules.id(f"X-{i}")
    search.run()
    fired = {rule: times for rule, times in search.expander.rules().items() if times}
    assert fired == explore(world(find("line3"), "active")).rules


def test_the_fuzzer_takes_as_many() -> None:
    for what in ("subscriptions", "publications"):
        result = fuzz(WIDE[what], policy="active", mutant=None, seed=1, examples=3)
        assert result.transitions > 70
        assert not [f for f in result.findings.values() if f.kind == "always" and f.failed]
