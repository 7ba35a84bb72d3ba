"""Docstrings, comments and pages use the words of the glossary, and none that only insiders understand.

`BANNED` has words in place of a noun that the sentence should name: write "the judge", "in addition to", "no broker".
Texts in backquotes are names, and are skipped. `OPEN` counts what is left, by page or folder; the numbers only fall.
"""

import ast
import io
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BANNED = re.compile(
    r"\b(told|said|apart|beside|whoever|whomever|nobody|somebody|comes? to the same|all comes to)\b", re.IGNORECASE
)
QUOTED = re.compile(r"`[^`]*`|```.*?```", re.DOTALL)
PRODUCT = ("checker/", "model/", "spec/", "impl/", "traces/", "src/")
OPEN: dict[str, int] = {
    "docs/reference/workloads.md": 1,
}


def texts(name: str) -> Iterator[str]:
    """The docstrings and comments of a module; the whole of a page."""
    source = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        yield source
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


@cache
def found() -> Counter[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no git here to list the files with")
    counts: Counter[str] = Counter()
    for name in listed.stdout.split():
        page = name.endswith(".md") and name != "CHANGELOG.md" and not name.startswith(("docs/decisions/", "tests/"))
        if page or (name.endswith(".py") and name.startswith(PRODUCT)):
            counts[name] += sum(len(BANNED.findall(QUOTED.sub("", text))) for text in texts(name))
    return +counts


def test_no_text_uses_a_banned_word() -> None:
    """Rewrite the sentence instead of replacing the word."""
    more = {name: count for name, count in found().items() if count > OPEN.get(name, 0)}
    assert not more, "use the words of docs/glossary.md"


def test_the_numbers_only_fall() -> None:
    """Lower a number of `OPEN` when a page was rewritten."""
    counts = found()
    assert {name: counts[name] for name in OPEN} == OPEN


def test_a_banned_word_is_found() -> None:
    assert BANNED.findall("What was said, beside the judge, whoever told it.") == ["said", "beside", "whoever", "told"]
    assert not BANNED.findall(QUOTED.sub("", "`told` is a parameter"))
