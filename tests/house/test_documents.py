"""The documents' examples run: each console block's command is executed, and prints what the document says.

`REWRITE_GOLDEN=1 python -m pytest tests/house/test_documents.py` writes what is printed into the documents
instead. Times are not compared.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.campaigns import daily

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = re.compile(r"```console\n(?P<body>.*?)```", re.DOTALL)
TOML = re.compile(r"```toml\n(?P<body>.*?)```", re.DOTALL)
TIME = re.compile(r"\b\d+\.\d s\b")
GAP = re.compile(r" {2,}")
REWRITE = bool(os.environ.get("REWRITE_GOLDEN"))


def with_console(document: Path) -> bool:
    return bool(CONSOLE.search(document.read_text(encoding="utf-8")))


PROOFS = {"proofs-propagation.md", "proofs-routing.md"}
"""Pages whose blocks prove what `proved.json` has daily; `test_proofs_docs.py` compares their figures with it."""


@pytest.mark.parametrize(
    "document",
    daily((d for d in DOCUMENTS if with_console(d)), lambda d: d.name not in PROOFS),
    ids=lambda d: str(d.relative_to(ROOT)),
)
def test_console_blocks_print_what_they_say(document: Path, tmp_path: Path) -> None:
    """Blocks of one document run in one folder, in order, so that a later one sees what an earlier one wrote."""
    text = document.read_text(encoding="utf-8")
    for program in document.parent.glob("*.py"):
        shutil.copy(program, tmp_path)
    for block in TOML.finditer(text):
        instance = tomllib.loads(block["body"])
        if "name" in instance:
            (tmp_path / f"{instance['name']}.toml").write_text(block["body"], encoding="utf-8")
    written = CONSOLE.sub(lambda block: f"```console\n{run(block['body'], tmp_path)}```", text)
    if REWRITE:
        document.write_text(written, encoding="utf-8")
    else:
        assert whenever(text) == whenever(written)


def whenever(text: str) -> str:
    """Without times, and without how wide a column is: on a slow machine ten seconds take one character more."""
    return GAP.sub("  ", TIME.sub("_ s", text))


def run(body: str, folder: Path) -> str:
    commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
    assert commands, f"a console block without a command: {body!r}"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    out = ""
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode in (0, 1, 3), f"{command}: {done.stderr}"
        out += f"$ {command}\n{done.stdout}"
    return out


def test_the_readme_has_a_tour() -> None:
    assert len(CONSOLE.findall((ROOT / "README.md").read_text(encoding="utf-8"))) >= 4
