"""Cases that are for campaigns (`python -m pytest -m campaign`): more of what the daily run has shown of others."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def daily(cases: Iterable[Case], is_daily: Callable[[Case], bool]) -> list[Any]:
    """All of them, as parameters of a test; those that are not for every day are marked."""
    return [case if is_daily(case) else _marked(case) for case in cases]


def drawn(share: float) -> pytest.MarkDecorator:
    """Marks a test that draws its cases at random: it gets `share` of them daily, and all of them in a campaign."""
    return pytest.mark.parametrize("share", daily((share, 1.0), share.__eq__), ids="share={:g}".format)


def _marked(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.campaign)
