"""Greetings: the first frame of each side. Whoever connects says which run it belongs to, and who it is."""

from __future__ import annotations

from hmac import compare_digest

from attrs import frozen

from routeproof.impl.tcp.codec import text
from routeproof.impl.tcp.frames import Body, Refusal
from routeproof.model.filters.wording import shown
from routeproof.model.overlay import LOCAL, Node

VERSION = 1


@frozen
class Greeting:
    """`node` is the broker that speaks, or LOCAL: then it is a client, and `client` its name for this session."""

    to: Node
    node: Node = LOCAL
    client: str = ""


def hello(token: str, greeting: Greeting) -> Body:
    who: Body = {"node": greeting.node} if greeting.node != LOCAL else {"client": greeting.client}
    return {"hello": VERSION, "run": token, "to": greeting.to, **who}


def read_hello(body: Body, token: str) -> Greeting:
    """Of a stranger no more is looked at than the version and the token."""
    if "hello" not in body:
        raise Refusal("no hello")
    if type(body["hello"]) is not int or body["hello"] != VERSION:
        raise Refusal(f"version {shown(body['hello'])} of the protocol; expected {VERSION}")
    run = body.get("run")
    if not isinstance(run, str) or not compare_digest(run.encode("utf-8", "replace"), token.encode("utf-8")):
        raise Refusal("the token of another run, or none")
    if "node" in body:
        return Greeting(_node(body, "to"), _node(body, "node"))
    return Greeting(_node(body, "to"), client=text(body, "client"))


def welcome(node: Node) -> Body:
    return {"welcome": VERSION, "node": node}


def read_welcome(body: Body, node: Node) -> None:
    if body != welcome(node):
        raise Refusal(f"no welcome of broker {node} in version {VERSION} of the protocol")


def _node(body: Body, key: str) -> Node:
    number = body.get(key)
    if type(number) is not int or number < 1:
        raise Refusal(f'"{key}": found {shown(number)}; expected the number of a broker')
    return number
