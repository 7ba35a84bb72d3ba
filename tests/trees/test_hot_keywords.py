"""A keyword that is in most documents and subscriptions takes time, and no memory: arrays stay short."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from routeproof.checker.system.terminal import json_text
from routeproof.checker.trees import report
from routeproof.checker.trees.corpora import SOURCES, _Drawn
from routeproof.checker.trees.planning import TreesAnswer, TreesWish, answer
from routeproof.checker.trees.report import as_json
from routeproof.impl.trees import clustering, matching, steiner
from routeproof.impl.trees.corpus import CorpusRecipe
from routeproof.impl.trees.tree import Rooted
from tests.trees.computation_cases import with_a_hot_keyword

RECIPE = CorpusRecipe(brokers=50, documents=120, keywords=25)
AT_ONCE = 400
MOST = 30
"""Terminals of a Steiner tree by paths, so that the trees of the hot keyword are computed by cells."""


def answered(monkeypatch: pytest.MonkeyPatch) -> TreesAnswer:
    monkeypatch.setattr(steiner, "MOST_BY_PATHS", MOST)
    monkeypatch.setattr(report, "MOST_BY_PATHS", MOST)
    return answer(SOURCES, TreesWish(sample=0.5), _Drawn(with_a_hot_keyword(RECIPE.drawn())))


def longest(monkeypatch: pytest.MonkeyPatch) -> tuple[TreesAnswer, dict[str, int]]:
    """The answer, and the longest arrays of terminals and of similarities on the way to it."""
    found = {"terminals": 0, "similarities": 0}

    def watched(name: str, function: Callable[..., Any], at: int) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            found[name] = max(found[name], len(arguments[at]))
            return function(*arguments)

        return called

    with monkeypatch.context() as patch:
        patch.setattr(Rooted, "connected", watched("terminals", Rooted.connected, 1))
        patch.setattr(clustering, "similarities", watched("similarities", clustering.similarities, 0))
        return answered(monkeypatch), found


def test_a_hot_keyword_makes_no_array_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of documents and hosts come in parts, similarities in rows; the answer is that of all at once."""
    whole, of_whole = longest(monkeypatch)
    monkeypatch.setattr(matching, "AT_ONCE", AT_ONCE)
    found, of_parts = longest(monkeypatch)
    assert json_text(as_json(found)) == json_text(as_json(whole))
    assert of_whole["terminals"] > 5 * AT_ONCE, "the keyword is hot"
    assert of_parts["terminals"] < 2 * AT_ONCE, "hosts in parts, and the publisher of each document"
    assert 0 < of_parts["similarities"] < len(found.units), "no list of pairs of clusters"


def test_what_was_bounded_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = answered(monkeypatch)
    every = found.units.demand(np.arange(len(found.units)), 50)
    wide = sum(int((np.bincount(each.at) > MOST).sum()) for each in every.groups())
    assert wide > 20
    said = f"{wide} documents of the sample go to more than {MOST} brokers; such Steiner trees are computed in linear"
    assert said in report.text(found)
    assert said in report.page(found)
