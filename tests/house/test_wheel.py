"""What an installation puts on disk: `routeproof/...`, whole, and nothing beside it.

The rooms live at the top of the repository and reach the package by links (docs/decisions/0001-layout-with-links.md),
which the wheel and the source archive must both turn into real files.
"""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("spec", "model", "checker", "impl", "traces")
COPIED = ("pyproject.toml", "README.md", "LICENSE", "src", "tests", *ROOMS)

# One file of each kind that travels as data, in folders that are not packages and whose names could not be.
PLANTED = ("notes.md", "instance.toml", "schema.json", "trace.jsonl")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy to build in: building in place would leave `build/` behind, and pick up what an earlier build left."""
    copy = tmp_path_factory.mktemp("project")
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*_cache", ".hypothesis")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, symlinks=True, ignore=leave_out)
        else:
            shutil.copy(source, copy / name)
    for room in ROOMS:
        for folder in ("planted", "planted.d/of-data"):
            (copy / room / folder).mkdir(parents=True)
            for name in PLANTED:
                (copy / room / folder / name).write_text("{}\n", encoding="utf-8")
        cache = copy / room / "__pycache__"
        cache.mkdir()
        (cache / "stale.cpython-311.pyc").write_bytes(b"")
    return copy


@pytest.fixture(scope="session")
def wheel(project: Path) -> Path:
    return build(project, "wheel")


@pytest.fixture(scope="session")
def sdist(project: Path) -> Path:
    return build(project, "sdist")


def build(project: Path, kind: str) -> Path:
    """Asks the build backend itself, as pip does, with the setuptools that is installed here: no network."""
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}('dist'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "dist" / done.stdout.splitlines()[-1]


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_rooms_are_links_to_the_top_level() -> None:
    for room in ROOMS:
        link = ROOT / "src/routeproof" / room
        assert link.is_symlink(), f"src/routeproof/{room} is not a link: was this checked out with core.symlinks=false?"
        assert link.readlink() == Path("../..", room)


def test_wheel_holds_the_rooms_whole_and_nothing_else(project: Path, wheel: Path) -> None:
    expected = {"routeproof/__init__.py", "routeproof/py.typed"}
    for room in ROOMS:
        for file in (project / room).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                expected.add(f"routeproof/{file.relative_to(project).as_posix()}")
    shipped = {name for name in contents(wheel) if ".dist-info/" not in name}
    assert shipped == expected


def test_wheel_brings_one_package_to_site_packages(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in contents(wheel)}
    (metadata,) = tops - {"routeproof"}
    assert metadata.startswith("routeproof-")
    assert metadata.endswith(".dist-info")
    assert f"{metadata}/licenses/LICENSE" in contents(wheel)


def test_wheel_imports_without_the_repository(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"from importlib import import_module\n"
        f"for room in {ROOMS!r}: print(import_module('routeproof.' + room).__file__)"
    )
    out = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert [Path(line) for line in out.splitlines()] == [tmp_path / "routeproof" / r / "__init__.py" for r in ROOMS]


def test_source_archive_builds_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            assert member.isfile() or member.isdir(), f"{member.name} is a link in the source archive"
            stream = archive.extractfile(member)
            if stream is not None:
                file = tmp_path / member.name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(stream.read())
    (unpacked,) = tmp_path.iterdir()
    assert contents(build(unpacked, "wheel")) == contents(wheel)
