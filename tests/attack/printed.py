"""Complaints about what is printed or written: control characters, JSON, XML, Mermaid annotations that are none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import NoReturn
from xml.etree import ElementTree as ET

UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""C0 and C1 controls but the line feed, separators of lines, changes of direction, surrogates."""

ANNOTATION = re.compile(r"::(error|warning)(?: (?:title|file)=[^:,]*(?:,(?:title|file)=[^:,]*)*)?::.*")

_LABEL = r"(?:[A-Za-z0-9 ().,_+=-]|#[0-9]+;)+"
_WHO = r"[bnc][0-9]+"
COMMENT = re.compile(rf"%% {_LABEL}")
MERMAID = re.compile(
    rf"    (?:(?:participant|actor) {_WHO}(?: as {_LABEL})?|Note over {_WHO}(?:,{_WHO})?: {_LABEL}"
    rf"|{_WHO}(?:->>|-->>|-x){_WHO}: {_LABEL})"
)


def text_complaints(name: str, data: bytes) -> Iterator[str]:
    """Complaints about text for a terminal or a log."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"{name}: not UTF-8: {error}"
        return
    found = UNSAFE.search(text)
    if found is not None:
        yield f"{name}: {found[0]!r} is printed as it is: {text[max(0, found.start() - 60) : found.end() + 20]!r}"
    for line in text.splitlines():
        if line.startswith("::") and not ANNOTATION.fullmatch(line):
            yield f"{name}: no annotation, and read as one: {line[:200]!r}"


def json_complaints(name: str, data: bytes) -> Iterator[str]:
    """Complaints about a JSON document: one that a strict reader would refuse."""
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        yield f"{name}: not JSON: {error}"


def json_lines_complaints(name: str, data: bytes) -> Iterator[str]:
    if data and not data.endswith(b"\n"):
        yield f"{name}: the last line is half written"
    for line in data.splitlines():
        yield from json_complaints(name, line)


def xml_complaints(name: str, data: bytes) -> Iterator[str]:
    try:
        ET.fromstring(data)
    except ET.ParseError as error:
        yield f"{name}: not XML: {error}"
    yield from text_complaints(name, data)


def mermaid_complaints(name: str, data: bytes) -> Iterator[str]:
    """Complaints about lines that are none of the few that the diagrams consist of."""
    lines = data.decode("utf-8", "replace").rstrip("\n").split("\n")
    if lines and COMMENT.fullmatch(lines[0]):
        del lines[0]
    if not lines or lines.pop(0) != "sequenceDiagram":
        yield f"{name}: begins with {data[:100]!r}"
    yield from (f"{name}: no line of a diagram: {line[:200]!r}" for line in lines if not MERMAID.fullmatch(line))


def complaints_of(argv: tuple[str, ...], option: str) -> Callable[[str, bytes], Iterator[str]]:
    """The check for the file that an option names."""
    if option == "--json":
        return json_complaints
    if option == "--junit":
        return xml_complaints
    if "mermaid" in argv:
        return mermaid_complaints
    return json_lines_complaints if argv[0] == "shrink" else text_complaints


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
