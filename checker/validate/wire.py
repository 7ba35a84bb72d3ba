"""Parts as bytes: what a part came to, sent from where it was judged to where the verdict is made."""

from __future__ import annotations

from typing import Any

import msgspec
from attrs import asdict

from routeproof.checker.validate.bad import BadLines
from routeproof.checker.validate.packing import packed
from routeproof.checker.validate.part import Found
from routeproof.checker.validate.rejection import Rejection
from routeproof.traces import BadLine


def encode_found(found: Found) -> bytes:
    return packed(asdict(found))


def decode_found(data: bytes) -> Found:
    raw = msgspec.msgpack.decode(data)
    return Found(
        **{
            **raw,
            "rejection": None if raw["rejection"] is None else Rejection(**raw["rejection"]),
            "bad": _bad_lines(**raw["bad"]),
        }
    )


def encode_bad(bad: BadLines) -> bytes:
    return packed(asdict(bad))


def decode_bad(data: bytes) -> BadLines:
    return _bad_lines(**msgspec.msgpack.decode(data))


def _bad_lines(count: int, first: list[dict[str, Any]]) -> BadLines:
    return BadLines(count, [BadLine(**each) for each in first])


def encode_rejection(rejection: Rejection) -> bytes:
    return packed(asdict(rejection))


def decode_rejection(data: bytes) -> Rejection:
    return Rejection(**msgspec.msgpack.decode(data))
