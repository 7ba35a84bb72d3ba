"""Nodes on real sockets, all in this process: what they record is what the protocol allows, whatever befalls the links,
and nothing they keep grows without bound."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest

from routeproof.impl.simulator import TimedOperation
from routeproof.impl.tcp.codec import ID_LENGTH, frame
from routeproof.impl.tcp.connection import Peer
from routeproof.impl.tcp.driver import Driver
from routeproof.impl.tcp.processes import ANSWER_MOST, counts, summary
from routeproof.impl.tcp.setting import Limits
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Publish
from routeproof.model.overlay import Overlay
from tests.impl.tcp.running import (
    TREE,
    Proxy,
    accepted,
    client,
    events,
    eventually,
    flood,
    mixed,
    running,
    within,
)


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

            def clients() -> Iterator[TimedOperation]:
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
