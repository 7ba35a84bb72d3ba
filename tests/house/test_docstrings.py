"""Docstrings begin with a noun or a verb, so that a reader who sees one alone knows what it is about."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_A_HEAD = re.compile(r"^(Of|That|Those|They|What|As|The same)\b")


def headless() -> Counter[str]:
    """The number of docstrings, by folder of the product's code, whose first word says nothing about their subject."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no git here to list the files with")
    found: Counter[str] = Counter()
    for name in listed.stdout.split():
        if name.startswith(("tests/", "docs/")):
            continue
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))) if WITHOUT_A_HEAD.match(text.strip()):
                    found["/".join(name.split("/")[:2])] += 1
    return found


def test_no_docstring_is_headless() -> None:
    """Rewrite what this finds: a sentence, or a noun phrase with its noun."""
    assert not headless(), "docstrings begin with Of, That, Those, They, What, As or The same"
