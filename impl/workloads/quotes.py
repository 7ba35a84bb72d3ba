"""Stock quotes as 004 publishes and subscribes to them: drawn, since the data set of the paper is not at hand.

`Quotes` draws what one stock did, day after day; `wanted` is a subscription of one of the three rates. The two
conditions of subscriptions hold for a tenth and for a half of the quotes, independently of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

LOW, MEDIUM, HIGH = "low", "medium", "high"

SWING = 0.15
"""Low subscriptions want a highLow%Diff above this: about 10 % of the quotes."""
VOLUME = 1_000_000
MOVE = 0.025
"""Medium subscriptions want a volume and an openClose%Diff above these: about 50 % of the quotes."""

MOST = 0.12
"""Of an openClose%Diff: such a move fits into a day that does not swing."""

LOW_SHARE = 0.1
MEDIUM_SHARE = 0.5

FIRST_DAY = date(1996, 9, 5)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def wanted(symbol: str, rate: str) -> list[list[object]]:
    """The three templates of 004 V-A."""
    stock: list[list[object]] = [["class", "=", "STOCK"], ["symbol", "=", symbol]]
    conditions: dict[str, list[list[object]]] = {
        LOW: [["highLow%Diff", ">", SWING]],
        MEDIUM: [["volume", ">", VOLUME], ["openClose%Diff", ">", MOVE]],
        HIGH: [],
    }
    return [*stock, *conditions[rate]]


def promised(symbol: str) -> list[list[object]]:
    """What the publisher of a stock advertises."""
    return [["class", "=", "STOCK"], ["symbol", "=", symbol]]


def symbol(number: int) -> str:
    """AAAA, AAAB, ...: a name of four letters for each stock."""
    letters = ""
    for _ in range(4):
        number, letter = divmod(number, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def quotes(symbol: str, random: Random) -> Iterator[dict[str, object]]:
    """Without end; one trading day each. Prices in cents follow from the two differences, which are drawn first."""
    day = FIRST_DAY
    opening = random.uniform(10, 100)
    while True:
        busy = random.random() < MEDIUM_SHARE
        volume, move = _busy(random) if busy else _quiet(random)
        swings = random.random() < LOW_SHARE
        # A swing is never smaller than the move from open to close; in percent of the low price it is a little more.
        swing = random.uniform(SWING + 0.001, 2 * SWING) if swings else random.uniform(move / (1 - move), SWING)
        closing = opening * (1 + move * random.choice((-1, 1)))
        yield _quote(symbol, day, opening, closing, swing, volume, move, random)
        opening = closing if 5 < closing < 500 else random.uniform(10, 100)
        day += timedelta(days=3 if day.weekday() == 4 else 1)


def _busy(random: Random) -> tuple[int, float]:
    return random.randrange(VOLUME + 100, 10 * VOLUME, 100), random.uniform(MOVE + 0.001, MOST)


def _quiet(random: Random) -> tuple[int, float]:
    """Not both: either few were sold, or the price stayed where it was."""
    if random.random() < 0.5:
        return random.randrange(1_000, VOLUME + 1, 100), random.uniform(0, MOST)
    return random.randrange(1_000, 10 * VOLUME, 100), random.uniform(0, MOVE)


def _quote(
    symbol: str, day: date, opening: float, closing: float, swing: float, volume: int, move: float, random: Random
) -> dict[str, object]:
    """The range from low to high is laid around open and close; what is left over goes to either side, or to both."""
    bottom, top = min(opening, closing), max(opening, closing)
    # The lowest that the low can be is where high = top, and high / low = 1 + swing.
    low = bottom - max(0.0, bottom - top / (1 + swing)) * random.choice((0.0, random.random(), 1.0))
    high = max(top, low * (1 + swing))
    return {
        "class": "STOCK",
        "symbol": symbol,
        "open": round(opening, 2),
        "high": round(high, 2),
        "low": round(low, 2),
        "close": round(closing, 2),
        "volume": volume,
        "date": f"{day.day}-{MONTHS[day.month - 1]}-{day.year % 100:02}",
        "openClose%Diff": round(move, 4),
        "highLow%Diff": round(swing, 4),
        "closeEqualsLow": str(round(closing, 2) == round(low, 2)).lower(),
        "closeEqualsHigh": str(round(closing, 2) == round(high, 2)).lower(),
    }
