"""Runs Bazel: `__main__.py PREFIX LAUNCHER [BAZEL ARGUMENT]...`, called by tools/bazel.

PREFIX is the folder of the private install. LAUNCHER is the path of tools/bazel itself.
"""

import os
import pathlib
import sys

# Without a Bazel, nothing else sets the import path.
sys.path[0] = str(pathlib.Path(__file__).absolute().parents[2])

from tools.launcher import cache, choice, errors  # noqa: E402
from tools.launcher.debian import install  # noqa: E402


def main(prefix: pathlib.Path, launcher: pathlib.Path, arguments: list[str]) -> None:
    """Replaces this process by Bazel. Installs Bazel if necessary.

    Raises:
        errors.LauncherError: there is no Bazel, and the installation failed.
    """
    bazel = choice.choose(os.environ, launcher)
    if bazel is None:
        bazel = cache.ensure(prefix, install.install)
    try:
        os.execv(bazel, [str(bazel), *arguments])
    except OSError as error:
        raise errors.LauncherError(f"cannot run {bazel}: {error.strerror}; {errors.OTHER_WAYS}") from error


if __name__ == "__main__":
    try:
        main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
    except errors.LauncherError as error:
        sys.exit(f"tools/bazel: {error}")
    except KeyboardInterrupt:
        print("tools/bazel: interrupted", file=sys.stderr)
        sys.exit(130)
