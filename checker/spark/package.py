"""The routeproof package as one file, for workers that do not have it.

`package_zip` packs what is imported here, wherever it lies: an installation, or a checkout, in which the rooms are
links. Two that hold the same are the same file, byte for byte and by name. The libraries that routeproof stands on are
not in it: compiled code belongs to a machine, so a cluster's workers have them installed. `arrived` runs on a worker to
check this.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from routeproof import checker
from routeproof.checker.system.errors import UsageError

LEFT_OUT = frozenset({"__pycache__", "found"})
"""Directories without code: caches, and counterexamples of a check that was run in the checkout."""

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest date that the format knows: when a file was written is not part of what it holds."""


def package_zip(folder: Path) -> Path:
    """The package, in `folder`, under a name made of its content; written only if it is not there yet."""
    root = _root()
    if not root.is_dir():
        raise UsageError(f"{root}: routeproof is imported from an archive; install it to send it to a cluster")
    packed = _pack(_files(root))
    path = folder / f"routeproof-{hashlib.sha256(packed).hexdigest()[:16]}.zip"
    if not path.is_file():
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(packed)
        part.replace(path)
    return path


def arrived(_: object = None) -> str:
    """In a worker: where routeproof was imported from, once what it stands on could be imported as well."""
    for name in ("numpy", "routeproof.checker.wings", "routeproof.spec.properties", "routeproof.traces"):
        importlib.import_module(name)
    return str(_root())


def _root() -> Path:
    return Path(checker.__file__).parents[1]


def _files(root: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Name in the archive and content, in an order that does not depend on the file system."""
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if name.startswith(".") or file.suffix in {".pyc", ".part"}:
                continue
            yield PurePosixPath("routeproof", *file.relative_to(root).parts), file.read_bytes()


def _pack(files: Iterable[tuple[PurePosixPath, bytes]]) -> bytes:
    stream = io.BytesIO()
    directories: set[PurePosixPath] = set()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            # A directory without an entry of its own is no package to `importlib.resources` and to some importers.
            for directory in reversed(name.parents[:-1]):
                if directory not in directories:
                    directories.add(directory)
                    archive.writestr(zipfile.ZipInfo(f"{directory}/", LONG_AGO), b"")
            archive.writestr(zipfile.ZipInfo(str(name), LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
