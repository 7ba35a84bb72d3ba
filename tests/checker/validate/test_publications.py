"""What is remembered of publications: the same as what was told, in bounded room, and nothing that is out of date."""

from typing import Any

import msgspec
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from routeproof.checker.validate.broker import publications
from routeproof.checker.validate.broker.canonical import canonical_in_trace, publication_digest
from routeproof.checker.validate.broker.canonical import digest as digest_of
from routeproof.checker.validate.broker.publications import MOST, SOME, Publications, Written, key_of
from routeproof.checker.validate.fast import Universe
from routeproof.model.filters import STRICT, Constant, EventSet
from routeproof.model.filters.predicate_filter import ATTRIBUTES, NAME_LENGTH
from routeproof.model.messages import Subscription
from routeproof.traces import TraceMessage
from routeproof.traces.fields import plain_table
from routeproof.traces.messages import Meanings, meanings_of


class All:
    """A holder of every slot."""

    def slots_held(self) -> int:
        return -1

    def promises_held(self) -> int:
        return -1


ALL = All()

P, Q = key_of("p", "", 1), key_of("q", "", 1)
"""Keys of two publications."""


def subscribed(universe: Universe, *ids: str) -> list[int]:
    universe.join(ALL)
    return [universe.slot(Subscription(0, id, EventSet.of([0]))) for id in ids]


@pytest.mark.parametrize("widest", [1 << 16, 1])
def test_what_is_kept_is_found(widest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With slots in two bytes or in four."""
    monkeypatch.setattr(publications, "WIDEST", widest)
    universe = Universe()
    slots = subscribed(universe, *(f"s{n}" for n in range(300)))
    known = Publications(universe)
    known.come_round = True
    told: dict[Written, tuple[int, list[int]]] = {
        ("p", "", 1): (-5, slots),
        ("q", "a", b"{}"): (1 << 62, []),
        ("r", "", b"x"): (0, [299, 7]),
    }
    for written, (digest, matching) in told.items():
        known.keep(key_of(*written), digest, matching)
    found = [known.find(written) for written in told]
    entries = [entry for entry in found if entry is not None]
    assert [known.digest(entry) for entry in entries] == [digest for digest, _ in told.values()]
    assert [known.answer(entry).mask for entry in entries] == [sum(1 << n for n in m) for _, m in told.values()]
    unpacked = known.unpacked(entries)
    assert unpacked.digests.tolist() == [digest for digest, _ in told.values()]
    assert unpacked.counts.tolist() == [300, 0, 2]
    for (_, matching), first, count in zip(told.values(), unpacked.firsts, unpacked.counts, strict=True):
        assert unpacked.slots[first : first + count].tolist() == matching
    assert known.find(("p", "", 2)) is None


def test_with_a_newcomer_all_is_out_of_date() -> None:
    universe = Universe()
    known = Publications(universe)
    known.come_round = True
    known.keep(P, 1, subscribed(universe, "s"))
    assert known.find_all([P])[0] is not None
    subscribed(universe, "t")
    assert known.find_all([P])[0] is None
    known.keep(Q, 2, [0, 1])
    assert known.find_all([P])[0] is None
    assert known.find_all([Q])[0] is not None


def test_few_are_kept_until_one_comes_up_again() -> None:
    known = Publications(Universe())
    for n in range(100 * SOME):
        known.keep(n, n, [])
    assert size(known) == 100
    assert known.find_all([SOME])[0] is not None
    for n in range(100 * SOME):
        known.keep(n, n, [])
    assert size(known) == 100 * SOME


def test_there_is_a_bound_and_the_first_stay() -> None:
    known = Publications(Universe())
    known.come_round = True
    for n in range(2 * MOST):
        known.keep(n, n, [])
    assert size(known) == MOST
    stayed = sum(known.find_all([n])[0] is not None for n in range(MOST))
    assert MOST * 9 // 10 < stayed < MOST


def size(known: Publications) -> int:
    entries: dict[Any, Any] = known._entries
    return len(entries)


# -- plain attributes --------------------------------------------------------------------------------------------------

NUMBERS = "5", "5.0", "-0.0", "0.1", "1e2", "1e23", "9007199254740993", "-3.75", "1E400"
VALUES = (*NUMBERS, "true", '"x"', '"5"', '"a: b"', '"\\u00e9"')
NAMES = ('"a"', '"b"', '"c"', '""', '"a" ', '"\\ud800"')
FILTERS: tuple[list[list[object]], ...] = (
    [["a", "=", 5]],
    [["a", ">", 0.1]],
    [["a", "!=", "x"], ["b", "<=", 100]],
    [["a", "=", 0.1], ["b", "=", 0.1]],
    [["b", "=", True]],
    [["c", "present"]],
    [],
)


def test_digests_tell_values_apart() -> None:
    """Those too that MessagePack does not have."""
    values = [
        "5",
        "5.5",
        "true",
        "1",
        '"5"',
        "1e30",
        "1" + 30 * "0" + "1",
        "-18446744073709551617",
        '"\\ud800"',
        '"\\ud801"',
    ]
    texts = [f'{{"a":{value}}}' for value in values] + ["{}", '{"b":5}', '{"a":5,"b":5}', '{"a":5,"b":1e30}']
    told = [TraceMessage("publish", "p", attributes_text=Raw(text.encode()), meanings=MEANINGS) for text in texts]
    assert len({digest_of(canonical_in_trace(message)) for message in told}) == len(texts)
    one, other = (f'{{"a":{values},"b":1}}' for values in ("5.0", "5"))
    same = [TraceMessage("publish", "p", attributes_text=Raw(t.encode()), meanings=MEANINGS) for t in (one, other)]
    assert len({digest_of(canonical_in_trace(message)) for message in same}) == 1


MEANINGS = meanings_of(STRICT)


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=4))
def test_what_is_read_fast_is_what_is_read(pairs: list[tuple[str, str]]) -> None:
    """Digest and matches of a publication, where it is read fast; and nothing is read fast that cannot be read."""
    text = ("{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}").encode()
    meanings, universe = meanings_of(STRICT), Universe()
    universe.join(ALL)
    for number, wants in enumerate(FILTERS):
        universe.slot(Subscription(number, f"s{number}", STRICT.parse(wants)))
    plain = meanings.plain(text)
    if plain is None:
        return
    message = TraceMessage("publish", "p", of="a", attributes_text=Raw(text), meanings=meanings)
    event = message.event
    assert event is not None
    assert publication_digest("p", "a", plain) == digest_of(canonical_in_trace(message))
    assert sorted(universe.subscriptions.matching_plain(plain)) == sorted(universe.subscriptions.matching_once(event))


@pytest.mark.parametrize("text", [b'{"a":1,"a":2}', b'{"a":1e400}', b'{"":1}', b'{"a":null}', b'{"a":"b:c"}', b"[]"])
def test_what_is_not_plain_is_left(text: bytes) -> None:
    assert meanings_of(STRICT).plain(text) is None


EDGES = (*(str((1 << 53) + n) for n in (-1, 0, 1)), f"-{1 << 53}", "9007199254740991.0", "9007199254740992.0", "1e308")
TEXTS = st.one_of(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from((*VALUES, *EDGES, "null", "[1]"))), max_size=4).map(
        lambda pairs: ("{" + ", ".join(f"{name}:{value}" for name, value in pairs) + "}").encode()
    ),
    st.tuples(st.integers(255, 258), st.sampled_from("aé𝄞")).map(lambda n: f'{{"{n[0] * n[1]}": 1}}'.encode()),
    st.tuples(st.integers(255, 258), st.just("\\u00e9")).map(lambda n: f'{{"{n[0] * n[1]}": 1}}'.encode()),
    st.integers(1023, 1026).map(lambda n: ("{" + ",".join(f'"{i}":{i}.5' for i in range(n)) + "}").encode()),
    st.floats().map(lambda value: f'{{"a":{value!r}}}'.encode()),
    st.integers(-(1 << 65), 1 << 65).map(lambda value: f'{{"a":{value}}}'.encode()),
    st.binary(max_size=12),
)


@given(TEXTS)
def test_limits_of_plain_attributes_are_those_of_the_definition(text: bytes) -> None:
    """The reader refuses by itself what is looked for here, one attribute after the other."""
    try:
        values = msgspec.json.decode(text, type=dict[str, Constant])
    except (msgspec.DecodeError, UnicodeDecodeError):
        assert plain_table(text) is None
        return
    numbers = [value for value in values.values() if isinstance(value, int | float)]
    is_plain = (
        text.count(b":") == len(values) <= ATTRIBUTES
        and all(0 < len(name) <= NAME_LENGTH for name in values)
        and all(-(1 << 53) < number < 1 << 53 for number in numbers)
    )
    whole = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in values.items()}
    assert repr(plain_table(text)) == repr(whole if is_plain else None)


def test_plain_attributes_are_read_fast() -> None:
    """A float that is a whole number is one."""
    assert repr(meanings_of(STRICT).plain(b'{"b":5.0,"a":0.1}')) == "{'b': 5, 'a': 0.1}"


def test_a_dialect_with_a_reading_of_its_own_reads_all_itself() -> None:
    assert Meanings(evolve(STRICT, name="lower", reading=lambda each: each)).plain(b'{"a":1}') is None


def test_names_that_are_what_is_published_have_keys_of_their_own() -> None:
    """A broker may take the content for the id, and the id for the name of the advertisement."""
    texts = [f'{{"x":{n}}}' for n in range(30)]
    written: list[Written] = [(id, of, event.encode()) for id in texts for of in ("", *texts) for event in texts]
    assert len({key_of(*each) for each in written}) == len(written)
