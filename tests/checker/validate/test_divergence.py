"""What a broker sent is compared first as messages, and in its order only where the messages are the same."""

from routeproof.checker.validate.broker.canonical import CanonicalMessage
from routeproof.checker.validate.broker.comparison import Divergence, blame, divergence
from routeproof.model.filters import EventSet
from routeproof.model.tables import Tables

NEW = CanonicalMessage("subscribe", (("s", EventSet.of([1])),))
OTHER = CanonicalMessage("subscribe", (("t", EventSet.of([2])),))
GONE = CanonicalMessage("unsubscribe", (("u", None),))


def compared(wanted: list[CanonicalMessage], seen: list[CanonicalMessage], level: str = "exact") -> Divergence | None:
    places = [(said, (seq, seq + 1)) for seq, said in enumerate(seen, 10)]
    return divergence("exact" if level == "exact" else "equivalent", wanted, places)


def test_a_forgotten_subscription_is_missing_and_no_matter_of_order() -> None:
    """The withdrawal stands where the addition should be: it is right all the same, and the addition is missing."""
    for level in ("exact", "equivalent"):
        found = compared([NEW, GONE], [GONE], level)
        assert found == Divergence(None, NEW, None)
        assert blame("unsubscribe", Tables(), "active", found.missing, found.extra) == "RTE-6"


def test_a_message_too_many_is_named() -> None:
    assert compared([GONE], [NEW, GONE]) == Divergence((10, 11), None, NEW)
    assert compared([GONE], [GONE, GONE]) == Divergence((11, 12), None, GONE)


def test_order_counts_where_the_messages_are_the_same() -> None:
    swapped = compared([NEW, OTHER], [OTHER, NEW])
    assert swapped == Divergence((10, 11), NEW, OTHER, is_order=True, only_order=True)
    assert compared([NEW, OTHER], [OTHER, NEW], "equivalent") is None
    early = compared([NEW, GONE], [GONE, NEW])
    assert early == Divergence((10, 11), NEW, GONE, is_order=True)
    assert compared([NEW, GONE], [GONE, NEW], "equivalent") == Divergence(
        (11, 12), None, NEW, early=True, is_order=True
    )
    assert compared([NEW, GONE], [NEW, GONE]) is None
