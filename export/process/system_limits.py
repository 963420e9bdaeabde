"""Errors for exports that meet a limit of the system: memory, disk space, sizes of files, open files."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
from pathlib import Path

from diagnostics.errors import Finding, InputError, Location
from export.user.messages import causes

_NO_MEMORY = re.compile(r"DefaultCPUAllocator: (?:can't allocate|not enough) memory|std::bad_alloc")
_MEMORY = (
    "the memory does not suffice: the model is large, or many actions run at the same time.",
    "run fewer actions at a time (bazel build --jobs=1), or export on a machine with more memory.",
)
_SHELL = "in the shell that starts Bazel, and restart Bazel's server (bazel shutdown)"
# The likely cause and the fix for each error of the system.
_CAUSES = {
    errno.ENOMEM: _MEMORY,
    errno.ENOSPC: (
        "the file system is full.",
        "make room where Bazel writes (bazel info output_base) and where temporary files are (TMPDIR).",
    ),
    errno.EDQUOT: (
        "the user's quota of disk space is used up.",
        "make room, or move Bazel's files with --output_user_root.",
    ),
    errno.EFBIG: (
        "a limit for the sizes of files is set (ulimit -f), and the program is larger.",
        f"lift the limit with `ulimit -f unlimited`, {_SHELL}.",
    ),
    errno.EMFILE: (
        "the limit for open files is low (ulimit -n), or the model file leaves files open.",
        f"raise the limit with `ulimit -n 4096`, {_SHELL}; close files in the model file with `with open(...)`.",
    ),
    errno.ENFILE: ("all processes together have too many files open.", "end other processes, or raise fs.file-max."),
}
# The file with the limit of a container.
_LIMIT_OF_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def finding(where: Location, error: BaseException) -> Finding | None:
    """Returns the finding for an exception that a limit of the system caused; None for all other exceptions."""
    for one in causes(error):
        code = one.errno if isinstance(one, OSError) else None
        if isinstance(one, MemoryError) or (isinstance(one, RuntimeError) and _NO_MEMORY.search(str(one))):
            code = errno.ENOMEM
        if code is not None and code in _CAUSES:
            cause, fix = _CAUSES[code]
            if isinstance(error, InputError) and len(error.findings) == 1:
                # A step of the export has found the line of the model.
                return dataclasses.replace(error.findings[0], cause=cause, fix=fix, id="system-limit")
            file = f" ({one.filename})" if isinstance(one, OSError) and one.filename else ""
            return Finding(where, f"the export raised: {os.strerror(code)}{file}", cause, fix, id="system-limit")
    return None


def killed(where: Location | str, what: str, used: int | None = None, total: int | None = None) -> Finding:
    """Returns the finding for a process that SIGKILL ended.

    Args:
        where: the model file.
        what: the process.
        used: the largest memory that the process has used, in bytes; None if not known.
        total: the memory of the machine in bytes. Default: that of this machine, or of its container.
    """
    total = total or _total_memory()
    memory = f"; it had used {_gibibytes(used)} of the {_gibibytes(total)} of memory" if used is not None else ""
    return Finding(
        where,
        f"{what} was ended by SIGKILL, before the export was done{memory}",
        "the system ends the process with the most memory when memory is short: the model is large, or many actions"
        " run at the same time.",
        _MEMORY[1],
        id="system-limit",
    )


def _total_memory() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = _LIMIT_OF_CONTAINER.read_text().strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
