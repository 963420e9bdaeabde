"""Locks the packages that models import, with their dependencies and the hashes of all files.

    bazel run @rules_executorch//tools/lock -- transformers timm

The lock is requirements_lock.txt in the workspace, for this line of MODULE.bazel:

    executorch.python(requirements = "//:requirements_lock.txt")

The lock is for the Python that runs this command, which also installs the packages. ExecuTorch and PyTorch keep the
versions of these rules; --executorch=1.4 takes another ExecuTorch, and the PyTorch that goes with it. Without packages
or without an option, the command takes those of the existing lock; an option with an empty value, such as --exclude=,
drops them. Versions in the lock stay if possible; --upgrade takes the newest versions.

Packages that do not fit the others: --override, --exclude and --no_deps. Packages without a wheel: --wheels.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from rules.private.repositories import indexes, versions
from tools.lock import resolver
from tools.lock.request import LockError, Request, of

_OUTPUT = flags.DEFINE_string("output", "requirements_lock.txt", "The lock's file, from the root of the workspace.")
_EXECUTORCH = flags.DEFINE_string(
    "executorch", None, "ExecuTorch's version, minor or full, such as 1.4 or 1.4.1. Default: that of these rules."
)
_UPGRADE = flags.DEFINE_bool("upgrade", False, "Whether to take the newest versions rather than those of the lock.")
_OVERRIDE = flags.DEFINE_multi_string(
    "override", None, "A requirement in place of those that packages declare, such as numpy>=2."
)
_EXCLUDE = flags.DEFINE_multi_string("exclude", None, "A package that the lock leaves out, although others require it.")
_NO_DEPS = flags.DEFINE_multi_string("no_deps", None, "A package whose declared requirements do not count.")
_WHEELS = flags.DEFINE_string(
    "wheels", None, "A folder of wheels, such as those of `pip wheel --no-deps`, from the folder of the lock."
)

_UNKNOWN_VERSION = """\
note: these rules know no executorch {version}; known are {known}
  Fix: docs/new_executorch.md tells how to try a version; or lock a known one with --executorch="""
_NO_CPU_BUILD = """\
error: the lock is written, but Linux on x86-64 cannot install it: pip finds no CPU build of {pins}
  Likely cause: the package indexes of pip's configuration have only the CUDA build
  Fix: add PyTorch's CPU index to pip's configuration (PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS), or put the wheel of the \
CPU build into a folder that --wheels names; then lock again. Or write executorch.python(allow_cuda = True) in \
MODULE.bazel, for the CUDA build"""


@dataclasses.dataclass(frozen=True)
class Report:
    """What became of a lock.

    Attributes:
        lines: what to print.
        problem: why the lock, which is written, cannot be used everywhere. May be empty.
    """

    lines: tuple[str, ...]
    problem: str = ""


def write(file: Path, request: Request, where: indexes.Indexes, upgrade: bool = False) -> Report:
    """Writes a lock atomically.

    Args:
        file: the lock.
        request: what to lock.
        where: the package indexes.
        upgrade: whether to take the newest versions rather than those of an existing lock.

    Raises:
        LockError: there are no compatible versions, or the file is not a lock.
        OSError: the file cannot be written.
    """
    previous = file.read_text() if file.exists() else ""
    before = of(file)
    if not request.packages and not request.executorch:
        raise LockError("expected packages\n  Fix: name the packages that models import, such as transformers")
    kept = previous if request.executorch == before.executorch else resolver.without_pytorch(previous)
    if request.wheels:
        folder = file.parent / request.wheels
        if not folder.is_dir():
            raise LockError(f"--wheels={request.wheels}: expected a folder; found none\n  Fix: make {folder}")
        where = dataclasses.replace(where, find_links=(*where.find_links, str(folder.absolute())))
    lock, missing = resolver.resolve(request, where, kept, upgrade)
    part = file.with_name(file.name + ".part")
    part.write_text(f"{request.header()}\n{lock}")
    part.replace(file)
    pins = {line.split()[0] for line in lock.splitlines() if "==" in line}
    changed = sorted(pins - set(previous.split()))
    lines = [f"{file}: {len(pins)} packages; new or changed: {', '.join(changed) or 'none'}"]
    version = request.executorch
    if version and versions.minor(version) not in versions.VERSIONS:
        lines.append(_UNKNOWN_VERSION.format(version=version, known=", ".join(versions.VERSIONS)))
    # With other options, newer versions may be possible, which only --upgrade takes.
    has_other_options = dataclasses.replace(request, packages=before.packages) != before
    kept_pins = pins - set(changed) if has_other_options else set()
    lines += resolver.notes_of_old_versions(request, where, lock, changed, kept_pins)
    return Report(tuple(lines), _NO_CPU_BUILD.format(pins=", ".join(missing)) if missing else "")


def main(argv: Sequence[str]) -> None:
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    file = root / _OUTPUT.value
    try:
        request = of(file).with_changes(
            packages=argv[1:],
            executorch=_EXECUTORCH.value,
            overrides=_OVERRIDE.value,
            excludes=_EXCLUDE.value,
            no_deps=_NO_DEPS.value,
            wheels=_WHEELS.value,
        )
        report = write(file, request, indexes.of_machine(), _UPGRADE.value)
    except (LockError, OSError) as error:
        sys.exit(f"{_OUTPUT.value}: error: {error}")
    lines = list(report.lines)
    module = root / "MODULE.bazel"
    if not module.exists() or file.name not in module.read_text():
        lines.append(f'MODULE.bazel: add executorch.python(requirements = "//:{_OUTPUT.value}")')
    print("\n".join(lines), flush=True)
    if report.problem:
        sys.exit(f"{_OUTPUT.value}: {report.problem}")


if __name__ == "__main__":
    app.run(main)
