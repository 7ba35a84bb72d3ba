"""Three brokers in one process that route by content and write a trace. They lose a publication.

Subscriptions ask for trades above a price. A broker does not forward a subscription that a wider one covers.

    python toy_broker.py TRACE            the broker with its fault
    python toy_broker.py TRACE --mended   the same broker without it
"""

import json
import sys
from collections import deque
from pathlib import Path

TRACE, *OPTIONS = sys.argv[1:]
MENDED = "--mended" in OPTIONS
OVERLAY = [["west", "middle"], ["middle", "east"]]
FEED = [["price", ">", 0]]


class Broker:
    def __init__(self, name, network):
        self.name, self.network = name, network
        self.advertised_by = None  # where the advertisement came from: a neighbour, or None for a client
        self.subscriptions = {}  # id -> (price, where it came from)
        self.forwarded = set()  # ids that the neighbour toward the publisher knows

    def handle(self, message, sender, client):
        """Handles one message. `sender` is the neighbour that it came from, or None if a client sent it."""
        self.write("receive" if sender else "client", sender or client, message)
        match message["kind"]:
            case "advertise":
                self.advertised_by = sender
                for neighbour in self.network.neighbours(self.name):
                    if neighbour != sender:
                        self.send(neighbour, message)
            case "subscribe":
                self.subscriptions[message["id"]] = (message["filter"][0][2], sender)
                self.settle()
            case "unsubscribe":
                del self.subscriptions[message["id"]]
                if MENDED:
                    self.settle()
                elif message["id"] in self.forwarded:
                    self.forwarded.remove(message["id"])
                    self.send(self.advertised_by, message)
            case "publish":
                self.publish(message, sender)

    def settle(self):
        """Sends what the neighbour toward the publisher must know now, then withdraws what it need not know."""
        if self.advertised_by is None:
            return
        candidates = {s: price for s, (price, origin) in self.subscriptions.items() if origin != self.advertised_by}
        lowest = min(candidates.values(), default=None)
        wanted = {next(s for s, price in candidates.items() if price == lowest)} if candidates else set()
        for s in sorted(wanted - self.forwarded):
            self.send(self.advertised_by, {"kind": "subscribe", "id": s, "filter": [["price", ">", candidates[s]]]})
        for s in sorted(self.forwarded - wanted):
            self.send(self.advertised_by, {"kind": "unsubscribe", "id": s})
        self.forwarded = wanted

    def publish(self, message, sender):
        """Forwards a trade once to each neighbour with a matching subscription, and delivers it to clients."""
        matching = {s: o for s, (price, o) in self.subscriptions.items() if message["attributes"]["price"] > price}
        for neighbour in sorted({o for o in matching.values() if o and o != sender}):
            self.send(neighbour, message)
        for s in sorted(s for s, origin in matching.items() if origin is None):
            self.write("deliver", f"client-{s}", {**message, "to": s})

    def send(self, neighbour, message):
        self.write("send", neighbour, message)
        self.network.queue.append((neighbour, message, self.name))

    def write(self, event, peer, message):
        self.network.write(self.name, event, peer, message)


class Network:
    def __init__(self):
        self.lines = []
        self.queue, self.seq = deque(), {}
        self.brokers = {name: Broker(name, self) for link in OVERLAY for name in link}
        self.line(
            {
                "routeproof": 1,
                "run": "toy",
                "protocol": "routing",
                "policy": "active",
                "overlay": OVERLAY,
                "observes": ["client", "receive", "send", "deliver"],
                "clock": "shared",
            }
        )

    def neighbours(self, name):
        return sorted({n for link in OVERLAY if name in link for n in link} - {name})

    def client(self, broker, client, message):
        """A client speaks; then messages travel until none is left."""
        self.brokers[broker].handle(message, None, client)
        while self.queue:
            receiver, sent, sender = self.queue.popleft()
            self.brokers[receiver].handle(sent, sender, None)

    def write(self, broker, event, peer, message):
        self.seq[broker] = self.seq.get(broker, 0) + 1
        time = sum(self.seq.values())
        row = {"broker": broker, "seq": self.seq[broker], "time": time, "event": event, "peer": peer}
        self.line({**row, "message": message})

    def line(self, row):
        self.lines.append(json.dumps(row) + "\n")


network = Network()
network.client("east", "exchange", {"kind": "advertise", "id": "trades", "filter": FEED})
network.client("west", "client-large", {"kind": "subscribe", "id": "large", "filter": [["price", ">", 1000]]})
network.client("west", "client-all", {"kind": "subscribe", "id": "all", "filter": [["price", ">", 10]]})
network.client("east", "exchange", {"kind": "publish", "id": "p1", "of": "trades", "attributes": {"price": 50}})
network.client("west", "client-all", {"kind": "unsubscribe", "id": "all"})
network.client("east", "exchange", {"kind": "publish", "id": "p2", "of": "trades", "attributes": {"price": 2000}})
Path(TRACE).write_text("".join(network.lines), encoding="utf-8")
