"""No file says where it was made, which host its packages came from, or that it is unfinished.

The needles are put together from pieces, so that this file does not hold them.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {
    ".git",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    ".hypothesis",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
}

MACHINE_PATH = re.compile(r"(?<![\w.*}])/(?:work|root|tmp|home|Users|private|var/folders)/[\w.]")
PACKAGE_HOST = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("pypi", "python", "org"),
            ("anaconda", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("crates", "io"),
            ("maven", "org"),
            ("maven", "apache", "org"),
            ("jfrog", "io"),
        ]
    )
    + "|"
    + "|".join(
        "--" + option for option in ("index-" + "url", "extra-" + "index-url", "find-" + "links", "trusted-" + "host")
    ),
    re.IGNORECASE,
)
UNFINISHED = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b")
NEEDLES = {
    "a path on one machine": MACHINE_PATH,
    "a host of packages": PACKAGE_HOST,
    "a note to finish later": UNFINISHED,
}


def project_files() -> list[Path]:
    """What git tracks or would track; every file, where there is no repository to ask."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return list(_walk())
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    return [file for file in files if file.is_file() and not file.is_symlink()]


def _walk() -> list[Path]:
    found: list[Path] = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS and not name.endswith(".egg-info")]
        found += [Path(folder, name) for name in files]
    return found


def faults(text: str) -> list[str]:
    return [
        f"line {number}: {what}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), start=1)
        for what, needle in NEEDLES.items()
        if needle.search(line)
    ]


def test_files_are_clean() -> None:
    files = project_files()
    assert ROOT / "pyproject.toml" in files
    assert Path(__file__).resolve() in files
    found: list[str] = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not text
        found += [f"{file.relative_to(ROOT)}: {fault}" for fault in faults(text)]
    assert not found, "\n".join(found)


def test_walking_finds_what_git_finds() -> None:
    assert set(project_files()) <= set(_walk())


@pytest.mark.parametrize(
    "line",
    [
        "cd /" + "work/main",
        "open('/" + "tmp/trace.jsonl')",
        "see file:///" + "home/me/notes",
        "https://files.python" + "hosted.org/x.whl",
        "pip install --find" + "-links x",
        "# TO" + "DO: later",
    ],
)
def test_a_fault_is_found(line: str) -> None:
    assert faults(line)


@pytest.mark.parametrize(
    "line", ["spec/work/plan.md", "the work/rest split", "/tmp", "a todo list", "PyPI", "{out}/tmp/x"]
)
def test_what_is_fine_passes(line: str) -> None:
    assert not faults(line)
