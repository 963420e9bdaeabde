"""Installs a lock: what a lock had before comes out of a store on this machine, the rest from pip.

A store has one folder for each requirement of a lock, with the files that pip installed for it. An environment has hard
links to these, so that a changed lock installs only what changed. The store can be deleted at any time.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import hashlib
import importlib
import importlib.util
import marshal
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import types
from importlib import machinery
from typing import Any

# A change of what the store holds.
_FORMAT = "1"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Lines that name other files, from where the lock is.
_FILES = re.compile(r"(-r|-c|-e|--requirement|--constraint|--editable)\b|\.{0,2}/")
# The head of bytecode that Python takes without a look at the source: https://peps.python.org/pep-0552/.
_UNCHECKED = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")


@dataclasses.dataclass(frozen=True)
class Lock:
    """What a lock says.

    Attributes:
        options: lines for pip that are of no package.
        requirements: the lines of each package, by its normalized name.
    """

    options: str
    requirements: dict[str, str]


class PipError(Exception):
    """What pip says."""


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def parse(text: str) -> Lock | None:
    """Reads a lock; None if only pip can take the lock apart."""
    options = ""
    requirements: dict[str, str] = {}
    for written in re.sub(r"\\\n", " ", text).splitlines():
        line = " ".join(re.sub(r"(^|\s)#.*", "", written).split())
        if not line:
            continue
        name = _NAME.match(line)
        if _FILES.match(line) or not (name or line.startswith("-")):
            return None
        if name:
            requirements[_normalized(name[0])] = requirements.get(_normalized(name[0]), "") + line + "\n"
        else:
            options += line + "\n"
    return Lock(options, requirements)


def _link(source: pathlib.Path, to: pathlib.Path) -> None:
    """Makes a second name for a file, in place of what is there."""
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, to)
    except FileExistsError:
        to.unlink()
        _link(source, to)
    except OSError:  # another file system, or one without links
        part = to.with_name(f"{to.name}.{os.getpid()}")
        shutil.copy2(source, part)
        part.replace(to)


def _link_all(source: pathlib.Path, to: pathlib.Path) -> None:
    for folder, _, names in os.walk(source):
        target = to / pathlib.Path(folder).relative_to(source)
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            _link(pathlib.Path(folder, name), target / name)


class Store:
    """Folders of packages, one for each requirement, Python and platform."""

    def __init__(self, root: pathlib.Path) -> None:
        self._root = root
        self._python = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
        root.mkdir(parents=True, exist_ok=True)

    def _folder(self, requirement: str, options: str) -> pathlib.Path:
        key = "\n".join([_FORMAT, self._python, options, requirement])
        return self._root / self._python / hashlib.sha256(key.encode()).hexdigest()[:32]

    def folders(self, lock: Lock) -> dict[str, pathlib.Path]:
        """Where each package of a lock is, or would be."""
        return {name: self._folder(text, lock.options) for name, text in lock.requirements.items()}

    def install(self, lock: Lock, pip: list[str], to: pathlib.Path) -> None:
        """Fills a folder.

        Raises:
            PipError: pip cannot install.
        """
        folders = self.folders(lock)
        missing = [name for name, folder in folders.items() if not folder.exists()]
        if missing:
            with tempfile.TemporaryDirectory(dir=self._root) as place:
                staging = pathlib.Path(place, "site-packages")
                requirements = pathlib.Path(place, "requirements.txt")
                requirements.write_text(lock.options + "".join(lock.requirements[name] for name in missing))
                run_pip(pip, requirements, staging)
                self._add(staging, folders)
        # A package that is for another platform has no folder.
        for folder in folders.values():
            _link_all(folder / "site-packages", to)

    def _add(self, staging: pathlib.Path, folders: dict[str, pathlib.Path]) -> None:
        """Takes what pip installed apart: pip lists the files of a distribution in its RECORD."""
        for record in sorted(staging.glob("*.dist-info/RECORD")):
            folder = folders[_normalized(record.parent.name.removesuffix(".dist-info").rpartition("-")[0])]
            part = pathlib.Path(tempfile.mkdtemp(dir=self._root))
            with record.open(newline="") as lines:
                for path, *_ in csv.reader(lines):
                    # pip takes scripts and data to be outside, and puts these inside.
                    inside = re.sub(r"^(\.\./)+", "", path)
                    if (staging / inside).exists():
                        _link(staging / inside, part / "site-packages" / inside)
                        # An edit in one environment would be one in all.
                        (staging / inside).chmod((staging / inside).stat().st_mode & ~0o222)
            folder.parent.mkdir(exist_ok=True)
            try:
                part.rename(folder)
            except OSError:  # another Bazel was faster
                shutil.rmtree(part)


def run_pip(pip: list[str], requirements: pathlib.Path, to: pathlib.Path) -> None:
    """Has pip install a lock into a folder.

    Raises:
        PipError: pip cannot.
    """
    run = subprocess.run(
        [
            *pip,
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
            "--no-deps",
            "--no-warn-conflicts",
            "--only-binary=:all:",
            "--require-hashes",
            f"--requirement={requirements}",
            "--root-user-action=ignore",
            f"--target={to}",
        ],
        capture_output=True,
        # pip moves files from there, which takes no time within one file system.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(requirements.parent)},
        text=True,
    )
    if run.returncode != 0:
        raise PipError(run.stderr)


def precompile(root: pathlib.Path, modules: list[str], folders: dict[str, pathlib.Path]) -> None:
    """Compiles bytecode for what an export imports, not for all that was installed.

    The bytecode has no path or time in it, so that two machines get the same bytes.
    """
    owners: dict[str, pathlib.Path] = {}
    # What other environments import is there, so that the imports here are faster.
    borrowed = set()
    for folder in folders.values():
        packages = folder / "site-packages"
        owners |= {str(file.relative_to(packages)): folder for file in packages.rglob("*.py")}
        _link_all(folder / "bytecode", root)
        borrowed |= {root / file.relative_to(folder / "bytecode") for file in (folder / "bytecode").rglob("*.pyc")}
    made = _import_and_compile(root, modules)
    for source, bytecode in made.items():
        if source in owners:
            _link(root / bytecode, owners[source] / "bytecode" / bytecode)
    imported = (getattr(module, "__cached__", None) for module in list(sys.modules.values()))
    borrowed -= {pathlib.Path(bytecode) for bytecode in imported if isinstance(bytecode, str)}
    # What is imported here decides what is there, and not what was imported elsewhere.
    for bytecode in borrowed:
        bytecode.unlink()


def _renamed(code: types.CodeType, file: str) -> types.CodeType:
    """Code that says to be of another file, and so do its functions."""
    constants = (_renamed(one, file) if isinstance(one, types.CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(constants))


def _import_and_compile(root: pathlib.Path, modules: list[str]) -> dict[str, pathlib.Path]:
    """Imports modules, and keeps the bytecode that Python makes on the way.

    Args:
        root: what the modules are in.
        modules: their names.
    Returns:
        the file of each bytecode that was made, by that of its source. Both are relative to the root.
    """
    made: dict[str, pathlib.Path] = {}

    class Loader(machinery.SourceFileLoader):
        def source_to_code(self, data: Any, path: Any, *options: Any, **keywords: Any) -> types.CodeType:
            code = super().source_to_code(data, path, *options, **keywords)
            source = pathlib.Path(os.fsdecode(path))
            if source.is_relative_to(root):
                inside = str(source.relative_to(root))
                bytecode = pathlib.Path(importlib.util.cache_from_source(inside))
                (root / bytecode).parent.mkdir(exist_ok=True)
                content = marshal.dumps(_renamed(code, inside))
                (root / bytecode).write_bytes(_UNCHECKED + importlib.util.source_hash(data) + content)
                made[inside] = bytecode
            return code

    loaders = (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES), (Loader, machinery.SOURCE_SUFFIXES)
    sys.path_hooks.insert(0, machinery.FileFinder.path_hook(*loaders))
    sys.path_importer_cache.clear()
    sys.path.insert(0, str(root))
    for module in modules:
        importlib.import_module(module)
    return made


def _store(place: pathlib.Path, instead: pathlib.Path) -> Store:
    try:
        return Store(place)
    except OSError:  # no home, or one that is read only
        return Store(instead)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requirements", type=pathlib.Path, required=True, help="the lock")
    parser.add_argument("--store", type=pathlib.Path, required=True, help="a folder that stays")
    parser.add_argument("--directory", type=pathlib.Path, required=True, help="site-packages, which is made")
    parser.add_argument(
        "--precompile", nargs="+", help="modules whose imports get bytecode, in what was installed before"
    )
    parser.add_argument("--pip", nargs=argparse.REMAINDER, help="the command that runs pip")
    options = parser.parse_args(arguments)
    directory = options.directory.absolute()
    lock = parse(options.requirements.read_text())
    with tempfile.TemporaryDirectory(dir=directory.parent) as instead:
        store = _store(options.store, pathlib.Path(instead))
        if options.precompile:
            precompile(directory, options.precompile, store.folders(lock) if lock else {})
        elif lock:
            store.install(lock, options.pip, directory)
        else:
            run_pip(options.pip, options.requirements, directory)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except PipError as error:
        sys.exit(str(error))
