"""Recorded runs of switches are judged by the model's handler, from JSON Lines and Parquet alike."""

from pathlib import Path

import pytest

from routeproof.checker.instances import shipped
from tests.campaigns import daily
from tests.kit.runs import assert_accepted, assert_found, assert_rejected, changes, leaves_out, run_of, says_twice

HOLDING = [i.name for i in shipped() if i.protocol == "trees" and not i.must_fail]
CORRUPTIONS = {
    "a subscription not passed on": ("leaves3", leaves_out("send", "subscribe"), "COORD-2"),
    "a subscription inserted at no broker": ("both3", leaves_out("send", "insert"), "COORD-4"),
    "a withdrawal not passed on": ("leaves3", leaves_out("send", "delete"), "COORD-3"),
    "tables not installed": ("square4", leaves_out("send", "install"), "SWAP-2"),
    "an installation not acknowledged": ("square4", leaves_out("send", "acknowledge"), "SWAP-2"),
    "the commit not sent": ("square4", leaves_out("send", "commit"), "SWAP-3"),
    "a marker not sent": ("square4", leaves_out("send", "end-mark"), "SWAP-3"),
    "the end of old tables not told": ("switch3", leaves_out("send", "torn-down"), "SWAP-3"),
    "a commit sent twice": ("square4", says_twice("commit"), "SWAP-3"),
    "a marker of another tree": ("parts3", changes("send", "end-mark", "tree", 3), "SWAP-3"),
    "a marker altered on the way": ("square4", changes("receive", "end-mark", "epoch", 1), "TRC-3"),
    "the links of a tree altered on the way": ("switch3", changes("receive", "install", "links", [[1]]), "TRC-3"),
    "the links of a tree altered": ("switch3", changes("send", "install", "links", [[3]]), "SWAP-2"),
    "a copy stamped wrongly": ("square4", changes("send", "publish", "epoch", 5), "NET-3"),
    "a stamp altered on the way": ("square4", changes("receive", "publish", "tree", 2), "TRC-3"),
    "a kind that the protocol does not have": ("switch3", changes("send", "commit", "kind", "admit"), "SWAP-3"),
    "a message where no channel is": ("square4", changes("send", "end-mark", "peer", "b9"), "TRC-2"),
    "a copy not passed on": ("square4", leaves_out("send", "publish"), "NET-3"),
    "a delivery lost": ("busy3", leaves_out("deliver", "publish"), "RTE-5"),
}
"""By corruption: an instance, a function that changes a run of it where it can, and a rule among the rejections."""


@pytest.mark.parametrize("name", daily(HOLDING, lambda name: name in ("again3", "clusters3", "leaves3", "square4")))
def test_runs_of_the_model_are_accepted(name: str, tmp_path: Path) -> None:
    for seed in range(3):
        assert_accepted(run_of(name, "none", seed), tmp_path)


@pytest.mark.parametrize("name", list(CORRUPTIONS))
def test_a_corruption_is_found(name: str, tmp_path: Path) -> None:
    instance, spoil, rule = CORRUPTIONS[name]
    assert_found(instance, "none", spoil, rule, tmp_path)


@pytest.mark.parametrize("mutant", ["all-links-of-the-tree", "marks-early", "one-mark-short", "commits-at-the-first"])
def test_a_broken_implementation_is_rejected(mutant: str, tmp_path: Path) -> None:
    assert_rejected("square4", "none", mutant, tmp_path, 12)
