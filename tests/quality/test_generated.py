"""Generated mutants of the model: each is caught, or has a reason why no answer differs (`generated`)."""

from __future__ import annotations

import pytest

from tests.quality.generated import EQUIVALENT, TARGETS, generate, is_caught, mutants_of

TEXT = """
def method(self, step, known):
    step.rules.add("RTE-1")
    if known < 1 and not self.done:
        self.sent = known + 1
    for each in sorted(known):
        step.send(each)
    return tuple(x for x in known if x == 0)
"""


def test_each_comparison_boundary_order_guard_and_update_is_changed() -> None:
    changes = [each.change for each in mutants_of(TEXT)]
    assert sorted(changes) == sorted(
        [
            "guard always: if known < 1 and (not self.done):",
            "guard never: if known < 1 and (not self.done):",
            "connective: known < 1 and (not self.done)",
            "comparison: known < 1",
            "boundary: 1",
            "negation: not self.done",
            "update left out: self.sent = known + 1",
            "arithmetic: known + 1",
            "boundary: 1",
            "order: for each in sorted(known):",
            "order: sorted(known)",
            "update left out: step.send(each)",
            "condition left out: (x for x in known if x == 0)",
            "comparison: x == 0",
            "boundary: 0",
        ]
    )


@pytest.mark.campaign
@pytest.mark.parametrize("protocol", TARGETS)
def test_every_mutant_is_caught_or_equivalent(protocol: str) -> None:
    every = list(generate(TARGETS[protocol][0]))
    left = {str(each) for each in every if not is_caught(each, protocol)}
    assert left <= set(EQUIVALENT)
    assert 100 * (len(every) - len(left)) >= 96 * len(every)


@pytest.mark.campaign
def test_every_mutant_that_has_a_reason_is_generated() -> None:
    assert set(EQUIVALENT) <= {str(each) for module, _ in TARGETS.values() for each in generate(module)}
