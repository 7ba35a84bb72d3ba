"""Limits, checkpoints, and what may be said when a search was cut short."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from routeproof.checker.errors import UsageError
from routeproof.checker.explore import Progress, explore
from routeproof.checker.explore import search as search_module
from routeproof.checker.instances import find
from routeproof.checker.plain import plain_search
from routeproof.checker.verdict import Result
from routeproof.model.protocols import world


def same(result: Result) -> dict[str, Any]:
    """Everything but the time it took."""
    return attrs.asdict(attrs.evolve(result, seconds=0.0))


def test_a_limit_is_never_holds() -> None:
    result = explore(world(find("cross3"), "active"), max_states=1000)
    assert not result.complete
    assert result.limit == "1000 states"
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


def test_results_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = world(find("star4"), "active", "removals-first")
    whole = explore(asked)
    monkeypatch.setattr(search_module, "CHUNK", 97)
    small = explore(asked)
    assert (small.states, small.transitions, small.depth, small.rules) == (
        whole.states,
        whole.transitions,
        whole.depth,
        whole.rules,
    )
    assert {f.property: f.verdict for f in small.findings.values()} == {
        f.property: f.verdict for f in whole.findings.values()
    }


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
