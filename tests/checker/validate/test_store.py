"""What is set aside comes back by key, in order; and what is kept in memory does not grow with it."""

import sys

from routeproof.checker.validate.store import Store


def test_blocks_come_back_in_their_order() -> None:
    with Store() as store:
        for n in range(100):
            store.put(("k", str(n % 3)), b"%d" % n * (n % 5))
        store.put(("other",), b"")
        for key in range(3):
            expected = [b"%d" % n * (n % 5) for n in range(key, 100, 3)]
            assert list(store.blocks(("k", str(key)))) == expected
        assert list(store.blocks(("other",))) == [b""]
        assert list(store.blocks(("nothing",))) == []
        assert store.stored() == [("k", "0"), ("k", "1"), ("k", "2"), ("other",)]
        store.put(("k", "0"), b"later")
        assert list(store.blocks(("k", "0")))[-1] == b"later"


def test_two_lists_are_read_side_by_side() -> None:
    with Store() as store:
        for n in range(10):
            store.put((str(n % 2),), bytes([n]))
        both = list(zip(store.blocks(("0",)), store.blocks(("1",)), strict=True))
        assert both == [(bytes([n]), bytes([n + 1])) for n in range(0, 10, 2)]


def test_memory_has_the_keys_only() -> None:
    with Store() as store:
        store.put(("k",), b"x" * 100)
        before = sys.getsizeof(store._last) + sum(map(sys.getsizeof, store._last.values()))
        for _ in range(1000):
            store.put(("k",), b"x" * 100)
        assert sys.getsizeof(store._last) + sum(map(sys.getsizeof, store._last.values())) == before
