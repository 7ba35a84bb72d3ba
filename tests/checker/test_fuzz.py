"""The fuzzer's front door: what a campaign says when there is nothing to find, and when there is."""

import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.counterexamples.record import replay
from routeproof.checker.evaluation import Finding, Result
from routeproof.checker.fuzz import PROFILES, fuzz
from routeproof.checker.fuzz.walk import Walk
from routeproof.checker.instances import find
from routeproof.checker.system.errors import UsageError
from routeproof.model.instance import POLICIES
from routeproof.model.protocols import world
from routeproof.model.world import Action, World
from routeproof.spec.properties import PROPERTIES, properties_for
from tests.campaigns import daily
from tests.shown import recorded, sampled


def hunt(traces: Path | None) -> Result:
    """For a fault that is not found at once."""
    return fuzz(None, policy="active", mutant="removals-first", traces=traces)


@pytest.fixture(scope="module")
def hunted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """What it found, and the trace that it wrote."""
    directory = tmp_path_factory.mktemp("found")
    result = hunt(directory)
    [path] = directory.iterdir()
    return result, path


def untimed(result: Result) -> Result:
    return evolve(result, seconds=0.0)


def verdicts(result: Result) -> dict[str, str]:
    return {f.property: f.verdict for f in result.findings.values()}


# -- nothing to find ---------------------------------------------------------------------------------------------------


FAST = PROFILES["fast"].examples


CAMPAIGNS = [(policy, examples) for policy in POLICIES for examples in (FAST // 6, FAST)]


@recorded
@pytest.mark.parametrize(
    ("policy", "examples"),
    sampled(daily(CAMPAIGNS, lambda case: case[1] < FAST), lambda case: case[0] == "active"),
)
def test_the_routing_core_survives_a_fast_campaign(policy: str, examples: int) -> None:
    """Daily a sixth of it."""
    result = fuzz(None, policy=policy, mutant=None, examples=examples)
    assert verdicts(result) == {p.id: "holds" for p in properties_for("routing", policy)}
    assert min(f.exercised for f in result.findings.values()) > 100 * examples // FAST
    covering = {"COV-2", "COV-8", "COV-10"} if policy != "none" else set()
    own = {"active": {"COV-4"}, "lazy": {"COV-6"}, "packing": {"COV-4", "COV-7"}}.get(policy, set())
    assert set(result.rules) >= {"RTE-2", "RTE-3", "RTE-4", "RTE-5", "RTE-6", "RTE-7"} | covering | own
    assert (result.engine, result.instance, result.policy, result.complete) == ("fuzz", "generated", policy, False)
    assert result.transitions > 40_000 * examples // FAST
    assert result.limit.endswith(f" examples, {result.transitions:,} steps, seed 0")


def test_an_instance_is_fuzzed_in_its_own_interleavings() -> None:
    result = fuzz(find("leave5"), policy="lazy", mutant=None, examples=30)
    assert set(verdicts(result).values()) == {"holds"}
    assert (result.instance, result.policy) == ("leave5", "lazy")


def test_without_a_policy_all_are_drawn() -> None:
    result = fuzz(None, policy=None, mutant=None, examples=60)
    assert result.policy == "any"
    assert list(result.findings) == [p.id for p in PROPERTIES.values() if p.is_meant_for("routing", POLICIES)]
    assert {"COV-6", "COV-7"} <= set(result.rules)


# -- verdicts (docs/decisions/0005-fuzz-verdict.md) --------------------------------------------------------------------


def test_a_campaign_that_time_cuts_short_knows_nothing() -> None:
    result = fuzz(None, policy="active", mutant=None, seconds=0.0)
    assert set(verdicts(result).values()) == {"unknown"}
    assert result.limit.startswith("out of time: 0 examples")


def test_an_interrupt_leaves_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Walk.take

    def interrupted(walk: Walk, action: Action) -> None:
        if walk.tally.steps == 500:
            raise KeyboardInterrupt
        take(walk, action)

    monkeypatch.setattr(Walk, "take", interrupted)
    result = fuzz(None, policy="active", mutant=None)
    assert (result.limit, result.transitions) == ("interrupted", 500)
    assert result.findings["Precise"].verdict == "unknown"
    assert result.findings["SomeDelivery"].verdict == "holds"  # it has been reached, whatever else would have been


def _leaving_it_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """To make a violation small takes far longer than to find it."""
    monkeypatch.setitem(PROFILES, "fast", evolve(PROFILES["fast"], shrinking=100))
    monkeypatch.setattr("routeproof.checker.fuzz.trimmed", lambda violation, _until: violation)


@pytest.mark.parametrize("during", ["trimmed", "shrink"])
def test_an_interrupt_while_it_is_made_small_leaves_the_violation(during: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    _leaving_it_large(monkeypatch)
    monkeypatch.setattr(f"routeproof.checker.fuzz.{during}", interrupted)
    result = fuzz(None, policy="none", mutant="publication-sent-back", properties=[PROPERTIES["Drains"]])
    assert verdicts(result) == {"Drains": "fails"}
    assert (result.limit, bool(result.findings["Drains"].run)) == ("interrupted", True)


def test_making_it_small_takes_a_share_of_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def noted(where: World, finding: Finding, until: float) -> tuple[World, Finding]:
        given.append(until - time.monotonic())
        return where, finding

    _leaving_it_large(monkeypatch)
    monkeypatch.setattr("routeproof.checker.fuzz.shrink", noted)
    for least, share, most in (1.0, 0.02, 2.0), (0.0, 0.0, 0.0):
        monkeypatch.setattr("routeproof.checker.fuzz.LEAST_CLOSING", least)
        monkeypatch.setattr("routeproof.checker.fuzz.CLOSING", share)
        result = fuzz(
            None, policy="none", mutant="publication-sent-back", properties=[PROPERTIES["Drains"]], seconds=100.0
        )
        assert verdicts(result) == {"Drains": "fails"}
        assert given.pop() <= most


def test_what_was_never_exercised_is_unknown() -> None:
    result = fuzz(find("tiny"), policy="active", mutant=None, examples=20)
    path = result.findings["PropagationPath"]  # one link: there is nothing to fork
    assert (path.exercised, path.verdict) == (0, "unknown") or (path.exercised > 0 and path.verdict == "holds")
    none = fuzz(find("tiny"), policy="none", mutant=None, examples=20, properties=[PROPERTIES["SomeQuenching"]])
    assert verdicts(none) == {"SomeQuenching": "unknown"}


def test_after_a_violation_the_rest_is_unknown_but_not_what_was_reached(hunted: tuple[Result, Path]) -> None:
    of = verdicts(hunted[0])
    assert of["NoLostDelivery"] == "fails"
    assert {v for p, v in of.items() if PROPERTIES[p].kind == "always" and p != "NoLostDelivery"} == {"unknown"}
    assert of["SomeDelivery"] == "holds"


def test_only_the_properties_asked_for_are_judged() -> None:
    result = fuzz(None, policy="none", mutant="publication-sent-back", properties=[PROPERTIES["Drains"]])
    assert verdicts(result) == {"Drains": "fails"}


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(UsageError, match=r'^no profile is called "fats" \(did you mean fast\?\)$'):
        fuzz(None, policy="active", mutant=None, profile="fats")


# -- declared failures -------------------------------------------------------------------------------------------------


@recorded
@pytest.mark.parametrize(
    ("name", "examples"),
    sampled(
        daily(product(("loss2", "duplicate2", "reorder2", "crash3"), (50, 150)), lambda case: case[1] == 50),
        lambda case: case[0] == "crash3",
    ),
)
def test_declared_failures_are_found_and_do_not_end_the_campaign(name: str, examples: int) -> None:
    instance = find(name)
    policy = instance.policies[0]
    result = fuzz(instance, policy=policy, mutant=None, examples=examples)
    meant = {p.id for p in properties_for("routing", policy) if p.kind == "always"}
    failed = {p for p, v in verdicts(result).items() if v == "fails"}
    assert failed == meant & set(instance.must_fail)
    assert {verdicts(result)[p] for p in meant - failed} <= {"holds", "unknown"}
    for property in failed:
        run = result.findings[property].run
        assert run
        replay(world(instance, policy), run)


# -- counterexamples ---------------------------------------------------------------------------------------------------


def test_a_violation_of_a_drawn_instance_is_written_as_a_minimal_one(hunted: tuple[Result, Path]) -> None:
    result, path = hunted
    lost = result.findings["NoLostDelivery"]
    assert lost.trace == path
    replayed = replay_file(path)
    assert replayed.reproduces
    assert replayed.counterexample.run == lost.run
    assert len(replayed.counterexample.world.nodes) == 2


def test_a_violation_of_a_given_instance_is_a_run_of_that_instance(tmp_path: Path) -> None:
    star4 = find("star4")
    result = fuzz(star4, policy="active", mutant="removals-first", traces=tmp_path)
    run = result.findings["NoLostDelivery"].run
    assert run is not None
    assert len(replay(world(star4, "active", "removals-first"), run)) == len(run) <= 14  # the shortest has 11
    [path] = tmp_path.iterdir()
    replayed = replay_file(path)
    assert replayed.reproduces
    assert replayed.counterexample.world.instance.name == "star4"


def test_kept_traces_are_played_before_anything_is_drawn(hunted: tuple[Result, Path]) -> None:
    found, path = hunted
    (path.parent / "notes.jsonl").write_text("not a trace\n", encoding="utf-8")
    again = hunt(path.parent)
    assert again.limit == f"regression: {path}"
    assert again.transitions == 0
    assert again.findings["NoLostDelivery"].run == found.findings["NoLostDelivery"].run
    assert again.findings["NoLostDelivery"].trace == path
    assert verdicts(again)["NoDuplicate"] == "unknown"


@pytest.mark.parametrize(
    ("instance", "policy", "mutant", "property"),
    [
        (None, "lazy", "removals-first", None),
        (None, "active", "delivers-unmatched", None),
        (None, "active", None, None),
        (None, "active", "removals-first", "Precise"),
        ("star4", "active", "removals-first", None),
    ],
)
def test_kept_traces_of_another_question_are_left_alone(
    hunted: tuple[Result, Path], instance: str | None, policy: str, mutant: str | None, property: str | None
) -> None:
    result = fuzz(
        find(instance) if instance else None,
        policy=policy,
        mutant=mutant,
        properties=[PROPERTIES[property]] if property else None,
        examples=1,
        traces=hunted[1].parent,
    )
    assert "regression" not in result.limit


def test_a_trace_that_shows_nothing_any_more_does_not_end_the_campaign(
    hunted: tuple[Result, Path], tmp_path: Path
) -> None:
    """As if it had been found in the core itself, and the core had been mended since."""
    old = hunted[1].read_text(encoding="utf-8").replace('"mutant": "removals-first"', '"mutant": null')
    (tmp_path / "old.jsonl").write_text(old, encoding="utf-8")
    result = fuzz(None, policy="active", mutant=None, examples=5, traces=tmp_path)
    assert "seed 0" in result.limit


# -- the same everywhere -----------------------------------------------------------------------------------------------


def test_a_seed_means_the_same_whatever_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis takes constants from loaded modules; two campaigns in one process would already differ."""
    before = fuzz(None, policy="active", mutant=None, seed=5, examples=30)
    (tmp_path / "full_of_constants.py").write_text(f"NUMBERS = {list(range(100, 300))}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("full_of_constants")
    assert untimed(fuzz(None, policy="active", mutant=None, seed=5, examples=30)) == untimed(before)
    assert untimed(fuzz(None, policy="active", mutant=None, seed=6, examples=30)) != untimed(before)


def test_a_seed_means_the_same_in_another_process() -> None:
    script = (
        "from routeproof.checker.fuzz import fuzz;"
        "print(sorted(fuzz(None, policy='lazy', mutant=None, seed=3, examples=20).rules.items()))"
    )
    here = fuzz(None, policy="lazy", mutant=None, seed=3, examples=20)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sorted(here.rules.items()))


def test_a_long_campaign_says_which_seed_it_took() -> None:
    first, second = (fuzz(None, policy="none", mutant=None, profile="long", examples=2) for _ in range(2))
    seed = int(first.limit.rsplit("seed ", 1)[1])
    assert not second.limit.endswith(f"seed {seed}")
    again = fuzz(None, policy="none", mutant=None, profile="long", examples=2, seed=seed)
    assert untimed(again) == untimed(first)


def test_hypothesis_leaves_nothing_behind(tmp_path: Path) -> None:
    before, home = storage_directory(intent_to_write=False).home_directory, tmp_path / "hypothesis"
    set_hypothesis_home_dir(home)
    try:
        fuzz(None, policy="active", mutant="publication-sent-back")
        assert storage_directory(intent_to_write=False).home_directory == home
        assert not home.exists()
    finally:
        set_hypothesis_home_dir(before)
