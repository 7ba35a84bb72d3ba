"""Limits, checkpoints, and what may be said when a search was cut short."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from routeproof.checker.evaluation import Result
from routeproof.checker.experiments.bench import plain_search
from routeproof.checker.explore import Progress, explore
from routeproof.checker.explore import search as search_module
from routeproof.checker.explore.columns import Graph
from routeproof.checker.instances import find
from routeproof.checker.system.errors import UsageError
from routeproof.model.protocols import world
from routeproof.spec.properties import PROPERTIES


def same(result: Result) -> dict[str, Any]:
    """Everything but the time it took."""
    return attrs.asdict(attrs.evolve(result, seconds=0.0))


def test_a_limit_is_never_holds() -> None:
    result = explore(world(find("cross3"), "active"), max_states=1000)
    assert not result.complete
    assert result.limit == "1,000 states"
    always = [f for f in result.findings.values() if f.kind == "always"]
    assert {f.verdict for f in always} == {"unknown"}


def test_a_violation_stands_although_a_limit_was_reached() -> None:
    result = explore(world(find("cross3"), "active", "publication-sent-back"), max_states=20_000)
    assert not result.complete
    assert result.findings["NoDuplicate"].verdict == "fails"


def test_no_time_gives_no_answer() -> None:
    result = explore(world(find("cross3"), "active"), seconds=0)
    assert result.limit == "0 seconds"
    assert result.findings["NoLostDelivery"].verdict == "unknown"


@pytest.mark.parametrize("reduction", [(), ("por",), ("symmetry",)])
@pytest.mark.parametrize(
    ("name", "policy", "mutant"), [("cross3", "active", None), ("star4", "lazy", "delivers-to-first")]
)
def test_resuming_ends_like_never_stopping(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    policy: str,
    mutant: str | None,
    reduction: tuple[str, ...],
) -> None:
    monkeypatch.setattr(search_module, "CHUNK", 512)  # many places to stop at
    asked = world(find(name), policy, mutant)
    whole = explore(asked, reduction=reduction)
    checkpoint = tmp_path / "search.npz"
    stops = 0
    for limit in (1, 700, 5000, 9000, 20_000):
        part = explore(asked, reduction=reduction, max_states=limit, checkpoint=checkpoint)
        stops += not part.complete
    resumed = explore(asked, reduction=reduction, checkpoint=checkpoint)
    assert stops >= 4
    assert same(resumed) == same(whole)


def test_an_interrupt_is_a_limit(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.states > 3000:
            raise KeyboardInterrupt

    checkpoint = tmp_path / "search.npz"
    asked = world(find("cross3"), "none")
    stopped = explore(asked, progress=interrupt, checkpoint=checkpoint)
    assert stopped.limit == "interrupted"
    assert same(explore(asked, checkpoint=checkpoint)) == same(explore(asked))


def test_a_checkpoint_of_another_question_is_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "search.npz"
    explore(world(find("cross3"), "active"), max_states=1000, checkpoint=checkpoint)
    for other in (world(find("cross3"), "lazy"), world(find("star4"), "active")):
        with pytest.raises(UsageError, match="of another instance"):
            explore(other, checkpoint=checkpoint)


def test_junk_is_no_checkpoint(tmp_path: Path) -> None:
    good = tmp_path / "good.npz"
    asked = world(find("line3"), "active")
    explore(asked, max_states=500, checkpoint=good)
    junk = tmp_path / "junk.npz"
    rng = np.random.default_rng(1)
    whole = good.read_bytes()
    for content in (b"", b"PK\x03\x04", b"\x80\x04junk", whole[: len(whole) // 2], rng.bytes(5000)):
        junk.write_bytes(content)
        with pytest.raises(UsageError, match="checkpoint"):
            explore(asked, checkpoint=junk)
    with pytest.raises(UsageError, match="no regular file"):
        explore(asked, checkpoint=tmp_path)


def test_results_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = world(find("star4"), "active", "removals-first")
    whole = explore(asked)
    monkeypatch.setattr(search_module, "CHUNK", 97)
    assert same(explore(asked)) == same(whole), "not even the counterexamples differ"


def test_a_message_that_is_never_accepted_is_a_deadlock() -> None:
    """The plain search, whose states are values, says the same of a protocol that refuses."""
    asked = world(find("unadv3"), "none", "waits-for-advertisement")
    result, plain = explore(asked), plain_search(asked)
    assert (result.states, result.transitions, result.depth) == (plain.states, plain.transitions, plain.depth)
    assert result.findings["Drains"].why == "nothing can happen, but a queue is not empty"
    with pytest.raises(UsageError, match="refuse nothing"):
        explore(asked, reduction=("por",))


def test_a_run_without_end_is_a_cycle() -> None:
    result = explore(world(find("tiny"), "none", "publication-sent-back"))
    assert "lead back to where they began" in result.findings["Drains"].why


# -- the work after a search -------------------------------------------------------------------------------------------


@pytest.fixture
def no_time_to_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "CLOSING", 0.0)
    monkeypatch.setattr(search_module, "LEAST_CLOSING", 0.0)


LONG = 10_000.0
"""Seconds that no search here takes."""


@pytest.mark.usefixtures("no_time_to_close")
@pytest.mark.parametrize("reduction", [(), ("por",), ("symmetry",)])
def test_what_stands_is_told_where_no_time_is_left_to_close(reduction: tuple[str, ...]) -> None:
    """Whether there is a cycle is not known then, and no run is made of what fails."""
    asked = world(find("tiny"), "active", "removals-first")
    whole, cut = explore(asked, reduction=reduction), explore(asked, reduction=reduction, seconds=LONG)
    assert (whole.limit, cut.limit, cut.complete) == ("", "10000 seconds", True)
    assert cut.findings["Drains"].verdict == "unknown"
    failed = {id for id, f in whole.findings.items() if f.failed}
    assert failed == {id for id, f in cut.findings.items() if f.kind == "always" and f.failed} != set()
    for id in failed:
        assert cut.findings[id].run is None
        assert cut.findings[id].why == "the run that shows it was not made: 10000 seconds came first"
    held = [f for f in cut.findings.values() if f.verdict == "holds" and f.kind == "always"]
    assert (held == []) == (reduction == ("por",)), "without the cycles, a partial order shows nothing"


@pytest.mark.usefixtures("no_time_to_close")
def test_a_search_that_could_not_be_closed_is_taken_up_again(tmp_path: Path) -> None:
    asked = world(find("tiny"), "active", "removals-first")
    assert explore(asked, seconds=LONG, checkpoint=tmp_path / "c").limit
    assert (tmp_path / "c").exists()
    assert same(explore(asked, checkpoint=tmp_path / "c")) == same(explore(asked))


def test_a_partial_order_claims_nothing_where_there_is_a_cycle() -> None:
    """Whether or not the property about cycles is asked."""
    asked = world(find("tiny"), "none", "publication-sent-back")
    others = [PROPERTIES[id] for id in ("NoDuplicate", "NoLostDelivery", "Agreement")]
    found = explore(asked, properties=others, reduction=("por",))
    assert {f.verdict for f in found.findings.values()} <= {"fails", "unknown"}


def test_a_signal_ends_the_search_for_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found until then stands."""
    usual = Graph.find_cycle

    def interrupted(graph: Graph, pause: Callable[[], None]) -> list[int] | None:
        signal.raise_signal(signal.SIGINT)
        return usual(graph, pause)

    monkeypatch.setattr(Graph, "find_cycle", interrupted)
    found = explore(world(find("tiny"), "active", "removals-first"))
    assert found.limit == "interrupted"
    assert found.findings["Drains"].verdict == "unknown"
    assert any(f.failed for f in found.findings.values())
