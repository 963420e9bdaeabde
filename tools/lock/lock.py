"""Locks the packages that models import, with their dependencies and the hashes of all files.

    bazel run @rules_executorch//tools/lock -- transformers timm

The lock is requirements_lock.txt in the workspace, for this line of MODULE.bazel:

    executorch.python(requirements = "//:requirements_lock.txt")

The lock is for the Python that runs this command, which also installs the packages. ExecuTorch and PyTorch keep the
versions of these rules; --executorch=1.4 takes another ExecuTorch, and the PyTorch that goes with it. Without packages,
the command takes the packages and the ExecuTorch of the existing lock. Versions in the lock stay if possible; --upgrade
takes the newest versions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from rules.private.repositories import indexes, versions
from tools.lock import resolver

_OUTPUT = flags.DEFINE_string("output", "requirements_lock.txt", "The lock's file, from the root of the workspace.")
_EXECUTORCH = flags.DEFINE_string(
    "executorch", "", "ExecuTorch's version, minor or full, such as 1.4 or 1.4.1. Default: that of these rules."
)
_UPGRADE = flags.DEFINE_bool("upgrade", False, "Whether to take the newest versions rather than those of the lock.")

_HEADER = "# Made by: bazel run @rules_executorch//tools/lock --"
_VERSION = "--executorch="
_UNKNOWN_VERSION = """\
note: these rules know no executorch {version}; known are {known}
  Fix: docs/new_executorch.md tells how to try a version; or lock a known one with --executorch="""
_NO_CPU_BUILD = """\
note: pip finds no CPU build of {pins}, and Linux on x86-64 needs the CPU build
  Fix: add PyTorch's CPU index to pip's configuration (PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS), and lock again"""


def packages_of(lock: str) -> tuple[str, list[str]]:
    """Returns the version of ExecuTorch, empty for the default, and the packages for which a lock was made.

    Raises:
        resolver.LockError: another tool made the lock.
    """
    first = lock.partition("\n")[0]
    if not first.startswith(_HEADER):
        raise resolver.LockError("another tool made the file; the file is unchanged\n  Fix: give another --output")
    words = first.removeprefix(_HEADER).split()
    if words and words[0].startswith(_VERSION):
        return words[0].removeprefix(_VERSION), words[1:]
    return "", words


def write(
    file: Path, packages: list[str], where: indexes.Indexes, upgrade: bool = False, executorch: str = ""
) -> list[str]:
    """Writes a lock atomically. Returns lines of a report.

    Raises:
        resolver.LockError: there are no compatible versions, or the file is not a lock.
        OSError: the file cannot be written.
    """
    previous = file.read_text() if file.exists() else ""
    version, before = packages_of(previous) if previous else ("", [])
    packages = packages or before
    kept = resolver.without_pytorch(previous) if executorch and executorch != version else previous
    version = executorch or version
    if not packages and not version:
        raise resolver.LockError("expected packages\n  Fix: name the packages that models import, such as transformers")
    lock, missing = resolver.resolve(packages, where, kept, upgrade, version or versions.DEFAULT_EXECUTORCH)
    arguments = [f"{_VERSION}{version}", *packages] if version else packages
    part = file.with_name(file.name + ".part")
    part.write_text(f"{_HEADER} {' '.join(arguments)}\n{lock}")
    part.replace(file)
    pins = {line.split()[0] for line in lock.splitlines() if "==" in line}
    changed = sorted(pins - set(previous.split()))
    lines = [f"{file}: {len(pins)} packages; new or changed: {', '.join(changed) or 'none'}"]
    if version and versions.minor(version) not in versions.VERSIONS:
        lines.append(_UNKNOWN_VERSION.format(version=version, known=", ".join(versions.VERSIONS)))
    if missing:
        lines.append(_NO_CPU_BUILD.format(pins=", ".join(missing)))
    return lines


def main(argv: Sequence[str]) -> None:
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    file = root / _OUTPUT.value
    try:
        lines = write(file, list(argv[1:]), indexes.of_machine(), _UPGRADE.value, _EXECUTORCH.value)
    except (resolver.LockError, OSError) as error:
        sys.exit(f"{_OUTPUT.value}: error: {error}")
    module = root / "MODULE.bazel"
    if not module.exists() or file.name not in module.read_text():
        lines.append(f'MODULE.bazel: add executorch.python(requirements = "//:{_OUTPUT.value}")')
    print("\n".join(lines))


if __name__ == "__main__":
    app.run(main)
