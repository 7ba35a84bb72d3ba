"""Hostile connections to running brokers: strangers, guests and neighbours that say what they should not.

A case is a run of five brokers with honest clients and, meanwhile, thirty hostile connections. Each of these is closed
with a line in a log, which holds nothing that a terminal would act on. No broker dies, and the run is
one that the protocol allows.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import traceback
from pathlib import Path
from random import Random

from attrs import frozen

from routeproof.impl.tcp.codec import HEAD, Body, Greeting, frame, framed, hello
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.setting import Limits
from tests.attack import damage
from tests.attack.case import Case, Played
from tests.attack.command import memory
from tests.impl.tcp.running import TOKEN, TREE, Local, accepted, connected, ended, mixed, running, within

CONNECTIONS = 30
"""Hostile ones in a run."""

PATIENCE = 0.3
"""Seconds that a broker waits for the rest of a frame."""

MEMORY = 300 << 20
"""Bytes that a run may need more than the process had before."""

MESSAGES: tuple[Body, ...] = (
    {"kind": "advertise", "id": "h-a", "filter": [["x", ">=", 0]]},
    {"kind": "subscribe", "id": "h-s", "filter": [["x", "=", 5]]},
    {"kind": "unsubscribe", "id": "h-s"},
    {"kind": "unadvertise", "id": "h-a"},
    {"kind": "publish", "id": "h-p", "of": "h-a", "attributes": {"x": 5}},
    {"kind": "subscribe-many", "items": [{"id": "h-s", "filter": []}]},
)


@frozen
class Hostile:
    """What somebody says to a broker, in pieces with pauses between them."""

    about: str
    pieces: tuple[bytes, ...]
    pause: float = 0.0


@frozen
class Attacked:
    """A run of brokers, and who attacks it."""

    about: str
    hostile: tuple[Hostile, ...]
    seed: int
    seconds: float = 40.0

    def play(self, here: Path) -> Played:
        before = memory("VmRSS")
        complaints: list[str] = []
        with contextlib.redirect_stdout(io.StringIO()) as out:
            try:
                within(self._run(here, complaints), self.seconds)
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it is, it is a complaint
                complaints.append("".join(traceback.format_exception(error))[-1500:])
            else:
                if not accepted(TREE, here):
                    complaints.append(f"the run is not accepted: {out.getvalue()[:500]}")
        if (more := memory("VmHWM") - before) > MEMORY:
            complaints.append(f"needed {more >> 20} MiB; expected at most {MEMORY >> 20} MiB")
        return Played("withstood" if not complaints else "failed", complaints)

    async def _run(self, here: Path, complaints: list[str]) -> None:
        async with running(TREE, here, limits=Limits(patience=PATIENCE, stall=1.0)) as brokers:
            playing = asyncio.create_task(Driver(brokers).play(mixed(TREE, 60, self.seed)))
            async with asyncio.TaskGroup() as group:
                for number, each in enumerate(self.hostile):
                    group.create_task(_attack(brokers, 1 + number % 5, each, complaints))
            await playing
            lines = brokers.lines
            if len(lines) > 2 * len(self.hostile):  # one that has the run's token may cut an honest one off
                complaints.append(f"{len(lines)} lines in the logs for {len(self.hostile)} connections")
            complaints += [f"logged: {line[:300]!r}" for line in lines if not (line.isascii() and line.isprintable())]
            complaints += [f"a line of {len(line)} characters" for line in lines if len(line) > 300]
            complaints += [f"a broker failed: {error!r}" for error in brokers.failures]


async def _attack(brokers: Local, node: int, hostile: Hostile, complaints: list[str]) -> None:
    async with connected(brokers.addresses[node]) as (reader, writer):
        with contextlib.suppress(OSError):  # the broker may have closed it already
            for piece in hostile.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(hostile.pause)
            writer.write_eof()
        try:
            await ended(reader)
        except TimeoutError:
            complaints.append(f"the connection stays open: {hostile.about}")


def case(rng: Random) -> Case:
    hostile = tuple(_hostile(rng, number) for number in range(CONNECTIONS))
    return Attacked("; ".join(each.about for each in hostile), hostile, rng.randrange(1000))


def _hostile(rng: Random, number: int) -> Hostile:
    to = 1 + number % 5
    greeting = hello(TOKEN, Greeting(to=to, client=f"guest-{number}"))
    match rng.randrange(6):
        case 0:
            return _cut(rng, "noise", rng.randbytes(rng.choice((1, 3, 5, 100, 5000))))
        case 1:
            about = damage.tree(rng, greeting)
            return _cut(rng, f"a greeting: {about}", _framed(rng, greeting))
        case 2:
            other: Body = {
                **hello(TOKEN, Greeting(to=to, node=rng.choice((1, 2, 4, 6, 99)))),
                "run": rng.choice((TOKEN, "guess")),
            }
            if other["run"] == TOKEN:
                other["to"] = rng.choice((0, -1, 6, to + 1, 1 << 70))
            return _cut(rng, f"a broker that is none: {other}", frame(other))
        case _:
            said, data = _talk(rng, number)
            return _cut(rng, f"a guest: {said}", frame(greeting) + data)


def _talk(rng: Random, number: int) -> tuple[str, bytes]:
    """The words of a client once it has been welcomed: a few good messages, and then a damaged one.

    Its ids are its own: of two clients with one id at brokers far apart neither broker can know.
    """
    good = rng.randrange(3)
    data = b"".join(frame({"n": n, "m": {"kind": "unsubscribe", "id": f"h{number}-{n}"}}) for n in range(1, good + 1))
    message = json.loads(json.dumps(rng.choice(MESSAGES)).replace('"h-', f'"h{number}-'))
    body: Body = {"n": good + 1, "m": message}
    if rng.random() < 0.15:
        body = {"ack": rng.choice((-1, 0, 1, 5, 1 << 70, 1.5, "1", None))}
        return f"{body}", data + frame(body)
    about = "; ".join(damage.tree(rng, rng.choice((body, message)) or body) for _ in range(rng.choice((1, 1, 2))))
    return about, data + _framed(rng, body)


def _framed(rng: Random, body: Body) -> bytes:
    """A frame, sometimes with bytes damaged or of another length than it says."""
    text = json.dumps(body).encode("ascii")
    match rng.randrange(8):
        case 0:
            return framed(damage.flip(text, rng))
        case 1:
            length = rng.choice((0, 1, len(text) - 1, len(text) + 1, 1 << 20, (1 << 20) + 1, (1 << 32) - 1))
            return length.to_bytes(HEAD, "big") + text
        case 2:
            return framed(text)[: rng.randrange(len(text) + HEAD)]
        case _:
            return framed(text)


def _cut(rng: Random, about: str, data: bytes) -> Hostile:
    """The same at once, or in pieces."""
    if rng.random() < 0.7 or len(data) < 2:
        return Hostile(about, (data,))
    at = rng.randrange(1, len(data))
    return Hostile(f"{about} (in pieces)", (data[:at], data[at:]), rng.choice((0.0, 0.01, PATIENCE * 2)))
