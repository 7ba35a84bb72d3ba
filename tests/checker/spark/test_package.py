"""What is sent to a cluster's workers: all of the package, nothing else, and it imports from where it is."""

import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from routeproof import checker
from routeproof.checker.spark.package import package_zip
from routeproof.checker.system.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("spec", "model", "checker", "impl", "traces")


def names(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as zipped:
        return zipped.namelist()


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that is laid out as a checkout is: the room is a link."""
    root = tmp_path / "src" / "routeproof"
    room = tmp_path / "room"
    for folder in (root, room / "deep", room / "__pycache__", room / "found", room / ".hidden"):
        folder.mkdir(parents=True)
    for name in ("__init__.py", "deep/one.py", "deep/data.toml", "__pycache__/x.pyc", "found/t.jsonl", ".hidden/x.py"):
        (room / name).write_text(f"# {name}\n", encoding="utf-8")
    (room / ".x.py.1.part").write_text("half", encoding="utf-8")
    (root / "__init__.py").write_text("", encoding="utf-8")
    (root / "room").symlink_to("../../room")
    monkeypatch.setattr(checker, "__file__", str(root / "room" / "__init__.py"))
    return tmp_path


def test_links_are_followed_and_what_is_nobodys_code_is_left_out(small: Path) -> None:
    assert names(package_zip(small)) == [
        "routeproof/",
        "routeproof/__init__.py",
        "routeproof/room/",
        "routeproof/room/__init__.py",
        "routeproof/room/deep/",
        "routeproof/room/deep/data.toml",
        "routeproof/room/deep/one.py",
    ]


def test_the_name_is_the_content(small: Path) -> None:
    first = package_zip(small)
    written = first.stat().st_mtime_ns
    again = package_zip(small)
    assert again == first
    assert again.stat().st_mtime_ns == written, "written again"
    (small / "elsewhere").mkdir()
    assert package_zip(small / "elsewhere").read_bytes() == first.read_bytes()
    (small / "room" / "deep" / "one.py").write_text("# other\n", encoding="utf-8")
    assert package_zip(small).name != first.name


def test_a_package_in_an_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "__file__", str(tmp_path / "r.zip" / "routeproof" / "checker" / "__init__.py"))
    with pytest.raises(UsageError, match="imported from an archive; install it"):
        package_zip(tmp_path)


def test_it_holds_every_module_and_all_directories(tmp_path: Path) -> None:
    there = names(package_zip(tmp_path))
    assert len(there) == len(set(there))
    for room in ROOMS:
        for file in (ROOT / room).rglob("*"):
            if file.suffix in {".py", ".toml", ".json", ".md"} and "__pycache__" not in file.parts:
                assert f"routeproof/{file.relative_to(ROOT).as_posix()}" in there
    for name in there:
        assert name.startswith("routeproof/")
        assert not {"__pycache__", "tests", "found"} & set(PurePosixPath(name).parts)
        assert all(f"{parent}/" in there for parent in PurePosixPath(name).parents[:-1])


def test_it_imports_before_what_is_installed(tmp_path: Path) -> None:
    archive = package_zip(tmp_path)
    code = (
        f"import sys; sys.path.insert(1, {str(archive)!r})\n"
        "from importlib import import_module\n"
        f"for name in {ROOMS!r}: print(import_module('routeproof.' + name).__file__)\n"
        "from routeproof.checker.spark.package import arrived; print(arrived())\n"
        "from importlib.resources import files\n"
        "print(len(list(files('routeproof.model').joinpath('instances').iterdir())))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    *imported, shipped = done.stdout.splitlines()
    wanted = [f"{archive}/routeproof/{room}/__init__.py" for room in ROOMS]
    assert imported == [*wanted, f"{archive}/routeproof"]
    assert int(shipped) > 10
