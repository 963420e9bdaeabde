"""Puts a binary and its files into a folder and a tar archive, with a manifest of the files.

    codegen bundle --label //app:bundle --binary runner --runfile _main/app/model.pte --runfile_source app/model.pte \\
        --license _main/LICENSE --license_source LICENSE --folder bundle --tar bundle.tar

The folder has `<binary>`; `<binary>.runfiles` with the binary's libraries and data; `licenses`; and `manifest.json`.
The archive has the folder under its name, without owners and times.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codegen.binaries import dynamic_linking
from codegen.commands import define, shared_flags
from diagnostics.errors import InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the bundle")
_BINARY = define.required(FLAGS, "binary", "The executable.")
_RUNFILES = define.several(FLAGS, "runfile", "Where the binary looks for a file, in its folder of runfiles.")
_RUNFILE_SOURCES = define.several(FLAGS, "runfile_source", "The file or folder itself, one for each --runfile.")
_LICENSES = define.several(FLAGS, "license", "The path of a license, below `licenses`.")
_LICENSE_SOURCES = define.several(FLAGS, "license_source", "The license itself, one for each --license.")
_FOLDER = define.required(FLAGS, "folder", "The folder to fill.")
_TAR = define.required(FLAGS, "tar", "Where to write the archive.")

_MANIFEST = "manifest.json"
_LICENSE_FOLDER = "licenses"


def run() -> None:
    folder = Path(_FOLDER.value)
    binary = Path(_BINARY.value)
    if binary.name in (_MANIFEST, _LICENSE_FOLDER):
        raise InputError.of(
            id="reserved-name",
            where=_LABEL.value,
            found=f"the binary is called {binary.name}, as a file of the bundle is",
            cause="a bundle has its manifest and its licenses beside the binary",
            fix="give the binary another name",
        )
    _copy(binary, folder / binary.name)
    for name, source in zip(_RUNFILES.value, _RUNFILE_SOURCES.value, strict=True):
        _copy(Path(source), folder / f"{binary.name}.runfiles" / name)
    for name, source in zip(_LICENSES.value, _LICENSE_SOURCES.value, strict=True):
        _copy(Path(source), folder / _LICENSE_FOLDER / name)
    manifest = json.dumps(_manifest(folder, binary.name), indent=2, ensure_ascii=False) + "\n"
    (folder / _MANIFEST).write_text(manifest)
    _write_tar(folder, Path(_TAR.value))


def _copy(source: Path, target: Path) -> None:
    """Copies a file or a folder. Follows links, and keeps the permission to execute."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        for child in sorted(source.iterdir()):
            _copy(child, target / child.name)
        return
    shutil.copyfile(source, target)
    target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _manifest(folder: Path, binary: str) -> dict[str, Any]:
    files = list(_files(folder))
    linkings = [linking for path in files if (linking := dynamic_linking.read(path)) is not None]
    own = {path.name for path in files}
    system: dict[str, set[str]] = {}
    for linking in linkings:
        for library in linking.needed:
            if library not in own:
                system.setdefault(library, set()).update(linking.versions.get(library, ()))
    main = dynamic_linking.read(folder / binary)
    licenses = (folder / _LICENSE_FOLDER).rglob("*")
    return {
        "label": _LABEL.value,
        "binary": binary,
        "machine": main.machine if main else None,
        "system_libraries": {library: sorted(versions) for library, versions in sorted(system.items())},
        "licenses": sorted(str(path.relative_to(folder)) for path in licenses if path.is_file()),
        "files": [_entry(path, folder) for path in files],
    }


def _entry(path: Path, folder: Path) -> dict[str, Any]:
    # hashlib.file_digest is newer than Python 3.10.
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {"path": str(path.relative_to(folder)), "bytes": len(content), "sha256": digest}


def _write_tar(folder: Path, target: Path) -> None:
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in _files(folder):
            entry = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder)}")
            entry.size = path.stat().st_size
            entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            with path.open("rb") as file:
                archive.addfile(entry, file)
