"""The place of private installs: one at a time, and never a half-made one in use."""

import contextlib
import errno
import fcntl
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterator

from tools.launcher import errors

# install(prefix, lock) puts an install under `prefix`; it is complete when `bazel_of(prefix)` exists. The programs that
# it starts inherit the descriptor `lock`: should the launcher be killed, the next one waits until they have ended.
Install = Callable[[pathlib.Path, int], None]


def bazel_of(prefix: pathlib.Path) -> pathlib.Path:
    """The program of an install, written last: where it exists, the install is complete."""
    return prefix / "bin" / "bazel"


def ensure(prefix: pathlib.Path, install: Install) -> pathlib.Path:
    """Returns the Bazel under `prefix`, which `install` puts there unless it is there already.

    Raises:
        errors.LauncherError: there is no such place, it cannot be written to or is full, or `install` raised it.
    """
    if not prefix.is_absolute():
        raise errors.LauncherError("no place to install Bazel in: set HOME or XDG_CACHE_HOME to an absolute path")
    bazel = bazel_of(prefix)
    try:
        if bazel.exists():
            return bazel
        prefix.parent.mkdir(parents=True, exist_ok=True)
        with _locked(prefix.parent / "lock") as lock:
            if not bazel.exists():
                _remove_broken(prefix.parent)
                try:
                    install(prefix, lock)
                except BaseException:
                    shutil.rmtree(prefix, ignore_errors=True)
                    raise
    except OSError as error:
        advice = "free some space" if error.errno == errno.ENOSPC else "make it writable"
        raise errors.LauncherError(
            f"cannot install Bazel under {prefix.parent}: {error.strerror or error}; {advice}, or set XDG_CACHE_HOME to"
            " another folder"
        ) from error
    return bazel


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[int]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("tools/bazel: another run is installing Bazel: waiting for it", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _remove_broken(installs: pathlib.Path) -> None:
    """Removes what interrupted runs left; under the lock, nobody is at work on it."""
    for install in installs.glob("bazel-*"):
        if not bazel_of(install).exists():
            shutil.rmtree(install)
