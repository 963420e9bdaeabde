"""The folder of private installs. A lock allows one installation at a time, and incomplete installs are not used."""

import contextlib
import errno
import fcntl
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterator

from tools.launcher import errors

# install(prefix, lock) makes an install under `prefix`, which is complete when `bazel_of(prefix)` exists. The started
# programs inherit the descriptor `lock`. If the launcher is killed, the next launcher waits until the programs end.
Install = Callable[[pathlib.Path, int], None]


def bazel_of(prefix: pathlib.Path) -> pathlib.Path:
    """Returns the program of an install. The program is written last, so an install with the program is complete."""
    return prefix / "bin" / "bazel"


def ensure(prefix: pathlib.Path, install: Install) -> None:
    """Calls `install` if there is no Bazel under `prefix`.

    Raises:
        errors.LauncherError: the folder does not exist, is not writable or is full, or `install` raised the error.
    """
    if not prefix.is_absolute():
        raise errors.LauncherError("no place to install Bazel in: set HOME or XDG_CACHE_HOME to an absolute path")
    bazel = bazel_of(prefix)
    try:
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
    """Removes incomplete installs of interrupted runs. The caller has the lock, so no other process uses them."""
    for install in installs.glob("bazel-*"):
        if not bazel_of(install).exists():
            shutil.rmtree(install)
