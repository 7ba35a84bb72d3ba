"""Line charts as SVG, without a library: `Chart(...).svg()` is the text of a file that any browser shows.

A chart has series over one axis of numbers, straight ticks at round values, and a legend at the right. Whatever is
written on it is escaped. Colours are those of Okabe and Ito, which people with any kind of colour vision can
distinguish.

`figures` gives the plots of a run: which of its metrics are drawn, and how, each as a name and a chart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate

from attrs import field, frozen

from routeproof.impl.observers import Metrics, histogram
from routeproof.impl.simulator import SECOND
from routeproof.model.overlay import Node

WIDTH, HEIGHT = 900, 420
LEFT, RIGHT, TOP, BOTTOM = 84, 170, 46, 58
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00")
DASHES = ("", "7 4", "2 3")
"""Once the colours are used up."""

MOST_POINTS = 1_000
"""Points of a line in the file, at most; more than a screen has columns."""
TICKS = 6

Point = tuple[float, float]


@frozen
class PlotLine:
    """A line. `steps`: the value stays until the next point, as a count does."""

    name: str
    points: Sequence[Point]
    steps: bool = False


@frozen
class Chart:
    title: str
    x: str
    y: str
    series: Sequence[PlotLine]
    log_x: bool = False
    log_y: bool = False
    """Values of 0 and below are drawn at the axis."""
    most_y: float | None = field(default=None)
    """The top of the axis; the largest value where it is left out."""

    def svg(self) -> str:
        values = [y for s in self.series for _, y in s.points]
        across = _Axis.over((x for s in self.series for x, _ in s.points), LEFT, WIDTH - RIGHT, self.log_x)
        up = _Axis.over([*values, *(() if self.log_y else (0.0,))], HEIGHT - BOTTOM, TOP, self.log_y, self.most_y)
        size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13" fill="#222222">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            _text(LEFT, 26, self.title, size=16),
            *_across(across, self.x),
            *_up(up, self.y),
        ]
        if not values:
            parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT / 2, "nothing to show", anchor="middle"))
        for number, series in enumerate(self.series):
            parts += _line(series, across, up, *_style(number))
            parts += _legend(series.name, number)
        return "\n".join([*parts, "</svg>", ""])


@frozen
class _Axis:
    """Numbers to pixels. A logarithmic axis is of whole powers of ten."""

    least: float
    most: float
    start: float
    end: float
    log: bool

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float, log: bool, most: float | None = None) -> _Axis:
        shown = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        least, top = (min(shown), max(shown)) if shown else (1.0, 1.0)
        top = top if most is None else most
        if log:
            least, top = 10 ** math.floor(math.log10(least)), 10 ** math.ceil(math.log10(top))
            return cls(least, top if top > least else least * 10, start, end, log)
        return cls(least, top if top > least else least + 1, start, end, log)

    def at(self, value: float) -> float:
        if self.log:
            value = max(value, self.least)
            share = math.log(value / self.least) / math.log(self.most / self.least)
        else:
            share = (value - self.least) / (self.most - self.least)
        return self.start + (self.end - self.start) * share

    def ticks(self) -> list[float]:
        """Round numbers: powers of ten, or multiples of 1, 2 or 5 times one."""
        if self.log:
            low, high = round(math.log10(self.least)), round(math.log10(self.most))
            step = max(1, math.ceil((high - low) / TICKS))
            return [float(10**power) if power >= 0 else 10.0**power for power in range(low, high + 1, step)]
        raw = (self.most - self.least) / TICKS
        power = 10 ** math.floor(math.log10(raw))
        step_size = next(power * times for times in (1, 2, 5, 10) if power * times >= raw * 0.999)
        first = math.ceil(self.least / step_size - 1e-9)
        last = math.floor(self.most / step_size + 1e-9)
        return [n * step_size for n in range(first, last + 1)]


def _across(axis: _Axis, label: str) -> list[str]:
    bottom = HEIGHT - BOTTOM
    parts = [_stroke(LEFT, bottom, WIDTH - RIGHT, bottom, "#222222")]
    for tick in axis.ticks():
        x = axis.at(tick)
        parts += [_stroke(x, bottom, x, bottom + 5, "#222222"), _text(x, bottom + 20, number(tick), anchor="middle")]
    return [*parts, _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, label, anchor="middle")]


def _up(axis: _Axis, label: str) -> list[str]:
    parts = []
    for tick in axis.ticks():
        y = axis.at(tick)
        parts += [_stroke(LEFT, y, WIDTH - RIGHT, y, "#dddddd"), _text(LEFT - 8, y + 4, number(tick), anchor="end")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'<g transform="rotate(-90 18 {_pixel(middle)})">{_text(18, middle, label, anchor="middle")}</g>'
    return [*parts, turned]


def _line(series: PlotLine, across: _Axis, up: _Axis, colour: str, dashes: str) -> list[str]:
    points = [(across.at(x), up.at(y)) for x, y in thinned(series.points) if math.isfinite(x) and math.isfinite(y)]
    if not points:
        return []
    path = [f"M{_pixel(points[0][0])} {_pixel(points[0][1])}"]
    for x, y in points[1:]:
        path.append(f"H{_pixel(x)}V{_pixel(y)}" if series.steps else f"L{_pixel(x)} {_pixel(y)}")
    style = f'fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round"{dashes}'
    return [f'<path d="{"".join(path)}" {style}><title>{escape(series.name)}</title></path>']


def _legend(name: str, row: int) -> list[str]:
    colour, dashes = _style(row)
    x, y = WIDTH - RIGHT + 16, TOP + 10 + 20 * row
    return [
        f'<line x1="{x}" y1="{y}" x2="{x + 22}" y2="{y}" stroke="{colour}" stroke-width="3"{dashes}/>',
        _text(x + 30, y + 4, name if len(name) <= 16 else name[:15] + "…"),
    ]


def _style(number: int) -> tuple[str, str]:
    """The colour and, once the colours are used up, the attribute for dashes."""
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    return COLOURS[number % len(COLOURS)], f' stroke-dasharray="{dash}"' if dash else ""


def thinned(points: Sequence[Point]) -> Sequence[Point]:
    """At most some thousand, so chosen that no peak and no valley is lost: the extremes of each stretch, in order."""
    if len(points) <= MOST_POINTS:
        return points
    stretch = math.ceil(len(points) / (MOST_POINTS // 4))
    kept: list[Point] = []
    for begin in range(0, len(points), stretch):
        part = range(begin, min(begin + stretch, len(points)))
        least, most = min(part, key=lambda i: points[i][1]), max(part, key=lambda i: points[i][1])
        kept += [points[i] for i in sorted({part[0], least, most, part[-1]})]
    return kept


def number(value: float) -> str:
    """Writes a number as briefly as it can be: 1500000 is 1.5M."""
    for unit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit * 10 or (abs(value) >= unit and unit > 1e3):
            return f"{value / unit:.4g}{suffix}"
    return f"{value:.4g}"


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{_pixel(x)}" y="{_pixel(y)}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    x1_, y1_, x2_, y2_ = (_pixel(each) for each in (x1, y1, x2, y2))
    return f'<line x1="{x1_}" y1="{y1_}" x2="{x2_}" y2="{y2_}" stroke="{colour}" stroke-width="1"/>'


def _pixel(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


TIME = "virtual time (s)"
WINDOWS = 200
"""Stretches of the run in which delays over time are gathered."""


def figures(metrics: Metrics, watched: Mapping[Node, str], of: str) -> Iterator[tuple[str, Chart]]:
    """`watched` are the brokers to show, by name; `of` says whose run it is, in every title.

    What is there for the sake of publications is shown from the first of them on: subscribing may take far longer.
    """
    first = (metrics.first_published or 0) / SECOND

    def over_time(title: str, y: str, column: str, since: float = 0) -> Chart:
        lines = [
            PlotLine(name, [p for p in _points(metrics, metrics.series(column, b)) if p[0] >= since], steps=True)
            for b, name in watched.items()
        ]
        return Chart(f"{title}: {of}", TIME, y, lines)

    total = "publications, since the start"
    yield "queue", over_time("Input queue", "messages waiting", "queue", first)
    yield "table", over_time("Routing table", "subscriptions", "table")
    yield (
        "triggered",
        over_time("Sent because of unsubscriptions", "subscriptions, since the start", "triggered", first),
    )
    yield "false-positives", over_time("False positives", total, "false_positives", first)
    yield "messages", _messages(metrics, of)
    yield "delay", _delay(metrics, of)
    yield "delay-cdf", _distribution(metrics, of)


def _messages(metrics: Metrics, of: str) -> Chart:
    totals = {kind: metrics.total(kind) for kind in metrics.kinds.values()}
    lines = [PlotLine(k, _points(metrics, values), steps=True) for k, values in totals.items() if values[-1]]
    return Chart(f"Messages handled by all brokers: {of}", TIME, "messages, since the start", lines, log_y=True)


def _delay(metrics: Metrics, of: str) -> Chart:
    """Over the time of delivery: the mean and the longest of each stretch."""
    gathered: dict[int, list[int]] = {}
    begin = metrics.first_published or 0
    length = metrics.times[-1] + 1 - begin
    for time, delay in zip(metrics.delivered_at, metrics.delays, strict=True):
        gathered.setdefault((time - begin) * WINDOWS // length, []).append(delay)

    def line(name: str, pick: Callable[[list[int]], float]) -> PlotLine:
        middle = [(begin + (window + 0.5) * length / WINDOWS, many) for window, many in sorted(gathered.items())]
        return PlotLine(name, [(time / SECOND, pick(many) / SECOND) for time, many in middle])

    lines = [line("longest", max), line("mean", lambda many: sum(many) / len(many))]
    return Chart(f"Delay of publications: {of}", TIME, "delay (s)", lines, log_y=True)


def _distribution(metrics: Metrics, of: str) -> Chart:
    buckets = histogram(metrics.delays)
    counts = accumulate(bucket.count for bucket in buckets)
    points = [(b.most / SECOND, n / len(metrics.delays)) for b, n in zip(buckets, counts, strict=True)]
    series = [PlotLine("all deliveries", [*((bucket.above / SECOND, 0.0) for bucket in buckets[:1]), *points])]
    title = f"Delay of publications, cumulative: {of}"
    return Chart(title, "delay (s)", "share of deliveries", series, log_x=True, most_y=1.0)


def _points(metrics: Metrics, values: list[int]) -> list[Point]:
    return [(time / SECOND, value) for time, value in zip(metrics.times, values, strict=True)]
