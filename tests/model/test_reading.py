"""What is said of a value that cannot be read: what was expected, and what may have been meant."""

from __future__ import annotations

import pytest

from routeproof.model.reading import LISTED, PREFIX, Place, did_you_mean


def refused(value: object, names: list[str]) -> str:
    with pytest.raises(ValueError, match="expected") as error:
        Place("x", "key", value).one_of(names)
    return str(error.value).partition("expected ")[2]


def test_the_words_that_are_known() -> None:
    names = [f"n{at}" for at in range(LISTED + 1)]
    assert refused("z", names[:2]) == "one of n0, n1"
    assert refused("z", names[:1]) == "n0"
    assert refused("n", names[:1]) == "n0"
    assert refused("north", ["northern", "south"]) == "one of northern, south (did you mean northern?)"
    assert refused("z", names[:-1]) == f"one of {', '.join(names[:-1])}"
    assert refused("z", names) == f"one of {', '.join(names[:-1])}, ..."


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("NORTH", ["north", "south"], "north"),
        ("nor", ["northwards", "north", "norse"], "norse"),
        ("no"[:PREFIX], ["nothing"], "nothing" if len("no") >= PREFIX else ""),
        ("sotuh", ["north", "south"], "south"),
        ("x", ["north", "south"], ""),
        ("North", ["NORTH", "north"], "NORTH"),
        ("q" * 64 + "north", ["q" * 64], "q" * 64),
        ("a" * 29 + "c" * 50, ["a" * 29 + "bbb"], "a" * 29 + "bbb"),  # the first 64 characters are just near enough
    ],
)
def test_the_name_that_is_near(word: str, known: list[str], meant: str) -> None:
    assert did_you_mean(word, known) == (f" (did you mean {meant}?)" if meant else "")


def test_a_line_that_is_as_long_as_may_be() -> None:
    assert Place("x", "key", "a" * 5).line(5) == "aaaaa"
    with pytest.raises(ValueError, match="6 characters"):
        Place("x", "key", "a" * 6).line(5)


def test_the_first_key_that_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match='unknown key "p"'):
        Place("x", "", {"p": 1, "q": 2}).table((), ())
    with pytest.raises(ValueError, match="no key a"):
        Place("x", "", {}).table(("a", "b"), ())
