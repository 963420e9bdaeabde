"""Chooses the Bazel to run: the requested one, or one of the machine."""

import os
import pathlib
import re
import subprocess
from collections.abc import Mapping

from tools.launcher import errors

OLDEST_MAJOR = 7

# Set while the launcher runs a `bazel` from the PATH to get the version. If that `bazel` is a script that calls this
# launcher, the launcher fails at once, instead of running the script again.
PROBE = "RULES_EXECUTORCH_LAUNCHER_PROBE"


def choose(environ: Mapping[str, str], launcher: pathlib.Path) -> pathlib.Path | None:
    """Returns the Bazel to run; None if only the private install is left.

    Args:
        environ: the environment, with BAZEL_REAL and PATH. A `bazel` that is run for its version gets all variables.
        launcher: tools/bazel, which is never chosen.

    Raises:
        errors.LauncherError: BAZEL_REAL is not a program, or is the launcher itself.
    """
    real = environ.get("BAZEL_REAL")
    if real:
        return _real(pathlib.Path(real), launcher)
    if environ.get(PROBE):
        raise errors.LauncherError("called by a `bazel` on the PATH that this launcher has just called")
    for name in ("bazelisk", "bazel"):
        for candidate in _on_path(name, environ, launcher):
            if name == "bazelisk" or _new_enough(candidate, environ):
                return candidate
    return None


def _real(real: pathlib.Path, launcher: pathlib.Path) -> pathlib.Path:
    if not _is_program(real):
        raise errors.LauncherError(f"BAZEL_REAL is {real}, which is no program: set it to a Bazel, or unset it")
    if _is_launcher(real, launcher):
        raise errors.LauncherError(f"BAZEL_REAL is {real}, this launcher itself: set it to a Bazel, or unset it")
    return real


def _on_path(name: str, environ: Mapping[str, str], launcher: pathlib.Path) -> list[pathlib.Path]:
    places = [pathlib.Path(folder, name) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    return [place for place in places if _is_program(place) and not _is_launcher(place, launcher)]


def _is_program(path: pathlib.Path) -> bool:
    return os.access(path, os.X_OK) and path.is_file()


def _is_launcher(path: pathlib.Path, launcher: pathlib.Path) -> bool:
    """Returns whether `path` is this launcher, or the launcher of another checkout, which would find this launcher."""
    path = path.resolve()
    return path == launcher.resolve() or (path.parent / "launcher" / pathlib.Path(__file__).name).is_file()


def _new_enough(bazel: pathlib.Path, environ: Mapping[str, str]) -> bool:
    asking = {**environ, PROBE: "1"}
    try:
        probe = subprocess.run([bazel, "--version"], env=asking, capture_output=True, text=True, check=False)
    except OSError:
        return False
    version = re.match(r"bazel (\d+)\.", probe.stdout)
    return probe.returncode == 0 and version is not None and int(version[1]) >= OLDEST_MAJOR
