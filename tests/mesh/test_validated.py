"""Recorded runs of the mesh are judged by the model's handler, from JSON Lines and Parquet alike, here and on Spark."""

from pathlib import Path

import pytest

from routeproof.checker.instances import shipped
from tests.campaigns import daily
from tests.kit.runs import assert_accepted, assert_found, assert_rejected, changes, leaves_out, run_of, says_twice

HOLDING = [i.name for i in shipped() if i.protocol == "mesh" and not i.must_fail]
CORRUPTIONS = {
    "the question to the coordinator not sent": ("mover3", leaves_out("send", "ask"), "MOVE-1"),
    "the first wave not passed on": ("mover3", leaves_out("send", "prepare"), "MOVE-2"),
    "the handover not sent": ("mover3", leaves_out("send", "handover"), "MOVE-3"),
    "the other side not sent": ("mover3", leaves_out("send", "snapshot"), "MOVE-3"),
    "the update not passed on": ("spokes4", leaves_out("send", "renew"), "MOVE-3"),
    "the old link not ended": ("mover3", leaves_out("send", "last"), "MOVE-3"),
    "the end not passed on": ("mover3", leaves_out("send", "finish"), "MOVE-5"),
    "the coordinator kept waiting": ("two3", leaves_out("send", "release"), "MOVE-5"),
    "the links of a side altered on the way": ("spokes4", changes("receive", "handover", "edges", [[1, 2]]), "TRC-3"),
    "anchors handed over wrongly": ("mover3", changes("send", "snapshot", "anchors", [2]), "MOVE-3"),
    "an anchor altered on the way": ("line5", changes("receive", "subscribe", "anchor", 5), "TRC-3"),
    "an anchor not adjusted": ("line5", changes("send", "subscribe", "anchor", 5), "SUB-1"),
    "a way that misses brokers": ("bypass4", changes("send", "publish", "way", [9]), "FWD-1"),
    "a confirmation twice": ("mover3", says_twice("confirm"), "MOVE-2"),
    "a soft link not opened": ("bypass4", leaves_out("send", "up"), "LINK-1"),
    "a closing not answered": ("bypass4", leaves_out("send", "drained"), "TRC-5"),
    "a kind that the protocol does not have": ("mover3", changes("send", "last", "kind", "least"), "MOVE-3"),
    "a message where no channel is": ("mover3", changes("send", "handover", "peer", "b9"), "TRC-2"),
    "a delivery lost": ("bypass4", leaves_out("deliver", "publish"), "TRC-7"),
}
"""By corruption: an instance, a function that changes a run of it where it can, and a rule among the rejections."""


@pytest.mark.parametrize("name", daily(HOLDING, lambda name: name in ("mover3", "bypass4", "spokes4", "rounds4")))
def test_runs_of_the_model_are_accepted(name: str, tmp_path: Path) -> None:
    for seed in range(3):
        assert_accepted(run_of(name, "none", seed), tmp_path)


@pytest.mark.parametrize("name", list(CORRUPTIONS))
def test_a_corruption_is_found(name: str, tmp_path: Path) -> None:
    instance, spoil, rule = CORRUPTIONS[name]
    assert_found(instance, "none", spoil, rule, tmp_path)


@pytest.mark.parametrize("mutant", ["anchor-stays", "hands-over-early", "finishes-early", "withdrawals-forgotten"])
def test_a_broken_implementation_is_rejected(mutant: str, tmp_path: Path) -> None:
    assert_rejected("subtree4", "none", mutant, tmp_path, 8)
