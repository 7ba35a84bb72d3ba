"""Messages that no frame holds: between brokers they go in parts, from a client they are refused."""

import asyncio
import json
import socket
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from routeproof.impl.simulator import TimedOperation
from routeproof.impl.tcp.codec import Body, Greeting, frame, framed, hello, read_frame
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.setting import LOOPBACK, Limits
from routeproof.impl.workloads.workload import Ids
from routeproof.model.filters import STRICT
from routeproof.model.messages import Advertise, Publication, Publish, Subscribe
from routeproof.model.overlay import Overlay
from tests.impl.tcp.running import (
    TOKEN,
    Proxy,
    accepted,
    client,
    connected,
    ended,
    events,
    eventually,
    running,
    within,
)


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
                await eventually(lambda: getattr(brokers.nodes[1].core, "table_size", 0) == 1)
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
    operations = [TimedOperation(time, broker, message) for time, (broker, message) in enumerate(said)]
    operations.append(TimedOperation(10**10, 2, Advertise(ids.advertisement([]))))

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
            assert getattr(brokers.nodes[2].core, "table_size", 0) == 300
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
                await Driver(brokers).play([TimedOperation(0, 1, long)])

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
