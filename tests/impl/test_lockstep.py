"""The reference implementation says what the model says: message by message, under every policy, in both algebras.

A lockstep that cannot fail proves nothing: `FAULTS` are mistakes that an implementation might make, and each is caught.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from routeproof.checker.fuzz.strategies import Sizes, worlds
from routeproof.checker.instances import find
from routeproof.impl import routing as broker_module
from routeproof.impl.index import Candidates, Matching
from routeproof.impl.index import profile as profile_module
from routeproof.impl.index import texts as texts_module
from routeproof.impl.index.covering import CandidateGroup, Covering, Settlement
from routeproof.impl.index.filter_index import CoveredIndex
from routeproof.impl.index.predicate_index import PredicateIndex
from routeproof.impl.index.profile import FilterProfile, ProfiledSubscription, Sketch, Spans, encloses
from routeproof.impl.index.texts import Texts
from routeproof.impl.routing import Broker, Outbox
from routeproof.model.filters.string_set import beginning_with
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Subscribe, Unsubscribe
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocol import Local, Outcome
from routeproof.model.routing import Routing
from routeproof.model.tables import Tables
from routeproof.model.world import World
from routeproof.spec.catalogues import rules_that_fire
from tests.campaigns import daily, drawn
from tests.impl.lockstep import Lockstep, rules_fired
from tests.impl.talk import HUB, Talk, talks
from tests.impl.wild import WILD
from tests.shown import recorded, sampled

ROOT = Path(__file__).resolve().parents[2]
quiet = settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def follow(talk: Talk) -> Lockstep:
    pair = Lockstep(talk.overlay, HUB, talk.policy)
    for each in talk.said:
        if each is None:
            pair.restart()
        else:
            pair.tell(*each)
    return pair


@drawn(0.3)
@pytest.mark.parametrize("policy", POLICIES)
def test_one_broker_told_anything(policy: str, share: float) -> None:
    @settings(quiet, max_examples=round(400 * share))
    @given(talks((policy,)))
    def run(talk: Talk) -> None:
        follow(talk)

    run()


@drawn(0.3)
@pytest.mark.parametrize("policy", POLICIES)
def test_one_broker_told_of_any_filters(policy: str, share: float) -> None:
    """Every operator, with the constants at which indexes could go wrong, and filters that cover each other."""
    wanted = {"RTE-3", "RTE-4", "RTE-5", "RTE-6"}
    if policy != "none":
        wanted |= {"COV-2", "COV-6" if policy == "lazy" else "COV-4"}
    assert rules_fired(follow, talks((policy,), (WILD,)), wanted, round(250 * share)) >= wanted


def test_that_exercises_every_rule() -> None:
    wanted = set(rules_that_fire("routing"))
    assert rules_fired(follow, talks(POLICIES), wanted, 250) == wanted


@pytest.mark.parametrize("policy", POLICIES)
def test_whole_overlays(policy: str) -> None:
    """Each broker of a world has an implementation at its side, which hears what it hears and goes on by itself."""

    @settings(quiet, max_examples=60)
    @given(worlds(Sizes(brokers=6), "routing", (policy,), None), st.randoms(use_true_random=False))
    def run(asked: World, random: object) -> None:
        pairs = {node: Lockstep(asked.instance.overlay, node, policy) for node in asked.nodes}
        state = asked.initial()
        for _ in range(120):
            possible = [action for action in asked.actions if asked.enabled(state, action)]
            if not possible:
                break
            step = asked.step(state, random.choice(possible))  # type: ignore[attr-defined]  # a Random
            pairs[step.action.node].tell(step.sender, step.message)
            state = step.state
            assert pairs[step.action.node].tables == state.locals[asked.nodes.index(step.action.node)]

    run()


SMALL = ("tiny", "line3", "equal3", "unadv3", "wide3", "star4")
WORLDS = [(name, policy) for name in SMALL for policy in POLICIES]


@pytest.mark.parametrize(
    ("name", "policy"), daily(WORLDS, lambda world: world[0] not in SMALL[-2:] or world[1] == "lazy")
)
def test_every_question_of_a_small_instance(name: str, policy: str) -> None:
    instance = find(name)
    asked = Questions(instance.overlay, policy)
    explore(World(instance, asked, policy))
    assert len(asked.outcomes) > 30
    for node, tables, sender, message in asked.outcomes:
        assert isinstance(tables, Tables)
        pair = Lockstep(instance.overlay, node, policy, tables)
        pair.restart()
        pair.tell(sender, message)


class Questions(Routing):
    """The model, which remembers what it was asked."""

    def __init__(self, overlay: Overlay, policy: str) -> None:
        super().__init__(overlay, policy)
        self.outcomes: dict[tuple[Node, Local, Node, Hashable], Outcome] = {}

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        question = (node, local, sender, message)
        if question not in self.outcomes:
            self.outcomes[question] = super().handle(*question)
        return self.outcomes[question]


def explore(asked: World) -> None:
    """Every reachable state."""
    frontier = [asked.initial()]
    seen = set(frontier)
    while frontier:
        reached = {step.state: None for state in frontier for step in asked.steps(state)}
        frontier = [state for state in reached if state not in seen]
        seen.update(frontier)


def test_the_implementation_cites_every_rule() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "impl").rglob("*.py")))
    assert set(rules_that_fire("routing")) <= set(re.findall(r"\b[A-Z]{3}-\d+\b", text))


# -- faults ------------------------------------------------------------------------------------------------------------


def removals_first(self: Outbox, neighbour: Node, settlement: Settlement) -> None:
    self.sends += [(neighbour, Unsubscribe(entry.subscription)) for entry in settlement.removals]
    self.sends += [(neighbour, Subscribe(entry.subscription)) for entry in settlement.additions]


def no_second_look(self: Covering, emptied: list[CandidateGroup]) -> None:
    TAKE_OUT(self, emptied)
    self._loose.clear()


def known_by_filter_only(self: Candidates, advertised: FilterProfile) -> None:
    LEARN(self, advertised)
    self._advertisements[advertised] = 1


def never_late(self: Candidates, advertised: FilterProfile, intersecting: object) -> None:
    self._learn(advertised)


def moved_in_name_only(self: Broker, entry: ProfiledSubscription, source: Node) -> None:
    self._matching.remove(entry)
    entry.source = source
    self._matching.add(entry)


def also_what_came_from_there(self: Broker, sender: Node, subscription: object, out: Outbox) -> None:
    known = subscription in self._subs
    SUBSCRIBE(self, sender, subscription, out)  # type: ignore[arg-type]  # whatever it was given
    if sender != LOCAL and not known:
        self._candidates[sender].subscribe(self._subs[subscription])  # type: ignore[index]
        self._settle(sender, out)


def anything_unsure_is_true(outer: Sketch, inner: Spans) -> bool:
    return encloses(outer, inner) is not False


def only_fixed(self: PredicateIndex, spans: Spans) -> Iterator[FilterProfile]:
    return (
        profile for profile in NEAR(self, spans) if any(span.key is not None for span in profile.sketch.spans.values())
    )


def drawn_whatever_else_draws(self: Candidates, advertised: FilterProfile) -> None:
    """The other advertisements that draw a filter are not looked for."""
    index, self._advertised = self._advertised, type(self._advertised)()
    self._advertised.add(advertised)
    UNADVERTISE(self, advertised)
    index.remove(advertised)
    self._advertised = index


def no_part(found: Iterator[FilterProfile]) -> Iterator[FilterProfile]:
    return (profile for profile in found if "contains" not in str(profile.filter))


def no_ending(found: Iterator[FilterProfile]) -> Iterator[FilterProfile]:
    return (profile for profile in found if "suffix" not in str(profile.filter))


LEARN, UNADVERTISE = Candidates._learn, Candidates.unadvertise
SUBSCRIBE, TAKE_OUT, NEAR = Broker._subscribe, Covering._take_out, PredicateIndex._near
ALLOWING = Texts.allowing

STRING_FAULTS: dict[str, tuple[object, str, object]] = {
    "nothing that contains": (Texts, "allowing", lambda self, word: no_part(ALLOWING(self, word))),
    "nothing that ends": (Texts, "allowing", lambda self, word: no_ending(ALLOWING(self, word))),
    "a word that is not in its set": (profile_module, "_word_of", lambda strings: strings.range.low),
    "ranges only forwards": (texts_module, "beginning_with", lambda prefix: beginning_with(prefix[::-1])),
}
"""Of what is looked up by strings; under `active`."""

FAULTS: dict[str, tuple[object, str, object, str]] = {
    "COV-8 removals first": (Outbox, "settle", removals_first, "active"),
    "COV-10 the lowest id, sent or not": (CandidateGroup, "first", property(lambda group: group.roster[0]), "active"),
    "COV-2 what a coverer quenched is forgotten with it": (Covering, "_take_out", no_second_look, "active"),
    "COV-4 a wider newcomer takes nothing in": (CoveredIndex, "covered", lambda self, wide: iter(()), "active"),
    "COV-6 what lost its place is not looked at": (Covering, "_loosen_what_was_not_sent", lambda self: None, "lazy"),
    "COV-6 newcomers do not quench each other": (CoveredIndex, "covered", lambda self, wide: iter(()), "lazy"),
    "COV-7 not packed": (broker_module, "PackingOutbox", Outbox, "packing"),
    "COV-3 also what came from there": (Broker, "_subscribe", also_what_came_from_there, "none"),
    "COV-1 rounding": (profile_module, "encloses", anything_unsure_is_true, "active"),
    "RTE-3 moved in name only": (Broker, "_move", moved_in_name_only, "none"),
    "RTE-4 no advertisement is late": (Candidates, "advertise", never_late, "none"),
    "RTE-5 to every hop": (Matching, "any_from", lambda self, source, event, spans: True, "none"),
    "RTE-5 only filters with a fixed value match": (PredicateIndex, "_near", only_fixed, "none"),
    "RTE-7 equal advertisements are one": (Candidates, "_learn", known_by_filter_only, "none"),
    "RTE-7 drawn by one advertisement only": (Candidates, "unadvertise", drawn_whatever_else_draws, "none"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, instead, policy = FAULTS[fault]
    monkeypatch.setattr(place, name, instead)

    @settings(quiet, max_examples=400, phases=[Phase.generate])
    @given(talks((policy,)))
    def run(talk: Talk) -> None:
        follow(talk)

    with pytest.raises(AssertionError):
        run()


@recorded
@pytest.mark.parametrize("fault", sampled(STRING_FAULTS, "nothing that ends".__eq__))
def test_a_fault_of_looking_up_strings_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*STRING_FAULTS[fault])

    @settings(quiet, max_examples=4_000, phases=[Phase.generate])  # it ends with the first that shows it
    @given(talks(("active",), (WILD,)))
    def run(talk: Talk) -> None:
        profile_module._PROFILES.clear()  # they know a word of their set
        follow(talk)

    with pytest.raises(AssertionError):
        run()
