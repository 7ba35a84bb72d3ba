"""Mutants are generated of each kind of change, and run in the place of the functions that are in use."""

from __future__ import annotations

import ast

import pytest

from routeproof.model.overlay import Overlay, OverlayError
from tests.quality.generated import apply, changed, in_use, mutants, mutants_of, source_of

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
    changes = [each.what for each in mutants_of(TEXT)]
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
            "boundary: 1 (2)",
            "order: for each in sorted(known):",
            "order: sorted(known)",
            "update left out: step.send(each)",
            "condition left out: (x for x in known if x == 0)",
            "comparison: x == 0",
            "boundary: 0",
        ]
    )


def test_what_only_people_read_is_left_alone() -> None:
    assert not list(mutants_of("def __str__(self):\n    return 'a' if self.x else 'b'"))
    assert not list(mutants_of("def f(x):\n    assert x > 1\n    raise ValueError(x > 1)"))


def test_each_mutant_of_a_module_has_a_name_of_its_own_and_is_another_text() -> None:
    every = mutants("routeproof.model.overlay")
    assert len({each.key for each in every}) == len(every) > 50
    text = source_of("routeproof.model.overlay")
    sound = ast.unparse(ast.parse(text))
    assert all(ast.unparse(changed(each, text)[0]) != sound for each in every)


def test_a_mutant_takes_the_place_of_the_function_everywhere() -> None:
    """A line in which each broker is linked to the one after the next is none; the sound code is put back."""
    [mutant] = [m for m in mutants("routeproof.model.overlay") if m.key == "Overlay.line: boundary: 1"]
    former = in_use(mutant)
    sound = [each.__code__ for each in former]
    before = Overlay.line(3)
    try:
        apply(mutant)
        with pytest.raises(OverlayError, match="not connected"):
            Overlay.line(3)
    finally:
        for function, code in zip(former, sound, strict=True):
            function.__code__ = code
    assert Overlay.line(3) == before
