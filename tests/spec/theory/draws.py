"""Predicates and events at random, of few and near constants, so that they have something to do with each other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from routeproof.model.filters.interface import exact
from routeproof.spec.theory.filters.predicates import FORMS, Form

NUMBERS = st.one_of(
    st.integers(-2, 2),
    st.sampled_from([0.1, 0.5, -0.5, 1.5, 2.0, 2.5, 1e300, -1e300, 2**53 + 1, 9007199254740992.0, 10**40]),
    st.floats(-3, 3).map(lambda number: round(number, 1)),
)
FEW_NUMBERS = st.sampled_from([-1, 0, 0.5, 1, 1.5, 2, 3.0])


def texts(longest: int, alphabet: str = "\0\1ab\U0010fffe\U0010ffff") -> st.SearchStrategy[str]:
    return st.text(alphabet=alphabet, max_size=longest)


def predicates(
    numbers: st.SearchStrategy[int | float], strings: st.SearchStrategy[str], forms: Sequence[Form] = FORMS
) -> st.SearchStrategy[tuple[Form, int | float | str | bool | None]]:
    """A form with its constant as it is written."""
    constants = {"number": numbers, "string": strings, "boolean": st.booleans(), "": st.none()}
    return st.sampled_from(forms).flatmap(lambda form: st.tuples(st.just(form), constants[form.kind]))


def written(form: Form, constant: object, attribute: str = "x") -> list[object]:
    return [attribute, form.operator] if constant is None else [attribute, form.operator, constant]


def meant(constant: object) -> object:
    """What the model makes of a constant: numbers are exact from there on."""
    return exact(constant) if isinstance(constant, float | Fraction) else constant
