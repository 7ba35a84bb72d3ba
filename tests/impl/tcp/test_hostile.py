"""Strangers, and clients that mean harm: a connection is closed with one line in the log, and no broker dies."""

import asyncio
from pathlib import Path

from routeproof.impl.tcp.codec import Body, Greeting, frame, framed, hello, read_frame
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.setting import Limits
from routeproof.model.overlay import Overlay
from tests.impl.tcp.running import (
    TOKEN,
    TOO_EARLY,
    TREE,
    Local,
    accepted,
    client,
    connected,
    ended,
    eventually,
    mixed,
    running,
    within,
)

HELLO_2 = hello(TOKEN, Greeting(to=2, node=4))
ME = hello(TOKEN, Greeting(to=2, client="me"))

STRANGERS: dict[str, tuple[bytes, str]] = {
    "http": (b"GET / HTTP/1.1\r\nHost: b2\r\n\r\n", "a frame of 1,195,725,856 bytes; expected at most 4,096"),
    "garbage": (framed(b"\x1b[2J\x00\xff"), "not JSON"),
    "escape": (frame({"hello": "\x1b[2J\r\nb2: all is well"}), "version"),
    "long": ((1 << 30).to_bytes(4, "big"), "a frame of 1,073,741,824 bytes"),
    "long-for-a-stranger": (frame({"hello": 1, "x": "x" * 5000}), "expected at most 4,096"),
    "deep": (framed(b'{"a":' * 600 + b"1" + b"}" * 600), "no hello"),
    "empty": (framed(b""), "not JSON"),
    "list": (framed(b"[1]"), "no JSON object"),
    "no-hello": (frame({"n": 1, "m": {"kind": "publish"}}), "no hello"),
    "version": (frame({**HELLO_2, "hello": 99}), "version 99 of the protocol"),
    "token": (frame({**HELLO_2, "run": "guess"}), "the token of another run, or none"),
    "non-neighbour": (frame({**HELLO_2, "node": 5}), "b5, which is no neighbour"),
    "itself": (frame({**HELLO_2, "node": 2}), "b2, which is no neighbour"),
    "lower": (frame({**HELLO_2, "node": 1}), "b1, which does not connect"),
    "elsewhere": (frame({**HELLO_2, "to": 3}), "looks for b3; this is b2"),
}

GUESTS: dict[str, tuple[bytes, str]] = {
    "kind": (frame({"n": 1, "m": {"kind": "subscribe-many", "items": []}}), "a message of the kind"),
    "bad-filter": (
        frame({"n": 1, "m": {"kind": "subscribe", "id": "s", "filter": [["x", "\x07", 1]]}}),
        "predicate 1",
    ),
    "gap": (frame({"n": 5, "m": {}}), "message 5 where 1 comes next"),
    "acknowledges": (frame({"ack": 3}), "message 3 is acknowledged; 0 were sent"),
    "second-hello": (frame(ME), "a frame with the keys"),
    "extra": (frame({"n": 1, "m": {}, "x": 1}), "a frame with the keys"),
    "true": (frame({"n": True, "m": {}}), "a frame with the keys"),
    "too-long": ((1 << 21).to_bytes(4, "big"), "a frame of 2,097,152 bytes; expected at most 1,048,576"),
    "half": (b"\x00\x00\x01\x00half of it", "half a frame, and then nothing for 0.5 s"),
}


def test_hostile_connections_while_a_run_is_going_on(tmp_path: Path) -> None:
    """Each is closed with one line in the log, which says why and holds nothing that a terminal would act on; the run
    is none the worse for it."""

    async def run() -> None:
        async with running(TREE, tmp_path, limits=Limits(patience=0.5)) as brokers:
            driver = Driver(brokers)
            playing = asyncio.create_task(driver.play(mixed(TREE, 300)))
            for data, reason in STRANGERS.values():
                await attack(brokers, data, reason)
            async with asyncio.TaskGroup() as group:
                for number, (data, reason) in enumerate(GUESTS.values()):
                    greeting = frame(hello(TOKEN, Greeting(to=2, client=f"guest-{number}")))
                    group.create_task(attack(brokers, greeting + data, reason))
                group.create_task(attack(brokers, b"", "sent no greeting for 0.5 s"))
                group.create_task(attack(brokers, frame(ME)[:-1], "sent no greeting for 0.5 s"))
                group.create_task(drip(brokers))
                group.create_task(come_and_go(brokers))
            await playing
            assert len(brokers.logs[2]) == len(STRANGERS) + len(GUESTS) + 4
            assert brokers.lines == brokers.logs[2]
            assert brokers.nodes[2].refused == len(brokers.lines)
            assert all(line.isprintable() and line.isascii() and len(line) < 250 for line in brokers.lines)

    within(run())
    assert accepted(TREE, tmp_path)


async def attack(brokers: Local, data: bytes, reason: str) -> None:
    """The broker closes the connection, and says why in one line."""
    async with connected(brokers.addresses[2]) as (reader, writer):
        port = writer.get_extra_info("sockname")[1]
        writer.write(data)
        await ended(reader)
    await said_of(brokers, port, reason)


async def drip(brokers: Local) -> None:
    """Byte by byte: it does not gain time by it."""
    async with connected(brokers.addresses[2]) as (reader, writer):
        port = writer.get_extra_info("sockname")[1]
        over = asyncio.create_task(ended(reader))
        for byte in frame(ME)[:20]:
            if over.done():
                break
            writer.write(bytes([byte]))
            await asyncio.sleep(0.05)
        await over
    await said_of(brokers, port, "sent no greeting for 0.5 s")


async def come_and_go(brokers: Local) -> None:
    async with connected(brokers.addresses[2]) as (_reader, writer):
        port = writer.get_extra_info("sockname")[1]
    await said_of(brokers, port, TOO_EARLY)


async def said_of(brokers: Local, port: int, reason: str) -> None:
    def lines() -> list[str]:
        return [line for line in brokers.logs[2] if f":{port}:" in line]

    await eventually(lines)
    assert len(lines()) == 1
    assert reason in lines()[0], lines()


def test_no_more_strangers_than_there_is_room_for(tmp_path: Path) -> None:
    async def run() -> None:
        limits = Limits(strangers=3)
        async with running(Overlay.of([]), tmp_path, limits=limits) as brokers, asyncio.TaskGroup() as group:
            waiting = [group.create_task(sit(brokers)) for _ in range(8)]
            await eventually(lambda: len(brokers.lines) == 5)
            assert all("3 other connections have not sent a greeting" in line for line in brokers.lines)
            await eventually(lambda: sum(task.done() for task in waiting) == 5)
            for task in waiting:
                task.cancel()

    within(run())


async def sit(brokers: Local) -> None:
    async with connected(brokers.addresses[1]) as (reader, _writer):
        await ended(reader)


def test_an_overrun_window_is_refused(tmp_path: Path) -> None:
    """A guest that does not wait for acknowledgements: its broker keeps no more than the window."""

    async def run() -> None:
        async with running(Overlay.of([]), tmp_path, limits=Limits(window=4)) as brokers:
            node = brokers.nodes[1]
            async with client(brokers.addresses[1], 1) as (reader, writer):
                node._awake = True  # handles nothing
                advertise: Body = {"kind": "advertise", "id": "a", "filter": []}
                for number in range(1, 50):
                    writer.write(frame({"n": number, "m": advertise}))
                await ended(reader)
                assert "message 5 while 4 are unacknowledged" in brokers.lines[0]
                assert len(node.clients["me"].link.queue) == 4

    within(run())


def test_a_newer_connection_takes_the_place_of_an_older(tmp_path: Path) -> None:
    """The same client again, with what it had not heard of: nothing is lost, and nobody is blamed."""

    async def run() -> None:
        async with running(Overlay.of([]), tmp_path) as brokers:
            subscribe: Body = {"kind": "subscribe", "id": "s", "filter": []}
            publish: Body = {"kind": "publish", "id": "p", "of": "a", "attributes": {"x": 1}}
            async with client(brokers.addresses[1], 1) as (reader, writer):
                writer.write(frame({"n": 1, "m": subscribe}) + frame({"n": 2, "m": publish}))
                while "n" not in (heard := await read_frame(reader)):
                    pass
                assert heard == {"n": 1, "m": {**publish, "to": "s"}}
                async with client(brokers.addresses[1], 1) as (again, writing):
                    assert await read_frame(again) == {"ack": 2}
                    assert await read_frame(again) == heard
                    writing.write(frame({"ack": 1}))
                    await ended(reader)
                    await eventually(lambda: brokers.nodes[1].clients["me"].link.waiting == 0)
            assert brokers.lines == []

    within(run())
