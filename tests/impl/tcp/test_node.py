"""Nodes on real sockets, all in this process: what they record is what the protocol allows, whatever befalls the links,
and nothing they keep grows without bound."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from routeproof.impl.simulator import Operation
from routeproof.impl.tcp.codec import ID_LENGTH
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.frames import Body, frame, framed, read_frame
from routeproof.impl.tcp.greeting import Greeting, hello
from routeproof.impl.tcp.peer import Peer
from routeproof.impl.tcp.process import counts, summary
from routeproof.impl.tcp.processes import ANSWER_MOST
from routeproof.impl.tcp.setting import LOOPBACK, Limits
from routeproof.impl.workloads.workload import Ids
from routeproof.model.filters import STRICT
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Advertise, Publication, Publish, Subscribe
from routeproof.model.overlay import Overlay
from routeproof.traces import Event, read_trace
from tests.impl.tcp.running import (
    TOKEN,
    TOO_EARLY,
    TREE,
    Local,
    Proxy,
    accepted,
    client,
    connected,
    ended,
    eventually,
    flood,
    mixed,
    running,
    within,
)


def events(directory: Path) -> list[Event]:
    """Of the trace that `accepted` has put together."""
    trace = read_trace(directory / "trace.jsonl")
    assert not trace.bad
    return list(trace.events)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_is_accepted(tmp_path: Path, policy: str) -> None:
    async def run() -> Driver:
        async with running(TREE, tmp_path, policy, snapshots=10) as brokers:
            driver = Driver(brokers)
            await driver.play(mixed(TREE, 150))
            assert brokers.lines == []
            return driver

    driver = within(run())
    assert accepted(TREE, tmp_path, policy)
    read = events(tmp_path)
    assert sum(e.event == "deliver" for e in read) == driver.delivered == len(driver.delays) > 20
    assert sum(e.event == "client" for e in read) == sum(driver.operations.values()) == len(mixed(TREE, 150))
    assert sum(e.event == "send" for e in read) == sum(e.event == "receive" for e in read)
    assert sum(e.event == "snapshot" for e in read) > 10


def test_times_are_of_one_clock(tmp_path: Path) -> None:
    """Nothing is received before it was sent, and the time of a step is when it began."""

    async def run() -> None:
        async with running(TREE, tmp_path) as brokers:
            await Driver(brokers).play(flood(TREE, 20))

    within(run())
    assert accepted(TREE, tmp_path)
    sent: dict[tuple[str, str, str], int] = {}
    read = events(tmp_path)
    for e in read:
        if e.event == "send" and e.message and e.time:
            sent[e.broker, e.peer, f"{e.message.kind} {e.message.id}"] = e.time
    received = [e for e in read if e.event == "receive"]
    assert len(received) == len(sent) > 50
    for e in received:
        assert e.message is not None
        assert e.time is not None
        assert e.time >= sent[e.peer, e.broker, f"{e.message.kind} {e.message.id}"]


def test_a_workload_that_waits_for_the_brokers_is_waited_for(tmp_path: Path) -> None:
    """Everybody's subscriptions are everywhere before the first publication: every one of them is delivered."""

    async def run() -> int:
        async with running(TREE, tmp_path) as brokers:
            driver = Driver(brokers)
            await driver.play(flood(TREE, 30))
            return driver.delivered

    assert within(run()) == 30 * len(TREE.brokers)


def test_a_pace_is_kept(tmp_path: Path) -> None:
    async def run() -> float:
        async with running(TREE, tmp_path) as brokers:
            began = asyncio.get_running_loop().time()
            await Driver(brokers).play(flood(TREE, 1), pace=20.0)
            return asyncio.get_running_loop().time() - began

    assert within(run()) >= 0.5, "ten seconds of the workload, twenty of them a second"


# -- links that break --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["active", "packing"])
def test_connections_that_are_cut_again_and_again(tmp_path: Path, policy: str) -> None:
    async def run() -> tuple[Proxy, int, int]:
        proxy = Proxy(Random(policy))
        async with running(TREE, tmp_path, policy, route=proxy.route, limits=Limits(window=8)) as brokers:
            driver = Driver(brokers, proxy.route)
            playing = asyncio.create_task(driver.play(mixed(TREE, 250)))
            while not playing.done():
                await asyncio.sleep(0.04)
                proxy.cut()
                if proxy.cuts > 60:
                    break
            await playing
            resent = sum(p.link.resent for n in brokers.nodes.values() for p in n.links.values())
            connections = sum(p.connections for n in brokers.nodes.values() for p in n.links.values())
            assert brokers.complaints == [], "a cut is nobody's fault"
        await proxy.close()
        return proxy, resent, connections

    proxy, resent, connections = within(run())
    assert proxy.cuts > 10
    assert resent > 0
    assert connections > 2 * (len(TREE.brokers) - 1)
    assert accepted(TREE, tmp_path, policy)


def test_a_broker_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    """Its neighbours try again and again; what they have for it waits."""
    pair = Overlay.line(2)
    late: list[tuple[str, int]] = []

    async def run() -> None:
        proxy = Proxy(Random(0))

        def nowhere(_near: int, _far: int, address: tuple[str, int]) -> tuple[str, int]:
            late.append(proxy.route(0, 0, address))
            return late[-1]

        async with running(pair, tmp_path, route=nowhere) as brokers:
            for _ in range(3):
                await asyncio.sleep(0.02)
                proxy.cut()
            await Driver(brokers).play(flood(pair, 10))
        await proxy.close()

    within(run())
    assert accepted(pair, tmp_path)


# -- back-pressure -----------------------------------------------------------------------------------------------------

LINE = Overlay.line(3)


def test_a_slow_broker_slows_down_those_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broker 3 handles nothing: what broker 1's client has to say soon waits with the client, and the rest where it
    may. Then it wakes up, and everything arrives."""
    limits = Limits(window=4, high_water=8)
    many = 200
    operations = [o for o in flood(LINE, 3 * many) if not isinstance(o.message, Publish) or o.broker == 1]

    async def run() -> None:
        async with running(LINE, tmp_path, limits=limits) as brokers:
            slow = brokers.nodes[3]

            def clients() -> Iterator[Operation]:
                yield from operations[:7]
                monkeypatch.setattr(slow, "_work", lambda: None)
                yield from operations[7:]

            driver = Driver(brokers)
            playing = asyncio.create_task(driver.play(clients()))
            await eventually(lambda: brokers.nodes[1].links[2].link.waiting >= 8)
            await asyncio.sleep(0.1)
            handled = brokers.nodes[1].steps
            await asyncio.sleep(0.1)
            assert brokers.nodes[1].steps == handled, "nothing moves"
            assert not playing.done()
            for node in brokers.nodes.values():
                for peer in [*node.links.values(), *node.clients.values()]:
                    assert len(peer.link.queue) <= 4, "the window"
                    assert peer.link.waiting <= 8, "the high-water mark, and what one step may add to it: here one"
            assert driver._under_way() == 64, "the driver issues no more"
            assert sum(driver.operations.values()) < 100
            monkeypatch.undo()
            slow._awake = False
            slow._wake()
            await playing
            assert driver.operations[Publish] == many

    within(run())
    assert accepted(LINE, tmp_path)
    assert sum(e.event == "deliver" for e in events(tmp_path)) == 3 * many


@pytest.mark.parametrize("size", [2, 5])
def test_brokers_that_flood_each_other_do_not_wait_for_each_other(tmp_path: Path, size: int) -> None:
    """With room for one message everywhere, and floods from all sides."""
    overlay = Overlay.line(size)

    async def run() -> int:
        async with running(overlay, tmp_path, limits=Limits(window=1, high_water=1)) as brokers:
            driver = Driver(brokers)
            async with asyncio.timeout(20):
                await driver.play(flood(overlay, 200))
            for node in brokers.nodes.values():
                assert all(len(peer.link.queue) <= 1 for peer in node.links.values())
            return driver.delivered

    assert within(run()) == 200 * size
    assert accepted(overlay, tmp_path)


def test_a_client_that_takes_nothing_is_dropped(tmp_path: Path) -> None:
    """It holds up its broker for a while, and then no more."""
    alone = Overlay.of([])
    limits = Limits(window=4, high_water=8, stall=0.2)

    async def run() -> None:
        async with running(alone, tmp_path, limits=limits) as brokers:
            node = brokers.nodes[1]
            async with client(brokers.addresses[1], 1, "sloth") as (_reader, writer):
                wanted = {"kind": "subscribe", "id": "s", "filter": []}
                writer.write(frame({"n": 1, "m": wanted}))
                await eventually(lambda: node.steps == 1)
                await Driver(brokers).play(flood(alone, 50))
                await eventually(lambda: not any("sloth" in name for name in node.clients))
                assert len(brokers.logs[1]) == 1
                assert "client sloth" in brokers.logs[1][0]
                assert brokers.logs[1][0].endswith(": took nothing for 0.2 s")
                assert node.undelivered >= 8
                await eventually(lambda: not node._known)

    within(run())


# -- hostile connections -----------------------------------------------------------------------------------------------

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
    "non-neighbour": (frame({**HELLO_2, "node": 5}), "broker 5, which is no neighbour"),
    "itself": (frame({**HELLO_2, "node": 2}), "broker 2, which is no neighbour"),
    "lower": (frame({**HELLO_2, "node": 1}), "broker 1, which does not connect"),
    "elsewhere": (frame({**HELLO_2, "to": 3}), "looks for broker 3; this is 2"),
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
                group.create_task(attack(brokers, b"", "said nothing of who it is for 0.5 s"))
                group.create_task(attack(brokers, frame(ME)[:-1], "said nothing of who it is for 0.5 s"))
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
    await said_of(brokers, port, "said nothing of who it is for 0.5 s")


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
            assert all("3 others have not said who they are" in line for line in brokers.lines)
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


# -- messages that no frame holds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [{"x": "\u00e9" * 1500}, {"x": "y" * 3900}, {"x": '"' * 1900}, {f"x{n}": 1e308 for n in range(200)}],
    ids=["escapes", "nearly full", "quotes", "numbers"],
)
def test_what_grows_on_its_way_goes_in_parts(tmp_path: Path, event: dict[str, object]) -> None:
    """A client's message fits its frame; what brokers say of it, to each other and to clients, does not."""
    pair, limits = Overlay.line(2), Limits(frame=4096)

    async def run() -> None:
        async with running(pair, tmp_path, limits=limits) as brokers:
            near, far = client(brokers.addresses[1], 1), client(brokers.addresses[2], 2)
            async with near as (_, here), far as (reader, there):
                there.write(frame({"n": 1, "m": {"kind": "advertise", "id": "b", "filter": []}}))
                here.write(frame({"n": 1, "m": {"kind": "advertise", "id": "a", "filter": []}}))
                there.write(frame({"n": 2, "m": {"kind": "subscribe", "id": "s" * 200, "filter": []}}))
                await eventually(lambda: brokers.nodes[1].broker_core.table_size == 1)
                publish = {"kind": "publish", "id": "p", "of": "a", "attributes": event}
                here.write(framed(json.dumps({"n": 2, "m": publish}, ensure_ascii=False).encode()))
                text = ""
                async with asyncio.timeout(5):
                    while not text.endswith("}"):
                        body = await read_frame(reader, limits.frame)
                        text += str(body.get("part", body.get("rest", "")))
                assert json.loads(text)["to"] == "s" * 200
                assert STRICT.event(json.loads(text)["attributes"]) == STRICT.event(event)
            assert brokers.failures == []
            assert brokers.lines == []

    within(run())
    assert accepted(pair, tmp_path)


def test_a_packed_message_is_as_long_as_it_must_be(tmp_path: Path) -> None:
    """COV-7: a late advertisement, and one message with all subscriptions goes over a link that is cut meanwhile."""
    pair, ids = Overlay.line(2), Ids()
    said = [(1, Subscribe(ids.subscription([["volume", ">", n], ["symbol", "=", f"S{n}"]]))) for n in range(300)]
    operations = [Operation(time, broker, message) for time, (broker, message) in enumerate(said)]
    operations.append(Operation(10**10, 2, Advertise(ids.advertisement([]))))

    async def run() -> None:
        proxy = Proxy(Random(0))
        async with running(pair, tmp_path, "packing", limits=Limits(frame=4096), route=proxy.route) as brokers:
            playing = asyncio.create_task(Driver(brokers).play(operations))
            await eventually(lambda: brokers.nodes[1].links[2].link.sent)
            await asyncio.sleep(0.001)
            proxy.cut()
            await playing
            assert brokers.failures == []
            assert brokers.complaints == []
            assert brokers.nodes[2].broker_core.table_size == 300
        await proxy.close()

    within(run())
    assert accepted(pair, tmp_path, "packing")
    received = [e.message for e in events(tmp_path) if e.event == "receive" and e.message]
    assert [(each.kind, len(each.items)) for each in received] == [("advertise", 1), ("subscribe-many", 300)]


@pytest.mark.parametrize("said", [{"part": "{"}, {"rest": "{}"}])
def test_a_client_has_one_frame_for_each_message(tmp_path: Path, said: Body) -> None:
    async def run() -> None:
        async with running(Overlay.of([]), tmp_path) as brokers:
            async with client(brokers.addresses[1], 1) as (reader, writer):
                writer.write(frame({"n": 1, **said}))
                await ended(reader)
            await eventually(lambda: brokers.lines)
            assert "a frame with the keys" in brokers.lines[0]

    within(run())


def test_a_client_that_has_more_to_say_than_a_frame_is_told(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(Overlay.of([]), tmp_path, limits=Limits(frame=4096)) as brokers:
            long = Publish(Publication(0, "p", "a", STRICT.event({"x": "y" * 5000})))
            with pytest.raises(ValueError, match="an operation of 5,058 bytes; a client's message is a frame: 4,096"):
                await Driver(brokers).play([Operation(0, 1, long)])

    within(run())


@pytest.mark.parametrize(
    "said",
    [
        [{"n": 1, "part": ""}],
        [{"n": 1, "rest": "{}"}],
        [{"n": 1, "part": 1}],
        [{"n": 2, "part": "{"}],
        [{"n": 1, "part": "{"}, {"n": 1, "m": {"kind": "advertise", "id": "a", "filter": []}}],
        [{"n": 1, "part": "{"}, {"n": 1, "rest": "]"}],
        [{"n": 1, "part": "["}, {"n": 1, "rest": "]"}],
        [{"n": 1, "part": "[" * 9000}, {"n": 1, "rest": "]"}],
    ],
)
def test_parts_that_make_no_message_are_refused(tmp_path: Path, said: list[Body]) -> None:
    """From a neighbour: the connection is closed with one line, and what was kept of the message is gone."""

    async def run() -> None:
        async with running(Overlay.line(2), tmp_path, route=nowhere) as brokers:
            async with connected(brokers.addresses[1]) as (reader, writer):
                writer.write(frame(hello(TOKEN, Greeting(to=1, node=2))) + b"".join(map(frame, said)))
                await ended(reader)
            await eventually(lambda: brokers.logs[1])
            assert len(brokers.logs[1]) == 1
            assert brokers.failures == []
            async with connected(brokers.addresses[1]) as (_, writer):
                advertise: Body = {"kind": "advertise", "id": "a", "filter": []}
                writer.write(frame(hello(TOKEN, Greeting(to=1, node=2))) + frame({"n": 1, "m": advertise}))
                await eventually(lambda: brokers.nodes[1].steps)

    def nowhere(_near: int, _far: int, _address: tuple[str, int]) -> tuple[str, int]:
        """The real neighbour does not get there."""
        with closing(socket.create_server((LOOPBACK, 0))) as listening:
            here: tuple[str, int] = listening.getsockname()
            return here

    within(run())


# -- turns -------------------------------------------------------------------------------------------------------------


def test_those_who_say_nothing_cost_no_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is as dear with 200 silent clients as with none: nobody asks whether they would be blocked, or flushes
    what they have not."""
    asked: list[str] = []
    flush = Peer.flush

    def counted(peer: Peer[Any]) -> None:
        asked.append(peer.name)
        flush(peer)

    monkeypatch.setattr(Peer, "flush", counted)

    async def run() -> None:
        async with running(Overlay.of([]), tmp_path) as brokers, AsyncExitStack() as stack:
            for n in range(200):
                await stack.enter_async_context(client(brokers.addresses[1], 1, f"silent {n}"))
            asked.clear()
            await Driver(brokers).play(flood(Overlay.of([]), 100))
            assert "client silent 0" not in asked
            assert len(asked) > 10
            assert not brokers.nodes[1]._turns

    within(run())


def test_an_answer_holds_all_clients_that_there_may_be(tmp_path: Path) -> None:
    """With the longest names: whoever has the token chooses them, and the run is not to end of it."""

    async def run() -> None:
        async with running(Overlay.of([]), tmp_path) as brokers:
            node = brokers.nodes[1]
            for n in range(node.setting.limits.clients):
                node._client(chr(0x1F600 + n) * ID_LENGTH)
            assert len(frame({**counts(node), **summary(node)})) <= ANSWER_MOST

    within(run())
