"""Copies, names or checks the installed packages of a Python environment."""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import sys

_PYTHON_ERR = """rules_executorch: {interpreter} of the machine that runs this action: expected Python {expected}, \
for which the packages were installed; found Python {found}.

Likely cause: with remote execution, the workers have another Python than the machine that runs Bazel.
Fix: give the workers Python {expected} at this path, or name an interpreter of one version that all machines have:
--repo_env=EXECUTORCH_PYTHON=/usr/bin/python3."""

_MISSING_ERR = """rules_executorch: expected a Python environment {directory} on the machine that runs this action; \
found none.

Likely cause: the worker's image was made before a package changed, or lacks the environment.
Fix: on a machine with Python {python}, run the target `install` of the environment's repository with the folder that
--@rules_executorch//rules:python_environment names, and make an image of this folder."""

_CHANGED_ERR = """rules_executorch: the Python environment {directory}: expected the fingerprint {expected}; \
found {found}.

Likely cause: a package was installed or removed by hand.
Fix: install the environment anew."""


# Entries of a RECORD that the installer adds.
_INSTALLER = re.compile(rb"(\.\./|bin/|share/|[^/]+\.dist-info/)")


class UnusableError(Exception):
    """The environment on the machine cannot be used. The message has the reason and the fix."""


def fingerprint(directory: pathlib.Path) -> str:
    """Returns a fingerprint of the installed packages, which is the same for all installers.

    The RECORD of a distribution lists its files with their hashes. Files outside the distribution's own folders, such
    as scripts, and metadata of the installation depend on the installer, and do not count.
    """
    digest = hashlib.sha256(f"{sys.version_info[0]}.{sys.version_info[1]}".encode())
    for record in sorted(directory.glob("*.dist-info/RECORD"), key=lambda path: path.parts[-2]):
        digest.update(f"\n{record.parts[-2]}\n".encode())
        own = [line for line in record.read_bytes().splitlines() if not _INSTALLER.match(line)]
        digest.update(b"\n".join(sorted(own)))
    return digest.hexdigest()[:32]


def _has_time(bytecode: pathlib.Path) -> bool:
    """Returns whether a .pyc file is time-based, as Python writes it at an import, and not hash-based."""
    with bytecode.open("rb") as file:
        return file.read(8)[4:] == bytes(4)


def copy(directory: pathlib.Path, to: pathlib.Path) -> None:
    """Copies an environment, without time-based bytecode, which differs from copy to copy."""

    for folder, _, names in os.walk(directory, followlinks=True):
        # shutil.copytree would set the times of folders, but the folder of an output belongs to the worker.
        target = to / pathlib.Path(folder).relative_to(directory)
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            source = pathlib.Path(folder, name)
            if not (name.endswith(".pyc") and _has_time(source)):
                shutil.copy(source, target / name)


def install(directory: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Copies an environment to the place that --@rules_executorch//rules:python_environment=<folder> reads."""
    to = folder / fingerprint(directory) / "site-packages"
    if not to.exists():
        # The rename at the end makes the environment appear complete or not at all.
        part = to.with_name(f"{to.name}.{os.getpid()}")
        copy(directory, part)
        part.rename(to)
    return to


def check(directory: pathlib.Path, expected: str, python: str) -> None:
    """Checks that an environment exists and has the expected fingerprint.

    Raises:
        UnusableError: the environment is missing or differs.
    """
    if not directory.is_dir():
        raise UnusableError(_MISSING_ERR.format(directory=directory, python=python))
    found = fingerprint(directory)
    if found != expected:
        raise UnusableError(_CHANGED_ERR.format(directory=directory, expected=expected, found=found))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="the version of Python that the packages are for, such as 3.11")
    parser.add_argument("--directory", type=pathlib.Path, required=True, help="site-packages of the environment")
    parser.add_argument("--copy", type=pathlib.Path, help="where to copy the environment")
    parser.add_argument("--install", type=pathlib.Path, help="a folder that all machines will have")
    parser.add_argument("--fingerprint", help="what the fingerprint must be")
    parser.add_argument("--output", type=pathlib.Path, help="where to write the fingerprint; else it is printed")
    options = parser.parse_args(arguments)
    found = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if options.python and options.python != found:
        raise UnusableError(_PYTHON_ERR.format(interpreter=sys.executable, found=found, expected=options.python))
    if options.copy:
        copy(options.directory, options.copy)
    elif options.install:
        print(install(options.directory, options.install))
    elif options.fingerprint:
        check(options.directory, options.fingerprint, found)
        options.output.write_text(options.fingerprint + "\n")
    else:
        print(fingerprint(options.directory))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UnusableError as error:
        sys.exit(str(error))
