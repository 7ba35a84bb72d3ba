"""Pages and code refer only to files that are in the repository."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "spec").rglob("*.md"))
PRESENT = [page for page in PAGES if page.parent.name != "decisions"]
LINK = re.compile(r"\]\((?!https?://|mailto:)(?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")
NAMED = re.compile(r"`((?:docs|spec|model|checker|impl|tests)/[\w./-]+\.(?:md|py|toml|json|jsonl))`")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
DESIGN_PAGES = ("house", "interfaces", "routing-core", "review", "stack", "brokers", "style")
"""Pages of the team's design folder, which readers of the repository do not have."""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    """A relative link names a file of the repository and, after `#`, a heading in it."""
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        target = (page.parent / link["target"]).resolve() if link["target"] else page
        assert target.exists(), f"{page.name}: {link['target']} does not exist"
        if link["anchor"]:
            assert link["anchor"] in anchors(target), f"{page.name}: {target.name} has no heading {link['anchor']}"


@pytest.mark.parametrize("page", PRESENT, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_that_are_named_exist(page: Path) -> None:
    """A path in backquotes is one of the repository. A decision may name files of its own time."""
    missing = [path for path in NAMED.findall(page.read_text(encoding="utf-8")) if not (ROOT / path).exists()]
    assert not missing, f"{page.name} names files that do not exist: {', '.join(missing)}"


def test_the_index_lists_every_page() -> None:
    """A page that `docs/index.md` does not link to is found by accident only."""
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link["target"]).resolve() for link in LINK.finditer(index.read_text(encoding="utf-8"))}
    pages = {page for page in PRESENT if page.is_relative_to(ROOT / "docs")} - {index}
    assert sorted(p.name for p in pages - linked) == []


def test_nothing_refers_to_the_design_folder() -> None:
    """The design pages are not in the repository; what they say that matters is in `docs/` and `spec/`."""
    pattern = rf"\b({'|'.join(DESIGN_PAGES)})\.md\b|\bGT-[0-9]"
    found = subprocess.run(
        ["git", "grep", "-nEi", pattern, "--", ".", ":!tests/house/test_links.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode > 1:
        pytest.skip("no git here to list the files with")
    assert not found.stdout, f"write it out, or name a file of the repository:\n{found.stdout}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as hosting sites derive them."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
